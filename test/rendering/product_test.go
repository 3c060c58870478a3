package rendering

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/waybill-dev/waybill/test/peers"
	"github.com/waybill-dev/waybill/test/program"
)

// TestWhatIsDeliveredIsWhatTheProgramsRender goes the whole way: a release and a
// Kustomize root of a repository, through policies, to two clusters.
func TestWhatIsDeliveredIsWhatTheProgramsRender(t *testing.T) {
	t.Parallel()
	a, err := txtar.ParseFile("testdata/product.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := unpack(t, a)
	src, out := filepath.Join(dir, "src"), filepath.Join(dir, "out")
	kustomized, err := byKustomize(t, filepath.Join(src, "root"))
	if err != nil {
		t.Fatal(err)
	}
	deliver(t, src, out)
	for _, cluster := range []string{"eu-1", "us-1"} {
		t.Run(cluster, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), peers.Build(t).Helm, "template", "store", filepath.Join(src, "charts/shop"),
				"--namespace", "web", "--include-crds",
				"--values", filepath.Join(dir, "values/common.yaml"), "--set", "sizes.bytes=8000000,cluster="+cluster,
				"--values", filepath.Join(dir, "values", cluster+".yaml"))
			released, err := peers.Output(cmd)
			if err != nil {
				t.Fatal(err)
			}
			want := byKey(asDelivered(documents(t, released), "web"), asDelivered(documents(t, kustomized), "default"))
			got := byKey(manifestsBelow(t, filepath.Join(out, cluster, "manifests")))
			if len(want) < 10 {
				t.Errorf("the programs give no more than %d documents", len(want))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-the programs' +delivered):\n%s", diff)
			}
		})
	}
}

// deliver runs waybill render.
func deliver(t *testing.T, src, out string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program.Build(t), "render", src, "--out", out)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir())
	if text, err := peers.Output(cmd); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// asDelivered changes documents as Waybill does when it delivers them: they get
// Karmada's label, and the namespace that they would be applied to.
func asDelivered(all []document, namespace string) []document {
	clusterWide := []any{"ClusterRole", "CustomResourceDefinition"}
	for i, d := range all {
		o := d.Object.(map[string]any)
		meta := o["metadata"].(map[string]any)
		if meta["namespace"] == nil && !slices.Contains(clusterWide, o["kind"]) {
			meta["namespace"] = namespace
		}
		labels, ok := meta["labels"].(map[string]any)
		if !ok {
			labels = map[string]any{}
			meta["labels"] = labels
		}
		labels["karmada.io/managed"] = "true"
		all[i].Key = key(o)
	}
	return all
}

// byKey is documents without their sources, and without their order, which no branch has.
func byKey(lists ...[]document) map[string]any {
	all := map[string]any{}
	for _, d := range slices.Concat(lists...) {
		all[d.Key] = d.Object
	}
	return all
}

func manifestsBelow(t *testing.T, dir string) []document {
	t.Helper()
	var stream strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		stream.WriteString("\n---\n" + string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return documents(t, stream.String())
}
