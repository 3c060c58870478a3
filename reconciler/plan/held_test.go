package plan_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/twin"
)

// What is allowed when a move begins is not asked for again when the old copy goes; whatever else is lost then is.
func TestAMoveIsAllowedOnceInRounds(t *testing.T) {
	alone, q := workload("Deployment", "web", "", ""), sends("q", "eu", "", "v1 ConfigMap")
	files := with(toMove, twin.Texts{
		"waybill.yaml": config("guard: {maxRemoved: 0, maxRemovedPercent: 1}, publish: {moves: {wait: 5m, timeout: 10m}}"),
		"a.yaml":       alone + another("more"), "p.yaml": toMove["p.yaml"] + q,
	})
	toUS, less := twin.Texts{"p.yaml": sends("p", "us", "", deployments) + q}, twin.Texts{"a.yaml": alone}
	tellAll(t, []story{
		{"it goes", []round{{files: files}, {files: toUS, minutes: 1}, {edit: allowAll}, {minutes: 5}}, `
1
  ap: 
  eu: configmap/more configmap/stays deployment.apps/web
  us: 
2
  eu: configmap/more configmap/stays
    held: it would lose 1 of 3 objects; the guard allows 0
      deployment.apps/web: PropagationPolicy shop/p no longer sends it here
  left: deployment.apps/web in eu, kept true ClusterHeld
  left: deployment.apps/web in us, kept false WouldBeTwice
  waits-for-held: Deployment.apps/shop/web stay as they are in every cluster:
    a held cluster would have to take its part of them first
3
  us: deployment.apps/web
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:06, 5m0s, began false
  leaving: deployment.apps/web from eu since 12:01, allowed true
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: deployment.apps/web of [eu us]
  again at 12:06, awaits false
4
  eu: configmap/more configmap/stays
  move: deployment.apps/web from eu to [us] by time:  until never, 0s, began true
  asks: deployment.apps/web of [eu us]
  released: [eu] by []
  released: cluster eu was held and is released:
    it would lose 1 of 3 objects;
    the guard allows 0:
    Deployment.apps/shop/web (PropagationPolicy shop/p no longer sends it here)
  again at never, awaits false
`},
		{"it goes, and so does something else", []round{{files: files}, {files: toUS, edit: allowAll}, {files: less, minutes: 5}}, `
1
  ap: 
  eu: configmap/more configmap/stays deployment.apps/web
  us: 
2
  us: deployment.apps/web
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:05, 5m0s, began false
  leaving: deployment.apps/web from eu since 12:00, allowed true
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: deployment.apps/web of [eu us]
  again at 12:05, awaits false
3
  eu: configmap/stays
    held: it would lose 2 of 3 objects; the guard allows 0
      configmap/more: it is no longer in the source
      deployment.apps/web: PropagationPolicy shop/p no longer sends it here
  move: deployment.apps/web from eu to [us] by time:  until never, 0s, began true
  leaving: deployment.apps/web from eu since 12:00, allowed true
  left: configmap/more in eu, kept true ClusterHeld
  left: deployment.apps/web in eu, kept true ClusterHeld
  asks: deployment.apps/web of [eu us]
  selects-nothing: PropagationPolicy shop/q selects no object of the source that a policy may place
  again at never, awaits false
`},
		{"nobody says how it is, and no time is given", []round{
			{files: with(files, twin.Texts{"waybill.yaml": config("publish: {moves: {wait: 0s, timeout: 10m}}")})}, {files: toUS},
		}, `
1
  ap: 
  eu: configmap/more configmap/stays deployment.apps/web
  us: 
2
  eu: configmap/more configmap/stays
  us: deployment.apps/web
  move: deployment.apps/web from eu to [us] by direct: nobody says how its copies are, and publish.moves.wait is 0s until never, 0s, began false
  asks: deployment.apps/web of [eu us]
`},
		{"only the old copy is healthy", []round{
			{files: files},
			{files: toUS, edit: func(in *plan.Input) { allowAll(in); seen("eu")(in) }},
			{minutes: 11, edit: sick("us", seen("eu"))},
			{minutes: 1, edit: sick("us", sick("eu", seen()))},
		}, `
1
  ap: 
  eu: configmap/more configmap/stays deployment.apps/web
  us: 
2
  us: deployment.apps/web
  move: deployment.apps/web from eu to [us] by health: NewCopiesNotHealthy until 12:10, 10m0s, began false
  leaving: deployment.apps/web from eu since 12:00, allowed true
  left: deployment.apps/web in eu, kept true NewCopiesNotHealthy
  again at 12:10, awaits true
3
  move: deployment.apps/web from eu to [us] by health: LastCopy until never, 0s, began true
  leaving: deployment.apps/web from eu since 12:00, allowed true
  left: deployment.apps/web in eu, kept true LastCopy
  last-copy: Deployment.apps/shop/web:
    from cluster eu to others;
    the old copy stays although its time is over:
    no new one is healthy
  again at never, awaits true
4
  eu: configmap/more configmap/stays
  move: deployment.apps/web from eu to [us] by health:  until never, 0s, began true
  released: [eu] by []
  released: cluster eu was held and is released:
    it would lose 1 of 3 objects;
    the guard allows 0:
    Deployment.apps/shop/web (PropagationPolicy shop/p no longer sends it here)
  again at never, awaits false
`},
	})
}

// sick has a cluster say that web is not healthy since noon, whatever others say.
func sick(cluster string, others func(*plan.Input)) func(*plan.Input) {
	return func(in *plan.Input) {
		others(in)
		in.Evidence[web][cluster] = evict.Seen{Health: karmada.ResourceUnhealthy, Since: noon, Current: true, UpToDate: true}
	}
}

// What clusters would lose is allowed by comments for the clusters and the objects that they name, and for all of what a cluster loses.
func TestApprovalsInRounds(t *testing.T) {
	approved := func(cluster string, objects ...object.Ref) func(*plan.Input) {
		return func(in *plan.Input) {
			in.Allow.Approved = []guard.Approval{
				{By: "ann", PullRequest: 7, Removals: guard.Removals{{Clusters: []string{cluster}, Objects: objects}}},
			}
		}
	}
	files := twin.Texts{
		"waybill.yaml": config(""), "c.yaml": threeOfAll, "a.yaml": another("a") + another("b"),
		"p.yaml": sends("p", "eu, us", "", "v1 ConfigMap"),
	}
	none := twin.Texts{"a.yaml": ""}
	tellAll(t, []story{
		{"of one cluster", []round{{files: files}, {files: none, edit: approved("eu", ref("a"), ref("b"))}}, `
1
  ap: 
  eu: configmap/a configmap/b
  us: configmap/a configmap/b
2
  eu: 
  us: 
    held: it would lose all it holds, 2 of 2 objects
      configmap/a: it is no longer in the source
      configmap/b: it is no longer in the source
  left: configmap/a in us, kept true ClusterHeld
  left: configmap/b in us, kept true ClusterHeld
  released: [eu] by [ann on pull request 7]
  released: cluster eu was held and is released, approved by ann on pull request 7:
    it would lose all it holds, 2 of 2 objects:
    ConfigMap/shop/a (it is no longer in the source);
    ConfigMap/shop/b (it is no longer in the source)
  selects-nothing: PropagationPolicy shop/p selects no object of the source that a policy may place
`},
		{"of a part", []round{{files: files}, {files: none, edit: approved("eu", ref("a"))}}, `
1
  ap: 
  eu: configmap/a configmap/b
  us: configmap/a configmap/b
2
  eu: 
    held: it would lose all it holds, 2 of 2 objects
      configmap/a: it is no longer in the source
      configmap/b: it is no longer in the source
  us: 
    held: it would lose all it holds, 2 of 2 objects
      configmap/a: it is no longer in the source
      configmap/b: it is no longer in the source
  left: configmap/a in eu, kept true ClusterHeld
  left: configmap/a in us, kept true ClusterHeld
  left: configmap/b in eu, kept true ClusterHeld
  left: configmap/b in us, kept true ClusterHeld
  selects-nothing: PropagationPolicy shop/p selects no object of the source that a policy may place
`},
	})
}

// While it is not known what clusters should hold none of them loses anything, and what may not be deleted stays although it may move.
func TestWhatIsHeldInRounds(t *testing.T) {
	always := strings.Replace(another("kept"), "shop}", "shop, labels: {resourcetemplate.karmada.io/deletion-protected: Always}}", 1)
	const namespace = "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n"
	const other = "---\n{apiVersion: example.com/v1, kind: Namespace, metadata: {name: other}}\n"
	forOther := strings.NewReplacer("kind: PropagationPolicy", "kind: ClusterPropagationPolicy", ", namespace: shop", "").
		Replace(sends("q", "eu", "", "example.com/v1 Namespace"))
	strict := config("guard: {maxRemoved: 0, maxRemovedPercent: 1}")
	const noMoves = "publish: {moves: {wait: 0s, timeout: 0s}}"
	files := twin.Texts{
		"waybill.yaml": config(noMoves), "c.yaml": threeOfAll, "a.yaml": another("a") + another("b") + always,
		"p.yaml": sends("p", "eu", "", "v1 ConfigMap"),
	}
	less := twin.Texts{"a.yaml": another("a") + always}
	unknown := func(in *plan.Input) { in.Unresolved.HoldReason = "a commit cannot be read" }
	named := with(files, twin.Texts{
		"waybill.yaml": strings.Replace(strict, "none", "all", 1), "n.yaml": namespace + other, "q.yaml": forOther,
	})
	alone := with(files, twin.Texts{
		"waybill.yaml": strings.Replace(config(noMoves), "none", "all", 1), "clusters/eu/n.yaml": namespace, "a.yaml": another("a"),
	})
	keptToUS := strings.Replace(sends("kept", "us", "", "v1 ConfigMap"), "kind: ConfigMap}", "kind: ConfigMap, name: kept}", 1)
	tellAll(t, []story{
		{"part of the source is not known", []round{{files: files}, {files: less, edit: unknown}, {}}, `
1
  ap: 
  eu: configmap/a configmap/b configmap/kept
  us: 
2
  eu: configmap/a configmap/kept
    held: a commit cannot be read
      configmap/b: it is no longer in the source
  left: configmap/b in eu, kept true ClusterHeld
3
  eu: configmap/a configmap/kept
`},
		{"it is protected, and deleted", []round{{files: files}, {files: twin.Texts{"a.yaml": another("a")}}}, `
1
  ap: 
  eu: configmap/a configmap/b configmap/kept
  us: 
2
  eu: configmap/a
    held: it would lose ConfigMap/shop/kept, which has the label resourcetemplate.karmada.io/deletion-protected: Always
      configmap/b: it is no longer in the source
      configmap/kept: it is no longer in the source
  left: configmap/b in eu, kept true ClusterHeld
  left: configmap/kept in eu, kept true ClusterHeld
`},
		{"it is protected, and moves", []round{
			{files: files}, {files: twin.Texts{"p.yaml": sends("p", "eu, us", "", "v1 ConfigMap") + keptToUS}},
		}, `
1
  ap: 
  eu: configmap/a configmap/b configmap/kept
  us: 
2
  eu: configmap/a configmap/b
  us: configmap/a configmap/b configmap/kept
`},
		{"namespaces are sent no longer", []round{
			{files: named}, {files: twin.Texts{"waybill.yaml": strict, "q.yaml": ""}},
		}, `
1
  ap: namespace/shop
  eu: namespace.example.com/other namespace/shop configmap/a configmap/b configmap/kept
  us: namespace/shop
2
  ap: 
    held: it would lose all it holds, 1 of 1 object
      namespace/shop: waybill.yaml says namespaces: none, and no policy sends it
  eu: configmap/a configmap/b configmap/kept
    held: it would lose Namespace/shop, of a protected kind
      namespace/shop: waybill.yaml says namespaces: none, and no policy sends it
      namespace.example.com/other: no policy selects it any more
  us: 
    held: it would lose all it holds, 1 of 1 object
      namespace/shop: waybill.yaml says namespaces: none, and no policy sends it
  left: namespace/shop in ap, kept true 
  left: namespace/shop in eu, kept true 
  left: namespace/shop in us, kept true 
  left: namespace.example.com/other in eu, kept true ClusterHeld
`},
		{"a namespace is all that is left", []round{{files: alone}, {files: twin.Texts{"a.yaml": ""}}}, `
1
  ap: 
  eu: namespace/shop configmap/a
  us: 
2
  eu: namespace/shop
    held: it would lose all it holds, 1 of 2 objects
      configmap/a: it is no longer in the source
  left: configmap/a in eu, kept true ClusterHeld
  selects-nothing: PropagationPolicy shop/p selects no object of the source that a policy may place
`},
		{"a namespace is all that is left, and the rest moves", []round{
			{files: alone}, {files: twin.Texts{"p.yaml": sends("p", "us", "", "v1 ConfigMap")}},
		}, `
1
  ap: 
  eu: namespace/shop configmap/a
  us: 
2
  eu: namespace/shop
  us: configmap/a
`},
		{"a namespace is all that is left, and the rest fits nowhere", []round{
			{files: alone}, {files: twin.Texts{"p.yaml": sends("p", "none", "", "v1 ConfigMap")}},
		}, `
1
  ap: 
  eu: namespace/shop configmap/a
  us: 
2
  eu: namespace/shop
    held: it would lose all it holds, 1 of 2 objects
      configmap/a: it fits no cluster: 0/3 clusters are available: 3 cluster(s) did not match the placement cluster affinity constraint.
  left: configmap/a in eu, kept true ClusterHeld
  unschedulable: PropagationPolicy shop/p cannot place ConfigMap/shop/a:
    0/3 clusters are available:
    3 cluster(s) did not match the placement cluster affinity constraint.;
    it leaves its clusters
  unknown-cluster: PropagationPolicy shop/p names the cluster "none", which is not registered
`},
	})
}

// with is some files with others.
func with(files, more twin.Texts) twin.Texts {
	is := maps.Clone(files)
	maps.Copy(is, more)
	return is
}
