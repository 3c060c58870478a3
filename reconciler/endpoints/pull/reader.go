package pull

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
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
	Read(c *karmada.Cluster, b *book.Book, err error)
	Looked(usual time.Duration)
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
	l := reading{Reader: r, seen: map[seen]bool{}}
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

	seen   map[seen]bool // what was read already
	books  int           // in both repositories, as they were looked at last
	failed string        // as it was said
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
	sought, settings := l.Books.Sought()
	wait, err := l.interval(settings)
	agents, published := place{repo: l.Agents, signer: byAgent}, place{repo: l.Published, signer: l.byController}
	for _, c := range sought {
		of := &published
		if c.Spec.SyncMode == karmada.Pull {
			of = &agents
		}
		of.clusters = append(of.clusters, c)
	}
	now, books := map[seen]bool{}, 0
	for _, p := range []*place{&agents, &published} {
		n := 0
		if err == nil {
			n, err = l.look(ctx, p, now)
		}
		books += n
	}
	if err == nil {
		l.seen, l.books = now, books
		l.Books.Looked(wait)
	}
	l.say(ctx, err)
	return wait
}

// interval is how long to wait between two looks. Where it matters whether a book is renewed it is looked at least as often as that.
func (l *reading) interval(settings exchange.Services) (time.Duration, error) {
	origin := ""
	for _, repo := range []Repository{l.Published, l.Agents} {
		if repo != nil && heartbeat.IsPublic(git.Origin(repo.Name())) {
			origin = git.Origin(repo.Name())
		}
	}
	wait, err := book.Interval(settings.MinInterval.Duration, origin, l.books)
	if stale := settings.StaleAfter.Duration; stale > 0 {
		const looks = 3 // in that time
		wait = min(wait, stale/looks)
	}
	return wait, err
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

// look reads, with one look, what is new at a place, notes what was seen, and counts the books there.
func (l *reading) look(ctx context.Context, p *place, now map[seen]bool) (books int, err error) {
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
	if len(of) == 0 {
		return 0, nil
	}
	all, err := p.repo.Refs(ctx, func(ref string, id files.ID) bool {
		is, ok := of[book.ClusterOf(ref)]
		return ok && !l.seen[seen{ref, id, is.key}]
	}, most)
	if err != nil {
		return 0, err
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
	return booksAmong(all.Refs), nil
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
			why = fmt.Errorf("its book at %s, %.12s, is not taken: %w", ref, id.String(), err)
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
	text := ""
	if err != nil {
		text = err.Error()
	}
	switch {
	case text == l.failed || ctx.Err() != nil:
	case text != "":
		l.Log.WarnContext(ctx, "books of endpoints are not read: what was taken of them stays", "err", err)
	default:
		l.Log.InfoContext(ctx, "books of endpoints are read again")
	}
	l.failed = text
}
