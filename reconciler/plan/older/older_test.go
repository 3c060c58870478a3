package older_test

import (
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan/older"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// An older source is evaluated with the clusters of now, and what taints them: all else is as it was then, but for what stands in
// clusters' own directories.
func TestAnOlderSourceHasTheFleetOfNow(t *testing.T) {
	source := func(when string) render.Source {
		var s render.Source
		for _, o := range []string{
			"apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster", "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterTaintPolicy",
			"apiVersion: remedy.karmada.io/v1alpha1\nkind: Remedy", "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy",
			"apiVersion: example.com/v1\nkind: Cluster", "apiVersion: v1\nkind: ConfigMap",
		} {
			s.Objects = append(s.Objects, object.Decode(when, []byte(o+"\nmetadata: {name: x}\n")).Objects...)
		}
		s.Bound = map[string][]*object.Object{"eu": s.Objects[:1]}
		s.Config.Failover.LastCopy, s.Config.Descheduler.Enabled, s.Config.Namespaces = when, when == "now", when
		return s
	}
	then, now := source("then"), source("now")
	got := older.Source(then, now)
	var kinds []string
	for _, o := range got.Objects {
		kinds = append(kinds, o.Pos().File+" "+o.Ref().Kind+"."+o.Ref().Group)
	}
	want := []string{
		"then ClusterPropagationPolicy.policy.karmada.io", "then Cluster.example.com", "then ConfigMap.",
		"now Cluster.cluster.karmada.io", "now ClusterTaintPolicy.policy.karmada.io", "now Remedy.remedy.karmada.io",
	}
	if !slices.Equal(kinds, want) || got.Bound != nil {
		t.Errorf("it has %q, and %v of clusters' own", kinds, got.Bound)
	}
	if c := got.Config; c.Failover.LastCopy != "now" || !c.Descheduler.Enabled || c.Namespaces != "then" {
		t.Errorf("its config is %+v", c)
	}
	if len(then.Objects) != 6 || then.Bound == nil {
		t.Error("the older source itself is changed")
	}
}
