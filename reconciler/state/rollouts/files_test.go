package rollouts_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

func at(clock string) metav1.Time {
	t, err := time.Parse(time.RFC3339, "2026-03-02T"+clock+"Z")
	if err != nil {
		panic(err)
	}
	return metav1.NewTime(t)
}

// record is that of a run that stopped in its second stage.
func record() *rollouts.Rollout {
	minute := metav1.Duration{Duration: time.Minute}
	return &rollouts.Rollout{
		Unit: rollouts.Unit{Namespace: "team", Name: "web"},
		Strategy: rollouts.Strategy{Name: "careful", Stages: []rollouts.Stage{
			{
				Name: "canary", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"ring": "canary"}},
				MaxConcurrency: intstr.FromInt32(2), ProgressDeadline: minute, Settle: minute,
				AfterStageTasks: []rollouts.StageTask{{Type: rollouts.WaitTask, WaitTime: metav1.Duration{Duration: 30 * time.Minute}}},
			},
			{
				Name: "early", MaxConcurrency: intstr.FromString("50%"), ProgressDeadline: minute, Settle: minute,
				AfterStageTasks: []rollouts.StageTask{{Type: rollouts.ApprovalTask}},
			},
		}},
		Status: rollouts.Status{
			Run: strings.Repeat("8f3a", 8), Phase: rollouts.Stopped, Reason: rollouts.TooManyFailed, Message: "early: e2 failed, 1 of 2; 0 are tolerated",
			Base: rollouts.Version{Commit: "a1", Digest: "51c0"}, Target: rollouts.Version{Commit: "b2", Digest: "8f3a"}, StartTime: at("10:00:00"),
			Stages: []rollouts.StageStatus{
				{Name: "canary", Phase: rollouts.Done, StartTime: at("10:00:00"), EndTime: at("10:33:00"), After: []rollouts.Task{
					{Type: rollouts.WaitTask, Since: at("10:03:00"), DoneTime: at("10:33:00")},
				}},
				{Name: "early", Phase: rollouts.Updating, StartTime: at("10:33:00"), Deadline: at("11:03:00")},
			},
			Commands: []rollouts.Command{{Verb: rollouts.Skip, Run: strings.Repeat("8f3a", 8), Cluster: "e4", By: "anna", Via: "cli", Ref: "orders/1", At: at("10:34:00")}},
		},
		Clusters: map[string]rollouts.Cluster{
			"c1": {Stage: "canary", Shows: "b2", State: rollouts.Healthy, Released: at("10:00:00"), Since: at("10:03:00"), Evidence: "waybill/status/c1@77d0"},
			"e1": {Stage: "early", Shows: "a1", State: rollouts.Pending},
			"e2": {
				Stage: "early", Shows: "b2", State: rollouts.Failed, Reason: rollouts.Unhealthy, Message: "Deployment/web: ProgressDeadlineExceeded",
				Released: at("10:33:00"), Since: at("10:36:30"), Deadline: at("10:53:00"), Evidence: "waybill/status/e2@c91b",
			},
		},
	}
}

// read decodes the files of one unit.
func read(t *testing.T, files map[string][]byte) (*rollouts.Rollout, error) {
	t.Helper()
	var unit rollouts.Unit
	var file []byte
	stages := map[string][]byte{}
	for path, data := range files {
		u, stage, ok := rollouts.PathOf(path)
		if !ok {
			t.Fatalf("%s is nobody's", path)
		}
		if unit = u; stage == "" {
			file = data
		} else {
			stages[stage] = data
		}
	}
	return rollouts.Decode(unit, file, stages)
}

func TestFiles(t *testing.T) {
	files, err := rollouts.Encode(record())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(maps.Keys(files)), []string{"team/web.yaml", "team/web/canary.yaml", "team/web/early.yaml"}; !slices.Equal(got, want) {
		t.Errorf("the files are %v, want %v", got, want)
	}
	got, err := read(t, files)
	if err != nil {
		t.Fatal(err)
	}
	again, err := rollouts.Encode(got)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(files, again) {
		t.Errorf("read and written again it is\n%s\nand was\n%s", again, files)
	}
	if got.Clusters["e2"].Stage != "early" || got.Status.Commands[0].Ref != "orders/1" || got.Strategy.Stages[1].MaxConcurrency.StrVal != "50%" {
		t.Errorf("it is read as %+v", got)
	}
	const early = `clusters:
  e1:
    shows: a1
    state: Pending
  e2:
    deadline: "2026-03-02T10:53:00Z"
    evidence: waybill/status/e2@c91b
    message: 'Deployment/web: ProgressDeadlineExceeded'
    reason: Unhealthy
    released: "2026-03-02T10:33:00Z"
    shows: b2
    since: "2026-03-02T10:36:30Z"
    state: Failed
`
	if got := string(files["team/web/early.yaml"]); got != early {
		t.Errorf("the file of early is\n%s\nwant\n%s", got, early)
	}
	const head = "apiVersion: waybill.dev/v1alpha1\nkind: Rollout\nmetadata:\n  name: web\n  namespace: team\nspec:\n"
	if got := string(files["team/web.yaml"]); !strings.HasPrefix(got, head) {
		t.Errorf("the file of the unit is\n%s", got)
	}
}

func TestPaths(t *testing.T) {
	for path, want := range map[string]struct {
		unit  rollouts.Unit
		stage string
	}{
		"team/web.yaml":           {rollouts.Unit{Namespace: "team", Name: "web"}, ""},
		"team/web/prod.yaml":      {rollouts.Unit{Namespace: "team", Name: "web"}, "prod"},
		"_cluster/web.v2.yaml":    {rollouts.Unit{Name: "web.v2"}, ""},
		"_group/shop/canary.yaml": {rollouts.Unit{Name: "shop", IsGroup: true}, "canary"},
	} {
		u, stage, ok := rollouts.PathOf(path)
		if !ok || u != want.unit || stage != want.stage {
			t.Errorf("%s is of %+v, %q, %t", path, u, stage, ok)
		}
		if own := u.String() + ".yaml"; stage == "" && own != path {
			t.Errorf("%+v has the file %s, not %s", u, own, path)
		}
	}
	for _, path := range []string{"web.yaml", "team/web", "a/b/c/d.yaml", "team/.yaml", "/web.yaml"} {
		if u, _, ok := rollouts.PathOf(path); ok {
			t.Errorf("%s is of %v, and of nobody", path, u)
		}
	}
}

// What cannot be read is an error that names the unit, never half a record.
func TestUnreadable(t *testing.T) {
	for _, tt := range []struct{ name, path, from, to, want string }{
		{"no YAML", "team/web.yaml", "kind: Rollout", "kind: [", "team/web"},
		{"another kind", "team/web.yaml", "kind: Rollout", "kind: Binding", "Binding is none"},
		{"another unit", "team/web.yaml", "name: web", "name: api", "it is that of api"},
		{"a field of later", "team/web.yaml", "phase: Stopped", "phase: Stopped\n  later: 1", "later"},
		{"a stage", "team/web/early.yaml", "state: Pending", "state: {}", "the stage early"},
		{"a cluster in two stages", "team/web/early.yaml", "  e1:", "  c1:", "c1 is in two stages"},
	} {
		files, err := rollouts.Encode(record())
		if err != nil {
			t.Fatal(err)
		}
		files[tt.path] = []byte(strings.Replace(string(files[tt.path]), tt.from, tt.to, 1))
		if _, err := read(t, files); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: the error is %v, want one with %q", tt.name, err, tt.want)
		}
	}
}
