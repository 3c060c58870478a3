package room

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	model "github.com/waybill-dev/waybill/test/stagemodel"
)

var (
	sequences = flag.Uint64("sequences", 300, "how many sequences of events are made")
	first     = flag.Uint64("first", 0, "which sequence is the first")
)

// steps are the events of a sequence.
const steps = 40

// walk makes one sequence of events and holds the room against the model. It returns the law that is broken, if one is,
// and what happened until then.
func walk(seed uint64, isTold bool) (broken *model.LawError, told string) {
	rng := rand.New(rand.NewPCG(seed, 26))
	setup := model.NewSetup(rng)
	m, r := model.Start(setup), newRoom(setup)
	s := &strings.Builder{}
	fmt.Fprintf(s, "seed %d: %+v\n", seed, setup)
	for range steps {
		e := m.Next(rng)
		o := r.Step(e)
		if isTold {
			var states [model.Clusters]model.State
			for i := range o.Clusters {
				states[i] = o.Clusters[i].State
			}
			fmt.Fprintf(s, "%v\n\t%v, states %v\n", e, &o, states)
		}
		if v, ok := errors.AsType[*model.LawError](m.Observe(e, o)); ok {
			return v, s.String()
		}
	}
	return nil, s.String()
}

// TestRoom holds the room against the model. Each law that it breaks is told by the first sequence that told it.
func TestRoom(t *testing.T) {
	t.Parallel()
	wrong := map[string][]uint64{}
	for seed := *first; seed < *first+*sequences; seed++ {
		v, _ := walk(seed, false)
		if v == nil {
			continue
		}
		if wrong[v.Law] = append(wrong[v.Law], seed); len(wrong[v.Law]) == 1 {
			_, text := walk(seed, true)
			t.Errorf("%v\n%s", v, text)
		}
	}
	if len(wrong) > 0 {
		t.Errorf("of %d sequences these broke a law: %v", *sequences, wrong)
	}
}
