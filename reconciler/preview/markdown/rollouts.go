package markdown

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/preview"
)

// maxRollouts is how many units a comment lists that go out in stages.
const maxRollouts = 20

// rollouts says in which steps the change reaches the clusters.
func rollouts(all []preview.Rollout) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("**It goes out in stages**; below is what it does in the end.\n")
	for i := range all[:min(maxRollouts, len(all))] {
		fmt.Fprintf(&b, "- %s\n", span(all[i].String()))
	}
	if n := len(all) - maxRollouts; n > 0 {
		fmt.Fprintf(&b, "- and %d more\n", n)
	}
	return b.String()
}
