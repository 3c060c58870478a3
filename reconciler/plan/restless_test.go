package plan_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/test/twin"
)

// A release that may give another result each time goes out in no stages: what is recorded of it is forgotten once it is bound to none,
// and was published as one.
func TestRestlessReleasesInRounds(t *testing.T) {
	release := func(annotations, values string) string {
		return "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop,\n" +
			" annotations: {" + annotations + "}}\n" +
			"spec: {values: {" + values + "}, chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: fleet}}}}\n"
	}
	const now = "waybill.dev/allow-functions: now"
	one := inStages(sends("p", "eu", "", "helm.toolkit.fluxcd.io/v2 HelmRelease"))
	two := strings.Replace(one, "[eu]", "[eu, us]", 1)
	unbound := func(policy string) string { return strings.Replace(policy, "careful", "none", 1) }
	files := twin.Texts{
		"waybill.yaml": config("rollout: {evidence: [timed]}"), "c.yaml": cluster("eu", "", "") + cluster("us", "", ""),
		"s.yaml": careful("", "eu", "us"), "chart/Chart.yaml": chart, "a.yaml": release("", ""), "p.yaml": unbound(one),
	}
	published := func(commit string) func(*plan.Input) {
		return func(in *plan.Input) { in.State.Published.Commit = commit }
	}
	bound, restless := twin.Texts{"p.yaml": one}, twin.Texts{"a.yaml": release(now, "")}
	windows := config("rollout: {evidence: [timed],\n windows: [{kind: deny, schedule: '0 12 * * *', duration: 1h, strategies: [none], stages: [all]}]}")
	tellAll(t, []story{
		{"it is bound still", []round{
			{files: files}, {files: bound}, {files: restless, edit: published("commit-2")}, {edit: published("commit-3")},
		}, `
1
  eu: deployment.apps/web
  us: 
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
2
  rollout: shop/p Done of commit-2 to commit-2
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
3
  rollout: shop/p Done of commit-2 to commit-2
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  rollout-restless: shop/p cannot go out in stages:
    HelmRelease.helm.toolkit.fluxcd.io/shop/web may call now, which gives another result each time;
    what the unit has stays as it is
  again at never, awaits true
4
  rollout: shop/p Done of commit-2 to commit-2
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  rollout-restless: shop/p cannot go out in stages:
    HelmRelease.helm.toolkit.fluxcd.io/shop/web may call now, which gives another result each time;
    what the unit has stays as it is
  again at never, awaits true
`},
		{"it goes out by then", []round{
			{files: with(files, twin.Texts{"p.yaml": two})},
			{files: restless, edit: published("commit-1")},
			{files: twin.Texts{"p.yaml": unbound(two)}, edit: published("commit-2")},
		}, `
1
  eu: deployment.apps/web
  us: 
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Updating of  to commit-1
    eu: first Released shows commit-1
    us: then Pending shows 
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  again at 12:00:01, awaits true
2
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Soaking of  to commit-1
    eu: first Healthy shows commit-1
    us: then Pending shows 
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  rollout-restless: shop/p cannot go out in stages:
    HelmRelease.helm.toolkit.fluxcd.io/shop/web may call now, which gives another result each time;
    what the unit has stays as it is
  again at 12:05, awaits true
3
  left: deployment.apps/web in us, kept false WaitsForStage
  rollout: shop/p Soaking of  to commit-1
    eu: first Healthy shows commit-1
    us: then Pending shows 
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  rollout-restless: shop/p cannot go out in stages:
    HelmRelease.helm.toolkit.fluxcd.io/shop/web may call now, which gives another result each time;
    what the unit has stays as it is
  again at 12:05, awaits true
`},
		{"what was published cannot be read", []round{
			{files: files},
			{files: bound},
			{files: restless, edit: published("commit-2")},
			{files: twin.Texts{"p.yaml": unbound(one)}, edit: published("lost")},
		}, `
1
  eu: deployment.apps/web
  us: 
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
2
  rollout: shop/p Done of commit-2 to commit-2
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
3
  rollout: shop/p Done of commit-2 to commit-2
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  rollout-restless: shop/p cannot go out in stages:
    HelmRelease.helm.toolkit.fluxcd.io/shop/web may call now, which gives another result each time;
    what the unit has stays as it is
  again at never, awaits true
4
  rollout: shop/p Done of commit-2 to commit-2
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  rollout-restless: shop/p cannot go out in stages:
    HelmRelease.helm.toolkit.fluxcd.io/shop/web may call now, which gives another result each time;
    what the unit has stays as it is
  again at never, awaits true
`},
		{"windows hold what has no strategy", []round{
			{files: with(files, twin.Texts{"waybill.yaml": windows, "a.yaml": release(now, "")})}, {minutes: 70},
		}, `
1
  eu: 
  us: 
  left: deployment.apps/web in eu, kept false WaitsToGoOut
  rollout: shop/p Waiting of  to commit-1
    eu: all Pending shows 
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  again at 13:00, awaits true
2
  eu: deployment.apps/web
  rollout: shop/p Done of commit-1 to commit-1
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  again at never, awaits false
`},
		{"its policy is gone, and it fails", []round{
			{files: files},
			{files: bound},
			{files: twin.Texts{"a.yaml": release("", "fails: true"), "p.yaml": ""}},
			{files: twin.Texts{"a.yaml": ""}, edit: func(in *plan.Input) { in.Allow.Named = guard.OfCluster("eu") }},
		}, `
1
  eu: deployment.apps/web
  us: 
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
2
  rollout: shop/p Done of commit-2 to commit-2
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
3
  left: deployment.apps/web in eu, kept true ReleaseNotRendered
  rollout: shop/p Done of commit-2 to commit-2
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  not-rendered: HelmRelease.helm.toolkit.fluxcd.io/shop/web:
    its values say so
4
  eu: 
  rollout: shop/p Updating of commit-2 to commit-4
    eu: first Released shows commit-4
  released: [eu] by [whoever ran publish --allow-prune, at 2026-01-01T12:00:00Z]
  released: cluster eu was held and is released:
    it would lose all it holds, 1 of 1 object:
    Deployment.apps/shop/web (HelmRelease.helm.toolkit.fluxcd.io/shop/web, which rendered it, is no longer in the source)
  again at 12:00:01, awaits true
`},
		{"it is bound to none, and fails", []round{
			{files: files},
			{files: bound},
			{files: twin.Texts{"a.yaml": release("", "fails: true"), "p.yaml": unbound(one)}},
			{files: twin.Texts{"a.yaml": release("", "")}},
		}, `
1
  eu: deployment.apps/web
  us: 
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
2
  rollout: shop/p Done of commit-2 to commit-2
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
3
  left: deployment.apps/web in eu, kept true ReleaseNotRendered
  rollout: shop/p Done of commit-2 to commit-2
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  not-rendered: HelmRelease.helm.toolkit.fluxcd.io/shop/web for clusters like eu:
    its values say so
4
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
`},
	})
}
