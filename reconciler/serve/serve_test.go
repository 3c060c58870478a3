package serve_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/clusters/credential"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/observation"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/serve"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/git"
)

// metrics asks a server for its metrics.
func metrics(t *testing.T, s *serve.Server) string {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	return w.Body.String()
}

func TestMetricsNameTheClustersThatAreHeld(t *testing.T) {
	s := serve.New()
	record := func(clusters ...plan.Cluster) {
		s.Record(reconciler.Sync{At: time.Unix(1, 0), Result: reconciler.Result{Plan: plan.Plan{Clusters: clusters}}})
	}
	record(plan.Cluster{Name: "eu", Held: &guard.Hold{Reason: "it would lose all it holds"}}, plan.Cluster{Name: "us"})
	got := metrics(t, s)
	for _, want := range []string{`waybill_cluster_held{cluster="eu"} 1`, `waybill_clusters{held="true"} 1`, `waybill_clusters{held="false"} 1`} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, `cluster="us"`) {
		t.Error("a cluster that is not held is named")
	}
	record(plan.Cluster{Name: "eu"}, plan.Cluster{Name: "us"})
	if got := metrics(t, s); strings.Contains(got, "waybill_cluster_held{") {
		t.Errorf("a cluster that is no longer held is named:\n%s", got)
	}
}

var until = clusters.Credential{Lifetime: credential.Lifetime{Until: time.Unix(1_900_000_000, 0)}}

func TestMetricsSayWhenACredentialExpires(t *testing.T) {
	s := serve.New()
	const line = `waybill_cluster_credential_expiry_timestamp_seconds{cluster="eu"} 1.9e+09`
	says := func(want bool, step string) {
		t.Helper()
		if got := metrics(t, s); strings.Contains(got, line) != want {
			t.Errorf("%s:\n%s", step, got)
		}
	}
	s.RecordApply(applier.Result{Cluster: "eu", Credential: until})
	says(true, "a token that expires")
	s.RecordApply(applier.Result{Cluster: "eu", Err: errors.New("unauthorized")})
	says(true, "the cluster does not answer")
	s.RecordApply(applier.Result{Cluster: "eu"})
	says(false, "a token that does not expire")
	s.RecordApply(applier.Result{Cluster: "eu", Credential: until})
	s.ForgetCluster("eu")
	says(false, "a cluster that is not followed any more")
}

func TestMetricsOfRounds(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	for _, tt := range []struct {
		round  applier.Result
		result string
		behind string // empty: nobody looked
	}{
		{applier.Result{}, "unchanged", "0"},
		{applier.Result{Report: apply.Report{Outcomes: []apply.Outcome{{Action: apply.Action{Ref: ref}}}}}, "applied", "0"},
		{applier.Result{Report: apply.Report{Outcomes: []apply.Outcome{{Action: apply.Action{Ref: ref}, Err: errors.New("denied")}}}}, "refused", "1"},
		{applier.Result{Report: apply.Report{Plan: apply.Plan{Refused: []apply.Action{{Ref: ref}}}}}, "refused", "1"},
		{applier.Result{Report: apply.Report{Plan: apply.Plan{Hold: &apply.Hold{}}}}, "refused", "1"},
		{applier.Result{Err: errors.New("unauthorized")}, "failed", "1"},
		{applier.Result{Suspension: suspend.Suspension{Why: "a person said so"}}, "suspended", ""},
	} {
		s := serve.New()
		tt.round.Cluster = "eu"
		s.RecordApply(tt.round)
		got := metrics(t, s)
		behind := `waybill_cluster_behind{cluster="eu"} `
		if !strings.Contains(got, `waybill_applies_total{result="`+tt.result+`"} 1`) || strings.Contains(got, behind) != (tt.behind != "") || !strings.Contains(got+behind, behind+tt.behind) {
			t.Errorf("of %+v; want %s, and behind is %q; got\n%s", tt.round, tt.result, tt.behind, got)
		}
	}
}

func TestMetricsOfObservedClusters(t *testing.T) {
	s := serve.New()
	says := func(step string, want ...string) {
		t.Helper()
		var got []string
		for line := range strings.Lines(metrics(t, s)) {
			if strings.HasPrefix(line, "waybill_cluster_") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", step, d)
		}
	}
	s.RecordLookAt("eu", observation.Facts{Health: observation.Healthy, Room: &observation.Room{Nodes: karmada.NodeSummary{TotalNum: 5, ReadyNum: 3}}})
	says("it answers", `waybill_cluster_nodes{cluster="eu"} 5`, `waybill_cluster_ready{cluster="eu"} 1`, `waybill_cluster_ready_nodes{cluster="eu"} 3`)
	s.RecordLookAt("eu", observation.Facts{Health: observation.Unreachable})
	says("it does not", `waybill_cluster_nodes{cluster="eu"} 5`, `waybill_cluster_ready{cluster="eu"} 0`, `waybill_cluster_ready_nodes{cluster="eu"} 3`)
	s.ForgetLooks("eu")
	says("it is not looked at any more")
}

// What is measured is named as Prometheus asks for.
func TestMetricsAreNamedAsIsUsual(t *testing.T) {
	s := serve.New()
	s.Record(reconciler.Sync{At: time.Unix(1, 0), Result: reconciler.Result{Plan: plan.Plan{Clusters: []plan.Cluster{{Name: "eu", Held: &guard.Hold{}}}}}})
	s.RecordApply(applier.Result{Cluster: "eu", Credential: until, Waited: time.Second, Took: time.Minute})
	s.RecordLead(true)
	s.RecordLookAt("eu", observation.Facts{Room: &observation.Room{}})
	text := metrics(t, s)
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	for _, want := range []string{"waybill_apply_duration_seconds_sum 60", "waybill_apply_wait_seconds_sum 1", "waybill_leader 1"} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
}

// TestReadiness: it is ready once something was synchronised, says why it is not, and stays ready when a later turn fails: what is
// published stays as it is.
func TestReadiness(t *testing.T) {
	s := serve.New()
	says := func(name string, code int, want string) {
		t.Helper()
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/readyz", nil))
		if w.Code != code || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %q, want %d %q", name, w.Code, w.Body, code, want)
		}
	}
	says("at the start", 503, "")
	s.Record(reconciler.Sync{Err: errors.New("no way there")})
	says("the first turn failed", 503, "the last synchronisation failed")
	s.Record(reconciler.Sync{UpToDate: true})
	says("one came to its end", 200, "ok")
	s.Record(reconciler.Sync{Err: errors.New("no way there")})
	says("a later one failed", 200, "ok")
}

// TestAReplicaThatDoesNotLead is ready once it sees what is published, and stays so.
func TestAReplicaThatDoesNotLead(t *testing.T) {
	s := serve.New()
	for _, step := range []struct {
		err  error
		code int
	}{{errors.New("no way there"), 503}, {nil, 200}, {errors.New("no way there"), 200}} {
		s.RecordLook(step.err)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/readyz", nil))
		if w.Code != step.code {
			t.Errorf("after %v it is %d, want %d", step.err, w.Code, step.code)
		}
	}
	w := httptest.NewRecorder()
	if serve.New().Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/healthz", nil)); w.Code != 200 {
		t.Errorf("it is alive, and says %d", w.Code)
	}
}

// TestMetricsOfTurns: what a turn found and did is counted, and one that failed leaves what was said of the last one.
func TestMetricsOfTurns(t *testing.T) {
	s := serve.New()
	published := reconciler.Result{
		Updates: make([]git.Update, 2), Diags: []diag.Diagnostic{{Severity: diag.Error}, {Severity: diag.Warning}, {Severity: diag.Error}},
		Plan: plan.Plan{Stats: plan.Stats{Placed: 7}},
	}
	s.Record(reconciler.Sync{At: time.Unix(100, 0), Took: 20 * time.Second, Result: published})
	s.Record(reconciler.Sync{At: time.Unix(200, 0), Took: time.Second, UpToDate: true})
	s.Record(reconciler.Sync{At: time.Unix(300, 0), Err: errors.New("no way there")})
	got := metrics(t, s)
	for _, want := range []string{
		`waybill_syncs_total{result="published"} 1`, `waybill_syncs_total{result="unchanged"} 1`, `waybill_syncs_total{result="failed"} 1`,
		`waybill_branches_published_total 2`, `waybill_placed_manifests 7`, `waybill_last_success_timestamp_seconds 201`, `waybill_sync_duration_seconds_sum 20`,
		`waybill_diagnostics{severity="error"} 2`, `waybill_diagnostics{severity="warning"} 1`, `waybill_diagnostics{severity="notice"} 0`,
	} {
		if !strings.Contains(got, "\n"+want+"\n") {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
	s.Record(reconciler.Sync{At: time.Unix(400, 0)})
	if got := metrics(t, s); !strings.Contains(got, `waybill_diagnostics{severity="error"} 0`) || !strings.Contains(got, "waybill_placed_manifests 0") {
		t.Errorf("errors that are gone are counted:\n%s", got)
	}
}

// TestMetricsOfAClusterThatIsNotAsked: a cluster that does not answer has no round to measure, and one that is not followed any more is not
// named.
func TestMetricsOfAClusterThatIsNotAsked(t *testing.T) {
	s := serve.New()
	s.RecordApply(applier.Result{Cluster: "eu", Err: errors.New("no way there")})
	if got := metrics(t, s); !strings.Contains(got, "waybill_apply_duration_seconds_count 0") || !strings.Contains(got, `waybill_cluster_behind{cluster="eu"} 1`) {
		t.Errorf("it is\n%s", got)
	}
	s.ForgetCluster("eu")
	if got := metrics(t, s); strings.Contains(got, `cluster="eu"`) {
		t.Errorf("it is named:\n%s", got)
	}
	for leads, want := range map[bool]string{true: "\nwaybill_leader 1\n", false: "\nwaybill_leader 0\n"} {
		if s.RecordLead(leads); !strings.Contains(metrics(t, s), want) {
			t.Errorf("it leads: %t, and there is no %s", leads, want)
		}
	}
}

func TestMetricsOfWhatGoesOutInStages(t *testing.T) {
	s := serve.New()
	record := func(phase rollouts.Phase, clusters map[string]rollouts.Cluster) string {
		r := &rollouts.Rollout{
			Unit: rollouts.Unit{Namespace: "team", Name: "web"}, Clusters: clusters,
			Status: rollouts.Status{Phase: phase, Stages: []rollouts.StageStatus{{Name: "canary"}, {Name: "prod"}}, StartTime: metav1.NewTime(time.Unix(1000, 0))},
		}
		s.Record(reconciler.Sync{At: time.Unix(1, 0), Result: reconciler.Result{Plan: plan.Plan{Rollouts: []stage.Output{{After: r}, {}}}}})
		var got []string
		for line := range strings.Lines(metrics(t, s)) {
			if strings.HasPrefix(line, "waybill_rollout_") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		return strings.Join(got, "\n")
	}
	out := rollouts.Cluster{Stage: "canary", State: rollouts.Released, Released: metav1.NewTime(time.Unix(1000, 0))}
	got := record(rollouts.Updating, map[string]rollouts.Cluster{"c1": out, "c2": {Stage: "canary", State: rollouts.Pending}, "p1": {Stage: "prod", State: rollouts.Pending}})
	want := `waybill_rollout_clusters_behind{unit="team/web"} 2
waybill_rollout_phase{phase="Updating",unit="team/web"} 1
waybill_rollout_start_timestamp_seconds{unit="team/web"} 1000`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	got = record(rollouts.Done, nil)
	want = `waybill_rollout_clusters_behind{unit="team/web"} 0
waybill_rollout_phase{phase="Done",unit="team/web"} 1`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
