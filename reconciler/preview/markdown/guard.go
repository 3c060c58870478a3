package markdown

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/sources/words"
)

// commit is the whole name of one.
var commit = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// guard says what is held because of the change, and how to let it happen; and what is held anyway, which
// nobody allows here.
func guard(g *preview.Guard, head string) string {
	if g == nil {
		return ""
	}
	var b strings.Builder
	for i, h := range g.Holds {
		if i == maxRemovals {
			fmt.Fprintf(&b, "\nand %d more reasons\n", len(g.Holds)-i)
			break
		}
		fmt.Fprintf(&b, "**The guard holds %s** (%s): %s\n", words.Count(len(h.Clusters), "cluster"), names(h.Clusters), span(h.Reason))
		for _, r := range h.Removals[:min(maxRemovals, len(h.Removals))] {
			fmt.Fprintf(&b, "- %s: %s\n", span(r.Object.String()), span(r.Cause))
		}
		if n := len(h.Removals) - maxRemovals; n > 0 {
			fmt.Fprintf(&b, "- and %d more\n", n)
		}
		b.WriteString("\n")
	}
	b.WriteString(allowing(g, head))
	for i, h := range g.Already {
		if i == maxRemovals {
			fmt.Fprintf(&b, "\nand %d more reasons\n", len(g.Already)-i)
			break
		}
		fmt.Fprintf(&b, "Held without this change, too: %s (%s): %s\n\n", words.Count(len(h.Clusters), "cluster"), names(h.Clusters), span(h.Reason))
	}
	return b.String()
}

// allowing says how to let happen what the change adds.
func allowing(g *preview.Guard, head string) string {
	var b strings.Builder
	who := "To let it happen, a maintainer comments this before the pull request is merged:"
	if g.Trailer != "" {
		fmt.Fprintf(&b, "To let it happen, put this trailer on a commit, or run `%s`:\n\n```\n%s\n```\n\n", g.Command, g.Trailer)
		who = "Where the controller takes orders, no trailer counts, and a maintainer comments this before the pull request is merged:"
	}
	if g.Digest != "" && commit.MatchString(head) {
		fmt.Fprintf(&b, "%s\n\n```\n/waybill approve-prune %s %s\n```\n\n", who, g.Digest, head)
	}
	return b.String()
}
