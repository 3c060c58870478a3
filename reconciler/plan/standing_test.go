package plan_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// What waits for its stage is the older version on the fleet of today: with its overrides, its placement and its replicas.
func TestOlderVersionsStandInRounds(t *testing.T) {
	tiered := func(tier string) string {
		return cluster("eu", "", "") + strings.Replace(cluster("us", "", ""), "{is: us}", "{is: us, tier: "+tier+"}", 1)
	}
	all := inStages(sends("p", "eu, us", "", deployments))
	notIron := strings.Replace(all, "{clusterNames: [eu, us]}",
		"{labelSelector: {matchExpressions: [{key: tier, operator: NotIn, values: [iron]}]}}", 1)
	one := workload("Deployment", "web", "a: b", "")
	base := twin.Texts{
		"waybill.yaml": config("rollout: {evidence: [timed]}"), "c.yaml": tiered("base"), "s.yaml": careful("", "eu", "us"),
		"a.yaml": one, "p.yaml": all,
	}
	api := workload("Deployment", "api", "", "")
	changed := twin.Texts{"a.yaml": strings.Replace(one, "image: x", "image: y", 1) + api}
	goesOut := func(first twin.Texts, then ...round) []round {
		is := with(base, first)
		unbound := with(is, twin.Texts{"p.yaml": strings.Replace(is["p.yaml"], "careful", "none", 1)})
		return append([]round{{files: unbound}, {files: is}}, then...)
	}
	divided := strings.Replace(all, "placement: {",
		"placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}, ", 1)
	imaged := strings.Replace(one, "image: x", "image: y", 1)
	strict := config("guard: {maxRemoved: 0, maxRemovedPercent: 1}, rollout: {evidence: [timed]}")
	back := func(in *plan.Input) {
		is := rollouts.Command{Verb: rollouts.Return, Run: in.State.Rollouts[0].Status.Run, Ref: "ref-1", By: "ann"}
		in.Staging.Commands = []plan.Command{{Unit: "shop/p", Command: is}}
	}
	euMay := func(in *plan.Input) { in.Allow.Named = guard.OfCluster("eu") }
	newerWaits := twin.Texts{"waybill.yaml": strict, "s.yaml": careful("waybill.dev/newer: Wait", "eu", "us"), "a.yaml": one + api}
	more := twin.Texts{
		"c.yaml": tiered("base") + cluster("ve", "", ""), "p.yaml": strings.Replace(divided, "eu, us", "eu, us, ve", 1),
		"s.yaml": careful("", "eu", "us, ve"),
	}
	const gold = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: o, namespace: shop}\n" +
		"spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}],\n" +
		" overrideRules: [{overriders: {plaintext: [{path: /metadata/annotations/tier, operator: add, value: gold}]}}]}\n"
	var known state.State
	was := map[string]*files.Folder{}
	remembered := func(in *plan.Input) {
		known = in.State
		for name, is := range in.Published {
			was[name] = is.Built
		}
	}
	forgotten := func(in *plan.Input) {
		in.State, in.Staging.Unrecorded = known, map[string]*staged.Unrecorded{}
		for name, is := range in.Published {
			if is.Built.ID() != was[name].ID() {
				in.Staging.Unrecorded[name] = &staged.Unrecorded{Known: was[name]}
			}
		}
	}
	tellAll(t, []story{
		{"a label by which it is placed", goesOut(
			twin.Texts{"p.yaml": notIron}, round{files: changed}, round{files: twin.Texts{"c.yaml": tiered("iron")}},
			round{files: twin.Texts{"c.yaml": tiered("base")}},
		), `
1
  eu: deployment.apps/web
  us: deployment.apps/web
2
  rollout: shop/p Done of commit-2 to commit-2
3
  eu: deployment.apps/api deployment.apps/web
  left: deployment.apps/api in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Updating of commit-2 to commit-3
    eu: first Released shows commit-3
    us: then Pending shows commit-2
  again at 12:00:01, awaits true
4
  us: 
    held: it would lose all it holds, 1 of 1 object
      deployment.apps/web: PropagationPolicy shop/p no longer sends it here
  left: deployment.apps/web in us, kept true ClusterHeld
  rollout: shop/p Soaking of commit-2 to commit-3
    eu: first Healthy shows commit-3
    us: then Leaving shows commit-2
  again at 12:00:01, awaits true
5
  left: deployment.apps/api in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Soaking of commit-2 to commit-3
    eu: first Healthy shows commit-3
    us: then Pending shows commit-2
  again at 12:00:01, awaits true
`},
		{"it is told to go back", goesOut(
			twin.Texts{"waybill.yaml": strict}, round{files: changed}, round{edit: back, minutes: 1}, round{edit: euMay}, round{minutes: 30},
		), `
1
  eu: deployment.apps/web
  us: deployment.apps/web
2
  rollout: shop/p Done of commit-2 to commit-2
3
  eu: deployment.apps/api deployment.apps/web
  left: deployment.apps/api in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Updating of commit-2 to commit-3
    eu: first Released shows commit-3
    us: then Pending shows commit-2
  again at 12:00:01, awaits true
4
  eu: deployment.apps/web
    held: it would lose 1 of 2 objects; the guard allows 0
      deployment.apps/api: shop/p goes back to a version that does not send it here
  left: deployment.apps/api in eu, kept false WaitsForStage
  left: deployment.apps/api in us, kept false WaitsForStage
  left: deployment.apps/web in eu, kept true WaitsForStage
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Returning of commit-2 to commit-3
    eu: first Pending shows commit-2
    us: then Pending shows commit-2
  again at 12:01:01, awaits true
5
  eu: deployment.apps/web
  left: deployment.apps/api in eu, kept false WaitsForStage
  left: deployment.apps/api in us, kept false WaitsForStage
  left: deployment.apps/web in eu, kept true WaitsForStage
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Returning of commit-2 to commit-3
    eu: first Pending shows commit-2
    us: then Pending shows commit-2
  released: [eu] by [whoever ran publish --allow-prune, at 2026-01-01T12:01:00Z]
  released: cluster eu was held and is released:
    it would lose 1 of 2 objects;
    the guard allows 0:
    Deployment.apps/shop/api (shop/p goes back to a version that does not send it here)
  again at 12:01:01, awaits true
6
  left: deployment.apps/api in eu, kept false WaitsForStage
  left: deployment.apps/api in us, kept false WaitsForStage
  left: deployment.apps/web in eu, kept true WaitsForStage
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Stopped of commit-2 to commit-3
    eu: first Pending shows commit-2
    us: then Pending shows commit-2
  rollout-stopped: shop/p:
    return was commanded by ann;
    the clusters went back, and this version is not tried` + " again\n" + `  again at never, awaits true
`},
		{"a newer version waits", goesOut(
			newerWaits, round{files: twin.Texts{"a.yaml": imaged}}, round{edit: euMay}, round{files: twin.Texts{"a.yaml": imaged + api}},
			round{minutes: 30},
		), `
1
  eu: deployment.apps/api deployment.apps/web
  us: deployment.apps/api deployment.apps/web
2
  rollout: shop/p Done of commit-2 to commit-2
3
  eu: deployment.apps/web
    held: it would lose 1 of 2 objects; the guard allows 0
      deployment.apps/api: it is no longer in the source
  left: deployment.apps/api in eu, kept true ClusterHeld
  left: deployment.apps/api in us, kept true WaitsForStage
  left: deployment.apps/web in eu, kept true ClusterHeld
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Updating of commit-2 to commit-3
    eu: first Released shows commit-3
    us: then Pending shows commit-2
  rollout-held: shop/p:
    first:
    eu would be held:
    it would lose Deployment.apps/shop/api;
    it would lose 1 of 2 objects;
    the guard allows 0
  rollout-held: shop/p:
    then:
    us would be held:
    it would lose Deployment.apps/shop/api;
    it would lose 1 of 2 objects;
    the guard allows 0
  again at 12:00:01, awaits true
4
  eu: deployment.apps/web
  left: deployment.apps/api in us, kept true WaitsForStage
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Updating of commit-2 to commit-3
    eu: first Released shows commit-3
    us: then Pending shows commit-2
  released: [eu] by [whoever ran publish --allow-prune, at 2026-01-01T12:00:00Z]
  released: cluster eu was held and is released:
    it would lose 1 of 2 objects;
    the guard allows 0:
    Deployment.apps/shop/api (it is no longer in the source)
  again at 12:00:01, awaits true
5
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Soaking of commit-2 to commit-3
    eu: first Healthy shows commit-3
    us: then Pending shows commit-2
  again at 12:05, awaits true
6
  us: deployment.apps/web
    held: it would lose 1 of 2 objects; the guard allows 0
      deployment.apps/api: the version to which shop/p goes does not send it here
  left: deployment.apps/api in us, kept true ClusterHeld
  left: deployment.apps/web in us, kept true ClusterHeld
  rollout: shop/p Updating of commit-2 to commit-3
    eu: first Healthy shows commit-3
    us: then Released shows commit-3
  again at 12:30:01, awaits true
`},
		{"replicas are divided, and there are more clusters", goesOut(
			twin.Texts{"p.yaml": divided}, round{files: twin.Texts{"a.yaml": strings.Replace(imaged, "replicas: 4", "replicas: 8", 1)}},
			round{files: more}, round{minutes: 30},
		), `
1
  eu: deployment.apps/web
  us: deployment.apps/web
2
  rollout: shop/p Done of commit-2 to commit-2
3
  eu: deployment.apps/web
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Updating of commit-2 to commit-3
    eu: first Released shows commit-3
    us: then Pending shows commit-2
  again at 12:00:01, awaits true
4
  eu: deployment.apps/web
  ve: 
  left: deployment.apps/web in us, kept true WaitsForStage
  left: deployment.apps/web in ve, kept false WaitsForStage
  rollout: shop/p Soaking of commit-2 to commit-4
    eu: first Healthy shows commit-4
    us: then Pending shows commit-2
    ve: then Pending shows commit-2
  again at 12:00:01, awaits true
5
  us: deployment.apps/web
  left: deployment.apps/web in ve, kept false WaitsForStage
  rollout: shop/p Updating of commit-2 to commit-4
    eu: first Healthy shows commit-4
    us: then Released shows commit-4
    ve: then Pending shows commit-2
  again at 12:30:01, awaits true
`},
		{"there are more clusters while it goes out", []round{
			{files: with(base, twin.Texts{"p.yaml": divided})}, {files: more}, {minutes: 30},
		}, `
1
  eu: deployment.apps/web
  us: 
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    eu: first Released shows commit-1
    us: then Pending shows 
  again at 12:00:01, awaits true
2
  ve: 
  left: deployment.apps/web in us, kept false WaitsForStage
  left: deployment.apps/web in ve, kept false WaitsForStage
  rollout: shop/p Soaking of  to commit-2
    eu: first Healthy shows commit-2
    us: then Pending shows 
    ve: then Pending shows 
  again at 12:05, awaits true
3
  us: deployment.apps/web
  left: deployment.apps/web in ve, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-2
    eu: first Healthy shows commit-2
    us: then Released shows commit-2
    ve: then Pending shows 
  again at 12:30:01, awaits true
`},
		{"what a cluster had is gone", goesOut(twin.Texts{}, round{files: changed}, round{edit: func(in *plan.Input) {
			in.Published["us"] = tree.Published{Built: files.NewFolder(nil)}
		}}), `
1
  eu: deployment.apps/web
  us: deployment.apps/web
2
  rollout: shop/p Done of commit-2 to commit-2
3
  eu: deployment.apps/api deployment.apps/web
  left: deployment.apps/api in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Updating of commit-2 to commit-3
    eu: first Released shows commit-3
    us: then Pending shows commit-2
  again at 12:00:01, awaits true
4
  us: deployment.apps/web
  left: deployment.apps/api in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Soaking of commit-2 to commit-3
    eu: first Healthy shows commit-3
    us: then Pending shows commit-2
  again at 12:00:01, awaits true
`},
		{"replicas are divided, the override is gone in the new version, and so is what a cluster had", goesOut(
			twin.Texts{"p.yaml": divided, "o.yaml": gold}, round{files: twin.Texts{"a.yaml": imaged, "o.yaml": ""}},
			round{edit: func(in *plan.Input) { in.Published["us"] = tree.Published{Built: files.NewFolder(nil)} }}, round{edit: func(in *plan.Input) {
				if e, _ := in.Published["us"].Built.Lookup(tree.Path(web)); e.Blob == nil || !strings.Contains(textOf(t, e.Blob), "tier: gold") {
					t.Errorf("us has the older version without its override: %v", e.Blob)
				}
			}},
		), `
1
  eu: deployment.apps/web
  us: deployment.apps/web
2
  rollout: shop/p Done of commit-2 to commit-2
3
  eu: deployment.apps/web
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Updating of commit-2 to commit-3
    eu: first Released shows commit-3
    us: then Pending shows commit-2
  again at 12:00:01, awaits true
4
  us: deployment.apps/web
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Soaking of commit-2 to commit-3
    eu: first Healthy shows commit-3
    us: then Pending shows commit-2
  again at 12:00:01, awaits true
5
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Soaking of commit-2 to commit-3
    eu: first Healthy shows commit-3
    us: then Pending shows commit-2
  again at 12:05, awaits true
`},
		{"what was published last is not recorded", goesOut(
			twin.Texts{}, round{files: changed, edit: remembered}, round{edit: forgotten}, round{minutes: 1}, round{minutes: 30},
		), `
1
  eu: deployment.apps/web
  us: deployment.apps/web
2
  rollout: shop/p Done of commit-2 to commit-2
3
  eu: deployment.apps/api deployment.apps/web
  left: deployment.apps/api in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Updating of commit-2 to commit-3
    eu: first Released shows commit-3
    us: then Pending shows commit-2
  again at 12:00:01, awaits true
4
  left: deployment.apps/api in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Soaking of commit-2 to commit-4
    eu: first Healthy shows commit-4
    us: then Pending shows commit-2
  again at 12:00:01, awaits true
5
  left: deployment.apps/api in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept true WaitsForStage
  rollout: shop/p Soaking of commit-2 to commit-4
    eu: first Healthy shows commit-4
    us: then Pending shows commit-2
  again at 12:05, awaits true
6
  us: deployment.apps/api deployment.apps/web
  rollout: shop/p Updating of commit-2 to commit-4
    eu: first Healthy shows commit-4
    us: then Released shows commit-4
  again at 12:31:01, awaits true
`},
	})
}

// textOf is what a file says.
func textOf(t *testing.T, b *files.Blob) string {
	t.Helper()
	text, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
