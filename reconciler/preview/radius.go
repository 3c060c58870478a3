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
	New      bool   `json:"new,omitempty"`
	Gone     bool   `json:"gone,omitempty"` // it is no longer registered
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
	Digest string `json:"digest"`
	// Trailer is what a source commit says to allow it, and Command what does so at once.
	Trailer string `json:"trailer"`
	Command string `json:"command"`
	Holds   []Hold `json:"holds"`
}

// Hold is why some clusters are held, and what each of them would lose.
type Hold struct {
	Clusters []string        `json:"clusters"`
	Reason   string          `json:"reason"`
	Removals []guard.Removal `json:"removals,omitempty"`
}
