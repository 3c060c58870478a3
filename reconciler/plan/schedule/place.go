package schedule

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/plan/deschedule"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// SpreadAnnotation on a policy makes spread constraints that Karmada ignores act.
const SpreadAnnotation = "waybill.dev/spread"

// placement is where an item goes.
type placement struct {
	clusters        []Target // shared by items that are placed alike: nobody may modify them
	group           string   // the affinity group in force
	reason, message string   // Karmada's condition
	isKept          bool     // something is wrong, so that it stays where it was
	seatless        []string // see place.Decision
	moves           *failover.Moves
	shift           *deschedule.Shift
}

// placer places items: definitions of kinds first, and releases before what they render to.
type placer struct {
	in     *Input
	items  []item
	at     map[object.Ref]int // items
	placed []placement        // so far, of the items
	// definitions are the CustomResourceDefinitions, by the kind they define. What is of their kinds
	// follows them.
	definitions map[object.GroupKind]int
	ofKind      map[object.GroupKind][]int // items; nil until it is asked
	schedulers  map[compiling]*place.Scheduler
	answers     place.Answers
	texts       map[*karmada.PropagationSpec]string // placements as bindings record them
	evictor     *failover.Evictor                   // nil if work does not leave clusters
	descheduler *deschedule.Descheduler             // nil if replicas do not
	progress    failover.Progress
	diags       []diag.Diagnostic
}

func newPlacer(in *Input, items []item) *placer {
	p := &placer{
		in: in, items: items, at: make(map[object.Ref]int, len(items)), placed: make([]placement, len(items)),
		definitions: map[object.GroupKind]int{}, schedulers: map[compiling]*place.Scheduler{},
		answers: place.Answers{}, texts: map[*karmada.PropagationSpec]string{},
		evictor: failover.New(failover.Input{
			Settings: in.Failover, Fleet: in.Policies.Fleet, Marks: in.Policies.Marks, Bindings: in.State.Bindings, Now: in.Now,
		}),
		descheduler: deschedule.New(in.Descheduler, in.Policies.Fleet, in.Now),
	}
	p.progress = p.evictor.Start()
	for i := range items {
		p.at[items[i].ref()] = i
		if defined, ok := items[i].template.Object.Defines(); ok {
			p.definitions[defined.GroupKind] = i
		}
	}
	return p
}

// all places the items that a policy claims.
func (p *placer) all() []placement {
	isDefinition := func(it *item) bool {
		_, ok := it.template.Object.Defines()
		return ok
	}
	for _, isNext := range []func(*item) bool{
		isDefinition,
		func(it *item) bool { return it.template.IsRelease() },
		func(it *item) bool { return !it.template.IsRelease() && !isDefinition(it) },
	} {
		for i := range p.items {
			if it := &p.items[i]; it.policy != nil && isNext(it) {
				p.placed[i] = p.place(it)
			}
		}
	}
	return p.placed
}

// place gives an item its clusters.
func (p *placer) place(it *item) placement {
	var out placement
	leaver := p.leaver(it)
	out.moves, p.progress = p.evictor.Resume(&leaver, p.progress)
	s, why := p.scheduler(it)
	if s == nil {
		return out.kept(it, why)
	}
	if p.evictor != nil { // which saves what is made for it, for each template
		out.moves, p.progress = p.evictor.Begin(&leaver, out.moves, p.progress, func(previous []Target, evicting []string) place.Decision {
			return p.answers.Schedule(s, p.request(it, ask{previous: previous, evicting: evicting}))
		})
	}
	if p.descheduler != nil && isDescheduled(it.ref(), it.policy) {
		out.shift = p.shift(it, s, &out)
	}
	now := p.ask(it, &out)
	r := p.request(it, now)
	isSteady := !it.rebalance.fresh && !out.moves.Begins() && !out.shift.Moves()
	if isSteady && (p.isHeldBack(it) || p.isSettled(it) && s.Settled(r)) {
		return out.repeated(it)
	}
	d := p.in.Memo.place(p.placing(it, &out, now), func() place.Decision { return p.answers.Schedule(s, r) })
	if d.Reason == place.NoClusterFit && p.in.MayHideClusters && len(r.Previous) > 0 {
		return out.kept(it, "no cluster fits, and one may be in what cannot be read")
	}
	if d.Reason != place.Success {
		p.diags = append(p.diags, unplaced(it, r.Previous, &d))
	}
	out.clusters, out.reason, out.message, out.group = p.countVariants(it, d.Targets, r.Previous), string(d.Reason), d.Message, d.Group
	out.shift, out.seatless = out.shift.To(out.clusters), d.Seatless
	return out
}

// shift is how replicas of an item leave clusters in which they find no node.
func (p *placer) shift(it *item, s *place.Scheduler, out *placement) *deschedule.Shift {
	asked := p.ask(it, out)
	shift, again, diags := p.descheduler.Shift(shifting(it, out), func(previous []Target, full []string) place.Decision {
		asked.full = full
		r := p.request(it, asked)
		r.Previous = previous
		return p.answers.Schedule(s, r)
	})
	p.progress.Recheck, p.diags = p.progress.Recheck.And(again), append(p.diags, diags...)
	return shift
}

// scheduler returns the compiled placement of an item's policy, or why the item cannot be placed now;
// what has an error is reported.
func (p *placer) scheduler(it *item) (s *place.Scheduler, why string) {
	switch {
	case it.size.Err != nil:
		p.diags = append(p.diags, diag.Diagnostic{
			Code: diag.Interpret, Severity: diag.Error, Pos: it.template.Object.Origin(),
			Message: fmt.Sprintf("%s: %v", it.ref(), it.size.Err),
			Hint:    "it stays as it was last published",
		})
		return nil, it.size.Err.Error()
	case it.isRecovered:
		return nil, "its binding could not be read"
	case it.policy.Waits != "":
		return nil, "waiting for the override policy " + it.policy.Waits
	}
	if s = p.compiled(it.policy); s == nil {
		return nil, "the policy's placement has an error"
	}
	return s, ""
}

// compiling is what a compiled placement follows from. MultiClusterServices for the same clusters have one.
type compiling struct {
	spec *karmada.PropagationSpec
	mode place.Spread
}

// compiled returns the compiled placement of a policy; nil if it has an error, which is reported once.
func (p *placer) compiled(of *policies.Propagation) *place.Scheduler {
	from := compiling{spec: of.Spec, mode: place.SpreadKarmada}
	if of.Object.Annotations()[SpreadAnnotation] == "strict" {
		from.mode = place.SpreadStrict
	}
	s, ok := p.schedulers[from]
	if ok {
		return s
	}
	s, err := place.Compile(&of.Spec.Placement, p.in.Policies.Fleet, from.mode)
	if err != nil {
		p.diags = append(p.diags, diag.Diagnostic{
			Code: diag.BadPlacement, Severity: diag.Error, Pos: of.Object.FieldPos([]any{"spec", "placement"}),
			Message: fmt.Sprintf("%s: %v", of, err),
		})
	}
	p.schedulers[from] = s
	return s
}

// placementOf prints a policy's placement as Karmada records it on a binding.
func (p *placer) placementOf(of *policies.Propagation) string {
	if _, known := p.texts[of.Spec]; !known {
		p.texts[of.Spec] = state.Placement(&of.Spec.Placement)
	}
	return p.texts[of.Spec]
}

// isSettled reports whether an item was last placed, successfully, by the placement that
// its policy has now. Karmada then leaves a divided workload alone (section A.11).
func (p *placer) isSettled(it *item) bool {
	return state.PlacedBy(it.before, p.placementOf(it.policy))
}

// isHeldBack reports whether an item waits: its policy is Lazy, and it is as it was when it
// was last placed (section A.15). What could not be placed, and what has a cluster that is
// gone, is scheduled again all the same: Lazy keeps changes of the policy from it only.
func (p *placer) isHeldBack(it *item) bool {
	f := p.in.Policies.Fleet
	return it.isLazy() && state.Placed(it.before) && it.before.Annotations[state.TemplateAnnotation] == it.template.Digest(f) &&
		!slices.ContainsFunc(it.before.Spec.Clusters, func(c Target) bool { _, ok := f.Lookup(c.Name); return !ok })
}

// repeated is the last decision about an item.
func (out *placement) repeated(it *item) placement {
	c, _ := state.Scheduled(it.before)
	out.clusters, out.group, out.reason, out.message = it.placed(), it.group(), c.Reason, c.Message
	return *out
}

// kept is that an item stays where it was.
func (out *placement) kept(it *item, why string) placement {
	out.clusters, out.group = out.previous(it), it.group()
	out.isKept, out.reason, out.message = true, "SchedulerError", why
	return *out
}

// previous returns the clusters of the last decision that a policy made about an item, less those that
// it, or some of its replicas, leave now.
func (out *placement) previous(it *item) []Target {
	switch {
	case out.moves.Begins():
		return out.moves.Remaining
	case out.shift.Moves():
		return out.shift.Remaining
	}
	return it.placed()
}

// unplaced reports an item that its policy cannot place.
func unplaced(it *item, previous []Target, d *place.Decision) diag.Diagnostic {
	after := "it is nowhere"
	switch {
	case len(previous) == 0:
	case d.Reason == place.NoClusterFit:
		after = "it leaves its clusters"
	default:
		after = "it keeps its clusters and replicas"
	}
	return diag.Diagnostic{
		Code: diag.Unschedulable, Severity: diag.Error, Pos: it.policy.Object.FieldPos([]any{"spec", "placement"}),
		Message: fmt.Sprintf("%s cannot place %s: %s; %s", it.policy, it.ref(), d.Message, after),
		Hint:    fmt.Sprintf("waybill explain %s shows why each cluster was passed over", it.ref().Argument()),
	}
}
