package announce_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/announce"
	"github.com/waybill-dev/waybill/reconciler/status"
)

// fleet are clusters that are pushed to, by how they are.
func fleet(standings ...string) []status.ClusterHealth {
	all := []status.ClusterHealth{{Cluster: "pulled", Mode: karmada.Pull, State: status.Untold}}
	for i, s := range standings {
		all = append(all, status.ClusterHealth{Cluster: fmt.Sprint("c", i), Mode: karmada.Push, State: s})
	}
	return all
}

func TestAStatusIsOneAFact(t *testing.T) {
	for _, tt := range []struct {
		name  string
		p     announce.Publication
		fleet []status.ClusterHealth
		want  string
	}{
		{"all is well", announce.Publication{}, fleet(status.Healthy, status.Drifting, status.Empty), "success/success/success"},
		{"nobody is pushed to", announce.Publication{}, fleet(), "success/success/success"},
		{"one is behind", announce.Publication{}, fleet(status.Healthy, status.Behind), "success/pending/pending"},
		{"one is lost", announce.Publication{}, fleet(status.Healthy, status.Unreachable), "success/pending/pending"},
		{"one is not healthy", announce.Publication{}, fleet(status.Healthy, status.Unhealthy), "success/success/pending"},
		{"one refuses", announce.Publication{}, fleet(status.Healthy, status.Failing, status.Behind), "success/failure/pending"},
		{"one cannot be applied", announce.Publication{}, fleet(status.Healthy, status.Errored), "success/failure/pending"},
		{"one is held", announce.Publication{Held: 1}, fleet(status.Healthy, status.Held), "failure/failure/pending"},
		{"the source has an error", announce.Publication{Errors: 1}, fleet(status.Healthy), "failure/success/success"},
	} {
		tt.p.Commit = "c1"
		got := announce.Decide(tt.p, tt.fleet)
		states := fmt.Sprintf("%s/%s/%s", got[0].State, got[1].State, got[2].State)
		if states != tt.want || len(got) != 3 || got[0].Commit != "c1" {
			t.Errorf("%s: %q, want %q", tt.name, states, tt.want)
		}
	}
}

func TestOnlyNewsAreSent(t *testing.T) {
	p := announce.Publication{Commit: "c1"}
	var sent []announce.Status
	var said []string
	say := func(p announce.Publication, standings ...string) {
		now := announce.Decide(p, fleet(standings...))
		for _, s := range announce.News(sent, now) {
			said = append(said, fmt.Sprintf("%s %s %s: %s", s.Commit, s.Fact, s.State, s.Description))
		}
		sent = now
	}
	say(p, status.Behind, status.Behind)
	say(p, status.Unhealthy, status.Behind) // one more is no news
	say(p, status.Healthy, status.Healthy)
	say(p, status.Healthy, status.Healthy)
	p.Commit = "c2"
	say(p, status.Healthy, status.Healthy)
	want := []string{
		"c1 published success: every branch is as this commit wants it",
		"c1 applied pending: applied to 0 of 2 clusters",
		"c1 healthy pending: healthy in 0 of 2 clusters",
		"c1 applied success: applied to 2 of 2 clusters",
		"c1 healthy success: healthy in 2 of 2 clusters",
		"c2 published success: every branch is as this commit wants it",
		"c2 applied success: applied to 2 of 2 clusters",
		"c2 healthy success: healthy in 2 of 2 clusters",
	}
	if d := cmp.Diff(want, said); d != "" {
		t.Error(d)
	}
}

// A status that goes back to what it was is sent again: the last of a fact is in force, also where all that were sent are known.
func TestAStatusThatGoesBackIsSentAgain(t *testing.T) {
	of := func(s announce.State) announce.Status {
		return announce.Status{Commit: "c1", Fact: announce.Healthy, State: s}
	}
	sent := []announce.Status{of(announce.Success), of(announce.Failure)}
	for now, want := range map[announce.State][]announce.Status{announce.Success: {of(announce.Success)}, announce.Failure: nil} {
		if got := announce.News(sent, []announce.Status{of(now)}); !slices.Equal(got, want) {
			t.Errorf("after success and failure %s sends %v, want %v", now, got, want)
		}
	}
}
