// Package pull reads and writes books of endpoints in repositories, for an exchange that does not reach all clusters: each agent writes
// that of its cluster where agents write, signed by its key, and the controller those of the clusters that it reaches where it publishes.
package pull

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/waybill-dev/waybill/reconciler/endpoints/book"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// Repository is where books are. *git.Loose is one.
type Repository interface {
	Name() string
	Refs(ctx context.Context, wanted func(ref string, id files.ID) bool, most git.Bounds) (git.RemoteRefs, error)
	Replace(ctx context.Context, u git.Update, was *files.Folder) (files.ID, error)
}

// most is what is taken of a book.
var most = git.Bounds{
	Pack: 16 << 20, Objects: 2*book.MostServices + 3, Object: book.MostBytes, All: 64 << 20, Paths: 2*book.MostServices + 1,
}

// Writer writes books to a repository, which signs them. It is a push.Writer.
type Writer struct {
	Repo Repository
	// Wrote says why a commit is none that this writer, or the one before it, made; nil if it is one.
	Wrote func(git.Head) error
	// May returns an error if another writer serves the clusters; nil: there is none.
	May func(context.Context) error
	Now func() time.Time
	Log *slog.Logger

	books    atomic.Int64 // in the repository, as it was looked last
	branches atomic.Bool  // the server takes branches only
}

// Last implements push.Writer. What others wrote there does not count, nor does what has a number that is no time of a writer.
func (w *Writer) Last(ctx context.Context, cluster string) (book.Kept, error) {
	kept := book.Kept{At: map[string]files.ID{}}
	isOurs := func(ref string, _ files.ID) bool { return ref == book.Refs+cluster || ref == book.Branches+cluster }
	all, err := w.Repo.Refs(ctx, isOurs, most)
	if err != nil {
		return kept, err
	}
	w.books.Store(int64(booksAmong(all.Refs)))
	for ref, id := range all.Refs {
		if !isOurs(ref, id) {
			continue
		}
		kept.At[ref] = id
		is := all.Read[id]
		if all.Unfit[id] != nil || w.Wrote(is) != nil {
			continue
		}
		b, err := book.Decode(is.Tree)
		if err == nil && b.Cluster == cluster && heartbeat.GoesOn(b.Number, w.Now()) && (kept.Ref == "" || b.Number > kept.Book.Number) {
			kept.Ref, kept.Tree, kept.Book = ref, is.Tree, b
		}
	}
	return kept, nil
}

// booksAmong counts the clusters that have a book.
func booksAmong(refs map[string]files.ID) int {
	all := map[string]bool{}
	for ref := range refs {
		if cluster := book.ClusterOf(ref); cluster != "" {
			all[cluster] = true
		}
	}
	return len(all)
}

// Interval implements push.Writer.
func (w *Writer) Interval(config time.Duration) (time.Duration, error) {
	return book.Interval(config, git.Origin(w.Repo.Name()), int(w.books.Load()))
}

// Write implements push.Writer. A server that refuses refs which are no branches gets branches from then on.
func (w *Writer) Write(ctx context.Context, bus exchange.Bus, b *book.Book, over book.Kept) (book.Kept, error) {
	if w.May != nil {
		if err := w.May(ctx); err != nil {
			return over, err
		}
	}
	if w.branches.Load() {
		bus = exchange.Branch
	}
	kept, err := w.write(ctx, book.RefOf(b.Cluster, bus), b, over)
	refused, ok := errors.AsType[*git.RefusedError](err)
	if !ok || bus == exchange.Branch {
		return kept, err
	}
	kept, err = w.write(ctx, book.RefOf(b.Cluster, exchange.Branch), b, over)
	if err == nil && !w.branches.Swap(true) {
		w.Log.WarnContext(ctx, "endpoints go by a branch, because the server takes no other refs", "ref", refused.Ref, "err", refused)
	}
	return kept, err
}

func (w *Writer) write(ctx context.Context, ref string, b *book.Book, over book.Kept) (book.Kept, error) {
	tree := b.Tree()
	u := git.Update{
		Branch: ref, Old: over.At[ref], Tree: tree, Message: b.Message(), When: b.Time.UTC(),
		Author: git.Author{Name: "Waybill", Email: "waybill@waybill.dev"},
	}
	var was *files.Folder
	if over.Ref == ref {
		was = over.Tree
	}
	id, err := w.Repo.Replace(ctx, u, was)
	if err != nil {
		return over, err
	}
	kept := book.Kept{At: map[string]files.ID{ref: id}, Ref: ref, Tree: tree, Book: *b}
	for other, at := range over.At {
		if other != ref {
			kept.At[other] = at
		}
	}
	return kept, nil
}
