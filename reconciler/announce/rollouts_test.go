package announce_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/announce"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// web is a run of a unit to a commit.
func web(phase rollouts.Phase, commit string) rollouts.Rollout {
	r := rollouts.Rollout{
		Unit:   rollouts.Unit{Namespace: "team", Name: "web"},
		Status: rollouts.Status{Run: "run of " + commit, Phase: phase, Message: "e2 failed", StartTime: metav1.NewTime(noon), Target: rollouts.Version{Commit: commit}},
	}
	if phase != rollouts.Done {
		r.Status.Stages = []rollouts.StageStatus{{Name: "canary", Phase: rollouts.Updating}}
		r.Clusters = map[string]rollouts.Cluster{"c1": {Stage: "canary", State: rollouts.Released, Released: metav1.NewTime(noon)}, "c2": {Stage: "canary", State: rollouts.Pending}}
	}
	return r
}

func TestARunIsShownAtTheCommitThatItIsAbout(t *testing.T) {
	never := web(rollouts.Done, "b2")
	never.Status.Run = "" // no run was there yet
	for _, tt := range []struct {
		name string
		run  rollouts.Rollout
		now  time.Time
		want string
	}{
		{"open", web(rollouts.Updating, "b2"), noon, "b2 rollout/team/web pending: canary: 1 out, 1 pending"},
		{"stopped", web(rollouts.Stopped, "b2"), noon, "b2 rollout/team/web failure: e2 failed"},
		{"goes back", web(rollouts.Returning, "b2"), noon, "b2 rollout/team/web failure: e2 failed"},
		{"done", web(rollouts.Done, "b2"), noon.Add(time.Hour), "b2 rollout/team/web success: it is out in every cluster that takes it"},
		{"done long ago", web(rollouts.Done, "b2"), noon.Add(8 * 24 * time.Hour), ""},
		{"open for long", web(rollouts.Updating, "b2"), noon.Add(8 * 24 * time.Hour), "b2 rollout/team/web pending: canary: 1 out, 1 pending"},
		{"adopted", never, noon, ""},
	} {
		if d := cmp.Diff(tt.want, lines(announce.Rollouts([]rollouts.Rollout{tt.run}, tt.now))); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

func lines(all []announce.Status) string {
	var said []string
	for _, s := range all {
		said = append(said, fmt.Sprintf("%s %s %s: %s", s.Commit, s.Fact, s.State, s.Description))
	}
	return strings.Join(said, "\n")
}

// A cluster more is no news; that a newer run takes the place of one is.
func TestStatusesOfRunsAreSentOnChange(t *testing.T) {
	var sent []announce.Status
	say := func(want string, runs ...rollouts.Rollout) {
		t.Helper()
		now := announce.Rollouts(runs, noon)
		news := announce.News(sent, append(announce.Replaced(sent, now), now...))
		if d := cmp.Diff(want, lines(news)); d != "" {
			t.Error(d)
		}
		sent = announce.Latest(append(sent, news...))
	}
	say("b2 rollout/team/web pending: canary: 1 out, 1 pending", web(rollouts.Updating, "b2"))
	more := web(rollouts.Soaking, "b2")
	more.Clusters["c1"] = rollouts.Cluster{Stage: "canary", State: rollouts.Healthy}
	say("", more)
	say("b2 rollout/team/web failure: a newer version replaced it before it was out\nb3 rollout/team/web pending: canary: 1 out, 1 pending", web(rollouts.Updating, "b3"))
	say("b3 rollout/team/web failure: e2 failed", web(rollouts.Stopped, "b3"))
	say("b4 rollout/team/web pending: canary: 1 out, 1 pending", web(rollouts.Updating, "b4")) // b3 is red already
	say("b4 rollout/team/web success: it is out in every cluster that takes it", web(rollouts.Done, "b4"))
}
