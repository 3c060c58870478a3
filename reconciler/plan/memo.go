package plan

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/seal"
	"github.com/waybill-dev/waybill/sources/files"
)

// Memo remembers from one plan to the next what was made of objects, so that a plan
// costs what changed. It changes speed only: an object is known by its identity, which a
// cache of decoded files keeps, and what is made of it by all that goes into it. What
// two plans in a row did not ask for is forgotten. A Memo serves one plan at a time.
type Memo struct {
	taught    string // the customizations that it is true for
	joined    joined
	policies  generation[*object.Object, policies.Decoded]
	decisions generation[placing, place.Decision]
	same      generation[repetition, struct{}]
	variants  generation[*object.Object, variant]
	services  generation[*object.Object, *object.Object] // by ServiceImport
	manifests generation[recipe, *files.Blob]
	secrets   generation[files.ID, []byte]
	masters   generation[files.ID, seal.Key]
	sealed    generation[sealing, *files.Blob]
}

// NewMemo returns an empty memo.
func NewMemo() *Memo { return &Memo{} }

// recipe is all that a manifest is made of.
type recipe struct {
	object      *object.Object
	replicas    int32
	completions int64
	workload    bool
	medium      Medium
	scaled      string // see variant
	marks       string // what the policy has written on it
	rules       string // digests of the overriders, in order
}

// placing is all that a decision follows from. The previous one is known by the list that
// it is in.
type placing struct {
	object, policy *object.Object
	fleet          string // its digest
	scaled         string // see variant
	group          string // that it is in
	fresh          bool
	first          *karmada.TargetCluster
	clusters       int
}

// repetition is a decision after which a binding is what it was.
type repetition struct {
	placing
	old *karmada.ResourceBinding
}

// repeats reports a repetition that is known.
func (m *Memo) repeats(r repetition) bool {
	_, ok := m.same.get(r)
	return ok
}

// repeated notes a repetition.
func (m *Memo) repeated(r repetition) { m.same.put(r, struct{}{}) }

// schedule returns the decision about a placing, which is from unless it is known. Nobody
// may modify its targets.
func (m *Memo) schedule(p placing, from func() place.Decision) place.Decision {
	if p == (placing{}) {
		return from()
	}
	d, ok := m.decisions.get(p)
	if !ok {
		d = from()
		m.decisions.put(p, d)
	}
	return d
}

// generation is a map that forgets what a whole turn did not ask for.
type generation[K comparable, V any] struct{ now, before map[K]V }

func (g *generation[K, V]) get(k K) (V, bool) {
	v, ok := g.now[k]
	if !ok {
		if v, ok = g.before[k]; ok {
			g.put(k, v)
		}
	}
	return v, ok
}

func (g *generation[K, V]) put(k K, v V) {
	if g.now == nil {
		g.now = map[K]V{}
	}
	g.now[k] = v
}

func (g *generation[K, V]) turn() { g.before, g.now = g.now, make(map[K]V, len(g.now)) }

// begin makes the memo ready for a plan with these customizations.
func (m *Memo) begin(taught string) {
	if m.taught != taught {
		*m = Memo{taught: taught}
	}
	m.policies.turn()
	m.decisions.turn()
	m.same.turn()
	m.variants.turn()
	m.services.turn()
	m.manifests.turn()
	m.secrets.turn()
	m.masters.turn()
	m.sealed.turn()
}

// Decoded implements policies.Cache.
func (m *Memo) Decoded(o *object.Object) (policies.Decoded, bool) { return m.policies.get(o) }

// Keep implements policies.Cache.
func (m *Memo) Keep(o *object.Object, d policies.Decoded) { m.policies.put(o, d) }

// joined is a fleet, its digest, and the objects that it was made of.
type joined struct {
	fleet  fleet.Fleet
	digest string
	of     []*object.Object
	state  *files.Folder // of the state branch; nil if it is not known
}

// fleet returns the fleet of a set, which is from unless it is known.
func (m *Memo) fleet(s *policies.Set, from func() joined) joined {
	of := make([]*object.Object, 0, len(s.Clusters)+len(s.Taints))
	for _, c := range s.Clusters {
		of = append(of, c.Object)
	}
	for _, t := range s.Taints {
		of = append(of, t.Object)
	}
	if m.joined.of == nil || !slices.Equal(m.joined.of, of) {
		m.joined = from()
		m.joined.of = of
	}
	return m.joined
}

// clusters returns the folder of the fleet that fleet returned last, which is from unless
// it is known.
func (m *Memo) clusters(from func() *files.Folder) *files.Folder {
	if m.joined.state == nil {
		m.joined.state = from()
	}
	return m.joined.state
}

// variant returns what an API server would see of an object.
func (m *Memo) variant(o *object.Object) variant {
	v, ok := m.variants.get(o)
	if !ok {
		v = newVariant(o)
		m.variants.put(o, v)
	}
	return v
}

// service returns the Service that is derived from a ServiceImport; nil for none.
func (m *Memo) service(o *object.Object) *object.Object {
	s, ok := m.services.get(o)
	if !ok {
		s = service(o)
		m.services.put(o, s)
	}
	return s
}

// manifest returns the manifest of a recipe, which is from unless it is known.
func (m *Memo) manifest(r recipe, from func() *result) *result {
	if b, ok := m.manifests.get(r); ok {
		return &result{made: b}
	}
	out := from()
	if out.err == nil {
		m.manifests.put(r, out.made)
	}
	return out
}

// secret returns the text of the manifest of a Secret. It is kept apart, because a manifest
// that was published lets go of its own.
func (m *Memo) secret(b *files.Blob) []byte {
	data, ok := m.secrets.get(b.ID())
	if !ok {
		var err error
		if data, err = b.Bytes(); err != nil {
			panic("plan: a manifest that was made for this plan cannot be read: " + err.Error())
		}
		m.secrets.put(b.ID(), data)
	}
	return data
}

// seal returns a document encrypted, by seal with the key of master unless it is known.
// The key is what takes long.
func (m *Memo) seal(s sealing, encrypt func(seal.Key) ([]byte, error), master func() seal.Key) (*files.Blob, error) {
	if b, ok := m.sealed.get(s); ok {
		return b, nil
	}
	key, ok := m.masters.get(s.document)
	if !ok {
		key = master()
		m.masters.put(s.document, key)
	}
	data, err := encrypt(key)
	if err != nil {
		return nil, err
	}
	b := files.NewBlob(data)
	m.sealed.put(s, b)
	return b, nil
}

// recipe says what the manifest of a class is made of.
func (w *writer) recipe(t *template, v variant, k class, rules override.Rules) recipe {
	r := recipe{
		object: v.object, replicas: k.replicas, completions: k.completions, workload: t.policy != nil && t.isWorkload(),
		medium: w.in.Medium, scaled: v.scaled, marks: fmt.Sprint(t.conflict(), t.preserved(), t.policy != nil),
	}
	var digests strings.Builder
	for n := strings.IndexByte(k.rules, 1); n >= 0; {
		digests.WriteString(w.digest(rules.List[n]))
		more := strings.IndexByte(k.rules[n+1:], 1)
		if more < 0 {
			break
		}
		n += 1 + more
	}
	r.rules = digests.String()
	return r
}

// digest identifies what a rule does, and what decides whether and when it does it.
func (w *writer) digest(r *override.Rule) string {
	d, ok := w.digests[r]
	if !ok {
		data, err := json.Marshal([]any{r.Overriders, r.Policy.Namespaced(), r.Policy.Object.Ref().Name, r.Policy.Spec.ResourceSelectors})
		if err != nil {
			panic("plan: overriders that were decoded from JSON do not encode: " + err.Error())
		}
		sum := sha256.Sum256(data)
		d = string(sum[:16])
		w.digests[r] = d
	}
	return d
}
