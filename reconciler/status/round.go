package status

import (
	"cmp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Round is what a round of applying came to.
type Round struct {
	Branch string // empty if it is not known
	// Commit of the branch that was applied, and the source commit that it was published from.
	Commit  files.ID
	Source  string
	Objects []apply.Object // of the commit
	Report  apply.Report
	// Health is that of the objects, as they were seen after the round; nil if nobody looked.
	Health map[object.Ref]health.Health
	// Resources are what kinds are called in paths of the API.
	Resources map[schema.GroupKind]string
	// Refused is the commit that was applied last, where the head was refused because it does not come after it, and
	// RefusedState the one of the state branch that was gone by; zero otherwise.
	Refused, RefusedState files.ID
	// Trouble says why the round did not come to its end; zero if it did.
	Trouble Verdict
	// Expires is when the credential does.
	Expires time.Time
}

// verdict is how the round went.
func (r *Round) verdict() Verdict {
	switch {
	case r.Trouble.Reason != "":
		return r.Trouble
	case r.Report.Plan.Hold != nil:
		return Verdict{Held, r.Report.Plan.Hold.Reason}
	case r.Report.Failed():
		return Verdict{Failing, cmp.Or(r.Report.Stopped, "not every object is as the branch has it")}
	}
	return Verdict{Reason: Applied}
}

// Ended notes what a round came to.
func (l *Ledger) Ended(r *Round, at time.Time) {
	at = at.UTC().Truncate(time.Second)
	v := r.verdict()
	if v.Reason != l.cluster.Verdict.Reason || l.cluster.Since.IsZero() {
		l.cluster.Since = at
	}
	l.cluster.Verdict, l.cluster.Expires = v, r.Expires
	l.cluster.Branch = cmp.Or(r.Branch, l.cluster.Branch)
	l.cluster.Commit, l.cluster.State = cmp.Or(r.Refused, l.cluster.Commit), r.RefusedState
	f := folder{Ledger: l, round: r, at: at}
	if r.Health != nil {
		defer l.note(object.Ref{}, at)
		defer l.review()()
	}
	switch v.Reason {
	case Applied, Failing:
		l.cluster.Commit, l.cluster.Source = r.Commit, r.Source
		f.all()
	case Held:
		f.health()
	case Unreachable, NoCredential, Suspended:
		f.lost()
	default:
		f.outcomes()
	}
	l.note(object.Ref{}, at)
}

// folder folds a round into a ledger.
type folder struct {
	*Ledger

	round *Round
	at    time.Time
}

// all notes each object of the branch, and of what was applied before.
func (f *folder) all() {
	known := make(map[object.Ref]bool, len(f.round.Objects))
	failed, outcomes := map[object.Ref]string{}, map[object.Ref]*apply.Outcome{}
	for i := range f.round.Report.Plan.Refused {
		a := &f.round.Report.Plan.Refused[i]
		failed[a.Ref] = a.Why
	}
	for i := range f.round.Report.Outcomes {
		outcomes[f.round.Report.Outcomes[i].Ref] = &f.round.Report.Outcomes[i]
	}
	for i := range f.round.Objects {
		o := &f.round.Objects[i]
		out := outcomes[o.Ref]
		if apply.IsHook(o) && (out == nil || out.Err == nil) {
			continue // it came and went
		}
		known[o.Ref] = true
		f.object(o, out, failed[o.Ref])
	}
	for r := range f.round.Report.Inventory.Entries {
		if !known[r] {
			known[r] = true
			f.leaving(r, outcomes[r], failed[r])
		}
	}
	for r := range f.cluster.Objects {
		if !known[r] {
			delete(f.cluster.Objects, r)
			f.note(r, f.at)
		}
	}
}

// record returns the record of an object, which may be new.
func (f *folder) record(r object.Ref) *Object {
	x := f.cluster.Objects[r]
	if x == nil {
		x = &Object{}
		f.cluster.Objects[r] = x
	}
	if name := f.round.Resources[schema.GroupKind{Group: r.Group, Kind: r.Kind}]; name != "" {
		x.Resource = name
	}
	return x
}

// object notes an object of the branch.
func (f *folder) object(o *apply.Object, out *apply.Outcome, refused string) {
	x := f.record(o.Ref)
	_, x.Version = object.GroupVersion(o.APIVersion)
	x.private = o.Private
	now := x.Applied
	now.Message = ""
	switch {
	case out != nil && out.Err != nil:
		now.Phase, now.Message = PhaseFailed, x.said(out.Err)
	case refused != "":
		now.Phase, now.Message = PhaseFailed, refused
	case out != nil:
		now.Phase, now.Commit, now.Source = PhaseApplied, f.round.Commit, f.round.Source
		if x.Applied.Phase == PhaseApplied && (out.Verb == apply.Correct || out.Verb == apply.Create) {
			now.Corrected++
		} else {
			now.Corrected = 0
		}
	case f.round.Report.Inventory.Entries[o.Ref].Content != o.Content:
		now.Phase, now.Message = PhasePending, "it is not its turn yet"
	default:
		now.Phase, now.Corrected = PhaseApplied, 0
		if source := f.round.Report.Inventory.Entries[o.Ref].Source; now.Commit.IsZero() || now.Source != source {
			now.Commit, now.Source = f.round.Commit, source // it is as this commit has it
		}
	}
	f.applied(o.Ref, x, now)
	f.seen(o.Ref, x)
}

// leaving notes an object that left the branch and is still there.
func (f *folder) leaving(r object.Ref, out *apply.Outcome, refused string) {
	x := f.record(r)
	x.private = x.private || private(r)
	now := x.Applied
	now.Phase, now.Message, now.Corrected = PhaseLeaving, refused, 0
	switch {
	case out != nil && out.Err != nil:
		now.Message = x.said(out.Err)
	case out != nil:
		now.Message = out.Waits
	}
	f.applied(r, x, now)
	f.seen(r, x)
}

// applied notes a fact, and since when it is so.
func (f *folder) applied(r object.Ref, x *Object, now Application) {
	if was := x.Applied; was.Phase != now.Phase || was.Commit != now.Commit || was.Since.IsZero() {
		now.Since = f.at
	}
	if x.Applied != now {
		delete(f.works, r.Namespace)
	}
	x.Applied = now
}

// seen notes the health of an object as it was seen after the round.
func (f *folder) seen(r object.Ref, x *Object) {
	h, ok := f.round.Health[r]
	hasMore := health.Has(r) || x.Applied.Commit.IsZero()
	switch {
	case ok:
		f.judge(r, x, h, f.at)
	case !hasMore:
		f.judge(r, x, health.There(), f.at)
	case f.round.Health != nil || x.Health.State == "":
		f.judge(r, x, unknown("it was not seen yet"), f.at)
	}
	f.note(r, f.at)
}

// outcomes notes what a round did before it was cut off.
func (f *folder) outcomes() {
	for i := range f.round.Report.Outcomes {
		out := &f.round.Report.Outcomes[i]
		if out.Object != nil {
			f.object(out.Object, out, "")
		}
	}
	f.health()
}

// health notes the health of objects of which no more is known.
func (f *folder) health() {
	for r, h := range f.round.Health {
		f.Saw(r, h, f.at)
	}
}

// lost notes that nothing is known of any object's health.
func (f *folder) lost() {
	for r := range f.cluster.Objects {
		f.Saw(r, unknown("nobody sees it: "+f.cluster.Verdict.Reason), f.at)
	}
}

func unknown(why string) health.Health {
	return health.Health{State: karmada.ResourceUnknown, Reason: health.Unknown, Message: why}
}

// said is what went wrong with an object, without what an API server may quote of a Secret.
func (o *Object) said(err error) string {
	if o.private {
		return "it was refused; why may hold values of Secrets, and is not written here; the log of whoever applies says more"
	}
	return err.Error()
}

// private reports a kind that may hold values of Secrets.
func private(r object.Ref) bool { return strings.HasSuffix(r.Kind, "Secret") }
