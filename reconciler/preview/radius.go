package preview

import "github.com/waybill-dev/waybill/reconciler/guard"

// Cluster is what changes in one cluster.
type Cluster struct {
	Name    string `json:"name"`
	Region  string `json:"region,omitempty"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Changed int    `json:"changed"`
	// Left counts what would change, and is left as it is.
	Left     int    `json:"left,omitempty"`
	Objects  Span   `json:"objects"`  // that it holds
	Replicas Span   `json:"replicas"` // of what changes in it
	Held     string `json:"held,omitempty"`
	// Already says that it is held without the change, too, and loses nothing more by it.
	Already bool `json:"already,omitempty"`
	New     bool `json:"new,omitempty"`
	Gone    bool `json:"gone,omitempty"` // it is no longer registered
}

// Region sums up the clusters of a region; those without one have the name "".
type Region struct {
	Name     string `json:"name"`
	Clusters int    `json:"clusters"` // in which anything changes
	Of       int    `json:"of"`
	Added    int    `json:"added"`
	Removed  int    `json:"removed"`
	Changed  int    `json:"changed"`
	Replicas Span   `json:"replicas"`
}

// Guard is what the guard holds of the head, and how to let it happen.
type Guard struct {
	// Digest identifies the removals that the change adds, as guard.Removals has it: it is what a maintainer
	// approves by a comment. Empty where it adds none.
	Digest string `json:"digest,omitempty"`
	// Trailer is what a source commit says to allow all that is held, and Command what does so at once.
	// Both are empty where something is held without the change, which they would allow, too, and the first
	// one where no trailer counts.
	Trailer string `json:"trailer,omitempty"`
	Command string `json:"command,omitempty"`
	// Holds are those that the change adds, with the removals that it adds, and Already those that there are
	// without it, with none.
	Holds   []Hold `json:"holds"`
	Already []Hold `json:"already,omitempty"`
}

// Adds are the removals that the change adds. A nil guard adds none.
func (g *Guard) Adds() (all guard.Removals) {
	if g == nil {
		return nil
	}
	for _, h := range g.Holds {
		group := guard.Group{Clusters: h.Clusters}
		for _, r := range h.Removals {
			group.Objects = append(group.Objects, r.Object)
		}
		if len(group.Objects) > 0 {
			all = append(all, group)
		}
	}
	return all
}

// Hold is why some clusters are held, and what each of them would lose.
type Hold struct {
	Clusters []string        `json:"clusters"`
	Reason   string          `json:"reason"`
	Removals []guard.Removal `json:"removals,omitempty"`
}
