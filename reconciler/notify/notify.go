// Package notify says what somebody should be told of a fleet: that clusters are held, or fail, or are
// well again, that work moves, how changes go out in stages, and what becomes of new versions. Seen.Next compares what Git says
// with what it said before, and nothing is an event that was so then. A Notifier tells them to a webhook, once for each turn in which
// there are any.
package notify

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
)

// The kinds of events.
const (
	Held      = "held"      // the guard holds a cluster
	Failing   = "failing"   // a cluster, or something in it, does not do what its branch says
	Recovered = "recovered" // it is not held, and does not fail, any more
	Moved     = "moved"     // a template leaves a cluster because of a taint, or because it fails there

	RolloutBegan    = "rollout-began"    // a change goes out in stages
	RolloutWaits    = "rollout-waits"    // somebody has to approve what comes next
	RolloutStopped  = "rollout-stopped"  // nothing more is released
	RolloutReturned = "rollout-returned" // every cluster goes back, or went back, to the version before
	RolloutDone     = "rollout-done"     // it is out in every cluster that takes it

	UpdateProposed  = "update-proposed"  // a pull request is open for new versions of images or charts
	UpdateCommitted = "update-committed" // Waybill committed new versions of images or charts to the branch that is followed
	UpdateMerged    = "update-merged"    // what was proposed was merged, by Waybill or by somebody else
	UpdateKeptBack  = "update-kept-back" // a version is not proposed again
	UpdateFailing   = "update-failing"   // nothing new of an image or a chart could be proposed for long
)

// Event is something to tell.
type Event struct {
	Kind    string `json:"kind"`
	Cluster string `json:"cluster,omitempty"`
	// Object is the template that moves; empty for an event of a cluster.
	Object string `json:"object,omitempty"`
	// Unit is what goes out in stages, as "team/web", and Run identifies the run; empty for other events.
	Unit string `json:"unit,omitempty"`
	Run  string `json:"run,omitempty"`
	// Update is the subscription, or the first of those that share a pull request or a commit, and PullRequest the address of the
	// former; empty for other events.
	Update      string `json:"update,omitempty"`
	PullRequest string `json:"pullRequest,omitempty"`
	// Commit is the commit of the source that has the new version, and CommitURL its address where the forge is known.
	Commit    string `json:"commit,omitempty"`
	CommitURL string `json:"commitURL,omitempty"`
	Message   string `json:"message,omitempty"`
}

// String is the event in a line.
func (e Event) String() string {
	what := map[string]string{
		Held: "is held", Failing: "fails", Recovered: "is well again", Moved: "loses " + e.Object,
		RolloutBegan: "goes out", RolloutWaits: "waits for an approval", RolloutStopped: "stopped", RolloutReturned: "goes back", RolloutDone: "is out",
		UpdateProposed: "has a new version", UpdateCommitted: "got a new version", UpdateMerged: "got a new version",
		UpdateKeptBack: "keeps a version back", UpdateFailing: "cannot be updated",
	}[e.Kind]
	who := e.Cluster + e.Unit + e.Update // one of them is not empty
	if e.Message == "" {
		return who + " " + what
	}
	return who + " " + what + ": " + e.Message
}

// Seen is what was so when somebody looked last. The zero value is that nobody looked yet.
type Seen struct {
	facts *facts.Facts
	// told is what there was to tell of each cluster when somebody could tell last; empty for nothing.
	told map[string]string
}

// Next is what is so now, with what is so and was not before, in the order of clusters, templates, units and subscriptions. Where
// nobody looked before there is nothing to tell.
func (s Seen) Next(now *facts.Facts) (Seen, []Event) {
	if s.facts != nil && s.facts.Key == now.Key { // nothing moved but the time
		return Seen{now, s.told}, versions(s.facts, now)
	}
	next := Seen{now, map[string]string{}}
	var all []Event
	for i := range now.Fleet.Clusters {
		m := &now.Fleet.Clusters[i]
		was := s.told[m.Cluster]
		is, isSure := kindOf(m)
		if !isSure {
			is = was
		}
		next.told[m.Cluster] = is
		switch {
		case is == was:
		case is != "":
			all = append(all, Event{Kind: is, Cluster: m.Cluster, Message: why(m)})
		default:
			all = append(all, Event{Kind: Recovered, Cluster: m.Cluster})
		}
	}
	if s.facts == nil {
		return next, nil
	}
	return next, slices.Concat(all, moves(s.facts, now), steps(s.facts, now), versions(s.facts, now))
}

// kindOf is what there is to tell of a cluster; empty for nothing. It is not sure where nobody can tell, or it is under way.
func kindOf(m *reports.Cluster) (kind string, isSure bool) {
	switch m.State {
	case status.Held:
		return Held, true
	case status.Failing, status.Errored, status.Unreachable, status.NoCredential, status.Unhealthy:
		return Failing, true
	case status.Behind, status.Unknown, status.Untold, status.Suspended:
		return "", false
	}
	return "", true
}

// why says why a cluster is as it is.
func why(m *reports.Cluster) string {
	if m.Message != "" || m.Report == nil {
		return strings.TrimSpace(m.State + ". " + m.Message)
	}
	c := m.Report.Counts
	said := fmt.Sprintf("%s: of %d objects %d are not applied and %d are not healthy", m.State, c.Objects, c.Failed+c.Pending, c.Unhealthy)
	if c.Unknown > 0 {
		said += fmt.Sprintf("; how %d are is not known", c.Unknown)
	}
	return said
}

// moves are the templates that leave clusters now and did not before.
func moves(before, now *facts.Facts) []Event {
	type task struct {
		object, cluster string
		at              time.Time
	}
	of := func(t *facts.Template, l *karmada.GracefulEvictionTask) task {
		k := task{object: t.Ref.String(), cluster: l.FromCluster}
		if l.CreationTimestamp != nil {
			k.at = l.CreationTimestamp.UTC()
		}
		return k
	}
	known := map[task]bool{}
	for _, t := range before.Templates() {
		for i := range t.Leaving {
			known[of(t, &t.Leaving[i])] = true
		}
	}
	var all []Event
	for _, t := range now.Templates() {
		for i := range t.Leaving {
			l := &t.Leaving[i]
			if k := of(t, l); !known[k] {
				known[k] = true
				all = append(all, Event{Kind: Moved, Cluster: l.FromCluster, Object: k.object, Message: l.Message})
			}
		}
	}
	return all
}

// Batch is what is told at once.
type Batch struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Source     string    `json:"source"` // the repository
	At         time.Time `json:"at"`
	URL        string    `json:"url,omitempty"` // of the web UI
	Events     []Event   `json:"events"`
	// More is how many there are besides.
	More int `json:"more,omitempty"`
}

// mostEvents is how many are told at once.
const mostEvents = 50

// cut leaves the first events, those that need somebody before those that do not.
func (b Batch) cut() Batch {
	rank := []string{
		Held, Failing, RolloutStopped, RolloutReturned, RolloutWaits, Moved, UpdateFailing, UpdateKeptBack, UpdateProposed,
		UpdateCommitted, UpdateMerged, RolloutBegan, RolloutDone, Recovered,
	}
	events := slices.Clone(b.Events)
	slices.SortStableFunc(events, func(x, y Event) int { return slices.Index(rank, x.Kind) - slices.Index(rank, y.Kind) })
	if more := len(events) - mostEvents; more > 0 {
		events, b.More = events[:mostEvents], b.More+more
	}
	b.Events = events
	return b
}
