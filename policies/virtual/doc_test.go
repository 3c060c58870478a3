package virtual

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render/object"
)

// TestEveryFieldIsDocumented holds the tables of docs/virtual-clusters.md against those of the
// code: of fields that name namespaces, and of pod templates.
func TestEveryFieldIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/virtual-clusters.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for kind, refs := range references {
		var paths []path
		for _, r := range refs {
			paths = append(paths, r.path)
		}
		want = append(want, docRow(kind, paths))
	}
	var inPods []path
	for _, r := range podReferences {
		inPods = append(inPods, r.path)
	}
	want = append(want, "| every pod template | "+fields(inPods)+" |")
	for kind, paths := range podTemplates {
		want = append(want, docRow(kind, paths))
	}
	for line := range strings.Lines(string(doc)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| `") && !strings.HasPrefix(line, "| every pod") || strings.Contains(line, "waybill.dev/") {
			continue
		}
		i := slices.Index(want, line)
		if i < 0 {
			t.Errorf("docs/virtual-clusters.md has a row that is not in the code, or is there twice:\n%s", line)
			continue
		}
		want = slices.Delete(want, i, i+1)
	}
	slices.Sort(want)
	for _, row := range want {
		t.Errorf("docs/virtual-clusters.md lacks the row\n%s", row)
	}
}

func docRow(kind object.GroupKind, paths []path) string {
	return "| `" + strings.TrimSuffix(kind.Kind+"."+cmp.Or(kind.Group, ""), ".") + "` | " + fields(paths) + " |"
}

// fields spells paths as the docs do.
func fields(paths []path) string {
	var all []string
	for _, p := range paths {
		text := strings.ReplaceAll(strings.Join(p, "."), ".[]", "[]")
		all = append(all, "`"+strings.ReplaceAll(text, "{}", "*")+"`")
	}
	return strings.Join(all, ", ")
}
