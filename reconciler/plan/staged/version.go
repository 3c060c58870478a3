package staged

import (
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/scale"
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

// Target returns what reports units whose runs go to a commit.
func Target(of []Unit, commit string) func(rollouts.Unit) bool {
	return func(u rollouts.Unit) bool {
		return slices.ContainsFunc(of, func(is Unit) bool {
			return is.Unit.Unit == u && is.Before != nil && is.Before.Status.Phase != rollouts.Done && is.Before.Status.Target.Commit == commit
		})
	}
}

// Others returns what reports clusters that show another version of a unit than that of a commit, while its run is open.
func Others(of []Unit, commit string) func(u rollouts.Unit, cluster string) bool {
	return func(u rollouts.Unit, cluster string) bool {
		return slices.ContainsFunc(of, func(is Unit) bool {
			if is.Unit.Unit != u || is.Before == nil || is.Before.Status.Phase == rollouts.Done {
				return false
			}
			e, known := is.Before.Clusters[cluster]
			return known && e.Shows != commit
		})
	}
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

// cells are those of a version, by object. An object that is not there wants nothing.
type cells map[object.Ref]line

func (cs cells) at(r object.Ref, cluster int) cell { return cs[r].at(cluster) }

// line are the cells of an object, by the cluster's index; nil for those of none.
type line []cell

func (l line) at(cluster int) cell {
	if l == nil {
		return cell{}
	}
	return l[cluster]
}

// laid is a version with its cells.
type laid struct {
	Version

	cells cells
	// wanted says of which clusters, by index, something is wanted, blocked in which something is in the way, and unwritten in which
	// something of what is wanted cannot be made.
	wanted, blocked, unwritten []bool
	// isNow reports that it is what the rows of the plan say.
	isNow bool
}

func lay(v Version, clusters int) *laid {
	l := &laid{Version: v, cells: make(cells, len(v.Refs))}
	for _, r := range v.Refs {
		row, ok := v.Rows(r)
		if !ok {
			continue
		}
		l.cells[r] = cellsOf(&row, v.Blobs, clusters)
	}
	l.sum(clusters)
	return l
}

// sum sums up over the objects what is wanted in clusters, where something is in the way, and where something cannot be made.
func (l *laid) sum(clusters int) {
	l.wanted, l.blocked, l.unwritten = make([]bool, clusters), make([]bool, clusters), make([]bool, clusters)
	for _, r := range l.Refs {
		of := l.cells[r]
		for i := range of {
			l.wanted[i] = l.wanted[i] || of[i].wanted
			l.blocked[i] = l.blocked[i] || of[i].block != ""
			l.unwritten[i] = l.unwritten[i] || of[i].wanted && of[i].blob == nil
		}
	}
}

func cellsOf(row *manifest.Row, blobs *manifest.Blobs, clusters int) line {
	of := make(line, clusters)
	for _, w := range row.Wants {
		is := &of[w.Cluster]
		if is.wanted = true; w.Blob >= 0 {
			is.blob = blobs.At(w.Blob)
		}
	}
	for i, why := range row.Blocks {
		of[i].block = why
	}
	return of
}

// wants reports whether the version wants something in a cluster.
func (l *laid) wants(cluster int) bool {
	return l != nil && l.wanted[cluster]
}

// isUnwritable reports that something of what the version wants in a cluster cannot be made.
func (l *laid) isUnwritable(cluster int) bool {
	return l != nil && l.unwritten[cluster]
}

// isEmpty reports that the version wants nothing anywhere: a unit that is removed whole leaves stage by stage, as any change.
func (l *laid) isEmpty(clusters int) bool {
	for i := range clusters {
		if l.wants(i) {
			return false
		}
	}
	return true
}

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
	with := &laid{Version: l.Version, cells: make(cells, len(l.cells))}
	maps.Copy(with.cells, l.cells)
	for i := range written.Rows {
		with.cells[written.Rows[i].Ref] = cellsOf(&written.Rows[i], &written.Blobs, len(in.Clusters))
	}
	with.sum(len(in.Clusters))
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
