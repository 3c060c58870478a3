package apply

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// before is a model of a cluster in which the source was known otherwise.
type before struct {
	*model

	former    string
	was       inventory.Inventory
	discarded []string
}

// Inventory implements Cluster.
func (b *before) Inventory(ctx context.Context, owner string) (Stored, error) {
	if owner == b.former && len(b.discarded) == 0 {
		return Stored{Inventory: b.was}, nil
	}
	return b.model.Inventory(ctx, owner)
}

// Discard implements Cluster.
func (b *before) Discard(_ context.Context, owner string) error {
	b.discarded = append(b.discarded, owner)
	return nil
}

// TestWhatASourceLeftIsDiscardedWhenItsRoundCameToItsEnd: the inventory under its former name is deleted once its own has
// all that it had, and not by a round that was killed, held, superseded or but tried. A round under the former name that was
// not at its end deletes nothing under the new one.
func TestWhatASourceLeftIsDiscardedWhenItsRoundCameToItsEnd(t *testing.T) {
	const former, now = "git.example.com/old", "git.example.com/new"
	a, b := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}, object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "b"}
	newBefore := func(settled bool) *before {
		m := &model{things: map[object.Ref]thing{a: {uid: "ua", owner: former, ours: 1}, b: {uid: "ub", owner: former, ours: 1}}, lives: -1}
		return &before{model: m, former: former, was: inventory.Inventory{
			Identity: inventory.Identity{Owner: former, Cluster: "eu-1", UID: "k"}, Settled: settled, Commit: blob("one"), Entries: map[object.Ref]inventory.Entry{a: {UID: "ua"}, b: {UID: "ub"}},
		}}
	}
	for name, tt := range map[string]struct {
		lives     int // writes until it is killed
		newer     bool
		dryRun    bool
		allowed   bool
		unsettled bool
		discards  bool
		keeps     bool // what is not on the branch
	}{
		"it comes to its end":              {lives: -1, allowed: true, discards: true},
		"its last one did not":             {lives: -1, allowed: true, unsettled: true, discards: true, keeps: true},
		"it is killed at once":             {lives: 0, allowed: true, keeps: true},
		"it is killed on its way":          {lives: 2, allowed: true, keeps: true},
		"a newer commit comes":             {lives: -1, newer: true, allowed: true, keeps: true},
		"nothing is done":                  {lives: -1, dryRun: true, allowed: true, keeps: true},
		"the guard holds what it would do": {lives: -1, keeps: true},
	} {
		m := newBefore(!tt.unsettled)
		m.lives, m.newer = tt.lives, tt.newer
		config := render.DefaultConfig()
		if !tt.allowed {
			config.Guard.MaxRemoved, config.Guard.MaxRemovedPercent = 0, 0
		}
		r := Round{
			Cluster: m, Name: "eu-1", Owner: now, Formerly: []string{former}, Commit: blob("two"), Source: "s", Objects: branchOf(0x01), DryRun: tt.dryRun,
			Admit: func(context.Context, inventory.Inventory) (Options, error) {
				return Options{Guard: config.Guard, Allowed: tt.allowed}, nil
			},
			Superseded: func(context.Context) bool { return m.newer },
		}
		report, err := r.Do(t.Context())
		if ended := err == nil && !tt.dryRun && report.Plan.Hold == nil; ended != tt.discards || err != nil && !errors.Is(err, errKilled) && !errors.Is(err, ErrSuperseded) {
			t.Errorf("%s: %v, %+v", name, err, report.Plan.Hold)
		}
		if (len(m.discarded) == 1) != tt.discards || len(m.discarded) > 1 {
			t.Errorf("%s: discarded is %v", name, m.discarded)
		}
		if _, there := m.things[b]; there != tt.keeps {
			t.Errorf("%s: what is not on the branch is there: %t", name, there)
		}
		if known := m.stored.Inventory.Entries; tt.discards && (known[a].UID != "ua" || tt.keeps && known[b].UID != "ub") {
			t.Errorf("%s: the inventory has %v", name, known)
		}
	}
}

// TestARenamedSourceTakesNothingOfOthers: what the source owned under its former name is its own, and what a third one owns is not,
// even where the manifest says that it overwrites what is there.
func TestARenamedSourceTakesNothingOfOthers(t *testing.T) {
	o := manifest("v1 ConfigMap shop/web", nil, conflictAnnotation+"=overwrite")
	for by, want := range map[string]string{
		source:                  "0 update ConfigMap/shop/web uid=u1 take=2 left=[]\n",
		"git.example.com/old":   "0 update ConfigMap/shop/web uid=u1 take=2 left=[]\n",
		"git.example.com/third": "refuse ConfigMap/shop/web: the source git.example.com/third owns it, by its a\n",
	} {
		in := Input{
			Objects: []Object{o}, Inventory: inventory.Inventory{Identity: inventory.Identity{Owner: source}}, Formerly: []string{"git.example.com/old"},
			Facts: Facts{Live: map[object.Ref]*metav1.PartialObjectMetadata{o.Ref: live("u1", owner(by))}},
		}
		p := Make(in)
		if diff := cmp.Diff(want, told(p)); diff != "" {
			t.Errorf("of %s: -want +got:\n%s", by, diff)
		}
		if isAdoptable := len(p.Adoption.Objects) > 0; isAdoptable {
			t.Errorf("what %s owns is offered for adoption", by)
		}
	}
	// somebody copied an object, with its annotation
	copied := live("u1", theirs, owner("git.example.com/old"))
	p := Make(Input{
		Objects: []Object{manifest("v1 ConfigMap shop/web", nil)}, Inventory: inventory.Inventory{Identity: inventory.Identity{Owner: source}}, Formerly: []string{"git.example.com/old"},
		Facts: Facts{Live: map[object.Ref]*metav1.PartialObjectMetadata{o.Ref: copied}},
	})
	if got := told(p); !strings.HasPrefix(got, "refuse ConfigMap/shop/web: it is there already, and not from here") || len(p.Adoption.Objects) != 1 {
		t.Errorf("of a copy: %s, and %d may be adopted", got, len(p.Adoption.Objects))
	}
}
