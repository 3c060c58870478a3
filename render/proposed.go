package render

import "slices"

// Proposed is the config by which a change that says c is previewed, if it goes to a branch that says to: whose
// changes are looked at, what becomes of plain Secrets, and what the guard lets through, are as the branch has it,
// until the change is merged; the rest is as the change has it. Kept names what of it counts later.
func (c ConfigSpec) Proposed(to *ConfigSpec) (as ConfigSpec, kept []string) {
	note := func(field string, same bool) {
		if !same {
			kept = append(kept, field)
		}
	}
	note("previews", c.Previews == to.Previews)
	note("secrets", c.Secrets == to.Secrets)
	note("guard", c.Guard.MaxRemoved == to.Guard.MaxRemoved && c.Guard.MaxRemovedPercent == to.Guard.MaxRemovedPercent && slices.Equal(c.Guard.Protect, to.Guard.Protect))
	c.Previews, c.Secrets, c.Guard = to.Previews, to.Secrets, to.Guard
	return c, kept
}
