package schedule

import (
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// Shift is how replicas of a template leave clusters in which they find no node (Karmada section
// A.18).
type Shift struct {
	// From are those that leave now, a cluster each.
	From []Departure
	// Full are the clusters that get no more replicas than they have: some wait there, or left it
	// a while ago.
	Full []string

	left      []state.Descheduled // those that left before, and count still
	remaining []Target            // the previous clusters, less what leaves now
}

// Departure is replicas that leave a cluster.
type Departure struct {
	From        string
	Replicas    int32 // that leave
	Of          int32 // that were there
	Since       time.Time
	Destination []Target // what the other clusters get of all that leaves
}

// shifts reports that replicas of a template leave clusters now.
func (m *item) shifts() bool { return m.Shift != nil && len(m.Shift.From) > 0 }

// full lists the clusters that get no more replicas of a template than they have.
func (m *item) full() []string {
	if m.Shift == nil {
		return nil
	}
	return m.Shift.Full
}

// unschedulable returns what is observed of a template's replicas that wait for a node, by cluster.
// Of a cluster that is not ready it is not known any more.
func (d *decider) unschedulable(r object.Ref) map[string]karmada.Unschedulable {
	if d.waiting == nil {
		d.waiting = map[object.Ref]map[string]karmada.Unschedulable{}
		for _, c := range d.in.Policies.Fleet.Clusters() {
			if c.Source.Status.Waybill == nil || isUnready(c) {
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
	}
	return d.waiting[r]
}

// Descheduled reports that the replicas of a decision are moved where they find no node.
func (d *Decision) Descheduled() bool {
	return d.Policy != nil && d.Policy.DividesByRoom() && deschedule.Moves(d.Ref())
}

// deschedule takes replicas that find no node in a cluster from it, as far as others have room for
// them. It waits for moves that are under way, and for a change of the number of replicas.
func (d *decider) deschedule(m *item, s *place.Scheduler) {
	rules := d.in.Descheduler
	if rules == nil || !m.Descheduled() {
		return
	}
	left, seen := d.departed(m), d.unschedulable(m.Ref())
	if len(left)+len(seen) == 0 {
		return
	}
	d.result.Timed = true
	m.Shift = &Shift{left: left}
	for _, l := range left {
		m.Shift.Full = append(m.Shift.Full, l.Cluster)
		d.recheck(l.At.Add(rules.Cooldown))
	}
	leaving := d.waitingIn(m, seen)
	if len(leaving) == 0 || m.fresh || m.Moves != nil || total(d.placedBefore(m)) != int64(m.Size.Replicas) {
		return
	}
	for _, l := range left {
		if next := l.At.Add(rules.Threshold); next.After(d.in.Now) { // what is known of room is older
			d.recheck(next)
			return
		}
	}
	d.shift(m, s, leaving)
}

// departed returns which clusters replicas of a template left so lately that they take no others.
func (d *decider) departed(m *item) []state.Descheduled {
	if d.in.Descheduler == nil || m.fresh {
		return nil
	}
	recorded := state.DescheduledFrom(d.before(m))
	d.result.Timed = d.result.Timed || len(recorded) > 0
	return slices.DeleteFunc(recorded, func(l state.Descheduled) bool {
		_, registered := d.in.Policies.Fleet.Lookup(l.Cluster)
		return !registered || !l.At.Add(d.in.Descheduler.Cooldown).After(d.in.Now)
	})
}

// waitingIn returns the replicas of a template that should leave clusters, and notes which those
// are.
func (d *decider) waitingIn(m *item, seen map[string]karmada.Unschedulable) (leaving []Departure) {
	for _, c := range d.placedBefore(m) {
		u, ok := seen[c.Name]
		if !ok || deschedule.Waiting(c.Replicas, u) == 0 {
			continue
		}
		if !slices.Contains(m.Shift.Full, c.Name) {
			m.Shift.Full = append(m.Shift.Full, c.Name)
		}
		stay, due := deschedule.Shrink(c.Replicas, u, d.in.Now, d.in.Descheduler.Threshold)
		if !due.IsZero() {
			d.recheck(due)
		}
		if stay < c.Replicas {
			leaving = append(leaving, Departure{From: c.Name, Replicas: c.Replicas - stay, Of: c.Replicas, Since: u.Since.Time})
		}
	}
	return leaving
}

// shift has as many of the replicas leave as other clusters take.
func (d *decider) shift(m *item, s *place.Scheduler, leaving []Departure) {
	var all int32
	for _, l := range leaving {
		all += l.Replicas
	}
	before := d.placedBefore(m)
	var stay int32
	if !d.takes(m, s, leaving, all) {
		stay = least(all, func(stay int32) bool { return d.takes(m, s, leaving, all-stay) })
	}
	if m.Shift.From, m.Shift.remaining = without(before, leaving, all-stay); len(m.Shift.From) > 0 {
		d.recheck(d.in.Now.Add(d.in.Descheduler.Threshold)) // whether it helped
	}
	if stay > 0 {
		d.report(diag.Diagnostic{
			Code: diag.NoRoomElsewhere, Severity: diag.Warning, Pos: m.Template.Object.Origin(),
			Message: fmt.Sprintf("%s of %s in %s found no node there, and no other cluster has room", words.Count(int(stay), "replica"), m.Ref(), words.List(clustersOf(leaving))),
			Hint:    fmt.Sprintf("waybill explain %s shows the room of each cluster", m.Ref().Argument()),
		})
	}
}

func clustersOf(leaving []Departure) []string {
	names := make([]string, len(leaving))
	for i, l := range leaving {
		names[i] = l.From
	}
	return names
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

// takes reports that other clusters take so many of the replicas that should leave, and what
// stays is left alone.
func (d *decider) takes(m *item, s *place.Scheduler, leaving []Departure, n int32) bool {
	_, remaining := without(d.placedBefore(m), leaving, n)
	r := d.request(m)
	r.Previous = remaining
	placed := d.answers.Schedule(s, r)
	return placed.Reason == place.Success && !slices.ContainsFunc(remaining, func(was Target) bool {
		return !slices.ContainsFunc(placed.Targets, func(c Target) bool { return c.Name == was.Name && c.Replicas >= was.Replicas })
	})
}

// without returns targets less n of the replicas that should leave, the first ones first.
func without(before []Target, leaving []Departure, n int32) (from []Departure, remaining []Target) {
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

// shifted notes where the replicas went that left clusters.
func (m *item) shifted() {
	if !m.shifts() {
		return
	}
	var gained []Target
	for _, c := range m.Scheduled {
		for _, was := range m.Shift.remaining {
			if was.Name == c.Name {
				c.Replicas -= was.Replicas
			}
		}
		if c.Replicas > 0 {
			gained = append(gained, c)
		}
	}
	for i := range m.Shift.From {
		m.Shift.From[i].Destination = gained
	}
}

// bindShift records in a binding which clusters replicas of its template left.
func (d *decider) bindShift(m *item, b *karmada.ResourceBinding) {
	left := d.departed(m)
	if m.Shift != nil {
		for _, f := range m.Shift.From {
			left = append(left, state.Descheduled{Cluster: f.From, Replicas: f.Replicas, At: d.in.Now})
		}
	}
	state.RecordDescheduled(b, left)
}
