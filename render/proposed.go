package render

import (
	"cmp"
	"slices"
)

// Proposed is the config by which a change that says c is previewed, if it goes to a branch that says to. Until it is
// merged the change settles neither whose changes are looked at, nor that plain Secrets are published, nor that the
// guard lets more through; what it makes stricter counts, for that will hold it. The rest is as the change has it. Later
// names what of it counts only once it is merged.
func (c *ConfigSpec) Proposed(to *ConfigSpec) (as ConfigSpec, later []string) {
	as = *c
	as.Previews = to.Previews
	if to.Secrets == SecretsRefuse {
		as.Secrets = SecretsRefuse
	}
	as.Guard = c.Guard.stricter(&to.Guard)
	for _, f := range []struct {
		name string
		same bool
	}{{"previews", as.Previews == c.Previews}, {"secrets", as.Secrets == c.Secrets}, {"guard", as.Guard.compare(&c.Guard) == 0}} {
		if !f.same {
			later = append(later, f.name)
		}
	}
	return as, later
}

// stricter lets through what both let through.
func (g Guard) stricter(o *Guard) Guard {
	s := Guard{MaxRemoved: min(g.MaxRemoved, o.MaxRemoved), MaxRemovedPercent: min(g.MaxRemovedPercent, o.MaxRemovedPercent), Protect: slices.Clone(g.Protect)}
	for _, kind := range o.Protect {
		if !slices.Contains(s.Protect, kind) {
			s.Protect = append(s.Protect, kind)
		}
	}
	return s
}

func (g Guard) compare(o *Guard) int {
	return cmp.Or(cmp.Compare(g.MaxRemoved, o.MaxRemoved), cmp.Compare(g.MaxRemovedPercent, o.MaxRemovedPercent), slices.Compare(g.Protect, o.Protect))
}
