package place

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Weight is what a name weighs in a division.
type Weight struct {
	Name   string
	Weight int64 // 0 and less get no seat; above 2^48 counts as 2^48
}

// Seats is what a name got.
type Seats struct {
	Name  string
	Seats int64
}

// Divide gives out total seats, one after the other, each to the name with the
// largest weight/(2s+1), where s is the seats that it has so far: Webster's
// method, also called Sainte-Laguë (Karmada section A.12). Ties go to the name
// with fewer seats, then to the lower name. Names start with their initial seats,
// which total does not include; those without a weight keep theirs.
//
// The result has every weighted and every initial name once, in name order, with
// initial and new seats. When no weight is positive, no seat is given and the
// weighted names are left out, as Karmada does. Names must be unique in each
// list, and seats at most 2^40 in all.
func Divide(total int64, weights []Weight, initial ...Seats) []Seats {
	parties := make([]party, 0, len(weights)+len(initial))
	names := make([]string, 0, cap(parties))
	for _, s := range initial {
		names = append(names, s.Name)
		parties = append(parties, party{seats: s.Seats, of: len(parties)})
	}
	if slices.ContainsFunc(weights, func(w Weight) bool { return w.Weight > 0 }) {
		for _, w := range weights {
			i := slices.Index(names[:len(initial)], w.Name)
			if i < 0 {
				i = len(parties)
				names = append(names, w.Name)
				parties = append(parties, party{of: i})
			}
			parties[i].weight = w.Weight
		}
	}
	slices.SortFunc(parties, func(a, b party) int { return strings.Compare(names[a.of], names[b.of]) })
	for rank := range parties {
		parties[rank].rank = rank
	}
	apportion(total, parties)
	result := make([]Seats, len(parties))
	for _, p := range parties {
		result[p.rank] = Seats{names[p.of], p.seats}
	}
	return result
}

// DivideLike divides a total as replicas are, and says what each cluster gets.
func DivideLike(total int64, replicas []karmada.TargetCluster) map[string]int64 {
	weights := make([]Weight, 0, len(replicas))
	for _, c := range replicas {
		weights = append(weights, Weight{Name: c.Name, Weight: int64(c.Replicas)})
	}
	out := map[string]int64{}
	for _, seat := range Divide(total, weights) {
		out[seat.Name] = seat.Seats
	}
	return out
}

// party is one claimant in a division.
type party struct {
	weight int64
	seats  int64
	rank   int // ties go to the lower one
	of     int // the caller's index
}

// MaxWeight is what a weight counts at most. It keeps the arithmetic exact. It is far above any number of replicas,
// and near where Karmada's floating point stops being exact too.
const MaxWeight = 1 << 48

// claim orders parties by who gets the next seat. It compares a.weight/(2a.seats+1)
// with b.weight/(2b.seats+1) exactly, by multiplying crosswise.
func claim(a, b *party) int {
	aHigh, aLow := product(a.weight, 2*b.seats+1)
	bHigh, bLow := product(b.weight, 2*a.seats+1)
	return cmp.Or(
		cmp.Compare(bHigh, aHigh),
		cmp.Compare(bLow, aLow),
		cmp.Compare(a.seats, b.seats),
		cmp.Compare(a.rank, b.rank),
	)
}

// apportion adds total seats to the parties, in place; their order is lost. It
// gives most seats at once and the few that remain from a heap.
func apportion(total int64, parties []party) {
	heap := make([]*party, 0, len(parties))
	for i := range parties {
		if p := &parties[i]; p.weight > 0 {
			p.weight = min(p.weight, MaxWeight)
			heap = append(heap, p)
		}
	}
	if len(heap) == 0 || total <= 0 {
		return
	}
	total -= leap(total, slices.Clone(heap))
	for i := len(heap)/2 - 1; i >= 0; i-- {
		sink(heap, i)
	}
	for ; total > 0; total-- {
		heap[0].seats++
		sink(heap, 0)
	}
}

// sink restores the heap below i: no party comes before its parent.
func sink(heap []*party, i int) {
	for {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && claim(heap[child+1], heap[child]) < 0 {
			child++
		}
		if claim(heap[i], heap[child]) <= 0 {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}

// leap gives out, at once, every seat whose quotient reaches a threshold that is
// chosen so that they are not more than total, and returns how many they were: at
// least total less the number of parties. See "Dividing at once" in the package
// comment for the proof. It overwrites the slice.
func leap(total int64, parties []*party) int64 {
	for len(parties) > 0 {
		var weight, seats int64
		for _, p := range parties {
			weight += p.weight
			seats += p.seats
		}
		twice := 2*(total+seats) - int64(len(parties))
		if twice <= 0 {
			return 0
		}
		fair := func(p *party) int64 { return reaching(p.weight, twice, weight) }
		before := len(parties)
		parties = slices.DeleteFunc(parties, func(p *party) bool { return fair(p) < p.seats })
		if len(parties) < before { // without those that are ahead, the shares are others
			continue
		}
		var given int64
		for _, p := range parties {
			share := fair(p)
			given += share - p.seats
			p.seats = share
		}
		return given
	}
	return 0
}

// reaching counts the seats of a party whose quotient weight/(2s+1) is at least
// all/twice.
func reaching(weight, twice, all int64) int64 {
	high, low := product(weight, twice)
	quotient, _ := bits.Div64(high, low, uint64(max(all, 0)))
	return int64(min(quotient, math.MaxInt64-1)+1) / 2
}

// product multiplies without overflow what is not negative.
func product(a, b int64) (high, low uint64) {
	return bits.Mul64(uint64(max(a, 0)), uint64(max(b, 0)))
}
