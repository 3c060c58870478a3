package plan_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/test/twin"
)

// A move that goes on meets what changes meanwhile: other clusters, other policies, and objects that are gone.
func TestMovesGoOnInRounds(t *testing.T) {
	alone := workload("Deployment", "web", "", "")
	files := with(toMove, twin.Texts{"a.yaml": alone, "p.yaml": sends("p", "eu", "", deployments)})
	to := func(clusters, more string) twin.Texts {
		return twin.Texts{"p.yaml": sends("p", clusters, more, deployments)}
	}
	notInAP := ", suspension: {dispatchingOnClusters: {clusterNames: [ap]}}"
	without := twin.Texts{"c.yaml": cluster("ap", "", "") + cluster("us", "", "")}
	const badly = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: o, namespace: shop}\n" +
		"spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}],\n overrideRules: [{targetCluster: {clusterNames: [ap]},\n" +
		"  overriders: {plaintext: [{path: /spec/none/of/it, operator: replace, value: x}]}}]}\n"
	directly := strings.Replace(settings, "name: settings,", "name: settings, annotations: {waybill.dev/move: direct},", 1)
	recreated := workload("Deployment", "web", "", ", strategy: {type: Recreate}")
	q := func(clusters string) string { return sends("q", clusters, "", "v1 ConfigMap") }
	oneOfThree := config("guard: {maxRemoved: 1, maxRemovedPercent: 1}, publish: {moves: {wait: 5m, timeout: 10m}}")
	tellAll(t, []story{
		{"its cluster is registered no longer", []round{
			{files: files}, {files: to("us", ""), minutes: 1}, {files: without, minutes: 1},
		}, `
1
  ap: 
  eu: configmap/stays deployment.apps/web
  us: 
2
  us: deployment.apps/web
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:06, 5m0s, began false
  leaving: deployment.apps/web from eu since 12:01, allowed false
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: deployment.apps/web of [eu us]
  again at 12:06, awaits false
3
  cluster-detached: cluster eu is no longer registered;
    its branch stays as it is
`},
		{"it is gone", []round{
			{files: files}, {files: to("us", ""), minutes: 1}, {files: twin.Texts{"a.yaml": ""}, minutes: 1},
		}, `
1
  ap: 
  eu: configmap/stays deployment.apps/web
  us: 
2
  us: deployment.apps/web
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:06, 5m0s, began false
  leaving: deployment.apps/web from eu since 12:01, allowed false
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: deployment.apps/web of [eu us]
  again at 12:06, awaits false
3
  eu: configmap/stays
  us: 
    held: it would lose all it holds, 1 of 1 object
      deployment.apps/web: it is no longer in the source
  left: deployment.apps/web in us, kept true ClusterHeld
  selects-nothing: PropagationPolicy shop/p selects no object of the source that a policy may place
`},
		{"it goes nowhere", []round{
			{files: files}, {files: to("us", ""), minutes: 1}, {files: to("none", ""), minutes: 1},
		}, `
1
  ap: 
  eu: configmap/stays deployment.apps/web
  us: 
2
  us: deployment.apps/web
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:06, 5m0s, began false
  leaving: deployment.apps/web from eu since 12:01, allowed false
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: deployment.apps/web of [eu us]
  again at 12:06, awaits false
3
  eu: configmap/stays
  us: 
    held: it would lose all it holds, 1 of 1 object
      deployment.apps/web: it fits no cluster: 0/3 clusters are available: 3 cluster(s) did not match the placement cluster affinity constraint.
  left: deployment.apps/web in us, kept true ClusterHeld
  unschedulable: PropagationPolicy shop/p cannot place Deployment.apps/shop/web:
    0/3 clusters are available:
    3 cluster(s) did not match the placement cluster affinity constraint.;
    it leaves its clusters
  unknown-cluster: PropagationPolicy shop/p names the cluster "none", which is not registered
`},
		{"to two clusters, of which one takes it later", []round{
			{files: files}, {files: to("ap, us", notInAP), minutes: 1}, {minutes: 1}, {files: to("ap, us", ""), minutes: 1},
		}, `
1
  ap: 
  eu: configmap/stays deployment.apps/web
  us: 
2
  us: deployment.apps/web
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:06, 5m0s, began false
  leaving: deployment.apps/web from eu since 12:01, allowed false
  left: deployment.apps/web in ap, kept false DispatchingSuspended
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: deployment.apps/web of [eu ap us]
  again at 12:06, awaits false
3
  move: deployment.apps/web from eu to [ap us] by time: NewCopiesGivenTime until 12:06, 0s, began true
  leaving: deployment.apps/web from eu since 12:01, allowed false
  left: deployment.apps/web in ap, kept false DispatchingSuspended
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: deployment.apps/web of [eu ap us]
  again at 12:06, awaits false
4
  ap: deployment.apps/web
  move: deployment.apps/web from eu to [ap] by time: NewCopiesGivenTime until 12:08, 0s, began true
  leaving: deployment.apps/web from eu since 12:03, allowed false
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: deployment.apps/web of [eu ap us]
  again at 12:08, awaits false
`},
		{"to two clusters, for one of which it cannot be made", []round{
			{files: files}, {files: to("us", ""), minutes: 1}, {files: with(to("ap, us", ""), twin.Texts{"o.yaml": badly}), minutes: 1},
		}, `
1
  ap: 
  eu: configmap/stays deployment.apps/web
  us: 
2
  us: deployment.apps/web
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:06, 5m0s, began false
  leaving: deployment.apps/web from eu since 12:01, allowed false
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: deployment.apps/web of [eu us]
  again at 12:06, awaits false
3
  move: deployment.apps/web from eu to [ap us] by time: NewCopiesGivenTime until 12:06, 0s, began true
  leaving: deployment.apps/web from eu since 12:01, allowed false
  left: deployment.apps/web in ap, kept false OverrideFails
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: deployment.apps/web of [eu ap us]
  override-failed: OverridePolicy shop/o rule 0 cannot be applied to Deployment.apps/shop/web:
    applying plaintext[0]:
    /spec/none/of/it:
    replace operation does not apply:
    doc is missing path:
    /spec/none/of/it:
    missing value (clusters ap)
  again at 12:06, awaits false
`},
		{"what one needs that waits is told to go directly", []round{
			{files: toMove},
			{files: twin.Texts{"a.yaml": alone + directly, "p.yaml": sends("p", "us", deps, deployments)}},
		}, `
1
  ap: 
  eu: configmap/settings configmap/stays deployment.apps/web
  us: 
2
  us: configmap/settings deployment.apps/web
  move: configmap/settings from eu to [us] by time: NewCopiesGivenTime until 12:05, 5m0s, began false
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:05, 5m0s, began false
  leaving: configmap/settings from eu since 12:00, allowed false
  leaving: deployment.apps/web from eu since 12:00, allowed false
  left: configmap/settings in eu, kept true NewCopiesGivenTime
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: configmap/settings of [eu us]
  asks: deployment.apps/web of [eu us]
  again at 12:05, awaits false
`},
		{"what one needs that goes at once has a policy of its own", []round{
			{files: with(toMove, twin.Texts{"a.yaml": recreated + settings, "p.yaml": sends("p", "eu", deps, deployments) + q("eu")})},
			{files: twin.Texts{"p.yaml": sends("p", "us", deps, deployments) + q("us")}},
		}, `
1
  ap: 
  eu: configmap/settings configmap/stays deployment.apps/web
  us: 
2
  eu: configmap/settings configmap/stays
  us: configmap/settings deployment.apps/web
  move: configmap/settings from eu to [us] by time: NewCopiesGivenTime until 12:05, 5m0s, began false
  move: deployment.apps/web from eu to [us] by direct: it must not run twice until never, 0s, began false
  leaving: configmap/settings from eu since 12:00, allowed false
  left: configmap/settings in eu, kept true NewCopiesGivenTime
  asks: configmap/settings of [eu us]
  again at 12:05, awaits false
`},
		{"nobody is asked how copies are", []round{
			{files: with(files, twin.Texts{"waybill.yaml": config("publish: {moves: {wait: 5m, timeout: 0s}}")})},
			{files: to("us", "")},
			{minutes: 1, edit: seen("eu")},
		}, `
1
  ap: 
  eu: configmap/stays deployment.apps/web
  us: 
2
  us: deployment.apps/web
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:05, 5m0s, began false
  leaving: deployment.apps/web from eu since 12:00, allowed false
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  again at 12:05, awaits false
3
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:05, 0s, began true
  leaving: deployment.apps/web from eu since 12:00, allowed false
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  again at 12:05, awaits false
`},
		{"it began within bounds, and goes beyond them", []round{
			{files: with(files, twin.Texts{"waybill.yaml": oneOfThree, "q.yaml": q("eu"), "b.yaml": another("b")})},
			{files: to("us", "")},
			{files: twin.Texts{"b.yaml": ""}, minutes: 6},
			{files: twin.Texts{"b.yaml": another("b")}},
		}, `
1
  ap: 
  eu: configmap/b configmap/stays deployment.apps/web
  us: 
2
  us: deployment.apps/web
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:05, 5m0s, began false
  leaving: deployment.apps/web from eu since 12:00, allowed false
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: deployment.apps/web of [eu us]
  again at 12:05, awaits false
3
  eu: configmap/stays
    held: it would lose 2 of 3 objects; the guard allows 1
      configmap/b: it is no longer in the source
      deployment.apps/web: PropagationPolicy shop/p no longer sends it here
  move: deployment.apps/web from eu to [us] by time:  until never, 0s, began true
  leaving: deployment.apps/web from eu since 12:00, allowed false
  left: configmap/b in eu, kept true ClusterHeld
  left: deployment.apps/web in eu, kept true ClusterHeld
  asks: deployment.apps/web of [eu us]
  selects-nothing: PropagationPolicy shop/q selects no object of the source that a policy may place
  again at never, awaits false
4
  eu: configmap/b configmap/stays
  move: deployment.apps/web from eu to [us] by time:  until never, 0s, began true
  asks: deployment.apps/web of [eu us]
  again at never, awaits false
`},
		{"what is not listed stays in its cluster, and something moves", []round{
			{files: with(files, twin.Texts{"q.yaml": q("eu, us"), "x.yaml": another("x"), "b.yaml": another("b0")})},
			{files: with(to("us", ""), twin.Texts{"x.yaml": "", "b.yaml": another("b0") + another("z")}), edit: func(in *plan.Input) {
				in.Unlisted = []state.Unlisted{{Object: ref("x"), Cluster: "us", File: "x.yaml"}, {Object: ref("y"), Cluster: "ap", File: "x.yaml"}}
			}},
		}, `
1
  ap: 
  eu: configmap/b0 configmap/stays configmap/x deployment.apps/web
  us: configmap/b0 configmap/x
2
  eu: configmap/b0 configmap/stays configmap/z deployment.apps/web
  us: configmap/b0 configmap/x configmap/z deployment.apps/web
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:05, 5m0s, began false
  leaving: deployment.apps/web from eu since 12:00, allowed false
  left: configmap/x in us, kept true NotListed
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: deployment.apps/web of [eu us]
  unlisted: configmap/x us
  unlisted-stays: what an earlier version of Waybill delivered and no kustomization lists stays as it was published:
    ConfigMap/shop/x
  again at 12:05, awaits false
`},
	})
}
