package plan_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/test/twin"
)

// Why a cluster loses something is said by what became of it.
func TestCausesInRounds(t *testing.T) {
	strict := config("guard: {maxRemoved: 0, maxRemovedPercent: 1}, publish: {moves: {wait: 0s, timeout: 0s}}")
	const namespace = "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n"
	const role = "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: reads}, rules: []}\n"
	const repository = "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: charts, namespace: shop}\n" +
		"spec: {url: 'https://charts.example'}\n"
	byRepository := strings.Replace(helmRelease("web"), "chart: ./chart, sourceRef: {kind: GitRepository, name: fleet}",
		"chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}", 1)
	owned := strings.Replace(another("a"), "namespace: shop}", "namespace: shop, labels: {resourcetemplate.karmada.io/claimed-by: x}}", 1)
	files := twin.Texts{
		"waybill.yaml": strict, "c.yaml": threeOfAll, "a.yaml": another("a"), "p.yaml": sends("p", "eu", "", "v1 ConfigMap"),
		"clusters/eu/stays.yaml": stays,
	}
	forNamespaces := func(clusters string) string { return ofAll(sends("n", clusters, "", "v1 Namespace")) }
	tellAll(t, []story{
		{"another owner sends it", []round{{files: files}, {files: twin.Texts{"a.yaml": owned}}}, `
1
  ap: 
  eu: configmap/a configmap/stays
  us: 
2
  eu: configmap/stays
    held: it would lose 1 of 2 objects; the guard allows 0
      configmap/a: its label resourcetemplate.karmada.io/claimed-by says that another owner propagates it
  left: configmap/a in eu, kept true ClusterHeld
`},
		{"a namespace that a policy sends elsewhere", []round{
			{files: with(files, twin.Texts{"n.yaml": namespace, "q.yaml": forNamespaces("eu")})}, {files: twin.Texts{"q.yaml": forNamespaces("us")}},
		}, `
1
  ap: 
  eu: namespace/shop configmap/a configmap/stays
  us: 
2
  eu: configmap/a configmap/stays
    held: it would lose Namespace/shop, of a protected kind
      namespace/shop: ClusterPropagationPolicy n no longer sends it here
  left: namespace/shop in eu, kept true ClusterHeld
  left: namespace/shop in us, kept false WouldBeTwice
  waits-for-held: Namespace/shop stay as they are in every cluster:
    a held cluster would have to take its part of them first
`},
		{"a source that only releases use", []round{
			{files: with(files, twin.Texts{"clusters/eu/r.yaml": repository})}, {files: twin.Texts{"clusters/eu/web.yaml": byRepository}},
		}, `
1
  ap: 
  eu: configmap/a configmap/stays helmrepository.source.toolkit.fluxcd.io/charts
  us: 
2
  eu: configmap/a configmap/stays deployment.apps/web
    held: it would lose 1 of 3 objects; the guard allows 0
      helmrepository.source.toolkit.fluxcd.io/charts: only releases use it, which are rendered here
  left: helmrepository.source.toolkit.fluxcd.io/charts in eu, kept true 
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "eu", made from "web"
`},
		{"a cluster becomes a virtual one, which shares it with its host", []round{
			{files: with(files, twin.Texts{
				"c.yaml": threeOfAll + cluster("ve", "", ""), "a.yaml": role + another("a"),
				"q.yaml": ofAll(sends("r", "us, ve", "", "rbac.authorization.k8s.io/v1 ClusterRole")),
			})},
			{files: twin.Texts{"c.yaml": threeOfAll + cluster("ve", "waybill.dev/virtual-of: us", "")}},
		}, `
1
  ap: 
  eu: configmap/a configmap/stays
  us: clusterrole.rbac.authorization.k8s.io/reads
  ve: clusterrole.rbac.authorization.k8s.io/reads
2
  ve: 
    held: it would lose all it holds, 1 of 1 object
      clusterrole.rbac.authorization.k8s.io/reads: it could not be written for this cluster
  left: clusterrole.rbac.authorization.k8s.io/reads in ve, kept true ClusterHeld
`},
		{"an override of a release fails", []round{
			{files: with(files, twin.Texts{
				"a.yaml": helmRelease("web"), "chart/Chart.yaml": chart, "p.yaml": sends("p", "eu, us", "", "helm.toolkit.fluxcd.io/v2 HelmRelease"),
				"o.yaml": "---\napiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: o, namespace: shop}\n" +
					"spec: {resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}],\n" +
					" overrideRules: [{targetCluster: {clusterNames: [us]},\n" +
					"  overriders: {plaintext: [{path: /spec/none/of/it, operator: replace, value: x}]}}]}\n",
			})},
		}, `
1
  ap: 
  eu: configmap/stays deployment.apps/web
  us: 
  left: deployment.apps/web in us, kept false ReleaseNotRendered
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  override-failed: OverridePolicy shop/o rule 0 cannot be applied to HelmRelease.helm.toolkit.fluxcd.io/shop/web:
    applying plaintext[0]:
    /spec/none/of/it:
    replace operation does not apply:
    doc is missing path:
    /spec/none/of/it:
    missing value (clusters like us)
`},
	})
}

// What fails over takes what scales it along, and data stays until its cluster is allowed to lose it.
func TestMoreFailoverInRounds(t *testing.T) {
	const dead = ", taints: [{key: dead, effect: NoExecute}]"
	claim := "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, " +
		"spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}\n"
	scaler := "---\n{apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, metadata: {name: web, namespace: shop},\n" +
		" spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 4, maxReplicas: 8,\n" +
		"  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}}\n"
	either := "placement: {clusterAffinities: [{affinityName: one, clusterNames: [eu]}, {affinityName: two, clusterNames: [us]}]}"
	sent := func(more string, kinds ...string) string {
		return strings.Replace(sends("p", "eu", more, kinds...), "placement: {clusterAffinity: {clusterNames: [eu]}}", either, 1)
	}
	failover := func(more string) string {
		return config("publish: {appliedBy: waybill, moves: {wait: 5m, timeout: 10m}},\n" +
			" failover: {enabled: true, gracefulEvictionTimeout: 1m" + more + "}")
	}
	ofCluster := func(name string) func(*plan.Input) {
		return func(in *plan.Input) { in.Allow.Named = guard.OfCluster(name) }
	}
	files := twin.Texts{
		"waybill.yaml": failover(""), "c.yaml": threeOfAll, "clusters/eu/stays.yaml": stays,
		"a.yaml": workload("Deployment", "web", "", "") + settings, "p.yaml": sent(deps, deployments),
	}
	fails := twin.Texts{"c.yaml": cluster("ap", "", "") + cluster("eu", "waybill.dev/path: clusters/eu", dead) + cluster("us", "", "")}
	unwell := ", failover: {application: {decisionConditions: {tolerationSeconds: 30}}}"
	tellAll(t, []story{
		{"its autoscaler leaves with it", []round{
			{files: with(files, twin.Texts{"h.yaml": scaler})}, {files: fails, minutes: 1}, {minutes: 10},
		}, `
1
  ap: 
  eu: configmap/settings configmap/stays deployment.apps/web horizontalpodautoscaler.autoscaling/web
  us: 
2
  us: configmap/settings deployment.apps/web horizontalpodautoscaler.autoscaling/web
  left: configmap/settings in eu, kept true StillNeeded
  left: deployment.apps/web in eu, kept true NewCopiesNotHealthy
  left: horizontalpodautoscaler.autoscaling/web in eu, kept true StillNeeded
  failover: moved at 12:01, frozen false, until never
  again at 12:01:01, awaits true
3
  eu: configmap/stays
  failover: moved at 12:11, frozen false, until never
  again at 12:11:01, awaits false
`},
		{"the last copy is no matter", []round{
			{files: with(files, twin.Texts{"waybill.yaml": failover(", lastCopy: delete")})}, {files: fails, minutes: 1}, {minutes: 10},
		}, `
1
  ap: 
  eu: configmap/settings configmap/stays deployment.apps/web
  us: 
2
  eu: configmap/stays deployment.apps/web
  us: configmap/settings deployment.apps/web
  left: deployment.apps/web in eu, kept true NewCopiesNotHealthy
  failover: moved at 12:01, frozen false, until never
  again at 12:01:01, awaits true
3
  eu: configmap/stays
  failover: moved at 12:11, frozen false, until never
  again at 12:11:01, awaits false
`},
		{"it is not healthy", []round{
			{files: with(files, twin.Texts{"p.yaml": sent(deps+unwell, deployments)})},
			{minutes: 1, edit: sick("eu", seen())},
			{minutes: 1, edit: sick("eu", seen())},
			{minutes: 1, edit: sick("eu", seen("us"))},
		}, `
1
  ap: 
  eu: configmap/settings configmap/stays deployment.apps/web
  us: 
2
  us: configmap/settings deployment.apps/web
  left: configmap/settings in eu, kept true StillNeeded
  left: deployment.apps/web in eu, kept true NewCopiesNotHealthy
  failover: moved at 12:01, frozen false, until never
  again at 12:01:01, awaits true
3
  left: configmap/settings in eu, kept true StillNeeded
  left: deployment.apps/web in eu, kept true NewCopiesNotHealthy
  failover: moved at 12:01, frozen false, until never
  again at 12:11, awaits true
4
  eu: configmap/stays
  failover: moved at 12:03, frozen false, until never
  again at 12:03:01, awaits true
`},
		{"its data is allowed to go", []round{
			{files: with(files, twin.Texts{"a.yaml": claim, "p.yaml": sent("", "v1 PersistentVolumeClaim")})},
			{files: fails, minutes: 1},
			{minutes: 10},
			{edit: ofCluster("us")},
			{edit: ofCluster("eu")},
		}, `
1
  ap: 
  eu: configmap/stays persistentvolumeclaim/data
  us: 
2
  us: persistentvolumeclaim/data
  left: persistentvolumeclaim/data in eu, kept true NewCopiesNotHealthy
  failover: moved at 12:01, frozen false, until never
  again at 12:01:01, awaits true
3
  left: persistentvolumeclaim/data in eu, kept true DataWouldBeDeleted
  failover: moved at 12:11, frozen false, until never
  holds-data: PersistentVolumeClaim/shop/data failed over from cluster eu and stays there:
    deleting it would delete data, and nobody has allowed it
  again at 12:11:01, awaits false
4
  left: persistentvolumeclaim/data in eu, kept true DataWouldBeDeleted
  failover: moved at 12:11, frozen false, until never
  holds-data: PersistentVolumeClaim/shop/data failed over from cluster eu and stays there:
    deleting it would delete data, and nobody has allowed it
5
  eu: configmap/stays
  failover: moved at 12:11, frozen false, until never
`},
		{"its cluster loses something else", []round{
			{files: with(files, twin.Texts{
				"waybill.yaml": strings.Replace(failover(""), "none,", "none, guard: {maxRemoved: 0, maxRemovedPercent: 1},", 1),
			})},
			{files: fails, minutes: 1},
			{files: twin.Texts{"clusters/eu/stays.yaml": ""}, minutes: 10, edit: seen("us")},
		}, `
1
  ap: 
  eu: configmap/settings configmap/stays deployment.apps/web
  us: 
2
  us: configmap/settings deployment.apps/web
  left: configmap/settings in eu, kept true StillNeeded
  left: deployment.apps/web in eu, kept true NewCopiesNotHealthy
  failover: moved at 12:01, frozen false, until never
  again at 12:01:01, awaits true
3
  eu: 
    held: it would lose all it holds, 1 of 3 objects
      configmap/settings: it fails over to another cluster
      configmap/stays: it is no longer in the source
      deployment.apps/web: it fails over to another cluster
  left: configmap/settings in eu, kept true StillNeeded
  left: configmap/stays in eu, kept true 
  left: deployment.apps/web in eu, kept true ClusterHeld
  failover: moved at 12:11, frozen false, until never
  again at 12:11:01, awaits false
`},
		{"too many clusters fail", []round{
			{files: files},
			{files: twin.Texts{"c.yaml": failing("ap") + failing("eu") + cluster("us", "", "")}, minutes: 1},
			{files: twin.Texts{"c.yaml": failing("eu") + cluster("ap", "", "") + cluster("us", "", "")}, minutes: 1},
			{minutes: 1},
		}, `
1
  ap: 
  eu: configmap/settings configmap/stays deployment.apps/web
  us: 
2
  failover: moved at never, frozen true, until never
  failover-frozen: 2 clusters of 3 are not ready (ap, eu), and nothing moves while 55 % are not, or more:
    Deployment.apps/shop/web would
  again at never, awaits false
3
  failover: moved at never, frozen false, until 12:03
  failover-frozen: so many clusters were not ready that nothing moved, and until 2026-01-01T12:03:00Z nothing does:
    Deployment.apps/shop/web would
  again at 12:03, awaits false
4
  us: configmap/settings deployment.apps/web
  left: configmap/settings in eu, kept true StillNeeded
  left: deployment.apps/web in eu, kept true NewCopiesNotHealthy
  failover: moved at 12:03, frozen false, until never
  again at 12:03:01, awaits true
`},
	})
}

// failing is a cluster that is not ready, and drives work out.
func failing(name string) string {
	return cluster(name, "waybill.dev/path: clusters/"+name, ", taints: [{key: dead, effect: NoExecute}]") +
		"status: {conditions: [{type: Ready, status: 'False', reason: x, message: '', lastTransitionTime: '2026-01-01T00:00:00Z'}]}\n"
}

// What is not listed stays with what it needs.
func TestUnlistedInRounds(t *testing.T) {
	const namespace = "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n"
	used := strings.Replace(config(""), "namespaces: none", "namespaces: used", 1)
	files := twin.Texts{
		"waybill.yaml": used, "c.yaml": threeOfAll, "n.yaml": namespace, "clusters/eu/stays.yaml": strings.ReplaceAll(stays, "shop", "blog"),
		"a.yaml": workload("Deployment", "web", "", ""), "s.yaml": settings, "p.yaml": sends("p", "eu", deps, deployments),
	}
	forNamespaces := func(clusters string) string { return ofAll(sends("n", clusters, "", "v1 Namespace")) }
	tellAll(t, []story{
		{"a workload, whose namespace goes elsewhere", []round{
			{files: with(files, twin.Texts{"waybill.yaml": config("publish: {moves: {wait: 0s, timeout: 0s}}"), "q.yaml": forNamespaces("eu")})},
			{files: twin.Texts{"a.yaml": "", "q.yaml": forNamespaces("us")}, edit: func(in *plan.Input) {
				in.Unlisted = []state.Unlisted{{Object: web, File: "a.yaml"}}
				in.Allow.Named = guard.OfCluster("eu")
			}},
		}, `
1
  ap: 
  eu: namespace/shop configmap/stays configmap/settings deployment.apps/web
  us: 
2
  left: namespace/shop in eu, kept true StillNeeded
  left: namespace/shop in us, kept false WouldBeTwice
  left: configmap/settings in eu, kept true StillNeeded
  left: deployment.apps/web in eu, kept true NotListed
  unlisted: deployment.apps/web 
  unlisted-stays: what an earlier version of Waybill delivered and no kustomization lists stays as it was published:
    Deployment.apps/shop/web
  waits: Namespace/shop stays as it is in every cluster
    because it would be in two places until all of it can be carried out:
    what stays there needs it in eu
  selects-nothing: PropagationPolicy shop/p selects no object of the source that a policy may place
`},
		{"a workload, whose namespace is gone", []round{
			{files: with(files, twin.Texts{"waybill.yaml": strings.Replace(used, "used", "all", 1)})},
			{files: twin.Texts{"a.yaml": "", "n.yaml": "", "s.yaml": ""}, edit: func(in *plan.Input) {
				in.Unlisted = []state.Unlisted{{Object: web, File: "a.yaml"}, {Object: web, File: "a.yaml", Cluster: "us"}}
				in.Allow.Named = guard.OfCluster("ap") + " " + guard.OfCluster("eu") + " " + guard.OfCluster("us")
			}},
		}, `
1
  ap: namespace/shop
  eu: namespace/shop configmap/stays configmap/settings deployment.apps/web
  us: namespace/shop
2
  ap: 
  eu: namespace/shop configmap/stays deployment.apps/web
  us: 
  left: namespace/shop in eu, kept true 
  left: deployment.apps/web in eu, kept true NotListed
  unlisted: deployment.apps/web 
  released: [ap us] by [whoever ran publish --allow-prune, at 2026-01-01T12:00:00Z]
  released: cluster ap was held and is released:
    it would lose all it holds, 1 of 1 object:
    Namespace/shop (it is no longer in the source)
  released: cluster us was held and is released:
    it would lose all it holds, 1 of 1 object:
    Namespace/shop (it is no longer in the source)
  unlisted-stays: what an earlier version of Waybill delivered and no kustomization lists stays as it was published:
    Deployment.apps/shop/web
  selects-nothing: PropagationPolicy shop/p selects no object of the source that a policy may place
`},
		{"a workload", []round{{files: files}, {files: twin.Texts{"a.yaml": ""}, edit: func(in *plan.Input) {
			in.Unlisted = []state.Unlisted{{Object: web, File: "a.yaml"}}
		}}}, `
1
  ap: 
  eu: namespace/shop configmap/stays configmap/settings deployment.apps/web
  us: 
2
  left: configmap/settings in eu, kept true StillNeeded
  left: deployment.apps/web in eu, kept true NotListed
  unlisted: deployment.apps/web 
  unlisted-stays: what an earlier version of Waybill delivered and no kustomization lists stays as it was published:
    Deployment.apps/shop/web
  selects-nothing: PropagationPolicy shop/p selects no object of the source that a policy may place
`},
	})
}
