package place

import "slices"

// maxRounds bounds what a report lists: who wants to follow a division follows its
// beginning.
const maxRounds = 1000

// Division is one sharing out of replicas, seat by seat.
type Division struct {
	Replicas int64 `json:"replicas"`
	// Each reports that every cluster had one replica before these.
	Each   bool    `json:"each,omitempty"`
	Rounds []Round `json:"rounds"` // the first thousand at most
}

// Round is one seat. It goes to the cluster with the largest weight/(2s+1), where s
// is the seats it has in this division (Karmada section A.12).
type Round struct {
	Cluster string `json:"cluster"`
	Weight  int64  `json:"weight"`
	Divisor int64  `json:"divisor"` // 2s+1
	// Next is the cluster that would have had the seat instead; empty if there is none.
	Next        string `json:"next,omitempty"`
	NextWeight  int64  `json:"nextWeight,omitempty"`
	NextDivisor int64  `json:"nextDivisor,omitempty"`
}

// newDivision shares replicas out one by one. It changes nothing.
func newDivision(replicas int64, parties []party, part []*candidate) Division {
	d := Division{Replicas: replicas}
	heap := make([]*party, 0, len(parties))
	for _, p := range slices.Clone(parties) {
		p.weight = min(p.weight, MaxWeight)
		heap = append(heap, &p)
	}
	for range min(replicas, maxRounds) {
		if len(heap) == 0 {
			break
		}
		slices.SortFunc(heap, claim)
		r := Round{Cluster: part[heap[0].of].cluster.Name, Weight: heap[0].weight, Divisor: 2*heap[0].seats + 1}
		if len(heap) > 1 {
			r.Next, r.NextWeight, r.NextDivisor = part[heap[1].of].cluster.Name, heap[1].weight, 2*heap[1].seats+1
		}
		heap[0].seats++
		d.Rounds = append(d.Rounds, r)
	}
	return d
}
