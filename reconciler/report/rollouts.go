package report

import (
	"github.com/waybill-dev/waybill/reconciler/progress"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// Staged is how a template is in the clusters that it goes out to in stages.
type Staged struct {
	Unit     string        `json:"unit"`
	Strategy string        `json:"strategy"`
	Phase    string        `json:"phase"`
	Message  string        `json:"message,omitempty"`
	Clusters []StagedThere `json:"clusters,omitempty"`
}

// StagedThere is which version a cluster shows.
type StagedThere struct {
	Cluster string `json:"cluster"`
	Stage   string `json:"stage,omitempty"`
	State   string `json:"state"`
	// Shows is the source commit, and Waits says why it is no newer one; empty where it is not.
	Shows string `json:"shows,omitempty"`
	Waits string `json:"waits,omitempty"`
}

// staged is how a unit is, by its record.
func staged(r *rollouts.Rollout) *Staged {
	p := progress.Of(r)
	out := &Staged{Unit: p.Unit.String(), Strategy: p.Strategy, Phase: string(p.Phase), Message: p.Message}
	for _, c := range progress.Clusters(r) {
		out.Clusters = append(out.Clusters, StagedThere{Cluster: c.Name, Stage: c.Stage, State: string(c.State), Shows: c.Shows, Waits: c.Waits})
	}
	return out
}
