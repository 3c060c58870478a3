package facts

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/render"
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
	// Released says that removals were carried out which would have been held, and ReleasedBy who allowed them, and how; a publication
	// of an earlier version names only who did by comments.
	Released   bool
	ReleasedBy []string
	// Later is as of when it was decided, where Git records that: a publication that depends on the time, or that somebody allowed, may
	// be long after its source commit. It is zero where Git does not.
	Later time.Time
}

// At is when it was published, as far as Git says so; otherwise the time of the source commit.
func (c *Change) At() time.Time {
	if c.Later.After(c.When) {
		return c.Later
	}
	return c.When
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

// commit reads what a commit says.
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

// whole reads what a commit says, and its files; at an address these are those of its folder, and nil for none.
func (r *Reader) whole(ctx context.Context, at render.Address, id files.ID) (note, *files.Folder, error) {
	h, _, err := r.Reconciler.Published().CommitAt(ctx, at, id)
	if err != nil {
		return note{}, nil, err
	}
	r.past.mu.Lock()
	n, ok := r.past.notes[id]
	r.past.mu.Unlock()
	if !ok && h.Commit == id {
		n = r.remember(&h)
	} else if !ok {
		n, err = r.commit(ctx, id)
	}
	return n, h.Tree, err
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
	n.change.Later, _ = time.Parse(time.RFC3339, publish.Trailer(h.Message, publish.TrailerTime)) // zero for none
	for _, who := range by {
		if at := guard.AllowedAt(who); at.After(n.change.Later) {
			n.change.Later = at
		}
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
	return through(ctx, f, r.commit, visit)
}

// through visits publications from the newest on, as long as visit says so. Read reads what a commit of the state says.
func through(ctx context.Context, f *Facts, read func(context.Context, files.ID) (note, error), visit func(Change) bool) error {
	at := f.Fleet.State.Commit
	for found, seen := 0, 0; !at.IsZero() && found < mostPublications && seen < 10*mostPublications; seen++ {
		n, err := read(ctx, at)
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

// PublishedOf finds the first publication of the last source commit with a date; false if there is none among the last.
func (r *Reader) PublishedOf(ctx context.Context, f *Facts, date time.Time) (found Change, ok bool) {
	err := r.back(ctx, f, func(c Change) bool {
		if c.When.Equal(date) && (!ok || c.Source == found.Source) {
			found, ok = c, true
		}
		return !c.When.Before(date)
	})
	return found, ok && err == nil
}

// Author returns who made a source commit; nil if that is not known any longer.
func (r *Reader) Author(ctx context.Context, source string) *Author {
	r.past.mu.Lock()
	a, ok := r.past.authors[source]
	r.past.mu.Unlock()
	if ok {
		return a
	}
	if a = authorOf(ctx, r.Reconciler.Source, source); a == nil && ctx.Err() != nil {
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

// authorOf reads who made a source commit; nil if that cannot be had there.
func authorOf(ctx context.Context, from published.Repository, source string) *Author {
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
