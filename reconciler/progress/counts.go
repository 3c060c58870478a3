package progress

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// Counts are how many clusters of a stage are how far.
type Counts struct {
	// Of is how many there are, and Behind how many of them do not show the target.
	Of, Behind int
	// Out were released and are not healthy yet.
	Healthy, Failed, Out, Pending, Late, Suspended, Skipped, Unchanged int
}

// add counts a cluster.
func (c *Counts) add(is *rollouts.Cluster) {
	c.Of++
	if is.Released.IsZero() && is.State != rollouts.Unchanged {
		c.Behind++
	}
	switch is.State {
	case rollouts.Healthy:
		c.Healthy++
	case rollouts.Failed:
		c.Failed++
	case rollouts.Released, rollouts.Failing:
		c.Out++
	case rollouts.Pending:
		c.Pending++
	case rollouts.Late:
		c.Late++
	case rollouts.Suspended:
		c.Suspended++
	case rollouts.Skipped:
		c.Skipped++
	case rollouts.Unchanged:
		c.Unchanged++
	case rollouts.Leaving: // of no stage
	}
}

// Finished counts the clusters for which nothing is waited.
func (c *Counts) Finished() int { return c.Of - c.Out - c.Pending }

// String names the states that there are.
func (c *Counts) String() string {
	var parts []string
	for _, s := range []struct {
		n    int
		word string
	}{
		{c.Healthy, "healthy"},
		{c.Failed, "failed"},
		{c.Out, "out"},
		{c.Pending, "pending"},
		{c.Late, "late"},
		{c.Suspended, "suspended"},
		{c.Skipped, "skipped"},
		{c.Unchanged, "unchanged"},
	} {
		if s.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", s.n, s.word))
		}
	}
	return strings.Join(parts, ", ")
}

// behind says of a stage how many clusters are behind.
func (c *Counts) behind(stage string) string { return fmt.Sprintf("%s %d behind", stage, c.Behind) }
