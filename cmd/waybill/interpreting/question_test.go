package interpreting_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/waybill-dev/waybill/cmd/waybill/interpreting"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
)

const (
	wanted  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: wanted}\n"
	live    = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: live}\n"
	reports = "clusterName: eu\n---\n\n---\nclusterName: us\n"
)

// folder is a folder of files, in which the process is.
func folder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// says reports that an error says something, or that there is none where that is empty.
func says(err error, what string) bool {
	return (err == nil) == (what == "") && (err == nil || strings.Contains(err.Error(), what))
}

// The cases beside a customization are asked as they are written, with the files that they name beside it.
func TestCases(t *testing.T) {
	folder(t, map[string]string{
		"rules/desired.yaml": wanted, "rules/observed.yaml": live, "rules/status.yaml": reports,
		"rules/customizations_tests.yaml": `tests:
- {operation: ReviseReplica, desiredInputPath: desired.yaml, desiredReplicas: 3, result: {a: b}}
- {operation: AggregateStatus, observedInputPath: observed.yaml, statusInputPath: status.yaml}
`,
	})
	cases, err := interpreting.Cases("rules/customizations.yaml")
	if err != nil || len(cases) != 2 {
		t.Fatalf("there are %d cases, %v", len(cases), err)
	}
	first, second := &cases[0], &cases[1]
	if first.Operation != karmada.InterpreterOperationReviseReplica || first.Replicas != 3 || first.Desired == nil || first.Observed != nil || first.Want == nil {
		t.Errorf("the first is %+v", first)
	}
	if second.Operation != karmada.InterpreterOperationAggregateStatus || second.Replicas != 0 || second.Observed == nil || len(second.Reports) != 2 {
		t.Errorf("the second is %+v", second)
	}
	if second.Name != filepath.Join("rules", "customizations_tests.yaml")+": case 2" {
		t.Errorf("the second is called %s", second.Name)
	}
}

// TestCasesThatCannotBeRead holds that a mistake in one says which, and that where there are none there is no mistake.
func TestCasesThatCannotBeRead(t *testing.T) {
	folder(t, map[string]string{
		"none/a.yaml":                          "",
		"broken/customizations_tests.yaml":     "tests: [\n",
		"folder/customizations_tests.yaml/x":   "",
		"mistaken/customizations_tests.yaml":   "tests:\n- {operation: Retain, desiredInputPath: a.yaml, observedInputPath: a.yaml}\n- {operation: Guess}\n",
		"mistaken/a.yaml":                      wanted,
		"unfinished/customizations_tests.yaml": "tests:\n- {operation: Retain, desiredInputPath: none.yaml}\n",
		"input/customizations_tests.yaml":      "tests:\n- {operation: Retain, desiredInputPath: '-'}\n",
		"input/-":                              wanted,
		"customizations_tests.yaml":            "tests: [\n",
	})
	for name, want := range map[string]string{
		"none/a.yaml": "", "broken/a.yaml": "reading the cases: broken/customizations_tests.yaml: ", "folder/a.yaml": "reading the cases: ",
		"mistaken/a.yaml": "mistaken/customizations_tests.yaml: case 2: --operation: ", "unfinished/a.yaml": "case 1: open unfinished/none.yaml",
		"input/a.yaml": "", "-": "",
	} {
		cases, err := interpreting.Cases(filepath.FromSlash(name))
		if !says(err, want) || err != nil && cases != nil || (name == "input/a.yaml") != (len(cases) == 1) {
			t.Errorf("%s: there are %v, %v; want %q", name, cases, err, want)
		}
	}
}

// TestQuestion holds that each file of a question is read, of which one may be the standard input, and that a mistake says which it is of.
func TestQuestion(t *testing.T) {
	folder(t, map[string]string{
		"desired.yaml": wanted, "observed.yaml": live, "two.yaml": wanted + "---\n" + live, "empty.yaml": "", "status.yaml": reports,
		"wrong.yaml": "clusterName: eu\n---\nclusterName: [us]\n",
	})
	for _, tt := range []struct {
		name  string
		files interpreting.Files
		in    string
		want  string // names of what is desired and observed, and of clusters
		says  string // of the error; empty: none
	}{
		{"nothing but an operation", interpreting.Files{Operation: "Retain"}, "", "", ""},
		{"all", interpreting.Files{Operation: "Retain", Desired: "desired.yaml", Observed: "observed.yaml", Reports: "status.yaml"}, "", "wanted live eu us", ""},
		{"what is desired comes from the input", interpreting.Files{Operation: "Retain", Desired: "-", Observed: "observed.yaml"}, wanted, "wanted live", ""},
		{"what is observed comes from the input", interpreting.Files{Operation: "Retain", Desired: "desired.yaml", Observed: "-"}, live, "wanted live", ""},
		{"reports come from the input", interpreting.Files{Operation: "Retain", Reports: "-"}, reports, "eu us", ""},
		{"an operation that is none", interpreting.Files{Operation: "Guess", Desired: "none.yaml"}, "", "", "--operation: "},
		{"no file of what is desired", interpreting.Files{Operation: "Retain", Desired: "none.yaml", Observed: "two.yaml"}, "", "", "open none.yaml"},
		{"no file of what is observed", interpreting.Files{Operation: "Retain", Observed: "none.yaml", Reports: "wrong.yaml"}, "", "", "open none.yaml"},
		{"no file of reports", interpreting.Files{Operation: "Retain", Reports: "none.yaml"}, "", "", "open none.yaml"},
		{"two objects", interpreting.Files{Operation: "Retain", Desired: "two.yaml"}, "", "", "two.yaml has 2 objects; want one"},
		{"no object", interpreting.Files{Operation: "Retain", Observed: "empty.yaml"}, "", "", "empty.yaml has 0 objects; want one"},
		{"a report that is none", interpreting.Files{Operation: "Retain", Reports: "wrong.yaml"}, "", "", "wrong.yaml: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q, err := tt.files.Question(strings.NewReader(tt.in))
			if !says(err, tt.says) {
				t.Fatalf("%v, want %q", err, tt.says)
			}
			var got []string
			for _, o := range []map[string]any{q.Desired, q.Observed} {
				if o != nil {
					got = append(got, o["metadata"].(map[string]any)["name"].(string))
				}
			}
			for _, r := range q.Reports {
				got = append(got, r.ClusterName)
			}
			if is := strings.Join(got, " "); err == nil && is != tt.want {
				t.Errorf("it asks about %s, want %s", is, tt.want)
			}
		})
	}
	gone := errors.New("the input is gone")
	for _, files := range []interpreting.Files{{Operation: "Retain", Desired: "-"}, {Operation: "Retain", Reports: "-"}} {
		if _, err := files.Question(iotest.ErrReader(gone)); !errors.Is(err, gone) {
			t.Errorf("%+v: %v", files, err)
		}
	}
}

// TestRules holds that rules of several files are taken, and that a script with a mistake is named with its file and line.
func TestRules(t *testing.T) {
	const (
		customization = "apiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\nmetadata: {name: of-%s}\nspec: {target: {apiVersion: example.com/v1, kind: %s}, " +
			"customizations: {healthInterpretation: {luaScript: \"%s\"}}}\n"
		healthy = "function InterpretHealth(o) return true end"
		argo    = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: argocd}\ndata:\n  resource.customizations.health.example.com_Gizmo: |\n    return {status = '%s'}\n"
	)
	of := func(name, kind, script string) string {
		return strings.NewReplacer("of-%s", "of-"+name, "kind: %s", "kind: "+kind, "%s", script).Replace(customization)
	}
	folder(t, map[string]string{
		"widgets.yaml": of("widgets", "Widget", healthy), "both.yaml": of("widgets", "Widget", healthy) + "---\n" + of("gadgets", "Gadget", healthy),
		"bad.yaml":  of("gadgets", "Gadget", "function InterpretHealth(o)\\n return\\n  o +\\nend"),
		"argo.yaml": strings.Replace(argo, "%s", "Healthy", 1), "bad-argo.yaml": strings.Replace(argo, "'%s'", "", 1),
		"pod.yaml": "apiVersion: v1\nkind: Pod\n", "broken.yaml": "a: [\n", "wrong.yaml": "kind: ConfigMap\ndata: [a]\n",
	})
	for _, tt := range []struct {
		name  string
		files []string
		in    string
		kinds string   // that are judged, and by what
		wrong []string // a part of each
		says  string   // of the error; empty: none
	}{
		{"none", nil, "", "", nil, ""},
		{"one", []string{"widgets.yaml"}, "", "Widget by customization of-widgets (widgets.yaml)", nil, ""},
		{"two of a file", []string{"both.yaml"}, "", "Widget by customization of-widgets (both.yaml), Gadget by customization of-gadgets (both.yaml)", nil, ""},
		{"of a file, and of the input", []string{"widgets.yaml", "-"}, of("gadgets", "Gadget", healthy), "Widget by customization of-widgets (widgets.yaml), Gadget by customization of-gadgets (-)", nil, ""},
		{"of Argo CD", []string{"argo.yaml"}, "", "Gizmo by ConfigMap argocd/argocd-cm (argo.yaml) example.com/Gizmo", nil, ""},
		{"of Argo CD, and ours", []string{"argo.yaml", "widgets.yaml"}, "", "Widget by customization of-widgets (widgets.yaml), Gizmo by ConfigMap argocd/argocd-cm (argo.yaml) example.com/Gizmo", nil, ""},
		{"a script with a mistake, and one without", []string{"widgets.yaml", "bad.yaml"}, "", "Widget by customization of-widgets (widgets.yaml)", []string{"of-gadgets (bad.yaml): healthInterpretation, line 4 of the script: "}, ""},
		{"a script of Argo CD with a mistake", []string{"bad-argo.yaml"}, "", "", []string{"bad-argo.yaml: resource.customizations.health.example.com_Gizmo"}, ""},
		{"a file that is not there", []string{"widgets.yaml", "none.yaml"}, "", "", nil, "open none.yaml"},
		{"two ConfigMaps", []string{"argo.yaml", "bad-argo.yaml"}, "", "", nil, "bad-argo.yaml: it has a second ConfigMap"},
		{"another kind", []string{"widgets.yaml", "pod.yaml"}, "", "", nil, `pod.yaml: kind "Pod" is no ResourceInterpreterCustomization, and no ConfigMap`},
		{"no YAML", []string{"broken.yaml"}, "", "", nil, "broken.yaml: "},
		{"a ConfigMap that is none", []string{"wrong.yaml"}, "", "", nil, "wrong.yaml: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			judge, wrong, err := interpreting.Rules(strings.NewReader(tt.in), tt.files)
			if !says(err, tt.says) {
				t.Fatalf("%v, want %q", err, tt.says)
			}
			if len(wrong) != len(tt.wrong) {
				t.Errorf("wrong are %q, want %q", wrong, tt.wrong)
			}
			for i := range min(len(wrong), len(tt.wrong)) {
				if !strings.Contains(wrong[i], tt.wrong[i]) {
					t.Errorf("wrong is %q, want %q", wrong[i], tt.wrong[i])
				}
			}
			if err != nil {
				return
			}
			var kinds []string
			for _, kind := range []string{"Widget", "Gadget", "Gizmo"} {
				h := judge.Of(map[string]any{"apiVersion": "example.com/v1", "kind": kind, "metadata": map[string]any{"name": "x"}}, health.Moment{})
				if h.By != "kstatus" {
					kinds = append(kinds, kind+" by "+h.By)
				}
			}
			if got := strings.Join(kinds, ", "); got != tt.kinds {
				t.Errorf("judged are %s, want %s", got, tt.kinds)
			}
		})
	}
}
