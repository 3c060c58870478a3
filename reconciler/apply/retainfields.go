package apply

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Retain returns what to apply of a manifest, so that the object becomes what a rule made of it,
// retained, by what is live of it; managed are its fields by manager. What the rule leaves as it is
// live is left out, so that whoever decided it goes on to; but for what is ours, since the server
// would take that for its removal. Of labels and annotations, and of what else is in metadata, only
// those of the manifest count: what others set stays by itself. The manifest is not changed.
func Retain(manifest, retained, live map[string]any, managed []metav1.ManagedFieldsEntry) map[string]any {
	ours := fieldsOf(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ManagedFields: managed}}, nil)
	r := retainer{ours: ours, manifest: manifest}
	return r.merge(manifest, retained, live, nil)
}

type retainer struct {
	ours     fieldSets
	manifest map[string]any
}

// merge returns a part of a manifest, at a path, as it is to be applied.
func (r *retainer) merge(wants, retained, live map[string]any, path []string) map[string]any {
	out := maps.Clone(wants)
	if out == nil {
		out = map[string]any{}
	}
	for _, name := range slices.Sorted(maps.Keys(both(wants, retained))) {
		here := append(slices.Clip(path), name)
		wanted, isWanted := wants[name]
		kept, isKept := retained[name]
		if same(wanted, kept) && isWanted == isKept || !isWanted && here[0] == "metadata" {
			continue
		}
		x, xIsMap := wanted.(map[string]any)
		y, yIsMap := kept.(map[string]any)
		is, isLive := live[name]
		switch {
		case yIsMap && (xIsMap || !isWanted):
			below, _ := is.(map[string]any)
			if part := r.merge(x, y, below, here); len(part) > 0 || isWanted {
				out[name] = part
			}
		case !isKept, isLive && same(kept, is) && !r.ours.own(r.manifest, here):
			delete(out, name)
		default:
			out[name] = kept
		}
	}
	return out
}

// both has the names of two maps.
func both(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, b)
	return all
}
