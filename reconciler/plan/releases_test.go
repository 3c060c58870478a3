package plan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/twin"
)

// rendered renders every release to a Deployment that needs the ConfigMap settings, but for one called broken. Its values may say what
// the Deployment is called, which files the release was made from, and that it fails.
func rendered(jobs []engine.Job) ([]engine.Rendered, error) {
	all := make([]engine.Rendered, len(jobs))
	for i, job := range jobs {
		name := strings.TrimPrefix(job.Name(), "release shop/")
		if name == "broken" {
			unrendered, err := engine.Unrendered(jobs[i : i+1])
			if err != nil {
				return nil, errors.New("what never fails failed")
			}
			all[i] = unrendered[0]
			continue
		}
		values := job.Helm.Release.Values
		if all[i].Inputs = name; values["from"] != nil {
			all[i].Inputs = fmt.Sprint(values["from"])
		}
		if values["fails"] == true {
			all[i].Diags = []diag.Diagnostic{{Code: diag.NotRendered, Severity: diag.Error, Message: "its values say so"}}
			continue
		}
		if is := values["is"]; is != nil {
			name = fmt.Sprint(is)
		}
		for _, o := range object.Decode(name, []byte(workload("Deployment", name, "", ""))).Objects {
			all[i].Manifests = append(all[i].Manifests, engine.Manifest{Object: o})
		}
	}
	return all, nil
}

// What releases render goes where they go, moves as they do, and stays while they fail.
func TestReleasesInRounds(t *testing.T) {
	release := func(name, annotations string) string {
		return "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: " + name + ", namespace: shop,\n" +
			" annotations: {" + annotations + "}}\n" +
			"spec: {chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: fleet}}}}\n"
	}
	sent := func(clusters string) string { return sends("p", clusters, "", "helm.toolkit.fluxcd.io/v2 HelmRelease") }
	files := twin.Texts{
		"waybill.yaml": config("publish: {moves: {wait: 5m, timeout: 10m}}"), "c.yaml": threeOfAll,
		"chart/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n",
		"a.yaml":           release("web", "") + release("api", "waybill.dev/move: direct"), "p.yaml": sent("eu"),
		"clusters/eu/own.yaml": release("own", "") + stays,
	}
	gone := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	approved := guard.Approval{By: "ann", PullRequest: 7, Removals: guard.Removals{{Clusters: []string{"eu"}, Objects: []object.Ref{gone}}}}
	tellAll(t, []story{
		{"they move", []round{{files: files}, {files: twin.Texts{"p.yaml": sent("us")}, minutes: 1}, {minutes: 6}}, `
1
  ap: 
  eu: configmap/stays deployment.apps/api deployment.apps/own deployment.apps/web
  us: 
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
2
  eu: configmap/stays deployment.apps/own deployment.apps/web
  us: deployment.apps/api deployment.apps/web
  move: deployment.apps/api from eu to [us] by direct: it has the annotation waybill.dev/move: direct until never, 0s, began false
  move: deployment.apps/web from eu to [us] by time: NewCopiesGivenTime until 12:06, 5m0s, began false
  leaving: deployment.apps/web from eu since 12:01, allowed false
  left: deployment.apps/web in eu, kept true NewCopiesGivenTime
  asks: deployment.apps/web of [eu us]
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  again at 12:06, awaits false
3
  eu: configmap/stays deployment.apps/own
  move: deployment.apps/web from eu to [us] by time:  until never, 0s, began true
  asks: deployment.apps/web of [eu us]
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  again at never, awaits false
`},
		{"one fails", []round{
			{files: files},
			{files: twin.Texts{"a.yaml": release("web", "") + release("broken", "")}},
			{files: twin.Texts{"c.yaml": cluster("eu", "", "")}},
			{files: twin.Texts{"a.yaml": ""}, edit: func(in *plan.Input) { in.Allow.Approved = []guard.Approval{approved} }},
		}, `
1
  ap: 
  eu: configmap/stays deployment.apps/api deployment.apps/own deployment.apps/web
  us: 
  release: helmrelease.helm.toolkit.fluxcd.io/api [Deployment.apps/shop/api] of "", made from "api"
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
2
  eu: configmap/stays deployment.apps/own deployment.apps/web
    held: it would lose 1 of 4 objects while part of the source cannot be rendered
      deployment.apps/api: HelmRelease.helm.toolkit.fluxcd.io/shop/api, which rendered it, is no longer in the source
  left: deployment.apps/api in eu, kept true ClusterHeld
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "eu", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  not-rendered: HelmRelease.helm.toolkit.fluxcd.io/shop/broken for clusters like eu:
    nothing here renders releases
3
  eu: deployment.apps/own deployment.apps/web
    held: it would lose 2 of 4 objects while part of the source cannot be rendered
      configmap/stays: no policy selects it any more
      deployment.apps/api: it is no longer in the source
  left: configmap/stays in eu, kept true 
  left: deployment.apps/api in eu, kept true ClusterHeld
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "", made from "own"
  release: helmrelease.helm.toolkit.fluxcd.io/web [Deployment.apps/shop/web] of "", made from "web"
  cluster-detached: cluster ap is no longer registered;
    its branch stays as it is
  cluster-detached: cluster us is no longer registered;
    its branch stays as it is
  not-rendered: HelmRelease.helm.toolkit.fluxcd.io/shop/broken for clusters like eu:
    nothing here renders releases
4
  eu: deployment.apps/own
  release: helmrelease.helm.toolkit.fluxcd.io/own [Deployment.apps/shop/own] of "", made from "own"
  cluster-detached: cluster ap is no longer registered;
    its branch stays as it is
  cluster-detached: cluster us is no longer registered;
    its branch stays as it is
`},
	})
}
