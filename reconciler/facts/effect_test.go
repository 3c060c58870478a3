package facts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/test/twin"
)

const fleet = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Push}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us}
spec: {syncMode: Push}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all, namespace: shop}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {in: all}}}], placement: {}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: eu, namespace: shop}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {in: eu}}}], placement: {clusterAffinity: {clusterNames: [eu]}}}
`

// What a publication did is told of that one alone, whatever came before it and after it: which clusters it changed, in which manifests,
// and about which templates something else was decided.
func TestWhatAPublicationDid(t *testing.T) {
	repo := twin.New("fleet")
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: repo, Target: repo, Version: "test", Now: func() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) }}
	publish := func(values map[string]string) { // of ConfigMaps, by name; those of eu begin with e
		t.Helper()
		source := twin.Tree{"fleet.yaml": twin.File([]byte(fleet))}
		for name, value := range values {
			in := map[bool]string{true: "eu", false: "all"}[name[0] == 'e']
			source[name+".yaml"] = twin.File(fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: shop, labels: {in: %s}}\ndata: {k: %s}\n", name, in, value))
		}
		repo.Write("main", fmt.Sprint(values), source.Folder())
		if _, err := r.Publish(t.Context(), "main"); err != nil {
			t.Fatal(err)
		}
	}
	reader := &facts.Reader{Reconciler: r, Rev: "main"}
	publish(map[string]string{"a": "1", "b": "1", "eu": "1"})
	publish(map[string]string{"a": "2", "b": "1", "eu": "1"})
	publish(map[string]string{"a": "2", "eu": "2", "e2": "1"})
	publish(map[string]string{"a": "2", "eu": "2", "e2": "1", "c": "1"})
	f, err := reader.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := reader.Changes(t.Context(), f, 10)
	if err != nil || len(all) != 4 {
		t.Fatalf("the publications are %+v, %v", all, err)
	}
	for i, want := range []string{ // the newest first
		"eu+1~0-0 us+1~0-0; added c in eu us; c",
		"eu+1~1-1 us+0~0-1; removed b in eu us, added e2 in eu, changed eu in eu; b e2",
		"eu+0~1-0 us+0~1-0; changed a in eu us; ",
		"eu+3~0-0 us+2~0-0; added a in eu us, added b in eu us, added eu in eu; a b eu",
	} {
		e, err := reader.Effect(t.Context(), f, all[i], "")
		if err != nil {
			t.Fatal(err)
		}
		if got := said(&e); got != want || e.Cut {
			t.Errorf("publication %d: %s\nwant %s", len(all)-i, got, want)
		}
		within, err := reader.Effect(t.Context(), f, all[i], "us")
		if err != nil || len(within.Clusters) > 1 || len(within.Decisions) > 0 || len(within.Clusters) == 1 && within.Clusters[0].Cluster != "us" {
			t.Errorf("publication %d in us: %s, %v", len(all)-i, said(&within), err)
		}
	}
}

// Of two publications of one source commit each did its own: what the first one held, the second one took.
func TestWhatASecondPublicationOfACommitDid(t *testing.T) {
	repo := twin.New("fleet")
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: repo, Target: repo, Version: "test", Now: func() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) }}
	publish := func() {
		t.Helper()
		if _, err := r.Publish(t.Context(), "main"); err != nil {
			t.Fatal(err)
		}
	}
	source := twin.Tree{"fleet.yaml": twin.File([]byte(fleet)), "a.yaml": twin.File([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop, labels: {in: all}}\n"))}
	repo.Write("main", "first", source.Folder())
	publish()
	source.Remove("a.yaml")
	repo.Write("main", "second", source.Folder())
	publish()
	r.Allow = guard.OfCluster("us")
	publish()
	reader := &facts.Reader{Reconciler: r, Rev: "main"}
	f, err := reader.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := reader.Changes(t.Context(), f, 10)
	if err != nil || len(all) != 3 || all[0].Source != all[1].Source {
		t.Fatalf("the publications are %+v, %v", all, err)
	}
	for i, want := range []string{"us+0~0-1; removed a in us; ", "; ; "} { // the newest first
		e, err := reader.Effect(t.Context(), f, all[i], "")
		if got := said(&e); err != nil || got != want {
			t.Errorf("publication %d: %q, %v; want %q", len(all)-i, got, err, want)
		}
	}
}

// said is what a publication did, in short.
func said(e *facts.Effect) string {
	var clusters, objects, decisions []string
	for _, c := range e.Clusters {
		clusters = append(clusters, fmt.Sprintf("%s+%d~%d-%d", c.Cluster, c.Added, c.Changed, c.Removed))
	}
	for i := range e.Objects {
		o := &e.Objects[i]
		objects = append(objects, o.Verb+" "+o.Ref.Name+" in "+strings.Join(o.Clusters, " "))
	}
	for _, d := range e.Decisions {
		if (d.Was == nil) != (d.Is == nil) {
			decisions = append(decisions, d.Ref.Name)
		}
	}
	return strings.Join(clusters, " ") + "; " + strings.Join(objects, ", ") + "; " + strings.Join(decisions, " ")
}
