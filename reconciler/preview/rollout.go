package preview

import (
	"fmt"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/words"
)

// Rollout is in which steps a change of what moves together reaches the clusters.
type Rollout struct {
	Unit     string  `json:"unit"` // as in "team/web"
	Strategy string  `json:"strategy"`
	Stages   []Stage `json:"stages,omitempty"` // in their order; those in which nothing changes are left out
	// Leaving is how many clusters lose it, when every stage is over.
	Leaving int `json:"leaving,omitempty"`
	// Supersedes is the run that is open, and ends because of the change; WaitsFor is one that ends before the change
	// begins.
	Supersedes string `json:"supersedes,omitempty"`
	WaitsFor   string `json:"waitsFor,omitempty"`
	// Returns says that the change takes an open run back: every cluster that has the new version goes back at once.
	Returns bool `json:"returns,omitempty"`
	// Held are the clusters that the guard would hold when their turn comes.
	Held []string `json:"held,omitempty"`
}

// Stage is a step of a Rollout.
type Stage struct {
	Name     string `json:"name"`
	Clusters int    `json:"clusters"` // in which something changes
	Width    int    `json:"width"`    // how many of them are waited for at once
	// Before and After say what else it takes.
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
	// Frozen is until when no cluster of it may get anything; zero if any may now.
	Frozen time.Time `json:"frozen,omitzero"`
}

// String is the roll-out in a line.
func (r *Rollout) String() string {
	head := r.Unit + " " + rollouts.By(r.Strategy) + ": "
	if r.Returns {
		return head + "every cluster that has the new version goes back at once"
	}
	var stages, more []string
	for i := range r.Stages {
		s := &r.Stages[i]
		stages = append(stages, s.String())
		if !s.Frozen.IsZero() {
			more = append(more, s.Name+" is frozen until "+s.Frozen.UTC().Format("Mon 2 Jan 15:04 MST"))
		}
	}
	if r.Leaving > 0 {
		stages = append(stages, "at the end "+words.Count(r.Leaving, "cluster")+" without it")
	}
	if r.Supersedes != "" {
		more = append([]string{"supersedes " + r.Supersedes}, more...)
	}
	if len(r.Held) > 0 {
		more = append(more, words.First(r.Held, 6)+" would be held")
	}
	text := strings.Join(stages, ", ")
	if r.WaitsFor != "" {
		text = strings.TrimSuffix("when the run "+r.WaitsFor+" is over: "+text, ": ")
	}
	return head + strings.Join(append([]string{text}, more...), "; ")
}

// String is the stage in a few words, as "early 4 (2 at a time, then an approval)".
func (s *Stage) String() string {
	var notes []string
	if len(s.Before) > 0 {
		notes = append(notes, "after "+strings.Join(s.Before, " and "))
	}
	if s.Width < s.Clusters {
		notes = append(notes, fmt.Sprintf("%d at a time", s.Width))
	}
	if len(s.After) > 0 {
		notes = append(notes, "then "+strings.Join(s.After, " and "))
	}
	text := fmt.Sprintf("%s %d", s.Name, s.Clusters)
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	return text
}
