package facts

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// How far back is looked.
const (
	mostPublications = 300   // of the state branch
	mostBranchSteps  = 5_000 // commits of clusters' branches, over all of them
	mostRemembered   = 50_000
)

// Change is a publication: a commit of the state branch.
type Change struct {
	Commit, Parent files.ID
	When           time.Time
	Source         string // commit that was published
	Subject        string // of the source commit
	Body           string // what the message says besides, without trailers: what moved, and why
	// Released says that removals were carried out which would have been held, and ReleasedBy who allowed them
	// by a comment on which pull request, as far as anybody did so.
	Released   bool
	ReleasedBy []string
}

// Author is who made a source commit.
type Author struct {
	Name, Message string
	When          time.Time
}

// note is what is remembered of a commit: everything but its files.
type note struct {
	change      Change
	state       string // the commit of the state that it was planned on
	observation bool
}

// past remembers commits.
type past struct {
	mu      sync.Mutex
	notes   map[files.ID]note
	authors map[string]*Author // by source commit; nil for one that cannot be read
}

// commit reads what a commit says, with its files if that is asked for.
func (r *Reader) commit(ctx context.Context, id files.ID) (note, error) {
	r.past.mu.Lock()
	n, ok := r.past.notes[id]
	r.past.mu.Unlock()
	if ok {
		return n, nil
	}
	h, _, err := r.Reconciler.Target.Root(ctx, id)
	if err != nil {
		return n, err
	}
	return r.remember(&h), nil
}

// remember notes a commit.
func (r *Reader) remember(h *git.Head) note {
	subject, rest, _ := strings.Cut(h.Message, "\n")
	if _, text, ok := strings.Cut(subject, ": "); ok {
		subject = text
	}
	by := sources.Trailers(h.Message, publish.TrailerReleasedBy)
	released := publish.ReadReleased(h.Message)
	n := note{
		change: Change{
			Commit: h.Commit, Parent: h.Parent, When: h.When, Source: publish.Trailer(h.Message, publish.TrailerCommit), Subject: subject, Body: body(rest),
			Released: released.Held || released.Missing || len(by) > 0, ReleasedBy: by,
		},
		state:       publish.Trailer(h.Message, publish.TrailerState),
		observation: publish.Trailer(h.Message, publish.TrailerObserved) != "",
	}
	r.past.mu.Lock()
	defer r.past.mu.Unlock()
	if r.past.notes == nil || len(r.past.notes) > mostRemembered {
		r.past.notes = map[files.ID]note{}
	}
	r.past.notes[h.Commit] = n
	return n
}

// body is the text of a message before its trailers.
func body(message string) string {
	message = strings.TrimSpace(message)
	i := strings.LastIndex(message, "\n\n")
	if i < 0 {
		return ""
	}
	return message[:i]
}

// Changes returns the last publications, the newest first.
func (r *Reader) Changes(ctx context.Context, f *Facts, most int) ([]Change, error) {
	var all []Change
	err := r.back(ctx, f, func(c Change) bool {
		all = append(all, c)
		return len(all) < most
	})
	return all, err
}

// back visits publications from the newest on, as long as visit says so.
func (r *Reader) back(ctx context.Context, f *Facts, visit func(Change) bool) error {
	at := f.Fleet.State.Commit
	for found, seen := 0, 0; !at.IsZero() && found < mostPublications && seen < 10*mostPublications; seen++ {
		n, err := r.commit(ctx, at)
		if err != nil {
			return err
		}
		at = n.change.Parent
		if n.observation {
			continue
		}
		found++
		if !visit(n.change) {
			return nil
		}
	}
	return nil
}

// abbreviated is how many digits of a commit's id name it at least, as git abbreviates.
const abbreviated = 7

// Find returns the publication with an id, or the newest one of a source commit with that id; false if
// there is none among the last. An id may be abbreviated, and the newest that begins so is meant.
func (r *Reader) Find(ctx context.Context, f *Facts, id string) (found Change, ok bool, err error) {
	err = r.back(ctx, f, func(c Change) bool {
		if len(id) >= abbreviated && (strings.HasPrefix(c.Commit.String(), id) || strings.HasPrefix(c.Source, id)) {
			found, ok = c, true
		}
		return !ok
	})
	return found, ok, err
}

// Author returns who made a source commit; nil if that is not known any longer.
func (r *Reader) Author(ctx context.Context, source string) *Author {
	r.past.mu.Lock()
	a, ok := r.past.authors[source]
	r.past.mu.Unlock()
	if ok {
		return a
	}
	if a = AuthorOf(ctx, r.Reconciler.Source, source); a == nil && ctx.Err() != nil {
		return nil
	}
	r.past.mu.Lock()
	defer r.past.mu.Unlock()
	if r.past.authors == nil || len(r.past.authors) > mostRemembered {
		r.past.authors = map[string]*Author{}
	}
	r.past.authors[source] = a
	return a
}

// AuthorOf reads who made a source commit; nil if that cannot be had there.
func AuthorOf(ctx context.Context, from published.Repository, source string) *Author {
	id, err := files.ParseID(source)
	if err != nil {
		return nil
	}
	h, err := from.Commit(ctx, id)
	if err != nil {
		return nil
	}
	return &Author{Name: h.Author.Name, Message: h.Message, When: h.When}
}

// Step is a change of the decision about a template. Either side is nil where there is none.
type Step struct {
	Change Change
	Was    *Template
	Is     *Template
}

// History returns the last changes of the decision about a template, the newest first.
func (r *Reader) History(ctx context.Context, f *Facts, t *Template, most int) ([]Step, error) {
	var steps []Step
	var newer *moment
	err := r.back(ctx, f, func(c Change) bool {
		h, err := r.Reconciler.Target.Commit(ctx, c.Commit)
		if err != nil {
			return false
		}
		older := &moment{c, bindingAt(h.Tree, t.path)}
		if newer != nil && newer.binding != older.binding {
			steps = append(steps, Step{newer.change, r.templateAt(ctx, c.Commit, t.path), r.templateAt(ctx, newer.change.Commit, t.path)})
		}
		newer = older
		return len(steps) < most
	})
	if err != nil {
		return steps, err
	}
	if newer != nil && newer.change.Parent.IsZero() && len(steps) < most && !newer.binding.IsZero() {
		steps = append(steps, Step{Change: newer.change, Is: r.templateAt(ctx, newer.change.Commit, t.path)})
	}
	return steps, nil
}

// moment is a publication and the binding in it; zero for none.
type moment struct {
	change  Change
	binding files.ID
}

func bindingAt(root *files.Folder, path string) files.ID {
	e, _ := root.Lookup(path)
	return e.ID
}

// templateAt reads a binding in a publication; nil for none.
func (r *Reader) templateAt(ctx context.Context, commit files.ID, path string) *Template {
	h, err := r.Reconciler.Target.Commit(ctx, commit)
	if err != nil {
		return nil
	}
	e, ok := h.Tree.Lookup(path)
	if !ok || e.Blob == nil {
		return nil
	}
	b, err := state.ReadBinding(e.Blob)
	if err != nil {
		return nil
	}
	return templateOf(path, b, strings.Clone)
}
