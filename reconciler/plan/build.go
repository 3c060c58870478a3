package plan

import (
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/consumers"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan/autoscale"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/ingress"
	"github.com/waybill-dev/waybill/reconciler/plan/lint"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/scripts"
	"github.com/waybill-dev/waybill/reconciler/plan/virtual"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/object"
)

// Build makes the plan. It cannot fail: what is wrong with the input is in Diags.
func Build(in Input) Plan {
	in.ready()
	x := in.Expanded
	asked := in.schedule(x.Policies, x.Templates)
	decided := schedule.Decide(asked)
	t := newTable(&in, &decided)
	writing := manifest.Input{
		Policies: x.Policies, Decisions: decided.Decisions, Bound: x.Bound, Failures: x.Failures, Before: t.before(),
		Config: in.Source.Config, OnBranch: in.Medium == Branch, Random: in.random(), Memo: &in.Memo.manifest,
	}
	wanted := ingress.Write(writing)
	decided.Decisions, writing.Decisions = wanted.Decisions, wanted.Decisions
	rows, differ := virtual.Settle(virtual.Input{
		Policies: x.Policies, Decisions: decided.Decisions, Rows: wanted.Written.Rows, Namespaces: in.Source.Config.Namespaces,
	})
	t.rows, t.blobs, t.wanted = rows, &wanted.Written.Blobs, wanted
	stages := stager{table: t}
	goes := stages.goesOut(writing)
	atTheEnd := stages.heldAtTheEnd(&goes, writing, rows)
	t.rows, t.units, t.staged = goes.Rows, goes.Of, goes.Outputs
	addFoundations(t)
	t.findUnlisted()
	t.mover.resume()
	out := t.carryOut()
	if t.mover.begin(&out) {
		out = t.carryOut()
	}
	again := decided.Recheck.And(t.mover.recheck).And(goes.Recheck).And(goes.After(carriedOut(t, &out), in.Now))
	p := Plan{
		Revision: in.Source.Revision, Config: in.Source.Config, Source: in.Source, Expanded: *x, Asked: asked,
		Decisions: decided.Decisions, Clusters: out.clusters, Published: in.Published, Detached: in.detached(),
		Left: t.leftIn(out.result.Left), Leaving: t.leaving, Moves: t.mover.moves(), Asks: t.mover.asks,
		Missing: stages.missing, Services: t.exchanged, replicas: t.replicas,
		Basis: Basis{
			FleetDigest: x.Policies.FleetDigest, RandomKey: in.usedKey(&wanted.Written),
			Scheduled: again.Timed || x.Policies.Stamped, Time: in.Now, RecheckAt: again.At, Awaits: again.Awaits,
		},
		Rollouts: goes.Outputs, Units: goes.Of,
		Removals: out.removals, ByComment: in.Allow.ByComment,
		Released: Released{Held: out.allowed, Clusters: out.freed(), Missing: in.Unresolved.Forgot, By: guard.Approvers(out.released)},
	}
	p.Stats = Stats{Stats: in.Source.Stats, Templates: len(x.Templates), Distinct: wanted.Written.Blobs.Len()}
	for _, c := range p.Clusters {
		p.Stats.Placed += c.Objects
	}
	health, wrong := scripts.Read(in.Source.Config.Health.ArgoCDConfigMap, x, in.State.Scripts)
	recorded := recordsOf(&goes, in.State.UnreadableRollouts)
	ofSource := diag.Sort(slices.Concat(
		in.Source.Diags, in.Unresolved.Diags, x.Diags, decided.Diags, wanted.Written.Diags, t.exchanged.Said(), differ, wrong,
		t.consumers(p.Clusters), lint.Find(x.Policies, decided.Decisions, x.Inners),
	))
	p.State = t.record(&out, in.State.Random.After(p.Basis.RandomKey, in.Random.Source), health, recorded, sourceErrors(&in, ofSource))
	in.Memo.replicas.Keep(t.replicas)
	p.Diags = diag.Sort(slices.Concat(
		ofSource, in.recovery.Diags, goes.Diags, atTheEnd, t.unlisted.diags,
		consumers.Detached(p.Detached, in.Source.Config.Publish.Addresses()), in.moved(), out.diags, reportMoves(p.Moves),
	))
	return p
}

// Expand renders the releases of the input's source, so that Build finds nothing left to
// render. The error is that of render.
func Expand(in *Input, render expand.Render) error {
	if in.Memo == nil {
		in.Memo = NewMemo()
	}
	in.Memo.expand.Turn()
	in.Memo.older.Turn()
	if in.recovery.Refs == nil && len(in.State.Unreadable) > 0 {
		in.recovery = in.State.Recover(in.Published, in.Source.Objects)
	}
	x, err := expand.Expand(in.expanding(in.Source, &in.Memo.expand), render)
	in.Expanded = &x
	return err
}

// expanding is the input for rendering the releases of a source: of the plan's, or of an older version of it.
func (in *Input) expanding(src render.Source, memo *expand.Memo) expand.Input {
	return expand.Input{
		Source: src, Releases: in.State.Releases, Observed: in.State.Observed, Marks: in.State.Failover.Taints, Now: in.Now,
		Pinned: in.Medium == Branch, Random: in.random(), Memo: memo,
		Place: func(l *index.Policies, release *template.Template) (*policies.Propagation, []karmada.TargetCluster) {
			return schedule.Release(in.schedule(l, nil), release)
		},
		Override: overridden,
	}
}

// overridden returns a release as the override rules that match make it.
func overridden(l *index.Policies, release *template.Template, matching string) (*object.Object, *diag.Diagnostic) {
	rules := l.Overrides.Rules(release.Subject)
	rules.Claimed = l.Claims.Policy(release.Subject) != nil
	content, bad := rules.Rewrite(release.Object, release.Object.Content(), matching)
	if bad != nil {
		return nil, bad
	}
	return release.Object.With(content), nil
}

// ready fills in what the input leaves out, and begins a turn of its memo.
func (in *Input) ready() {
	if in.Memo == nil {
		in.Memo = NewMemo()
	}
	if in.Expanded == nil {
		if err := Expand(in, engine.Unrendered); err != nil {
			panic("plan: what never fails failed: " + err.Error())
		}
	}
	in.Memo.schedule.Turn()
	in.Memo.manifest.Turn()
	in.Memo.units.Turn()
	in.Expanded.Policies.Interpreter.Renew()
}

// schedule is the input for decisions about templates.
func (in *Input) schedule(l *index.Policies, templates []*template.Template) schedule.Input {
	return schedule.Input{
		Policies: l, Templates: templates, State: &in.State, When: in.Source.Revision.When, Now: in.Now,
		MayHideClusters: in.Unresolved.MayHideClusters, Recovered: in.recovery.Refs, Memo: &in.Memo.schedule,
		Failover: in.failover(), Descheduler: in.descheduler(), Branches: in.branches(l),
	}
}

// branches is what is published of templates on branches.
func (in *Input) branches(l *index.Policies) autoscale.Published {
	switch {
	case in.Medium != Branch:
		return autoscale.Published{}
	case in.Replay != nil:
		return autoscale.Again(&in.Source.Config.Publish, l, in.Replay.State.Bindings)
	}
	return autoscale.Branches(&in.Source.Config.Publish, l, in.Published)
}

// detached lists the clusters that have a branch and are no longer registered. They stay as
// they are: that a registration vanished is no order to delete.
func (in *Input) detached() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(in.Published)) {
		if _, ok := in.Expanded.Policies.Position(name); !ok {
			names = append(names, name)
		}
	}
	return names
}

// moved reports that clusters go from where they were published last to other addresses.
func (in *Input) moved() []diag.Diagnostic {
	if in.Medium != Branch || in.State.Root() == nil || len(in.Published) == 0 {
		return nil
	}
	terms, err := state.ReadTerms(in.State.Root())
	if err != nil {
		return nil // whoever publishes reads them, too
	}
	return consumers.Moved(terms.Addresses(), in.Source.Config.Publish.Addresses())
}
