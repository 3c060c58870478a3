package markdown_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/reconciler/preview/markdown"
	"github.com/waybill-dev/waybill/reconciler/preview/previewtest"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// changes is a comparison with a change of each verb, and nothing else but these changes.
func changes(all ...preview.Change) string {
	c := preview.Comparison{Changes: all, Totals: preview.Totals{Objects: len(all), Clusters: 1, Of: 2}}
	return markdown.Comment(&c, markdown.Limit)
}

func ref(name string) object.Ref {
	return object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name}
}

// numbered are so many names.
func numbered(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("n%02d", i))
	}
	return all
}

// TestHowMuchOfEachIsListed: so many, and how many more there are; of one that just fits nothing is left out.
func TestHowMuchOfEachIsListed(t *testing.T) {
	for _, tt := range []struct {
		name string
		most int
		fill func(c *preview.Comparison, n int)
		last string // in what is listed, by its number
		more string // of two
	}{
		{"regions", 30, func(c *preview.Comparison, n int) {
			c.Regions = nil
			for _, name := range numbered(n) {
				c.Regions = append(c.Regions, preview.Region{Name: name})
			}
		}, "| ` n%02d ` | 0 of 0 |", "\nand 2 more regions\n"},
		{"clusters", 50, func(c *preview.Comparison, n int) {
			c.Clusters = nil
			for _, name := range numbered(n) {
				c.Clusters = append(c.Clusters, preview.Cluster{Name: name})
			}
		}, "| ` n%02d ` | - |", "\nand 2 more clusters\n"},
		{"errors", 10, func(c *preview.Comparison, n int) {
			c.Diags = nil
			for _, name := range numbered(n) {
				c.Diags = append(c.Diags, diag.Diagnostic{Severity: diag.Error, Code: "x", Pos: diag.Pos{File: name}, Message: "no"})
			}
		}, "- ` n%02d: error: no [x] `", "\n- and 2 more\n"},
		{"errors that there are anyway", 10, func(c *preview.Comparison, n int) {
			c.Already = nil
			for _, name := range numbered(n) {
				c.Already = append(c.Already, diag.Diagnostic{Severity: diag.Error, Code: "y", Pos: diag.Pos{File: name}, Message: "no"})
			}
		}, "- ` n%02d: error: no [y] `", "\n- and 2 more\n"},
		{"removals", 10, func(c *preview.Comparison, n int) {
			c.Guard.Holds[0].Removals = nil
			for _, name := range numbered(n) {
				c.Guard.Holds[0].Removals = append(c.Guard.Holds[0].Removals, guard.Removal{Object: ref(name), Cause: "it leaves"})
			}
		}, "- ` ConfigMap/shop/n%02d `: ` it leaves `", "\n- and 2 more\n"},
		{"holds", 10, func(c *preview.Comparison, n int) {
			c.Guard.Holds = nil
			for _, name := range numbered(n) {
				c.Guard.Holds = append(c.Guard.Holds, preview.Hold{Clusters: []string{"x"}, Reason: name})
			}
		}, "**The guard holds 1 cluster** (` x `): ` n%02d `", "\nand 2 more reasons\n"},
		{"holds that there are anyway", 10, func(c *preview.Comparison, n int) {
			c.Guard.Already = nil
			for _, name := range numbered(n) {
				c.Guard.Already = append(c.Guard.Already, preview.Hold{Clusters: []string{"x"}, Reason: name})
			}
		}, "Held without this change, too: 1 cluster (` x `): ` n%02d `", "\nand 2 more reasons\n"},
		{"clusters of a hold", 6, func(c *preview.Comparison, n int) {
			c.Guard.Holds[0].Clusters = numbered(n)
		}, "` n%02d `", " and 2 more): ` it would lose everything `"},
	} {
		for _, more := range []int{0, 1, 2} {
			c := previewtest.Everything()
			c.Short, c.Changes = nil, nil // which have clusters, too
			tt.fill(&c, tt.most+more)
			got := markdown.Comment(&c, markdown.Limit)
			if !strings.Contains(got, fmt.Sprintf(tt.last, tt.most-1)) || strings.Contains(got, fmt.Sprintf(tt.last, tt.most)) {
				t.Errorf("%s: of %d there are listed\n%s", tt.name, tt.most+more, got)
			}
			said := strings.Replace(tt.more, "2", strconv.Itoa(more), 1)
			if more == 1 {
				said = strings.NewReplacer("more regions", "more region", "more clusters", "more cluster").Replace(said)
			}
			if is := strings.Contains(got, said); is != (more > 0) {
				t.Errorf("%s: of %d it says that there are more: %t\n%s", tt.name, tt.most+more, is, got)
			}
		}
	}
}

// TestALineOfAChange has its first parts, and counts the others; one of which nothing is told but that is a line alone.
func TestALineOfAChange(t *testing.T) {
	left := func(n int) (all []preview.Left) {
		for range n {
			all = append(all, preview.Left{Clusters: []string{"a"}, Reason: "it waits"})
		}
		return all
	}
	for n, want := range map[int]string{
		4: ", left as it is in 1 cluster, left as it is in 1 cluster, left as it is in 1 cluster, left as it is in 1 cluster</summary>",
		5: ", left as it is in 1 cluster, left as it is in 1 cluster, left as it is in 1 cluster, " +
			"left as it is in 1 cluster, and 1 more</summary>",
	} {
		if got := changes(preview.Change{Verb: preview.Frozen, Objects: []object.Ref{ref("a")}, Left: left(n)}); !strings.Contains(got, want) {
			t.Errorf("of %d parts it says\n%s", n, got)
		}
	}
	if got := changes(preview.Change{Verb: preview.Changes, Objects: []object.Ref{ref("a")}}); !strings.Contains(got,
		"<p><b>changes</b>: <code>ConfigMap/shop/a</code>, </p>") ||
		strings.Contains(got, "<details>") {
		t.Errorf("of nothing it says\n%s", got)
	}
	var many []object.Ref
	for _, name := range numbered(9) {
		many = append(many, ref(name))
	}
	got := changes(preview.Change{Verb: preview.Appears, Objects: many, Added: []string{"a"}})
	if !strings.Contains(got, "<code>ConfigMap/shop/n00</code> and 8 more, to 1 cluster") || !strings.Contains(got,
		"` ConfigMap/shop/n06 ` and 2 more\n") {
		t.Errorf("of nine objects it says\n%s", got)
	}
	moves := preview.Change{
		Verb: preview.Moves, Objects: []object.Ref{ref("a")}, Removed: []string{"a"}, Moves: []preview.Move{{
			From: "a",
			How:  "when it is there", Nowhere: "it is in b",
		}},
	}
	if got := changes(moves); !strings.Contains(got, "\n- a\n# from a: when it is there; it is in b\n") {
		t.Errorf("of a move it says\n%s", got)
	}
}

// TestLongValuesAreCut: a value of many lines, and all that a change would show, each with how many lines are left out.
func TestLongValuesAreCut(t *testing.T) {
	set := func(to any, clusters ...string) preview.Content {
		return preview.Content{Clusters: clusters, Fields: []fields.Field{{Path: "data.k", Op: fields.Add, To: to}}}
	}
	change := func(all ...preview.Content) string {
		return changes(preview.Change{Verb: preview.Changes, Objects: []object.Ref{ref("a")}, Changed: all})
	}
	var items []any
	for _, name := range numbered(42) {
		items = append(items, name)
	}
	if got := change(set(items[:40], "a")); !strings.Contains(got, "+   - n39\n") || strings.Contains(got, "more line") {
		t.Errorf("of 40 lines it says\n%s", got)
	}
	if got := change(set(items, "a")); !strings.Contains(got, "+   - n39\n+   and 2 more lines\n") || strings.Contains(got, "n40") {
		t.Errorf("of 42 lines it says\n%s", got)
	}
	var long []preview.Content
	for _, name := range numbered(20) {
		long = append(long, set(strings.Repeat("ü", 300), name))
	}
	got := change(long...)
	_, text, _ := strings.Cut(got, "```diff\n")
	text, _, isWhole := strings.Cut(text, "```\n")
	if rows := strings.Split(strings.TrimSuffix(text, "\n"), "\n"); !isWhole || len(text) > 8100 || len(text) < 7000 ||
		!utf8.ValidString(text) ||
		!strings.HasPrefix(rows[len(rows)-1], "# and ") || !strings.HasPrefix(rows[len(rows)-2], "# in ") &&
		!strings.HasSuffix(rows[len(rows)-2], "ü") {
		t.Errorf("of %d bytes it says\n%s", len(text), text)
	}
}

// TestATextInALineIsNotTooLong, and stands between more backticks than it has.
func TestATextInALineIsNotTooLong(t *testing.T) {
	for text, want := range map[string]string{
		"a":                                "` a `",
		" ":                                "-",
		"a\tb":                             "` a b `",
		"a`b``c`":                          "``` a`b``c` ```",
		strings.Repeat("x", 300):           "` " + strings.Repeat("x", 300) + " `",
		strings.Repeat("x", 301):           "` " + strings.Repeat("x", 300) + "… `",
		strings.Repeat("x", 299) + "ü":     "` " + strings.Repeat("x", 299) + "… `",
		strings.Repeat("x", 298) + "ü":     "` " + strings.Repeat("x", 298) + "ü `",
		"``" + strings.Repeat("x", 300):    "``` ``" + strings.Repeat("x", 298) + "… ```",
		strings.Repeat("x", 300) + "`````": "` " + strings.Repeat("x", 300) + "… `",
	} {
		c := preview.Comparison{Supposed: []string{text}}
		if got := markdown.Comment(&c, markdown.Limit); !strings.HasSuffix(got, "\nSupposed: "+want+"\n") {
			t.Errorf("of %.20q it says %q, want %q", text, got, want)
		}
	}
	fenced := preview.Content{Clusters: []string{"a"}, Fields: []fields.Field{{Path: "data.k", Op: fields.Add, To: "a ```` b"}}}
	if got := changes(preview.Change{
		Verb: preview.Changes, Objects: []object.Ref{ref("a")},
		Changed: []preview.Content{fenced},
	}); !strings.Contains(got, "`````diff\n") {
		t.Errorf("of backticks it says\n%s", got)
	}
}

// TestWhatIsThereAnyway is counted by what it is, and a change that changes nothing says what counts first.
func TestWhatIsThereAnyway(t *testing.T) {
	mistake := diag.Diagnostic{Severity: diag.Error, Code: "x", Pos: diag.Pos{File: "a.yaml"}, Message: "no"}
	warning := diag.Diagnostic{Severity: diag.Warning, Code: "y", Pos: diag.Pos{File: "b.yaml"}, Message: "maybe"}
	const unknown = "**No cluster changes as far as is known**: what has an error stays as it is.\n"
	for _, tt := range []struct {
		all         []diag.Diagnostic
		first, last string
	}{
		{nil, "**No cluster changes.**\n", "**No cluster changes.**\n"},
		{[]diag.Diagnostic{warning}, "**No cluster changes.**\n", "There without this change, too: 1 warning.\n"},
		{[]diag.Diagnostic{mistake}, unknown, "There without this change, too: 1 error.\n- ` a.yaml: error: no [x] `\n"},
		{
			[]diag.Diagnostic{mistake, warning, mistake},
			unknown,
			"There without this change, too: 2 errors, 1 warning.\n- ` a.yaml: error: no [x] `\n- ` a.yaml: error: no [x] `\n",
		},
	} {
		c := preview.Comparison{Already: tt.all}
		if got := markdown.Comment(&c, markdown.Limit); !strings.HasPrefix(got, tt.first) || !strings.HasSuffix(got, tt.last) {
			t.Errorf("of %v it says\n%s", tt.all, got)
		}
	}
	held := preview.Comparison{Guard: &preview.Guard{Holds: []preview.Hold{{Clusters: []string{"a"}, Reason: "all leave"}}}}
	if got := markdown.Comment(&held, markdown.Limit); !strings.HasPrefix(got, "**") || strings.HasPrefix(got, "**No") ||
		!strings.Contains(got, "\n**No cluster changes.**\n") {
		t.Errorf("of what is held it says\n%s", got)
	}
	counted := preview.Comparison{Changes: []preview.Change{{Verb: preview.Appears, Objects: []object.Ref{ref("a")}, Added: []string{"a"}}}}
	counted.Totals = preview.Totals{Objects: 1, Clusters: 1, Of: 2}
	if got := markdown.Comment(&counted, markdown.Limit); !strings.Contains(got, "\n**1 object in 1 of 2 clusters**\n") ||
		strings.Contains(got, "manifests:") || strings.Contains(got, "replicas of") {
		t.Errorf("of one object it says\n%s", got)
	}
}

// TestWhatThereIsNoRoomFor is counted, changes and their objects; a change of which there is room for a line has that.
func TestWhatThereIsNoRoomFor(t *testing.T) {
	c := preview.Comparison{Totals: preview.Totals{Objects: 30, Clusters: 1, Of: 2}}
	for _, name := range numbered(15) {
		c.Changes = append(c.Changes, preview.Change{
			Verb: preview.Changes, Objects: []object.Ref{ref(name), ref(name + "-2")}, Causes: []preview.Cause{{Message: name}},
			Changed: []preview.Content{{Clusters: []string{"a"}, Fields: []fields.Field{{Path: "data.k", Op: fields.Add, To: strings.Repeat(name,
				100)}}}},
		})
	}
	briefs := 0
	for limit := 1000; limit < 12000; limit += 130 {
		got := markdown.Comment(&c, limit)
		whole, brief := strings.Count(got, "<details>"), strings.Count(got, "<p>")
		omitted := len(c.Changes) - whole - brief
		want := fmt.Sprintf("**and %s more** of %s: there is no room for them here", words.Count(omitted, "change"), words.Count(2*omitted,
			"object"))
		if len(got) > limit || omitted > 0 != strings.Contains(got, want) || omitted < 0 {
			t.Errorf("in %d bytes %d are whole, %d are brief, and of %d it says\n%s", limit, whole, brief, omitted, got[max(0, len(got)-400):])
		}
		briefs += brief
	}
	if briefs == 0 {
		t.Error("none has a line where there is no room for more")
	}
}

// TestHowToLetItHappen is said as far as it can be: by a trailer, by a comment that names the head, or not at all.
func TestHowToLetItHappen(t *testing.T) {
	const digest, trailer = "0123456789abcdef0123456789abcdef01234567", "Waybill-Allow-Prune: 0123"
	head := strings.Repeat("2", 40)
	comment := "\n\n```\n/waybill approve-prune " + digest + " " + head + "\n```\n"
	for _, tt := range []struct{ trailer, digest, head, want, not string }{
		{"", digest, head, "To let it happen, a maintainer comments this before the pull request is merged:" + comment, "put this trailer"},
		{
			trailer, "", head, "To let it happen, put this trailer on a commit, or run `waybill publish`:\n\n```\n" + trailer + "\n```\n",
			"approve-prune",
		},
		{
			trailer, digest, head, "no trailer counts, and a maintainer comments this before the pull request is merged:" + comment,
			"To let it happen, a maintainer",
		},
		{trailer, digest, "main", "put this trailer", "approve-prune"},
		{trailer, digest, head + "0", "put this trailer", "approve-prune"},
		{"", digest, "", "all leave", "To let it happen"},
	} {
		c := preview.Comparison{Head: tt.head, Guard: &preview.Guard{
			Digest: tt.digest, Trailer: tt.trailer, Command: "waybill publish", Holds: []preview.Hold{{
				Clusters: []string{"a"},
				Reason:   "all leave",
			}},
		}}
		if got := markdown.Comment(&c, markdown.Limit); !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("with %q and %q at %q it says\n%s", tt.trailer, tt.digest, tt.head, got)
		}
	}
}
