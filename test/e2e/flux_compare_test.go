//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/test/docs"
)

// compared is what the way from Flux has a person type before anything changes: nothing differs where
// Flux applied the same folder, and what differs is shown.
func (m *members) compared(t *testing.T) {
	s := m.one(t)
	eu := s.apis["eu-1"]
	app := `apiVersion: v1
kind: Namespace
metadata: {name: compared, labels: {team: web}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: look, namespace: compared}
data: {color: blue}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: compared}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
`
	// kustomize-controller marks what it applies
	apply := exec.Command(eu.path, "apply", "--server-side", "--field-manager=kustomize-controller", "-f", "-")
	apply.Stdin = strings.NewReader(app)
	eu.run(apply)
	eu.kubectl("label", "--field-manager=kustomize-controller", "-n", "compared", "deployment/web", "configmap/look", "kustomize.toolkit.fluxcd.io/name=apps")

	dir := t.TempDir()
	for name, text := range map[string]string{
		"fleet.yaml":             "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: eu-1\n  annotations: {waybill.dev/path: clusters/eu-1}\nspec: {syncMode: Pull}\n",
		"clusters/eu-1/app.yaml": app,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(t.TempDir(), "kubeconfig")
	data, err := os.ReadFile(eu.kubeconfig)
	if err == nil {
		err = os.WriteFile(config, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	types := func(text string) (string, int) {
		cmd := exec.Command("sh", "-c", text)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "KUBECONFIG="+config, "PATH="+filepath.Dir(eu.path)+":"+filepath.Dir(s.waybill)+":"+os.Getenv("PATH"))
		out, _ := cmd.CombinedOutput() // the status says it
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, code := types(`kubectl config rename-context "$(kubectl config current-context)" eu-1`); code != 0 {
		t.Fatalf("%d: %s", code, out)
	}
	render, compare := comparison(t)
	if out, code := types(render); code != 0 {
		t.Fatalf("%d: %s", code, out)
	}
	if out, code := types(compare); code != 0 || out != "" {
		t.Errorf("what Flux applied differs (%d):\n%s", code, out)
	}
	eu.kubectl("-n", "compared", "patch", "configmap", "look", "-p", `{"data":{"color":"red"}}`)
	if out, code := types("rm -r compare\n" + compare); code != 1 || !strings.Contains(out, "-  color: red\n+  color: blue\n") {
		t.Errorf("an edit is not shown (%d):\n%s", code, out)
	}
}

// comparison returns the commands of the page that render, and that compare with a cluster.
func comparison(t *testing.T) (render, compare string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/from-flux.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks, _ := docs.Read(string(page))
	for _, b := range blocks {
		if strings.HasPrefix(b.Text, "waybill render --out rendered\n") {
			render = b.Text
		}
		if strings.Contains(b.Text, "kubectl --context eu-1 diff") {
			compare = b.Text
		}
	}
	if render == "" || compare == "" {
		t.Fatal("the page has no such commands")
	}
	return render, compare
}
