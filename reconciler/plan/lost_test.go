package plan_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/test/twin"
)

// What clusters lose is judged by its cause, and allowed for one of them, for all, or by its digest.
func TestWhatIsLostInRounds(t *testing.T) {
	fit := another("free") + another("unfit")
	q := strings.Replace(sends("q", "none", "", "v1 ConfigMap"), "kind: ConfigMap}", "kind: ConfigMap, name: unfit}", 1)
	full := twin.Texts{
		"waybill.yaml": config("guard: {maxRemoved: 0, maxRemovedPercent: 1}, publish: {moves: {wait: 0s, timeout: 0s}}"),
		"c.yaml":       threeOfAll, "clusters/eu/stays.yaml": stays,
		"a.yaml": workload("Deployment", "web", "", "") + settings + another("gone") + fit,
		"p.yaml": sends("p", "eu", deps, deployments) + sends("q", "eu, us", "", "v1 ConfigMap"),
	}
	less := twin.Texts{"a.yaml": workload("Deployment", "web", "", "") + settings + fit, "p.yaml": sends("p", "us", deps, deployments) + q}
	divided := "placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}, "
	shares := strings.Replace(sends("p", "eu, us", deps, deployments), "placement: {", divided, 1)
	suspended := strings.Replace(shares, "propagateDeps", "suspension: {dispatchingOnClusters: {clusterNames: [us]}}, propagateDeps", 1)
	one := workload("Deployment", "web", "", "") + settings
	tellAll(t, []story{
		{"of all causes", []round{
			{files: full}, {files: less}, {edit: func(in *plan.Input) { in.Allow.Named = guard.OfCluster("us") }}, {edit: allowAll},
		}, `
1
  ap: 
  eu: configmap/free configmap/gone configmap/settings configmap/stays configmap/unfit deployment.apps/web
  us: configmap/free configmap/gone configmap/settings configmap/unfit
2
  eu: configmap/stays
    held: it would lose 5 of 6 objects; the guard allows 0
      configmap/free: no policy selects it any more
      configmap/gone: it is no longer in the source
      configmap/settings: what needs it no longer sends it here
      configmap/unfit: it fits no cluster: 0/3 clusters are available: 3 cluster(s) did not match the placement cluster affinity constraint.
      deployment.apps/web: PropagationPolicy shop/p no longer sends it here
  us: configmap/settings deployment.apps/web
    held: it would lose 3 of 4 objects; the guard allows 0
      configmap/free: no policy selects it any more
      configmap/gone: it is no longer in the source
      configmap/unfit: it fits no cluster: 0/3 clusters are available: 3 cluster(s) did not match the placement cluster affinity constraint.
  left: configmap/free in eu, kept true ClusterHeld
  left: configmap/free in us, kept true ClusterHeld
  left: configmap/gone in eu, kept true ClusterHeld
  left: configmap/gone in us, kept true ClusterHeld
  left: configmap/settings in eu, kept true StillNeeded
  left: configmap/unfit in eu, kept true ClusterHeld
  left: configmap/unfit in us, kept true ClusterHeld
  left: deployment.apps/web in eu, kept true ClusterHeld
  left: deployment.apps/web in us, kept false ClusterHeld
  unschedulable: PropagationPolicy shop/q cannot place ConfigMap/shop/unfit:
    0/3 clusters are available:
    3 cluster(s) did not match the placement cluster affinity constraint.;
    it leaves its clusters
  unknown-cluster: PropagationPolicy shop/q names the cluster "none", which is not registered
3
  eu: configmap/stays
    held: it would lose 5 of 6 objects; the guard allows 0
      configmap/free: no policy selects it any more
      configmap/gone: it is no longer in the source
      configmap/settings: what needs it no longer sends it here
      configmap/unfit: it fits no cluster: 0/3 clusters are available: 3 cluster(s) did not match the placement cluster affinity constraint.
      deployment.apps/web: PropagationPolicy shop/p no longer sends it here
  us: configmap/settings
  left: configmap/free in eu, kept true ClusterHeld
  left: configmap/gone in eu, kept true ClusterHeld
  left: configmap/settings in eu, kept true StillNeeded
  left: configmap/unfit in eu, kept true ClusterHeld
  left: deployment.apps/web in eu, kept true ClusterHeld
  left: deployment.apps/web in us, kept false WouldBeTwice
  released: [us] by [whoever ran publish --allow-prune, at 2026-01-01T12:00:00Z]
  released: cluster us was held and is released:
    it would lose 3 of 4 objects;
    the guard allows 0:
    ConfigMap/shop/free (no policy selects it any more);
    ConfigMap/shop/gone (it is no longer in the source);
    ConfigMap/shop/unfit (it fits no cluster:
    0/3 clusters are available:
    3 cluster(s) did not match the placement cluster affinity constraint.)
  waits-for-held: Deployment.apps/shop/web stay as they are in every cluster:
    a held cluster would have to take its part of them first
  unschedulable: PropagationPolicy shop/q cannot place ConfigMap/shop/unfit:
    0/3 clusters are available:
    3 cluster(s) did not match the placement cluster affinity constraint.;
    it is nowhere
  unknown-cluster: PropagationPolicy shop/q names the cluster "none", which is not registered
4
  eu: configmap/stays
  us: configmap/settings deployment.apps/web
  released: [eu] by [whoever ran publish --allow-prune, at 2026-01-01T12:00:00Z]
  released: cluster eu was held and is released:
    it would lose 5 of 6 objects;
    the guard allows 0:
    ConfigMap/shop/free (no policy selects it any more);
    ConfigMap/shop/gone (it is no longer in the source);
    ConfigMap/shop/settings (what needs it no longer sends it here);
    and 2 more
  unschedulable: PropagationPolicy shop/q cannot place ConfigMap/shop/unfit:
    0/3 clusters are available:
    3 cluster(s) did not match the placement cluster affinity constraint.;
    it is nowhere
  unknown-cluster: PropagationPolicy shop/q names the cluster "none", which is not registered
`},
		{"replicas are divided, and one cluster takes none", []round{
			{files: twin.Texts{"c.yaml": threeOfAll, "clusters/eu/stays.yaml": stays, "a.yaml": one, "p.yaml": shares, "waybill.yaml": config("")}},
			{files: twin.Texts{"p.yaml": suspended, "a.yaml": strings.Replace(one, "replicas: 4", "replicas: 8", 1)}},
			{files: twin.Texts{"p.yaml": strings.Replace(suspended, "[eu, us]", "[ap, us]", 1)}},
		}, `
1
  ap: 
  eu: configmap/settings configmap/stays deployment.apps/web
  us: configmap/settings deployment.apps/web
2
  left: deployment.apps/web in eu, kept true WouldBeShort
  left: deployment.apps/web in us, kept true DispatchingSuspended
  waits: Deployment.apps/shop/web stays as it is in every cluster
    because it would run with fewer replicas than it asks for until all of it can be carried out:
    dispatching is suspended in us
3
  ap: configmap/settings
  left: configmap/settings in eu, kept true StillNeeded
  left: deployment.apps/web in ap, kept false WouldBeShort
  left: deployment.apps/web in eu, kept true WouldBeShort
  left: deployment.apps/web in us, kept true DispatchingSuspended
  waits: Deployment.apps/shop/web stays as it is in every cluster
    because it would run with fewer replicas than it asks for until all of it can be carried out:
    dispatching is suspended in us
`},
		{"what no kustomization lists", []round{
			{files: twin.Texts{
				"c.yaml": threeOfAll, "waybill.yaml": config(""), "a.yaml": another("a") + another("x"),
				"p.yaml": sends("p", "eu, us", "", "v1 ConfigMap"),
			}},
			{files: twin.Texts{"a.yaml": another("a")}, edit: func(in *plan.Input) {
				in.Unlisted = []state.Unlisted{{Object: ref("x"), File: "x.yaml"}, {Object: ref("y"), File: "y.yaml"}}
			}},
			{files: twin.Texts{"p.yaml": sends("p", "us", "", "v1 ConfigMap")}, edit: func(in *plan.Input) { in.Unlisted = in.State.Unlisted }},
			{edit: func(in *plan.Input) { in.Unlisted = in.State.Unlisted; allowAll(in) }},
		}, `
1
  ap: 
  eu: configmap/a configmap/x
  us: configmap/a configmap/x
2
  left: configmap/x in eu, kept true NotListed
  left: configmap/x in us, kept true NotListed
  unlisted: configmap/x 
  unlisted-stays: what an earlier version of Waybill delivered and no kustomization lists stays as it was published:
    ConfigMap/shop/x
3
  eu: configmap/x
  left: configmap/x in eu, kept true NotListed
  left: configmap/x in us, kept true NotListed
  unlisted: configmap/x 
  unlisted-stays: what an earlier version of Waybill delivered and no kustomization lists stays as it was published:
    ConfigMap/shop/x
4
  eu: 
  us: configmap/a
  released: what no kustomization lists goes, as it is allowed:
    ConfigMap/shop/x
`},
	})
}

// What fails over leaves data where it is, until somebody allows that it goes; what is recorded says what stays.
func TestFailoverInRounds(t *testing.T) {
	const dead = ", taints: [{key: dead, effect: NoExecute}]"
	claim := "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, " +
		"spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}\n"
	either := "placement: {clusterAffinities: [{affinityName: one, clusterNames: [eu]}, {affinityName: two, clusterNames: [us]}]}"
	const inEU = "placement: {clusterAffinity: {clusterNames: [eu]}}"
	policy := strings.Replace(sends("p", "eu", deps, deployments, "v1 PersistentVolumeClaim"), inEU, either, 1)
	files := twin.Texts{
		"waybill.yaml": config("failover: {enabled: true, gracefulEvictionTimeout: 1m}"), "c.yaml": threeOfAll, "clusters/eu/stays.yaml": stays,
		"a.yaml": workload("Deployment", "web", "", "") + settings + claim, "p.yaml": policy,
	}
	fails := twin.Texts{"c.yaml": cluster("ap", "", "") + cluster("eu", "waybill.dev/path: clusters/eu", dead) + cluster("us", "", "")}
	tellAll(t, []story{
		{"a cluster fails", []round{
			{files: files},
			{files: fails, minutes: 1, edit: seen("eu")},
			{minutes: 1, edit: seen("eu", "us")},
			{minutes: 9, edit: seen("us")},
			{minutes: 1, edit: allowAll},
		}, `
1
  ap: 
  eu: configmap/settings configmap/stays deployment.apps/web persistentvolumeclaim/data
  us: 
2
  us: configmap/settings deployment.apps/web persistentvolumeclaim/data
  left: configmap/settings in eu, kept true StillNeeded
  left: persistentvolumeclaim/data in eu, kept true NewCopiesNotHealthy
  left: deployment.apps/web in eu, kept true NewCopiesNotHealthy
  failover: moved at 12:01, frozen false, until never
  again at 12:01:01, awaits true
3
  eu: configmap/stays persistentvolumeclaim/data
  left: persistentvolumeclaim/data in eu, kept true DataWouldBeDeleted
  failover: moved at 12:02, frozen false, until never
  holds-data: PersistentVolumeClaim/shop/data failed over from cluster eu and stays there:
    deleting it would delete data, and nobody has allowed it
  again at 12:02:01, awaits false
4
  left: persistentvolumeclaim/data in eu, kept true DataWouldBeDeleted
  failover: moved at 12:02, frozen false, until never
  holds-data: PersistentVolumeClaim/shop/data failed over from cluster eu and stays there:
    deleting it would delete data, and nobody has allowed it
5
  eu: configmap/stays
  failover: moved at 12:02, frozen false, until never
`},
		{"it comes back", []round{
			{files: files}, {files: fails, minutes: 1}, {files: twin.Texts{"c.yaml": threeOfAll}, minutes: 9}, {minutes: 30},
		}, `
1
  ap: 
  eu: configmap/settings configmap/stays deployment.apps/web persistentvolumeclaim/data
  us: 
2
  us: configmap/settings deployment.apps/web persistentvolumeclaim/data
  left: configmap/settings in eu, kept true StillNeeded
  left: persistentvolumeclaim/data in eu, kept true NewCopiesNotHealthy
  left: deployment.apps/web in eu, kept true NewCopiesNotHealthy
  failover: moved at 12:01, frozen false, until never
  again at 12:01:01, awaits true
3
  eu: configmap/stays persistentvolumeclaim/data
  left: persistentvolumeclaim/data in eu, kept true DataWouldBeDeleted
  failover: moved at 12:10, frozen false, until never
  holds-data: PersistentVolumeClaim/shop/data failed over from cluster eu and stays there:
    deleting it would delete data, and nobody has allowed it
  again at 12:10:01, awaits false
4
  left: persistentvolumeclaim/data in eu, kept true DataWouldBeDeleted
  failover: moved at 12:10, frozen false, until never
  holds-data: PersistentVolumeClaim/shop/data failed over from cluster eu and stays there:
    deleting it would delete data, and nobody has allowed it
`},
	})
}

// What others have to know is recorded: of which workloads it is counted what finds no node, what Remedies have in force, and what
// releases rendered to, or failed with.
func TestWhatIsRecordedInRounds(t *testing.T) {
	byRoom := strings.Replace(sends("p", "eu, us", "", deployments), "placement: {",
		"placement: {replicaScheduling: {replicaSchedulingType: Divided, weightPreference: {dynamicWeight: AvailableReplicas}}, ", 1)
	room := "status: {resourceSummary: {allocatable: {cpu: '20', pods: '110'}}, " +
		"conditions: [{type: DNS, status: 'False', reason: x, message: '', lastTransitionTime: '2026-01-01T00:00:00Z'}]}\n"
	remedy := "---\napiVersion: remedy.karmada.io/v1alpha1\nkind: Remedy\nmetadata: {name: dns}\n" +
		"spec: {decisionMatches: [{clusterConditionMatch: {conditionType: DNS, operator: Equal, conditionStatus: 'False'}}], " +
		"actions: [TrafficControl]}\n"
	release := "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: broken, namespace: shop}\n" +
		"spec: {chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: fleet}}}}\n"
	tellAll(t, []story{
		{"workloads by room", []round{
			{files: twin.Texts{
				"waybill.yaml": config("descheduler: {enabled: true}"), "c.yaml": cluster("eu", "", "") + room + cluster("us", "", "") + room,
				"a.yaml": workload("Deployment", "web", "", ""), "p.yaml": byRoom,
			}},
			{files: twin.Texts{"p.yaml": sends("p", "eu, us", "", deployments)}},
			{files: twin.Texts{"waybill.yaml": config(""), "p.yaml": byRoom}},
			{files: twin.Texts{"waybill.yaml": config("descheduler: {enabled: true}"), "p.yaml": strings.Replace(byRoom, "eu, us", "none", 1)}},
		}, `
1
  eu: deployment.apps/web
  us: deployment.apps/web
  descheduler.json: { "threshold": "5m0s", "workloads": [ { "group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web" } ] }
2
  eu: deployment.apps/web
  us: deployment.apps/web
3
  eu: deployment.apps/web
  us: deployment.apps/web
4
  eu: 
    held: it would lose all it holds, 1 of 1 object
      deployment.apps/web: it fits no cluster: 0/2 clusters are available: 2 cluster(s) did not match the placement cluster affinity constraint.
  us: 
    held: it would lose all it holds, 1 of 1 object
      deployment.apps/web: it fits no cluster: 0/2 clusters are available: 2 cluster(s) did not match the placement cluster affinity constraint.
  left: deployment.apps/web in eu, kept true ClusterHeld
  left: deployment.apps/web in us, kept true ClusterHeld
  unschedulable: PropagationPolicy shop/p cannot place Deployment.apps/shop/web:
    0/2 clusters are available:
    2 cluster(s) did not match the placement cluster affinity constraint.;
    it leaves its clusters
  unknown-cluster: PropagationPolicy shop/p names the cluster "none", which is not registered
`},
		{"remedies", []round{
			{files: twin.Texts{"waybill.yaml": config(""), "c.yaml": cluster("eu", "", "") + room + cluster("us", "", ""), "r.yaml": remedy}},
			{files: twin.Texts{"r.yaml": ""}},
		}, `
1
  eu: 
  us: 
  clusters/eu.yaml: - TrafficControl resourceSummary: allocatable: cpu: '20' pods: '110'
  matches-nothing: Remedy dns:
    spec.decisionMatches[0].clusterConditionMatch.conditionType:
    no cluster has condition "DNS"
2
`},
		{"a release that is not rendered", []round{
			{files: twin.Texts{
				"waybill.yaml": config(""), "c.yaml": cluster("eu", "", "") + cluster("us", "", ""), "a.yaml": release + another("a"),
				"p.yaml": sends("p", "eu", "", "helm.toolkit.fluxcd.io/v2 HelmRelease") + sends("q", "eu", "", "v1 ConfigMap"),
			}},
			{files: twin.Texts{"a.yaml": release}},
			{edit: allowAll},
			{files: twin.Texts{"a.yaml": ""}},
		}, `
1
  eu: configmap/a
  us: 
  release: helmrelease.helm.toolkit.fluxcd.io/broken [] of "", made from ""
  not-rendered: HelmRelease.helm.toolkit.fluxcd.io/shop/broken for clusters like eu:
    nothing here renders releases
2
  eu: 
    held: it would lose all it holds, 1 of 1 object
      configmap/a: it is no longer in the source
  left: configmap/a in eu, kept true ClusterHeld
  not-rendered: HelmRelease.helm.toolkit.fluxcd.io/shop/broken for clusters like eu:
    nothing here renders releases
  selects-nothing: PropagationPolicy shop/q selects no object of the source that a policy may place
3
  eu: 
  release: helmrelease.helm.toolkit.fluxcd.io/broken [] of "", made from ""
  released: [eu] by [whoever ran publish --allow-prune, at 2026-01-01T12:00:00Z]
  released: cluster eu was held and is released:
    it would lose 1 of 1 object while part of the source cannot be rendered:
    ConfigMap/shop/a (it is no longer in the source)
  not-rendered: HelmRelease.helm.toolkit.fluxcd.io/shop/broken for clusters like eu:
    nothing here renders releases
  selects-nothing: PropagationPolicy shop/q selects no object of the source that a policy may place
4
  selects-nothing: PropagationPolicy shop/p selects no object of the source that a policy may place
  selects-nothing: PropagationPolicy shop/q selects no object of the source that a policy may place
`},
	})
}
