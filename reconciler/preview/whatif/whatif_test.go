package whatif_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/preview/whatif"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

const fleet = `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu, labels: {tier: gold}}
spec: {syncMode: Pull, taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoExecute}]}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us}
spec: {syncMode: Pull}
status: {resourceSummary: {allocatable: {cpu: "4", pods: "10"}, allocatableModelings: [{grade: 1, count: 2}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: eu, namespace: a}
`

// parsed is what parse makes of one of its flags: "label eu=a=b".
func parsed(t *testing.T, flags ...string) (s whatif.Suppositions, err error) {
	t.Helper()
	for _, f := range flags {
		flag, text, _ := strings.Cut(f, " ")
		switch flag {
		case "without":
			s.Without = append(s.Without, text)
		case "with":
			s.With, err = whatif.ParseClusters("new.yaml", []byte("apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: "+text+"}\nspec: {syncMode: Pull}\n"))
		case "label":
			var l whatif.Label
			l, err = whatif.ParseLabel(text)
			s.Labels = append(s.Labels, l)
		case "taint":
			var l whatif.Taint
			l, err = whatif.ParseTaint(text)
			s.Taints = append(s.Taints, l)
		case "capacity":
			var l whatif.Capacity
			l, err = whatif.ParseCapacity(text)
			s.Capacity = append(s.Capacity, l)
		case "at":
			s.At, err = whatif.ParseTime(text)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

func TestSuppositions(t *testing.T) {
	for _, tt := range []struct {
		flags      string // by semicolons
		says, want string // part of what the sources then holds, or of the error
	}{
		{"without eu", "without cluster eu", "!name: eu\n"},
		{"with ap", "with cluster ap", "name: ap\n"},
		{"with ap; label ap=a=b", "with cluster ap; cluster ap has the label a=b", "labels:\n    a: b\n  name: ap\n"},
		{"with eu", "", "error: cluster eu is registered already, in all.yaml:2"},
		{"without ue", "", "error: the source has no cluster ue; it has us, eu"},
		{"label eu=tier-", "cluster eu has no label tier", "!tier"},
		{"label eu=tier=", "cluster eu has the label tier=", "tier: ''"},
		{"label eu=tier", "", "error: is no label"},
		{"taint us=k=v:NoExecute", "cluster us has the taint k=v:NoExecute", "taints:\n  - effect: NoExecute\n    key: k\n    value: v\n"},
		{"taint eu=a:NoSchedule-", "cluster eu has no taint a:NoSchedule", "taints:\n  - effect: NoExecute\n    key: a\n"},
		{"taint eu=a-", "cluster eu has no taint a", "taints: []"},
		{"taint eu=a:Never", "", "error: is no taint"},
		{"capacity us=cpu=8", "cluster us has cpu=8", "allocatable:\n      cpu: '8'\n      pods: '10'\n"},
		{"capacity us=cpu=8", "cluster us has cpu=8", "!allocatableModelings"},
		{"capacity eu=cpu=8,memory=1Gi", "cluster eu has cpu=8,memory=1Gi", "allocatable:\n      cpu: '8'\n      memory: 1Gi\n      pods: '3'\n    allocated:\n      cpu: '1'\n"},
		{"capacity eu=cpu", "", "error: is no capacity"},
		{"at 2026-12-24", "it is 2026-12-24T00:00:00Z", ""},
		{"at noon", "", "error: is no time"},
		{"at 2026-12-24T18:00:00+01:00", "it is 2026-12-24T17:00:00Z", ""},
		{"label =a=b", "", "error: is no label"},
		{"label eu==b", "", "error: is no label"},
		{"label eu=a=b-", "cluster eu has the label a=b-", "a: b-\n"},
		{"label ue=a=b", "", "error: the source has no cluster ue"},
		{"label eu=a=b; label eu=a-", "cluster eu has the label a=b; cluster eu has no label a", "!a: b"},
		{"taint =a:NoSchedule", "", "error: is no taint"},
		{"taint eu=:NoSchedule", "", "error: is no taint"},
		{"taint eu=a", "", "error: is no taint"},
		{"taint eu=a:Never-", "", "error: is no taint"},
		{"taint ue=a:NoSchedule", "", "error: the source has no cluster ue"},
		{"taint eu=a:PreferNoSchedule", "cluster eu has the taint a:PreferNoSchedule", "taints:\n  - effect: NoSchedule\n    key: a\n  - effect: NoExecute\n    key: a\n  - effect: PreferNoSchedule\n    key: a\n"},
		{"taint eu=a=v:NoSchedule", "cluster eu has the taint a=v:NoSchedule", "taints:\n  - effect: NoExecute\n    key: a\n  - effect: NoSchedule\n    key: a\n    value: v\n"},
		{"taint eu=b-", "cluster eu has no taint b", "taints:\n  - effect: NoSchedule\n    key: a\n  - effect: NoExecute\n    key: a\n"},
		{"capacity =cpu=1", "", "error: is no capacity"},
		{"capacity eu==1", "", "error: is no capacity"},
		{"capacity eu=cpu=many", "", "error: is no capacity"},
		{"capacity eu=cpu=1,", "", "error: is no capacity"},
		{"capacity ue=cpu=1", "", "error: the source has no cluster ue"},
		{"with ap; capacity ap=cpu=8", "with cluster ap; cluster ap has cpu=8", "status:\n  resourceSummary:\n    allocatable:\n      cpu: '8'\n"},
		{"without eu; without us; without eu", "", "error: the source has no cluster eu, and no other"},
	} {
		t.Run(tt.flags, func(t *testing.T) {
			src := render.Source{Objects: object.Decode("all.yaml", []byte(fleet)).Objects}
			before := texts(src)
			observed := map[string]*karmada.ClusterStatus{"eu": seen(t)}
			given := src
			s, err := parsed(t, strings.Split(tt.flags, "; ")...)
			if err == nil {
				src, err = s.Apply(given, observed)
			}
			if texts(given) != before || len(given.Objects) != 3 {
				t.Error("the source was changed in place")
			}
			if want, ok := strings.CutPrefix(tt.want, "error: "); ok {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(s.Say(), "; "); got != tt.says || s.None() {
				t.Errorf("it says %q", got)
			}
			want, gone := strings.CutPrefix(tt.want, "!")
			if strings.Contains(texts(src), want) == gone {
				t.Errorf("the clusters are:\n%s", texts(src))
			}
		})
	}
}

// texts are the clusters of a source.
func texts(src render.Source) string {
	var b strings.Builder
	for _, o := range src.Objects {
		if o.Ref().Kind == "Cluster" {
			b.Write(o.YAML())
		}
	}
	return b.String()
}

// seen is what was observed of eu.
func seen(t *testing.T) *karmada.ClusterStatus {
	t.Helper()
	has, err := whatif.ParseCapacity("eu=cpu=2,pods=3")
	if err != nil {
		t.Fatal(err)
	}
	used, err := whatif.ParseCapacity("eu=cpu=1")
	if err != nil {
		t.Fatal(err)
	}
	return &karmada.ClusterStatus{ResourceSummary: &karmada.ResourceSummary{Allocatable: has.Allocatable, Allocated: used.Allocatable}}
}

func TestAFileOfClustersHasNothingElse(t *testing.T) {
	for _, text := range []string{
		"", "a: [", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "apiVersion: example.com/v1\nkind: Cluster\nmetadata: {name: a}\n",
		"apiVersion: cluster.karmada.io/v1alpha1\nkind: Other\nmetadata: {name: a}\n",
	} {
		if _, err := whatif.ParseClusters("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "x.yaml") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
