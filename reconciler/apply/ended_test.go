package apply

import (
	"context"
	"errors"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// slow is a model of a cluster whose deletions wait, or in which the time of a round is over while it acts.
type slow struct {
	*model

	waits string
	over  func()
}

// Apply implements Cluster.
func (s *slow) Apply(ctx context.Context, actions []Action, owner string) []Outcome {
	var out []Outcome
	for _, a := range actions {
		if s.waits != "" && a.Object == nil {
			out = append(out, Outcome{Action: a, Waits: s.waits})
			continue
		}
		out = append(out, s.model.Apply(ctx, []Action{a}, owner)...)
	}
	if s.over != nil {
		s.over()
	}
	return out
}

func (s *slow) round(ctx context.Context, objects []Object, commit string) (Report, error) {
	r := Round{
		Cluster: s, Name: "eu-1", Owner: source, Commit: blob(commit), Source: "s", Objects: objects,
		Admit: func(context.Context, inventory.Inventory) (Options, error) {
			return Options{Guard: render.DefaultConfig().Guard, Allowed: true}, nil
		},
	}
	return r.Do(ctx)
}

// TestWhatWaitsToBeGoneIsStillInTheInventory: until it is gone, and then it is not.
func TestWhatWaitsToBeGoneIsStillInTheInventory(t *testing.T) {
	s := &slow{model: &model{things: map[object.Ref]thing{}, lives: -1}}
	b := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "b"}
	if _, err := s.round(t.Context(), branchOf(0x03), "one"); err != nil {
		t.Fatal(err)
	}
	for _, s.waits = range []string{"a finalizer", "a finalizer", ""} {
		if _, err := s.round(t.Context(), branchOf(0x01), "two"); err != nil {
			t.Fatal(err)
		}
		if e, known := s.stored.Inventory.Entries[b]; known != (s.waits != "") || known && e.UID != s.things[b].uid {
			t.Errorf("while it waits for %q it is known: %t, %+v", s.waits, known, e)
		}
	}
}

// TestARoundWhoseTimeIsOverIsNotSettled: it acted to the end of its last stage, and does not say that it came to its end.
func TestARoundWhoseTimeIsOverIsNotSettled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &slow{model: &model{things: map[object.Ref]thing{}, lives: -1}, over: cancel}
	if _, err := s.round(ctx, branchOf(0x03), "one"); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	if i := s.stored.Inventory; i.Settled || len(i.Entries) != 2 {
		t.Errorf("the inventory is settled: %t, with %v", i.Settled, i.Entries)
	}
	s.over = nil
	if _, err := s.round(t.Context(), branchOf(0x03), "one"); err != nil || !s.stored.Inventory.Settled {
		t.Errorf("and then it is settled: %t, %v", s.stored.Inventory.Settled, err)
	}
}
