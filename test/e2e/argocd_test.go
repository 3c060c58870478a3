//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/test/controlplane"
)

// argued is a site whose clusters Argo CD's engine syncs, by the Applications that `get argocd` prints.
type argued struct {
	*site

	program string
	clones  string // folder of clones, by cluster
}

// application is as much of an Application as Argo CD needs for a sync.
type application struct {
	Metadata struct{ Name string }
	Spec     struct {
		Source struct {
			RepoURL, TargetRevision, Path string
			Directory                     struct{ Recurse bool }
		}
		Destination struct{ Name string }
		SyncPolicy  struct {
			Automated   struct{ Prune bool }
			SyncOptions []string
		}
	}
}

// synced is what a sync did, in order.
type synced struct {
	Phase, Message, Health string

	OutOfSync, Left []string
	Results         []struct{ Resource, Status, Hook, HookPhase, Phase, Message string }
}

// TestArgoCD has Argo CD's engine bring two clusters along.
func TestArgoCD(t *testing.T) {
	t.Parallel()
	p := build(t)
	program, err := controlplane.InstallArgoCD()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	apis := map[string]*api{}
	for _, name := range []string{"eu-1", "us-1"} {
		apis[name] = startCluster(t, p, etcd, filepath.Join(dir, name), 2)
	}
	a := &argued{site: newSite(t, p.waybill, apis), program: program, clones: t.TempDir()}
	a.owns = func(cluster string, live map[string]any) bool {
		return strings.HasPrefix(text(live, "metadata", "annotations", "argocd.argoproj.io/tracking-id"), "waybill-"+cluster+":")
	}
	a.begins()
	a.changes()
	a.corrects()
	a.waits()
}

// applications are those that `get argocd` prints, as Argo CD makes them of the ApplicationSet, by their
// destinations.
func (a *argued) applications() map[string]application {
	a.t.Helper()
	status, printed := a.run("get", "argocd", "-C", a.source, "--to", a.bare, "--url", a.bare)
	var set struct {
		Spec struct {
			Generators []struct {
				List struct{ Elements []map[string]any }
			}
			Template map[string]any
		}
	}
	if err := sigsyaml.Unmarshal([]byte(printed), &set); status != 0 || err != nil || len(set.Spec.Generators) != 1 {
		a.t.Fatalf("get argocd ends with %d and prints (%v):\n%s", status, err, printed)
	}
	form, err := sigsyaml.Marshal(set.Spec.Template)
	if err != nil {
		a.t.Fatal(err)
	}
	parsed := template.Must(template.New("").Option("missingkey=error").Parse(string(form)))
	all := map[string]application{}
	for _, element := range set.Spec.Generators[0].List.Elements {
		var filled bytes.Buffer
		var app application
		err := parsed.Execute(&filled, element)
		if err == nil {
			err = sigsyaml.Unmarshal(filled.Bytes(), &app)
		}
		if err != nil {
			a.t.Fatal(err)
		}
		all[app.Spec.Destination.Name] = app
	}
	return all
}

// sync syncs a cluster by its Application, and holds that it is as its branch then.
func (a *argued) sync(cluster string) synced {
	a.t.Helper()
	app, ok := a.applications()[cluster]
	if !ok {
		a.t.Fatalf("there is no Application for %s", cluster)
	}
	source, clone := app.Spec.Source, filepath.Join(a.clones, cluster)
	a.git("", "init", "-q", clone)
	a.git(clone, "fetch", "-q", source.RepoURL, source.TargetRevision)
	a.git(clone, "checkout", "-q", "--detach", "FETCH_HEAD")
	args := []string{"-name", app.Metadata.Name, "-kubeconfig", a.apis[cluster].kubeconfig, "-path", filepath.Join(clone, source.Path), "-revision", strings.TrimSpace(a.git(clone, "rev-parse", "HEAD"))}
	for flag, is := range map[string]bool{
		"-recurse": source.Directory.Recurse, "-prune": app.Spec.SyncPolicy.Automated.Prune,
		"-server-side": slices.Contains(app.Spec.SyncPolicy.SyncOptions, "ServerSideApply=true"),
	} {
		if is {
			args = append(args, flag)
		}
	}
	cmd := exec.Command(a.program, args...)
	var said, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &log
	err := cmd.Run()
	var s synced
	if parsed := json.Unmarshal(said.Bytes(), &s); err != nil || parsed != nil {
		a.t.Fatalf("%s: %v, %v\n%s\n%.8000s", cluster, err, parsed, said.String(), log.String())
	}
	if len(s.Left) > 0 {
		a.t.Errorf("%s: after the sync these are out of sync: %v", cluster, s.Left)
	}
	a.settles(cluster)
	return s
}

// policies sends worker to a cluster, and everything else to both.
func (a *argued) policies(worker string) {
	a.t.Helper()
	a.policy("")
	a.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publish: {hooks: argocd}}\n")
	a.write("worker-policy.yaml", places("worker", "clusterAffinity: {clusterNames: ["+worker+"]}"))
}

// begins syncs all of two branches.
func (a *argued) begins() {
	a.policies("eu-1")
	a.namespace("shop", "one", 12)
	for _, name := range []string{"web", "worker"} {
		a.write(name+".yaml", strings.ReplaceAll(web("shop", name, name, ""), "name: web", "name: "+name))
	}
	a.write("definition.yaml", widgets)
	a.write("widget.yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: shop}\nspec: {size: 3}\n")
	a.publish()
	for cluster, want := range map[string]int{"eu-1": 17, "us-1": 16} {
		if s := a.sync(cluster); len(s.OutOfSync) != want || len(a.owned(cluster)) != want {
			a.t.Errorf("%s: %d objects were out of sync, and %d are there, want %d", cluster, len(s.OutOfSync), len(a.owned(cluster)), want)
		}
		if s := a.sync(cluster); len(s.OutOfSync) > 0 {
			a.t.Errorf("%s: these stay out of sync: %v", cluster, s.OutOfSync)
		}
	}
}

// changes moves a Deployment, changes a value and removes an object in one commit.
func (a *argued) changes() {
	before := a.uids()
	worker, removed := at("Deployment", "shop", "worker"), at("ConfigMap", "shop", "c0011")
	a.policies("us-1")
	a.namespace("shop", "two", 11)
	a.publish()
	for cluster, want := range map[string]int{"eu-1": 13, "us-1": 13} { // eleven values, one removal, and worker
		if s := a.sync(cluster); len(s.OutOfSync) != want {
			a.t.Errorf("%s: these were out of sync: %v", cluster, s.OutOfSync)
		}
		if a.get(cluster, removed) != nil {
			a.t.Errorf("%s still has %s", cluster, removed)
		}
		delete(before, cluster+removed)
	}
	if a.get("eu-1", worker) != nil || a.get("us-1", worker) == nil {
		a.t.Error("worker has not moved")
	}
	delete(before, "eu-1"+worker)
	now := a.uids()
	same(a.t, "a change", before, now)
	if len(now) != len(before)+1 {
		a.t.Errorf("%d objects are there, want %d", len(now), len(before)+1)
	}
}

// corrects has somebody change a cluster by hand.
func (a *argued) corrects() {
	eu := a.apis["eu-1"]
	eu.kubectl("-n", "shop", "patch", "configmap", "c0001", "-p", `{"data":{"value":"edited"}}`)
	eu.kubectl("-n", "shop", "delete", "configmap", "c0002")
	want := []string{"/ConfigMap/shop/c0001", "/ConfigMap/shop/c0002"}
	if s := a.sync("eu-1"); !slices.Equal(s.OutOfSync, want) {
		a.t.Errorf("these were out of sync: %v, want %v", s.OutOfSync, want)
	}
}

const hookedChart = `apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {helm.sh/hook: "pre-install,pre-upgrade"}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "migrate:{{ .Values.version }}"}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: announce, annotations: {helm.sh/hook: "post-install,post-upgrade"}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: announce}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: last, annotations: {argocd.argoproj.io/sync-wave: "2"}}
data: {version: {{ .Values.version | quote }}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, annotations: {argocd.argoproj.io/sync-wave: "1"}}
spec:
  replicas: 1
  selector: {matchLabels: {app: app}}
  template: {metadata: {labels: {app: app}}, spec: {containers: [{name: app, image: "app:{{ .Values.version }}"}]}}
`

// waits has a chart with hooks, and waves, in a Namespace that comes with it.
func (a *argued) waits() {
	release := func(version string) {
		a.write("release.yaml", `apiVersion: v1
kind: Namespace
metadata: {name: charted}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: charted, namespace: charted}
spec: {resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}], placement: {clusterAffinity: {clusterNames: [eu-1]}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: charted, namespace: charted}
spec:
  interval: 10m
  chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: fleet}}}
  values: {version: "`+version+`"}
`)
		a.publish()
	}
	a.write("chart/Chart.yaml", "apiVersion: v2\nname: charted\nversion: 1.0.0\n")
	a.write("chart/templates/all.yaml", hookedChart)
	jobs := map[string]string{}
	for _, version := range []string{"1", "2"} {
		release(version)
		s := a.sync("eu-1")
		var order []string
		for _, r := range s.Results {
			if _, name, _ := strings.Cut(r.Resource, "/charted/"); name != "" {
				order = append(order, r.Phase+" "+name)
			}
		}
		want := []string{"PreSync migrate", "Sync app", "Sync last", "PostSync announce"}
		if !slices.Equal(order, want) {
			a.t.Errorf("version %s: the order is %v, want %v", version, order, want)
		}
		for _, name := range []string{"migrate", "announce"} {
			job := a.get("eu-1", at("Job", "charted", name))
			uid := text(job, "metadata", "uid")
			if text(job, "status", "completionTime") == "" || uid == jobs[name] {
				a.t.Errorf("version %s: %s has not run: %v", version, name, job["status"])
			}
			jobs[name] = uid
		}
		began := []string{text(a.get("eu-1", at("Job", "charted", "migrate")), "status", "completionTime"), text(a.get("eu-1", at("Job", "charted", "announce")), "metadata", "creationTimestamp")}
		if !slices.IsSorted(began) {
			a.t.Errorf("version %s: announce began before migrate ended: %v", version, began)
		}
	}
}
