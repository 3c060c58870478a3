package reconciler

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// Admission is what commits on the way to one say of removals.
type Admission struct {
	Allowed bool // they are
	// FailedOver are the paths that left the cluster because it, or what is there, failed.
	FailedOver map[string]bool
}

// Admit decides whether a commit may follow the one that a cluster's inventory names: it has
// to come after it, unless r.Rollback. It reports what was said of removals on the way.
func (r *Reconciler) Admit(ctx context.Context, d Delivery, i inventory.Inventory) (a Admission, err error) {
	if i.Commit.IsZero() || i.Commit == d.Commit {
		return a, nil
	}
	const most = 10_000
	way := way{Reconciler: r, cluster: d.Cluster, at: d.Address, commit: d.Commit}
	after, err := way.after(ctx, i.Commit)
	if err != nil && !d.replaces(i) {
		return a, fmt.Errorf("whether %.12s comes after %.12s, which was applied last, is not known, and nothing was applied: %w", d.Commit.String(), i.Commit.String(), err)
	}
	if !after {
		if r.Rollback || d.replaces(i) {
			return a, nil
		}
		return a, fmt.Errorf("the head of the branch, %.12s, does not come after %s, which was applied last: somebody rewrote the branch, or this is a copy that lags behind; nothing was applied; if the branch was made anew or restored, the annotation %s: %s of its Cluster has it applied under the guard, and so does --rollback once", d.Commit.String(), i.Commit, ReplacesAnnotation, i.Commit)
	}
	for range most {
		message, err := way.message(ctx)
		if err != nil {
			return a, err
		}
		// what anybody put between does not count
		if r.isSigned(d.Address.Branch, way.head) == nil && a.read(message, d.Cluster, way.at) {
			return a, nil
		}
		if more, err := way.back(ctx, i.Commit); err != nil || !more {
			return a, err
		}
	}
	return a, nil
}

// The annotations of a Cluster by which a branch may follow another history.
const (
	// ReplacesAnnotation names the commit that was applied last, which the branch as it is now replaces: it was deleted
	// and made anew, rewound, or restored from a backup.
	ReplacesAnnotation = "waybill.dev/replaces"
	// FormerlyAnnotation is what a cluster was registered as before it was renamed.
	FormerlyAnnotation = "waybill.dev/formerly"
)

// replaces reports that people said of the cluster that its branch takes the place of what an inventory names, or of
// the branch that it had under another name. What it would lose by that the guard judges.
func (d *Delivery) replaces(i inventory.Inventory) bool {
	return d.Replaces != "" && d.Replaces == i.Commit.String() || d.NameBefore != "" && i.Cluster == d.NameBefore
}

// failedOver notes a path of a branch, if it is one of an address.
// read takes down what a commit says of a cluster's removals, and reports whether it allows them all.
func (a *Admission) read(message, cluster string, at render.Address) bool {
	if publish.Releases(message, cluster) {
		a.Allowed = true
		return true
	}
	for _, path := range sources.Trailers(message, publish.TrailerFailedOver) {
		a.failedOver(at, path)
	}
	return false
}

func (a *Admission) failedOver(at render.Address, path string) {
	path, ok := strings.CutPrefix(path, at.Path(""))
	if !ok {
		return
	}
	if a.FailedOver == nil {
		a.FailedOver = map[string]bool{}
	}
	a.FailedOver[path] = true
}

// way goes back through what was published for a cluster, at one address after the other.
type way struct {
	*Reconciler

	cluster string
	at      render.Address
	commit  files.ID
	head    git.Head // the commit as it was read; without its files
}

// message reads what the commit says.
func (w *way) message(ctx context.Context) (string, error) {
	if w.head.Commit != w.commit {
		var err error
		if w.head, _, err = w.Target.Root(ctx, w.commit); err != nil {
			return "", err //nolint:wrapcheck // it names the commit
		}
	}
	return w.head.Message, nil
}

// after reports whether the commit comes after another one.
func (w *way) after(ctx context.Context, applied files.ID) (bool, error) {
	for on := *w; ; {
		after, err := w.Target.IsAncestor(ctx, applied, on.commit)
		if err != nil && !errors.Is(err, git.ErrMissing) {
			return false, err //nolint:wrapcheck // the caller says of what
		}
		if after {
			return true, nil
		}
		if ok, err := on.continues(ctx); err != nil || !ok {
			return false, err
		}
		if on.commit == applied {
			return true, nil
		}
	}
}

// continues goes back to where the cluster was published before this address; false if it was
// nowhere.
func (w *way) continues(ctx context.Context) (bool, error) {
	for range 1000 {
		message, err := w.message(ctx)
		if err != nil {
			return false, err
		}
		if c, ok := publish.ParseContinued(message, w.cluster); ok {
			err = w.jump(ctx, c.From, c.Commit)
			return err == nil && !w.commit.IsZero(), err
		}
		if w.commit, err = w.CommitBefore(ctx, w.at, w.head.Commit, w.head.Parent); err != nil || w.commit.IsZero() {
			return false, err
		}
	}
	return false, nil
}

// jump goes to the newest commit of another address, as of a commit of its branch.
func (w *way) jump(ctx context.Context, to render.Address, commit files.ID) (err error) {
	w.at = to
	w.commit, err = w.newest(ctx, to, commit)
	return err
}

// back goes to the commit before; false if that is the one that was applied, or none after it.
func (w *way) back(ctx context.Context, applied files.ID) (bool, error) {
	message, err := w.message(ctx)
	if err != nil {
		return false, err
	}
	if c, ok := publish.ParseContinued(message, w.cluster); ok {
		if err := w.jump(ctx, c.From, c.Commit); err != nil {
			return false, err
		}
	} else if w.commit, err = w.CommitBefore(ctx, w.at, w.head.Commit, w.head.Parent); err != nil {
		return false, err
	}
	if w.commit.IsZero() || w.commit == applied {
		return false, nil
	}
	if w.at.Folder == "" {
		return true, nil
	}
	// A commit that did not change the folder may have been applied.
	return w.Target.IsAncestor(ctx, applied, w.commit) //nolint:wrapcheck // it names the commit
}
