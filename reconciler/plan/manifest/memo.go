package manifest

import (
	"github.com/waybill-dev/waybill/policies/hpa"
	"github.com/waybill-dev/waybill/policies/ingress"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/links"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/seal"
	"github.com/waybill-dev/waybill/sources/files"
)

// Memo remembers manifests from one plan to the next: by their recipes, and of Secrets what
// they were encrypted to.
type Memo struct {
	manifests cache.Generation[recipe, *made]
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
	share       hpa.Share
	backends    ingress.Names
	workload    bool
	onBranch    bool
	scaled      string // see template.Variant
	interpreter string // which customizations there are
	marks       interpret.Marks
	claimed     bool   // by a policy
	rules       string // digests of the overriders, in order
	virtual     string // see virtuals.id
	preserved   string // see class
	site        links.Site
}

// made is a manifest, the steps that scripts took for it, and what in it is to be told.
type made struct {
	blob  *files.Blob      // nil until it is encoded, see drafts
	bad   *diag.Diagnostic // why it cannot be
	steps int
	texts []virtual.Text
}

// novel is a manifest that is to be remembered once it is encoded.
type novel struct {
	recipe recipe
	made   *made
}

// remembered is the manifest of a recipe, which is from unless it is known. What scripts
// took for it is taken again, so that a plan which remembers ends where one that does not
// would have ended.
func (w *writer) remembered(r recipe, from func() (*made, *diag.Diagnostic)) *result {
	in := w.in.Policies.Interpreter
	if known, ok := w.in.Memo.manifests.Get(r); ok && in.Respend(known.steps) {
		return &result{made: known}
	}
	before := in.Spent()
	out, bad := from()
	if bad != nil {
		return &result{err: bad}
	}
	out.steps = in.Spent() - before
	w.novel = append(w.novel, novel{r, out})
	return &result{made: out}
}
