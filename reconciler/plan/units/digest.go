package units

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
)

// digests fills in the digests of units.
func digests(in *Input, units []Unit) {
	d := digester{in: in, read: map[object.Ref]string{}}
	for _, r := range in.Expanded.Releases {
		if r.Cluster == "" {
			d.read[r.Release] = r.Inputs
		}
	}
	common := []any{
		in.Renderer, in.Expanded.Policies.InterpreterDigest,
		in.Config.Secrets, in.Config.Publish.Hooks, in.Config.SkipNamespaces,
	}
	if in.Config.Publish.Links != "" { // without them units follow from what they followed from before there were any
		common = append(common, in.Config.Publish.Links)
	}
	d.common = sum(common...)
	for i := range units {
		units[i].Digest = d.unit(&units[i])
	}
}

// digester makes digests of units of one source.
type digester struct {
	in     *Input
	common string                // what every unit follows from
	read   map[object.Ref]string // what releases read, by release
}

func (d *digester) unit(u *Unit) string {
	h := sha256.New()
	add(h, "all", d.common)
	for _, p := range u.Policies {
		add(h, "policy", p.String(), d.in.Memo.policies.Or(p.Spec, func() string { return policyDigest(p) }))
	}
	overrides := map[string]*policies.Override{}
	for _, r := range u.Refs {
		decision := schedule.Find(d.in.Decisions, r)
		if decision == nil || decision.Policy == nil && len(decision.RequiredBy) == 0 {
			continue // it is gone, or nobody sends it any longer
		}
		d.template(h, decision)
		for _, rule := range d.in.Expanded.Policies.Overrides.Rules(decision.Template.Subject).List {
			overrides[rule.Policy.String()] = rule.Policy
		}
	}
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		spec := overrides[name].Spec
		add(h, "override", name, d.in.Memo.overrides.Or(spec, func() string { return sum(spec) }))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// template adds a template. What a release renders to follows from the release.
func (d *digester) template(h hash.Hash, decision *schedule.Decision) {
	t, r := decision.Template, decision.Ref()
	switch {
	case decision.Shares != nil: // its bounds follow from clusters and time; the rest from what it is made of
		t := decision.Scaler.Object
		add(h, "template", r.String(), d.in.Memo.templates.Or(t, func() string { return sum(t.Content()) }))
	case t.Part != nil && !t.IsRelease():
		return
	case t.IsRelease():
		add(h, "release", r.String(), d.in.Expanded.Recipes[r], d.read[r])
	default:
		add(h, "template", r.String(), d.in.Memo.templates.Or(t.Object, func() string { return sum(t.Object.Content()) }))
	}
}

// policyDigest is over what of a policy says where its templates go: neither what it says of failover, nor whether
// dispatching is suspended, which act at once; package older reads these of the source of now.
func policyDigest(p *policies.Propagation) string {
	spec := *p.Spec
	spec.Failover, spec.Suspension = nil, nil
	return sum(spec, state.Placement(&spec.Placement))
}

// add adds texts to a hash so that no two lists of texts are alike.
func add(h hash.Hash, texts ...string) {
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	fmt.Fprintln(h)
}

// sum is a digest of values that are JSON.
func sum(values ...any) string {
	data, err := json.Marshal(slices.Clip(values))
	if err != nil {
		panic("units: what was decoded from JSON does not encode: " + err.Error())
	}
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
