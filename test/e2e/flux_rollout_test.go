//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/test/controlplane"
	"github.com/waybill-dev/waybill/test/forges/hub"
)

// posted is a fleet at a Gitea, whose changes go out by what Flux and Argo CD say of commits: canary and prod are synced by Flux,
// early by Argo CD's engine. The site's bare repository is a copy of Gitea's.
type posted struct {
	*argued

	hub   *hub.Hub
	began time.Time
}

// Who sets the statuses of Flux, who those of Argo CD, and who reads branches for Flux.
const (
	fluxBot, argoBot = "wendy", "ann"
	fluxReader       = "rob"
)

// TestFluxStopsARollout has an image that is good go through three clusters, and one that no node can pull stop at the first, where a
// revert brings the good one back. What tells Waybill of it is commit statuses and nothing else: those of Flux are set by its
// notification-controller.
func TestFluxStopsARollout(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds another controller of Flux, and waits for ten minutes")
	}
	t.Parallel()
	f := newPosted(t)
	f.push("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec:\n  rollout:\n    default: careful\n    commitStatus: {creators: ["+fluxBot+", "+argoBot+"]}\n")
	f.until("Done")
	f.passes("web:2")
	f.stops()
	f.returns("web:2")
}

// newPosted starts the fleet, publishes its first commit, and has both take over.
func newPosted(t *testing.T) *posted {
	t.Helper()
	p := build(t)
	program, err := controlplane.InstallArgoCD()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	etcd, apis := startEtcd(t, p, dir), map[string]*api{}
	for _, name := range []string{"canary", "early", "prod"} {
		apis[name] = startCluster(t, p, etcd, filepath.Join(dir, name), 1)
		if name != "early" {
			startControllers(t, apis[name], controlplane.NotificationController, controlplane.SourceController, controlplane.KustomizeController)
		}
	}
	f := &posted{argued: &argued{site: newSite(t, p.waybill, apis), program: program, clones: t.TempDir()}, hub: hub.Start(t), began: time.Now()}
	f.owns = func(cluster string, live map[string]any) bool {
		return strings.HasPrefix(text(live, "metadata", "annotations", "argocd.argoproj.io/tracking-id"), "waybill-"+cluster+":")
	}
	f.hub.Repository(t, "fleet")
	f.git(f.source, "remote", "add", "origin", f.hub.Clone(f.hub.People["ann"], "waybill/fleet"))
	f.git(f.source, "pull", "-q", "origin", "main")
	f.git(f.bare, "remote", "add", "--mirror=fetch", "origin", f.hub.Clone(f.hub.People["ann"], "waybill/fleet"))
	for name := range apis {
		f.write("clusters/"+name+".yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: "+name+", labels: {ring: "+name+"}}\nspec: {syncMode: Pull}\n")
	}
	f.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\n")
	f.write("policy.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: web, namespace: team}\n"+
		"spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}], placement: {}}\n")
	f.write("careful.yaml", `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata: {name: careful, annotations: {waybill.dev/settle: 10s}}
spec:
  stages:
  - {name: canary, labelSelector: {matchLabels: {ring: canary}}}
  - {name: early, labelSelector: {matchLabels: {ring: early}}}
  - {name: prod, labelSelector: {matchLabels: {ring: prod}}}
`)
	f.push("web.yaml", runs("web:1"))
	f.hub.Hook(t, f.hub.Controls(t, "--commit-status-evidence"))
	eventually(t, "the clusters are published", func() (bool, string) {
		heads := f.heads()
		return heads["canary"] != "" && heads["early"] != "" && heads["prod"] != "", ""
	})
	f.git(f.bare, "fetch", "-q", "origin")
	for _, cluster := range []string{"canary", "prod"} {
		f.handsOver(cluster)
	}
	f.argues("early")
	for cluster, head := range f.heads() {
		f.says(cluster, head, forge.Success)
	}
	return f
}

// runs is a Deployment, in a Namespace of its own.
func runs(image string) string {
	return `apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "` + image + `"}]}
`
}

// push writes a file, and pushes what is written.
func (f *posted) push(name, content string) {
	f.t.Helper()
	f.write(name, content)
	f.commit()
	f.git(f.source, "push", "-q", "origin", "HEAD:main")
}

// heads are those of the branches of clusters, as Gitea has them.
func (f *posted) heads() map[string]string {
	f.t.Helper()
	heads := map[string]string{}
	for line := range strings.Lines(f.git(f.source, "ls-remote", "origin", "refs/heads/waybill/cluster/*")) {
		commit, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		heads[strings.TrimPrefix(ref, "refs/heads/waybill/cluster/")] = commit
	}
	return heads
}

// handsOver has Flux sync a cluster by what `get flux` prints. It looks more often than that says, and waits less long.
func (f *posted) handsOver(cluster string) {
	f.t.Helper()
	a := f.apis[cluster]
	reader, bot := f.hub.People[fluxReader], f.hub.People[fluxBot]
	a.kubectl("-n", "flux-system", "create", "secret", "generic", "fleet", "--from-literal=username="+reader.Login, "--from-literal=password="+reader.Token)
	a.kubectl("-n", "flux-system", "create", "secret", "generic", "waybill-status", "--from-literal=token="+bot.Token)
	status, printed := f.run("get", "flux", "-C", f.source, "--to", f.bare, "--url", f.hub.URL+"/waybill/fleet.git", "--secret-ref", "fleet", "--rollout", "--forge", "gitea", "--cluster", cluster)
	for was, is := range map[string]string{"interval: 1m": "interval: 2s", "timeout: 5m": "timeout: 1m"} {
		if status != 0 || strings.Count(printed, was) != 1 {
			f.t.Fatalf("get flux ends with %d, and prints %q not once:\n%s", status, was, printed)
		}
		printed = strings.Replace(printed, was, is, 1)
	}
	a.apply(printed)
}

// argues syncs a cluster by Argo CD's engine until it is healthy, and then says so as the triggers of docs/rollouts-evidence.md
// have Argo CD's notifications say it.
func (f *posted) argues(cluster string) {
	f.t.Helper()
	f.git(f.bare, "fetch", "-q", "origin")
	eventually(f.t, "Argo CD finds "+cluster+" healthy", func() (bool, string) {
		s := f.sync(cluster)
		return s.Phase == "Succeeded" && len(s.Left) == 0 && s.Health == "Healthy", s.Health + " " + s.Message
	})
	app, commit := f.applications()[cluster], strings.TrimSpace(f.git(filepath.Join(f.clones, cluster), "rev-parse", "HEAD"))
	f.hub.Do(f.t, argoBot, http.MethodPost, "/repos/waybill/fleet/statuses/"+commit, hub.Fields{
		"state": "success", "context": "waybill/argocd/" + app.Spec.Destination.Name + "/" + app.Metadata.Name, "description": "healthy",
	}, nil)
}

// said is a status that Gitea shows at a commit.
type said struct {
	Context, Status, Description string
	Creator                      struct{ Login string }
}

// statuses are all that were set at a commit, from the last.
func (f *posted) statuses(commit string) (all []said) {
	f.t.Helper()
	f.hub.Do(f.t, "waybill", http.MethodGet, "/repos/waybill/fleet/commits/"+commit+"/statuses?sort=leastindex", nil, &all)
	return all
}

// says waits until the last that who syncs a cluster said of a commit is a state. Clusters that hold the same share their commits,
// and each has a context of its own.
func (f *posted) says(cluster, commit string, state forge.State) {
	f.t.Helper()
	about, creator := "waybill/flux/"+cluster+"/waybill-"+cluster, fluxBot
	if cluster == "early" {
		about, creator = "waybill/argocd/early/waybill-early", argoBot
	}
	eventually(f.t, about+" is "+string(state), func() (bool, string) {
		all := f.statuses(commit)
		i := slices.IndexFunc(all, func(s said) bool { return s.Context == about })
		return i >= 0 && all[i].Status == string(state) && all[i].Creator.Login == creator, fmt.Sprint(all)
	})
	f.t.Logf("after %s: %s at %.12s is %s", time.Since(f.began).Round(time.Second), about, commit, state)
}

// once holds that Flux said of a commit what it said, and nothing else, and said it once though it looked again.
func (f *posted) once(cluster, commit, want string) {
	f.t.Helper()
	var got []string
	for _, s := range f.statuses(commit) {
		if s.Context == "waybill/flux/"+cluster+"/waybill-"+cluster {
			got = append(got, s.Status+": "+s.Description)
		}
	}
	if len(got) != 1 || got[0] != want {
		f.t.Errorf("of %s at %s it is said %q, want %q", cluster, commit, got, want)
	}
}

// looks has Flux look at a cluster once more.
func (f *posted) looks(cluster string) {
	f.t.Helper()
	asked := time.Now().Format(time.RFC3339Nano)
	a, name := f.apis[cluster], "kustomization/waybill-"+cluster
	a.kubectl("-n", "flux-system", "annotate", "--overwrite", name, "reconcile.fluxcd.io/requestedAt="+asked)
	eventually(f.t, "Flux has looked at "+cluster+" again", func() (bool, string) {
		got := a.kubectl("-n", "flux-system", "get", name, "-o", "jsonpath={.status.lastHandledReconcileAt}")
		return got == asked, got
	})
}

// until waits until the run is in a phase.
func (f *posted) until(phase string) {
	f.t.Helper()
	eventually(f.t, "the run is "+phase, func() (bool, string) {
		s := runOf(f.t, f.hub).Status
		return s.Phase == phase, s.Phase + " " + s.Reason
	})
	f.t.Logf("after %s: the run is %s", time.Since(f.began).Round(time.Second), phase)
}

// passes changes the image to one that is good. Each cluster gets it when the one before has said that it is well.
func (f *posted) passes(image string) {
	before := f.heads()
	f.push("web.yaml", runs(image))
	for i, cluster := range []string{"canary", "early", "prod"} {
		var heads map[string]string
		eventually(f.t, cluster+" gets "+image, func() (bool, string) {
			heads = f.heads()
			return heads[cluster] != before[cluster], ""
		})
		for j, other := range []string{"canary", "early", "prod"} {
			if moved := heads[other] != before[other]; moved != (j <= i) {
				f.t.Errorf("when %s has it the branch of %s has moved: %v", cluster, other, moved)
			}
		}
		if cluster == "early" {
			f.argues(cluster)
		}
		f.says(cluster, heads[cluster], forge.Success)
	}
	f.until("Done")
	f.have(image, image, image)
	f.looks("canary")
}

// stops changes the image to one that no node can pull.
func (f *posted) stops() {
	before := f.heads()
	f.push("web.yaml", runs(controlplane.BrokenImage))
	f.until("Stopped")
	heads := f.heads()
	if heads["canary"] == before["canary"] || heads["early"] != before["early"] || heads["prod"] != before["prod"] {
		f.t.Errorf("the branches were at %v, and are at %v", before, heads)
	}
	f.says("canary", heads["canary"], forge.Failure)
	f.once("canary", before["canary"], "success: reconciliation succeeded")
	f.once("canary", heads["canary"], "failure: health check failed")
	f.have(controlplane.BrokenImage, "web:2", "web:2")
	if why := f.apis["canary"].kubectl("-n", "team", "get", "pods", "-o", "jsonpath={.items[*].status.containerStatuses[*].state.waiting.reason}"); why != "ImagePullBackOff" {
		f.t.Errorf("the pods of canary wait for %q", why)
	}
	if r := runOf(f.t, f.hub).Status; r.Reason != "TooManyFailed" {
		f.t.Errorf("it stopped for %+v", r)
	}
	f.git(f.bare, "fetch", "-q", "origin")
	record := f.git(f.bare, "show", "waybill/state:rollouts/team/web/canary.yaml")
	if want := "waybill/flux/canary/waybill-canary failure by " + fluxBot + " at " + heads["canary"][:12]; !strings.Contains(record, want) {
		f.t.Errorf("the record does not say %q:\n%s", want, record)
	}
}

// returns takes the image back. Canary gets it at once, and the others have it.
func (f *posted) returns(image string) {
	before := f.heads()
	f.push("web.yaml", runs(image))
	f.until("Done")
	heads := f.heads()
	if heads["early"] != before["early"] || heads["prod"] != before["prod"] {
		f.t.Errorf("the branches were at %v, and are at %v", before, heads)
	}
	f.says("canary", heads["canary"], forge.Success)
	f.have(image, image, image)
}

// have holds which images run in canary, early and prod.
func (f *posted) have(images ...string) {
	f.t.Helper()
	for i, cluster := range []string{"canary", "early", "prod"} {
		if got := f.apis[cluster].kubectl("-n", "team", "get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image}"); got != images[i] {
			f.t.Errorf("%s has %s, want %s", cluster, got, images[i])
		}
	}
}
