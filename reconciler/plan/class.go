package plan

import (
	"encoding/binary"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/files"
)

// class is what a template's manifest in a cluster depends on.
type class struct {
	variant     int
	replicas    int32
	completions int64  // -1: as written
	rules       string // one byte a rule: does it match there?
	recipients  string // of a plain Secret: to whom it is encrypted
}

// result is the manifest of a class: a blob, or why there is none.
type result struct {
	made     *files.Blob
	blob     int32 // the number of made
	err      *diag.Diagnostic
	clusters []string // of a class without a blob
}

// classes are the results of a template.
type classes struct {
	encode func(class, variant) *result
	known  map[class]*result
	last   class // which the next cluster is often in, too
	is     *result
}

func (c *classes) result(k class, v variant) *result {
	if c.is != nil && k == c.last {
		return c.is
	}
	if c.last, c.is = k, c.known[k]; c.is == nil {
		c.is = c.encode(k, v)
		c.known[k] = c.is
	}
	return c.is
}

// shareOf returns the completions of a cluster, -1 for as many as are written.
func shareOf(shares map[string]int64, cluster string) int64 {
	if n, ok := shares[cluster]; ok {
		return n
	}
	return -1
}

// matcher returns matching for some rules.
func (w *writer) matcher(rules []*override.Rule) func(i int) string {
	if len(rules) == 0 {
		return func(int) string { return "" }
	}
	keys := w.matchings(rules)
	return func(i int) string { return keys[i] }
}

// finder returns the indices of clusters that mostly come in the order of the fleet.
func (w *writer) finder() func(name string) (int, bool) {
	clusters, next := w.fleet.Clusters(), 0
	return func(name string) (int, bool) {
		i, ok := next, next < len(clusters) && clusters[next].Name == name
		if !ok {
			i, ok = w.index[name]
		}
		next = i + 1
		return i, ok
	}
}

// matching says which rules match the cluster with index i.
func (w *writer) matching(rules []*override.Rule, i int) string {
	if len(rules) == 0 {
		return ""
	}
	return w.matchings(rules)[i]
}

// matchings says for each cluster which rules match it: a byte a rule. Many templates
// have the same rules.
func (w *writer) matchings(rules []*override.Rule) []string {
	id := make([]byte, 0, 4*len(rules))
	for _, r := range rules {
		n, ok := w.numbers[r]
		if !ok {
			n = uint32(len(w.numbers)) //nolint:gosec // a plan has far fewer rules
			w.numbers[r] = n
		}
		id = binary.LittleEndian.AppendUint32(id, n)
	}
	if known, ok := w.matched[string(id)]; ok {
		return known
	}
	clusters := w.fleet.Clusters()
	keys, same := make([]string, len(clusters)), map[string]string{}
	key := make([]byte, len(rules))
	for i, c := range clusters {
		for n, r := range rules {
			key[n] = 0
			if r.Clusters.Matches(c) {
				key[n] = 1
			}
		}
		if _, ok := same[string(key)]; !ok {
			same[string(key)] = string(key)
		}
		keys[i] = same[string(key)]
	}
	w.matched[string(id)] = keys
	return keys
}

// completions divides a Job's completions over its own clusters by their replicas
// (Karmada section A.12).
func completions(t *template) map[string]int64 {
	total, ok := interpret.Completions(t.content)
	if !ok || !t.divided() || t.replicas <= 0 {
		return nil
	}
	weights := make([]place.Weight, 0, len(t.own))
	for _, c := range t.own {
		weights = append(weights, place.Weight{Name: c.Name, Weight: int64(c.Replicas)})
	}
	out := map[string]int64{}
	for _, seat := range place.Divide(total, weights) {
		out[seat.Name] = seat.Seats
	}
	return out
}
