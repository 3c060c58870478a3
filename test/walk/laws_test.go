package walk

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/test/twin"
)

// held is what is on the clusters' branches, by cluster and object.
type held map[string]map[string]cell

// cellOf reads a manifest.
func cellOf(m twin.Manifest) cell {
	c := cell{version: m.Data["version"], over: m.Metadata.Labels["over"]}
	if m.Spec.Replicas != nil {
		c.replicas = *m.Spec.Replicas
	}
	if images := m.Spec.Template.Spec.Containers; len(images) > 0 {
		_, c.version, _ = strings.Cut(images[0].Image, ":")
	}
	return c
}

// sum is how many replicas there are of an object.
func (h held) sum(ref string) int {
	n := 0
	for _, objects := range h {
		n += objects[ref].replicas
	}
	return n
}

// has lists the clusters that have an object.
func (h held) has(ref string) []string {
	var names []string
	for _, cluster := range slices.Sorted(maps.Keys(h)) {
		if _, ok := h[cluster][ref]; ok {
			names = append(names, cluster)
		}
	}
	return names
}

// lost says which objects that the source wants, and that were there, are gone. Replicas that
// are divided may go to another cluster.
func lost(want wants, before, after held) []string {
	var wrong []string
	for _, cluster := range slices.Sorted(maps.Keys(want.cells)) {
		for _, ref := range slices.Sorted(maps.Keys(want.cells[cluster])) {
			_, was := before[cluster][ref]
			_, is := after[cluster][ref]
			if was && !is && want.asked[ref] == 0 {
				wrong = append(wrong, fmt.Sprintf("%s is wanted in %s, was there, and is gone", ref, cluster))
			}
		}
	}
	return wrong
}

// nowhere says which objects that the source wants somewhere, and that were somewhere, are
// nowhere.
func nowhere(want wants, before, after held) []string {
	var wrong []string
	for _, cluster := range slices.Sorted(maps.Keys(want.cells)) {
		for _, ref := range slices.Sorted(maps.Keys(want.cells[cluster])) {
			if was := before.has(ref); len(was) > 0 && len(after.has(ref)) == 0 {
				wrong = append(wrong, fmt.Sprintf("%s is wanted in %s, was in %v, and is nowhere", ref, cluster, was))
			}
		}
	}
	return wrong
}

// short says which divided workloads have fewer replicas than they had and than they ask for.
func short(want wants, before, after held) []string {
	var wrong []string
	for _, ref := range slices.Sorted(maps.Keys(want.asked)) {
		asked, was, is := want.asked[ref], before.sum(ref), after.sum(ref)
		if is < min(asked, was) {
			wrong = append(wrong, fmt.Sprintf("%s asks for %d replicas, had %d, and has %d", ref, asked, was, is))
		}
	}
	return wrong
}

// other says where what is there is not what is wanted. Replicas that are divided stay with
// the clusters that have them, until their policy or their number changes, unless they were
// divided anew.
func other(want wants, is held, anew bool) []string {
	var wrong []string
	for _, ref := range slices.Sorted(maps.Keys(want.asked)) {
		if n := is.sum(ref); n != want.asked[ref] {
			wrong = append(wrong, fmt.Sprintf("%s asks for %d replicas, and has %d", ref, want.asked[ref], n))
		}
	}
	for _, cluster := range slices.Sorted(maps.Keys(want.cells)) {
		refs := maps.Clone(want.cells[cluster])
		maps.Copy(refs, is[cluster])
		for _, ref := range slices.Sorted(maps.Keys(refs)) {
			w, wanted := want.cells[cluster][ref]
			h, there := is[cluster][ref]
			if want.asked[ref] > 0 && !anew && (wanted || !there) {
				continue
			}
			if wanted != there || w != h {
				wrong = append(wrong, fmt.Sprintf("%s in %s: want %t %v, there is %t %v", ref, cluster, wanted, w, there, h))
			}
		}
	}
	return wrong
}
