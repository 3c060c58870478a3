package facts

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// How far back the branches of a template's clusters are followed: so many different commits over all of them, and of each
// cluster at least so many.
const (
	mostEditSteps  = 4_000
	leastEditSteps = 10
)

// Past is what happened to a template, as far as it was looked.
type Past struct {
	Steps []Step // the newest first
	Edits []Edit // the newest first
	// More says that there may be earlier ones.
	More bool
}

// Step is a publication by which the decision about a template changed, or the run of its unit went on.
type Step struct {
	Change Change
	Author *Author // of the source commit; nil if that is not known any longer
	// Was and Is are the decisions, of which either is nil where there was none, and both where it did not change.
	Was, Is *Template
	// RunWas and RunIs are what was recorded of its unit, likewise.
	RunWas, RunIs *rollouts.Rollout
}

// Edit is a publication by which the manifest of a template became another one in some clusters.
type Edit struct {
	// Change is the publication. Of one that is not among the last only the source commit, its subject and the time are known.
	Change Change
	Author *Author // of the source commit; nil if that is not known any longer
	Changed

	trees []*files.Folder // in which the manifest stands, before and after
}

// History returns what happened to a template, at most so much of each sort.
func History(ctx context.Context, r *Reader, f *Facts, t *Template, most int) (Past, error) {
	h := historian{
		Reader: r, facts: f, template: t, publications: map[publication]Change{}, clusters: map[string]bool{},
		known: map[placed]step{}, edits: map[edited]*Edit{}, redactor: newRedactor(f.Fleet.State.Tree),
	}
	for _, target := range t.Targets {
		h.clusters[target.Cluster] = true
	}
	if err := h.decided(ctx, most); err != nil {
		return h.past, err
	}
	err := h.edited(ctx, most)
	return h.past, err
}

// Gone returns the template with a name that goes nowhere any longer, as it was last; nil if the last publications had none. The
// group may be left out where one kind is called so.
func Gone(ctx context.Context, r *Reader, f *Facts, ref object.Ref) (found *Template) {
	err := r.back(ctx, f, func(c Change) bool {
		head, err := r.Reconciler.Target.Commit(ctx, c.Commit)
		if err != nil {
			return false
		}
		reader := state.NewBindingReader(head.Tree)
		for path, blob := range state.BindingsNamed(head.Tree, ref) {
			b, _, err := reader.Read(blob)
			if err != nil {
				continue
			}
			if t := templateOf(path, b, strings.Clone); isNamed(t.Ref, ref) {
				found = t
				return false
			}
		}
		return true
	})
	if err != nil || found == nil {
		return nil
	}
	found.Targets, found.Leaving, found.Gone = nil, nil, true
	return found
}

// historian finds what happened to a template.
type historian struct {
	*Reader

	facts        *Facts
	template     *Template
	publications map[publication]Change
	clusters     map[string]bool // to which it goes, or went
	known        map[placed]step
	edits        map[edited]*Edit
	redactor     *redactor
	past         Past

	last read // of a cluster's branch
}

// read is the files of a commit; nil for none.
type read struct {
	commit files.ID
	at     render.Address
	note   note
	tree   *files.Folder
}

// publication is what commits of clusters' branches name it by: the source commit, and the state that it was planned on.
type publication struct{ source, state string }

// moment is a publication, with its files and those of the template and of its unit among them; zero for none.
type moment struct {
	change  Change
	root    *files.Folder
	binding files.ID
	run     [2]files.ID
}

// decided finds the publications by which something else was decided, or by which the unit went on.
func (h *historian) decided(ctx context.Context, most int) error {
	var newer *moment
	var root *files.Folder
	read := func(ctx context.Context, id files.ID) (n note, err error) {
		n, root, err = h.whole(ctx, render.Address{}, id)
		return n, err
	}
	err := through(ctx, h.facts, read, func(c Change) bool {
		key := publication{source: c.Source}
		if !c.Parent.IsZero() {
			key.state = c.Parent.String()
		}
		h.publications[key] = c
		h.redactor.rendering(root)
		older := h.at(c, root)
		if newer != nil {
			h.step(ctx, newer, older)
		}
		newer = older
		return len(h.past.Steps) < most
	})
	if err != nil || newer == nil {
		return err
	}
	switch parent := newer.change.Parent; {
	case !parent.IsZero(): // what it rendered no longer
		_, root, err = h.whole(ctx, render.Address{}, parent)
		h.redactor.rendering(root)
	case len(h.past.Steps) < most:
		h.step(ctx, newer, &moment{})
	}
	h.past.More = h.past.More || len(h.past.Steps) == most
	return err
}

// at is a moment of the state.
func (h *historian) at(c Change, root *files.Folder) *moment {
	m := &moment{change: c, root: root}
	e, _ := root.Lookup(h.template.path)
	m.binding = e.ID
	if u := h.template.Unit; u.Name != "" {
		m.run = state.RecordIn(root, u)
	}
	return m
}

// step adds what differs between two moments.
func (h *historian) step(ctx context.Context, newer, older *moment) {
	s := Step{Change: newer.change}
	if newer.binding != older.binding {
		s.Was, s.Is = h.decision(older), h.decision(newer)
	}
	if newer.run != older.run {
		s.RunWas, s.RunIs = h.runOf(older), h.runOf(newer)
	}
	if s.Was == nil && s.Is == nil && s.RunWas == nil && s.RunIs == nil {
		return
	}
	s.Author = h.Author(ctx, s.Change.Source)
	if s.Was != nil {
		for _, target := range s.Was.Targets {
			h.clusters[target.Cluster] = true
		}
	}
	h.past.Steps = append(h.past.Steps, s)
}

// decision reads the binding in a publication; nil for none.
func (h *historian) decision(m *moment) *Template {
	if m.root == nil {
		return nil
	}
	e, _ := m.root.Lookup(h.template.path)
	return decisionOf(state.NewBindingReader(m.root), h.template.path, e)
}

// runOf reads what a publication records of the unit; nil for nothing.
func (h *historian) runOf(m *moment) *rollouts.Rollout {
	if m.root == nil {
		return nil
	}
	u := h.template.Unit
	var entries []files.Entry
	for _, name := range []string{u.Name + ".yaml", u.Name} {
		if e, ok := m.root.Lookup(rollouts.Folder + "/" + u.Folder() + "/" + name); ok {
			e.Name = name
			entries = append(entries, e)
		}
	}
	all, _ := rollouts.Decode(files.NewFolder([]files.Entry{files.DirEntry(u.Folder(), files.NewFolder(entries))}))
	if len(all) == 0 {
		return nil
	}
	return &all[0]
}

// placed is a commit of what is published for a cluster, and a file there.
type placed struct {
	commit files.ID
	at     render.Address
	path   string
}

// step is such a commit: the one before it, and the file in both.
type step struct {
	note    note
	before  files.ID
	was, is files.Entry
	trees   []*files.Folder
}

// edited is a change of a manifest by a publication.
type edited struct {
	publication

	old, now files.ID
}

// edited finds the publications by which the manifest became another one, and looks into the last of them.
func (h *historian) edited(ctx context.Context, most int) error {
	names := slices.Sorted(maps.Keys(h.clusters))
	for _, name := range names {
		if m := h.facts.Cluster(name); m != nil {
			if err := h.cluster(ctx, m, max(leastEditSteps, mostEditSteps/len(names))); err != nil {
				return err
			}
		}
	}
	all := make([]Edit, 0, len(h.edits))
	for _, e := range h.edits {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b Edit) int {
		return cmp.Or(
			b.Change.When.Compare(a.Change.When), strings.Compare(a.Change.Source, b.Change.Source), slices.Compare(a.Clusters, b.Clusters),
		)
	})
	if len(all) > most {
		all, h.past.More = all[:most], true
	}
	h.look(ctx, all)
	h.past.Edits = all
	return nil
}

// cluster follows what is published for a cluster back, so many different commits.
func (h *historian) cluster(ctx context.Context, m *reports.Cluster, most int) error {
	place := placed{at: h.facts.Fleet.Addresses.Of(m.Cluster), path: tree.Path(virtual.Of(m.Registered).Ref(h.template.Ref))}
	for n, at := 0, m.Head; !at.IsZero(); {
		place.commit = at
		if place.at.Folder == "" {
			place.at = render.Address{} // clusters that were always alike share commits
		}
		s, isKnown := h.known[place]
		if !isKnown {
			if n++; n > most {
				h.past.More = true
				return nil
			}
			var err error
			if s, err = h.read(ctx, m, place); err != nil {
				return err
			}
			h.known[place] = s
		}
		if s.was.ID != s.is.ID {
			h.add(m, place.path, &s)
		}
		at = s.before
	}
	return nil
}

// read reads a step.
func (h *historian) read(ctx context.Context, m *reports.Cluster, at placed) (s step, err error) {
	address := h.facts.Fleet.Addresses.Of(m.Cluster)
	now, err := h.files(ctx, address, at.commit)
	if err != nil {
		return s, err
	}
	s.note = now.note
	if now.tree != nil {
		s.is, _ = now.tree.Lookup(at.path)
		s.trees = append(s.trees, now.tree)
	}
	if s.before, err = h.before(ctx, h.facts, m, s.note); err != nil || s.before.IsZero() {
		return s, err
	}
	was, err := h.files(ctx, address, s.before)
	if err == nil && was.tree != nil {
		s.was, _ = was.tree.Lookup(at.path)
		s.trees = append(s.trees, was.tree)
	}
	return s, err
}

// files reads a commit of a cluster's branch. The one before it, which a step has read, is the next one's own.
func (h *historian) files(ctx context.Context, at render.Address, id files.ID) (read, error) {
	if h.last.commit == id && h.last.at == at {
		return h.last, nil
	}
	r := read{commit: id, at: at}
	var err error
	if r.note, r.tree, err = h.whole(ctx, at, id); err == nil {
		h.last = r
	}
	return r, err
}

// add notes that a manifest became another one in a cluster.
func (h *historian) add(m *reports.Cluster, path string, s *step) {
	key := edited{publication{s.note.change.Source, s.note.state}, s.was.ID, s.is.ID}
	e := h.edits[key]
	if e == nil {
		change, isKnown := h.publications[key.publication]
		if !isKnown {
			change = Change{Source: key.source, When: s.note.change.When, Subject: s.note.change.Subject}
		}
		e = &Edit{Change: change, Changed: *changed(path, s.was.Blob, s.is.Blob)}
		e.Ref = h.template.Ref
		h.edits[key] = e
	}
	e.Clusters, e.trees = append(e.Clusters, m.Cluster), append(e.trees, s.trees...)
}

// look fills in who made edits, and in which fields they differ. What releases rendered at an edit that is not among the last
// publications is not known, so that its values are not shown.
func (h *historian) look(ctx context.Context, all []Edit) {
	for i := range all {
		e := &all[i]
		e.Author = h.Author(ctx, e.Change.Source)
		for _, root := range e.trees {
			h.redactor.learn(root)
		}
	}
	for i := range all {
		all[i].Hidden = all[i].Hidden || all[i].Change.Commit.IsZero() || h.redactor.rendered[h.template.Ref]
		h.redactor.look(&all[i].Changed)
	}
}
