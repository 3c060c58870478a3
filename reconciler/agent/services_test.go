package agent

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/test/apiserver"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestServicesOfAClusterThatIsNoLongerServed count no more, and those of one that is served go on to; one
// of which nothing is published is waited for, and one that cannot be asked to whom it belongs is an error.
func TestServicesOfAClusterThatIsNoLongerServed(t *testing.T) {
	repo := twin.New("branches")
	publish := func(mode string, more ...string) {
		t.Helper()
		text := "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: " + mode + "}\n" + strings.Join(more, "")
		repo.Write("main", "next", twin.Tree{"eu.yaml": twin.File([]byte(text))}.Folder())
		r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: repo, Target: repo, Now: func() time.Time { return morning }}
		if _, err := r.Publish(t.Context(), "main"); err != nil {
			t.Fatal(err)
		}
	}
	const settings = `---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: shop}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {}}
`
	a, _ := logged("eu")
	a.Applier = applier.Applier{
		Published: &published.Reader{Branches: published.At(repo)}, Now: func() time.Time { return morning }, Access: clusters.Access{Folder: t.TempDir()},
	}
	stopped := 0
	s := &servicesOnly{Agent: a, exchange: a.exchange(), chosen: make(chan []string, 1), told: map[string]*counts{}}
	publish("Pull")
	if err := s.look(t.Context()); err != nil || len(s.told) > 0 {
		t.Errorf("a cluster without a branch: %v; told is of %d", err, len(s.told))
	}
	publish("Pull", settings)
	if err := s.look(t.Context()); err == nil || !strings.Contains(err.Error(), "eu") || len(s.told) > 0 {
		t.Errorf("a cluster without a kubeconfig: %v; told is of %d", err, len(s.told))
	}
	a.Applier.Access.Folder = apiserver.New(t, "shop").Kubeconfigs(t, "eu")
	for range 2 {
		if err := s.look(t.Context()); err != nil || s.told["eu"] == nil {
			t.Fatalf("a cluster that is served: %v", err)
		}
		if head, err := repo.Resolve(t.Context(), "waybill/cluster/eu"); err != nil || s.told["eu"].commit != head {
			t.Errorf("what counts is of %s, want %s: %v", s.told["eu"].commit, head, err)
		}
		of := s.told["eu"].stop
		s.told["eu"].stop = func() { stopped++; of() }
		if stopped > 0 {
			t.Error("it is stopped while it is served")
		}
	}
	s.told["eu"] = &counts{stop: func() { stopped++ }}
	publish("Push", settings)
	for range 2 {
		if err := s.look(t.Context()); err != nil || stopped != 1 || len(s.told) > 0 {
			t.Errorf("it is stopped %d times, and told is of %d: %v", stopped, len(s.told), err)
		}
	}
	a.Applier.Published = &published.Reader{Branches: published.At(twin.FailingAt(1, repo))}
	if err := s.look(t.Context()); !errors.Is(err, twin.ErrDown) {
		t.Errorf("a repository that does not answer: %v", err)
	}
}
