package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/test/twin"
)

// careful is a strategy by which clusters get a change in two stages, with annotations.
func careful(annotations, first, then string) string {
	ring := func(ring string) string {
		return "{matchExpressions: [{key: is, operator: In, values: [" + ring + "]}]}, afterStageTasks: [{type: TimedWait, waitTime: 5m}]}\n"
	}
	return "---\napiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterStagedUpdateStrategy\n" +
		"metadata: {name: careful, annotations: {" + annotations + "}}\nspec:\n  stages:\n" +
		"  - {name: first, labelSelector: " + ring(first) + "  - {name: then, labelSelector: " + ring(then)
}

// inStages has a policy send what it sends in stages.
func inStages(policy string) string {
	return strings.Replace(policy, "shop}", "shop, annotations: {waybill.dev/rollout: careful}}", 1)
}

// ofAll is a policy of the whole cluster.
func ofAll(policy string) string {
	return strings.NewReplacer("kind: PropagationPolicy", "kind: ClusterPropagationPolicy", ", namespace: shop", "").Replace(policy)
}

// What a strategy cannot begin stays as it is, and what it began ends by windows, with what its objects need.
func TestStrategiesInRounds(t *testing.T) {
	all := inStages(sends("p", "ap, eu, us", deps, deployments))
	files := twin.Texts{
		"waybill.yaml": config("rollout: {evidence: [timed]}"), "c.yaml": threeOfAll, "s.yaml": careful("", "eu", "ap, us"),
		"a.yaml": workload("Deployment", "web", "", "") + settings, "p.yaml": all,
	}
	small := with(files, twin.Texts{"c.yaml": cluster("eu", "", "") + cluster("us", "", ""), "p.yaml": inStages(sends("p", "eu, us", deps, deployments))})
	const namespace = "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n"
	const role = "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: reads}, rules: []}\n"
	roles := func(clusters string, more ...string) string {
		return ofAll(inStages(sends("r", clusters, "", append(more, "rbac.authorization.k8s.io/v1 ClusterRole")...)))
	}
	release := func(annotations string) string {
		return "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop,\n" +
			" annotations: {" + annotations + "}}\n" +
			"spec: {chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: fleet}}}}\n"
	}
	const now = "waybill.dev/allow-functions: now"
	helm := inStages(sends("p", "eu", "", "helm.toolkit.fluxcd.io/v2 HelmRelease"))
	releases := with(small, twin.Texts{"a.yaml": release(""), "p.yaml": helm, "chart/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n"})
	unbound := twin.Texts{"p.yaml": strings.Replace(helm, "careful", "none", 1)}
	asks := func(more string) twin.Texts {
		return twin.Texts{"waybill.yaml": config("rollout: {evidence: [commitStatus]" + more + "}")}
	}
	byBot := asks(", commitStatus: {creators: [bot]}")
	posted := func(in *plan.Input) { in.Staging.Posted = map[string]*staged.Posted{"eu": {}, "us": {}} }
	closed := config("rollout: {evidence: [timed], " +
		"windows: [{kind: deny, schedule: '0 12 * * *', duration: 1h, strategies: ['*'], stages: [then]}]}")
	published := func(commit string) func(*plan.Input) {
		return func(in *plan.Input) { in.State.Published.Commit = commit }
	}
	allowed := func(named string) []round {
		return []round{
			{files: with(small, twin.Texts{
				"waybill.yaml": strings.Replace(files["waybill.yaml"], "namespaces: none", "namespaces: all", 1),
				"n.yaml":       namespace + role, "r.yaml": roles("eu, us"),
			})},
			{minutes: 20},
			{minutes: 20},
			{files: twin.Texts{"n.yaml": "", "a.yaml": settings, "p.yaml": "", "r.yaml": ""}, edit: func(in *plan.Input) { in.Allow.Named = named }},
		}
	}
	if diff := cmp.Diff(told(t, allowed(guard.OfCluster("eu"))...), told(t, allowed(guard.AllowAll)...)); diff != "" {
		t.Errorf("where all is allowed and the turn of one cluster is now, it is not as where that one is (-one +all):\n%s", diff)
	}
	tellAll(t, []story{
		{"no stage selects a cluster", []round{
			{files: with(small, twin.Texts{"s.yaml": careful("waybill.dev/unmatched: refuse", "eu", "ap")})},
		}, `
1
  eu: 
  us: 
  left: configmap/settings in eu, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in eu, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Done of  to 
  rollout-unmatched: ClusterStagedUpdateStrategy careful:
    spec.stages:
    no stage selects 1 cluster (us):
    no run starts
    because waybill.dev/unmatched is refuse
  again at never, awaits true
`},
		{"the namespace is gone, too", allowed(guard.OfCluster("eu")), `
1
  eu: clusterrole.rbac.authorization.k8s.io/reads namespace/shop configmap/settings deployment.apps/web
  us: namespace/shop
  left: clusterrole.rbac.authorization.k8s.io/reads in us, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: _cluster/r Updating of  to commit-1
    eu: first Released shows commit-1
    us: then Pending shows 
  rollout: shop/p Updating of  to commit-1
    eu: first Released shows commit-1
    us: then Pending shows 
  again at 12:00:01, awaits true
2
  left: clusterrole.rbac.authorization.k8s.io/reads in us, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: _cluster/r Soaking of  to commit-1
    eu: first Healthy shows commit-1
    us: then Pending shows 
  rollout: shop/p Soaking of  to commit-1
    eu: first Healthy shows commit-1
    us: then Pending shows 
  again at 12:25, awaits true
3
  us: clusterrole.rbac.authorization.k8s.io/reads namespace/shop configmap/settings deployment.apps/web
  rollout: _cluster/r Updating of  to commit-1
    eu: first Healthy shows commit-1
    us: then Released shows commit-1
  rollout: shop/p Updating of  to commit-1
    eu: first Healthy shows commit-1
    us: then Released shows commit-1
  again at 12:40:01, awaits true
4
  eu: 
  left: namespace/shop in us, kept true 
  left: clusterrole.rbac.authorization.k8s.io/reads in us, kept true WaitsForStage
  left: configmap/settings in us, kept true WaitsForStage
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: _cluster/r Updating of  to commit-4
    eu: first Released shows commit-4
    us: then Pending shows commit-1
  rollout: shop/p Updating of  to commit-4
    eu: first Released shows commit-4
    us: then Pending shows commit-1
  released: [eu] by [whoever ran publish --allow-prune, at 2026-01-01T12:40:00Z]
  released: cluster eu was held and is released:
    it would lose all it holds, 4 of 4 objects:
    Namespace/shop (it is no longer in the source);
    ClusterRole.rbac.authorization.k8s.io/reads (it is no longer in the source);
    ConfigMap/shop/settings (no policy selects it any more);
    and 1 more
  rollout-held: _cluster/r:
    then:
    us would be held:
    it would lose Namespace/shop, ClusterRole.rbac.authorization.k8s.io/reads, ConfigMap/shop/settings and 1 more;
    it would lose all it holds, 4 of 4 objects
  rollout-held: shop/p:
    then:
    us would be held:
    it would lose Namespace/shop, ClusterRole.rbac.authorization.k8s.io/reads, ConfigMap/shop/settings and 1 more;
    it would lose all it holds, 4 of 4 objects
  again at 12:40:01, awaits true
`},
		{"a release that may call a function of time", []round{{files: with(releases, twin.Texts{"a.yaml": release(now)})}}, `
1
  eu: 
  us: 
  left: deployment.apps/web in eu, kept false WaitsForStage
  rollout: shop/p Done of  to 
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  rollout-restless: shop/p cannot go out in stages:
    HelmRelease.helm.toolkit.fluxcd.io/shop/web may call now, which gives another result each time;
    what the unit has stays as it is
  again at never, awaits true
`},
		{"a release that may call one since, and is bound no longer", []round{
			{files: releases},
			{minutes: 20},
			{minutes: 20},
			{files: twin.Texts{"a.yaml": release(now)}, edit: published("commit-3")},
			{files: unbound, edit: published("commit-4")},
		}, `
1
  eu: deployment.apps/web
  us: 
  rollout: shop/p Updating of  to commit-1
    eu: first Released shows commit-1
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  again at 12:00:01, awaits true
2
  rollout: shop/p Soaking of  to commit-1
    eu: first Healthy shows commit-1
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  again at 12:25, awaits true
3
  rollout: shop/p Finishing of  to commit-1
    eu: first Healthy shows commit-1
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  again at 12:40:01, awaits true
4
  rollout: shop/p Done of commit-1 to commit-1
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  rollout-restless: shop/p cannot go out in stages:
    HelmRelease.helm.toolkit.fluxcd.io/shop/web may call now, which gives another result each time;
    what the unit has stays as it is
  again at never, awaits true
5
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
`},
		{"a release that may call one, and is bound no longer at once", []round{
			{files: releases},
			{minutes: 20},
			{minutes: 20},
			{files: with(unbound, twin.Texts{"a.yaml": release(now)}), edit: published("commit-3")},
		}, `
1
  eu: deployment.apps/web
  us: 
  rollout: shop/p Updating of  to commit-1
    eu: first Released shows commit-1
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  again at 12:00:01, awaits true
2
  rollout: shop/p Soaking of  to commit-1
    eu: first Healthy shows commit-1
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  again at 12:25, awaits true
3
  rollout: shop/p Finishing of  to commit-1
    eu: first Healthy shows commit-1
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  again at 12:40:01, awaits true
4
  rollout: shop/p Done of commit-1 to commit-1
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  rollout-restless: shop/p cannot go out in stages:
    HelmRelease.helm.toolkit.fluxcd.io/shop/web may call now, which gives another result each time;
    what the unit has stays as it is
  again at never, awaits true
`},
		{"a window is closed when its stage begins", []round{
			{files: with(small, twin.Texts{"waybill.yaml": closed})}, {minutes: 20}, {minutes: 20}, {minutes: 30},
		}, `
1
  eu: configmap/settings deployment.apps/web
  us: 
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    eu: first Released shows commit-1
    us: then Pending shows 
  again at 12:00:01, awaits true
2
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Soaking of  to commit-1
    eu: first Healthy shows commit-1
    us: then Pending shows 
  again at 12:25, awaits true
3
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Waiting of  to commit-1
    eu: first Healthy shows commit-1
    us: then Pending shows 
  again at 13:00, awaits true
4
  us: configmap/settings deployment.apps/web
  rollout: shop/p Updating of  to commit-1
    eu: first Healthy shows commit-1
    us: then Released shows commit-1
  again at 13:10:01, awaits true
`},
		{"it is on the host that a virtual cluster is on", []round{
			{files: with(small, twin.Texts{
				"c.yaml": cluster("eu", "", "") + cluster("us", "", "") + cluster("ve", "waybill.dev/virtual-of: us", ""),
				"s.yaml": careful("", "ve", "eu, us"), "a.yaml": role + workload("Deployment", "web", "", ""), "p.yaml": roles("eu, us, ve", deployments),
			})},
		}, `
1
  eu: clusterrole.rbac.authorization.k8s.io/reads deployment.apps/web
  us: 
  ve: 
  left: clusterrole.rbac.authorization.k8s.io/reads in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  left: deployment.apps/web in ve, kept false WaitsForStage
  rollout: _cluster/r Updating of  to commit-1
    eu: then Released shows commit-1
    us: then Pending shows 
    ve: then Pending shows 
  again at 12:00:01, awaits true
`},
		{"commit statuses that nobody can ask for", []round{{files: with(small, byBot)}, {minutes: 20}}, `
1
  eu: configmap/settings deployment.apps/web
  us: 
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    eu: first Released shows commit-1
    us: then Pending shows 
  rollout-no-evidence: shop/p:
    nothing says of eu, us whether it is healthy there, and without that a stage does not end
  again at 12:30, awaits true
2
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    eu: first Released shows commit-1
    us: then Pending shows 
  rollout-no-evidence: shop/p:
    nothing says of eu, us whether it is healthy there, and without that a stage does not end
  again at 12:30, awaits true
`},
		{"commit statuses", []round{{files: with(small, byBot)}, {minutes: 20, edit: posted}}, `
1
  eu: configmap/settings deployment.apps/web
  us: 
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    eu: first Released shows commit-1
    us: then Pending shows 
  rollout-no-evidence: shop/p:
    nothing says of eu, us whether it is healthy there, and without that a stage does not end
  again at 12:30, awaits true
2
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    eu: first Released shows commit-1
    us: then Pending shows 
  rollout-no-evidence: shop/p:
    nothing says of eu, us whether it is healthy there, and without that a stage does not end
  again at 12:21, awaits true
`},
		{"commit statuses of nobody", []round{{files: with(small, asks(""))}, {minutes: 20, edit: posted}}, `
1
  eu: configmap/settings deployment.apps/web
  us: 
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    eu: first Released shows commit-1
    us: then Pending shows 
  rollout-no-evidence: shop/p:
    nothing says of eu, us whether it is healthy there, and without that a stage does not end
  again at 12:30, awaits true
2
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    eu: first Released shows commit-1
    us: then Pending shows 
  rollout-no-evidence: shop/p:
    nothing says of eu, us whether it is healthy there, and without that a stage does not end
  again at 12:30, awaits true
`},
		{"clusters are held for something else", []round{
			{files: with(small, twin.Texts{
				"c.yaml": threeOfAll, "a.yaml": another("b"), "q.yaml": sends("q", "ap", "", "v1 ConfigMap"),
			})},
			{files: twin.Texts{"a.yaml": files["a.yaml"], "q.yaml": ""}, edit: func(in *plan.Input) {
				is := in.Published["eu"]
				is.Edited = true
				in.Published["eu"] = is
			}},
		}, `
1
  ap: configmap/b
  eu: 
  us: 
  rollout: shop/p Done of commit-1 to commit-1
  selects-nothing: PropagationPolicy shop/p selects no object of the source that a policy may place
2
  ap: 
    held: it would lose all it holds, 1 of 1 object
      configmap/b: it is no longer in the source
  eu: configmap/settings deployment.apps/web
    held: somebody else edited files of the branch; publishing would undo that
  left: configmap/b in ap, kept true ClusterHeld
  left: configmap/settings in eu, kept false ClusterHeld
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in eu, kept false ClusterHeld
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of commit-1 to commit-2
    eu: first Released shows commit-2
    us: then Pending shows commit-1
  rollout-held: shop/p:
    first:
    eu would be held:
    somebody else edited files of the branch;
    publishing would undo that
  again at 12:00:01, awaits true
`},
	})
}
