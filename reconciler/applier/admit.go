package applier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/published"
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
// to come after it, or replace it, unless r.Rollback. It reports what was said of removals on the way.
func Admit(ctx context.Context, r *published.Reader, d published.Artifact, i inventory.Inventory) (a Admission, err error) {
	if i.Commit.IsZero() || i.Commit == d.Commit {
		return a, nil
	}
	start := way{Reader: r, cluster: d.Cluster, at: d.Address, commit: d.Commit}
	after, err := start.after(ctx, i.Commit)
	if after {
		return a, start.read(ctx, &a, i.Commit)
	}
	if r.Rollback || replaces(&d, i) {
		return a, nil
	}
	if err != nil {
		return a, fmt.Errorf("whether %.12s comes after %.12s, which was applied last, is not known, and nothing was applied: %w", d.Commit.String(), i.Commit.String(), err)
	}
	t, err := published.Walk(ctx, r.Target, d.Head, i.Commit, func(h git.Head) bool {
		return ancestry.Replaces(h.Message, d.Cluster, i.Commit) && r.IsSigned(d.Address.Branch, h) == nil
	})
	switch {
	case err != nil:
		return a, err
	case t.Follows && d.Address.Folder == "": // the dates of commits say otherwise
		return a, start.read(ctx, &a, i.Commit)
	case t.Said == d.Commit && !t.Said.IsZero():
		return a, nil
	case !t.Said.IsZero(): // what was said since counts; a folder may not have changed since
		since, err := r.Target.IsAncestor(ctx, t.Said, d.Commit)
		if err == nil && since {
			err = start.read(ctx, &a, t.Said)
		}
		return a, err
	}
	return a, &ancestry.RefusedError{Applied: i.Commit, Text: fmt.Sprintf("the head of the branch, %.12s, does not come after %s, which was applied last: somebody rewrote the branch, or this is a copy that lags behind; nothing was applied; if the branch was made anew or restored, waybill publish --restored, or the annotation %s: %[2]s of its Cluster, has it applied under the guard, and so does --rollback once", d.Commit.String(), i.Commit, published.ReplacesAnnotation)}
}

// replaces reports that people said of the cluster that its branch takes the place of what an inventory names, or of
// the branch that it had under another name. What it would lose by that the guard judges.
func replaces(d *published.Artifact, i inventory.Inventory) bool {
	return slices.Contains(ancestry.Named(d.Replaces), i.Commit) || d.NameBefore != "" && i.Cluster == d.NameBefore
}

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

// failedOver notes a path of a branch, if it is one of an address.
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
	*published.Reader

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
			return "", err
		}
	}
	return w.head.Message, nil
}

// read goes back to what was applied, and takes down what is said of removals.
func (w *way) read(ctx context.Context, a *Admission, applied files.ID) error {
	const most = 10_000
	for range most {
		message, err := w.message(ctx)
		if err != nil {
			return err
		}
		// what anybody put between does not count
		if w.IsSigned(w.at.Branch, w.head) == nil && a.read(message, w.cluster, w.at) {
			return nil
		}
		if more, err := w.back(ctx, applied); err != nil || !more {
			return err
		}
	}
	return nil
}

// after reports whether the commit comes after another one.
func (w *way) after(ctx context.Context, applied files.ID) (bool, error) {
	for on := *w; ; {
		after, err := w.Target.IsAncestor(ctx, applied, on.commit)
		if err != nil && !errors.Is(err, git.ErrMissing) {
			return false, err
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
	w.commit, err = w.Newest(ctx, to, commit)
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
	// A commit that did not change the folder may have been applied, and one of the address before.
	return w.after(ctx, applied)
}
