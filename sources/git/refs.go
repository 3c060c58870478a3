package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/waybill-dev/waybill/sources/files"
)

func (r *Repo) refPath(branch string) string {
	return filepath.Join(r.gitDir, "refs", "heads", filepath.FromSlash(branch))
}

// moveAll moves branches with Git's own locks: it takes every lock, compares every
// branch, and then moves all or none.
func (r *Repo) moveAll(ctx context.Context, updates []Update, heads []files.ID) error {
	if err := r.checkedOut(updates); err != nil {
		return err
	}
	record := filepath.Join(r.gitDir, "waybill.lock")
	if err := os.WriteFile(record, []byte(journal(updates, heads)), 0o600); err != nil {
		return diskError(r.name, err)
	}
	var locked []string
	defer func() {
		for _, path := range locked {
			os.Remove(path + ".lock")
		}
		_ = os.Truncate(record, 0) // a record that stays is cleared by the next one
	}()
	for i, u := range updates {
		path := r.refPath(u.Branch)
		if err := lock(ctx, path, heads[i]); err != nil {
			return diskError(r.name, fmt.Errorf("locking branch %s: %w", u.Branch, err))
		}
		locked = append(locked, path)
	}
	if err := r.compare(ctx, updates); err != nil {
		return err
	}
	for i, u := range updates {
		path := r.refPath(u.Branch)
		if err := os.Rename(path+".lock", path); err != nil {
			return diskError(r.name, fmt.Errorf("moving branch %s to %s, after %d of %d: %w", u.Branch, heads[i], i, len(updates), err))
		}
	}
	return nil
}

// journal says which branches are locked for which commits.
func journal(updates []Update, heads []files.ID) string {
	var b strings.Builder
	for i, u := range updates {
		fmt.Fprintf(&b, "%s %s\n", u.Branch, heads[i])
	}
	return b.String()
}

// lock takes Git's lock of a branch: a file that must not exist yet and holds what
// the branch will.
func lock(ctx context.Context, path string, head files.ID) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as Git makes it
		return err //nolint:wrapcheck // the caller says of what
	}
	var f *os.File
	err := retry(ctx, func() (bool, error) {
		var err error
		f, err = os.OpenFile(path+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // as Git makes it
		return !errors.Is(err, os.ErrExist), err
	})
	if err != nil {
		return err
	}
	if _, err = f.WriteString(head.String() + "\n"); err == nil {
		err = f.Close()
	} else {
		f.Close()
	}
	if err != nil {
		os.Remove(path + ".lock")
	}
	return err //nolint:wrapcheck // the caller says of what
}

// compare holds every branch against what its update expects. The branches are
// locked.
func (r *Repo) compare(ctx context.Context, updates []Update) error {
	now, err := r.Heads(ctx)
	if err != nil {
		return err
	}
	for _, u := range updates {
		if now[u.Branch] != u.Old {
			return &RaceError{Branch: u.Branch, Want: u.Old, Got: now[u.Branch]}
		}
		for parent := u.Branch; ; {
			i := strings.LastIndexByte(parent, '/')
			if i < 0 {
				break
			}
			parent = parent[:i]
			if _, ok := now[parent]; ok {
				return fmt.Errorf("branch %s cannot be made in %s: there is a branch %s; rename it, or set publish.branchPrefix", u.Branch, r.name, parent)
			}
		}
	}
	return nil
}

// checkedOut refuses to move a branch under a work tree, which would then look as
// if its user had undone the commit.
func (r *Repo) checkedOut(updates []Update) error {
	config, err := os.ReadFile(filepath.Join(r.gitDir, "config"))
	if err == nil && strings.Contains(strings.ReplaceAll(string(config), " ", ""), "bare=true") {
		return nil
	}
	heads, err := filepath.Glob(filepath.Join(r.gitDir, "worktrees", "*", "HEAD"))
	if err != nil {
		return fmt.Errorf("reading the work trees of %s: %w", r.name, err)
	}
	for _, file := range append(heads, filepath.Join(r.gitDir, "HEAD")) {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		at := strings.TrimPrefix(strings.TrimSpace(string(data)), "ref: refs/heads/")
		for _, u := range updates {
			if u.Branch == at {
				return fmt.Errorf("branch %s is checked out in %s; check out another branch there, or publish to a bare repository with --to", at, r.name)
			}
		}
	}
	return nil
}

// checkNames holds branch names against what Git allows (git-check-ref-format),
// and refuses one that stands twice.
func checkNames(updates []Update) error {
	seen := map[string]bool{}
	for _, u := range updates {
		if !validBranch(u.Branch) {
			return fmt.Errorf("%q is no valid branch name", u.Branch)
		}
		if seen[u.Branch] {
			return fmt.Errorf("branch %s stands twice among the updates", u.Branch)
		}
		seen[u.Branch] = true
	}
	return nil
}

func validBranch(name string) bool {
	if name == "" || name == "@" || strings.HasPrefix(name, "-") || strings.HasSuffix(name, ".") ||
		strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.ContainsAny(name, " ~^:?*[\\\x7f") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return strings.IndexFunc(name, func(r rune) bool { return r < ' ' }) < 0
}
