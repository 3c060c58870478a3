package stagemodel

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const (
	sequences = 10_000
	steps     = 40
)

// walk makes one sequence of events and holds a system against the model. It returns the law that is broken, if one
// is. Seen, which may be nil, is given each step.
func walk(seed uint64, start func(Setup) System, seen func(Event, Observation)) *LawError {
	r := rand.New(rand.NewPCG(seed, 26))
	setup := NewSetup(r)
	m, s := Start(setup), start(setup)
	for range steps {
		e := m.Next(r)
		o := s.Step(e)
		if seen != nil {
			seen(e, o)
		}
		if v, ok := errors.AsType[*LawError](m.Observe(e, o)); ok {
			return v
		}
	}
	return nil
}

// told is a sequence for people.
func told(seed uint64, start func(Setup) System) string {
	setup := NewSetup(rand.New(rand.NewPCG(seed, 26)))
	s := &strings.Builder{}
	fmt.Fprintf(s, "seed %d: %+v\n", seed, setup)
	_ = walk(seed, start, func(e Event, o Observation) { fmt.Fprintf(s, "%v\n\t%v\n", e, &o) }) // what it breaks is known
	return s.String()
}

// TestNaive holds the smallest system against the model, and sees to it that the sequences get about.
func TestNaive(t *testing.T) {
	t.Parallel()
	start := func(s Setup) System { return newNaive(s, "") }
	var phases [Finishing + 1]int
	var happened [Bound + 1]int
	halves := 0
	for seed := range uint64(sequences) {
		v := walk(seed, start, func(e Event, o Observation) {
			phases[o.Phase]++
			happened[e.Kind]++
			if e.Half {
				halves++
			}
		})
		if v != nil {
			t.Fatalf("%v\n%s", v, told(seed, start))
		}
	}
	if least := slices.Min(phases[:]); least < sequences/100 {
		t.Errorf("of each phase there were so many observations: %v", phases)
	}
	if least := slices.Min(happened[:]); least < sequences/100 || halves < sequences/100 {
		t.Errorf("of each kind there were so many events: %v, and %d halves of pushes", happened, halves)
	}
}

// TestFaults sees to it that the model finds faults, each by the law that it breaks.
func TestFaults(t *testing.T) {
	t.Parallel()
	for fault, law := range map[string]string{
		"releases beyond width":                  "I3",
		"counts old health":                      "I2",
		"releases while late":                    "late",
		"does not soak":                          "I1",
		"does not begin the soak again":          "I1",
		"does not wait for stages":               "I1",
		"takes an approval of another run":       "I4",
		"approves before the soak":               "I1",
		"approvals outlive a restart":            "I1",
		"return waits for soak":                  "I6",
		"waits for who is silent":                "stuck",
		"soaks for longer":                       "stuck",
		"counts who failed before":               "stop",
		"tries again what was kept back":         "I5",
		"goes on when what failed recovers":      "I5",
		"ignores stop":                           "stop",
		"goes on after failures":                 "stop",
		"releases to all after lost state":       "I1",
		"releases what cannot be read":           "I10",
		"releases in a closed window":            "window",
		"releases the last first":                "order",
		"mixes versions":                         "I11",
		"total of replicas dips":                 "replicas",
		"failover waits while stopped":           "replicas",
		"two commits for a cluster that returns": "I8",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			found := map[string]uint64{}
			for seed := range uint64(sequences) {
				if v := walk(seed, func(s Setup) System { return newNaive(s, fault) }, nil); v != nil && found[v.Law] == 0 {
					found[v.Law] = seed + 1
				}
				if found[law] > 0 {
					break
				}
			}
			t.Logf("laws that it broke, by the sequence that told first: %v", found)
			if found[law] == 0 {
				t.Errorf("the model found nothing by %s", law)
			}
		})
	}
}
