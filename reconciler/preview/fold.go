package preview

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/render/object"
)

// IsRoutine reports a change in nothing but labels and checksums that follow from elsewhere, as
// those of a chart follow from its version.
func (c *Change) IsRoutine() bool {
	if c.Verb != Changes || len(c.Changed) == 0 || len(c.Added)+len(c.Removed)+len(c.Detached)+len(c.Scaled)+len(c.Left) > 0 {
		return false
	}
	for _, s := range c.Changed {
		if slices.ContainsFunc(s.Fields, func(f fields.Field) bool { return !f.Routine }) {
			return false
		}
	}
	return true
}

// Fold returns changes as people read them: those that are routine, and have the same causes, are
// one, whose fields are called by the last word of their paths, wherever they stand.
func Fold(all []Change) []Change {
	var out []Change
	folds := map[string]*Change{}
	at := map[string]int{} // by the causes, where the fold stands
	for i := range all {
		c := &all[i]
		key := fmt.Sprint(c.Causes)
		switch fold := folds[key]; {
		case !c.IsRoutine():
			out = append(out, *c)
		case fold == nil:
			folds[key], at[key] = &Change{Verb: c.Verb, Causes: c.Causes, Changed: []Content{{}}}, len(out)
			folds[key].fold(c)
			out = append(out, *c)
		default:
			fold.fold(c)
		}
	}
	for key, fold := range folds {
		if len(fold.Objects) == 1 {
			continue // it is told with all of its paths
		}
		slices.SortFunc(fold.Objects, object.Ref.Compare)
		slices.Sort(fold.Changed[0].Clusters)
		out[at[key]] = *fold
	}
	return out
}

// fold takes a routine change into this one.
func (c *Change) fold(o *Change) {
	into := &c.Changed[0]
	c.Objects = append(c.Objects, o.Objects...)
	for _, s := range o.Changed {
		for _, name := range s.Clusters {
			if !slices.Contains(into.Clusters, name) {
				into.Clusters = append(into.Clusters, name)
			}
		}
		for _, f := range s.Fields {
			if n := len(f.Steps); n > 0 {
				f.Path, _ = f.Steps[n-1].(string) // labels and annotations are in no list
			}
			if !slices.ContainsFunc(into.Fields, func(known fields.Field) bool { return sameField(known, f) }) {
				into.Fields = append(into.Fields, f)
			}
		}
	}
}

// sameField reports fields that read the same. Checksums differ wherever they stand.
func sameField(a, b fields.Field) bool {
	return a.Path == b.Path && a.Op == b.Op && fmt.Sprint(a.From, a.To) == fmt.Sprint(b.From, b.To)
}
