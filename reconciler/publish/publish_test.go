package publish_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

const source = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu-1}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu-2}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us-1}
spec: {syncMode: Pull}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all, namespace: shop}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: us, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  overrideRules:
  - targetCluster: {clusterNames: [us-1]}
    overriders: {labelsOverrider: [{operator: add, value: {in: us}}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
`

// A thousand clusters that hold the same make one commit, not a thousand: their repository
// would grow by each of them with every change.
func TestClustersThatHoldTheSameShareTheirCommits(t *testing.T) {
	repo := twin.New("twin")
	repo.Write("main", "a change", twin.Tree{"all.yaml": twin.File([]byte(source))}.Folder())
	r := &reconciler.Reconciler{
		Seen:   reconciler.NewCache(),
		Source: repo, Target: repo, Now: func() time.Time { return time.Unix(0, 0) },
	}
	if _, err := r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	heads, err := repo.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	named := map[string][]string{}
	for _, cluster := range []string{"eu-1", "eu-2", "us-1"} {
		h, _, err := repo.Branch(t.Context(), "waybill/cluster/"+cluster)
		if err != nil {
			t.Fatal(err)
		}
		named[cluster] = sources.Trailers(h.Message, publish.TrailerCluster)
	}
	want := map[string][]string{"eu-1": {"eu-1", "eu-2"}, "eu-2": {"eu-1", "eu-2"}, "us-1": {"us-1"}}
	if d := cmp.Diff(want, named); d != "" {
		t.Error(d)
	}
	if heads["waybill/cluster/eu-1"] != heads["waybill/cluster/eu-2"] {
		t.Error("eu-1 and eu-2 have commits of their own")
	}
}

const divided = `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: divided, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement:
    replicaScheduling:
      replicaSchedulingType: Divided
      replicaDivisionPreference: Weighted
      weightPreference: {staticWeightList: [{targetCluster: {clusterNames: [eu-1]}, weight: %d}, {targetCluster: {clusterNames: [us-1]}, weight: %d}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 4, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "web:1"}]}}}
`

// A cluster gives up not even one replica before another one has it: where the server does not take the branch that gains it, the
// one that loses it stays, too.
func TestAReplicaIsTakenAfterItIsGiven(t *testing.T) {
	repo := twin.New("twin")
	r := &reconciler.Reconciler{
		Seen:   reconciler.NewCache(),
		Source: repo, Target: repo, Now: func() time.Time { return time.Unix(0, 0) },
	}
	weigh := func(eu, us int) {
		repo.Write("main", "a change", twin.Tree{"all.yaml": twin.File([]byte(source + "---\n" + fmt.Sprintf(divided, eu, us)))}.Folder())
	}
	heads := func() map[string]files.ID {
		all, err := repo.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	weigh(3, 1)
	if _, err := r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	before := heads()
	weigh(2, 2)
	repo.Refuse("waybill/cluster/us-1")
	if _, err := r.Publish(t.Context(), "main"); err == nil {
		t.Fatal("what the server refuses is published")
	}
	if heads()["waybill/cluster/eu-1"] != before["waybill/cluster/eu-1"] {
		t.Error("eu-1 gave a replica up that us-1 did not get")
	}
	repo.Refuse()
	if _, err := r.Publish(t.Context(), "main"); err != nil || heads()["waybill/cluster/eu-1"] == before["waybill/cluster/eu-1"] {
		t.Errorf("the server takes it, and eu-1 stays: %v", err)
	}
}

// TestWhoseRemovalsWereAllowed: of the clusters that change with one that was held its own branch alone says so, for an agent goes by
// that. The state says that there was any.
func TestWhoseRemovalsWereAllowed(t *testing.T) {
	const claim = `---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: claims, namespace: shop}
spec: {resourceSelectors: [{apiVersion: v1, kind: PersistentVolumeClaim}], placement: {clusterAffinity: {clusterNames: [eu-1]}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`
	repo := twin.New("twin")
	publishes := func(message, text string) string {
		t.Helper()
		repo.Write("main", message, twin.Tree{"all.yaml": twin.File([]byte(text))}.Folder())
		r := &reconciler.Reconciler{
			Seen:   reconciler.NewCache(),
			Source: repo, Target: repo, Now: func() time.Time { return time.Unix(0, 0) },
		}
		res, err := r.Publish(t.Context(), "main")
		if err != nil {
			t.Fatal(err)
		}
		return res.Plan.Removals
	}
	publishes("all", source+claim)
	digest := publishes("it goes", source)
	if digest == "" {
		t.Fatal("the claim goes unasked")
	}
	publishes("it may\n\nWaybill-Allow-Prune: "+digest, strings.Replace(source, "in: us}", "in: usa}", 1)) // which us-1 alone gets
	for branch, want := range map[string][2][]string{
		"waybill/cluster/eu-1": {nil, {"eu-1"}}, "waybill/cluster/eu-2": {}, "waybill/cluster/us-1": {}, state.Branch: {{"of held clusters"}, nil},
	} {
		h, _, err := repo.Branch(t.Context(), branch)
		if err != nil {
			t.Fatal(err)
		}
		got := [2][]string{sources.Trailers(h.Message, publish.TrailerReleased), sources.Trailers(h.Message, publish.TrailerReleasedIn)}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s\n%s", branch, d, h.Message)
		}
	}
}

// What another source recorded is not gone by, and nothing is published over it.
func TestAStateOfAnotherSourceIsRefused(t *testing.T) {
	repo, target := twin.New("https://git.example.com/fleet"), twin.New("https://git.example.com/branches")
	first := repo.Write("main", "a change", twin.Tree{"all.yaml": twin.File([]byte(source))}.Folder())
	r := &reconciler.Reconciler{
		Seen:   reconciler.NewCache(),
		Source: repo, Target: target, Now: func() time.Time { return time.Unix(0, 0) },
	}
	if _, err := r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	h, _, err := target.Branch(t.Context(), state.Branch)
	if err != nil {
		t.Fatal(err)
	}
	message := strings.Replace(h.Message, publish.TrailerRepository+": https://git.example.com/fleet", publish.TrailerRepository+": https://git.example.com/other", 1)
	message = strings.Replace(message, first.String(), strings.Repeat("0", 40), 1)
	if message == h.Message {
		t.Fatalf("its message is\n%s", message)
	}
	theirs := target.Write(state.Branch, message, h.Tree)
	repo.Write("main", "another change", twin.Tree{"all.yaml": twin.File([]byte(source + "data: {k: v}\n"))}.Folder())
	if _, err := r.Publish(t.Context(), "main"); err == nil || !strings.Contains(err.Error(), "git.example.com/other") {
		t.Errorf("it says %v", err)
	}
	if heads, err := target.Heads(t.Context()); err != nil || heads[state.Branch] != theirs {
		t.Errorf("what they recorded was written over: %v", err)
	}
}
