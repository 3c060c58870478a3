package markdown_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/markdown"
	"github.com/waybill-dev/waybill/reconciler/preview/previewtest"
	"github.com/waybill-dev/waybill/render/object"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestComment(t *testing.T) {
	c := previewtest.Everything()
	got := markdown.Comment(&c, markdown.Limit)
	const name = "testdata/everything.md"
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

func TestACommentOfNothing(t *testing.T) {
	c := preview.Comparison{}
	if got := markdown.Comment(&c, markdown.Limit); got != "**No cluster changes.**\n" {
		t.Errorf("it says %q", got)
	}
	c.Diags = previewtest.Everything().Diags
	got := markdown.Comment(&c, markdown.Limit)
	if !strings.Contains(got, "as far as is known") || !strings.Contains(got, "bad.yaml:3") {
		t.Errorf("it says %q", got)
	}
}

// ours are the tags that a comment has of itself.
var ours = regexp.MustCompile(`</?(details|summary|p|b|code)>`)

// code is what stands in code within HTML.
var code = regexp.MustCompile(`<code>[^<]*</code>`)

// TestTextsStayTexts gives texts that forges make something of in every place where people can
// write one, and reads the comment as forges do.
func TestTextsStayTexts(t *testing.T) {
	for _, hostile := range previewtest.Hostile() {
		c := previewtest.Filled(hostile)
		comment := []byte(markdown.Comment(&c, markdown.Limit))
		for _, found := range alive(comment) {
			t.Errorf("%q becomes %s", hostile, found)
		}
		if strings.ContainsAny(string(comment), "\x1b\u202e") {
			t.Errorf("%q is not written out", hostile)
		}
	}
}

// alive lists what a forge would make of a comment beside text and code.
func alive(comment []byte) (found []string) {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM))
	doc := md.Parser().Parse(text.NewReader(comment))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link, *ast.Image, *ast.AutoLink, *ast.Heading, *ast.Blockquote, *ast.ThematicBreak:
			found = append(found, n.Kind().String())
		case *ast.RawHTML, *ast.HTMLBlock:
			found = append(found, inHTML(n, comment)...)
		case *ast.CodeSpan, *ast.FencedCodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if said := string(n.Segment.Value(comment)); strings.ContainsAny(said, "@<#$") || strings.Contains(said, "://") || strings.Contains(said, ":tada:") {
				found = append(found, "text: "+said)
			}
		}
		return ast.WalkContinue, nil
	})
	return found
}

// inHTML lists the tags that are not ours, and what stands outside of code that a forge would
// make something of.
func inHTML(n ast.Node, comment []byte) (found []string) {
	var b strings.Builder
	if raw, ok := n.(*ast.RawHTML); ok {
		for i := range raw.Segments.Len() {
			at := raw.Segments.At(i)
			b.Write(at.Value(comment))
		}
	} else {
		for i := range n.Lines().Len() {
			at := n.Lines().At(i)
			b.Write(at.Value(comment))
		}
	}
	if rest := ours.ReplaceAllString(code.ReplaceAllString(b.String(), ""), ""); strings.ContainsAny(rest, "<>@#") || strings.Contains(rest, "://") {
		found = append(found, "HTML: "+rest)
	}
	return found
}

// TestTheGuardOfTextsBites shows that what finds nothing in comments finds something.
func TestTheGuardOfTextsBites(t *testing.T) {
	for _, text := range []string{"@everyone", "<script>", "[a](b)", "![a](b)", "https://example.com", "# heading", "> quote"} {
		if len(alive([]byte(text+"\n"))) == 0 {
			t.Errorf("%q is taken for text", text)
		}
	}
}

func TestACommentHasALimit(t *testing.T) {
	c := previewtest.Everything()
	web := c.Changes[6]
	for i := range 5000 {
		more := web
		more.Objects = []object.Ref{{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: fmt.Sprintf("web-%d-%s", i, strings.Repeat("ü", 40))}}
		more.Causes = []preview.Cause{{Message: fmt.Sprintf("it is the change %d", i)}} // those that are alike would be one
		c.Changes = append(c.Changes, more)
	}
	for _, limit := range []int{4000, 20000, markdown.Limit} {
		got := markdown.Comment(&c, limit)
		if len(got) > limit {
			t.Errorf("a comment of at most %d bytes has %d", limit, len(got))
		}
		if !strings.HasPrefix(got, "**broken**: 1 new error in the source, the first in ` bad.yaml:3 `; ") || !strings.Contains(got, "Waybill-Allow-Prune: 0123456789abcdef") {
			t.Errorf("it does not begin with what counts: %.200s", got)
		}
		if !regexp.MustCompile(`\*\*and \d+ changes more\*\*`).MatchString(got) {
			t.Errorf("it does not say what is left out: %s", got[len(got)-500:])
		}
		if found := alive([]byte(got)); len(found) > 0 {
			t.Errorf("cut, it has %v", found)
		}
	}
}

func TestACommentSaysInWhichStepsItGoesOut(t *testing.T) {
	c := previewtest.Everything()
	for i := range 25 {
		c.Rollouts = append(c.Rollouts, preview.Rollout{Unit: fmt.Sprintf("team/web-%d", i), Strategy: "careful", Stages: []preview.Stage{{Name: "canary", Clusters: 2, Width: 1}}})
	}
	got := markdown.Comment(&c, markdown.Limit)
	want := "**It goes out in stages**; below is what it does in the end.\n- ` team/web-0 by careful: canary 2 (1 at a time) `\n"
	if !strings.Contains(got, want) || !strings.Contains(got, "- and 5 more\n") || strings.Contains(got, "web-20") {
		t.Errorf("it says\n%s", got)
	}
}
