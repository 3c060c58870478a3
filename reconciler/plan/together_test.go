package plan_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/test/twin"
)

// What goes out in stages meets the guard, windows, moves, virtual clusters and replicas that are divided.
func TestStagesMeetOthersInRounds(t *testing.T) {
	ring := func(ring string) string {
		return "{matchExpressions: [{key: is, operator: In, values: [" + ring + "]}]}, afterStageTasks: [{type: TimedWait, waitTime: 5m}]}\n"
	}
	strategy := "---\napiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterStagedUpdateStrategy\n" +
		"metadata: {name: careful}\nspec:\n  stages:\n" +
		"  - {name: first, labelSelector: " + ring("eu, ve") + "  - {name: then, labelSelector: " + ring("ap, us")
	staged := func(policy string) string {
		return strings.Replace(policy, "shop}", "shop, annotations: {waybill.dev/rollout: careful}}", 1)
	}
	all := staged(sends("p", "ap, eu, us", deps, deployments))
	files := twin.Texts{
		"waybill.yaml": config("rollout: {evidence: [timed]}"), "c.yaml": threeOfAll, "s.yaml": strategy,
		"a.yaml": workload("Deployment", "web", "", "") + settings, "p.yaml": all,
	}
	with := func(more twin.Texts) twin.Texts {
		is := maps.Clone(files)
		maps.Copy(is, more)
		return is
	}
	closed := config("rollout: {evidence: [timed], " +
		"windows: [{kind: deny, schedule: '0 12 * * *', duration: 1h, strategies: ['*'], stages: [then]}]}")
	narrow := twin.Texts{"p.yaml": staged(sends("p", "eu", deps, deployments))}
	toAP := twin.Texts{"p.yaml": staged(sends("p", "ap", deps, deployments))}
	virtual := threeOfAll + cluster("ve", "waybill.dev/virtual-of: us", "")
	changed := twin.Texts{"a.yaml": strings.Replace(files["a.yaml"], "image: x", "image: y", 1)}
	divided := "placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}, "
	shares := strings.Replace(all, "placement: {", divided, 1)
	tellAll(t, []story{
		{"clusters lose all that they hold", []round{
			{files: files}, {minutes: 20}, {minutes: 20}, {minutes: 20}, {minutes: 20}, {files: narrow}, {minutes: 20}, {minutes: 20},
		}, `
1
  ap: 
  eu: configmap/settings deployment.apps/web
  us: 
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    ap: then Pending shows 
    eu: first Released shows commit-1
    us: then Pending shows 
  again at 12:00:01, awaits true
2
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Soaking of  to commit-1
    ap: then Pending shows 
    eu: first Healthy shows commit-1
    us: then Pending shows 
  again at 12:25, awaits true
3
  ap: configmap/settings deployment.apps/web
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    ap: then Released shows commit-1
    eu: first Healthy shows commit-1
    us: then Pending shows 
  again at 12:40:01, awaits true
4
  us: configmap/settings deployment.apps/web
  rollout: shop/p Updating of  to commit-1
    ap: then Healthy shows commit-1
    eu: first Healthy shows commit-1
    us: then Released shows commit-1
  again at 13:00:01, awaits true
5
  rollout: shop/p Soaking of  to commit-1
    ap: then Healthy shows commit-1
    eu: first Healthy shows commit-1
    us: then Healthy shows commit-1
  again at 13:25, awaits true
6
  left: configmap/settings in ap, kept true WaitsForStage
  left: configmap/settings in us, kept true WaitsForStage
  left: deployment.apps/web in ap, kept true WaitsForStage
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Soaking of  to commit-6
    ap: then Leaving shows commit-1
    eu: first Healthy shows commit-6
    us: then Leaving shows commit-1
  rollout-held: shop/p:
    at the end:
    ap would be held:
    it would lose ConfigMap/shop/settings, Deployment.apps/shop/web;
    it would lose all it holds, 2 of 2 objects
  rollout-held: shop/p:
    at the end:
    us would be held:
    it would lose ConfigMap/shop/settings, Deployment.apps/shop/web;
    it would lose all it holds, 2 of 2 objects
  again at 13:25, awaits true
7
  ap: 
    held: it would lose all it holds, 2 of 2 objects
      configmap/settings: what needs it no longer sends it here
      deployment.apps/web: PropagationPolicy shop/p no longer sends it here
  us: 
    held: it would lose all it holds, 2 of 2 objects
      configmap/settings: what needs it no longer sends it here
      deployment.apps/web: PropagationPolicy shop/p no longer sends it here
  left: configmap/settings in ap, kept true ClusterHeld
  left: configmap/settings in us, kept true ClusterHeld
  left: deployment.apps/web in ap, kept true ClusterHeld
  left: deployment.apps/web in us, kept true ClusterHeld
  rollout: shop/p Finishing of  to commit-6
    ap: then Leaving shows commit-1
    eu: first Healthy shows commit-6
    us: then Leaving shows commit-1
  again at 13:40:01, awaits true
8
  ap: 
    held: it would lose all it holds, 2 of 2 objects
      configmap/settings: what needs it no longer sends it here
      deployment.apps/web: PropagationPolicy shop/p no longer sends it here
  us: 
    held: it would lose all it holds, 2 of 2 objects
      configmap/settings: what needs it no longer sends it here
      deployment.apps/web: PropagationPolicy shop/p no longer sends it here
  left: configmap/settings in ap, kept true ClusterHeld
  left: configmap/settings in us, kept true ClusterHeld
  left: deployment.apps/web in ap, kept true ClusterHeld
  left: deployment.apps/web in us, kept true ClusterHeld
  rollout: shop/p Finishing of  to commit-6
    ap: then Leaving shows commit-1
    eu: first Healthy shows commit-6
    us: then Leaving shows commit-1
  again at 14:00:01, awaits true
`},
		{"it moves", []round{{files: with(toAP)}, {minutes: 20}, {minutes: 20}, {files: narrow}, {minutes: 20}, {minutes: 20}}, `
1
  ap: configmap/settings deployment.apps/web
  eu: 
  us: 
  rollout: shop/p Updating of  to commit-1
    ap: then Released shows commit-1
  again at 12:00:01, awaits true
2
  rollout: shop/p Soaking of  to commit-1
    ap: then Healthy shows commit-1
  again at 12:25, awaits true
3
  rollout: shop/p Finishing of  to commit-1
    ap: then Healthy shows commit-1
  again at 12:40:01, awaits true
4
  eu: configmap/settings deployment.apps/web
  left: configmap/settings in ap, kept true WaitsForStage
  left: deployment.apps/web in ap, kept true WaitsForStage
  rollout: shop/p Updating of commit-1 to commit-4
    ap: then Leaving shows commit-1
    eu: first Released shows commit-4
  rollout-held: shop/p:
    at the end:
    ap would be held:
    it would lose ConfigMap/shop/settings, Deployment.apps/shop/web;
    it would lose all it holds, 2 of 2 objects
  again at 12:40:01, awaits true
5
  left: configmap/settings in ap, kept true WaitsForStage
  left: deployment.apps/web in ap, kept true WaitsForStage
  rollout: shop/p Soaking of commit-1 to commit-4
    ap: then Leaving shows commit-1
    eu: first Healthy shows commit-4
  again at 13:05, awaits true
6
  ap: 
    held: it would lose all it holds, 2 of 2 objects
      configmap/settings: what needs it no longer sends it here
      deployment.apps/web: PropagationPolicy shop/p no longer sends it here
  left: configmap/settings in ap, kept true ClusterHeld
  left: deployment.apps/web in ap, kept true ClusterHeld
  rollout: shop/p Finishing of commit-1 to commit-4
    ap: then Leaving shows commit-1
    eu: first Healthy shows commit-4
  again at 13:20:01, awaits true
`},
		{"a window is closed", []round{{files: with(twin.Texts{"waybill.yaml": closed})}, {minutes: 20}, {minutes: 50}}, `
1
  ap: 
  eu: configmap/settings deployment.apps/web
  us: 
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    ap: then Pending shows 
    eu: first Released shows commit-1
    us: then Pending shows 
  again at 12:00:01, awaits true
2
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Soaking of  to commit-1
    ap: then Pending shows 
    eu: first Healthy shows commit-1
    us: then Pending shows 
  again at 12:25, awaits true
3
  ap: configmap/settings deployment.apps/web
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    ap: then Released shows commit-1
    eu: first Healthy shows commit-1
    us: then Pending shows 
  again at 13:10:01, awaits true
`},
		{"a virtual cluster", []round{
			{files: with(twin.Texts{"c.yaml": virtual, "p.yaml": staged(sends("p", "us, ve", deps, deployments))})},
			{minutes: 20},
			{files: changed, minutes: 20},
			{minutes: 20},
		}, `
1
  ap: 
  eu: 
  us: 
  ve: configmap/settings deployment.apps/web
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    us: then Pending shows 
    ve: first Released shows commit-1
  again at 12:00:01, awaits true
2
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Soaking of  to commit-1
    us: then Pending shows 
    ve: first Healthy shows commit-1
  again at 12:25, awaits true
3
  ve: configmap/settings deployment.apps/web
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-3
    us: then Pending shows 
    ve: first Released shows commit-3
  again at 12:40:01, awaits true
4
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Soaking of  to commit-3
    us: then Pending shows 
    ve: first Healthy shows commit-3
  again at 13:05, awaits true
`},
		{"replicas are divided", []round{
			{files: with(twin.Texts{"p.yaml": shares})},
			{minutes: 20},
			{minutes: 20},
			{minutes: 20},
			{files: twin.Texts{"a.yaml": strings.Replace(changed["a.yaml"], "replicas: 4", "replicas: 9", 1)}},
			{minutes: 20},
			{minutes: 20},
		}, `
1
  ap: 
  eu: configmap/settings deployment.apps/web
  us: 
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    ap: then Pending shows 
    eu: first Released shows commit-1
    us: then Pending shows 
  again at 12:00:01, awaits true
2
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Soaking of  to commit-1
    ap: then Pending shows 
    eu: first Healthy shows commit-1
    us: then Pending shows 
  again at 12:25, awaits true
3
  ap: configmap/settings deployment.apps/web
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    ap: then Released shows commit-1
    eu: first Healthy shows commit-1
    us: then Pending shows 
  again at 12:40:01, awaits true
4
  us: configmap/settings deployment.apps/web
  rollout: shop/p Updating of  to commit-1
    ap: then Healthy shows commit-1
    eu: first Healthy shows commit-1
    us: then Released shows commit-1
  again at 13:00:01, awaits true
5
  eu: configmap/settings deployment.apps/web
  left: deployment.apps/web in ap, kept true WaitsForStage
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Updating of  to commit-5
    ap: then Pending shows commit-1
    eu: first Released shows commit-5
    us: then Pending shows commit-1
  again at 13:00:01, awaits true
6
  left: deployment.apps/web in ap, kept true WaitsForStage
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Soaking of  to commit-5
    ap: then Pending shows commit-1
    eu: first Healthy shows commit-5
    us: then Pending shows commit-1
  again at 13:25, awaits true
7
  ap: configmap/settings deployment.apps/web
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Updating of  to commit-5
    ap: then Released shows commit-5
    eu: first Healthy shows commit-5
    us: then Pending shows commit-1
  again at 13:40:01, awaits true
`},
		{"it is gone", []round{
			{files: files},
			{minutes: 20},
			{minutes: 20},
			{files: twin.Texts{"p.yaml": "", "a.yaml": settings}, minutes: 20},
			{minutes: 20},
			{edit: allowAll},
		}, `
1
  ap: 
  eu: configmap/settings deployment.apps/web
  us: 
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    ap: then Pending shows 
    eu: first Released shows commit-1
    us: then Pending shows 
  again at 12:00:01, awaits true
2
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Soaking of  to commit-1
    ap: then Pending shows 
    eu: first Healthy shows commit-1
    us: then Pending shows 
  again at 12:25, awaits true
3
  ap: configmap/settings deployment.apps/web
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    ap: then Released shows commit-1
    eu: first Healthy shows commit-1
    us: then Pending shows 
  again at 12:40:01, awaits true
4
  eu: 
    held: it would lose all it holds, 2 of 2 objects
      configmap/settings: no policy selects it any more
      deployment.apps/web: it is no longer in the source
  left: configmap/settings in ap, kept true WaitsForStage
  left: configmap/settings in eu, kept true ClusterHeld
  left: deployment.apps/web in ap, kept true WaitsForStage
  left: deployment.apps/web in eu, kept true ClusterHeld
  rollout: shop/p Updating of  to commit-4
    ap: then Pending shows commit-1
    eu: first Released shows commit-4
  rollout-held: shop/p:
    first:
    eu would be held:
    it would lose ConfigMap/shop/settings, Deployment.apps/shop/web;
    it would lose all it holds, 2 of 2 objects
  rollout-held: shop/p:
    then:
    ap would be held:
    it would lose ConfigMap/shop/settings, Deployment.apps/shop/web;
    it would lose all it holds, 2 of 2 objects
  again at 13:00:01, awaits true
5
  eu: 
    held: it would lose all it holds, 2 of 2 objects
      configmap/settings: no policy selects it any more
      deployment.apps/web: it is no longer in the source
  left: configmap/settings in ap, kept true WaitsForStage
  left: configmap/settings in eu, kept true ClusterHeld
  left: deployment.apps/web in ap, kept true WaitsForStage
  left: deployment.apps/web in eu, kept true ClusterHeld
  rollout: shop/p Updating of  to commit-4
    ap: then Pending shows commit-1
    eu: first Released shows commit-4
  again at never, awaits true
6
  eu: 
  left: configmap/settings in ap, kept true WaitsForStage
  left: deployment.apps/web in ap, kept true WaitsForStage
  rollout: shop/p Updating of  to commit-4
    ap: then Pending shows commit-1
    eu: first Released shows commit-4
  released: [eu] by [whoever ran publish --allow-prune, at 2026-01-01T13:20:00Z]
  released: cluster eu was held and is released:
    it would lose all it holds, 2 of 2 objects:
    ConfigMap/shop/settings (no policy selects it any more);
    Deployment.apps/shop/web (it is no longer in the source)
  again at 13:20:01, awaits true
`},
	})
}
