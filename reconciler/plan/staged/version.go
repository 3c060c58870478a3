package staged

import (
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/scale"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Version is a unit as a source commit has it, laid out for the fleet of today.
type Version struct {
	rollouts.Version

	Refs      []object.Ref
	Decisions []schedule.Decision // of the refs, in their order
	Rows      func(object.Ref) (manifest.Row, bool)
	Blobs     *manifest.Blobs
	// Source reports whether the source has an object by that commit, and whether a policy claims it there, whichever. It says so of what
	// is not known, too. Nil says so of none.
	Source func(object.Ref) (isThere, isClaimed bool)
}

// cell is what a version wants of an object in a cluster.
type cell struct {
	wanted bool
	blob   *files.Blob // nil for nothing, and where it cannot be made
	block  reason.Reason
}

// inTheWay are the reasons for which what is wanted cannot be made.
var inTheWay = []reason.Reason{
	reason.Failed, reason.NotScaled, reason.Plain, reason.NotRendered,
	reason.NotMapped, reason.NotShared, reason.Clashes, reason.NoBackend,
}

// isSuspended reports a reason for which what is wanted is not dispatched for now.
func isSuspended(why reason.Reason) bool { return why == reason.Suspended || why == reason.NotGone }

// isLacking reports that what is wanted cannot be made, or is not dispatched.
func (c cell) isLacking() bool {
	return c.wanted && c.blob == nil && (isSuspended(c.block) || slices.Contains(inTheWay, c.block))
}

// line is what a version wants of an object. The zero value wants nothing.
type line struct {
	manifest.Row

	blobs *manifest.Blobs
}

// at is the cell of a cluster.
func (l *line) at(cluster int) cell {
	w, wanted := l.Wanted(cluster)
	if !wanted {
		return cell{block: l.Blocked(cluster)}
	}
	return cell{block: l.Blocked(cluster), wanted: true, blob: l.blob(w.Blob)}
}

// blob is what has a number; nil for nothing, and where it cannot be made.
func (l *line) blob(number int32) *files.Blob {
	if number < 0 {
		return nil
	}
	return l.blobs.At(number)
}

// laid is a version with what it wants, by object. One that is not there wants nothing.
type laid struct {
	Version

	lines map[object.Ref]*line
	// wanted are the clusters in which something is wanted, blocked those in which something is in the way, and unwritten those in which
	// something of what is wanted cannot be made.
	wanted, blocked, unwritten groups.Set
	// isNow reports that it is what the rows of the plan say.
	isNow bool
}

func lay(v Version) *laid {
	l := &laid{Version: v, lines: make(map[object.Ref]*line, len(v.Refs))}
	for _, r := range v.Refs {
		if row, ok := v.Rows(r); ok {
			l.lines[r] = &line{row, v.Blobs}
		}
	}
	l.sum()
	return l
}

// sum sums up over the objects what is wanted in clusters, where something is in the way, and where something cannot be made.
func (l *laid) sum() {
	for _, r := range l.Refs {
		of := l.line(r)
		l.wanted, l.blocked, l.unwritten = l.wanted.Or(of.Clusters()), l.blocked.Or(of.Blocks.Clusters()), l.unwritten.Or(of.Unwritten())
	}
}

// line is what it wants of an object.
func (l *laid) line(r object.Ref) *line {
	if of := l.lines[r]; of != nil {
		return of
	}
	return &line{}
}

// at is the cell of an object in a cluster.
func (l *laid) at(r object.Ref, cluster int) cell { return l.line(r).at(cluster) }

// wants reports whether the version wants something in a cluster.
func (l *laid) wants(cluster int) bool {
	return l != nil && l.wanted.Has(cluster)
}

// isUnwritable reports that something of what the version wants in a cluster cannot be made.
func (l *laid) isUnwritable(cluster int) bool {
	return l != nil && l.unwritten.Has(cluster)
}

// isEmpty reports that the version wants nothing anywhere: a unit that is removed whole leaves stage by stage, as any change.
func (l *laid) isEmpty() bool { return l == nil || l.wanted.IsEmpty() }

// other is what is said of a decision in a cluster that is not as it was decided, as far as something is.
type other struct {
	// replicas are those of what is divided.
	replicas func(d *schedule.Decision, cluster string) (int32, bool)
	// bounds are those of what a FederatedHPA becomes.
	bounds func(d *schedule.Decision, cluster string) (scale.Bounds, bool)
}

// with returns the version with other replicas and bounds. It is the same version if none are others.
func (l *laid) with(in *Input, is other) *laid {
	var changed []schedule.Decision
	for _, d := range l.Decisions {
		if is.changes(&d) {
			changed = append(changed, d)
		}
	}
	if len(changed) == 0 {
		return l
	}
	written := in.Write(l.Commit, changed)
	with := &laid{Version: l.Version, lines: maps.Clone(l.lines)}
	for _, row := range written.Rows {
		with.lines[row.Ref] = &line{row, &written.Blobs}
	}
	with.sum()
	return with
}

// changes gives a decision what is other, and reports whether something is.
func (o *other) changes(d *schedule.Decision) (differs bool) {
	if d.Shares != nil {
		shares := maps.Clone(d.Shares)
		for name, share := range shares {
			if b, ok := o.bounds(d, name); ok && b != share.Bounds {
				share.Bounds, differs = b, true
				shares[name] = share
			}
		}
		d.Shares = shares
		return differs
	}
	if !d.Divided() || !d.Size.IsWorkload() {
		return false
	}
	targets := slices.Clone(d.Targets)
	for i := range targets {
		if n, ok := o.replicas(d, targets[i].Name); ok && n != targets[i].Replicas {
			targets[i].Replicas, differs = n, true
		}
	}
	d.Targets = targets
	return differs
}
