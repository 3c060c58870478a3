// Package published reads what is published from a source: branches and folders, by whom and from what, and what of it may be
// applied. It is the one reader of that, for those who plan, verify, apply and report.
package published

import (
	"context"

	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// Repository is what a source is read from and what branches are written to. *git.Repo is
// one, whose comments say what each method does; the tests have one in memory.
type Repository interface {
	Name() string
	Resolve(ctx context.Context, rev string) (files.ID, error)
	IsAncestor(ctx context.Context, a, b files.ID) (bool, error)
	Snapshot(ctx context.Context, rev, subdir string) (sources.Snapshot, error)
	Heads(ctx context.Context) (map[string]files.ID, error)
	Fetch(ctx context.Context, branches ...string) error
	Branch(ctx context.Context, name string) (git.Head, bool, error)
	Commit(ctx context.Context, id files.ID) (git.Head, error)
	Root(ctx context.Context, id files.ID) (git.Head, []files.Entry, error)
	Within(ctx context.Context, id files.ID, folder string) (git.Head, bool, error)
	Has(ids ...files.ID) map[files.ID]bool
	Last() (map[string]files.ID, error)
	publish.Publisher
}
