package updates

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/post"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/words"
)

// Effect is what a change would do, as far as it says whether it may be carried out though no person looked at it.
type Effect struct {
	// Wrong says what is wrong with it: errors of the source that it brings, or clusters that would be held or are; empty
	// for nothing.
	Wrong string
	// Ends are the units whose open run would end by it, and Follows those with an open run that it would wait for, by their
	// strategy.
	Ends, Follows []string
}

// EffectOf reads it from a preview.
func EffectOf(c *preview.Comparison) (e Effect) {
	if state, line := post.Judge(c); state != forge.Success {
		e.Wrong = line
	}
	var held []string
	for i := range c.Clusters {
		if c.Clusters[i].Held != "" {
			held = append(held, c.Clusters[i].Name)
		}
	}
	if len(held) > 0 && e.Wrong == "" {
		e.Wrong = "held is what publishing would change in " + words.First(held, 3)
	}
	for i := range c.Rollouts {
		switch r := &c.Rollouts[i]; {
		case r.Supersedes != "" || r.Returns:
			e.Ends = append(e.Ends, r.Unit)
		case r.WaitsFor != "":
			e.Follows = append(e.Follows, r.Unit)
		}
		if h := c.Rollouts[i].Held; len(h) > 0 && e.Wrong == "" {
			e.Wrong = words.First(h, 3) + " would be held when its turn comes"
		}
	}
	return e
}

// Meets are the units whose open run it meets: which it would end, or wait for.
func (e Effect) Meets() []string { return slices.Concat(e.Ends, e.Follows) }

// HindersCommit says why the change is not to be committed now; empty if it may be. One that waits for an open run may be.
func (e Effect) HindersCommit() string { return e.hinders(e.Ends) }

// HindersMerge says why the change is not to be merged now; empty if it may be.
func (e Effect) HindersMerge() string { return e.hinders(e.Meets()) }

// hinders says why the change is not to be carried out now, where the run of some units is open.
func (e Effect) hinders(open []string) string {
	switch {
	case e.Wrong != "":
		return "it would not go through: " + e.Wrong
	case len(open) > 0:
		return "a roll-out is open: " + words.First(open, 3)
	}
	return ""
}
