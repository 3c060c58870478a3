package plan_test

import (
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/test/twin"
)

// What is remembered of releases says what they rendered to, and from what, as long as clusters have that; what is gone of a state is
// made up for.
func TestWhatIsRememberedInRounds(t *testing.T) {
	release := func(name, annotations, values string) string {
		return "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: " + name + ", namespace: shop,\n" +
			" annotations: {" + annotations + "}}\n" +
			"spec: {values: {" + values + "}, chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: fleet}}}}\n"
	}
	sent := func(clusters string) string { return sends("p", clusters, "", "helm.toolkit.fluxcd.io/v2 HelmRelease") }
	files := twin.Texts{
		"waybill.yaml": config("guard: {maxRemoved: 0, maxRemovedPercent: 1}"), "c.yaml": threeOfAll, "chart/Chart.yaml": chart,
		"a.yaml": release("web", "", "") + release("api", "", ""), "p.yaml": sent("eu"), "clusters/eu/own.yaml": release("own", "", ""),
	}
	key, err := draw.NewKey([]byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	draws := func(key draw.Key, rotates bool) func(*plan.Input) {
		return func(in *plan.Input) { in.Random.Key, in.Random.Source, in.Random.Rotate = key, "fleet", rotates }
	}
	other, err := draw.NewKey([]byte("another key, of thirty-two bytes"))
	if err != nil {
		t.Fatal(err)
	}
	drawn := with(files, twin.Texts{"a.yaml": release("web", "waybill.dev/allow-functions: randAlphaNum", "")})
	unread := func(path string) func(*plan.Input) {
		return func(in *plan.Input) {
			in.State.Unreadable = []state.Unreadable{{Path: path, Reason: "it is no YAML"}}
			for r := range in.State.Bindings {
				if state.IsBindingOf(path, r) {
					delete(in.State.Bindings, r)
				}
			}
		}
	}
	tellAll(t, []story{
		{"it renders something else, and its cluster is held", []round{
			{files: files},
			{files: twin.Texts{"a.yaml": release("web", "", "is: shop, from: b") + release("api", "", "")}},
			{edit: allowAll},
		}, `
1
  ap: 
  eu: deployment.apps/api deployment.apps/own deployment.apps/web
  us: 
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
2
  eu: deployment.apps/api deployment.apps/own deployment.apps/shop
    held: it would lose 1 of 3 objects; the guard allows 0
      deployment.apps/web: HelmRelease.helm.toolkit.fluxcd.io/shop/web no longer renders it
  left: deployment.apps/shop in eu, kept false ClusterHeld
  left: deployment.apps/web in eu, kept true ClusterHeld
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/shop Deployment.apps/shop/web] of "", made from "b"
3
  eu: deployment.apps/api deployment.apps/own deployment.apps/shop
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/shop] of "", made from "b"
  released: [eu] by [whoever ran publish --allow-prune, at 2026-01-01T12:00:00Z]
  released: cluster eu was held and is released:
    it would lose 1 of 3 objects;
    the guard allows 0:
    Deployment.apps/shop/web (HelmRelease.helm.toolkit.fluxcd.io/shop/web no longer renders it)
`},
		{"one in the folder of a cluster renders something else", []round{
			{files: files}, {files: twin.Texts{"clusters/eu/own.yaml": release("own", "", "is: shop, from: b")}}, {edit: allowAll},
		}, `
1
  ap: 
  eu: deployment.apps/api deployment.apps/own deployment.apps/web
  us: 
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
2
  eu: deployment.apps/api deployment.apps/shop deployment.apps/web
    held: it would lose 1 of 3 objects; the guard allows 0
      deployment.apps/own: HelmRelease.helm.toolkit.fluxcd.io/shop/own no longer renders it
  left: deployment.apps/own in eu, kept true 
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own Deployment.apps/shop/shop] of "eu", made from "b"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
3
  eu: deployment.apps/api deployment.apps/shop deployment.apps/web
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/shop] of "eu", made from "b"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  released: [eu] by [whoever ran publish --allow-prune, at 2026-01-01T12:00:00Z]
  released: cluster eu was held and is released:
    it would lose 1 of 3 objects;
    the guard allows 0:
    Deployment.apps/shop/own (HelmRelease.helm.toolkit.fluxcd.io/shop/own no longer renders it)
`},
		{"it fails, made from something else", []round{
			{files: files},
			{files: twin.Texts{"a.yaml": release("web", "", "fails: true, from: b") + release("api", "", "")}},
			{files: twin.Texts{"a.yaml": release("web", "", "fails: true, from: c")}},
			{edit: allowAll},
		}, `
1
  ap: 
  eu: deployment.apps/api deployment.apps/own deployment.apps/web
  us: 
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
2
  left: deployment.apps/web in eu, kept true ReleaseNotRendered
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "b"
  not-rendered: HelmRelease.helm.toolkit.fluxcd.io/shop/web for clusters like eu:
    its values say so
3
  eu: deployment.apps/own deployment.apps/web
    held: it would lose 1 of 3 objects while part of the source cannot be rendered
      deployment.apps/api: HelmRelease.helm.toolkit.fluxcd.io/shop/api, which rendered it, is no longer in the source
  left: deployment.apps/api in eu, kept true ClusterHeld
  left: deployment.apps/web in eu, kept true ReleaseNotRendered
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "b"
  not-rendered: HelmRelease.helm.toolkit.fluxcd.io/shop/web for clusters like eu:
    its values say so
4
  eu: deployment.apps/own deployment.apps/web
  left: deployment.apps/web in eu, kept true ReleaseNotRendered
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "c"
  released: [eu] by [whoever ran publish --allow-prune, at 2026-01-01T12:00:00Z]
  released: cluster eu was held and is released:
    it would lose 1 of 3 objects while part of the source cannot be rendered:
    Deployment.apps/shop/api (it is no longer in the source)
  not-rendered: HelmRelease.helm.toolkit.fluxcd.io/shop/web for clusters like eu:
    its values say so
`},
		{"a new one fails", []round{
			{files: with(files, twin.Texts{"a.yaml": release("web", "", "")})},
			{files: twin.Texts{"a.yaml": release("api", "", "fails: true")}},
			{edit: allowAll},
		}, `
1
  ap: 
  eu: deployment.apps/own deployment.apps/web
  us: 
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
2
  eu: deployment.apps/own
    held: it would lose 1 of 2 objects while part of the source cannot be rendered
      deployment.apps/web: HelmRelease.helm.toolkit.fluxcd.io/shop/web, which rendered it, is no longer in the source
  left: deployment.apps/web in eu, kept true ClusterHeld
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  not-rendered: HelmRelease.helm.toolkit.fluxcd.io/shop/api for clusters like eu:
    its values say so
3
  eu: deployment.apps/own
  release: helmrelease.helm.toolkit.fluxcd.io/api [] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  released: [eu] by [whoever ran publish --allow-prune, at 2026-01-01T12:00:00Z]
  released: cluster eu was held and is released:
    it would lose 1 of 2 objects while part of the source cannot be rendered:
    Deployment.apps/shop/web (it is no longer in the source)
  not-rendered: HelmRelease.helm.toolkit.fluxcd.io/shop/api for clusters like eu:
    its values say so
`},
		{"releases go elsewhere, and stay where they were", []round{{files: files}, {files: twin.Texts{"p.yaml": sent("us")}}}, `
1
  ap: 
  eu: deployment.apps/api deployment.apps/own deployment.apps/web
  us: 
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
2
  eu: deployment.apps/own
    held: it would lose 2 of 3 objects; the guard allows 0
      deployment.apps/api: PropagationPolicy shop/p no longer sends it here
      deployment.apps/web: PropagationPolicy shop/p no longer sends it here
  left: deployment.apps/api in eu, kept true ClusterHeld
  left: deployment.apps/api in us, kept false WouldBeTwice
  left: deployment.apps/web in eu, kept true ClusterHeld
  left: deployment.apps/web in us, kept false WouldBeTwice
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  waits-for-held: Deployment.apps/shop/api, Deployment.apps/shop/web stay as they are in every cluster:
    a held cluster would have to take its part of them first
`},
		{"one that never rendered, while a cluster is held", []round{
			{files: with(files, twin.Texts{"db.yaml": release("db", "", "fails: true, from: b")})}, {files: twin.Texts{"a.yaml": release("web", "", "")}},
		}, `
1
  ap: 
  eu: deployment.apps/api deployment.apps/own deployment.apps/web
  us: 
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/db [] of "", made from "b"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  not-rendered: HelmRelease.helm.toolkit.fluxcd.io/shop/db for clusters like eu:
    its values say so
2
  eu: deployment.apps/own deployment.apps/web
    held: it would lose 1 of 3 objects; the guard allows 0
      deployment.apps/api: HelmRelease.helm.toolkit.fluxcd.io/shop/api, which rendered it, is no longer in the source
  left: deployment.apps/api in eu, kept true ClusterHeld
  release: helmrelease.helm.toolkit.fluxcd.io/db [] of "", made from "b"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  not-rendered: HelmRelease.helm.toolkit.fluxcd.io/shop/db for clusters like eu:
    its values say so
`},
		{"it fails, and nobody knew what it was made from", []round{
			{files: with(files, twin.Texts{"a.yaml": release("web", "", "from: ''") + release("api", "", "")})},
			{files: twin.Texts{"a.yaml": release("web", "", "fails: true, from: ''")}},
		}, `
1
  ap: 
  eu: deployment.apps/api deployment.apps/own deployment.apps/web
  us: 
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from ""
2
  eu: deployment.apps/own deployment.apps/web
    held: it would lose 1 of 3 objects; the guard allows 0
      deployment.apps/api: HelmRelease.helm.toolkit.fluxcd.io/shop/api, which rendered it, is no longer in the source
  left: deployment.apps/api in eu, kept true ClusterHeld
  left: deployment.apps/web in eu, kept true ReleaseNotRendered
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from ""
  not-rendered: HelmRelease.helm.toolkit.fluxcd.io/shop/web for clusters like eu:
    its values say so
`},
		{"another cluster is held than the one in whose folder it is", []round{
			{files: with(files, twin.Texts{
				"waybill.yaml": config("guard: {maxRemoved: 1, maxRemovedPercent: 1}"), "b.yaml": another("b") + another("c") + another("d"),
				"q.yaml": sends("q", "us", "", "v1 ConfigMap"),
			})},
			{files: twin.Texts{"b.yaml": another("b"), "clusters/eu/own.yaml": release("own", "", "is: shop, from: b")}},
		}, `
1
  ap: 
  eu: deployment.apps/api deployment.apps/own deployment.apps/web
  us: configmap/b configmap/c configmap/d
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
2
  eu: deployment.apps/api deployment.apps/shop deployment.apps/web
  us: configmap/b
    held: it would lose 2 of 3 objects; the guard allows 1
      configmap/c: it is no longer in the source
      configmap/d: it is no longer in the source
  left: configmap/c in us, kept true ClusterHeld
  left: configmap/d in us, kept true ClusterHeld
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/shop] of "eu", made from "b"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
`},
		{"it draws from another key", []round{
			{files: drawn, edit: draws(key, false)},
			{edit: draws(other, false)},
			{edit: draws(other, true)},
			{edit: draws(draw.Key{}, false)},
		}, `
1
  ap: 
  eu: deployment.apps/own deployment.apps/web
  us: 
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
2
  left: deployment.apps/web in eu, kept true ReleaseNotRendered
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from ""
  random-key: HelmRelease.helm.toolkit.fluxcd.io/shop/web:
    it draws nothing:
    the random key that was used last is 8beb8e5c78113270b428ec2deacacd5a, and this one is b5d0d62417f353013feed5aa1c3e115e
3
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
4
  left: deployment.apps/web in eu, kept true ReleaseNotRendered
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from ""
  random-key: HelmRelease.helm.toolkit.fluxcd.io/shop/web:
    it draws nothing:
    the random key that was used last is b5d0d62417f353013feed5aa1c3e115e, and none is given
`},
		{"a binding cannot be read", []round{
			{files: with(files, twin.Texts{"a.yaml": another("a") + another("b"), "p.yaml": sends("p", "eu", "", "v1 ConfigMap")})},
			{files: twin.Texts{"p.yaml": sends("p", "us", "", "v1 ConfigMap")}, edit: unread("bindings/shop/a-configmap.yaml")},
		}, `
1
  ap: 
  eu: configmap/a configmap/b deployment.apps/own
  us: 
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
2
  eu: configmap/a deployment.apps/own
    held: it would lose 1 of 3 objects; the guard allows 0
      configmap/b: PropagationPolicy shop/p no longer sends it here
  left: configmap/a in eu, kept true ContentUnknown
  left: configmap/b in eu, kept true ClusterHeld
  left: configmap/b in us, kept false WouldBeTwice
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  state-unreadable: bindings/shop/a-configmap.yaml on branch waybill/state cannot be read:
    it is no YAML;
    ConfigMap/shop/a stays as it was last published
  waits-for-held: ConfigMap/shop/b stay as they are in every cluster:
    a held cluster would have to take its part of them first
`},
	})
}
