package compare

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/render/object"
)

// changes are the items, those that are alike as one, by rank.
func (c *comparer) changes() []preview.Change {
	w := c.newWhy()
	l := lister{groups: c.groups, known: map[string][]string{}}
	at := map[string]int{}
	all := []preview.Change{}
	for _, it := range slices.SortedFunc(maps.Values(c.items), func(a, b *item) int { return a.ref.Compare(b.ref) }) {
		causes, name := w.shown(it), c.named(it.ref)
		if name != it.ref {
			causes = nil // which name it
		}
		key := it.key(causes)
		if i, ok := at[key]; ok {
			all[i].Objects = append(all[i].Objects, name)
			continue
		}
		at[key] = len(all)
		ch := it.shown(&l)
		ch.Objects, ch.Causes = []object.Ref{name}, causes
		all = append(all, ch)
	}
	rank := preview.Verbs()
	slices.SortStableFunc(all, func(a, b preview.Change) int {
		return cmp.Or(cmp.Compare(slices.Index(rank, a.Verb), slices.Index(rank, b.Verb)), cmp.Compare(reach(b), reach(a)), a.Objects[0].Compare(b.Objects[0]))
	})
	return all
}

// reach is how many manifests a change is about.
func reach(c preview.Change) int {
	n := len(c.Added) + len(c.Removed) + len(c.Detached)
	for _, s := range c.Scaled {
		n += len(s.Clusters)
	}
	for _, s := range c.Changed {
		n += len(s.Clusters)
	}
	for _, s := range c.Left {
		n += len(s.Clusters)
	}
	return n * len(c.Objects)
}

// key is equal for items that change alike because of the same.
func (it *item) key(causes []preview.Cause) string {
	var b strings.Builder
	fmt.Fprintln(&b, it.added, it.removed, it.detached, it.elsewhere, it.replicas, it.counted)
	for _, s := range it.scaled {
		fmt.Fprintln(&b, "s", s.what, s.groups)
	}
	for _, s := range it.changed {
		fmt.Fprintln(&b, "c", s.what.key, s.groups)
	}
	for _, s := range it.left {
		fmt.Fprintln(&b, "l", s.what, s.groups)
	}
	fmt.Fprintln(&b, "m", it.moves)
	for _, l := range it.reasons() {
		fmt.Fprintln(&b, "f", l, it.stuck[l])
	}
	for _, cause := range causes { // in one file is near enough
		fmt.Fprintf(&b, "%q %q\n", cause.Message, cause.Pos.File)
	}
	return b.String()
}

// reasons are those of what is stuck; the clusters of each are put in order.
func (it *item) reasons() []left {
	for _, names := range it.stuck {
		slices.Sort(names)
	}
	return slices.SortedFunc(maps.Keys(it.stuck), func(a, b left) int {
		byKept := strings.Compare(strconv.FormatBool(b.kept), strconv.FormatBool(a.kept))
		return cmp.Or(cmp.Compare(a.reason.Message(), b.reason.Message()), byKept)
	})
}

// shown is the item with the names of clusters.
func (it *item) shown(l *lister) preview.Change {
	ch := preview.Change{Verb: it.verb(), Added: l.names(it.added), Removed: l.names(it.removed), Detached: it.detached, Elsewhere: it.elsewhere}
	for _, s := range it.scaled {
		ch.Scaled = append(ch.Scaled, preview.Scale{Clusters: l.names(s.groups), From: s.what[0], To: s.what[1]})
	}
	for _, s := range it.changed {
		ch.Changed = append(ch.Changed, preview.Content{Clusters: l.names(s.groups), Fields: s.what.fields})
	}
	for _, s := range it.left {
		ch.Left = append(ch.Left, s.what.in(l.names(s.groups)))
	}
	for _, why := range it.reasons() {
		ch.Left = append(ch.Left, why.in(it.stuck[why]))
	}
	ch.Moves = it.moves
	slices.SortFunc(ch.Scaled, func(a, b preview.Scale) int { return slices.Compare(a.Clusters, b.Clusters) })
	slices.SortFunc(ch.Changed, func(a, b preview.Content) int { return slices.Compare(a.Clusters, b.Clusters) })
	if it.counted {
		n := it.replicas
		ch.Replicas = &n
	}
	return ch
}

// lister lists the clusters of groups. Equal lists are one.
type lister struct {
	groups []group
	known  map[string][]string
}

func (l *lister) names(groups []int) []string {
	if len(groups) == 0 {
		return nil
	}
	var key []byte
	for _, g := range groups {
		key = binary.AppendUvarint(key, uint64(g)) //nolint:gosec // an index
	}
	if names, ok := l.known[string(key)]; ok {
		return names
	}
	var names []string
	for _, g := range groups {
		names = append(names, l.groups[g].names...)
	}
	slices.Sort(names)
	l.known[string(key)] = names
	return names
}
