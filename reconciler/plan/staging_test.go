package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/test/twin"
)

// What goes out in stages shows older versions, and says what the guard would hold.
func TestStagesInRounds(t *testing.T) {
	strategy := "---\napiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterStagedUpdateStrategy\nmetadata: {name: careful}\n" +
		"spec:\n  stages:\n  - {name: first, labelSelector: {matchLabels: {is: eu}}, afterStageTasks: [{type: TimedWait, waitTime: 5m}]}\n" +
		"  - {name: then, labelSelector: {matchExpressions: [{key: is, operator: In, values: [ap, us]}]},\n" +
		"    afterStageTasks: [{type: TimedWait, waitTime: 5m}]}\n"
	bound := strings.Replace(sends("p", "ap, eu, us", deps, deployments), "shop}", "shop, annotations: {waybill.dev/rollout: careful}}", 1)
	files := twin.Texts{
		"waybill.yaml": config("rollout: {evidence: [timed]}"), "c.yaml": threeOfAll, "s.yaml": strategy,
		"a.yaml": workload("Deployment", "web", "", "") + settings, "p.yaml": bound,
	}
	changed := twin.Texts{"a.yaml": strings.Replace(files["a.yaml"], "image: x", "image: y", 1)}
	narrow := twin.Texts{"p.yaml": strings.Replace(bound, "[ap, eu, us]", "[eu]", 1)}
	unbound := twin.Texts{"p.yaml": sends("p", "ap, eu, us", deps, deployments)}
	command := func(unit string, verb rollouts.Verb) func(*plan.Input) {
		return func(in *plan.Input) {
			run := ""
			for _, r := range in.State.Rollouts {
				run = r.Status.Run
			}
			in.Staging.Commands = []plan.Command{{Unit: unit, Command: rollouts.Command{Verb: verb, Run: run, Ref: "ref-1", By: "ann"}}}
			in.Staging.Ignored = []plan.Ignored{{Unit: "shop/p", What: "nobody signed it"}, {What: "nobody knows it"}}
		}
	}
	tellAll(t, []story{
		{"a change", []round{{files: files}, {files: changed, minutes: 1}, {minutes: 10}, {minutes: 10}, {minutes: 10}}, `
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
  eu: configmap/settings deployment.apps/web
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-2
    ap: then Pending shows 
    eu: first Released shows commit-2
    us: then Pending shows 
  again at 12:01:01, awaits true
3
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Soaking of  to commit-2
    ap: then Pending shows 
    eu: first Healthy shows commit-2
    us: then Pending shows 
  again at 12:16, awaits true
4
  ap: configmap/settings deployment.apps/web
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-2
    ap: then Released shows commit-2
    eu: first Healthy shows commit-2
    us: then Pending shows 
  again at 12:21:01, awaits true
5
  us: configmap/settings deployment.apps/web
  rollout: shop/p Updating of  to commit-2
    ap: then Healthy shows commit-2
    eu: first Healthy shows commit-2
    us: then Released shows commit-2
  again at 12:31:01, awaits true
`},
		{"a change that takes it out of clusters", []round{
			{files: files},
			{files: unbound, minutes: 1},
			{files: twin.Texts{"p.yaml": bound}, minutes: 1},
			{files: narrow, minutes: 1},
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
  again at 12:06, awaits true
3
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Soaking of  to commit-1
    ap: then Pending shows 
    eu: first Healthy shows commit-1
    us: then Pending shows 
  again at 12:06, awaits true
4
  rollout: shop/p Soaking of  to commit-4
    eu: first Healthy shows commit-4
  again at 12:08, awaits true
5
  rollout: shop/p Finishing of  to commit-4
    eu: first Healthy shows commit-4
  again at 12:23:01, awaits true
6
  rollout: shop/p Done of commit-4 to commit-4
`},
		{"a change that is told to stop", []round{
			{files: files},
			{files: changed, minutes: 1},
			{minutes: 1, edit: command("shop/p", rollouts.Stop)},
			{minutes: 10},
			{minutes: 1, edit: command("*", rollouts.Resume)},
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
  eu: configmap/settings deployment.apps/web
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-2
    ap: then Pending shows 
    eu: first Released shows commit-2
    us: then Pending shows 
  again at 12:01:01, awaits true
3
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Stopped of  to commit-2
    ap: then Pending shows 
    eu: first Healthy shows commit-2
    us: then Pending shows 
  rollout-command-refused: nobody knows it
  rollout-command-refused: nobody signed it
  rollout-stopped: shop/p:
    stop was commanded by ann
  again at never, awaits true
4
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Stopped of  to commit-2
    ap: then Pending shows 
    eu: first Healthy shows commit-2
    us: then Pending shows 
  rollout-stopped: shop/p:
    stop was commanded by ann
  again at never, awaits true
5
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Soaking of  to commit-2
    ap: then Pending shows 
    eu: first Healthy shows commit-2
    us: then Pending shows 
  rollout-command-refused: nobody knows it
  rollout-command-refused: nobody signed it
  again at 12:18, awaits true
`},
		{"commands", []round{
			{files: files},
			{files: changed, minutes: 1, edit: command("shop/p", rollouts.Stop)},
			{minutes: 10, edit: command("shop/q", rollouts.Resume)},
			{minutes: 10, edit: command("*", rollouts.Resume)},
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
  eu: configmap/settings deployment.apps/web
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-2
    ap: then Pending shows 
    eu: first Released shows commit-2
    us: then Pending shows 
  rollout-command-refused: nobody knows it
  rollout-command-refused: nobody signed it
  rollout-stale-command: shop/p:
    stop (ref-1) did nothing:
    it came for another run, or too early or late
  again at 12:01:01, awaits true
3
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Soaking of  to commit-2
    ap: then Pending shows 
    eu: first Healthy shows commit-2
    us: then Pending shows 
  rollout-command-refused: nobody knows it
  rollout-command-refused: resume shop/q (ref-1) does not count:
    nothing of this name goes out in stages
  rollout-command-refused: nobody signed it
  again at 12:16, awaits true
4
  ap: configmap/settings deployment.apps/web
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-2
    ap: then Released shows commit-2
    eu: first Healthy shows commit-2
    us: then Pending shows 
  rollout-command-refused: nobody knows it
  rollout-command-refused: nobody signed it
  rollout-stale-command: shop/p:
    resume (ref-1) did nothing:
    it came for another run, or too early or late
  again at 12:21:01, awaits true
`},
		{"what was recorded cannot be read", []round{{files: files}, {files: changed, minutes: 1, edit: func(in *plan.Input) {
			in.State.UnreadableRollouts = map[rollouts.Unit]error{in.State.Rollouts[0].Unit: errors.New("no JSON")}
			in.State.Rollouts = nil
		}}}, `
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
  left: deployment.apps/web in eu, kept true WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  again at never, awaits true
`},
		{"it is bound to none any more", []round{
			{files: files}, {files: changed, minutes: 1}, {files: unbound, minutes: 10}, {minutes: 10},
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
  eu: configmap/settings deployment.apps/web
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-2
    ap: then Pending shows 
    eu: first Released shows commit-2
    us: then Pending shows 
  again at 12:01:01, awaits true
3
  left: configmap/settings in ap, kept false WaitsForStage
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in ap, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Soaking of  to commit-2
    ap: then Pending shows 
    eu: first Healthy shows commit-2
    us: then Pending shows 
  again at 12:16, awaits true
4
  ap: configmap/settings deployment.apps/web
  left: configmap/settings in us, kept false WaitsForStage
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-2
    ap: then Released shows commit-2
    eu: first Healthy shows commit-2
    us: then Pending shows 
  again at 12:21:01, awaits true
`},
	})
}
