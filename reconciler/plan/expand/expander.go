package expand

import (
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/policies/unit"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
)

// Input is what there is to expand.
type Input struct {
	Source render.Source
	// Releases are what releases rendered to when they were published last.
	Releases []state.Release
	// Observed is what was observed of clusters, by name.
	Observed map[string]*karmada.ClusterStatus
	// Marks are remembered of the taints of clusters, and Now is the time of the plan: see
	// policies.Failover.
	Marks fleet.Marks
	Now   time.Time
	// Pinned refuses charts whose version the lock file does not settle.
	Pinned bool
	// Random is what releases draw from; its cluster is filled in.
	Random flux.Random
	// Place says which policy claims a release, and where it goes; nil for none.
	Place func(l *index.Policies, release *template.Template) (*policies.Propagation, []karmada.TargetCluster)
	// Override returns a release as it is in a cluster; the diagnostic says why it cannot
	// be. Matching is what index.Matching says of the cluster.
	Override func(l *index.Policies, release *template.Template, matching string) (*object.Object, *diag.Diagnostic)
	Memo     *Memo
}

// Render renders jobs, in order. The error is ours.
type Render func([]engine.Job) ([]engine.Rendered, error)

// Memo remembers what expanding made, from one plan to the next.
type Memo struct {
	Policies index.Memo
	Template template.Memo
	services cache.Generation[*object.Object, services.Derivation] // by ServiceImport
	// ingresses are what MultiClusterIngresses become.
	ingresses cache.Generation[*object.Object, *object.Object]
	// installed are the objects of releases.
	installed cache.Generation[installation, *object.Object]
	jobs      map[string]engine.Job // that the last plan needed, by key
}

// Turn begins the next plan.
func (m *Memo) Turn() {
	m.Policies.Turn()
	m.Template.Turn()
	m.services.Turn()
	m.ingresses.Turn()
	m.installed.Turn()
}

// Result is a source in which nothing is left to render.
type Result struct {
	Policies *index.Policies
	// Units are what moves together in roll-outs, in the order of their names, and Windows are when.
	Units   []unit.Unit
	Windows unit.Windows
	// Templates are in the order of their refs.
	Templates []*template.Template
	// Bound is what stands in clusters' own directories.
	Bound map[string][]*object.Object
	// Failures are the releases that cannot be rendered, in the order of their names.
	Failures []Failure
	// Releases are what releases render to now, in the order of their names.
	Releases []state.Release
	// Inners are the releases that those render which policies select, in the order of their refs.
	Inners []Inner
	// Unclaimed are the releases that no policy selects.
	Unclaimed []Unclaimed
	// HoldReason says why it is not known where everything goes: a policy cannot be had.
	// Empty where it is known.
	HoldReason string
	// ContentUnknown reports that a release failed of which nothing is known, or which is made from
	// other files than before: what is missing from the source may have moved into it.
	ContentUnknown bool
	// UsedUp are the sources of Flux that are left out somewhere, because only releases use them.
	UsedUp map[object.Ref]bool
	// Drew reports that a release that may draw was rendered.
	Drew bool
	// Recipes identify what the releases that policies select are made from wherever they go: values, charts
	// as the lock file has them, what they are patched with. Files of the source that they read are in
	// Releases. One that cannot be read has none.
	Recipes map[object.Ref]string
	// Restless are the releases whose result may be another one each time, by themselves and by what they render to.
	Restless map[object.Ref]Restless
	// Sensitive reports that a release reads a Secret, or may draw, whether or not it can be rendered.
	Sensitive bool
	// Lacks are the charts for want of which releases were not rendered.
	Lacks []Lack
	Diags []diag.Diagnostic
	// About are those of Diags that are about a release, by the release.
	About About
}

// Restless is a release that is allowed to call a function of time.
type Restless struct {
	Release  *object.Object
	Function string
}

// Within returns a release that matches and is rendered by another one, and the one of these that
// a policy selects; false if there is none.
func (r *Result) Within(matches func(object.Ref) bool) (inner, outer object.Ref, ok bool) {
	for _, n := range r.Inners {
		if matches(n.Release.Ref()) {
			return n.Release.Ref(), n.Of, true
		}
	}
	return inner, outer, false
}

// expander expands a source as far as what is rendered allows.
type expander struct {
	in         *Input
	repository *flux.Repository
	rendered   map[string]engine.Rendered // by job
	wanted     map[string]engine.Job      // what has to be rendered first
	done       map[string]engine.Job      // what was rendered, and is needed
	served     map[*fleet.Cluster]string
	objects    map[installed][]*object.Object
	replaced   []*object.Object // releases, in the order in which they were
	usedUp     map[object.Ref]bool
	recipes    map[object.Ref]string
	restless   map[object.Ref]Restless
	releases   releases
	asks       bool // one that was rendered may be another one for each cluster
	drew       bool
	sensitive  bool
	nested     nested
	said       saying
	about      About
	diags      []diag.Diagnostic
}

// nested is what is known of releases that others render, and of those that no policy selects.
type nested struct {
	rules     *innerRules         // nil: not asked for yet
	standing  map[object.Ref]bool // releases that no other renders
	inners    map[object.Ref]Inner
	unclaimed []Unclaimed
}

func newExpander(in *Input, repository *flux.Repository, rendered map[string]engine.Rendered) *expander {
	return &expander{
		in: in, repository: repository, rendered: rendered, wanted: map[string]engine.Job{}, done: map[string]engine.Job{}, served: map[*fleet.Cluster]string{}, objects: map[installed][]*object.Object{}, usedUp: map[object.Ref]bool{}, recipes: map[object.Ref]string{},
		restless: map[object.Ref]Restless{},
		releases: releases{of: map[state.ReleaseID]*release{}}, said: saying{}, about: About{}, nested: nested{standing: map[object.Ref]bool{}, inners: map[object.Ref]Inner{}},
	}
}

func (x *expander) report(ds ...diag.Diagnostic) { x.diags = append(x.diags, ds...) }

// alsoAt says that a release renders what is elsewhere, too.
func alsoAt(release, o, other *object.Object) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.DuplicateObject, Severity: diag.Error, Pos: release.Origin(),
		Message: fmt.Sprintf("%s renders %s, which is also at %s; that one is used", release.Ref(), o.Ref(), other.Origin()),
		Hint:    "remove one of them, or rename it",
	}
}
