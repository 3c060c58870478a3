package facts

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/sourceerrors"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
)

// Reader reads facts. Several may ask it at once; it reads once for all of them.
type Reader struct {
	// Reconciler is for nobody else. It knows where the repositories are.
	Reconciler *reconciler.Reconciler
	Rev        string // branch of the source that is followed
	// Forge is the kind of the source's forge; empty: it is told from the name of its host, if that says it.
	Forge forge.Kind
	// Fresh is how long facts are good without asking where the branches are.
	Fresh time.Duration

	mu       sync.Mutex
	looked   time.Time // when it was asked where the branches are
	facts    *Facts
	bindings bindings

	objects objectCache
	past    past
	why     why

	subscribed subscribed
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
		return r.facts, err
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
	memory := memoryOf(ctx, r.Reconciler.Source)
	if published[state.Branch].IsZero() {
		return &Facts{Memory: memory}, nil
	}
	s, err := r.Reconciler.Source.Snapshot(ctx, r.Rev, r.Reconciler.Subdir)
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	fleet, err := r.Reconciler.Reports().Fleet(ctx, s, reports.Query{Lasting: reports.Lasting})
	if err != nil {
		return nil, err
	}
	f := of(fleet, &r.bindings)
	f.Memory = memory
	f.Site = forge.SiteOf(r.Forge, s.Revision().Repo, s.Revision().Path)
	return f, nil
}

// Of returns the facts of a fleet that was read at a time.
func Of(fleet reports.Fleet, at time.Time) *Facts {
	f := of(fleet, &bindings{})
	f.At = at
	return f
}

func of(fleet reports.Fleet, b *bindings) *Facts {
	root := fleet.State.Tree
	return &Facts{
		Fleet:    fleet,
		Bindings: sync.OnceValue(func() Bindings { return b.read(root) }),
		Rollouts: sync.OnceValue(func() (all Rollouts) {
			all.Units, all.Unreadable = state.Rollouts(root)
			return all
		}),
		SourceErrors: sync.OnceValue(func() sourceerrors.Record { return state.SourceErrors(root) }),
	}
}

// bindings remembers the templates that were read last.
type bindings struct {
	mu    sync.Mutex
	known map[files.ID]*Template // by the blob that each was read from
	names map[string]string
}

// read reads the bindings of the state branch's folder that were not read before.
func (b *bindings) read(root *files.Folder) (all Bindings) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.names == nil {
		b.names = map[string]string{}
	}
	known := make(map[files.ID]*Template, len(b.known))
	reader := state.NewBindingReader(root)
	for path, blob := range state.BindingFiles(root) {
		t, followsRun := b.known[blob.ID()], false
		if t == nil || t.path != path {
			binding, follows, err := reader.Read(blob)
			if err != nil {
				all.Unreadable = append(all.Unreadable, path)
				continue
			}
			t, followsRun = templateOf(path, binding, b.intern), follows
		}
		if !followsRun {
			known[blob.ID()] = t
		}
		all.Templates = append(all.Templates, t)
	}
	b.known = known
	slices.SortFunc(all.Templates, func(a, b *Template) int { return a.Ref.Compare(b.Ref) })
	return all
}

// intern returns one string for equal ones.
func (b *bindings) intern(s string) string {
	if same, ok := b.names[s]; ok {
		return same
	}
	b.names[s] = s
	return s
}
