package consumer_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/report/consumer"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

var update = flag.Bool("update", false, "rewrite golden files")

// built is what a cluster gets: one manifest.
func built(t *testing.T, flux tree.Flux) *files.Folder {
	t.Helper()
	web := tree.Manifest{
		Ref:  object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
		Blob: files.NewBlob([]byte("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n")),
	}
	root, err := tree.NewBuilder().LayOut([]tree.Manifest{web}).Tree(flux)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// fixture is a plan of two clusters, of which each has one manifest.
func fixture(t *testing.T) *plan.Plan {
	t.Helper()
	var p plan.Plan
	p.Config.Publish.BranchPrefix = "waybill/cluster/"
	for _, name := range []string{"eu", "us"} {
		p.Clusters = append(p.Clusters, plan.Cluster{Name: name, Tree: built(t, tree.Flux{}), Objects: 1, Sync: fluxsync.Sync{Cluster: name}})
	}
	return &p
}

// inFolders are branches of the form before parts, with a Kustomization for each of some namespaces.
func inFolders(built *files.Folder, namespaces ...string) map[string]tree.Published {
	of := twin.Of(built)
	for _, ns := range namespaces {
		of["flux/"+ns+"/kustomization.yaml"] = twin.File([]byte("kind: Kustomization\n"))
	}
	return map[string]tree.Published{"eu": {Built: of.Folder()}}
}

// TestFlux holds what is printed for Flux against testdata/flux.txtar.
func TestFlux(t *testing.T) {
	const name = "testdata/flux.txtar"
	golden, err := txtar.ParseFile(name)
	if err != nil || len(golden.Files) == 0 {
		t.Fatal("no golden sections", err)
	}
	p := fixture(t)
	published := map[string]tree.Published{"eu": {Built: p.Clusters[0].Tree}}
	single := fluxsync.Sync{Cluster: "eu"}
	single.Form = fluxsync.FormSingle
	for i, f := range golden.Files {
		p := fixture(t)
		of := published
		switch {
		case strings.HasPrefix(f.Name, "folders called alike"):
			of = inFolders(p.Clusters[0].Tree, "_cluster", "cluster")
		case strings.HasPrefix(f.Name, "folders"):
			of = inFolders(p.Clusters[0].Tree, "_cluster", "shop")
		case f.Name == "parts in a roll-out":
			split := fluxsync.Sync{Cluster: "eu"}
			split.Form, split.Namespace = fluxsync.FormSplit, "flux-system"
			of = map[string]tree.Published{"eu": {Built: built(t, tree.Flux{Sync: split})}}
			p.Clusters[0].Sync = split
		case f.Name == "a shared branch":
			p.Config.Publish.Layout, p.Config.Publish.Branch = render.LayoutFolders, "waybill/clusters"
			of = map[string]tree.Published{"eu": {Built: p.Clusters[0].Tree}, "us": {Built: p.Clusters[1].Tree}}
		case f.Name == "a form before its time":
			p.Clusters[0].Sync = single
			of = inFolders(p.Clusters[0].Tree, "shop")
		}
		var out, notes strings.Builder
		err := map[string]consumer.Flux{
			"no URL":        {},
			"no cluster":    {URL: "https://git.example.com/x", Clusters: []string{"ap"}},
			"one root":      {URL: "https://git.example.com/x", Secret: "token"},
			"nothing to do": {URL: "https://git.example.com/x", Clusters: []string{"eu"}, Migrate: true},

			"folders":                {URL: address, Clusters: []string{"eu"}, UI: "https://waybill.example.com"},
			"folders of a roll-out":  {URL: address, Clusters: []string{"eu"}, Rollout: consumer.FluxRollout{Wanted: true, Secret: "statuses"}},
			"folders to one root":    {URL: address, Clusters: []string{"eu"}, Migrate: true},
			"folders called alike":   {URL: address, Clusters: []string{"eu"}},
			"parts in a roll-out":    {URL: address, Clusters: []string{"eu"}, Rollout: consumer.FluxRollout{Wanted: true, Secret: "statuses"}},
			"a shared branch":        {URL: address},
			"a form before its time": {URL: address, Clusters: []string{"eu"}},
		}[f.Name].Write(&out, &notes, p, of)
		got := out.String() + notes.String()
		if err != nil {
			got += "error: " + err.Error()
		}
		if !strings.HasSuffix(got, "\n") {
			got += "\n" // as txtar has it
		}
		if d := cmp.Diff(string(f.Data), got); d != "" && !*update {
			t.Errorf("%s of %s: %s", f.Name, name, d)
		}
		golden.Files[i].Data = []byte(got)
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(golden), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// With the URL of the web UI an Application leads to the page of its cluster, and so do the events of a Kustomization; without it
// neither does.
func TestLinks(t *testing.T) {
	p := fixture(t)
	published := map[string]tree.Published{"eu": {Built: p.Clusters[0].Tree}}
	said := func(ui string) string {
		var out, notes strings.Builder
		if err := (consumer.Flux{URL: "https://git.example.com/x", UI: ui}).Write(&out, &notes, p, published); err != nil {
			t.Fatal(err)
		}
		if err := (consumer.ArgoCD{URL: "https://git.example.com/x", UI: ui}).Write(&out, &notes, p, published); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	with, without := said("https://waybill.example.com/"), said("")
	for _, want := range []string{
		"kind: Kustomization\nmetadata:\n  annotations:\n    event.toolkit.fluxcd.io/waybill: https://waybill.example.com/clusters/eu\n",
		"link.argocd.argoproj.io/waybill: https://waybill.example.com/clusters/{{.cluster}}",
	} {
		if !strings.Contains(with, want) {
			t.Errorf("%q is not in\n%s", want, with)
		}
	}
	if strings.Contains(without, "annotations") || strings.Count(with, "annotations") != 2 {
		t.Errorf("without the web UI it is\n%s\nand with it\n%s", without, with)
	}
	var rolled, notes strings.Builder
	reports := consumer.Flux{URL: "https://git.example.com/x", UI: "https://waybill.example.com/", Rollout: consumer.FluxRollout{Wanted: true, Forge: "gitea", Secret: "forge"}}
	if err := reports.Write(&rolled, &notes, p, published); err != nil || strings.Count(rolled.String(), "event.toolkit.fluxcd.io/waybill: https://waybill.example.com/clusters/eu\n") != 1 {
		t.Errorf("where Flux reports of roll-outs it is %v\n%s", err, rolled.String())
	}
	p.Config.Publish.Links = "https://waybill.example.com"
	if by := said(""); by != with {
		t.Errorf("by the config it is\n%s", by)
	}
	p.Config.Publish.Links = "https://other.example.com"
	if by := said("https://waybill.example.com/"); by != with {
		t.Errorf("by a flag, and by the config, it is\n%s", by)
	}
	p.Config.Publish.Links = ""
	var out strings.Builder
	for _, ui := range []string{"waybill.example.com", "ftp://x", "https://user:secret@waybill.example.com"} {
		if err := (consumer.ArgoCD{URL: "x", UI: ui}).Write(&out, &notes, p, published); err == nil || !strings.Contains(err.Error(), "--ui-url") {
			t.Errorf("%q is taken: %v", ui, err)
		}
	}
}
