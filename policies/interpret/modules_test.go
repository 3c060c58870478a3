package interpret_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/policies/interpret/thirdparty"
)

var update = flag.Bool("update", false, "write testdata/modules.txt anew")

// TestModules holds the rules of other projects to testdata/modules.txt, which lists them with
// digests: a new version of a module that changes an answer changes that file, on purpose.
func TestModules(t *testing.T) {
	t.Parallel()
	const golden = "testdata/modules.txt"
	got := listed(t, thirdparty.Source, thirdparty.Karmada(), "*/*/*/customizations.yaml") +
		listed(t, argocd.Source, argocd.Files(), "*/*/health.lua")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the rules are others; if that is meant, run the test with -update (-want +got):\n%s", diff)
	}
}

// listed lists the files that match a pattern: the folder of each, and a digest of it.
func listed(t *testing.T, source string, files fs.FS, pattern string) string {
	t.Helper()
	names, err := fs.Glob(files, pattern)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "%s %s %.6x\n", source, path.Dir(name), sha256.Sum256(data))
	}
	return text.String()
}

// TestSourcesNameTheVersionsOfGoMod holds the names of rules to what is built in.
func TestSourcesNameTheVersionsOfGoMod(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for source, module := range map[string]string{
		thirdparty.Source: "github.com/karmada-io/karmada", argocd.Source: "github.com/argoproj/argo-cd/v3",
	} {
		_, version, _ := strings.Cut(source, " ")
		if !strings.Contains(string(mod), "\t"+module+" "+version+"\n") {
			t.Errorf("rules are named %q, and go.mod has another version of %s", source, module)
		}
	}
}
