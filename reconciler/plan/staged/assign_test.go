package staged_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/kubefleet"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/diag"
)

// tierOf selects clusters by their tier.
func tierOf(tier string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"tier": tier}}
}

// careful is a strategy that says something of everything.
func careful() *kubefleet.Strategy {
	return &kubefleet.Strategy{
		Namespace: "team", Name: "careful", OnFailure: "Return", Newer: "Wait", Unmatched: kubefleet.Refuse,
		Stages: []kubefleet.Stage{
			{
				Name: "canary", LabelSelector: tierOf("canary"),
				MaxConcurrency: kubefleet.Amount{Value: 1}, MaxFailures: kubefleet.Amount{Value: 10, Percent: true},
				ProgressDeadline: 10 * time.Minute, Settle: time.Minute,
				Before: []kubefleet.Task{{Type: "Approval"}}, After: []kubefleet.Task{{Type: "TimedWait", WaitTime: time.Hour}, {Type: "Approval"}},
			},
			{Name: "prod", LabelSelector: tierOf("prod"), SortingLabel: "turn", MaxConcurrency: kubefleet.Amount{Value: 50, Percent: true}},
		},
	}
}

// A strategy is recorded with all that it says, by the name that commands give it.
func TestAStrategyIsRecordedWhole(t *testing.T) {
	const stages = `[
	{"name":"canary","labelSelector":{"matchLabels":{"tier":"canary"}},"maxConcurrency":1,"maxFailures":"10%","progressDeadline":"10m0s","settle":"1m0s",
	"beforeStageTasks":[{"type":"Approval"}],"afterStageTasks":[{"type":"TimedWait","waitTime":"1h0m0s"},{"type":"Approval"}]},
	{"name":"prod","labelSelector":{"matchLabels":{"tier":"prod"}},"sortingLabelKey":"turn","maxConcurrency":"50%","maxFailures":0,"progressDeadline":"0s","settle":"0s"}
	],"onFailure":"Return","newer":"Wait","unmatched":"refuse"}`
	ofAll := careful()
	ofAll.Namespace = ""
	for _, tt := range []struct {
		of   *kubefleet.Strategy
		want string
	}{
		{careful(), `{"strategy":"team/careful","stages":` + stages},
		{ofAll, `{"strategy":"careful","stages":` + stages},
		{nil, "null"},
	} {
		got, err := json.Marshal(staged.Strategy(tt.of))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(strings.NewReplacer("\n", "", "\t", "").Replace(tt.want), string(got)); d != "" {
			t.Error(d)
		}
	}
}

// Clusters are in the stages that select them, in the order of their turns; each strategy is asked once, and the fleet is asked for once.
func TestWhereClustersAreByAStrategy(t *testing.T) {
	fleet := []kubefleet.Cluster{
		{Name: "p1", Labels: map[string]string{"tier": "prod", "turn": "2"}},
		{Name: "c1", Labels: map[string]string{"tier": "canary"}},
		{Name: "p2", Labels: map[string]string{"tier": "prod", "turn": "1"}},
		{Name: "p3", Labels: map[string]string{"tier": "prod"}},
	}
	last := careful()
	last.Unmatched = kubefleet.Last
	for _, tt := range []struct {
		name   string
		of     *kubefleet.Strategy
		others []kubefleet.Cluster
		want   string
	}{
		{"each is selected", careful(), nil, `["prod" "canary" "prod" "prod"] [1 2 0 3] ""`},
		{
			"two are not, which is refused", careful(),
			[]kubefleet.Cluster{{Name: "x1"}, {Name: "x2"}},
			`["prod" "canary" "prod" "prod" "" ""] [1 2 4 5 0 3] "no stage selects x1, x2, and the strategy says that no run starts then"`,
		},
		{
			"two are not, and come last", last,
			[]kubefleet.Cluster{{Name: "x1"}, {Name: "x2"}},
			`["prod" "canary" "prod" "prod" "_unmatched" "_unmatched"] [1 2 4 0 5 3] ""`,
		},
	} {
		asked := 0
		clusters := func() []kubefleet.Cluster {
			asked++
			return slices.Concat(fleet, tt.others)
		}
		var a staged.Assigner
		for range 2 {
			stages, turns, refused := a.Of(staged.Strategy(tt.of), clusters)
			if got := fmt.Sprintf("%q %v %q", stages, turns, refused); got != tt.want {
				t.Errorf("%s: they are %s, want %s", tt.name, got, tt.want)
			}
		}
		ofAll := []rollouts.Stage{{Name: "all", LabelSelector: &metav1.LabelSelector{}}}
		other, turns, _ := a.Of(&rollouts.Strategy{Unmatched: string(kubefleet.Last), Stages: ofAll}, clusters)
		if asked != 1 || other[0] != "all" || turns[0] != 1 {
			t.Errorf("%s: the fleet was asked for %d times, and by another strategy it is in %q, %v", tt.name, asked, other, turns)
		}
	}
}

// What forges did not say, and what of it did not count, is told once of all clusters.
func TestWhatForgesSaidInVain(t *testing.T) {
	const ignored = "rollout-status-ignored: commit statuses do not count that were set by others than those whom " +
		"spec.rollout.commitStatus.creators names: "
	clusters := []staged.Cluster{
		{Name: "c1"},
		{Name: "c2", Posted: &staged.Posted{}},
		{Name: "c3", Posted: &staged.Posted{Ignored: []string{"flux by eve", "argo by eve"}}},
		{Name: "c4", Posted: &staged.Posted{Ignored: []string{"flux by mallory"}, Failed: "it is limited"}},
		{Name: "c5", Posted: &staged.Posted{Failed: "it is away"}},
	}
	for _, tt := range []struct {
		of   []staged.Cluster
		want []string
	}{
		{clusters[:2], nil},
		{clusters[:3], []string{
			ignored + "flux by eve, argo by eve",
		}},
		{clusters[4:], []string{"rollout-not-asked: the forge did not say how c5: it is away; nothing is released on that"}},
		{clusters, []string{
			ignored + "flux by eve, argo by eve, flux by mallory",
			"rollout-not-asked: the forge did not say how c4: it is limited, c5: it is away; nothing is released on that",
		}},
	} {
		var got []string
		for _, d := range staged.Uncounted(tt.of) {
			got = append(got, string(d.Code)+": "+d.Message)
			if d.Severity != diag.Warning || d.Hint == "" {
				t.Errorf("%s: it is %v, and says to do %q", d.Message, d.Severity, d.Hint)
			}
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Error(d)
		}
	}
}
