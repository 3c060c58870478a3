package facts

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// How much of what a publication did is looked into.
const (
	mostDecisions = 200
	mostChanged   = 100
	mostDifferent = 20_000
)

// Effect is what a publication did.
type Effect struct {
	Change    Change
	Author    *Author // nil if that is not known any longer
	Decisions []Decided
	// MoreDecisions and MoreObjects are how many there are besides.
	MoreDecisions, MoreObjects int
	Clusters                   []Touched // in the order of names
	Objects                    []Changed // in the order of paths
	// Cut says that some clusters' branches were not followed back as far as this.
	Cut bool
}

// Decided is a template about which something else was decided.
type Decided struct {
	Ref     object.Ref
	Was, Is *Template // nil: there is none
}

// Touched is a cluster whose branch moved.
type Touched struct {
	Cluster                 string
	Commit                  files.ID
	Added, Changed, Removed int
}

// Changed is a manifest that is another one, in the same way in some clusters.
type Changed struct {
	Path     string
	Ref      object.Ref // zero if it cannot be read
	Verb     string     // added, changed or removed
	Clusters []string
	Fields   []fields.Field // of one that is changed
	// Hidden says that values are not shown, because a release may have taken them from Secrets.
	Hidden bool

	old, now *files.Blob
}

// changed is that a manifest is another one; either may be nil for none.
func changed(path string, old, now *files.Blob) *Changed {
	c := &Changed{Path: path, Verb: "changed", old: old, now: now}
	switch {
	case old == nil:
		c.Verb = "added"
	case now == nil:
		c.Verb = "removed"
	}
	return c
}

// Branch returns the last commits of what is published for a cluster, the newest first.
func (r *Reader) Branch(ctx context.Context, f *Facts, m *reports.Cluster, most int) ([]Change, error) {
	var all []Change
	for at := m.Head; !at.IsZero() && len(all) < most; {
		n, err := r.commit(ctx, at)
		if err != nil {
			return all, err
		}
		all = append(all, n.change)
		if at, err = r.before(ctx, f, m, n); err != nil {
			return all, err
		}
	}
	return all, nil
}

// before returns the commit before one of what is published for a cluster; zero for none.
func (r *Reader) before(ctx context.Context, f *Facts, m *reports.Cluster, n note) (files.ID, error) {
	return r.Reconciler.Published().CommitBefore(ctx, f.Fleet.Addresses.Of(m.Cluster), n.change.Commit, n.change.Parent)
}

// Effect tells what a publication did: to all clusters, or, if one is named, to that one.
func (r *Reader) Effect(ctx context.Context, f *Facts, c Change, within string) (Effect, error) {
	e := Effect{Change: c, Author: r.Author(ctx, c.Source)}
	now, before, err := r.trees(ctx, c)
	if err != nil {
		return e, err
	}
	if within == "" {
		e.decide(before, now)
	}
	later, err := r.after(ctx, f, c)
	if err != nil {
		return e, err
	}
	t := tracer{
		Reader: r, facts: f, effect: &e, later: later, same: map[[2]files.ID][]*Changed{}, all: map[changedKey]*Changed{},
		redactor: newRedactor(before, now),
	}
	for i := range f.Fleet.Clusters {
		m := &f.Fleet.Clusters[i]
		if within != "" && m.Cluster != within {
			continue
		}
		if err := t.cluster(ctx, m); err != nil {
			return e, err
		}
	}
	t.finish()
	return e, nil
}

// trees returns the files of a commit and of its parent, which may be nil.
func (r *Reader) trees(ctx context.Context, c Change) (now, before *files.Folder, err error) {
	h, err := r.Reconciler.Target.Commit(ctx, c.Commit)
	if err != nil || c.Parent.IsZero() {
		return h.Tree, nil, err
	}
	p, err := r.Reconciler.Target.Commit(ctx, c.Parent)
	return h.Tree, p.Tree, err
}

// decide adds the decisions that differ.
func (e *Effect) decide(before, now *files.Folder) {
	were, are := state.NewBindingReader(before), state.NewBindingReader(now)
	for change := range files.Diff(before, now) {
		if !state.IsBindingFile(change.Path) {
			continue
		}
		if len(e.Decisions) == mostDecisions {
			e.MoreDecisions++
			continue
		}
		d := Decided{Was: decisionOf(were, change.Path, change.Old), Is: decisionOf(are, change.Path, change.New)}
		switch {
		case d.Is != nil:
			d.Ref = d.Is.Ref
		case d.Was != nil:
			d.Ref = d.Was.Ref
		default:
			continue
		}
		e.Decisions = append(e.Decisions, d)
	}
	slices.SortFunc(e.Decisions, func(a, b Decided) int { return a.Ref.Compare(b.Ref) })
}

// decisionOf reads a binding; nil for none.
func decisionOf(reader *state.BindingReader, path string, from files.Entry) *Template {
	if from.Blob == nil {
		return nil
	}
	b, _, err := reader.Read(from.Blob)
	if err != nil {
		return nil
	}
	return templateOf(path, b, strings.Clone)
}

// after returns the commits of the state branch that came with a publication or after it.
func (r *Reader) after(ctx context.Context, f *Facts, c Change) (map[string]bool, error) {
	later := map[string]bool{}
	for at := f.Fleet.State.Commit; !at.IsZero(); {
		later[at.String()] = true
		if at == c.Commit {
			break
		}
		n, err := r.commit(ctx, at)
		if err != nil {
			return nil, err
		}
		at = n.change.Parent
	}
	return later, nil
}

// changedKey is a change of a manifest.
type changedKey struct {
	path     string
	old, now files.ID
}

// tracer finds what a publication did to branches.
type tracer struct {
	*Reader

	facts    *Facts
	effect   *Effect
	later    map[string]bool
	steps    int
	same     map[[2]files.ID][]*Changed // by the trees before and after
	all      map[changedKey]*Changed
	redactor *redactor
}

// cluster finds the commit of a cluster's branch that belongs to the publication, and what it changes.
func (t *tracer) cluster(ctx context.Context, m *reports.Cluster) error {
	c := &t.effect.Change
	for at := m.Head; !at.IsZero(); {
		if t.steps++; t.steps > mostBranchSteps {
			t.effect.Cut = true
			return nil
		}
		n, err := t.commit(ctx, at)
		if err != nil {
			return err
		}
		if planned := c.Parent.String(); n.change.Source == c.Source && (n.state == planned || n.state == "" && c.Parent.IsZero()) {
			return t.touch(ctx, m, n.change)
		}
		if !t.later[n.state] {
			return nil // it is from before
		}
		if at, err = t.before(ctx, t.facts, m, n); err != nil {
			return err
		}
	}
	return nil
}

// touch notes what a commit changes.
func (t *tracer) touch(ctx context.Context, m *reports.Cluster, c Change) error {
	now, before, err := t.published(ctx, m, c)
	if err != nil {
		return err
	}
	at := [2]files.ID{{}, now.ID()}
	if before != nil {
		at[0] = before.ID()
	}
	list, known := t.same[at]
	if !known {
		list = t.compare(before, now)
		t.same[at] = list
		t.redactor.learn(before)
		t.redactor.learn(now)
	}
	touched := Touched{Cluster: m.Cluster, Commit: c.Commit}
	for _, ch := range list {
		if len(ch.Clusters) == 0 || ch.Clusters[len(ch.Clusters)-1] != m.Cluster {
			ch.Clusters = append(ch.Clusters, m.Cluster)
		}
		t.redactor.of(ch, m)
		switch ch.Verb {
		case "added":
			touched.Added++
		case "removed":
			touched.Removed++
		default:
			touched.Changed++
		}
	}
	t.effect.Clusters = append(t.effect.Clusters, touched)
	return nil
}

// published returns what a commit holds for a cluster, and what the one before it held, which may be nil.
func (t *tracer) published(ctx context.Context, m *reports.Cluster, c Change) (now, before *files.Folder, err error) {
	address := t.facts.Fleet.Addresses.Of(m.Cluster)
	h, _, err := t.Reconciler.Published().CommitAt(ctx, address, c.Commit)
	if err != nil {
		return nil, nil, err
	}
	at, err := t.before(ctx, t.facts, m, note{change: c})
	if err != nil || at.IsZero() {
		return h.Tree, nil, err
	}
	p, _, err := t.Reconciler.Published().CommitAt(ctx, address, at)
	return h.Tree, p.Tree, err
}

// compare lists the manifests that differ.
func (t *tracer) compare(before, now *files.Folder) []*Changed {
	var list []*Changed
	for d := range files.Diff(before, now) {
		if !strings.HasPrefix(d.Path, tree.ManifestDir+"/") {
			continue
		}
		key := changedKey{d.Path, d.Old.ID, d.New.ID}
		ch := t.all[key]
		if ch == nil {
			ch = changed(d.Path, d.Old.Blob, d.New.Blob)
			if len(t.all) == mostDifferent {
				t.effect.Cut = true
			} else {
				t.all[key] = ch
			}
		}
		list = append(list, ch)
	}
	return list
}

// finish puts what was found in order, and looks into the first of it.
func (t *tracer) finish() {
	for _, ch := range t.all {
		t.effect.Objects = append(t.effect.Objects, *ch)
	}
	all := t.effect.Objects
	slices.SortFunc(all, func(a, b Changed) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), slices.Compare(a.Clusters, b.Clusters))
	})
	if more := len(all) - mostChanged; more > 0 {
		all, t.effect.MoreObjects = all[:mostChanged], more
	}
	for i := range all {
		t.redactor.look(&all[i])
	}
	t.effect.Objects = all
}
