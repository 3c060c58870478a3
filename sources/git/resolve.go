package git

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/refs"
	"github.com/waybill-dev/waybill/sources/words"
)

// shortest is the fewest digits that may stand for a whole id, as Git has it.
const shortest = 4

// Resolve returns the commit that rev stands for: HEAD or @, the full name of a ref, a
// tag, a branch, a remote-tracking branch, or an object id in full or by its first
// digits, in this order (a full id comes before all names), followed by any number
// of ~N, ^N and ^{commit}. The error for an unknown name says which names are like it.
// For a URL it asks the server, unless rev begins with a full id that is in the
// cache.
func (r *Repo) Resolve(ctx context.Context, rev string) (files.ID, error) {
	base, steps := rev, ""
	if i := strings.IndexAny(rev, "~^"); i >= 0 {
		base, steps = rev[:i], rev[i:]
	}
	id, err := r.base(ctx, cmp.Or(base, "HEAD"))
	if err != nil {
		return files.ID{}, fmt.Errorf("looking up revision %q in %s: %w", rev, r.shown, err)
	}
	if id, err = r.follow(ctx, id, steps); err != nil {
		return files.ID{}, fmt.Errorf("looking up revision %q in %s: %w", rev, r.shown, err)
	}
	return id, nil
}

// skew is how far the clocks of people who commit may be apart.
const skew = 24 * time.Hour

// MergeBase returns the commit from which two others went apart, as git merge-base does: of
// several the first; false where they have none in common. The second may be one that only a ref
// of a pull request leads to.
func (r *Repo) MergeBase(ctx context.Context, a, b files.ID) (files.ID, bool, error) {
	var commits []*object.Commit
	for _, id := range []files.ID{a, b} {
		c, err := r.obtained(ctx, id)
		if err != nil {
			return files.ID{}, false, fmt.Errorf("reading commit %s of %s: %w", id, r.shown, err)
		}
		commits = append(commits, c)
	}
	bases, err := commits[0].MergeBase(commits[1])
	if err != nil {
		return files.ID{}, false, fmt.Errorf("looking for where %s and %s of %s went apart: %w", a, b, r.shown, err)
	}
	if len(bases) == 0 {
		return files.ID{}, false, nil
	}
	return files.ID(bases[0].Hash), true, nil
}

// IsAncestor reports whether commit a is in the history of commit b, and another one. It
// looks at no commit that is a day older than a, so that dates which run backwards, and
// history that is not at hand, may hide it. A shallow clone gets the history that it needs,
// or an error is ErrShallow.
func (r *Repo) IsAncestor(ctx context.Context, a, b files.ID) (bool, error) {
	if err := r.kind.obtain(ctx, a); err != nil {
		return false, err
	}
	oldest, err := r.store.commit(a)
	if err == nil {
		err = r.kind.obtainSince(ctx, b, oldest.Committer.When.Add(-skew))
	}
	if err != nil {
		return false, err
	}
	open, seen := []files.ID{b}, map[files.ID]bool{b: true}
	for len(open) > 0 && ctx.Err() == nil {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		c, err := r.store.commit(id)
		if err != nil || c.Committer.When.Before(oldest.Committer.When.Add(-skew)) {
			continue
		}
		for _, p := range c.ParentHashes {
			parent := files.ID(p)
			if parent == a {
				return true, nil
			}
			if !seen[parent] {
				seen[parent] = true
				open = append(open, parent)
			}
		}
	}
	return false, ctx.Err()
}

// base finds what a revision begins with, and has its commit at hand.
func (r *Repo) base(ctx context.Context, name string) (files.ID, error) {
	if id, err := files.ParseID(strings.ToLower(name)); err == nil {
		return id, r.kind.obtain(ctx, id)
	}
	all, head, err := r.kind.names(ctx)
	if err != nil {
		return files.ID{}, err
	}
	if name == "HEAD" || name == "@" {
		if head.IsZero() {
			return head, errors.New("there is no commit at HEAD yet; git commit makes one")
		}
		return head, r.kind.obtain(ctx, head)
	}
	for _, prefix := range []string{"", "refs/tags/", refs.Heads, "refs/remotes/"} {
		if id, ok := all[prefix+name]; ok {
			return id, r.kind.obtain(ctx, id)
		}
	}
	if id, err := r.kind.elsewhere(ctx, name); err != nil || !id.IsZero() {
		return id, err
	}
	id, err := r.abbreviated(ctx, name, all)
	if err == nil && id.IsZero() {
		err = unknown(name, all)
	}
	return id, err
}

// abbreviated finds the one commit whose id begins with these digits; zero if there
// is none.
func (r *Repo) abbreviated(ctx context.Context, digits string, all map[string]files.ID) (files.ID, error) {
	digits = strings.ToLower(digits)
	prefix, err := hex.DecodeString(digits[:len(digits)&^1])
	if len(digits) < shortest || err != nil || strings.Trim(digits, "0123456789abcdef") != "" {
		return files.ID{}, nil // it is a name, not an id
	}
	if err := r.kind.obtainAll(ctx, all); err != nil {
		return files.ID{}, err
	}
	ids, err := r.store.withPrefix(prefix, func(id files.ID) bool { return strings.HasPrefix(id.String(), digits) })
	if err != nil || len(ids) == 0 {
		return files.ID{}, err
	}
	if len(ids) > 1 {
		names := make([]string, len(ids))
		for i, id := range ids {
			names[i] = id.String()
		}
		slices.Sort(names)
		return files.ID{}, fmt.Errorf("%d commits begin with it (%s); give more digits", len(ids), words.List(names))
	}
	return ids[0], nil
}

// follow goes from a commit, or a tag of one, the steps ~N, ^N and ^{...}.
func (r *Repo) follow(ctx context.Context, id files.ID, steps string) (files.ID, error) {
	c, err := r.store.commit(id)
	for steps != "" && err == nil {
		kind := steps[0]
		steps = steps[1:]
		if rest, ok := cutAny(steps, "{commit}", "{}"); ok && kind == '^' {
			steps = rest
			continue
		}
		digits := len(steps) - len(strings.TrimLeft(steps, "0123456789"))
		n, nerr := strconv.Atoi(cmp.Or(steps[:digits], "1"))
		if nerr != nil || kind != '~' && kind != '^' {
			return files.ID{}, fmt.Errorf("%q is not understood; want ~N, ^N or ^{commit}", string(kind)+steps)
		}
		steps = steps[digits:]
		parent := 0
		if kind == '^' {
			parent, n = n-1, min(n, 1)
		}
		for ; n > 0 && err == nil; n-- {
			if parent >= len(c.ParentHashes) {
				return files.ID{}, fmt.Errorf("commit %s has %d parents, which is too few", c.Hash, len(c.ParentHashes))
			}
			c, err = r.obtained(ctx, files.ID(c.ParentHashes[parent]))
		}
	}
	if err != nil {
		return files.ID{}, err
	}
	return files.ID(c.Hash), nil
}

// obtained reads a commit that a shallow clone may lack.
func (r *Repo) obtained(ctx context.Context, id files.ID) (*object.Commit, error) {
	if err := r.kind.obtain(ctx, id); err != nil {
		return nil, err
	}
	return r.store.commit(id)
}

func cutAny(s string, prefixes ...string) (string, bool) {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(s, p); ok {
			return rest, true
		}
	}
	return s, false
}

// unknown is the error for a name that stands for nothing.
func unknown(name string, all map[string]files.ID) error {
	var near, every []string
	for _, full := range slices.Sorted(maps.Keys(all)) {
		short, ok := cutAny(full, refs.Heads, "refs/tags/")
		if !ok {
			continue
		}
		every = append(every, short)
		if alike(name, short) {
			near = append(near, short)
		}
	}
	switch {
	case len(near) > 0:
		return fmt.Errorf("there is no such branch, tag or commit; did you mean %s?", words.List(near))
	case len(every) > 0:
		return fmt.Errorf("there is no such branch, tag or commit; there are %s", words.List(every))
	}
	return errors.New("the repository has no branch and no tag yet")
}

// alike reports whether two names are one in the other, or at most two changes of a
// letter apart.
func alike(a, b string) bool {
	if len(a) > 2 && strings.Contains(b, a) || len(b) > 2 && strings.Contains(a, b) {
		return true
	}
	changes := words.Distance(a, b)
	return changes <= 2 && changes < len(a)
}
