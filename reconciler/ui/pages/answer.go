package pages

import (
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// answerOf says what a publication did in a sentence, as a preview of it does; empty where nothing of it is known.
func answerOf(e *facts.Effect) []preview.Part {
	c := preview.Comparison{IsDone: true, Changes: append(changesOf(e.Objects), leftBy(e.Decisions)...)}
	if len(c.Changes) == 0 {
		return nil
	}
	v := c.Verdict()
	if e.MoreObjects > 0 {
		v.Parts = append(v.Parts, preview.Part{Text: "; and " + words.Count(e.MoreObjects, "more object")})
	}
	return v.Parts
}

// changesOf are manifests that differ, by their objects.
func changesOf(objects []facts.Changed) (all []preview.Change) {
	by := map[object.Ref]*preview.Change{}
	for i := range objects {
		o := &objects[i]
		if o.Ref.Kind == "" {
			continue
		}
		c := by[o.Ref]
		if c == nil {
			c = &preview.Change{Objects: []object.Ref{o.Ref}}
			by[o.Ref] = c
		}
		switch o.Verb {
		case "added":
			c.Added = append(c.Added, o.Clusters...)
		case "removed":
			c.Removed = append(c.Removed, o.Clusters...)
		default:
			c.Changed = append(c.Changed, preview.Content{Clusters: o.Clusters, Fields: o.Fields})
		}
	}
	for _, ref := range slices.SortedFunc(maps.Keys(by), object.Ref.Compare) {
		c := by[ref]
		switch {
		case len(c.Added) > 0 && len(c.Removed) > 0:
			c.Verb = preview.Moves
		case len(c.Added) > 0:
			c.Verb = preview.Appears
		case len(c.Removed) > 0:
			c.Verb = preview.Disappears
		default:
			c.Verb = preview.Changes
		}
		all = append(all, *c)
	}
	return all
}

// leftBy is what was not carried out of decisions, and was no matter before.
func leftBy(decided []facts.Decided) (all []preview.Change) {
	for _, d := range decided {
		if d.Is == nil {
			continue
		}
		c := preview.Change{Verb: preview.Frozen, Objects: []object.Ref{d.Ref}}
		for _, t := range d.Is.Targets {
			if t.Left == "" || d.Was != nil && isLeft(d.Was, t.Cluster) {
				continue
			}
			c.Left = append(c.Left, preview.Left{Clusters: []string{t.Cluster}, Reason: t.Left, Kept: t.Kept})
		}
		if len(c.Left) > 0 {
			all = append(all, c)
		}
	}
	return all
}
