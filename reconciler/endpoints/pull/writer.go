// Package pull reads and writes books of endpoints in repositories, for an exchange that does not reach all clusters: each agent writes
// that of its cluster where agents write, signed by its key, and the controller those of the clusters that it reaches where it publishes.
package pull

import (
	"context"
	"sync/atomic"

	"github.com/waybill-dev/waybill/reconciler/endpoints/book"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/refs"
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
	May  func(context.Context) error
	Host refs.Host

	refs atomic.Pointer[map[string]files.ID] // of the repository, as it was looked last
}

// Last implements push.Writer. What others wrote there does not count, nor does what has a number that is no time of a writer.
func (w *Writer) Last(ctx context.Context, cluster string, known book.Kept) (book.Kept, error) {
	isOurs := func(ref string) bool { return ref == book.Refs+cluster || ref == book.Branches+cluster }
	isKnown := func(ref string, id files.ID) bool { return ref == known.Ref && id == known.At[ref] }
	all, err := w.Repo.Refs(ctx, func(ref string, id files.ID) bool { return isOurs(ref) && !isKnown(ref, id) }, most)
	if err != nil {
		return known, err
	}
	w.refs.Store(&all.Refs)
	kept := book.Kept{At: map[string]files.ID{}}
	for ref, id := range all.Refs {
		if !isOurs(ref) {
			continue
		}
		kept.At[ref] = id
		if isKnown(ref, id) && known.Book.Number > kept.Book.Number {
			kept.Ref, kept.Tree, kept.Book = ref, known.Tree, known.Book
		}
		is, isRead := all.Read[id]
		if !isRead || all.Unfit[id] != nil || w.Wrote(is) != nil {
			continue
		}
		b, err := book.Decode(is.Tree)
		if err == nil && b.Cluster == cluster && heartbeat.GoesOn(b.Number, w.Host.Now()) && (kept.Ref == "" || b.Number > kept.Book.Number) {
			kept.Ref, kept.Tree, kept.Book = ref, is.Tree, b
		}
	}
	return kept, nil
}

// booksAmong counts the clusters that have a book, of those that take part.
func booksAmong(refs map[string]files.ID, takesPart func(cluster string) bool) int {
	all := map[string]bool{}
	for ref := range refs {
		if cluster := book.ClusterOf(ref); cluster != "" && takesPart(cluster) {
			all[cluster] = true
		}
	}
	return len(all)
}

// Times implements push.Writer.
func (w *Writer) Times(by exchange.Services, takesPart func(cluster string) bool) (book.Times, error) {
	books := 0
	if refs := w.refs.Load(); refs != nil {
		books = booksAmong(*refs, takesPart)
	}
	return book.TimesOf(by, git.Origin(w.Repo.Name()), books)
}

// Write implements push.Writer.
func (w *Writer) Write(ctx context.Context, bus exchange.Bus, b *book.Book, over book.Kept) (kept book.Kept, err error) {
	if w.May != nil {
		if err := w.May(ctx); err != nil {
			return over, err
		}
	}
	write := func(bus exchange.Bus) func() error {
		return func() (err error) {
			kept, err = w.write(ctx, book.RefOf(b.Cluster, bus), b, over)
			return err
		}
	}
	if bus == exchange.Branch {
		err = write(bus)()
	} else {
		err = w.Host.Write(ctx, write(bus), write(exchange.Branch))
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
