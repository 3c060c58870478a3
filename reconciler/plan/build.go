package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

type target = karmada.TargetCluster

// builder carries a plan through its steps.
type builder struct {
	in     *Input
	plan   Plan
	mender mender

	set       policies.Set
	releases  *releases
	objects   []*object.Object // what is to be placed, as it stands in the source
	templates []*template
	byRef     map[object.Ref]*template
	bound     map[string][]*object.Object
	// definitions are the CustomResourceDefinitions, by the kind they define. They
	// are placed first, so that what is of their kinds can follow.
	definitions map[groupKind]*template

	fleet      fleet.Fleet
	claims     *match.Index
	skips      match.Skips
	overrides  *override.Index
	interpret  *interpret.Interpreter
	schedulers map[*policies.Propagation]*place.Scheduler
	placements map[*policies.Propagation]string // as bindings record them
	out        *writer
	pulled     map[bindingID][]*template // see pulledBefore; nil until it is asked
	forgives   bool                      // removals were allowed
	staying    map[object.Ref]bool       // what waits for held clusters
}

// Build makes the plan. It cannot fail: what is wrong with the input is in Diags.
func Build(in Input) Plan {
	b := newBuilder(&in)
	if len(b.releases.wanted) > 0 {
		return b.finish()
	}
	b.decide()
	b.write()
	b.layOut()
	b.remember()
	return b.finish()
}

// newBuilder reads the input: it mends, loads the policies and the fleet.
func newBuilder(in *Input) *builder {
	if in.Memo == nil {
		in.Memo = NewMemo()
	}
	b := &builder{
		in: in, schedulers: map[*policies.Propagation]*place.Scheduler{}, placements: map[*policies.Propagation]string{},
		plan:    Plan{Revision: in.Source.Revision, Config: in.Source.Config, Time: in.Now},
		mender:  mender{in: in, missing: map[string]bool{}, lastGood: map[string]string{}, hidden: map[string]string{}, unsound: map[string]map[string]bool{}},
		staying: map[object.Ref]bool{}, bound: map[string][]*object.Object{}, definitions: map[groupKind]*template{}, releases: newReleases(in),
	}
	b.plan.Diags = append(b.plan.Diags, in.Source.Diags...)
	b.plan.Stats.Stats = in.Source.Stats
	b.load()
	b.teach()
	b.join()
	b.index()
	b.count()
	return b
}

// load splits policies from templates, both mended, and puts what they render to in
// the place of releases that no policy selects.
func (b *builder) load() {
	objs := b.releases.unfoldUnselected(b.mender.mend(b.in.Source.Objects, b.in.Source.Broken, ""))
	set, objects, diags := policies.Load(objs, b.in.Memo)
	b.report(diags...)
	if len(set.Broken) > 0 {
		if mended := b.mender.mend(objs, set.Broken, ""); len(mended) > 0 {
			set, objects, _ = policies.Load(mended, b.in.Memo)
		}
	}
	b.set, b.objects = set, b.derived(objects)
}

// index makes the templates: of objects, of releases that a policy selects, and of
// what those render to.
func (b *builder) index() {
	render.SortObjects(b.objects)
	b.byRef = make(map[object.Ref]*template, len(b.objects))
	base := scope{around: b.objects, shelf: flux.NewShelf(b.objects)}
	var selected []*template
	for _, o := range b.objects {
		t := b.newTemplate(o)
		if t.isRelease() {
			if b.claim(t); t.policy == nil {
				continue // it waits, or failed, or is the cluster's own sync
			}
			selected = append(selected, t)
		}
		b.add(t)
	}
	for _, release := range selected {
		for _, t := range b.parts(release, base) {
			if other := b.byRef[t.object.Ref()]; other != nil {
				b.report(diag.Diagnostic{
					Code: "duplicate-object", Severity: diag.Error, Pos: release.object.Pos(),
					Message: fmt.Sprintf("%s renders %s, which is also at %s; that one is used", release.object.Ref(), t.object.Ref(), other.object.Pos()),
					Hint:    "remove one of them, or rename it",
				})
				continue
			}
			if !b.clustersOwn(t.object) {
				b.add(t)
			}
		}
	}
	slices.SortFunc(b.templates, func(x, y *template) int { return x.object.Ref().Compare(y.object.Ref()) })
	for _, c := range b.fleet.Clusters() {
		bound := b.mender.mend(b.in.Source.Bound[c.Name], b.in.Source.Broken, c.Name)
		b.bound[c.Name] = b.releases.unfoldFor(bound, scope{cluster: c, bound: true, around: b.objects, shelf: base.shelf})
	}
	b.plan.Stats.Templates = len(b.templates)
}

func (b *builder) add(t *template) {
	b.templates = append(b.templates, t)
	b.byRef[t.object.Ref()] = t
	if t.isDefinition() {
		b.definitions[t.defines()] = t
	}
}

// teach makes the interpreter of the customizations in force. A script that cannot run
// makes its operation fail, as in Karmada: what it was asked for stays as it was.
func (b *builder) teach() {
	custom := make([]*karmada.ResourceInterpreterCustomization, 0, len(b.set.Customizations))
	var taught strings.Builder
	for _, c := range b.set.Customizations {
		custom = append(custom, c.Value)
		taught.WriteString(files.Sum("blob", c.Object.YAML()).String())
		for _, e := range interpret.Check(c.Value) {
			where := e.Field
			if e.Line > 0 {
				where = fmt.Sprintf("%s, line %d of the script", e.Field, e.Line)
			}
			b.report(diag.Diagnostic{
				Code: "bad-script", Severity: diag.Error, Pos: c.Object.FieldPos([]any{"spec", "customizations", e.Field, "luaScript"}),
				Message: fmt.Sprintf("%s: %s: %s", policies.Name(c.Object), where, e.Message),
				Hint:    "what the script would say is not known, so that objects of its kind stay as they were last published",
			})
		}
	}
	b.interpret = interpret.New(custom...)
	b.in.Memo.begin(taught.String())
}

// count settles how many replicas each template asks for.
func (b *builder) count() {
	b.scale()
	for _, t := range b.templates {
		if t.interpretErr != nil {
			continue
		}
		t.replicas, t.requirements, _, t.interpretErr = b.interpret.Replicas(t.content)
		if t.interpretErr == nil {
			t.components, _, t.interpretErr = b.interpret.Components(t.content)
		}
	}
	b.rebalance()
}

// join makes the fleet of the registered clusters.
func (b *builder) join() {
	joined := b.in.Memo.fleet(&b.set, func() joined {
		clusters := make([]karmada.Cluster, 0, len(b.set.Clusters))
		for _, c := range b.set.Clusters {
			clusters = append(clusters, c.Spec)
		}
		taints := make([]*karmada.ClusterTaintPolicy, 0, len(b.set.Taints))
		for _, p := range b.set.Taints {
			taints = append(taints, p.Value)
		}
		clusters = fleet.Tainted(clusters, taints)
		return joined{fleet: fleet.New(clusters), digest: digest(clusters)}
	})
	b.fleet, b.plan.FleetDigest = joined.fleet, joined.digest
	b.claims, b.skips = match.New(b.set.Propagation), match.NewSkips(b.in.Source.Config.SkipNamespaces)
	b.overrides = override.New(b.set.Override)
	b.out = newWriter(b)
}

func digest(clusters []karmada.Cluster) string {
	data, err := json.Marshal(clusters)
	if err != nil {
		panic("plan: clusters that were decoded from JSON do not encode: " + err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (b *builder) report(ds ...diag.Diagnostic) { b.plan.Diags = append(b.plan.Diags, ds...) }

// layOut makes each cluster's tree and holds it against the published one. What held
// clusters are allowed to lose is laid out as it was decided.
func (b *builder) layOut() {
	b.plan.Clusters = b.trees()
	b.detached()
	decided, out := slices.Clone(b.plan.Clusters), b.out
	waits := b.settle()
	allowed := b.release()
	if b.forgives = allowed || b.in.Released; allowed && b.in.Allow != AllowAll { // with that nothing waited
		for i := range decided {
			decided[i].Held = nil
		}
		b.plan.Clusters, b.out, b.staying, waits = decided, out, nil, nil
	}
	b.report(waits...)
	b.consumers()
}

// trees makes each cluster's tree and has the guard judge it.
func (b *builder) trees() []Cluster {
	g := guard{rules: b.in.Source.Config.Guard, unsure: b.unsure(), moved: b.releases.unknown, hides: b.mender.hides, cause: b.cause, stays: func(r object.Ref) bool { return b.byRef[r] != nil }, nowhere: b.nowhere, seen: map[[2]files.ID]lost{}}
	trees := tree.NewBuilder()
	b.out.rank()
	groups := map[string]Cluster{} // by what is placed
	clusters := make([]Cluster, 0, len(b.fleet.Clusters()))
	b.plan.Stats.Placed = 0
	for i, c := range b.fleet.Clusters() {
		before := b.in.Published[c.Name]
		flux := b.flux(c)
		key := b.out.signature(i) + flux.Key(len(b.out.placed[i]))
		cp, ok := groups[key]
		if !ok {
			manifests := b.out.manifests(i)
			cp = Cluster{Objects: len(manifests)}
			cp.Tree, cp.Held = laidOut(trees, manifests, flux)
			groups[key] = cp
		}
		cp.Name, cp.Sync = c.Name, flux.Sync
		switch reason := b.in.Held[c.Name]; {
		case reason != "":
			cp.Held = &Hold{Reason: reason}
		case b.in.Medium == Branch && cp.Held == nil:
			cp.Held = handover(&cp, flux, g.judge(&cp, before))
		}
		b.plan.Stats.Placed += cp.Objects
		clusters = append(clusters, cp)
	}
	b.plan.Stats.Distinct = len(b.out.blobs)
	return clusters
}

// unsure says why it is not known what clusters should hold; empty where it is.
func (b *builder) unsure() string {
	return cmp.Or(b.mender.unsure, b.out.unsure)
}

// detached reports the branches of clusters that are no longer registered. They
// stay as they are: that a registration vanished is no order to delete.
func (b *builder) detached() {
	for _, name := range slices.Sorted(maps.Keys(b.in.Published)) {
		if _, ok := b.fleet.Lookup(name); ok {
			continue
		}
		b.plan.Detached = append(b.plan.Detached, name)
		b.report(diag.Diagnostic{
			Code: "cluster-detached", Severity: diag.Warning,
			Message: fmt.Sprintf("cluster %s is no longer registered; its branch stays as it is", name),
			Hint:    fmt.Sprintf("register it again, or delete the branch: git push REMOTE --delete %s%s", b.in.Source.Config.Publish.BranchPrefix, name),
		})
	}
}

// remember makes the next state.
func (b *builder) remember() {
	if b.forgives { // what was allowed to go is not waited for any longer
		for _, part := range b.mender.lost {
			b.mender.lastGood[part] = ""
		}
		b.mender.hidden = nil
	}
	b.plan.Released = b.forgives
	staying := map[string]string{}
	for r := range b.staying {
		staying[r.String()] = "waits for held clusters"
	}
	c := state.Content{Staying: staying, LastGood: b.mender.lastGood, Hidden: b.mender.hidden, Held: map[string]string{}, Clusters: b.in.Memo.clusters(b.registered)}
	for _, cl := range b.plan.Clusters {
		if cl.Held != nil {
			c.Held[cl.Name] = cl.Held.Reason
		}
	}
	c.Bindings = b.carriedOut(c.Held)
	if len(c.Held) == 0 || b.forgives {
		b.releases.acknowledge()
	}
	c.Releases = b.releases.remembered(b.out.kept, c.Held)
	folder, err := state.Encode(c, &b.in.State)
	if err != nil {
		panic("plan: a binding that was made here does not encode: " + err.Error())
	}
	b.plan.State = folder
}

// registered lays out the clusters as they are registered.
func (b *builder) registered() *files.Folder {
	clusters := make([]*karmada.Cluster, 0, len(b.set.Clusters))
	for i := range b.set.Clusters {
		clusters = append(clusters, &b.set.Clusters[i].Spec)
	}
	folder, err := state.EncodeClusters(clusters)
	if err != nil {
		panic("plan: a cluster that was decoded does not encode: " + err.Error())
	}
	return folder
}

func (b *builder) finish() Plan {
	b.plan.Missing = slices.Sorted(maps.Keys(b.mender.missing))
	for _, key := range slices.Sorted(maps.Keys(b.releases.wanted)) {
		b.plan.Wanted = append(b.plan.Wanted, b.releases.wanted[key])
	}
	b.report(b.releases.diagnostics()...)
	b.plan.Diags = diag.Sort(b.plan.Diags)
	return b.plan
}

func policyName(p *policies.Propagation) string {
	if p == nil {
		return ""
	}
	return p.String()
}

// list prints names, the first few of them.
func list(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func byName(a, b target) int { return cmp.Compare(a.Name, b.Name) }
