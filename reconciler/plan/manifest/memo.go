package manifest

import (
	"crypto/sha256"
	"encoding/json"
	"strings"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/reconciler/plan/claim"
	"github.com/waybill-dev/waybill/reconciler/plan/template"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/seal"
	"github.com/waybill-dev/waybill/sources/files"
)

// Memo remembers manifests from one plan to the next: by their recipes, and of Secrets what
// they were encrypted to.
type Memo struct {
	manifests cache.Generation[recipe, made]
	digests   cache.Generation[*override.Rule, string]
	seals     seal.Memo
}

// Turn begins the next plan.
func (m *Memo) Turn() {
	m.manifests.Turn()
	m.digests.Turn()
	m.seals.Turn()
}

// recipe is all that a manifest is made of.
type recipe struct {
	object      *object.Object
	replicas    int32
	completions int64
	workload    bool
	onBranch    bool
	scaled      string // see template.Variant
	taught      string // which customizations there are
	marks       interpret.Marks
	claimed     bool   // by a policy
	rules       string // digests of the overriders, in order
}

// made is a manifest, and the steps that scripts took for it.
type made struct {
	blob  *files.Blob
	steps int
}

// manifest returns the manifest of a recipe, which is from unless it is known. What scripts
// took for it is taken again, so that a plan which remembers ends where one that does not
// would have ended.
func (m *Memo) manifest(r recipe, in *interpret.Interpreter, from func() *result) *result {
	if known, ok := m.manifests.Get(r); ok && in.Respend(known.steps) {
		return &result{made: known.blob}
	}
	before := in.Spent()
	out := from()
	if out.err == nil {
		m.manifests.Put(r, made{out.made, in.Spent() - before})
	}
	return out
}

// recipe says what the manifest of a class is made of.
func (w *writer) recipe(d *claim.Decision, v template.Variant, k class, rules override.Rules) recipe {
	r := recipe{
		object: v.Object, replicas: k.replicas, completions: k.completions, workload: d.Policy != nil && d.Size.IsWorkload(),
		onBranch: w.in.OnBranch, scaled: v.Scaled, taught: w.in.Law.Taught, marks: marks(d), claimed: d.Policy != nil,
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
	known, ok := w.in.Memo.digests.Get(r)
	if !ok {
		data, err := json.Marshal([]any{r.Overriders, r.Policy.Namespaced(), r.Policy.Object.Ref().Name, r.Policy.Spec.ResourceSelectors})
		if err != nil {
			panic("manifest: overriders that were decoded from JSON do not encode: " + err.Error())
		}
		sum := sha256.Sum256(data)
		known = string(sum[:16])
		w.in.Memo.digests.Put(r, known)
	}
	return known
}
