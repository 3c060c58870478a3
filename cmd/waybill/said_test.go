package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestMain renders where a command of a test starts this program to render.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerArgument {
		main()
	}
	os.Exit(m.Run())
}

// saying is a command line, how it ends (-1: with 0 or 1, as the host has it), and what is printed of it then: regular expressions, which
// match lines; ! stands before one that matches none.
type saying struct {
	line string
	ends int
	says []string
}

// hold runs command lines one after the other, in which names in capitals stand for places.
func hold(t *testing.T, places map[string]string, all []saying) {
	t.Helper()
	for _, name := range []string{"GITHUB_ACTIONS", "GITLAB_CI", "GITEA_ACTIONS", "KUBERNETES_SERVICE_HOST"} {
		t.Setenv(name, "")
	}
	for _, s := range all {
		args := strings.Fields(s.line)
		for i := range args {
			for name, at := range places {
				args[i] = strings.ReplaceAll(args[i], name, at)
			}
		}
		var out, problems strings.Builder
		code := run(t.Context(), args, &out, &problems)
		said := out.String() + problems.String()
		if code != s.ends && (s.ends >= 0 || code > 1) {
			t.Errorf("waybill %s ends with %d, want %d: %s", s.line, code, s.ends, said)
		}
		for _, want := range s.says {
			want, isNone := strings.CutPrefix(want, "!")
			if regexp.MustCompile("(?m)"+want).MatchString(said) == isNone {
				t.Errorf("waybill %s: %q matches, or does not, in %s", s.line, want, said)
			}
		}
	}
}

// unpack writes those of an archive to a folder.
func unpack(t *testing.T, folder, text string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(text)).Files {
		at := filepath.Join(folder, f.Name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhatIsSaidWithoutASource: of itself, of a first source, and of this host.
func TestWhatIsSaidWithoutASource(t *testing.T) {
	at := t.TempDir()
	key := filepath.Join(at, "key")
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 40)), 0o600); err != nil {
		t.Fatal(err)
	}
	bare, _ := workTree(t)
	hold(t, map[string]string{"SRC": filepath.Join(at, "src"), "AT": at, "REPO": bare}, []saying{
		{"version", 0, []string{`^waybill \S+$`}},
		{"--version", 0, []string{`^waybill \S+$`}},
		{"completion", 0, []string{"Generate the autocompletion script"}},
		{"help diff", 0, []string{"^Exit status:$", `^  1  `}},
		{"help rollout", 0, []string{"^Exit status:$"}},
		{"init SRC", 0, []string{`^wrote .*/src/hello.yaml$`, `^next:$`, `^  waybill publish .*/src$`}},
		{"init SRC", 2, []string{"init overwrites nothing"}},
		{"validate SRC", 0, nil},
		{"render SRC", 0, []string{"hello"}},
		{"render SRC -o json", 0, []string{`"Service/hello/hello"`}},
		{"publish SRC", 2, []string{"^error: "}},
		{"status -C SRC", 2, []string{"^error: "}},
		{"problems SRC", 2, []string{"^error: "}},
		{"get clusters -C SRC --rev HEAD", 2, []string{"^error: "}},
		{"get rollouts -C SRC", 2, []string{"nothing was published"}},
		{"get clusters -C SRC", 0, []string{"^eu-1 "}},
		{"validate SRC --rev HEAD", 2, []string{"^error: "}},
		{"get clusters -C AT/none", 2, []string{"there is no folder .*none; PATH or -C names the source"}},
		{"reference", 0, []string{"^#+ waybill", "waybill explain KIND"}},
		{"reference --man AT", 0, nil},
		{"doctor -o json", -1, []string{`"walls"`, `!"host"`}},
		{"doctor --random-key-file AT/key", 2, []string{"is no random key"}},
		{"doctor --repository REPO", 2, []string{"it is on this disk"}},
		{"doctor --repository REPO --password-file AT/none", 2, []string{"reading --password-file"}},
	})
	if _, err := os.Stat(filepath.Join(at, "waybill-diff.1")); err != nil {
		t.Errorf("there is no page for man: %v", err)
	}
}

const rules = `
-- thing.yaml --
apiVersion: example.com/v1
kind: Thing
metadata: {name: a, namespace: shop}
status: {ready: true}
-- old.yaml --
apiVersion: example.org/v1
kind: Old
metadata: {name: a}
-- mine/thing.yaml --
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: mine}
spec:
  target: {apiVersion: example.com/v1, kind: Thing}
  customizations:
    healthInterpretation: {luaScript: "function InterpretHealth(o) return o.status.ready end"}
-- mine/a.yaml --
apiVersion: example.com/v1
kind: Thing
metadata: {name: a}
status: {ready: true}
-- mine/customizations_tests.yaml --
tests:
- {observedInputPath: a.yaml, operation: InterpretHealth, result: {status: Healthy}}
- {observedInputPath: a.yaml, operation: InterpretHealth}
-- bad/bad.yaml --
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: bad}
spec:
  target: {apiVersion: example.com/v1, kind: Thing}
  customizations:
    healthInterpretation: {luaScript: "function InterpretHealth(o) return ( end"}
-- src/waybill.yaml --
apiVersion: waybill.dev/v1alpha1
kind: Config
spec:
  health: {prefer: karmada, argocdConfigMap: argocd/argocd-cm}
-- src/z/more.yaml --
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: thing}
spec:
  target: {apiVersion: example.com/v1, kind: Thing}
  customizations:
    healthInterpretation: {luaScript: "function InterpretHealth(o) return not o.status.ready end"}
-- src/z/cm.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: argocd}
data:
  resource.customizations.health.example.org_Old: return {status = "Suspended"}
  resource.customizations.health.example.org_Bad: return (
-- src/fleet.yaml --
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Push}
-- clone.yaml --
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web, namespace: shop, generation: 2}
status: {observedGeneration: 1, replicas: 3}
`

// TestWhatRulesSay: of a file or of the source, each by its name, and what is wrong with them.
func TestWhatRulesSay(t *testing.T) {
	at := t.TempDir()
	unpack(t, at, rules)
	const health = " --operation health --observed-file AT/thing.yaml"
	hold(t, map[string]string{"AT": at}, []saying{
		{"interpret -f AT/mine/thing.yaml" + health, 0, []string{`InterpretHealth by customization mine \(.*thing.yaml\)`, "^status: Healthy"}},
		{"interpret -f AT/mine/thing.yaml --check", 0, []string{"^all scripts compile; 2 cases are as they should be$"}},
		{"interpret -f AT/mine/thing.yaml -f AT/bad/bad.yaml --check", 1, []string{`^bad .*healthInterpretation`, "!all scripts compile"}},
		{"interpret -f AT/bad/bad.yaml" + health, 0, []string{`^bad .*healthInterpretation`, "InterpretHealth by kstatus"}},
		{"interpret -f AT/none.yaml" + health, 2, []string{"none.yaml"}},
		{"interpret -f AT/mine/thing.yaml --operation health", 2, []string{"^error: "}},
		{"interpret -f AT/mine/thing.yaml --operation replicas --desired-file AT/thing.yaml", 2, []string{"no rule answers InterpretReplica"}},
		{"interpret -C AT/src" + health, 0, []string{
			`by customization thing \(z/more.yaml\)`, "^status: Progressing",
			`^z/cm.yaml:\d+: .*\[bad-script\]$`,
		}},
		{
			"interpret -C AT/src --operation health --observed-file AT/old.yaml", 0,
			[]string{`by ConfigMap argocd/argocd-cm \(z/cm.yaml\)`, "^status: Suspended"},
		},
		{"interpret -C AT/src --check", 1, []string{"z/cm.yaml"}},
		{"interpret -C AT/none" + health, 2, []string{"there is no folder"}},
		{"interpret -C AT/src --operation health --observed-file AT/clone.yaml", 0, []string{"!argo-cd"}},
		{"interpret -C AT/src --operation health --observed-file AT/clone.yaml --prefer argocd", 0, []string{"by argo-cd"}},
		{"interpret -C AT/src --operation health --observed-file AT/clone.yaml --prefer both", 0, []string{"InterpretHealth by "}},
	})
}
