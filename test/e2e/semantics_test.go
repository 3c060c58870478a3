//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestSemantics asks real API servers for what applying means beyond the first and the last.
func TestSemantics(t *testing.T) {
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	m := &members{waybill: p.waybill, apis: []*api{
		startAPI(t, p, etcd, filepath.Join(dir, "eu")), startAPI(t, p, etcd, filepath.Join(dir, "us")),
	}}
	t.Run("a newer commit between two stages", m.superseded)
	t.Run("what cannot be changed", m.recreated)
	t.Run("killed while it creates anew", m.recreatedKilled)
}

// superseded rounds end at the next stage, and nothing of the older commit is applied from then.
func (m *members) superseded(t *testing.T) {
	s := m.two(t)
	s.namespace("superseded", "one", 20)
	s.commit()
	requests := s.counting("eu-1")
	asked, gate := make(chan struct{}, 1), make(chan struct{})
	requests.disturb = func(n int, w http.ResponseWriter, pass func(http.ResponseWriter)) {
		if r := requests.list()[n-1]; strings.HasPrefix(r, "PATCH /api/v1/namespaces/superseded?") {
			select {
			case asked <- struct{}{}:
			default:
			}
			<-gate
		}
		pass(w)
	}
	s.controller()
	<-asked
	s.namespace("superseded", "two", 20)
	s.commit()
	last := at("ConfigMap", "superseded", "c0019")
	is := func(cluster, value string) func() (bool, string) {
		return func() (bool, string) {
			_, body := s.apis[cluster].do(http.MethodGet, last, "", nil)
			return strings.Contains(string(body), `"value":"`+value+`"`), string(body)
		}
	}
	eventually(t, "us-1 has the second commit, which eu-1 is told of before", is("us-1", "two"))
	close(gate)
	eventually(t, "eu-1 has the second commit", is("eu-1", "two"))
	s.settles("eu-1")
	if n := requests.matching("PATCH", "/namespaces/superseded/configmaps/"); n != 20 {
		t.Errorf("it applied %d ConfigMaps, want the 20 of the second commit", n)
	}
}

// web is a Deployment whose selector, which cannot be changed, selects by a value.
func web(namespace, selects, labels, annotations string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: " + namespace + ", annotations: {" + annotations + "}}\nspec:\n  replicas: 2\n" +
		"  selector: {matchLabels: {app: " + selects + "}}\n  template:\n    metadata: {labels: {app: " + labels + "}}\n    spec: {containers: [{name: web, image: nginx}]}\n"
}

// recreated is what asks for it, and nothing else.
func (m *members) recreated(t *testing.T) {
	s := m.one(t)
	s.namespace("recreated", "one", 1)
	uid := func(kind, name string) string {
		return text(s.get("eu-1", at(kind, "recreated", name)), "metadata", "uid")
	}
	claim := func(class string) string {
		return "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: recreated, annotations: {waybill.dev/recreate: \"true\"}}\n" +
			"spec: {storageClassName: " + class + ", accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
	}
	s.write("web.yaml", web("recreated", "one", "one", ""))
	s.write("claim.yaml", claim("one"))
	s.publish()
	s.apply(0)
	before := uid("Deployment", "web")
	for i, c := range []struct{ labels, annotations, says string }{
		{"two", "", "cannot be changed"},
		{"other", `waybill.dev/recreate: "true"`, "`selector` does not match template `labels`"},
		{"two", `waybill.dev/recreate: "no"`, "waybill.dev/recreate"},
	} {
		s.write("web.yaml", web("recreated", "two", c.labels, c.annotations))
		s.publish()
		if out := s.apply(1); !strings.Contains(out, c.says) || uid("Deployment", "web") != before {
			t.Errorf("%d: it is another object, or it does not say %q:\n%s", i, c.says, out)
		}
	}
	for _, annotation := range []string{`waybill.dev/recreate: "true"`, "kustomize.toolkit.fluxcd.io/force: Enabled", `argocd.argoproj.io/sync-options: "Replace=true,Force=true"`} {
		s.write("web.yaml", web("recreated", "v"+before[:8], "v"+before[:8], annotation))
		s.publish()
		wantVerbs(t, annotation, s.applied(0, "eu-1"), map[string]int{"recreate": 1})
		s.check("eu-1")
		if now := uid("Deployment", "web"); now == before {
			t.Errorf("%s: it is the same object", annotation)
		} else {
			before = now
		}
	}
	claimed := uid("PersistentVolumeClaim", "data")
	s.write("claim.yaml", claim("two"))
	s.publish()
	if out := s.apply(1); !strings.Contains(out, "never deleted") || uid("PersistentVolumeClaim", "data") != claimed {
		t.Errorf("the claim is another one, or it does not say so:\n%s", out)
	}
}

// recreatedKilled kills at every write, and looks whether the next round heals it.
func (m *members) recreatedKilled(t *testing.T) {
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			s := m.one(t)
			name := fmt.Sprintf("renewed-%v-%d", after, n)
			s.namespace(name, "one", 1)
			s.write("web.yaml", web(name, "one", "one", ""))
			s.publish()
			s.apply(0)
			s.write("web.yaml", web(name, "two", "two", `waybill.dev/recreate: "true"`))
			s.publish()
			proxy := s.counting("eu-1")
			ended := proxy.kill(s.command(s.applyArgs()...), n, after)
			proxy.pass()
			s.apply(0)
			s.check("eu-1")
			if d := s.applied(0, "eu-1"); len(d.Actions) != 0 || t.Failed() {
				t.Fatalf("killed at write %d, after the server had it: %v: then it did %v: %v", n, after, d.verbs(), proxy.list())
			}
			if ended {
				if n < 7 { // head, shard, update, dry run, delete, create, shard
					t.Errorf("there were only %d writes", n-1)
				}
				break
			}
		}
	}
}
