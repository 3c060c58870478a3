package argocd_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/interpret/argocd"
)

// TestCasesOfArgoCD asks Argo CD's own cases of its health rules: the status and the message.
func TestCasesOfArgoCD(t *testing.T) {
	t.Parallel()
	suites, err := fs.Glob(argocd.Files(), "*/*/health_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	right, all := 0, 0
	for _, name := range suites {
		var suite struct {
			Tests []struct {
				InputPath    string         `json:"inputPath"`
				HealthStatus argocd.Verdict `json:"healthStatus"`
			} `json:"tests"`
		}
		decode(t, name, &suite)
		for _, c := range suite.Tests {
			var live map[string]any
			decode(t, path.Join(path.Dir(name), c.InputPath), &live)
			all++
			group, kind := groupKind(live)
			rule := argocd.Builtin().For(group, kind)
			if rule == nil {
				t.Errorf("%s: there is no rule for %s/%s of %s", name, group, kind, c.InputPath)
				continue
			}
			if got, err := rule.Judge(live); err != nil || got != c.HealthStatus {
				t.Errorf("%s, %s: %v, %v, want %v", name, c.InputPath, got, err, c.HealthStatus)
				continue
			}
			right++
		}
	}
	t.Logf("counted: %s's cases: %d of %d", argocd.Source, right, all)
}

func decode(t *testing.T, name string, out any) {
	t.Helper()
	data, err := fs.ReadFile(argocd.Files(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, out); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func groupKind(live map[string]any) (group, kind string) {
	apiVersion, _ := live["apiVersion"].(string)
	kind, _ = live["kind"].(string)
	if group, _, ok := strings.Cut(apiVersion, "/"); ok {
		return group, kind
	}
	return "", kind
}
