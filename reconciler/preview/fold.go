package preview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
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
// one, whose fields are called by the last word of their paths, wherever they stand; and so are those
// that are the same but for the places of their causes.
func Fold(all []Change) []Change { return foldAlike(foldRoutine(all)) }

// foldAlike makes one of the changes that differ in nothing but the places of their causes.
func foldAlike(all []Change) []Change {
	var out []Change
	at := map[string]int{}
	places := map[int][][]string{} // of the causes of those that are several
	for i := range all {
		c := &all[i]
		key := c.alike()
		n, known := at[key]
		if !known {
			at[key] = len(out)
			out = append(out, *c)
			continue
		}
		into := &out[n]
		if places[n] == nil {
			places[n] = placesOf(into, make([][]string, len(into.Causes)))
			into.Objects = slices.Clone(into.Objects)
		}
		placesOf(c, places[n])
		if into.Objects = append(into.Objects, c.Objects...); into.Replicas != nil && (c.Replicas == nil || *c.Replicas != *into.Replicas) {
			into.Replicas = nil
		}
	}
	for n, of := range places {
		into := &out[n]
		slices.SortFunc(into.Objects, object.Ref.Compare)
		into.Causes = slices.Clone(into.Causes)
		for i := range into.Causes {
			if len(of[i]) > 1 {
				into.Causes[i] = Cause{Message: into.Causes[i].Message + ": " + words.List(of[i])}
			}
		}
	}
	return out
}

// alike is equal for changes that differ in nothing but their objects and the places of their causes.
func (c *Change) alike() string {
	var b strings.Builder
	fmt.Fprintln(&b, c.Verb, c.Added, c.Removed, c.Detached, c.Elsewhere, c.Scaled, c.Changed, c.Left, c.Moves)
	for _, cause := range c.Causes {
		fmt.Fprintf(&b, "%q %t\n", cause.Message, cause.Pos.File == "")
	}
	return b.String()
}

// placesOf adds to lists the places of a change's causes that are not there yet.
func placesOf(c *Change, lists [][]string) [][]string {
	for i, cause := range c.Causes {
		if at := cause.Pos.String(); cause.Pos.File != "" && !slices.Contains(lists[i], at) {
			lists[i] = append(lists[i], at)
		}
	}
	return lists
}

// foldRoutine makes one of the routine changes that have the same causes.
func foldRoutine(all []Change) []Change {
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
