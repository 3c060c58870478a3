package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// errKilled ends a round in the model, as a kill ends a process.
var errKilled = errors.New("killed")

// thing is an object in the model of a cluster.
type thing struct {
	uid, owner string
	value      string // what it holds
	ours       uint64 // a digest of our fields, as the server would say it
	run        string // what a hook runs for
}

// model is a cluster in memory, as far as the laws of rounds look at it.
type model struct {
	things map[object.Ref]thing
	stored Stored
	next   int  // UID
	lives  int  // writes until it is killed; negative: for ever
	newer  bool // a newer commit is there at every stage boundary
	took   []string
	log    []string             // what was applied, or waited for
	sick   map[string]Unhealthy // by name
	served []schema.GroupKind   // that was waited for
	writes int                  // of the inventory
}

// spend reports whether the process lives on for one more write.
func (m *model) spend() bool {
	if m.lives == 0 {
		return false
	}
	m.lives--
	return true
}

func (m *model) Inventory(_ context.Context, owner string) (Stored, error) {
	s := m.stored
	if s.Inventory.Owner != owner {
		s = Stored{Versions: s.Versions}
	}
	if s.Inventory.UID == "" {
		s.Inventory.UID = "k"
	}
	return s, nil
}

func (m *model) Store(ctx context.Context, before Stored, now inventory.Inventory) (Stored, error) {
	switch {
	case ctx.Err() != nil:
		return Stored{}, ctx.Err()
	case before.Versions["head"] != m.stored.Versions["head"]:
		return Stored{}, ErrRace
	case !m.spend():
		return Stored{}, errKilled
	}
	m.put(now)
	return m.stored, nil
}

// put has the inventory be another one.
func (m *model) put(now inventory.Inventory) {
	m.writes++
	m.stored = Stored{Inventory: now, Versions: map[string]string{"head": strconv.Itoa(m.writes)}}
}

func (m *model) live(r object.Ref) *metav1.PartialObjectMetadata {
	o, ok := m.things[r]
	if !ok {
		return nil
	}
	l := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: types.UID(o.uid)}}
	if o.owner != "" {
		l.Annotations = map[string]string{OwnerAnnotation: o.owner}
	}
	if o.run != "" {
		l.Annotations[RunAnnotation] = o.run
	}
	if o.ours != 0 {
		l.ManagedFields = []metav1.ManagedFieldsEntry{fields(Manager, metav1.ManagedFieldsOperationApply, fmt.Sprintf(`{"f:%d":{}}`, o.ours))}
	}
	return l
}

func (m *model) Observe(_ context.Context, wanted map[object.Ref]bool) (Facts, error) {
	f := Facts{Live: map[object.Ref]*metav1.PartialObjectMetadata{}}
	for r := range m.things {
		if wanted[r] {
			f.Live[r] = m.live(r)
		}
	}
	return f, nil
}

func (m *model) Apply(_ context.Context, actions []Action, owner string) []Outcome {
	var out []Outcome
	for _, a := range actions {
		o := Outcome{Action: a}
		if !m.spend() {
			o.Err = errKilled
		} else if was, ok := m.things[a.Ref]; ok && a.Verb == Release {
			m.log = append(m.log, "~"+a.Ref.Name)
			was.owner = ""
			m.things[a.Ref] = was
		} else if a.Object == nil {
			if was, ok := m.things[a.Ref]; ok && (was.uid == a.UID || a.UID == "" && was.owner == owner && was.ours != 0) {
				m.took, m.log = append(m.took, a.Ref.Name), append(m.log, "-"+a.Ref.Name)
				delete(m.things, a.Ref)
			}
		} else {
			was, ok := m.things[a.Ref]
			m.log = append(m.log, a.Ref.Name)
			if !ok || a.Renew == RenewFirst {
				m.next++
				was = thing{uid: fmt.Sprint("u", m.next)}
			}
			value, _ := a.Object.Manifest["value"].(string)
			m.things[a.Ref] = thing{uid: was.uid, owner: owner, value: value, ours: 1, run: a.Run}
			o.Live = m.live(a.Ref)
		}
		out = append(out, o)
	}
	return out
}

func (*model) Discard(context.Context, string) error { return nil }

func (m *model) Serve(_ context.Context, kinds []schema.GroupKind) {
	m.served = append(m.served, kinds...)
}

func (m *model) Await(_ context.Context, objects []object.Ref, _ time.Duration) (left []Unhealthy, err error) {
	if len(objects) > 0 {
		m.log = append(m.log, "?")
	}
	for _, r := range objects {
		if u, ok := m.sick[r.Name]; ok {
			u.Ref = r
			left = append(left, u)
		}
	}
	return left, nil
}

func (*model) Explain(context.Context, []Action, string) {}

// TestRounds plays a thousand walks.
func TestRounds(t *testing.T) {
	const most = 40 // bytes
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 7))
		steps := make([]byte, 3+random.IntN(most))
		for i := range steps {
			steps[i] = byte(random.Uint32())
			if i%3 == 1 && random.IntN(2) == 0 {
				steps[i] %= 12 // it is killed
			}
		}
		if play(t, steps); t.Failed() {
			t.Fatalf("the walk was %#v", steps)
		}
	}
}

// FuzzRounds plays rounds over five objects: commits come, people edit, delete and create, and
// rounds are killed at any write. It holds what must be true after each, and what must be true
// once a round came to its end.
func FuzzRounds(f *testing.F) {
	f.Add([]byte{0x1f, 0xff, 0, 0x0f, 0xff, 0, 0x1f, 3, 0x21})
	f.Add([]byte{0x07, 2, 0, 0x1c, 1, 0x13, 0x00, 0xff, 0, 0x1f, 0xff, 0x42})
	f.Add([]byte("kill the round, then edit what it left"))
	f.Fuzz(play)
}

// play plays rounds as bytes say.
func play(t *testing.T, steps []byte) {
	t.Helper()
	m := &model{things: map[object.Ref]thing{{Kind: "ConfigMap", Namespace: "shop", Name: "e"}: {uid: "theirs", value: "theirs"}}}
	for n := 0; n+2 < len(steps) && n < 60; n += 3 {
		m.meddle(steps[n+2])
		branch, commit := branchOf(steps[n]), blob(fmt.Sprint("commit", n))
		m.lives, m.took = -1, nil
		if k := int(steps[n+1]); k < 12 {
			m.lives = k
		} else {
			m.newer = k < 64
		}
		before, settled := maps.Clone(m.things), m.stored.Inventory.Settled
		known := maps.Clone(m.stored.Inventory.Entries)
		err := m.round(t, branch, commit)
		m.safe(t, before, known, settled, branch)
		if (errors.Is(err, errKilled) || errors.Is(err, ErrSuperseded)) && n+5 < len(steps) {
			continue // the next commit comes before anybody looks
		}
		m.lives, m.newer = -1, false
		for range 2 { // the first round at a cluster deletes nothing
			if err := m.round(t, branch, commit); err != nil {
				t.Fatal(err)
			}
		}
		m.converged(t, branch)
	}
}

// branchOf is a branch with some of five objects, and one of four contents of each.
func branchOf(which byte) []Object {
	var all []Object
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		if which>>i&1 == 0 {
			continue
		}
		o := manifest("v1 ConfigMap shop/"+name, nil)
		value := fmt.Sprint(name, which>>6)
		o.Manifest["value"], o.Content = value, blob(value)
		all = append(all, o)
	}
	return all
}

// meddle does what people do.
func (m *model) meddle(how byte) {
	r := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: string("abcde"[how%5])}
	o, ok := m.things[r]
	switch how >> 5 {
	case 1: // edits a field of ours
		if ok {
			o.value, o.ours = "edited", 2
			m.things[r] = o
		}
	case 2:
		delete(m.things, r)
	case 3: // deletes it, and creates another one
		m.next++
		m.things[r] = thing{uid: fmt.Sprint("u", m.next), value: "theirs"}
	case 4: // loses the inventory
		m.stored = Stored{}
	}
}

func (m *model) round(t *testing.T, branch []Object, commit files.ID) error {
	t.Helper()
	report, err := m.report(t, branch, commit, false)
	if err == nil {
		for _, o := range report.Outcomes {
			err = errors.Join(err, o.Err)
		}
	}
	return err
}

func (m *model) report(t *testing.T, branch []Object, commit files.ID, retry bool) (Report, error) {
	t.Helper()
	r := Round{
		Cluster: m, Name: "eu-1", Owner: source, Commit: commit, Source: "s", Objects: branch,
		Admit: func(context.Context, inventory.Inventory) (Options, error) {
			return Options{Guard: render.DefaultConfig().Guard, Allowed: true, Retry: retry}, nil
		},
		Superseded: func(context.Context) bool { return m.newer },
	}
	return r.Do(t.Context())
}

// safe holds what must be true even if a round was killed.
func (m *model) safe(t *testing.T, before map[object.Ref]thing, known map[object.Ref]inventory.Entry, settled bool, branch []Object) {
	t.Helper()
	onBranch := map[string]bool{}
	for i := range branch {
		onBranch[branch[i].Ref.Name] = true
	}
	for _, name := range m.took {
		if _, had := known[object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name}]; onBranch[name] || !had || !settled {
			t.Errorf("%s was deleted; it is on the branch: %v, and in the inventory: %v, which is settled: %v", name, onBranch[name], had, settled)
		}
	}
	for r, was := range before {
		if is, ok := m.things[r]; was.owner == "" && (!ok || is != was) && known[r].UID != was.uid {
			t.Errorf("%s is somebody's, and was touched: %+v is %+v", r, was, is)
		}
	}
}

// converged holds what must be true once a round came to its end.
func (m *model) converged(t *testing.T, branch []Object) {
	t.Helper()
	onBranch := map[object.Ref]bool{}
	for i := range branch {
		o := &branch[i]
		onBranch[o.Ref] = true
		is, ok := m.things[o.Ref]
		if foreign := ok && is.owner == ""; !foreign && (is.value != o.Manifest["value"] || !strings.HasPrefix(is.uid, "u") || is.ours != 1) {
			t.Errorf("%s is %+v, want %v", o.Ref, is, o.Manifest["value"])
		}
	}
	for r, e := range m.stored.Inventory.Entries {
		if !onBranch[r] {
			t.Errorf("%s is still in the inventory: %+v", r, e)
		}
		if is := m.things[r]; is.owner == source && (e.UID != is.uid || e.Content.IsZero()) {
			t.Errorf("%s is %+v, and in the inventory %+v", r, is, e)
		}
	}
}

// TestSuperseded ends a round between two stages, and applies the next commit over what the
// first one left.
func TestSuperseded(t *testing.T) {
	all := branchOf(0xff)
	older := append([]Object{manifest("v1 Namespace shop", nil)}, branchOf(0x3f)...)
	m := &model{things: map[object.Ref]thing{}, lives: -1, newer: true}
	if err := m.round(t, older, blob("one")); !errors.Is(err, ErrSuperseded) {
		t.Fatalf("the round ended with %v", err)
	}
	if len(m.things) != 1 || len(m.stored.Inventory.Entries) != 6 {
		t.Errorf("one stage leaves %v, and the inventory %v", m.things, m.stored.Inventory.Entries)
	}
	m.newer = false
	for range 2 {
		if err := m.round(t, all, blob("two")); err != nil {
			t.Fatal(err)
		}
	}
	m.converged(t, all)
}

// TestMoved applies from a source that is called otherwise than before: its objects stay, with
// their new owner, and what is not on the branch any more leaves. Those of another source stay.
func TestMoved(t *testing.T) {
	m := &model{things: map[object.Ref]thing{}, lives: -1}
	branch := branchOf(0x0f)
	for range 2 {
		if err := m.round(t, branch, blob("one")); err != nil {
			t.Fatal(err)
		}
	}
	before := maps.Clone(m.things)
	moved := Round{
		Cluster: m, Name: "eu-1", Owner: "git.example.com/moved", Commit: blob("two"), Objects: branch[:3],
		Admit: func(context.Context, inventory.Inventory) (Options, error) {
			return Options{Guard: render.DefaultConfig().Guard, Allowed: true}, nil
		},
	}
	report, err := moved.Do(t.Context())
	if err != nil || len(report.Plan.Refused) != 3 || !maps.Equal(m.things, before) {
		t.Fatalf("nobody said that it moved: %v, %v", err, report.Outcomes)
	}
	m.stored = Stored{Inventory: inventory.Inventory{Identity: inventory.Identity{Owner: source, Cluster: "eu-1", UID: "k"}, Settled: true, Entries: map[object.Ref]inventory.Entry{}}}
	for r, o := range before {
		m.stored.Inventory.Entries[r] = inventory.Entry{UID: o.uid}
	}
	moved.Formerly = []string{"git.example.com/older", source}
	if _, err := moved.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, o := range branch {
		is, there := m.things[o.Ref]
		if there != (i < 3) || there && (is.uid != before[o.Ref].uid || is.owner != moved.Owner) {
			t.Errorf("%s is %+v, there: %v", o.Ref, is, there)
		}
	}
	if m.stored.Inventory.Owner != moved.Owner || len(m.stored.Inventory.Entries) != 3 {
		t.Errorf("the inventory is %+v", m.stored.Inventory)
	}
}

// TestARenamedClusterHasAWayOn applies to a cluster whose inventory has another name for it.
func TestARenamedClusterHasAWayOn(t *testing.T) {
	for _, tt := range []struct{ before, want string }{
		{"", "waybill.dev/formerly: old"},
		{"other", "waybill.dev/formerly: old"},
		{"old", ""},
	} {
		m := &model{things: map[object.Ref]thing{}, lives: -1}
		m.stored.Inventory = inventory.Inventory{Identity: inventory.Identity{Owner: "me", Cluster: "old", UID: "u"}}
		var admitted string
		r := Round{Cluster: m, Name: "new", NameBefore: tt.before, Owner: "me", Commit: files.ID{1}, Admit: func(_ context.Context, i inventory.Inventory) (Options, error) {
			admitted = i.Cluster
			return Options{}, nil
		}}
		_, err := r.Do(t.Context())
		switch is := m.stored.Inventory.Cluster; {
		case tt.want != "":
			if err == nil || !strings.Contains(err.Error(), tt.want) || is != "old" {
				t.Errorf("formerly %q: it is %s; %v", tt.before, is, err)
			}
		case err != nil || is != "new" || admitted != "old":
			t.Errorf("formerly %q: it is %s, and was admitted as %s; %v", tt.before, is, admitted, err)
		}
	}
}

// TestARoundRemembersByWhichState makes rounds by one state after the other. Each is written down before anything else,
// though there be nothing to do, unless the round is not admitted or does nothing.
func TestARoundRemembersByWhichState(t *testing.T) {
	m := &model{things: map[object.Ref]thing{}, lives: -1}
	id := func(s string) files.ID { return files.Sum("commit", []byte(s)) }
	refused := errors.New("refused")
	for _, step := range []struct {
		state  string
		admits error
		dryRun bool
		want   string
	}{
		{state: "first", want: "first"},
		{state: "second", want: "second"},
		{state: "third", dryRun: true, want: "second"},
		{state: "older", admits: refused, want: "second"},
		{want: "second"}, // one who need not remember it
	} {
		r := Round{
			Cluster: m, Name: "eu", Owner: "git/fleet", Commit: id("commit"), Source: "s", DryRun: step.dryRun, Objects: []Object{manifest("v1 ConfigMap shop/a", nil)},
			Admit: func(context.Context, inventory.Inventory) (Options, error) { return Options{}, step.admits },
		}
		if step.state != "" {
			r.State = id(step.state)
		}
		if _, err := r.Do(t.Context()); !errors.Is(err, step.admits) {
			t.Fatal(err)
		}
		if got := m.stored.Inventory.State; got != id(step.want) {
			t.Errorf("%+v: remembered is %s, want %s", step, got, id(step.want))
		}
	}
}

// TestWhatARoundWritesDown: the commit that was applied, also where it changes nothing; and nothing where it is written down already.
func TestWhatARoundWritesDown(t *testing.T) {
	m := newModel()
	branch := branchOf(0x03)
	for _, step := range []struct {
		commit string
		writes bool
	}{{"one", true}, {"one", false}, {"two", true}, {"two", false}} {
		before := m.writes
		report, err := m.report(t, branch, blob(step.commit), false)
		if err != nil || (m.writes > before) != step.writes || m.stored.Inventory.Commit != blob(step.commit) || report.Inventory.Commit != blob(step.commit) {
			t.Errorf("%s: %v, %d writes; the inventory is of %s, told is %s", step.commit, err, m.writes-before, m.stored.Inventory.Commit, report.Inventory.Commit)
		}
		if got := slices.Collect(maps.Keys(report.Inventory.Entries)); len(got) != 2 {
			t.Errorf("%s: told are %v", step.commit, got)
		}
	}
}

// former is a cluster with inventories of what the source was called before.
type former struct {
	*model

	left      map[string]inventory.Inventory // by owner
	away      error                          // of these
	kept      error                          // they cannot be deleted
	discarded []string
}

// Inventory implements Cluster.
func (f *former) Inventory(ctx context.Context, owner string) (Stored, error) {
	if i, ok := f.left[owner]; ok && owner != source {
		return Stored{Inventory: i}, f.away
	}
	return f.model.Inventory(ctx, owner)
}

// Discard implements Cluster.
func (f *former) Discard(_ context.Context, owner string) error {
	if f.kept == nil {
		f.discarded = append(f.discarded, owner)
		delete(f.left, owner)
	}
	return f.kept
}

// TestTheInventoryOfBefore: what a source that was called otherwise left is taken over and deleted, though nothing be to be done, and the
// source's own never is. Where it cannot be read nothing is done.
func TestTheInventoryOfBefore(t *testing.T) {
	const before = "git.example.com/before"
	away, kept := errors.New("503"), errors.New("403")
	for name, tt := range map[string]struct {
		formerly   []string
		away, kept error
		want       []string
	}{
		"taken over":                  {formerly: []string{before}, want: []string{before}},
		"its own name is among those": {formerly: []string{source, before}, want: []string{before}},
		"its own name alone":          {formerly: []string{source}},
		"a name that left nothing":    {formerly: []string{"git.example.com/never"}},
		"it cannot be read":           {formerly: []string{before}, away: away},
		"it cannot be deleted":        {formerly: []string{before}, kept: kept},
	} {
		m := newModel()
		if err := m.round(t, nil, blob("one")); err != nil {
			t.Fatal(err)
		}
		f := &former{model: m, away: tt.away, kept: tt.kept, left: map[string]inventory.Inventory{
			before: {Identity: inventory.Identity{Owner: before, Cluster: "eu-1", UID: "k"}, Commit: blob("one"), Settled: true},
		}}
		written := m.writes
		r := Round{
			Cluster: f, Name: "eu-1", Owner: source, Formerly: tt.formerly, Commit: blob("one"),
			Admit: func(context.Context, inventory.Inventory) (Options, error) { return Options{}, nil },
		}
		_, err := r.Do(t.Context())
		if !errors.Is(err, cmp.Or(tt.away, tt.kept)) || !slices.Equal(f.discarded, tt.want) {
			t.Errorf("%s: %v; deleted are %v, want %v", name, err, f.discarded, tt.want)
		}
		if tt.away != nil && m.writes > written {
			t.Errorf("%s: it was written %d times", name, m.writes-written)
		}
	}
}

// TestKindsAreWaitedFor that what was applied defines, and no others.
func TestKindsAreWaitedFor(t *testing.T) {
	m := newModel()
	crd := manifest("apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com", map[string]any{"group": "example.com", "names": map[string]any{"kind": "Widget"}})
	named := manifest("example.com/v1 Other shop/o", map[string]any{"group": "other", "names": map[string]any{"kind": "Else"}})
	if err := m.round(t, []Object{crd, named}, blob("one")); err != nil {
		t.Fatal(err)
	}
	if want := []schema.GroupKind{{Group: "example.com", Kind: "Widget"}}; !slices.Equal(m.served, want) {
		t.Errorf("waited for are %v, want %v", m.served, want)
	}
}
