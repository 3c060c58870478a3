// Package deschedule moves replicas that find no node in their cluster (Karmada section A.18), as far
// as other clusters have room for them. Package policies/deschedule counts how many should leave; the
// room that there is elsewhere is asked of whoever places the template.
package deschedule

import (
	"fmt"
	"slices"
	"time"

	rules "github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// Shift is how replicas of a template leave clusters in which they find no node.
type Shift struct {
	// From are those that leave now, a cluster each.
	From []Departure
	// Full are the clusters that get no more replicas than they have: some wait there, or left it
	// a while ago.
	Full []string
	// Remaining are the previous clusters, less what leaves now.
	Remaining []karmada.TargetCluster
}

// Departure is replicas that leave a cluster.
type Departure struct {
	From        string
	Replicas    int32 // that leave
	Of          int32 // that were there
	Since       time.Time
	Destination []karmada.TargetCluster // what the other clusters get of all that leaves
}

// Item is a template whose replicas are moved where they find no node.
type Item struct {
	Ref      object.Ref
	Pos      diag.Pos
	Replicas int32
	Before   *karmada.ResourceBinding // of the last plan; nil for none
	IsFresh  bool                     // it is divided afresh
	IsMoving bool                     // it leaves clusters for other reasons
}

func (i *Item) placed() []karmada.TargetCluster {
	if i.Before == nil {
		return nil
	}
	return i.Before.Spec.Clusters
}

// Try says where a template would be placed that has some replicas, while some clusters take no more.
type Try func(previous []karmada.TargetCluster, full []string) place.Decision

// Descheduler moves replicas. Of nil nothing moves.
type Descheduler struct {
	rules rules.Rules
	fleet fleet.Fleet
	now   time.Time
	// waiting is what was observed of replicas that wait for a node, by template and cluster.
	waiting map[object.Ref]map[string]karmada.Unschedulable
}

// New reads what was observed of a fleet; nil without rules. Of a cluster that is not ready it is not
// known any more.
func New(r *rules.Rules, f fleet.Fleet, now time.Time) *Descheduler {
	if r == nil {
		return nil
	}
	d := &Descheduler{rules: *r, fleet: f, now: now, waiting: map[object.Ref]map[string]karmada.Unschedulable{}}
	for _, c := range f.Clusters() {
		if c.Source.Status.Waybill == nil || c.IsUnready() {
			continue
		}
		for _, u := range c.Source.Status.Waybill.Unschedulable {
			group, _ := object.GroupVersion(u.APIVersion)
			ref := object.Ref{Group: group, Kind: u.Kind, Namespace: u.Namespace, Name: u.Name}
			if d.waiting[ref] == nil {
				d.waiting[ref] = map[string]karmada.Unschedulable{}
			}
			d.waiting[ref][c.Name] = u
		}
	}
	return d
}

// Shift takes replicas that find no node in a cluster from it, as far as others have room for them;
// nil if there are none, and were none lately. It waits for moves that are under way, and for a change
// of the number of replicas.
func (d *Descheduler) Shift(i *Item, try Try) (s *Shift, again recheck.Recheck, diags []diag.Diagnostic) {
	if d == nil {
		return nil, again, nil
	}
	left, again := d.departed(i)
	seen := d.waiting[i.Ref]
	if len(left)+len(seen) == 0 {
		return nil, again, nil
	}
	again.Timed = true
	s = &Shift{}
	for _, l := range left {
		s.Full = append(s.Full, l.Cluster)
		again = again.By(l.At.Add(d.rules.Cooldown), d.now)
	}
	leaving, full, more := d.leaving(i, seen)
	for _, c := range full {
		if !slices.Contains(s.Full, c) {
			s.Full = append(s.Full, c)
		}
	}
	again = again.And(more)
	if len(leaving) == 0 || i.IsFresh || i.IsMoving || total(i.placed()) != int64(i.Replicas) {
		return s, again, nil
	}
	for _, l := range left {
		if next := l.At.Add(d.rules.Threshold); next.After(d.now) { // what is known of room is older
			return s, again.By(next, d.now), nil
		}
	}
	var stay int32
	s.From, s.Remaining, stay = room(i, s.Full, leaving, try)
	if len(s.From) > 0 {
		again = again.By(d.now.Add(d.rules.Threshold), d.now) // whether it helped
	}
	if stay > 0 {
		diags = append(diags, noRoom(i, stay, leaving))
	}
	return s, again, diags
}

// departed returns which clusters replicas of a template left so lately that they take no others.
func (d *Descheduler) departed(i *Item) (lately []state.Descheduled, again recheck.Recheck) {
	if i.IsFresh {
		return nil, again
	}
	recorded := state.DescheduledFrom(i.Before)
	again.Timed = len(recorded) > 0
	return slices.DeleteFunc(recorded, func(l state.Descheduled) bool {
		_, registered := d.fleet.Lookup(l.Cluster)
		return !registered || !l.At.Add(d.rules.Cooldown).After(d.now)
	}), again
}

// leaving returns the replicas of a template that should leave clusters, and the clusters in which
// some wait.
func (d *Descheduler) leaving(i *Item, seen map[string]karmada.Unschedulable) (all []Departure, full []string, again recheck.Recheck) {
	for _, c := range i.placed() {
		u, ok := seen[c.Name]
		if !ok || rules.Waiting(c.Replicas, u) == 0 {
			continue
		}
		full = append(full, c.Name)
		stay, due := rules.Shrink(c.Replicas, u, d.now, d.rules.Threshold)
		if !due.IsZero() {
			again = again.By(due, d.now)
		}
		if stay < c.Replicas {
			all = append(all, Departure{From: c.Name, Replicas: c.Replicas - stay, Of: c.Replicas, Since: u.Since.Time})
		}
	}
	return all, full, again
}

// room has as many of the replicas leave as other clusters take, and counts those that stay.
func room(
	i *Item, full []string, leaving []Departure, try Try,
) (from []Departure, remaining []karmada.TargetCluster, stay int32) {
	var all int32
	for _, l := range leaving {
		all += l.Replicas
	}
	takes := func(n int32) bool {
		_, remaining := without(i.placed(), leaving, n)
		return isTaken(remaining, try(remaining, full))
	}
	if !takes(all) {
		stay = least(all, func(stay int32) bool { return takes(all - stay) })
	}
	from, remaining = without(i.placed(), leaving, all-stay)
	return from, remaining, stay
}

// isTaken reports that a placement takes all replicas, and what remains is left alone.
func isTaken(remaining []karmada.TargetCluster, placed place.Decision) bool {
	isLeftAlone := func(was karmada.TargetCluster) bool {
		return slices.ContainsFunc(placed.Targets, func(c karmada.TargetCluster) bool {
			return c.Name == was.Name && c.Replicas >= was.Replicas
		})
	}
	return placed.Reason == place.Success && !slices.ContainsFunc(remaining, func(c karmada.TargetCluster) bool { return !isLeftAlone(c) })
}

// least returns the least number up to a bound for which something is so, if it is so for all that
// are larger.
func least(bound int32, isSo func(int32) bool) int32 {
	low := int32(0)
	for low < bound {
		if middle := low + (bound-low)/2; isSo(middle) {
			bound = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// without returns targets less n of the replicas that should leave, the first ones first.
func without(before []karmada.TargetCluster, leaving []Departure, n int32) (from []Departure, remaining []karmada.TargetCluster) {
	for _, c := range before {
		for _, l := range leaving {
			if l.From != c.Name {
				continue
			}
			if l.Replicas = min(l.Replicas, n); l.Replicas > 0 {
				from = append(from, l)
			}
			n -= l.Replicas
			c.Replicas -= l.Replicas
		}
		if c.Replicas > 0 {
			remaining = append(remaining, c)
		}
	}
	return from, remaining
}

// noRoom says that replicas find no node, and no other cluster has room.
func noRoom(i *Item, stay int32, leaving []Departure) diag.Diagnostic {
	names := make([]string, len(leaving))
	for n, l := range leaving {
		names[n] = l.From
	}
	return diag.Diagnostic{
		Code: diag.NoRoomElsewhere, Severity: diag.Warning, Pos: i.Pos,
		Message: fmt.Sprintf("%s of %s in %s found no node there, and no other cluster has room", words.Count(int(stay), "replica"), i.Ref, words.List(names)),
		Hint:    fmt.Sprintf("waybill explain %s shows the room of each cluster", i.Ref.Argument()),
	}
}

// Moves reports that replicas leave clusters now.
func (s *Shift) Moves() bool { return s != nil && len(s.From) > 0 }

// To returns the shift with where the replicas went, now that the template is placed.
func (s *Shift) To(placed []karmada.TargetCluster) *Shift {
	if !s.Moves() {
		return s
	}
	var gained []karmada.TargetCluster
	for _, c := range placed {
		for _, was := range s.Remaining {
			if was.Name == c.Name {
				c.Replicas -= was.Replicas
			}
		}
		if c.Replicas > 0 {
			gained = append(gained, c)
		}
	}
	to := *s
	to.From = slices.Clone(s.From)
	for n := range to.From {
		to.From[n].Destination = gained
	}
	return &to
}

// Bind records in a binding which clusters replicas of its template left: now, and so lately that it
// counts.
func (d *Descheduler) Bind(b *karmada.ResourceBinding, i *Item, s *Shift) (again recheck.Recheck) {
	if d == nil {
		return again
	}
	left, again := d.departed(i)
	if s != nil {
		for _, f := range s.From {
			left = append(left, state.Descheduled{Cluster: f.From, Replicas: f.Replicas, At: d.now})
		}
	}
	state.RecordDescheduled(b, left)
	return again
}

func total(targets []karmada.TargetCluster) (n int64) {
	for _, c := range targets {
		n += int64(c.Replicas)
	}
	return n
}
