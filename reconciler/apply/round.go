package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// ErrRace says that somebody else wrote the inventory meanwhile. What this round touched is in
// doubt there, so that a round from the newest head puts it right.
var ErrRace = errors.New("somebody else applies to this cluster")

// ErrSuperseded says that a round ended between two stages, because a newer commit is to be
// applied. What it did is in the inventory, which holds what either commit wants.
var ErrSuperseded = errors.New("a newer commit is to be applied")

// A Cluster is what a round acts on.
type Cluster interface {
	// Inventory reads the inventory of a source and the cluster's UID.
	Inventory(ctx context.Context, owner string) (Stored, error)
	// Store writes what changed of an inventory, if it is still the one that was read, or else
	// returns ErrRace.
	Store(ctx context.Context, before Stored, now inventory.Inventory) (Stored, error)
	// Discard deletes the inventory of a source.
	Discard(ctx context.Context, owner string) error
	// Observe says what the cluster has of objects.
	Observe(ctx context.Context, wanted map[object.Ref]bool) (Facts, error)
	// Apply carries actions out, some of them at once, and returns their outcomes in order.
	Apply(ctx context.Context, actions []Action, owner string) []Outcome
	// Serve waits until the cluster serves the kinds, or for a while.
	Serve(ctx context.Context, kinds []schema.GroupKind)
	// Await waits until objects are healthy, and hooks have succeeded, or until one has
	// failed, or for a while, and returns those that are not.
	Await(ctx context.Context, objects []object.Ref, most time.Duration) ([]Unhealthy, error)
	// Explain fills in with whose fields refused objects are in conflict.
	Explain(ctx context.Context, refused []Action, owner string)
}

// Stored is an inventory as it was read. The zero UID is that of none.
type Stored struct {
	Inventory inventory.Inventory
	// Versions are what a later write compares with: those of the head and the shards, by name.
	Versions map[string]string
}

// Outcome is what became of an action.
type Outcome struct {
	Action

	// Err is why it failed; nil if it was done.
	Err error
	// Live is the metadata that the server answered with; nil where there is nothing.
	Live *metav1.PartialObjectMetadata
	// Waits says that a deletion is not at its end, and for what.
	Waits string
}

// Unhealthy is an object that is not as it should be.
type Unhealthy struct {
	Ref object.Ref
	// Failed says that it will not become healthy by itself.
	Failed bool
	Why    string
}

// Round brings a cluster to a commit, once.
type Round struct {
	Cluster Cluster
	Name    string // the cluster's
	Owner   string // the source
	// Formerly is what the source was known by before it moved, and NameBefore what the cluster was registered
	// as before it was renamed; empty for nothing.
	Formerly   []string
	NameBefore string
	Commit     files.ID
	// State is the commit of the state branch that the round goes by, which the inventory remembers; zero: it does not.
	State   files.ID
	Source  string // the source commit
	Objects []Object
	// Admit decides whether the commit may be applied over the inventory that is there, and
	// with which options.
	Admit func(ctx context.Context, i inventory.Inventory) (Options, error)
	// Superseded is asked before each stage but the first, and while a wave is waited for, whether a newer commit is to be
	// applied instead; nil: none is.
	Superseded func(ctx context.Context) bool
	// Patience is how long a wave, or a hook, may take to become healthy.
	Patience time.Duration
	// Crowded is asked while the round waits for that, whether others wait for the round to
	// end: then it ends, and the next one waits on; nil: nobody does.
	Crowded func() bool
	// DryRun plans and does nothing.
	DryRun bool
	// Now is the time of the round.
	Now time.Time
}

// Report is what a round came to.
type Report struct {
	Plan     Plan
	Outcomes []Outcome
	// Stopped says why the rest of the plan was not done: a hook failed, or a wave is not
	// healthy. Empty where it was.
	Stopped string
	// Inventory is the one that the round left.
	Inventory inventory.Inventory
}

// Failed reports whether something is not as it should be, though there was something to do
// about it.
func (r *Report) Failed() bool {
	return r.Plan.Hold != nil || r.Stopped != "" || len(r.Plan.Refused) > 0 || slices.ContainsFunc(r.Outcomes, func(o Outcome) bool { return o.Err != nil })
}

// Do runs the round. An error says that it did not come to its end.
func (r *Round) Do(ctx context.Context) (Report, error) {
	stored, err := r.Cluster.Inventory(ctx, r.Owner)
	if err != nil {
		return Report{}, fmt.Errorf("reading the inventory: %w", err)
	}
	known, moved, err := r.moved(ctx, stored.Inventory)
	if err != nil {
		return Report{}, fmt.Errorf("reading the inventory that the source left: %w", err)
	}
	if err := r.recognise(&known); err != nil {
		return Report{}, err
	}
	options, err := r.Admit(ctx, known)
	if err != nil {
		return Report{}, err
	}
	known.Cluster = r.Name
	if stored, err = r.remember(ctx, stored, &known); err != nil {
		return Report{}, fmt.Errorf("writing down which state counts: %w", err)
	}
	facts, err := r.Cluster.Observe(ctx, r.wanted(known))
	if err != nil {
		return Report{}, fmt.Errorf("looking at what is there: %w", err)
	}
	report := Report{Plan: Make(Input{
		Commit: r.Commit, Source: r.Source, Objects: r.Objects, Inventory: known, Formerly: r.Formerly, Facts: facts, Options: options,
		Now: r.Now,
	})}
	report.Inventory = known
	r.Cluster.Explain(ctx, report.Plan.Refused, r.Owner)
	if r.DryRun || report.Plan.Hold != nil {
		return report, nil
	}
	if len(report.Plan.Stages()) == 0 && known.Commit == r.Commit && known.Settled && report.Plan.ended(known) && len(moved) == 0 {
		return report, nil
	}
	w := &writer{round: r, stored: stored}
	err = w.carryOut(ctx, known, &report)
	report.Inventory = w.stored.Inventory
	if errors.Is(err, ErrRace) {
		err = errors.Join(err, w.markUnknown(ctx, report.Outcomes))
	}
	if err == nil {
		err = r.discard(ctx, moved)
	}
	return report, err
}

// remember writes down which state the round goes by before it does anything, even if nothing is to be done: whoever
// comes next, as after a restart, goes by none before it. Where nothing was applied yet, the first change writes it.
func (r *Round) remember(ctx context.Context, stored Stored, known *inventory.Inventory) (Stored, error) {
	if r.State.IsZero() || known.State == r.State {
		return stored, nil
	}
	known.State = r.State
	if stored.Inventory.Cluster == "" || r.DryRun {
		return stored, nil
	}
	now := stored.Inventory
	now.State = r.State
	return r.Cluster.Store(ctx, stored, now)
}

// moved adds the inventories that the source left when it was known otherwise, and says which
// there are.
func (r *Round) moved(ctx context.Context, i inventory.Inventory) (known inventory.Inventory, formers []string, err error) {
	for _, former := range r.Formerly {
		was, err := r.Cluster.Inventory(ctx, former)
		if err != nil {
			return i, nil, err
		}
		if was.Inventory.Cluster != "" && former != r.Owner {
			i, formers = i.Moved(was.Inventory, r.Owner), append(formers, former)
		}
	}
	return i, formers, nil
}

// discard deletes the inventories that the round took over, which its own holds now.
func (r *Round) discard(ctx context.Context, moved []string) error {
	for _, former := range moved {
		if err := r.Cluster.Discard(ctx, former); err != nil {
			return fmt.Errorf("deleting the inventory of %s, which this source was called: %w", former, err)
		}
	}
	return nil
}

// recognise makes the inventory of a cluster that nothing was applied to this source's, and
// refuses one of another cluster. One of a cluster that was renamed has its old name until it is admitted.
func (r *Round) recognise(i *inventory.Inventory) error {
	if i.Cluster == "" {
		i.Owner, i.Cluster = r.Owner, r.Name
	}
	if i.Cluster != r.Name && i.Cluster != r.NameBefore {
		return fmt.Errorf("this is not %s: by its inventory, it is %s; nothing was written; have its kubeconfig looked at, or, if it was registered as %s before, say so with the annotation waybill.dev/formerly: %s of its Cluster", r.Name, i.Cluster, i.Cluster, i.Cluster)
	}
	return nil
}

// wanted are the objects that the branch has, or that the inventory names.
func (r *Round) wanted(i inventory.Inventory) map[object.Ref]bool {
	all := make(map[object.Ref]bool, len(r.Objects))
	for n := range r.Objects {
		all[r.Objects[n].Ref] = true
	}
	for ref := range i.Entries {
		all[ref] = true
	}
	return all
}

// writer carries a plan out.
type writer struct {
	round  *Round
	stored Stored
	// failed says what was not done since the last gate.
	failed string
	// hooks are those of the phase that came to their gate.
	hooks []Action
	// last is the stage that ends the round; nil where a gate does.
	last *Stage
}

func (w *writer) carryOut(ctx context.Context, known inventory.Inventory, report *Report) error {
	p := &report.Plan
	begun := known.Begin(w.round.Commit, p.wants, p.leaving)
	if p.sync != nil {
		begun.Sync = *p.sync
	}
	begun = begun.Applied(p.begun(begun)).Gone(p.renamed)
	if err := w.store(ctx, begun); err != nil {
		return fmt.Errorf("writing the inventory, before anything was changed: %w", err)
	}
	stages := p.Stages()
	for n := range stages {
		if n > 0 && w.superseded(ctx) {
			return ErrSuperseded
		}
		s := &stages[n]
		if n == len(stages)-1 && !s.Gate && len(w.hooks) == 0 {
			w.last = s
		}
		if err := w.outlast(ctx, s, report); err != nil || report.Stopped != "" {
			return err
		}
		if err := w.act(ctx, s, report); err != nil || w.last != nil {
			return err
		}
		if err := w.pass(ctx, s, report); err != nil || report.Stopped != "" {
			return err
		}
	}
	return w.store(ctx, p.end(w.stored.Inventory))
}

func (w *writer) superseded(ctx context.Context) bool {
	return w.round.Superseded != nil && w.round.Superseded(ctx)
}

// act does what a stage has to do.
func (w *writer) act(ctx context.Context, s *Stage, report *Report) error {
	if len(s.Actions) == 0 {
		return nil
	}
	outcomes := w.round.Cluster.Apply(ctx, s.Actions, w.round.Owner)
	report.Outcomes = append(report.Outcomes, outcomes...)
	for _, o := range outcomes {
		if o.Err != nil && s.Phase != "" && w.failed == "" {
			w.failed = fmt.Sprintf("%s: %s", o.Ref, o.Err)
		}
	}
	now := w.noted(outcomes)
	if s == w.last && ctx.Err() == nil {
		now = report.Plan.end(now)
	}
	if err := w.store(ctx, now); err != nil {
		return fmt.Errorf("writing the inventory: %w", err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("stopped after %d of %d objects: %w", len(report.Outcomes), report.Plan.Requests(), context.Cause(ctx))
	}
	w.round.Cluster.Serve(ctx, served(s.Actions))
	return nil
}

// store writes an inventory. What was done is noted even if there is no time left.
func (w *writer) store(ctx context.Context, now inventory.Inventory) error {
	const grace = 10 * time.Second
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
	}
	stored, err := w.round.Cluster.Store(ctx, w.stored, now)
	if err == nil {
		w.stored = stored
	}
	return err
}

// noted returns the inventory with what became of actions.
func (w *writer) noted(outcomes []Outcome) inventory.Inventory {
	done, gone := map[object.Ref]inventory.Entry{}, map[object.Ref]string{}
	for _, o := range outcomes {
		switch {
		case o.Err != nil || o.Waits != "":
		case o.Object == nil:
			gone[o.Ref] = o.UID
		case o.Live != nil:
			done[o.Ref] = inventory.Entry{
				Content: o.Object.Content, Source: w.round.Source, UID: string(o.Live.UID),
				Fields: Digest(o.Live), Keeps: preserved(o.Object.Manifest),
			}
		}
	}
	return w.stored.Inventory.Applied(done).Gone(gone)
}

// markUnknown takes their content from the entries of objects that this round touched, in the
// inventory that somebody else has written: who applied an object last is not known.
func (w *writer) markUnknown(ctx context.Context, outcomes []Outcome) error {
	var touched []object.Ref
	for _, o := range outcomes {
		touched = append(touched, o.Ref)
	}
	const tries = 5
	for range tries {
		stored, err := w.round.Cluster.Inventory(ctx, w.round.Owner)
		if err != nil {
			return err
		}
		w.stored = stored
		if err := w.store(ctx, stored.Inventory.Unknown(touched)); !errors.Is(err, ErrRace) {
			return err
		}
	}
	return nil
}

// served are the kinds that the CRDs of a stage define.
func served(stage []Action) []schema.GroupKind {
	var kinds []schema.GroupKind
	for _, a := range stage {
		if a.Object == nil || a.Ref.Kind != "CustomResourceDefinition" {
			continue
		}
		spec, _ := a.Object.Manifest["spec"].(map[string]any)
		names, _ := spec["names"].(map[string]any)
		group, _ := spec["group"].(string)
		kind, _ := names["kind"].(string)
		kinds = append(kinds, schema.GroupKind{Group: group, Kind: kind})
	}
	return kinds
}
