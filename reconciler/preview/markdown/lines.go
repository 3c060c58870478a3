package markdown

import (
	"fmt"
	"strings"
)

// maxListed is how many lines a comment has of units that go out in stages, and of services that clusters exchange.
const maxListed = 20

// rollouts says in which steps the change reaches the clusters.
func rollouts(steps []string) string {
	return lines("**It goes out in stages**; below is what it does in the end.\n", steps, maxListed)
}

// services says which services clusters exchange otherwise.
func services(exchanges []string) string {
	return lines("**Services that clusters exchange**\n", exchanges, maxListed)
}

// short says what no longer fits.
func short(all []string) string { return lines("", all, maxClusters) }

// lines is a list of so many lines at most below a heading, if there is one; empty for none.
func lines(heading string, all []string, most int) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(heading)
	for _, text := range all[:min(most, len(all))] {
		fmt.Fprintf(&b, "- %s\n", span(text))
	}
	if n := len(all) - most; n > 0 {
		fmt.Fprintf(&b, "- and %d more\n", n)
	}
	return b.String()
}
