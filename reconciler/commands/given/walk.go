package given

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// mostCommits is how many commits are looked at: of the source since what was planned last, of the branch of commands, and of
// what a run brings.
const mostCommits = 1000

// unplanned are the commits of the source since the one that was planned last, by first parents, oldest first.
func (s *session) unplanned(ctx context.Context) (heads []git.Head, err error) {
	from, to := s.State.Published.Commit, s.Revision
	if s.Source == nil || from == "" || to == "" || from == to {
		return nil, nil
	}
	last, err := files.ParseID(from)
	if err != nil {
		return nil, err
	}
	at, err := files.ParseID(to)
	if err != nil {
		return nil, err
	}
	if is, err := s.Source.IsAncestor(ctx, last, at); err != nil || !is {
		return nil, err // of a commit that comes before, nothing is new
	}
	for at != last {
		if len(heads) == mostCommits || at.IsZero() {
			return nil, fmt.Errorf("%.12s, which was published last, is not among the last %d commits before %.12s", from, mostCommits, to)
		}
		h, _, err := s.Source.Root(ctx, at)
		if err != nil {
			return nil, err
		}
		heads, at = append(heads, h), h.Parent
	}
	slices.Reverse(heads)
	return heads, nil
}

// broughtBy is the commit that brought a file to the branch of commands as it is now; false if that cannot be told.
func (s *session) broughtBy(ctx context.Context, path string) (git.Head, bool) {
	if s.brought == nil {
		s.brought = s.bringing(ctx)
	}
	h, ok := s.brought[path]
	return h, ok
}

// bringing finds the commits that brought the files of the branch.
func (s *session) bringing(ctx context.Context) map[string]git.Head {
	found, open := map[string]git.Head{}, map[string]files.ID{}
	all, _ := commands.DecodeRollouts(s.Branch.Tree)
	for i := range all {
		e, _ := s.Branch.Tree.Lookup(all[i].Path())
		open[all[i].Path()] = e.ID
	}
	h := s.Branch
	for n := 0; n < mostCommits && len(open) > 0; n++ {
		parent := git.Head{}
		if !h.Parent.IsZero() {
			var err error
			if parent, err = s.Target.Commit(ctx, h.Parent); err != nil {
				return found
			}
		}
		for path, id := range open {
			if !has(parent.Tree, path, id) {
				found[path] = h
				delete(open, path)
			}
		}
		h = parent
	}
	return found
}

// has reports whether a folder, which may be nil, has a file as it is.
func has(root *files.Folder, path string, id files.ID) bool {
	if root == nil {
		return false
	}
	e, ok := root.Lookup(path)
	return ok && e.ID == id
}

// authors are those of the commits that the open run of a unit brings, and those whom these name beside them.
func (s *session) authors(ctx context.Context, unit string) (all []git.Author, err error) {
	was := s.rollout(unit)
	if was == nil || s.Source == nil {
		return nil, errors.New("no run is open")
	}
	base, err := files.ParseID(was.Status.Base.Commit)
	if err != nil {
		return nil, err
	}
	target, err := files.ParseID(was.Status.Target.Commit)
	if err != nil {
		return nil, err
	}
	if is, err := s.Source.IsAncestor(ctx, base, target); err != nil || !is {
		return nil, errors.Join(err, fmt.Errorf("%.12s does not come after %.12s", target, base))
	}
	open, seen := []files.ID{target}, map[files.ID]bool{base: true}
	for len(open) > 0 {
		at := open[len(open)-1]
		if open = open[:len(open)-1]; seen[at] {
			continue
		}
		if seen[at] = true; len(seen) > mostCommits {
			return nil, fmt.Errorf("there are more than %d commits between %.12s and %.12s", mostCommits, base, target)
		}
		authors, parents, err := s.authorsAt(ctx, at, base)
		if err != nil {
			return nil, err
		}
		all, open = append(all, authors...), append(open, parents...)
	}
	return all, nil
}

// authorsAt are those of a commit, and its parents; none of one that was there before, at base.
func (s *session) authorsAt(ctx context.Context, at, base files.ID) (authors []git.Author, parents []files.ID, err error) {
	if is, err := s.Source.IsAncestor(ctx, at, base); err != nil || is {
		return nil, nil, err
	}
	h, _, err := s.Source.Root(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	if parents = h.Others; !h.Parent.IsZero() {
		parents = append(slices.Clip(parents), h.Parent)
	}
	return authorsOf(&h), parents, nil
}

// authorsOf are the author of a commit, and those whom its message names beside him.
func authorsOf(h *git.Head) []git.Author {
	all := []git.Author{h.Author}
	for _, who := range sources.Trailers(h.Message, "Co-authored-by") {
		a := git.Author{Name: who}
		if is, err := mail.ParseAddress(who); err == nil {
			a = git.Author{Name: is.Name, Email: is.Address}
		}
		all = append(all, a)
	}
	return all
}
