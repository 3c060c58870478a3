//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const shopWeb = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: status}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web:%s}]}
`

const barn = `apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: widget}
spec:
  target: {apiVersion: example.com/v1, kind: Widget}
  customizations:
    healthInterpretation:
      luaScript: "function InterpretHealth(o) return o.spec.size > 3 end"
`

// TestStatus reads from Git what became of objects on a real API server. No controllers run
// there, so that the test reports the status of a Deployment as one would.
func TestStatus(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	eu := startAPI(t, p, etcd, filepath.Join(dir, "eu"))
	s := newSite(t, p.waybill, map[string]*api{"eu-1": eu})
	s.namespace("status", "one", 3)
	s.write("web.yaml", fmt.Sprintf(shopWeb, "1"))
	s.write("token.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: token, namespace: status}\nstringData: {token: hunter2}\n")
	s.write("bad.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: bad, namespace: status}\ntype: kubernetes.io/dockerconfigjson\nstringData: {.dockerconfigjson: hunter2}\n")
	s.commit()
	s.controller()

	s.says("the Secret that the server refuses", "status.yaml", "reason: Failing")
	s.says("the Deployment that nobody runs", "works/status.yaml", "reason: InProgress")
	s.says("the Secret that is there", "works/status.yaml", "name: token")
	if all := s.git(s.bare, "log", "-p", "waybill/status/eu-1"); strings.Contains(all, "hunter2") || strings.Contains(all, "aHVudGVyMg") {
		t.Errorf("values of Secrets are in the status:\n%s", all)
	}

	s.remove("bad.yaml")
	s.commit()
	s.says("what is refused has left", "status.yaml", "reason: Applied")
	s.rolledOut(2)
	s.says("the Deployment runs", "status.yaml", "unhealthy: 0")
	s.says("with its numbers", "works/status.yaml", "availableReplicas: 2")

	// numbers alone make no commit, and neither does drift that is put right make many
	before := s.words()
	s.rolledOut(3)
	eu.with(t).kubectl("-n", "status", "patch", "configmap", "c0001", "-p", `{"data":{"value":"edited"}}`)
	s.says("somebody edited", "works/status.yaml", "corrected: 1")
	if n := s.words() - before; n > 2 {
		t.Errorf("an edit made %d commits", n)
	}

	// a customization decides, from what is published alone
	s.write("crd.yaml", widgets)
	s.write("barn.yaml", barn)
	s.write("widget.yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: status}\nspec: {size: 3}\n")
	s.commit()
	s.says("a Widget of size 3 is not healthy", "works/status.yaml", "it is not healthy by the rule for its kind")
	s.write("widget.yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: status}\nspec: {size: 4}\n")
	s.commit()
	s.says("of size 4 it is", "status.yaml", "unhealthy: 0")
}

// says waits until a file of the status branch contains a text.
func (s *site) says(what, file, text string) {
	s.t.Helper()
	eventually(s.t, what+": "+text, func() (bool, string) {
		out, err := exec.Command("git", "-C", s.bare, "show", "waybill/status/eu-1:"+file).CombinedOutput()
		return err == nil && strings.Contains(string(out), text), string(out)
	})
}

// words counts the commits of the status branch.
func (s *site) words() int {
	s.t.Helper()
	return strings.Count(s.git(s.bare, "rev-list", "waybill/status/eu-1"), "\n")
}

// rolledOut reports that a Deployment runs.
func (s *site) rolledOut(ready int) {
	s.t.Helper()
	path := "/apis/apps/v1/namespaces/status/deployments/web"
	generation := s.get("eu-1", path)["metadata"].(map[string]any)["generation"]
	body := fmt.Sprintf(`{"status":{"observedGeneration":%v,"replicas":%d,"updatedReplicas":%d,"readyReplicas":%d,"availableReplicas":%d,
		"conditions":[{"type":"Available","status":"True"},{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}}`, generation, 2, 2, ready-ready%2, 2)
	if status, answer := s.apis["eu-1"].do(http.MethodPatch, path+"/status", "application/merge-patch+json", []byte(body)); status != http.StatusOK {
		s.t.Fatalf("reporting the status: %d\n%s", status, answer)
	}
}
