package facts

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/files"
)

// Reader reads facts. Several may ask it at once; it reads once for all of them.
type Reader struct {
	// Reconciler is for nobody else. It knows where the repositories are.
	Reconciler *reconciler.Reconciler
	Rev        string // branch of the source that is followed
	// Fresh is how long facts are good without asking where the branches are.
	Fresh time.Duration

	mu       sync.Mutex
	looked   time.Time // when it was asked where the branches are
	facts    *Facts
	bindings map[files.ID]*Template // by the blob that each was read from
	names    map[string]string

	objects objectCache
	past    past
	why     why
}

// Look returns the facts as they are now, or were a moment ago. Where nothing can be read now it
// returns those of before, which may be nil, with the error.
func (r *Reader) Look(ctx context.Context) (*Facts, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Reconciler.Now()
	if r.facts != nil && now.Sub(r.looked) < r.Fresh {
		return r.facts, nil
	}
	key, err := r.Reconciler.Whereabouts(ctx, r.Rev)
	if err != nil {
		return r.facts, err //nolint:wrapcheck // it says what
	}
	if r.facts != nil && r.facts.Key == key && now.Sub(r.facts.At) < time.Hour { // words grow old by themselves
		r.looked = now
		return r.facts, nil
	}
	f, err := r.read(ctx)
	if err != nil {
		return r.facts, err
	}
	f.Key, f.At = key, now
	r.facts, r.looked = f, now
	return f, nil
}

// Renew has the next look ask where the branches are.
func (r *Reader) Renew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looked = time.Time{}
}

// read reads everything that moved.
func (r *Reader) read(ctx context.Context) (*Facts, error) {
	published, err := r.Reconciler.Target.Heads(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking at what is published: %w", err)
	}
	if published[state.Branch].IsZero() {
		return &Facts{}, nil
	}
	s, err := r.Reconciler.Source.Snapshot(ctx, r.Rev, r.Reconciler.Subdir)
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	f := &Facts{}
	if f.Fleet, err = r.Reconciler.Fleet(ctx, s, reconciler.Asked{Lasting: reconciler.WordLasts}); err != nil {
		return nil, err //nolint:wrapcheck // it says what
	}
	r.templates(f)
	return f, nil
}

// templates reads the bindings that were not read before.
func (r *Reader) templates(f *Facts) {
	if r.names == nil {
		r.names = map[string]string{}
	}
	known := make(map[files.ID]*Template, len(r.bindings))
	for path, blob := range state.BindingFiles(f.Fleet.State.Tree) {
		t := r.bindings[blob.ID()]
		if t == nil || t.path != path {
			b, err := state.ReadBinding(blob)
			if err != nil {
				f.Unreadable = append(f.Unreadable, path)
				continue
			}
			t = templateOf(path, b, r.intern)
		}
		known[blob.ID()] = t
		f.Templates = append(f.Templates, t)
	}
	r.bindings = known
	slices.SortFunc(f.Templates, func(a, b *Template) int { return a.Ref.Compare(b.Ref) })
}

// intern returns one string for equal ones.
func (r *Reader) intern(s string) string {
	if same, ok := r.names[s]; ok {
		return same
	}
	r.names[s] = s
	return s
}
