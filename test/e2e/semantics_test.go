//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestSemantics asks real API servers for what applying means beyond the first and the last.
func TestSemantics(t *testing.T) {
	t.Parallel()
	m := startMembers(t)
	t.Run("a newer commit between two stages", m.superseded)
	t.Run("what cannot be changed", m.recreated)
	t.Run("killed while it creates anew", m.recreatedKilled)
	t.Run("hooks and waves", m.hooks)
	t.Run("fields that others decide", m.ignored)
	t.Run("fields that a customization retains", m.retained)
	t.Run("suspended, and between windows", m.suspended)
	t.Run("as a service account", m.impersonated)
	t.Run("a source that moves", m.moved)
	t.Run("compared with what Flux applied", m.compared)
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

// job is a Job that is a hook.
func job(name, phase, policy string) string {
	return fmt.Sprintf("apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: %s\n  namespace: hooks\n  annotations: {argocd.argoproj.io/hook: %s, argocd.argoproj.io/hook-delete-policy: %s}\n"+
		"spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: nginx}]}}}\n", name, phase, policy)
}

// ends waits until a Job runs that is not the one of a UID, ends it as the Job controller would,
// and returns its UID.
func (s *site) ends(name, not, how string) string {
	s.t.Helper()
	where, uid := at("Job", "hooks", name), ""
	eventually(s.t, "the Job "+name+" runs", func() (bool, string) {
		uid = text(s.get("eu-1", where), "metadata", "uid")
		return uid != "" && uid != not, uid
	})
	before := map[string]string{"Complete": "SuccessCriteriaMet", "Failed": "FailureTarget"}[how]
	status := fmt.Sprintf(`{"status":{"startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:00:09Z","succeeded":1,"conditions":[{"type":%q,"status":"True"},{"type":%q,"status":"True","message":"it is over"}]}}`, before, how)
	if how == "Failed" {
		status = strings.ReplaceAll(status, `"completionTime":"2026-01-01T00:00:09Z","succeeded":1,`, "")
	}
	if code, body := s.apis["eu-1"].do(http.MethodPatch, where+"/status", "application/merge-patch+json", []byte(status)); code != http.StatusOK {
		s.t.Fatalf("ending %s: %d\n%s", name, code, body)
	}
	return uid
}

// begin begins to apply, and returns what waits for its end.
func (s *site) begin() (end func(status int) string) {
	s.t.Helper()
	cmd := s.command(s.applyArgs()...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return func(status int) string {
		s.t.Helper()
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != status {
			s.t.Fatalf("apply: status %d, want %d\n%s", got, status, out.String())
		}
		return out.String()
	}
}

// hooks of a branch run as its commits come, and hold up what comes after them.
func (m *members) hooks(t *testing.T) {
	s := m.one(t)
	value := func(name string) string { return text(s.get("eu-1", at("ConfigMap", "hooks", name)), "data", "value") }
	wave := func(name, value, n string) string {
		return strings.Replace(configMap("hooks", name, value), "namespace: hooks", "namespace: hooks, annotations: {argocd.argoproj.io/sync-wave: \""+n+"\"}", 1)
	}
	s.namespace("hooks", "one", 2)
	s.write("web.yaml", strings.Replace(web("hooks", "web", "web", `argocd.argoproj.io/sync-wave: "1"`), "replicas: 2", "replicas: 0", 1))
	s.write("wave.yaml", wave("second", "one", "2"))
	s.write("before.yaml", job("before", "PreSync", "HookSucceeded"))
	s.write("after.yaml", job("after", "PostSync", "BeforeHookCreation"))
	s.write("alarm.yaml", strings.Replace(configMap("hooks", "alarm", "one"), "namespace: hooks", "namespace: hooks, annotations: {argocd.argoproj.io/hook: SyncFail}", 1))
	s.publish()

	end := s.begin()
	first := s.ends("before", "", "Complete") // in a Namespace that is made before it
	eventually(t, "the Deployment of wave 1 is there", func() (bool, string) { return s.get("eu-1", at("Deployment", "hooks", "web")) != nil, "" })
	if s.get("eu-1", at("ConfigMap", "hooks", "second")) != nil {
		t.Error("wave 2 is there, and nobody has seen the Deployment of wave 1 be healthy")
	}
	healthy := []byte(`{"status":{"observedGeneration":1,"replicas":0,"conditions":[{"type":"Available","status":"True"},{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}}`)
	if code, body := s.apis["eu-1"].do(http.MethodPatch, at("Deployment", "hooks", "web")+"/status", "application/merge-patch+json", healthy); code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	after := s.ends("after", "", "Complete")
	end(0)
	if s.get("eu-1", at("Job", "hooks", "before")) != nil || value("second") != "one" || s.get("eu-1", at("ConfigMap", "hooks", "alarm")) != nil {
		t.Error("a hook that succeeded is there, wave 2 is not, or the hook for failures is there")
	}
	if d := s.applied(0, "eu-1"); len(d.Actions) != 0 {
		t.Errorf("nothing changed, and it did %v", d.verbs())
	}

	// a hook that fails stops the rest of its commit
	s.namespace("hooks", "two", 2)
	s.publish()
	end = s.begin()
	second := s.ends("before", first, "Failed")
	if out := end(1); !strings.Contains(out, "Job.batch/hooks/before: Failed: it is over") || value("c0000") != "one" || value("alarm") != "one" {
		t.Errorf("something was applied after it, or the hook for failures did not run:\n%s", out)
	}
	// who applies again runs it again, and what is killed meanwhile is gone on with
	proxy := s.counting("eu-1")
	cmd := s.command(s.applyArgs()...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	third := s.ends("before", second, "Complete")
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	end = s.begin()
	s.ends("after", after, "Complete")
	end(0)
	if value("c0000") != "two" || proxy.matching("PATCH", "/jobs/before?") != 1 || third == second {
		t.Errorf("it is %q; requests: %v", value("c0000"), proxy.list())
	}

	// hooks that leave the branch leave the cluster
	for _, name := range []string{"before.yaml", "after.yaml", "alarm.yaml"} {
		s.remove(name)
	}
	s.publish()
	s.apply(0)
	s.check("eu-1")
}

// ignored fields are applied once, and are others' as soon as they have changed them.
func (m *members) ignored(t *testing.T) {
	s := m.one(t)
	s.namespace("ignored", "one", 1)
	const config = `apiVersion: waybill.dev/v1alpha1
kind: Config
spec:
  secrets: allow
  apply:
    ignoreDifferences:
    - {group: apps, kind: Deployment, jsonPointers: [/spec/template/spec/containers/0/image]}
    - {kind: ConfigMap, name: c0000, managedFieldsManagers: [operator]}
`
	s.write("waybill.yaml", config)
	s.write("web.yaml", web("ignored", "web", "web", ""))
	s.publish()
	s.apply(0)
	a := s.apis["eu-1"]
	a.kubectl("-n", "ignored", "set", "image", "deployment/web", "web=other")
	a.kubectl("-n", "ignored", "patch", "configmap", "c0000", "--field-manager=operator", "--type=merge", "-p", `{"data":{"value":"theirs"}}`)
	a.kubectl("-n", "ignored", "scale", "deployment/web", "--replicas=9") // which nobody said
	still := func(step, replicas string) {
		t.Helper()
		if got := a.kubectl("-n", "ignored", "get", "deployment/web", "-o", "jsonpath={.spec.template.spec.containers[0].image} {.spec.replicas}"); got != "other "+replicas {
			t.Errorf("%s: it has %q", step, got)
		}
		if got := text(s.get("eu-1", at("ConfigMap", "ignored", "c0000")), "data", "value"); got != "theirs" {
			t.Errorf("%s: it is %q", step, got)
		}
	}
	s.apply(0)
	still("after a round", "2")
	if d := s.applied(0, "eu-1"); len(d.Actions) != 0 {
		t.Errorf("nothing changed, and it did %v", d.verbs())
	}
	s.namespace("ignored", "two", 2)
	s.write("web.yaml", strings.NewReplacer("replicas: 2", "replicas: 4", "image: nginx", "image: nginx:2").Replace(web("ignored", "web", "web", "")))
	s.publish()
	s.apply(0)
	still("after another commit", "4")

	// what is ours stays when it leaves the manifest for others to decide, in a list as well
	plain := web("ignored", "web", "web", "")
	s.write("web.yaml", strings.Replace(plain, "image: nginx", "image: nginx, imagePullPolicy: Never", 1))
	s.publish()
	s.apply(0)
	s.write("waybill.yaml", strings.Replace(config, "0/image]", "0/image, /spec/template/spec/containers/0/imagePullPolicy]", 1))
	s.write("web.yaml", plain)
	s.publish()
	s.apply(0)
	if got := a.kubectl("-n", "ignored", "get", "deployment/web", "-o", "jsonpath={.spec.template.spec.containers[0].imagePullPolicy}"); got != "Never" {
		t.Errorf("what left the manifest, and was ours, is %q", got)
	}
}

// suspended clusters get no round, not even for what somebody changes in them.
func (m *members) suspended(t *testing.T) {
	s := m.two(t)
	is := func(cluster, want string) func() (bool, string) {
		return func() (bool, string) {
			_, body := s.apis[cluster].do(http.MethodGet, at("ConfigMap", "suspended", "c0000"), "", nil)
			return strings.Contains(string(body), `"value":"`+want+`"`), string(body)
		}
	}
	edit := func(command ...string) {
		t.Helper()
		if status, out := s.run(append([]string{"cluster"}, append(command, "-C", s.source)...)...); status != 0 {
			t.Fatalf("%v: %d\n%s", command, status, out)
		}
	}
	s.namespace("suspended", "one", 1)
	s.commit()
	s.controller()
	eventually(t, "eu-1 has it", is("eu-1", "one"))
	s.settles("us-1")
	edit("suspend", "eu-1", "--reason", "the disks are replaced")
	s.commit()
	eventually(t, "nobody applies to eu-1", func() (bool, string) {
		status, out := s.run(s.applyArgs("eu-1")...)
		return status == 1 && strings.Contains(out, "eu-1: nothing was applied: it is suspended: the disks are replaced"), out
	})
	s.namespace("suspended", "two", 1)
	s.commit()
	eventually(t, "us-1 has the next commit", is("us-1", "two"))
	s.apis["eu-1"].kubectl("-n", "suspended", "patch", "configmap", "c0000", "-p", `{"data":{"value":"edited"}}`)
	s.apis["us-1"].kubectl("-n", "suspended", "patch", "configmap", "c0000", "-p", `{"data":{"value":"edited"}}`)
	eventually(t, "what somebody changes in us-1 is put right", is("us-1", "two"))
	if ok, body := is("eu-1", "edited")(); !ok {
		t.Errorf("eu-1 was applied to: %s", body)
	}
	edit("resume", "eu-1")
	s.commit()
	eventually(t, "eu-1 has what came meanwhile", is("eu-1", "two"))

	// a window that is always open, and denies
	config := "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec:\n  secrets: allow\n"
	s.write("waybill.yaml", config+"  apply:\n    syncWindows: [{kind: deny, schedule: \"* * * * *\", duration: 2h, clusters: [\"eu-*\"]}]\n")
	s.namespace("suspended", "three", 1)
	s.commit()
	eventually(t, "us-1 has the commit of the window", is("us-1", "three"))
	if out := s.apply(1, "eu-1"); !strings.Contains(out, "a sync window denies it") {
		t.Errorf("it does not say so:\n%s", out)
	}
	if ok, body := is("eu-1", "two")(); !ok {
		t.Errorf("eu-1 was applied to: %s", body)
	}
	s.write("waybill.yaml", config)
	s.commit()
	eventually(t, "eu-1 has it without the window", is("eu-1", "three"))
}

// impersonated changes are made as a service account, which may do less than the credential.
func (m *members) impersonated(t *testing.T) {
	s := m.one(t)
	s.namespace("impersonated", "one", 1)
	s.namespace("forbidden", "one", 1)
	s.publish()
	s.apply(0)
	s.apis["eu-1"].apply(`apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: deployer, namespace: impersonated}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, create, patch, delete]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: deployer, namespace: impersonated}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: deployer}
subjects: [{kind: ServiceAccount, name: deployer, namespace: team}]
`)
	register := func(account string) {
		s.write("clusters/eu-1.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu-1, annotations: {waybill.dev/service-account: "+account+"}}\nspec: {syncMode: Push}\n")
	}
	register("team/deployer")
	s.namespace("impersonated", "two", 2)
	s.namespace("forbidden", "two", 1)
	s.publish()
	out := s.apply(1)
	if !strings.Contains(out, `User "system:serviceaccount:team:deployer" cannot patch resource "configmaps" in API group "" in the namespace "forbidden"`) {
		t.Errorf("it does not say so:\n%s", out)
	}
	for namespace, want := range map[string]string{"impersonated": "two", "forbidden": "one"} {
		if got := text(s.get("eu-1", at("ConfigMap", namespace, "c0000")), "data", "value"); got != want {
			t.Errorf("in %s it is %q", namespace, got)
		}
	}
	s.namespace("impersonated", "two", 1) // one leaves
	s.remove("forbidden.yaml")
	s.publish("--allow-prune")
	s.apply(1, "--allow-prune")
	if s.get("eu-1", at("ConfigMap", "impersonated", "c0001")) != nil || s.get("eu-1", at("ConfigMap", "forbidden", "c0000")) == nil {
		t.Error("the one that may be deleted is there, or the other is not")
	}
	register("not/an/account")
	s.publish()
	if out := s.apply(2); !strings.Contains(out, `"not/an/account" is no service account`) {
		t.Errorf("it does not say so:\n%s", out)
	}
}

// moved sources keep what they applied, if they say what they were called.
func (m *members) moved(t *testing.T) {
	s := m.one(t)
	s.namespace("moved", "one", 3)
	s.publish()
	s.apply(0)
	a, was := s.apis["eu-1"], s.source
	before := a.uids("moved")
	s.source += "-moved"
	if err := os.Rename(was, s.source); err != nil {
		t.Fatal(err)
	}
	s.namespace("moved", "two", 2)
	s.publish("--allow-prune")
	if out := s.apply(1); !strings.Contains(out, "the source "+was+" owns it") || !strings.Contains(out, "publish.formerly") {
		t.Errorf("it does not say so:\n%s", out)
	}
	if got := text(s.get("eu-1", at("ConfigMap", "moved", "c0000")), "data", "value"); got != "one" {
		t.Errorf("it is %q", got)
	}
	// the round that was refused has left an inventory, which is empty
	s.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec:\n  secrets: allow\n  publish: {formerly: ["+was+"]}\n")
	s.namespace("moved", "three", 2)
	s.publish()
	s.apply(0, "--allow-prune")
	s.check("eu-1")
	now := a.uids("moved")
	if len(now) != 3 || now["moved"] != before["moved"] || now["moved/c0001"] != before["moved/c0001"] {
		t.Errorf("there was %v, and now %v", before, now)
	}
	if list := a.kubectl("-n", "waybill-system", "get", "secrets", "-o", "jsonpath={.items[*].metadata.annotations}"); strings.Contains(list, was+`"`) {
		t.Errorf("the old inventory is there: %s", list)
	}
	if d := s.applied(0, "eu-1"); len(d.Actions) != 0 {
		t.Errorf("nothing changed, and it did %v", d.verbs())
	}
}

const keeper = `apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: widget}
spec:
  target: {apiVersion: example.com/v1, kind: Widget}
  customizations:
    retention:
      luaScript: |
        function Retain(desired, observed)
          if desired.spec.size > 100 then
            error("too large")
          end
          desired.spec.token = observed.spec.token
          return desired
        end
`

// retained fields are as the script of a customization has them, as in Karmada: what a controller
// in the cluster wrote stays, and so does what the first commit wrote.
func (m *members) retained(t *testing.T) {
	s := m.one(t)
	a := s.apis["eu-1"]
	s.namespace("retained", "one", 1)
	s.write("definition.yaml", strings.Replace(widgets, "size: {type: integer}", "size: {type: integer}, token: {type: string}", 1))
	s.write("keeper.yaml", keeper)
	widget := func(name, spec string) {
		s.write(name+".yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: "+name+", namespace: retained}\nspec: "+spec+"\n")
	}
	is := func(name, want string) {
		t.Helper()
		spec := s.get("eu-1", "/apis/example.com/v1/namespaces/retained/widgets/"+name)["spec"].(map[string]any)
		if got := fmt.Sprint(spec["size"], " ", spec["token"]); got != want {
			t.Errorf("%s has %s, want %s", name, got, want)
		}
	}
	widget("theirs", "{size: 1, token: git}")
	widget("ours", "{size: 1, token: git}")
	widget("bare", "{size: 1}")
	s.publish()
	s.apply(0)
	for _, name := range []string{"theirs", "bare"} {
		a.kubectl("-n", "retained", "patch", "widget", name, "--type=merge", "--field-manager=controller", "-p", `{"spec":{"token":"issued"}}`)
	}
	widget("theirs", "{size: 2, token: other}")
	widget("ours", "{size: 2, token: other}")
	widget("bare", "{size: 2}")
	s.publish()
	wantVerbs(t, "their sizes change", s.applied(0, "eu-1"), map[string]int{"update": 3})
	is("theirs", "2 issued")
	is("ours", "2 git")
	is("bare", "2 issued")
	if d := s.applied(0, "eu-1"); len(d.Actions) != 0 {
		t.Errorf("nothing changed, and it did %v", d.verbs())
	}
	a.kubectl("-n", "retained", "patch", "widget", "theirs", "--type=merge", "--field-manager=controller", "-p", `{"spec":{"size":7,"token":"renewed"}}`)
	wantVerbs(t, "somebody changes a field of each kind", s.applied(0, "eu-1"), map[string]int{"correct": 1})
	is("theirs", "2 renewed")

	// a script that fails costs its object
	widget("theirs", "{size: 101, token: other}")
	widget("ours", "{size: 3, token: other}")
	s.publish()
	if out := s.apply(1); !strings.Contains(out, "too large") {
		t.Errorf("it does not say why:\n%s", out)
	}
	is("theirs", "2 renewed")
	is("ours", "3 git")

	// without the script Git decides
	s.remove("keeper.yaml")
	widget("theirs", "{size: 3, token: other}")
	widget("ours", "{size: 4, token: other}")
	s.publish()
	s.apply(0)
	is("theirs", "3 other")
	is("ours", "4 other")
	for _, name := range []string{"definition.yaml", "theirs.yaml", "ours.yaml", "bare.yaml"} {
		s.remove(name)
	}
	s.publish("--allow-prune")
	s.apply(0)
}
