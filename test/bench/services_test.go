package bench

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/tree"
)

const (
	mcsGroup   = "multicluster.x-k8s.io"
	otherGroup = "multicluster.example" // which nobody knows
	services   = 200
)

// exchanged is a fleet of which one half of the clusters exports services and the other imports them. In another group the same
// objects say nothing, and what would be derived is written out.
func exchanged(group string) *Source {
	var b strings.Builder
	for i := range services {
		fmt.Fprintf(&b, "apiVersion: v1\nkind: Service\nmetadata: {name: s%03d, namespace: team-00, labels: {exports: all}}\nspec: {selector: {app: s%[1]d}, ports: [{name: http, port: 80}]}\n---\n", i)
		fmt.Fprintf(&b, "apiVersion: %s/v1alpha1\nkind: ServiceExport\nmetadata: {name: s%03d, namespace: team-00}\n---\n", group, i)
		fmt.Fprintf(&b, "apiVersion: %s/v1alpha1\nkind: ServiceImport\nmetadata: {name: s%03d, namespace: team-00}\nspec: {type: ClusterSetIP, ports: [{name: http, port: 80}]}\n---\n", group, i)
		if group == otherGroup {
			fmt.Fprintf(&b, "apiVersion: v1\nkind: Service\nmetadata: {name: derived-s%03d, namespace: team-00, labels: {exports: none}}\nspec: {ports: [{name: http, port: 80}]}\n---\n", i)
		}
	}
	const policies = `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: exports, namespace: team-00}
spec:
  resourceSelectors: [{apiVersion: GROUP/v1alpha1, kind: ServiceExport}, {apiVersion: v1, kind: Service, labelSelector: {matchLabels: {exports: all}}}]
  placement: {clusterAffinity: {labelSelector: {matchExpressions: [{key: region, operator: In, values: [r0, r1, r2, r3, r4]}]}}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: imports, namespace: team-00}
spec:
  resourceSelectors: [{apiVersion: GROUP/v1alpha1, kind: ServiceImport}, {apiVersion: v1, kind: Service, labelSelector: {matchLabels: {exports: none}}}]
  placement: {clusterAffinity: {labelSelector: {matchExpressions: [{key: region, operator: NotIn, values: [r0, r1, r2, r3, r4]}]}}}
`
	return manyClusters().With("services.yaml", "", b.String()).With("policies/services.yaml", "", strings.ReplaceAll(policies, "GROUP", group))
}

func manyClusters() *Source {
	return New(Shape{Clusters: 1000, Templates: 1000, Regions: 10, Overridden: 20})
}

// exposed is a fleet of which every cluster has services, by MultiClusterServices or, where there is none, by a policy.
func exposed(by bool) *Source {
	var b strings.Builder
	for i := range services {
		fmt.Fprintf(&b, "apiVersion: v1\nkind: Service\nmetadata: {name: s%03d, namespace: team-00}\nspec: {selector: {app: s%[1]d}, ports: [{name: http, port: 80}]}\n---\n", i)
		if by {
			fmt.Fprintf(&b, "apiVersion: networking.karmada.io/v1alpha1\nkind: MultiClusterService\nmetadata: {name: s%03d, namespace: team-00}\nspec: {types: [CrossCluster]}\n---\n", i)
		}
	}
	const policy = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: services, namespace: team-00}\n" +
		"spec: {resourceSelectors: [{apiVersion: v1, kind: Service}], placement: {}}\n"
	src := manyClusters().With("services.yaml", "", b.String())
	if by {
		return src
	}
	return src.With("policies/services.yaml", "", policy)
}

// BenchmarkServices plans fleets that exchange services, and turn by turn with them fleets that have as many manifests and exchange none. Of
// each the turn counts that took the least of the processors: what else the machine does only adds.
func BenchmarkServices(b *testing.B) {
	for _, s := range []struct {
		name          string
		without, with *Source
	}{
		{"derived", exchanged(otherGroup), exchanged(mcsGroup)},
		{"native", exposed(false), exposed(true)},
	} {
		b.Run(s.name, func(b *testing.B) {
			var sources [2]render.Source
			for i, of := range []*Source{s.without, s.with} {
				src, err := render.Load(b.Context(), of, render.With{Cache: cache.Memory()})
				if err != nil {
					b.Fatal(err)
				}
				sources[i] = src
			}
			var least [2]time.Duration
			b.ResetTimer()
			for b.Loop() {
				for i, src := range sources {
					runtime.GC() // what the turn before left is not this one's
					start := processor(b)
					p := plan.Build(plan.Input{Source: src, Medium: plan.Branch})
					took := processor(b) - start
					if _, has := p.Clusters[0].Tree.Lookup(tree.ServicesFile); diag.HasErrors(p.Diags) || has != (i == 1) {
						b.Fatal(has, p.Diags)
					}
					if least[i] == 0 || took < least[i] {
						least[i] = took
					}
				}
			}
			b.ReportMetric(least[0].Seconds()*1e3, "without-ms")
			b.ReportMetric(least[1].Seconds()*1e3, "with-ms")
			b.ReportMetric(100*(least[1]-least[0]).Seconds()/least[0].Seconds(), "percent-more")
		})
	}
}
