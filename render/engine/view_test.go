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
		{"what cannot be a path, though it need not be there", []Copy{{From: "../top.yaml", Optional: true}}, "error"},
		{"what is no pattern, though it need not be there", []Copy{{From: "apps/[", Optional: true}}, "error"},
		{"one that is there after one that need not be", []Copy{{From: "absent", Optional: true}, {From: "top.yaml", To: "to/"}}, "to/top.yaml"},
		{"one that is not there after one that is", []Copy{{From: "top.yaml", To: "to/"}, {From: "absent"}}, "error"},
		{"a file to the top", []Copy{{From: "top.yaml"}}, "top.yaml"},
		{"a file to a name beside a folder", []Copy{{From: "apps/db", To: "other"}, {From: "top.yaml", To: "oth"}}, "oth other/db/c.yaml"},
		{"the contents of folders by a pattern", []Copy{{From: "apps/d*/**", To: "to/"}}, "to/apps/db/c.yaml"},
		{"without files by their name", []Copy{{From: "apps/web", To: "to", Exclude: []string{"*.md"}}}, "to/web/a.yaml to/web/sub/b.yaml"},
		{"without a folder by its name", []Copy{{From: "apps/web", To: "to", Exclude: []string{"sub"}}}, "to/web/README.md to/web/a.yaml"},
		{"without a folder by its path", []Copy{{From: "apps/web", To: "to", Exclude: []string{"apps/web/sub"}}}, "to/web/README.md to/web/a.yaml"},
		{"without a folder by its path there", []Copy{{From: "apps", To: "", Exclude: []string{"web/sub"}}}, "apps/db/c.yaml apps/web/README.md apps/web/a.yaml"},
		{"without what is at any depth", []Copy{{From: "apps", To: "", Exclude: []string{"**/b.yaml"}}}, "apps/db/c.yaml apps/web/README.md apps/web/a.yaml"},
		{"at any depth is at none, too", []Copy{{From: "apps", To: "", Exclude: []string{"web/**/a.yaml"}}}, "apps/db/c.yaml apps/web/README.md apps/web/sub/b.yaml"},
		{"a part of a path excludes nothing", []Copy{{From: "apps/d*/*", To: "", Exclude: []string{"apps", "db/c", "apps/db/c.yaml/**/x", "web/c.yaml"}}}, "apps/db/c.yaml"},
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

// TestRootsOfCopies are the folder that is sure to be read, and where what is in it goes.
func TestRootsOfCopies(t *testing.T) {
	for _, tt := range []struct{ name, from, to, wantFrom, wantTo string }{
		{"a folder", "apps/web", "to", "apps/web", "to/web"},
		{"a folder with a slash", "apps/web/", "to/", "apps/web", "to/web"},
		{"the contents of a folder", "apps/web/**", "to/", "apps/web", "to"},
		{"the contents of folders by a pattern", "apps/*/**", "to/", "apps", "to/apps"},
		{"files by a pattern", "apps/web/*.yaml", "to", "apps/web", "to/apps/web"},
		{"folders by a pattern", "apps/[a-c]/x", "", "apps", "apps"},
		{"all by a pattern", "*", "to", ".", "to"},
	} {
		if from, to := (Copy{From: tt.from, To: tt.to}).Roots(); from != tt.wantFrom || to != tt.wantTo {
			t.Errorf("%s: %s goes to %s; want %s to %s", tt.name, from, to, tt.wantFrom, tt.wantTo)
		}
	}
}
