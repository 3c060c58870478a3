package deploy

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/clusters/credential"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/observation"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/serve"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/forge"
)

const (
	rules      = folder + "/monitoring/rules.yaml"
	dashboard  = folder + "/monitoring/dashboard.json"
	operations = "../../docs/operations.md"
	controller = "../../docs/controller.md"
)

// series finds what an expression asks of us: the name, and its labels.
var series = regexp.MustCompile(`\b(waybill_[a-z_]+)(?:\{([^}]*)\})?`)

var label = regexp.MustCompile(`([a-z_]+)=~?"([^"]*)"`)

// given are labels that Prometheus gives by itself.
var given = []string{"namespace", "job", "pod", "instance"}

// metrics is what a controller exports to which everything has happened once.
func metrics(t *testing.T) string {
	t.Helper()
	s := serve.New()
	hooks := serve.Hooks{Forge: forge.Webhook{Kind: forge.Gitea}}
	hooks.Handler(s).ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "POST", "/webhooks/gitea", strings.NewReader("")))
	stopped := &rollouts.Rollout{Status: rollouts.Status{Phase: rollouts.Stopped, StartTime: metav1.NewTime(time.Unix(1, 0))}}
	s.Record(reconciler.Sync{At: time.Unix(1, 0), Result: reconciler.Result{Plan: plan.Plan{
		Clusters: []plan.Cluster{{Name: "eu", Held: &guard.Hold{}}}, Rollouts: []stage.Output{{After: stopped}},
	}}})
	s.Record(reconciler.Sync{Err: os.ErrClosed})
	s.Record(reconciler.Sync{UpToDate: true})
	s.RecordApply(applier.Result{Cluster: "eu", Credential: clusters.Credential{Lifetime: credential.Lifetime{Until: time.Unix(9, 0)}}, Waited: time.Second, Took: time.Minute})
	s.RecordApply(applier.Result{Cluster: "eu", Err: os.ErrClosed})
	s.RecordLead(true)
	s.RecordLookAt("eu", observation.Facts{Room: &observation.Room{Nodes: karmada.NodeSummary{TotalNum: 1}}})
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	return w.Body.String() + rotations + `{cluster="eu"} 1`
}

// rotations is what only two rounds of a real controller export; the test below finds it in the code.
const rotations = "waybill_cluster_credential_rotations_total"

func TestRotationsAreExported(t *testing.T) {
	if !strings.Contains(text(t, "../../reconciler/serve/serve.go"), strconv.Quote(rotations)) {
		t.Error("reconciler/serve has no " + rotations)
	}
}

// asked are the series that a text names, each with its labels and values.
func asked(text string) map[string][][2]string {
	found := map[string][][2]string{}
	for _, m := range series.FindAllStringSubmatch(text, -1) {
		found[m[1]] = append(found[m[1]], [2]string{})
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			found[m[1]] = append(found[m[1]], [2]string{l[1], l[2]})
		}
	}
	return found
}

// expressions are those of the rules, or of the dashboard.
func expressions(t *testing.T, file string) string {
	t.Helper()
	var b strings.Builder
	var walk func(x any)
	walk = func(x any) {
		switch x := x.(type) {
		case map[string]any:
			if e, ok := x["expr"].(string); ok {
				b.WriteString(e + "\n")
			}
			for _, v := range x {
				walk(v)
			}
		case []any:
			for _, v := range x {
				walk(v)
			}
		}
	}
	var doc any
	read(t, file, &doc)
	walk(doc)
	return b.String()
}

// TestAlertsAndDashboardAskForWhatIsExported holds the names, labels and values that they ask for to
// what a controller says.
func TestAlertsAndDashboardAskForWhatIsExported(t *testing.T) {
	says := metrics(t)
	exported := asked(says)
	for _, file := range []string{rules, dashboard} {
		wants := asked(expressions(t, file))
		if len(wants) < 8 {
			t.Errorf("%s asks for %d metrics only", file, len(wants))
		}
		for name, labels := range wants {
			has, ok := exported[name]
			if !ok {
				t.Errorf("%s asks for %s, which is not exported", file, name)
			}
			for _, l := range labels {
				known := l[0] == "" || slices.Contains(given, l[0]) || slices.Contains(has, l)
				if !known {
					t.Errorf("%s asks for %s with %s=%q, which is not exported", file, name, l[0], l[1])
				}
			}
		}
	}
}

// TestMetricsAreDocumented holds the page of the controller to what is exported.
func TestMetricsAreDocumented(t *testing.T) {
	page := text(t, controller)
	for name := range asked(metrics(t)) {
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			name = strings.TrimSuffix(name, suffix)
		}
		if !strings.Contains(page, "`"+name) {
			t.Errorf("%s does not have %s", controller, name)
		}
	}
}

// TestAlertsAreDocumented holds the page of operations to the alerts, both ways.
func TestAlertsAreDocumented(t *testing.T) {
	name := regexp.MustCompile(`alert: (Waybill[A-Za-z]+)`)
	page := text(t, operations)
	var alerts []string
	for _, m := range name.FindAllStringSubmatch(text(t, rules), -1) {
		alerts = append(alerts, m[1])
		if !strings.Contains(page, "`"+m[1]+"`") {
			t.Errorf("%s does not say what to do about %s", operations, m[1])
		}
	}
	for _, m := range regexp.MustCompile("`(Waybill[A-Za-z]+)`").FindAllStringSubmatch(page, -1) {
		if !slices.Contains(alerts, m[1]) {
			t.Errorf("%s names the alert %s, which is none of %s", operations, m[1], rules)
		}
	}
	if !json.Valid([]byte(text(t, dashboard))) {
		t.Errorf("%s is no JSON", dashboard)
	}
}

func text(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
