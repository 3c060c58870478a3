// Package staged lays out what goes out in stages. For each unit it compares what clusters have with the version that
// the unit is to become and with the one that it was, asks package stage which version each cluster shows, and
// puts that version into the rows: the target with the larger share of divided replicas, or an older one as a block that
// keeps what is published, or has it written from its commit where the fleet has changed.
package staged

import (
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/scale"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/plan/units"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Input is what there is to lay out.
type Input struct {
	// Units are those of the source that go out in stages, or did: in the order of their names.
	Units []Unit
	// Revision is the source commit of the plan, and Published the one that was published last.
	Revision, Published string
	Now                 time.Time
	// AtTheEnd lays out how every cluster is when the runs are over.
	AtTheEnd bool
	Clusters []Cluster // of the fleet, in its order
	// Evidence says what speaks for clusters, in this order: render.EvidenceStatus, EvidenceCommitStatus, EvidenceTimed.
	Evidence  []string
	Decisions []schedule.Decision
	Rows      []manifest.Row // in the order of refs
	Blobs     *manifest.Blobs
	// Have returns what clusters have of an object.
	Have func(object.Ref) manifest.Published
	// Replicas returns how many replicas a manifest has; false if that cannot be told.
	Replicas func(*files.Blob) (int32, bool)
	// Bounds returns those of what a FederatedHPA became; false if they cannot be told, and for nil.
	Bounds func(*files.Blob) (scale.Bounds, bool)
	// Older returns what a unit of an older source commit would be today; false if the commit cannot be read.
	Older func(commit string, u rollouts.Unit) (Version, bool)
	// Write writes decisions of a source commit out, for other replicas than were decided.
	Write func(commit string, decisions []schedule.Decision) manifest.Result

	owners map[object.Ref]*Unit // of the objects that the units have now
	index  map[string]int       // of the clusters, by their names
}

// Unit is a unit that goes out in stages, and what is known of it.
type Unit struct {
	units.Unit

	// Strategy is the one that it is bound to, Refused why nothing may be released, and Pos where it is bound.
	Strategy *rollouts.Strategy
	Refused  string
	Pos      diag.Pos
	// Wrong is what is wrong with it, for which it is refused.
	Wrong []diag.Diagnostic
	// Before is what was recorded last; nil for nothing.
	Before *rollouts.Rollout
	// Unreadable reports that something is recorded of it that cannot be read.
	Unreadable bool
	// Absent reports that it is not in the source.
	Absent   bool
	Windows  map[string]stage.Window
	Commands []rollouts.Command
	// Stages are those that clusters are in, by index, and Turns the indices of clusters in the order in which they are released within
	// a stage; nil for the order of the fleet.
	Stages []string
	Turns  []int
	// IsReplay reports a plan that is made again, and Recorded is what that one recorded; nil for nothing.
	IsReplay bool
	Recorded *rollouts.Rollout
}

// isUnstaged reports a unit that goes out without a strategy, and that windows may hold back.
func (u *Unit) isUnstaged() bool {
	s := stage.InForce(u.Strategy, u.Before)
	return s != nil && s.IsNone()
}

// stage is the stage of a cluster, by its index; empty for none.
func (u *Unit) stage(i int) string {
	if u.Stages == nil {
		return ""
	}
	return u.Stages[i]
}

// turn is the index of the cluster whose turn is the nth.
func (u *Unit) turn(n int) int {
	if u.Turns == nil {
		return n
	}
	return u.Turns[n]
}

// Cluster is what is known of a cluster, whatever the unit.
type Cluster struct {
	Name string
	// IsNew, Held, Closed and Unwatched are as package stage has them.
	IsNew, Held, Closed, Unwatched bool
	// Seen is what it reports of its objects; nil for nothing. Posted is what commit statuses say of it; nil if nobody was asked.
	Seen   *Seen
	Posted *Posted
	// Unrecorded is what is there on top of what the record knows; nil for nothing.
	Unrecorded *Unrecorded
	// IsLost reports that it does not answer, whatever was said of it last.
	IsLost bool
	// Virtual is how its objects are named on the API server; nil for one of its own.
	Virtual *virtual.Mapping
}

// Result is what comes of it.
type Result struct {
	Rows []manifest.Row // in the order of refs
	// Of says which unit the objects are of that are one version in a cluster, by number; the first is 1. Those of a unit without a
	// strategy are that while some wait.
	Of map[object.Ref]int
	// Outputs are what was decided of the units, in their order.
	// Of one whose run is over, and of which nothing changes, they do not list what clusters show: the target.
	Outputs []stage.Output
	Recheck recheck.Recheck
	Diags   []diag.Diagnostic
}

// Settle decides which version of its units each cluster shows, and lays it out.
func Settle(in Input) Result {
	r := Result{Of: map[object.Ref]int{}}
	in = indexed(in)
	rs := rows{in: &in, edited: map[object.Ref]*manifest.Row{}}
	for n := range in.Units {
		u := &in.Units[n]
		r.Diags = append(r.Diags, u.Wrong...)
		if out, isQuiet := u.quiet(&in); isQuiet {
			r.add(u, out, u.Refs)
			continue
		}
		c := compare(&in, u)
		if isGone(c) {
			continue
		}
		out := c.decide()
		out.After = withDivided(out.After, c)
		if out.After != nil && u.Recorded == nil {
			out.After.Leaves = leaving(c, &out)
		}
		if !in.AtTheEnd || !endsAsTheSource(u, &out) {
			c.show(&out, &rs)
		}
		rs.add(c.refs)
		out.Recheck = out.Recheck.And(in.again(&out))
		r.add(u, out, c.refs)
	}
	if r.passesOn(in.Units) {
		r.Recheck = r.Recheck.By(in.Now.Add(time.Second), in.Now)
	}
	r.Rows = rs.all()
	return r
}

// staying are the objects that go out with a unit until its run is over, although another one claims them. One that was recorded stays,
// also where neither the source nor a cluster has it for a while.
func staying(u *Unit, out *stage.Output) []object.Ref {
	if u.Before == nil || out.Phase == rollouts.Done || u.Before.Status.Run != out.After.Status.Run {
		return u.Stays
	}
	all := slices.Concat(u.Stays, u.Before.Stays)
	slices.SortFunc(all, object.Ref.Compare)
	return slices.Compact(all)
}

// passesOn reports that a run of units is over by this plan, and that what stays with one of them whose run is over may go to the unit that
// claims it with the next.
func (r *Result) passesOn(units []Unit) bool {
	ends, stays := false, false
	for i := range r.Outputs {
		out := &r.Outputs[i]
		n, _ := slices.BinarySearchFunc(units, out.Unit, func(u Unit, name rollouts.Unit) int { return u.Compare(name) })
		u, isDone := &units[n], out.Phase == rollouts.Done
		ends = ends || isDone && u.Before != nil && u.Before.Status.Phase != rollouts.Done
		stays = stays || isDone && len(u.Stays) > 0
	}
	return ends && stays
}

// add adds what was decided of the next unit, and says which objects are of it.
func (r *Result) add(u *Unit, out stage.Output, refs []object.Ref) {
	if out.After != nil && u.Recorded == nil {
		out.After.Stays = staying(u, &out)
	}
	r.Outputs = append(r.Outputs, out)
	r.Recheck, r.Diags = r.Recheck.And(out.Recheck), append(r.Diags, out.Diags...)
	if is := out.After; out.Phase == rollouts.Done && (is == nil || u.isUnstaged() && len(is.Clusters) == 0) {
		return // nothing of it waits, and the next plan knows no unit of it, or is to carry it out as this one does
	}
	for _, ref := range refs {
		r.Of[ref] = len(r.Outputs)
	}
}

// indexed returns the input with its units by their objects, and its clusters by their names.
func indexed(in Input) Input {
	in.owners = map[object.Ref]*Unit{}
	for n := range in.Units {
		for _, ref := range in.Units[n].Refs {
			in.owners[ref] = &in.Units[n]
		}
	}
	in.index = make(map[string]int, len(in.Clusters))
	for i := range in.Clusters {
		in.index[in.Clusters[i].Name] = i
	}
	return in
}

// row returns the row of an object; false for none.
func (in *Input) row(r object.Ref) (manifest.Row, bool) {
	i, ok := rowAt(in.Rows, r)
	if !ok {
		return manifest.Row{}, false
	}
	return in.Rows[i], true
}

// rowAt is where the row of an object is; false for none.
func rowAt(in []manifest.Row, r object.Ref) (int, bool) {
	return slices.BinarySearchFunc(in, r, func(row manifest.Row, r object.Ref) int { return row.Ref.Compare(r) })
}

// rows are those of the input that are edited, and those that are added.
type rows struct {
	in     *Input
	edited map[object.Ref]*manifest.Row
}

// edit returns the row of an object, whose wants are its own.
func (rs *rows) edit(r object.Ref) *manifest.Row {
	if row := rs.edited[r]; row != nil {
		return row
	}
	row, _ := rs.in.row(r)
	row.Ref, row.Wants = r, slices.Clone(row.Wants)
	rs.edited[r] = &row
	return &row
}

// add adds rows of objects that have none, as what the source does not have any more: it stays where the rest of its unit does.
func (rs *rows) add(refs []object.Ref) {
	for _, r := range refs {
		if _, ok := rowAt(rs.in.Rows, r); !ok {
			rs.edit(r)
		}
	}
}

// all returns the rows of the input as they are edited, and those that are added, in the order of refs.
func (rs *rows) all() []manifest.Row {
	all := slices.Clone(rs.in.Rows)
	for r, row := range rs.edited {
		if i, ok := rowAt(rs.in.Rows, r); ok {
			all[i] = *row
		} else {
			all = append(all, *row)
		}
	}
	slices.SortFunc(all, func(a, b manifest.Row) int { return a.Ref.Compare(b.Ref) })
	return all
}
