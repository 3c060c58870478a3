package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/sources"
)

// TestCopiesAreThoseOfSourceWatcher: folders are copied as cp -r does, with and without a slash, and
// patterns as source-watcher's builder has them.
func TestCopiesAreThoseOfSourceWatcher(t *testing.T) {
	files := sources.Tree(map[string][]byte{
		"apps/web/a.yaml": nil, "apps/web/sub/b.yaml": nil, "apps/web/README.md": nil, "apps/db/c.yaml": nil, "top.yaml": nil, ".hidden/d.yaml": nil,
	})
	for _, tt := range []struct {
		name   string
		copies []Copy
		want   string
	}{
		{"a folder with a slash", []Copy{{From: "apps/db/", To: "to/"}}, "to/db/c.yaml"},
		{"a folder without one", []Copy{{From: "apps/db", To: ""}}, "db/c.yaml"},
		{"the contents of a folder", []Copy{{From: "apps/web/**", To: "to/", Exclude: []string{"*.md"}}}, "to/a.yaml to/sub/b.yaml"},
		{"files by a pattern keep their path", []Copy{{From: "apps/web/*.yaml", To: "to/"}}, "to/apps/web/a.yaml"},
		{"folders by a pattern", []Copy{{From: "apps/*", To: "to/", Exclude: []string{"web/**"}}}, "to/apps/db/c.yaml"},
		{"all", []Copy{{From: "", To: ""}}, ".hidden/d.yaml apps/db/c.yaml apps/web/README.md apps/web/a.yaml apps/web/sub/b.yaml top.yaml"},
		{"a file into a folder", []Copy{{From: "top.yaml", To: "to/"}}, "to/top.yaml"},
		{"a file to a name", []Copy{{From: "top.yaml", To: "to"}}, "to"},
		{"a file into a folder that is there", []Copy{{From: "apps/db", To: "to"}, {From: "top.yaml", To: "to"}}, "to/db/c.yaml to/top.yaml"},
		{"what need not be there", []Copy{{From: "absent", Optional: true}, {From: "absent/*", Optional: true}}, ""},
		{"what is not there", []Copy{{From: "absent/"}}, "error"},
		{"a pattern of nothing", []Copy{{From: "absent/*"}}, "error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			arranged, err := View(files, tt.copies)
			var got []string
			for p := range arranged {
				got = append(got, p)
			}
			slices.Sort(got)
			if err != nil {
				got = []string{"error"}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
