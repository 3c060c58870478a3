package post

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/markdown"
	"github.com/waybill-dev/waybill/sources/forge"
)

// Of is the verdict on a comparison. The notes stand below the heading.
func Of(c *preview.Comparison, notes ...string) Verdict {
	v := Verdict{Passing: c.Guard != nil || len(c.Already) > 0, Text: Text(c, forge.MaxBody, notes...)}
	v.State, v.Line = Judge(c)
	return v
}

// Text is a comparison as Markdown, in at most limit bytes as far as there is room for the counts. The notes stand below the heading.
func Text(c *preview.Comparison, limit int, notes ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### What `%.12s` does to the clusters\n\n", c.Head)
	for _, n := range notes {
		b.WriteString("> " + n + "\n\n")
	}
	head := b.String()
	return head + markdown.Comment(c, limit-len(head))
}

// Unknown is the verdict on a commit that could not be compared. Where says who knows why.
func Unknown(commit, where string) Verdict {
	return Verdict{
		State: forge.Broken, Line: "the versions could not be compared; see " + where,
		Text: fmt.Sprintf("### What `%.12s` does to the clusters is not known\n\nThe versions could not be compared; %s says why.\n", commit, where),
	}
}

// TooMuch is the verdict on a commit of which too much has to be rendered.
func TooMuch(commit string) Verdict {
	return Verdict{
		State: forge.Broken, Line: "the versions could not be compared: too much has to be rendered for a preview",
		Text: fmt.Sprintf("### What `%.12s` does to the clusters is not known\n\nToo much has to be rendered for a preview: the change is rendered within a budget of time and memory, and that is spent. "+
			"`waybill diff` has none.\n", commit),
	}
}
