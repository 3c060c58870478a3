package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/twin"
)

const deps = ", propagateDeps: true"

var (
	web        = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	threeOfAll = cluster("ap", "", "") + cluster("eu", "waybill.dev/path: clusters/eu", "") + cluster("us", "", "")
	toMove     = twin.Texts{
		"waybill.yaml": config("publish: {moves: {wait: 5m, timeout: 10m}}"), "c.yaml": threeOfAll, "clusters/eu/stays.yaml": stays,
		"a.yaml": workload("Deployment", "web", "", "") + settings, "p.yaml": sends("p", "eu", deps, deployments),
	}
)

// seen has clusters say that web is healthy.
func seen(clusters ...string) func(*plan.Input) {
	return func(in *plan.Input) {
		in.Evidence = evict.Evidence{web: {}}
		for _, c := range clusters {
			in.Evidence[web][c] = evict.Seen{Health: karmada.ResourceHealthy, Since: in.Now, Done: true, Current: true, UpToDate: true}
		}
	}
}

func allowAll(in *plan.Input) { in.Allow.Named = guard.AllowAll }

// story is some rounds, and what comes of them.
type story struct {
	name   string
	rounds []round
	want   string
}

func tellAll(t *testing.T, stories []story) {
	t.Helper()
	for _, tt := range stories {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, "\n"+told(t, tt.rounds...)); diff != "" {
				t.Errorf("(-want +is):\n%s", diff)
			}
		})
	}
}

// What leaves a cluster for another one because that was decided goes once the new copy is there, which what is recorded remembers.
func TestMovesInRounds(t *testing.T) {
	toUS := twin.Texts{"p.yaml": sends("p", "us", deps, deployments)}
	recreate := twin.Texts{"a.yaml": workload("Deployment", "web", "", ", strategy: {type: Recreate}") + settings, "p.yaml": toUS["p.yaml"]}
	direct := twin.Texts{"p.yaml": strings.Replace(toUS["p.yaml"], "shop}", "shop, annotations: {waybill.dev/move: direct}}", 1)}
	suspended := twin.Texts{"p.yaml": sends("p", "us", deps+", suspension: {dispatching: true}", deployments)}
	api := workload("Deployment", "api", "", ", strategy: {type: Recreate}")
	both := twin.Texts{"a.yaml": workload("Deployment", "web", "", "") + api + settings}
	tellAll(t, []story{
		{"nobody watches it", []round{{files: toMove}, {files: toUS, minutes: 1}, {minutes: 4}, {minutes: 1}}, `
1
  ap: 
  eu: configmap/settings configmap/stays deployment.apps/web
  us: 
2
  us: configmap/settings deployment.apps/web
  move: configmap/settings from eu to [us] by time: NewCopiesGivenTime until 12:06, 5m0s, began false
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:06, 5m0s, began false
  leaving: configmap/settings from eu since 12:01, allowed false
  leaving: deployment.apps/web from eu since 12:01, allowed false
  left: configmap/settings in eu, kept true NewCopiesGivenTime
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: configmap/settings of [eu us]
  asks: deployment.apps/web of [eu us]
  again at 12:06, awaits false
3
  move: configmap/settings from eu to [us] by time: NewCopiesGivenTime until 12:06, 0s, began true
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:06, 0s, began true
  leaving: configmap/settings from eu since 12:01, allowed false
  leaving: deployment.apps/web from eu since 12:01, allowed false
  left: configmap/settings in eu, kept true NewCopiesGivenTime
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: configmap/settings of [eu us]
  asks: deployment.apps/web of [eu us]
  again at 12:06, awaits false
4
  eu: configmap/stays
  move: configmap/settings from eu to [us] by time:  until never, 0s, began true
  move: deployment.apps/web from eu to [us] by time:  until never, 0s, began true
  asks: configmap/settings of [eu us]
  asks: deployment.apps/web of [eu us]
  again at never, awaits false
`},
		{"it is watched", []round{
			{files: toMove}, {files: toUS, minutes: 1, edit: seen("eu")}, {minutes: 4, edit: seen("eu")}, {minutes: 1, edit: seen("eu", "us")},
		}, `
1
  ap: 
  eu: configmap/settings configmap/stays deployment.apps/web
  us: 
2
  us: configmap/settings deployment.apps/web
  move: configmap/settings from eu to [us] by time: NewCopiesGivenTime until 12:06, 5m0s, began false
  move: deployment.apps/web from eu to [us] by health: NewCopiesNotHealthy until 12:11, 10m0s, began false
  leaving: configmap/settings from eu since 12:01, allowed false
  leaving: deployment.apps/web from eu since 12:01, allowed false
  left: configmap/settings in eu, kept true NewCopiesGivenTime
  left: deployment.apps/web in eu, kept true NewCopiesNotHealthy
  asks: configmap/settings of [eu us]
  again at 12:06, awaits true
3
  move: configmap/settings from eu to [us] by time: NewCopiesGivenTime until 12:06, 0s, began true
  move: deployment.apps/web from eu to [us] by health: NewCopiesNotHealthy until 12:11, 0s, began true
  leaving: configmap/settings from eu since 12:01, allowed false
  leaving: deployment.apps/web from eu since 12:01, allowed false
  left: configmap/settings in eu, kept true NewCopiesGivenTime
  left: deployment.apps/web in eu, kept true NewCopiesNotHealthy
  asks: configmap/settings of [eu us]
  again at 12:06, awaits true
4
  eu: configmap/stays
  move: configmap/settings from eu to [us] by time:  until never, 0s, began true
  move: deployment.apps/web from eu to [us] by health:  until never, 0s, began true
  asks: configmap/settings of [eu us]
  again at never, awaits false
`},
		{"it is taken back", []round{
			{files: toMove}, {files: toUS}, {files: twin.Texts{"p.yaml": toMove["p.yaml"]}, minutes: 1}, {edit: allowAll},
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
3
  us: 
    held: it would lose all it holds, 2 of 2 objects
      configmap/settings: what needs it no longer sends it here
      deployment.apps/web: PropagationPolicy shop/p no longer sends it here
  left: configmap/settings in us, kept true StillNeeded
  left: deployment.apps/web in us, kept true ClusterHeld
4
  us: 
  released: [us] by [whoever ran publish --allow-prune, at 2026-01-01T12:01:00Z]
  released: cluster us was held and is released:
    it would lose all it holds, 2 of 2 objects:
    ConfigMap/shop/settings (what needs it no longer sends it here);
    Deployment.apps/shop/web (PropagationPolicy shop/p no longer sends it here)
`},
		{"it must not run twice", []round{{files: toMove}, {files: recreate}}, `
1
  ap: 
  eu: configmap/settings configmap/stays deployment.apps/web
  us: 
2
  eu: configmap/stays
  us: configmap/settings deployment.apps/web
  move: configmap/settings from eu to [us] by direct: 
    what needs it must not run twice, or is told to move directly until never, 0s, began false
  move: deployment.apps/web from eu to [us] by direct: it must not run twice until never, 0s, began false
`},
		{"it is told to go directly", []round{{files: toMove}, {files: direct}}, `
1
  ap: 
  eu: configmap/settings configmap/stays deployment.apps/web
  us: 
2
  eu: configmap/stays
  us: configmap/settings deployment.apps/web
  move: configmap/settings from eu to [us] by direct: 
    what needs it must not run twice, or is told to move directly until never, 0s, began false
  move: deployment.apps/web from eu to [us] by direct: it has the annotation waybill.dev/move: direct until never, 0s, began false
`},
		{"the new copy may not come yet", []round{
			{files: toMove}, {files: suspended}, {files: toUS, minutes: 1}, {files: suspended, minutes: 1}, {files: toUS, minutes: 9},
		}, `
1
  ap: 
  eu: configmap/settings configmap/stays deployment.apps/web
  us: 
2
  left: configmap/settings in eu, kept true StillNeeded
  left: configmap/settings in us, kept false WouldBeTwice
  left: deployment.apps/web in eu, kept true WouldBeNowhere
  left: deployment.apps/web in us, kept false DispatchingSuspended
  waits: Deployment.apps/shop/web stays as it is in every cluster
    because it would be nowhere until all of it can be carried out:
    dispatching is suspended in us
  waits: ConfigMap/shop/settings stays as it is in every cluster
    because it would be in two places until all of it can be carried out:
    what stays there needs it in eu
3
  us: configmap/settings deployment.apps/web
  move: configmap/settings from eu to [us] by time: NewCopiesGivenTime until 12:06, 5m0s, began false
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:06, 5m0s, began false
  leaving: configmap/settings from eu since 12:01, allowed false
  leaving: deployment.apps/web from eu since 12:01, allowed false
  left: configmap/settings in eu, kept true NewCopiesGivenTime
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: configmap/settings of [eu us]
  asks: deployment.apps/web of [eu us]
  again at 12:06, awaits false
4
  move: configmap/settings from eu to [us] by time: NewCopiesGivenTime until 12:06, 0s, began true
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:06, 0s, began true
  leaving: configmap/settings from eu since 12:01, allowed false
  leaving: deployment.apps/web from eu since 12:01, allowed false
  left: configmap/settings in eu, kept true NewCopiesGivenTime
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  left: deployment.apps/web in us, kept true DispatchingSuspended
  asks: configmap/settings of [eu us]
  asks: deployment.apps/web of [eu us]
  again at 12:06, awaits false
5
  eu: configmap/stays
  move: configmap/settings from eu to [us] by time:  until never, 0s, began true
  move: deployment.apps/web from eu to [us] by time:  until never, 0s, began true
  asks: configmap/settings of [eu us]
  asks: deployment.apps/web of [eu us]
  again at never, awaits false
`},
		{"what one needs that waits, and one that does not", []round{{files: toMove}, {files: both}, {files: toUS}, {minutes: 6}}, `
1
  ap: 
  eu: configmap/settings configmap/stays deployment.apps/web
  us: 
2
  eu: configmap/settings configmap/stays deployment.apps/api deployment.apps/web
3
  eu: configmap/settings configmap/stays deployment.apps/web
  us: configmap/settings deployment.apps/api deployment.apps/web
  move: configmap/settings from eu to [us] by time: NewCopiesGivenTime until 12:05, 5m0s, began false
  move: deployment.apps/api from eu to [us] by direct: it must not run twice until never, 0s, began false
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:05, 5m0s, began false
  leaving: configmap/settings from eu since 12:00, allowed false
  leaving: deployment.apps/web from eu since 12:00, allowed false
  left: configmap/settings in eu, kept true NewCopiesGivenTime
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: configmap/settings of [eu us]
  asks: deployment.apps/web of [eu us]
  again at 12:05, awaits false
4
  eu: configmap/stays
  move: configmap/settings from eu to [us] by time:  until never, 0s, began true
  move: deployment.apps/web from eu to [us] by time:  until never, 0s, began true
  asks: configmap/settings of [eu us]
  asks: deployment.apps/web of [eu us]
  again at never, awaits false
`},
		{"it goes on to another one", []round{
			{files: toMove},
			{files: toUS},
			{files: twin.Texts{"p.yaml": sends("p", "ap", deps, deployments)}, minutes: 3},
			{minutes: 3, edit: allowAll},
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
3
  us: 
    held: it would lose all it holds, 2 of 2 objects
      configmap/settings: what needs it no longer sends it here
      deployment.apps/web: PropagationPolicy shop/p no longer sends it here
  move: configmap/settings from eu to [ap] by time: NewCopiesGivenTime until 12:08, 0s, began true
  move: deployment.apps/web from eu to [ap] by time: NewCopiesGivenTime until 12:08, 0s, began true
  leaving: configmap/settings from eu since 12:00, allowed false
  leaving: deployment.apps/web from eu since 12:00, allowed false
  left: configmap/settings in ap, kept false WouldBeTwice
  left: configmap/settings in eu, kept true NewCopiesGivenTime
  left: configmap/settings in us, kept true StillNeeded
  left: deployment.apps/web in ap, kept false WouldBeTwice
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  left: deployment.apps/web in us, kept true ClusterHeld
  asks: configmap/settings of [eu ap]
  asks: deployment.apps/web of [eu ap]
  waits-for-held: Deployment.apps/shop/web stay as they are in every cluster:
    a held cluster would have to take its part of them first
  waits: ConfigMap/shop/settings stays as it is in every cluster
    because it would be in two places until all of it can be carried out:
    its new copies are given time to come up:
    nobody says how they are in eu;
    what stays there needs it in us
  again at 12:08, awaits false
4
  ap: configmap/settings deployment.apps/web
  move: configmap/settings from eu to [ap] by time: NewCopiesGivenTime until 12:11, 0s, began true
  move: configmap/settings from us to [ap] by time: NewCopiesGivenTime until 12:11, 5m0s, began false
  move: deployment.apps/web from eu to [ap] by time: NewCopiesGivenTime until 12:11, 0s, began true
  move: deployment.apps/web from us to [ap] by time: NewCopiesGivenTime until 12:11, 5m0s, began false
  leaving: configmap/settings from eu since 12:06, allowed false
  leaving: configmap/settings from us since 12:06, allowed true
  leaving: deployment.apps/web from eu since 12:06, allowed false
  leaving: deployment.apps/web from us since 12:06, allowed true
  left: configmap/settings in eu, kept true NewCopiesGivenTime
  left: configmap/settings in us, kept true NewCopiesGivenTime
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  left: deployment.apps/web in us, kept true NewCopiesGivenTime
  asks: configmap/settings of [eu ap us ap]
  asks: deployment.apps/web of [eu ap us ap]
  again at 12:11, awaits false
`},
	})
}
