package bench

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// BenchmarkStatus reads how 1,000 clusters of 1,000 objects each are, from a repository on
// disk, as waybill status does.
func BenchmarkStatus(b *testing.B) {
	const clusters, objects = 1000, 1000
	dir := told(b, clusters, objects)
	b.ResetTimer()
	for b.Loop() {
		repo := opened(b, dir)
		r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: repo, Target: repo, Now: time.Now}
		s, err := repo.Snapshot(b.Context(), "main", "")
		if err != nil {
			b.Fatal(err)
		}
		fleet, err := r.Reports().Fleet(b.Context(), s, reports.Query{Lasting: reports.Lasting})
		if err != nil {
			b.Fatal(err)
		}
		var out bytes.Buffer
		if err := report.Fleet(&fleet, r.Now()).Write(&out, report.Table); err != nil {
			b.Fatal(err)
		}
		if n := strings.Count(out.String(), " Healthy "); n != clusters {
			b.Fatalf("%d clusters are healthy, want %d", n, clusters)
		}
	}
}

func opened(b *testing.B, dir string) *git.Repo {
	b.Helper()
	repo, err := git.Open(b.Context(), git.Options{Location: dir})
	if err != nil {
		b.Fatal(err)
	}
	return repo
}

// told publishes a source with one object to clusters, and has each say that as many as are
// wanted are applied and healthy.
func told(b *testing.B, clusters, objects int) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "repo.git")
	if out, err := exec.CommandContext(b.Context(), "git", "init", "-q", "--bare", "-b", "main", dir).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	repo := opened(b, dir)
	source := twin.Tree{"app.yaml": twin.File([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: shop}\n---\n" +
		"apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: shop}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {}}\n"))}
	for i := range clusters {
		source[fmt.Sprintf("c%04d.yaml", i)] = twin.File(fmt.Appendf(nil, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: c%04d}\nspec: {syncMode: Push}\n", i))
	}
	write(b, repo, git.Update{Branch: "main", Tree: source.Folder(), Message: "first\n", When: time.Now(), Author: git.Author{Name: "a", Email: "a@example.com"}})
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: repo, Target: repo, Now: time.Now}
	if _, err := r.Publish(b.Context(), "main"); err != nil {
		b.Fatal(err)
	}
	heads, err := repo.Heads(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var updates []git.Update
	for i := range clusters {
		name := fmt.Sprintf("c%04d", i)
		l := status.NewLedger(name)
		round := wellRound(objects)
		round.Branch, round.Commit, round.Source = "waybill/cluster/"+name, heads["waybill/cluster/"+name], heads["main"].String()
		l.Ended(round, time.Now())
		updates = append(updates, status.Past{}.Next(name, l.Layout(), time.Now()))
	}
	write(b, repo, updates...)
	return dir
}

func write(b *testing.B, repo *git.Repo, updates ...git.Update) {
	b.Helper()
	if _, err := repo.Publish(context.WithoutCancel(b.Context()), updates); err != nil {
		b.Fatal(err)
	}
}

// wellRound is a round in which nothing had to be done about ConfigMaps and Deployments of ten
// namespaces.
func wellRound(objects int) *status.Round {
	r := &status.Round{
		Report: apply.Report{Inventory: inventory.Inventory{Entries: map[object.Ref]inventory.Entry{}}}, Health: map[object.Ref]health.Health{},
		Resources: map[schema.GroupKind]string{{Group: "apps", Kind: "Deployment"}: "deployments", {Kind: "ConfigMap"}: "configmaps"},
	}
	for i := range objects {
		ref := object.Ref{Kind: "ConfigMap", Namespace: fmt.Sprint("ns", i%10), Name: fmt.Sprintf("o%04d", i)}
		o := apply.Object{Ref: ref, APIVersion: "v1"}
		if i%3 == 0 {
			o.Ref.Group, o.Ref.Kind, o.APIVersion = "apps", "Deployment", "apps/v1"
			r.Health[o.Ref] = health.Health{
				State: karmada.ResourceHealthy, Generation: 3, Observed: 3,
				Status: []byte(`{"availableReplicas":3,"generation":3,"observedGeneration":3,"readyReplicas":3,"replicas":3,"updatedReplicas":3}`),
			}
		}
		r.Objects = append(r.Objects, o)
		r.Report.Inventory.Entries[o.Ref] = inventory.Entry{}
	}
	return r
}

// BenchmarkStatusLayout lays out what a cluster with 1,000 objects says after one changed.
func BenchmarkStatusLayout(b *testing.B) {
	l := status.NewLedger("eu-1")
	l.Ended(wellRound(1000), time.Now())
	l.Layout()
	ref := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "ns3", Name: "o0003"}
	states := []karmada.ResourceHealth{karmada.ResourceHealthy, karmada.ResourceUnhealthy}
	for n := 0; b.Loop(); n++ {
		l.Saw(ref, health.Health{State: states[n%2]}, time.Now())
		l.Layout()
		l.Wrote(time.Now())
	}
}
