package pull

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/endpoints"
	"github.com/waybill-dev/waybill/reconciler/endpoints/book"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// Books is who is told of books. *push.Books is one, whose comments say what each method does.
type Books interface {
	Sought() ([]*karmada.Cluster, exchange.Services)
	TakesPart(cluster string) bool
	Read(c *karmada.Cluster, b *book.Book, err error)
	Looked(usual, silent time.Duration)
}

// Reader reads the books of clusters that are not reached from here.
type Reader struct {
	Books Books
	// Agents is where agents write books of clusters that are pulled to, and Published where the controller does of those that are
	// pushed to; nil: such books are not read.
	Agents, Published Repository
	// Signed says why a commit in Published does not count; nil if it does.
	Signed func(git.Head) error
	Log    *slog.Logger
}

// Run reads until ctx ends.
func (r *Reader) Run(ctx context.Context) error {
	l := reading{Reader: r, seen: map[seen]bool{}, refs: map[Repository]map[string]files.ID{}}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		timer.Reset(l.turn(ctx))
	}
}

// reading is a reader that runs, and what it knows.
type reading struct {
	*Reader

	seen   map[seen]bool                      // what was read already
	refs   map[Repository]map[string]files.ID // as they were looked at last
	failed endpoints.Failure
}

// seen is a commit at a ref, and by which key it was to be signed.
type seen struct {
	ref string
	at  files.ID
	key string
}

// place is a repository with books of clusters, and who has to have signed them.
type place struct {
	repo     Repository // nil: it is not known
	clusters []*karmada.Cluster
	// signer is how whoever has to have signed the book of a cluster is told from others, and what says why a commit is not signed so.
	signer func(*karmada.Cluster) (key string, check func(git.Head) error, err error)
}

// turn looks once, and returns how long to wait until the next look.
func (l *reading) turn(ctx context.Context) time.Duration {
	sought, by := l.Books.Sought()
	agents, published := place{repo: l.Agents, signer: byAgent}, place{repo: l.Published, signer: l.byController}
	for _, c := range sought {
		of := &published
		if c.Spec.SyncMode == karmada.Pull {
			of = &agents
		}
		of.clusters = append(of.clusters, c)
	}
	var look, silent time.Duration
	var errs []error
	now := map[seen]bool{}
	for _, p := range []*place{&agents, &published} {
		times, tooMany := l.times(p, by)
		look, silent = max(look, times.Look), max(silent, times.Silent)
		errs = append(errs, l.look(ctx, p, tooMany, now))
	}
	err := errors.Join(errs...)
	if l.seen = now; err == nil {
		l.Books.Looked(look, silent)
	}
	l.say(ctx, err)
	return look
}

// times are those of a place. The error is that it does not bear the books that are there.
func (l *reading) times(p *place, by exchange.Services) (book.Times, error) {
	if p.repo == nil || len(p.clusters) == 0 {
		return book.TimesOf(by, "", 0)
	}
	return book.TimesOf(by, git.Origin(p.repo.Name()), booksAmong(l.refs[p.repo], l.Books.TakesPart))
}

// byAgent is the key of a cluster's agent, and what says whether it signed a commit.
func byAgent(c *karmada.Cluster) (string, func(git.Head) error, error) {
	key, err := heartbeat.KeyOf(c)
	if err == nil && key == nil {
		err = fmt.Errorf("its Cluster has no annotation %s, so that nobody can tell whose its book is", heartbeat.AgentKey)
	}
	if err != nil {
		return "", nil, err
	}
	return key.Fingerprint(), func(h git.Head) error { return key.Verify(signing.Git, h.Signed, h.Signature) }, nil
}

// byController is byAgent for a cluster that is pushed to.
func (l *reading) byController(*karmada.Cluster) (string, func(git.Head) error, error) {
	return "", l.Signed, nil
}

// wanted is a cluster whose book is looked for.
type wanted struct {
	cluster *karmada.Cluster
	key     string
	check   func(git.Head) error
}

// wanted are the clusters whose books can be at a place, by their names. Of others it says why they cannot.
func (l *reading) wanted(p *place) map[string]wanted {
	of := map[string]wanted{}
	for _, c := range p.clusters {
		key, check, err := p.signer(c)
		if err == nil && p.repo == nil {
			err = errors.New("its book is not read: no repository is named where it would be")
		}
		if err != nil {
			l.Books.Read(c, nil, err)
			continue
		}
		of[c.Name] = wanted{c, key, check}
	}
	return of
}

// look reads, with one look, what is new at a place, unless there are too many books, and notes what was seen. After an error that is
// what was seen before.
func (l *reading) look(ctx context.Context, p *place, tooMany error, now map[seen]bool) error {
	of := l.wanted(p)
	if len(of) == 0 {
		return nil
	}
	all, err := p.repo.Refs(ctx, func(ref string, id files.ID) bool {
		is, ok := of[book.ClusterOf(ref)]
		return tooMany == nil && ok && !l.seen[seen{ref, id, is.key}]
	}, most)
	if err == nil {
		l.refs[p.repo] = all.Refs
	}
	if err = errors.Join(tooMany, err); err != nil {
		for s := range l.seen {
			if is, ok := of[book.ClusterOf(s.ref)]; ok && is.key == s.key {
				now[s] = true
			}
		}
		return err
	}
	for name, is := range of {
		at := 0
		for _, prefix := range []string{book.Refs, book.Branches} {
			if id := all.Refs[prefix+name]; !id.IsZero() {
				now[seen{prefix + name, id, is.key}] = true
				at++
			}
		}
		if at == 0 {
			l.Books.Read(is.cluster, nil, fmt.Errorf("there is no book of its endpoints in %s yet", p.repo.Name()))
			continue
		}
		l.read(&all, &is)
	}
	return nil
}

// read tells of the newest book of a cluster that is new, or of what is new and is none.
func (l *reading) read(all *git.RemoteRefs, is *wanted) {
	var newest *book.Book
	var why error
	for _, prefix := range []string{book.Refs, book.Branches} {
		ref := prefix + is.cluster.Name
		id := all.Refs[ref]
		if id.IsZero() || l.seen[seen{ref, id, is.key}] {
			continue
		}
		b, err := bookOf(all, id, is.check)
		switch {
		case err != nil:
			why = fmt.Errorf("its book at %s is not taken: %w", ref, err)
		case newest == nil || b.Number > newest.Number:
			newest = &b
		}
	}
	if newest != nil {
		why = nil
	}
	if newest != nil || why != nil {
		l.Books.Read(is.cluster, newest, why)
	}
}

// bookOf reads a book that was fetched, within bounds. What its files say is not decoded before it is known who signed it.
func bookOf(all *git.RemoteRefs, id files.ID, signed func(git.Head) error) (book.Book, error) {
	is := all.Read[id]
	if why := all.Unfit[id]; why != nil {
		return book.Book{}, why
	}
	if err := signed(is); err != nil {
		return book.Book{}, err
	}
	return book.Decode(is.Tree)
}

// say says what failed, once.
func (l *reading) say(ctx context.Context, err error) {
	switch isNew := l.failed.Becomes(err); {
	case !isNew || ctx.Err() != nil:
	case err != nil:
		l.Log.WarnContext(ctx, "books of endpoints are not read: what was taken of them stays", "err", err)
	default:
		l.Log.InfoContext(ctx, "books of endpoints are read again")
	}
}
