package plan_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/test/twin"
)

// Replicas that are divided do not come twice, and are not too few: where one cluster cannot take its part, the others wait for it.
func TestSharesInRounds(t *testing.T) {
	const byWeight = "placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}, "
	shares := func(clusters, more string) string {
		return strings.Replace(sends("p", clusters, more, deployments), "placement: {", byWeight, 1)
	}
	web := func(replicas string) string {
		return strings.Replace(workload("Deployment", "web", "", ""), "replicas: 4", "replicas: "+replicas, 1)
	}
	broken := func(clusters string) string {
		return "---\napiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: o, namespace: shop}\n" +
			"spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}],\n" +
			" overrideRules: [{targetCluster: {clusterNames: [" + clusters + "]},\n" +
			"  overriders: {plaintext: [{path: /spec/none/of/it, operator: replace, value: x}]}}]}\n"
	}
	scaler := func(most string) string {
		return "---\n{apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, metadata: {name: web, namespace: shop},\n" +
			" spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 4, maxReplicas: " + most + ",\n" +
			"  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}}\n"
	}
	const suspendUS = ", suspension: {dispatchingOnClusters: {clusterNames: [us]}}"
	noMoves := config("publish: {appliedBy: waybill, moves: {wait: 0s, timeout: 0s}}")
	moves := config("publish: {appliedBy: waybill, moves: {wait: 5m, timeout: 10m}}")
	files := twin.Texts{"waybill.yaml": noMoves, "c.yaml": threeOfAll, "a.yaml": web("4"), "p.yaml": shares("eu, us", "")}
	wide := threeOfAll + cluster("ve", "waybill.dev/virtual-of: us", "")
	unequal := strings.Replace(shares("eu, us", ""), "Preference: Weighted}", "Preference: Weighted, weightPreference: {staticWeightList: [\n"+
		"  {targetCluster: {clusterNames: [eu]}, weight: 3}, {targetCluster: {clusterNames: [us]}, weight: 1}]}}", 1)
	writtenOut := with(files, twin.Texts{"a.yaml": settings, "p.yaml": sends("q", "eu, us", suspendUS, "v1 ConfigMap")})
	tellAll(t, []story{
		{"one cluster cannot be written for", []round{
			{files: files}, {files: twin.Texts{"a.yaml": web("8"), "o.yaml": broken("us")}}, {files: twin.Texts{"o.yaml": ""}},
		}, `
1
  ap: 
  eu: deployment.apps/web
  us: deployment.apps/web
2
  left: deployment.apps/web in eu, kept true WouldBeShort
  left: deployment.apps/web in us, kept true OverrideFails
  waits: Deployment.apps/shop/web stays as it is in every cluster
    because it would run with fewer replicas than it asks for until all of it can be carried out:
    an override fails in us
  override-failed: OverridePolicy shop/o rule 0 cannot be applied to Deployment.apps/shop/web:
    applying plaintext[0]:
    /spec/none/of/it:
    replace operation does not apply:
    doc is missing path:
    /spec/none/of/it:
    missing value (clusters us)
3
  eu: deployment.apps/web
  us: deployment.apps/web
`},
		{"one cluster cannot be written for, and replicas stay", []round{
			{files: files}, {files: twin.Texts{"a.yaml": strings.Replace(web("4"), "image: x", "image: y", 1), "o.yaml": broken("us")}},
		}, `
1
  ap: 
  eu: deployment.apps/web
  us: deployment.apps/web
2
  eu: deployment.apps/web
  left: deployment.apps/web in us, kept true OverrideFails
  override-failed: OverridePolicy shop/o rule 0 cannot be applied to Deployment.apps/shop/web:
    applying plaintext[0]:
    /spec/none/of/it:
    replace operation does not apply:
    doc is missing path:
    /spec/none/of/it:
    missing value (clusters us)
`},
		{"one cluster cannot be written for, whose part is another one", []round{
			{files: with(files, twin.Texts{"p.yaml": unequal})},
			{files: twin.Texts{"a.yaml": strings.Replace(web("4"), "image: x", "image: y", 1), "o.yaml": broken("us")}},
		}, `
1
  ap: 
  eu: deployment.apps/web
  us: deployment.apps/web
2
  eu: deployment.apps/web
  left: deployment.apps/web in us, kept true OverrideFails
  override-failed: OverridePolicy shop/o rule 0 cannot be applied to Deployment.apps/shop/web:
    applying plaintext[0]:
    /spec/none/of/it:
    replace operation does not apply:
    doc is missing path:
    /spec/none/of/it:
    missing value (clusters us)
`},
		{"a new cluster cannot be written for", []round{
			{files: files}, {files: twin.Texts{"p.yaml": shares("ap, eu, us", ""), "o.yaml": broken("ap")}},
		}, `
1
  ap: 
  eu: deployment.apps/web
  us: deployment.apps/web
2
  left: deployment.apps/web in ap, kept false OverrideFails
  left: deployment.apps/web in eu, kept true WouldBeShort
  left: deployment.apps/web in us, kept true WouldBeShort
  waits: Deployment.apps/shop/web stays as it is in every cluster
    because it would run with fewer replicas than it asks for until all of it can be carried out:
    an override fails in ap
  override-failed: OverridePolicy shop/o rule 0 cannot be applied to Deployment.apps/shop/web:
    applying plaintext[0]:
    /spec/none/of/it:
    replace operation does not apply:
    doc is missing path:
    /spec/none/of/it:
    missing value (clusters ap)
`},
		{"an autoscaler, of which one cluster takes none", []round{
			{files: with(files, twin.Texts{"h.yaml": scaler("8")})},
			{files: twin.Texts{"h.yaml": scaler("20"), "p.yaml": shares("eu, us", suspendUS)}},
			{files: twin.Texts{"h.yaml": ""}},
		}, `
1
  ap: 
  eu: deployment.apps/web horizontalpodautoscaler.autoscaling/web
  us: deployment.apps/web horizontalpodautoscaler.autoscaling/web
2
  left: deployment.apps/web in us, kept true DispatchingSuspended
  left: horizontalpodautoscaler.autoscaling/web in eu, kept true WouldBeShort
  left: horizontalpodautoscaler.autoscaling/web in us, kept true DispatchingSuspended
  waits: HorizontalPodAutoscaler.autoscaling/shop/web stays as it is in every cluster
    because it would run with fewer replicas than it asks for until all of it can be carried out:
    dispatching is suspended in us
3
  eu: deployment.apps/web
  us: deployment.apps/web
  left: deployment.apps/web in eu, kept true WouldBeShort
  left: deployment.apps/web in us, kept true DispatchingSuspended
  waits: Deployment.apps/shop/web stays as it is in every cluster
    because it would run with fewer replicas than it asks for until all of it can be carried out:
    dispatching is suspended in us
`},
		{"an autoscaler moves", []round{
			{files: with(files, twin.Texts{
				"waybill.yaml": moves, "h.yaml": scaler("8"), "p.yaml": sends("p", "eu", "", deployments), "clusters/eu/stays.yaml": stays,
			})},
			{files: twin.Texts{"p.yaml": sends("p", "us", "", deployments)}},
			{minutes: 6},
		}, `
1
  ap: 
  eu: configmap/stays deployment.apps/web horizontalpodautoscaler.autoscaling/web
  us: 
2
  us: deployment.apps/web horizontalpodautoscaler.autoscaling/web
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:05, 5m0s, began false
  move: horizontalpodautoscaler.autoscaling/web from eu to [us] by time: NewCopiesGivenTime until 12:05, 5m0s, began false
  leaving: deployment.apps/web from eu since 12:00, allowed false
  leaving: horizontalpodautoscaler.autoscaling/web from eu since 12:00, allowed false
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  left: horizontalpodautoscaler.autoscaling/web in eu, kept true NewCopiesGivenTime
  asks: deployment.apps/web of [eu us]
  asks: horizontalpodautoscaler.autoscaling/web of [eu us]
  again at 12:05, awaits false
3
  eu: configmap/stays
  move: deployment.apps/web from eu to [us] by time:  until never, 0s, began true
  move: horizontalpodautoscaler.autoscaling/web from eu to [us] by time:  until never, 0s, began true
  asks: deployment.apps/web of [eu us]
  asks: horizontalpodautoscaler.autoscaling/web of [eu us]
  again at never, awaits false
`},
		{"an autoscaler comes where Flux applies", []round{
			{files: with(files, twin.Texts{"waybill.yaml": strings.Replace(noMoves, "appliedBy: waybill", "appliedBy: flux", 1)})},
			{files: twin.Texts{"h.yaml": scaler("8")}},
		}, `
1
  ap: 
  eu: deployment.apps/web
  us: deployment.apps/web
2
  hpa-handover: FederatedHPA shop/web waits in eu, us:
    Flux applies Deployment.apps/shop/web there with spec.replicas, and would leave them to become 1
`},
		{"the host of a virtual cluster is gone", []round{
			{files: with(files, twin.Texts{"c.yaml": wide, "p.yaml": sends("p", "eu, us, ve", "", deployments)})},
			{files: twin.Texts{"c.yaml": strings.Replace(wide, "virtual-of: us", "virtual-of: gone", 1), "a.yaml": web("6")}},
		}, `
1
  ap: 
  eu: deployment.apps/web
  us: deployment.apps/web
  ve: deployment.apps/web
2
  eu: deployment.apps/web
  us: deployment.apps/web
  left: deployment.apps/web in ve, kept true VirtualClusterUnknown
  bad-virtual: the virtual Cluster ve:
    its host "gone" is not registered
`},
		{"it is not made for one, and may not go to another", []round{
			{files: writtenOut},
			{files: twin.Texts{
				"p.yaml": sends("q", "ap, us", suspendUS, "v1 ConfigMap"),
				"o.yaml": strings.Replace(broken("ap"), "apps/v1, kind: Deployment", "v1, kind: ConfigMap", 1),
			}},
		}, `
1
  ap: 
  eu: configmap/settings
  us: 
  left: configmap/settings in us, kept false DispatchingSuspended
2
  left: configmap/settings in ap, kept false OverrideFails
  left: configmap/settings in eu, kept true WouldBeNowhere
  left: configmap/settings in us, kept false DispatchingSuspended
  waits: ConfigMap/shop/settings stays as it is in every cluster
    because it would be nowhere until all of it can be carried out:
    an override fails in ap;
    dispatching is suspended in us
  override-failed: OverridePolicy shop/o rule 0 cannot be applied to ConfigMap/shop/settings:
    applying plaintext[0]:
    /spec/none/of/it:
    replace operation does not apply:
    doc is missing path:
    /spec/none/of/it:
    missing value (clusters ap)
`},
	})
}
