// Package upgrade plans fleets again that earlier versions published. Each export of
// testdata is a repository as a version left it, with a source in which things are broken
// and held, as "git fast-export --all" prints it:
//
//	form-1   before the state had a form. Deployment web goes from 5:5 to 2:8 and waits, for
//	         us was edited by hand and is held; b.yaml cannot be read; ConfigMap moves goes to
//	         ap, where an override fails; the release rel cannot be rendered any longer
//	unlisted the last version that delivered what kustomizations do not list: plain manifests, a
//	         definition, a kustomization with a prefix, releases of Helm and Flux, a Deployment
//	         that pulls a ConfigMap along, a Namespace for one object alone; broken.yaml was
//	         delivered as well, and cannot be read any longer
package upgrade

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources/git"
)

// imported makes a repository of an export.
func imported(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "fleet.git")
	run(t, ".", nil, "git", "init", "-q", "--bare", "-b", "main", dir)
	export, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer export.Close()
	run(t, dir, export, "git", "fast-import", "--quiet")
	return dir
}

func run(t *testing.T, dir string, in *os.File, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	if in != nil {
		cmd.Stdin = in
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// branches lists the clusters' branches with their commits.
func branches(t *testing.T, dir string) string {
	t.Helper()
	return run(t, dir, nil, "git", "for-each-ref", "refs/heads/waybill/cluster")
}

// publish publishes the source of a repository to itself.
func publish(t *testing.T, dir string) reconciler.Result {
	t.Helper()
	repo, err := git.Open(t.Context(), git.Options{Location: dir, CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	r := &reconciler.Reconciler{
		Seen:   reconciler.NewCache(),
		Source: repo, Target: repo, Engine: renderer.New(&worker.Local{Handler: engines.Run}, nil),
		Version: "test", Now: func() time.Time { return time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC) },
	}
	res, err := r.Publish(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestAFleetDoesNotMoveByTheUpgrade publishes with this version what an earlier one
// published: one commit of the state, no commit of a cluster, and then nothing.
func TestAFleetDoesNotMoveByTheUpgrade(t *testing.T) {
	dir := imported(t, "form-1.export")
	before := branches(t, dir)
	first := publish(t, dir)
	if len(first.Updates) != 1 || first.Updates[0].Branch != state.Branch {
		t.Errorf("the first plan writes %+v, want the state alone", first.Updates)
	}
	if after := branches(t, dir); after != before {
		t.Errorf("clusters move:\n%s\nafter\n%s", before, after)
	}
	for _, c := range first.Plan.Clusters {
		if held := c.Held != nil; held != (c.Name == "us") {
			t.Errorf("cluster %s is held: %t", c.Name, held)
		}
	}
	if again := publish(t, dir); len(again.Updates) != 0 {
		t.Errorf("the second plan writes %+v, want nothing", again.Updates)
	}
	for file, want := range map[string]string{
		"format":                            "2\n",
		"bindings/shop/web-deployment.yaml": "  - name: us\n    replicas: 8\n",
		"clusters/us.yaml":                  "somebody else edited files of the branch",
		"last-good.json":                    `"name": "b"`,
	} {
		if got := run(t, dir, nil, "git", "show", "waybill/state:"+file); !strings.Contains(got, want) {
			t.Errorf("%s of the state lacks %q:\n%s", file, want, got)
		}
	}
	// What waits in the fleet is as it was published: five replicas in each cluster.
	for _, cluster := range []string{"eu", "us"} {
		got := run(t, dir, nil, "git", "show", "waybill/cluster/"+cluster+":manifests/shop/deployment.apps/web.yaml")
		if !strings.Contains(got, "replicas: 5\n") {
			t.Errorf("%s runs\n%s", cluster, got)
		}
	}
}
