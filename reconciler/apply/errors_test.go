package apply

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// broken is a cluster of which something cannot be done.
type broken struct {
	*model

	is       string // what cannot
	err      error
	explains int
}

// Inventory implements Cluster.
func (b *broken) Inventory(ctx context.Context, owner string) (Stored, error) {
	s, err := b.model.Inventory(ctx, owner)
	return s, errors.Join(err, b.of("inventory"))
}

// Observe implements Cluster.
func (b *broken) Observe(ctx context.Context, wanted map[object.Ref]bool) (Facts, error) {
	f, err := b.model.Observe(ctx, wanted)
	return f, errors.Join(err, b.of("observe"))
}

// Store implements Cluster.
func (b *broken) Store(ctx context.Context, before Stored, now inventory.Inventory) (Stored, error) {
	if err := b.of("store"); err != nil {
		return Stored{}, err
	}
	return b.model.Store(ctx, before, now)
}

// Explain implements Cluster.
func (b *broken) Explain(context.Context, []Action, string) { b.explains++ }

func (b *broken) of(what string) error {
	if b.is == what {
		return b.err
	}
	return nil
}

// TestARoundThatCannotBeginChangesNothing, and says what it could not do.
func TestARoundThatCannotBeginChangesNothing(t *testing.T) {
	for _, tt := range []struct{ is, state, want string }{
		{"inventory", "", "reading the inventory: 503"},
		{"admit", "", "503"},
		{"store", "state", "writing down which state counts: 503"},
		{"observe", "", "looking at what is there: 503"},
		{"store", "", "writing the inventory, before anything was changed: 503"},
	} {
		b := &broken{model: newModel(), err: errors.New("503")}
		if err := b.round(t, branchOf(0x01), blob("one")); err != nil {
			t.Fatal(err)
		}
		b.is, b.log = tt.is, nil
		r := Round{
			Cluster: b, Name: "eu-1", Owner: source, Commit: blob("two"), Objects: branchOf(0x03),
			Admit: func(context.Context, inventory.Inventory) (Options, error) {
				return Options{Guard: render.DefaultConfig().Guard}, b.of("admit")
			},
		}
		if tt.state != "" {
			r.State = blob(tt.state)
		}
		_, err := r.Do(t.Context())
		if err == nil || err.Error() != tt.want || !errors.Is(err, b.err) || len(b.log) > 0 {
			t.Errorf("%s: %v, want %s; it did %q", tt.is, err, tt.want, b.log)
		}
	}
}

// TestARoundThatDoesNothingSaysWhatItWould: a dry run, and one that the guard holds, whose refusals are explained all the same.
func TestARoundThatDoesNothingSaysWhatItWould(t *testing.T) {
	guard := render.Guard{Protect: []string{"ConfigMap"}}
	for _, isDryRun := range []bool{true, false} {
		b := &broken{model: newModel()}
		for range 2 { // the first round at a cluster deletes nothing
			if err := b.round(t, branchOf(0x03), blob("one")); err != nil {
				t.Fatal(err)
			}
		}
		writes := b.writes
		b.log = nil
		r := Round{
			Cluster: b, Name: "eu-1", Owner: source, Commit: blob("two"), Objects: branchOf(0x01), DryRun: isDryRun,
			Admit: func(context.Context, inventory.Inventory) (Options, error) {
				return Options{Guard: guard, Allowed: isDryRun}, nil
			},
		}
		report, err := r.Do(t.Context())
		if err != nil || len(b.log) > 0 || b.writes != writes || b.explains != 1 || len(report.Inventory.Entries) != 2 {
			t.Errorf("dry run %t: it did %q, wrote %d times, explained %d; %v", isDryRun, b.log, b.writes-writes, b.explains, err)
		}
		hold := report.Plan.Hold
		if isDryRun != (hold == nil) || hold != nil && (hold.Reason == "" || len(hold.Removals) != 1 || hold.Removals[0].Name != "b") {
			t.Errorf("dry run %t: held is %+v", isDryRun, hold)
		}
		if leaves := report.Plan.Actions(); isDryRun && (len(leaves) != 1 || leaves[0].Verb != Delete || leaves[0].Ref.Name != "b") {
			t.Errorf("it would do %+v", leaves)
		}
	}
}

// TestWhatIsInDoubtIsWrittenOnce: who loses the race says so in the inventory, and no more often than it must.
func TestWhatIsInDoubtIsWrittenOnce(t *testing.T) {
	for n, at := range [][]int{{2}, {2, 3}, {2, 3, 4, 5, 6, 7, 8, 9}} {
		m := &raced{model: newModel(), at: at}
		r := Round{
			Cluster: m, Name: "eu-1", Owner: source, Commit: blob("commit"), Objects: branchOf(1),
			Admit: func(context.Context, inventory.Inventory) (Options, error) { return Options{}, nil },
		}
		if _, err := r.Do(t.Context()); !errors.Is(err, ErrRace) {
			t.Errorf("with races at %v it comes to %v", at, err)
		}
		if want := []int{3, 4, 7}[n]; m.writes != want {
			t.Errorf("with races at %v the inventory is written %d times, want %d", at, m.writes, want)
		}
	}
}

// TestOnlyThePhaseThatFailedIsRefused for its commit: the hooks of one that did not begin have not failed, and are not said to.
func TestOnlyThePhaseThatFailedIsRefused(t *testing.T) {
	m := newModel()
	m.sick["seed"] = Unhealthy{Failed: true, Why: "it exited with 1"}
	m.syncs(t, fleet("one"), "one", "shop backup ? migrate ? -migrate db seed ? alarm ?", "the phase Sync did not come to its end")
	for range 2 {
		report, err := m.report(t, fleet("one"), blob("one"), false)
		if err != nil {
			t.Fatal(err)
		}
		var refused []string
		for _, a := range report.Plan.Refused {
			refused = append(refused, a.Ref.Name+": "+a.Why)
		}
		want := []string{"seed: a hook of the phase Sync failed for this commit; a new commit runs it again, and so does waybill apply"}
		if !slices.Equal(refused, want) {
			t.Errorf("refused are %q, want %q", refused, want)
		}
	}
}

// TestWhatIsSaidOfManyThatAreNotHealthy: the first three, those that failed before others, and how many more there are.
func TestWhatIsSaidOfManyThatAreNotHealthy(t *testing.T) {
	for sick, want := range map[string]string{
		"a":         "ConfigMap/shop/a: it waits; what",
		"b a":       "ConfigMap/shop/a: it waits, ConfigMap/shop/b: it waits; what",
		"c!b a":     "ConfigMap/shop/c: it broke, ConfigMap/shop/a: it waits, ConfigMap/shop/b: it waits; what",
		"c!b a d":   "ConfigMap/shop/c: it broke, ConfigMap/shop/a: it waits, ConfigMap/shop/b: it waits, and 1 more; what",
		"d!c!b a e": "ConfigMap/shop/c: it broke, ConfigMap/shop/d: it broke, ConfigMap/shop/a: it waits, and 2 more; what",
	} {
		s := &slow{model: newModel()}
		for i, r := range sick {
			switch {
			case r == ' ' || r == '!':
			case strings.HasPrefix(sick[i+1:], "!"):
				s.sick[string(r)] = Unhealthy{Failed: true, Why: "it broke"}
			default:
				s.sick[string(r)] = Unhealthy{Why: "it waits"}
			}
		}
		branch := append(branchOf(0x1f), manifest("v1 ConfigMap shop/last", nil, waveIs+"1"))
		report, err := s.round(t.Context(), branch, "one")
		if err != nil || !strings.HasPrefix(report.Stopped, "the phase Sync did not come to its end: "+want) {
			t.Errorf("%q: it says %q; %v", sick, report.Stopped, err)
		}
	}
}

// TestHowLongIsWaitedAtOnce for a wave: ten seconds, and no longer than the rest of its time; then only for what was not healthy.
func TestHowLongIsWaitedAtOnce(t *testing.T) {
	for patience, want := range map[time.Duration][]time.Duration{
		25 * time.Second: {10 * time.Second, 10 * time.Second, 5 * time.Second},
		20 * time.Second: {10 * time.Second, 10 * time.Second},
		3 * time.Second:  {3 * time.Second},
	} {
		l := &looked{model: newModel()}
		l.sick["a"] = Unhealthy{Why: "it waits"}
		r := Round{
			Cluster: l, Name: "eu-1", Owner: source, Commit: blob("one"), Patience: patience,
			Objects: append(branchOf(0x07), manifest("v1 ConfigMap shop/last", nil, waveIs+"1")),
			Admit:   func(context.Context, inventory.Inventory) (Options, error) { return Options{}, nil },
		}
		if _, err := r.Do(t.Context()); err != nil || !slices.Equal(l.most, want) {
			t.Errorf("in %s it waits %v, want %v; %v", patience, l.most, want, err)
		}
		for i, n := range l.of {
			if i == 0 && n != 3 || i > 0 && n != 1 {
				t.Errorf("look %d in %s is at %d objects", i+1, patience, n)
			}
		}
	}
}

// looked is a cluster that notes how long, and for how many objects, was waited.
type looked struct {
	*model

	most []time.Duration
	of   []int
}

// Await implements Cluster.
func (l *looked) Await(ctx context.Context, objects []object.Ref, most time.Duration) ([]Unhealthy, error) {
	l.most, l.of = append(l.most, most), append(l.of, len(objects))
	return l.model.Await(ctx, objects, most)
}
