package apply

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// slow is a model of a cluster whose deletions wait, or in which the time of a round is over while it acts.
type slow struct {
	*model

	waits string
	over  func()
	fails error // what it answers who waits for objects
}

// Await implements Cluster.
func (s *slow) Await(ctx context.Context, objects []object.Ref, most time.Duration) ([]Unhealthy, error) {
	left, err := s.model.Await(ctx, objects, most)
	return left, errors.Join(err, s.fails)
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
		Cluster: s, Name: "eu-1", Owner: source, Commit: blob(commit), Source: "s", Objects: objects, Patience: 5 * time.Minute,
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

// TestHowOftenAWaveIsLookedAt while nobody knows that it is healthy: once where it is, where something failed, and where nobody
// can tell; and else until its time is over. Where nobody can tell, nothing of a later wave is done, and no hook runs again.
func TestHowOftenAWaveIsLookedAt(t *testing.T) {
	away := errors.New("connection refused")
	hook := manifest("batch/v1 Job shop/migrate", nil, hookIs+"PreSync")
	wave := []Object{manifest("v1 ConfigMap shop/a", nil), manifest("v1 ConfigMap shop/last", nil, waveIs+"1")}
	starts := Unhealthy{Why: "it starts"}
	for _, tt := range []struct {
		name   string
		branch []Object
		sick   *Unhealthy
		fails  error
		want   string
	}{
		{"all is healthy", wave, nil, nil, "a ? last"},
		{"something failed", wave, &Unhealthy{Failed: true, Why: "it is broken"}, nil, "a ?"},
		{"nobody can tell", wave, nil, away, "a ?"},
		{"nobody can tell, and something starts", wave, &starts, away, "a ?"},
		{"something starts", wave, &starts, nil, "a" + strings.Repeat(" ?", 30)},
		{"nobody can tell of a hook", append([]Object{hook}, wave...), nil, away, "migrate ?"},
		{"one Namespace in a wave of its own", append(wave[:1:1], manifest("v1 Namespace shop", nil, waveIs+"1")), nil, nil, "shop a"},
	} {
		s := &slow{model: newModel(), fails: tt.fails}
		if tt.sick != nil {
			s.sick["a"] = *tt.sick
		}
		report, err := s.round(t.Context(), tt.branch, "one")
		stops := tt.sick != nil && tt.fails == nil
		if done := strings.Join(s.log, " "); done != tt.want || !errors.Is(err, tt.fails) || (report.Stopped != "") != stops {
			t.Errorf("%s: it did %q, want %q; stopped: %q; %v", tt.name, done, tt.want, report.Stopped, err)
		}
	}
	s := &slow{model: newModel()}
	branch := []Object{hook}
	if _, err := s.round(t.Context(), branch, "one"); err != nil {
		t.Fatal(err)
	}
	s.log, s.fails = nil, away
	if _, err := s.round(t.Context(), branch, "two"); !errors.Is(err, away) || strings.Join(s.log, " ") != "?" {
		t.Errorf("while nobody can tell whether the hook of before ended, it did %q; %v", s.log, err)
	}
}
