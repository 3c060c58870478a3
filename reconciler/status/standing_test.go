package status_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// TestHealthOf: what counts first of all that is known of a cluster. Each case has one thing more in the way than the one before it,
// and of two the graver one is said.
func TestHealthOf(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	head, before := files.Sum("commit", []byte("head")), files.Sum("commit", []byte("before"))
	word := func(commit files.ID, reason string, c status.Counts) *status.Report {
		r := &status.Report{At: now.Add(-time.Minute)}
		r.Commit, r.Verdict, r.Counts = commit, status.Verdict{Reason: reason, Message: ""}, c
		if reason != status.Applied {
			r.Verdict.Message = "why"
		}
		return r
	}
	aged := func(r *status.Report, by time.Duration) *status.Report {
		r.At = now.Add(-by)
		return r
	}
	well := status.Counts{Objects: 3, Healthy: 3}
	with := func(change func(*status.Counts)) status.Counts {
		c := well
		change(&c)
		return c
	}
	const push, pull = karmada.Push, karmada.Pull
	for _, tt := range []struct {
		name    string
		mode    karmada.ClusterSyncMode
		is      status.Published // with the head, unless it has another one
		none    bool             // nothing is published
		word    *status.Report
		state   string
		message string
		well    bool
	}{
		{"all is well", push, status.Published{}, false, word(head, status.Applied, well), status.Healthy, "", true},
		{"it has nothing", push, status.Published{}, false, word(head, status.Applied, status.Counts{}), status.Healthy, "", true},
		{"it drifts", push, status.Published{}, false, word(head, status.Applied, with(func(c *status.Counts) { c.Drifting = 1 })), status.Drifting, "", true},
		{"an object is not healthy", push, status.Published{}, false, word(head, status.Applied, with(func(c *status.Counts) { c.Healthy, c.Drifting = 2, 1 })), status.Unhealthy, "", false},
		{"an object failed", push, status.Published{}, false, word(head, status.Applied, with(func(c *status.Counts) { c.Healthy, c.Failed = 2, 1 })), status.Failing, "", false},
		{"an object waits", push, status.Published{}, false, word(head, status.Applied, with(func(c *status.Counts) { c.Pending = 1 })), status.Failing, "", false},
		{"another commit is applied", push, status.Published{}, false, word(before, status.Applied, with(func(c *status.Counts) { c.Failed = 1 })), status.Behind, "", false},
		{"it cannot be reached", push, status.Published{}, false, word(before, status.Unreachable, well), status.Unreachable, "why", false},
		{"it fails", push, status.Published{}, false, word(head, status.Failing, well), status.Failing, "why", false},
		{"it failed with another commit", push, status.Published{}, false, word(before, status.Failing, well), status.Behind, "why", false},
		{"the guard holds it", push, status.Published{Held: "it would lose all"}, false, word(before, status.Failing, well), status.Held, "it would lose all", false},
		{"nobody said anything for an hour", push, status.Published{Held: "held"}, false, aged(word(head, status.Applied, well), time.Hour), status.Held, "held", false},
		{"nobody did for longer", push, status.Published{Held: "held"}, false, aged(word(head, status.Applied, well), time.Hour+time.Second), status.Unknown, "nobody said anything since 2026-11-21T10:59:59Z", false},
		{"nobody said anything yet", push, status.Published{Held: "held"}, false, nil, status.Unknown, "nobody said yet what became of its branch", false},
		{"nobody is expected to", pull, status.Published{Held: "held"}, false, nil, status.Untold, "nobody reports", true},
		{"the agent is not heard", pull, status.Published{Lost: "no heartbeat"}, false, word(head, status.Applied, well), status.Unknown, "no heartbeat", false},
		{"the word does not count", pull, status.Published{Ignored: "not signed", Lost: "no heartbeat"}, false, word(head, status.Applied, well), status.Unknown, "not signed", false},
		{"nothing is published", pull, status.Published{Ignored: "not signed", Held: "held"}, true, word(head, status.Applied, well), status.Empty, "", true},
		{"what was observed does not count", pull, status.Published{Refused: "not signed"}, false, word(head, status.Applied, well), status.Healthy, "not signed", true},
		{"nor does that matter more than why it fails", pull, status.Published{Refused: "not signed"}, false, word(head, status.Errored, well), status.Errored, "why", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.is.Cluster = &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}, Spec: karmada.ClusterSpec{SyncMode: tt.mode}}
			if !tt.none {
				tt.is.Head = head
			}
			got := status.HealthOf(tt.is, tt.word, now, time.Hour)
			if got.State != tt.state || got.Message != tt.message || got.Well() != tt.well {
				t.Errorf("it is %s (%s), well: %v; want %s (%s), %v", got.State, got.Message, got.Well(), tt.state, tt.message, tt.well)
			}
			if got.Cluster != "eu" || got.Mode != tt.mode || got.Head != tt.is.Head || got.Report != tt.word {
				t.Errorf("it is of %+v", got)
			}
		})
	}
}

// TestAReportWithinANamespace counts what is there alone.
func TestAReportWithinANamespace(t *testing.T) {
	is := func(p status.Phase, health karmada.ResourceHealth, corrected int) *status.Object {
		return &status.Object{Applied: status.Application{Phase: p, Corrected: corrected}, Health: status.Health{State: health}}
	}
	objects := map[object.Ref]*status.Object{
		{Kind: "ConfigMap", Namespace: "a", Name: "well"}:    is(status.PhaseApplied, karmada.ResourceHealthy, 0),
		{Kind: "ConfigMap", Namespace: "a", Name: "failed"}:  is(status.PhaseFailed, karmada.ResourceHealthy, 0),
		{Kind: "ConfigMap", Namespace: "a", Name: "changed"}: is(status.PhaseApplied, karmada.ResourceHealthy, 5),
		{Kind: "ConfigMap", Namespace: "a", Name: "ill"}:     is(status.PhaseApplied, karmada.ResourceUnhealthy, 0),
		{Kind: "ConfigMap", Namespace: "b", Name: "other"}:   is(status.PhasePending, karmada.ResourceHealthy, 0),
		{Kind: "Namespace", Name: "a"}:                       is(status.PhaseApplied, karmada.ResourceHealthy, 0),
	}
	for ref, o := range objects {
		if want := !slices.Contains([]string{"failed", "changed", "ill", "other"}, ref.Name); o.Well() != want {
			t.Errorf("%s is well: %v", ref, o.Well())
		}
	}
	w := &status.Report{Objects: maps.Clone(objects)}
	w.Within("a")
	var left []string
	for ref := range w.Objects {
		left = append(left, ref.Name)
	}
	slices.Sort(left)
	if got := strings.Join(left, " "); got != "changed failed ill well" {
		t.Errorf("in the namespace there are %s", got)
	}
	if c := w.Counts; c.Objects != 4 || c.Failed != 1 || c.Pending != 0 || c.Healthy != 3 {
		t.Errorf("the counts are %+v", c)
	}
}
