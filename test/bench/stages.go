package bench

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/test/twin"
)

// Strategy says in which stages units go out.
type Strategy struct {
	// Canary has the clusters of one region of ten come first, and be waited for, until the others follow all at once. Without
	// it there is one stage.
	Canary bool
	// Width is how many clusters of the one stage, or of the canary, are under way at once: a number, or a percentage.
	Width string
}

// Units generates a source of units, each of which has a policy in a namespace of its own and as many templates as are
// said, for clusters in ten regions. Nothing goes out in stages.
func Units(clusters, units, templates int) *Source {
	src := &Source{Texts: twin.Texts{}}
	src.fleet(Shape{Clusters: clusters, Regions: 10})
	for u := range units {
		namespace := fmt.Sprintf("unit-%03d", u)
		src.Texts["policies/"+namespace+".yaml"] = fmt.Sprintf(unitText, namespace)
		for i := range templates {
			n := u*templates + i
			src.Texts[fmt.Sprintf("apps/%s/app-%05d.yaml", namespace, n)] = template(n, namespace, "plain")
		}
	}
	return src.list()
}

// Bound and Unbound are what the policies of units say, with and without a strategy.
const (
	Bound   = "{waybill.dev/rollout: careful}"
	Unbound = "{example.com/goes: at-once}"
)

// Text is the strategy as a manifest.
func (s Strategy) Text() string {
	if !s.Canary {
		return strategyText + fmt.Sprintf("  - {name: all, labelSelector: {}, maxConcurrency: %s}\n", s.Width)
	}
	rest := make([]string, 9)
	for i := range rest {
		rest[i] = fmt.Sprintf("r%d", i+1)
	}
	return strategyText +
		fmt.Sprintf("  - {name: canary, labelSelector: {matchLabels: {region: r0}}, maxConcurrency: %s, afterStageTasks: [{type: TimedWait, waitTime: 30m}]}\n", s.Width) +
		fmt.Sprintf("  - {name: rest, labelSelector: {matchExpressions: [{key: region, operator: In, values: [%s]}]}, maxConcurrency: 100%%}\n", strings.Join(rest, ", "))
}

const strategyText = `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata: {name: careful}
spec:
  stages:
`

const unitText = `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata:
  name: unit
  namespace: %s
  annotations: ` + Unbound + `
spec:
  resourceSelectors:
  - {apiVersion: apps/v1, kind: Deployment}
  - {apiVersion: v1, kind: ConfigMap}
  placement: {clusterAffinity: {}}
`
