package propose

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/words"
)

// change is what one branch changes.
type change struct {
	branch   string
	verdicts []*updates.Verdict
	tree     *files.Folder
	parent   files.ID // the commit of the base that it is made from
	// at is where the branch is, and was what was proposed on it before; stays says that it has this change already.
	at    files.ID
	was   *updates.Proposal
	stays bool
}

// author is who commits.
var author = git.Author{Name: "Waybill", Email: "waybill@waybill.dev"}

// change makes what a branch is to change; nil if nothing is to be done about it, which is said.
func (r *run) change(ctx context.Context, branch string, of []*updates.Verdict) (*change, error) {
	c := &change{branch: branch, verdicts: of, parent: r.base.Commit, at: r.heads[branch]}
	for _, v := range of {
		if p := r.memory.Policies[v.Name()].Proposal; p.IsOpen() && p.Branch == branch {
			c.was = p
		}
	}
	edited, err := r.result.Found.Source.Edit(of)
	if err != nil {
		return nil, err
	}
	c.tree = r.written(edited)
	if !c.at.IsZero() {
		isOurs, err := r.isOurs(ctx, cmp.Or(c.was, &updates.Proposal{Branch: branch}))
		if err != nil {
			return nil, err
		}
		if !isOurs {
			url := ""
			if c.was != nil {
				url = c.was.URL
			}
			r.say(c, Theirs, url, "somebody else's commit is on the branch; merge it, or delete the branch to have it written again")
			return nil, nil
		}
		if c.stays, err = r.isSame(ctx, c); err != nil {
			return nil, err
		}
	}
	if !c.stays && !r.isStill(ctx, c) {
		return nil, nil
	}
	if c.was != nil {
		c.note(r.memory)
	}
	return c, nil
}

// isStill reports whether tags stand, now that they are about to be written, for the digests that a change writes; it says why not.
func (r *run) isStill(ctx context.Context, c *change) bool {
	for _, v := range c.verdicts {
		ref := v.Asks()
		if ref == "" || v.Chart != nil {
			continue
		}
		digest, err := r.registry.Digest(ctx, ref)
		if err == nil && digest == v.Next.Digest {
			continue
		}
		why := ref + " stands for another digest than a moment ago"
		if err != nil {
			why = err.Error()
		}
		r.waited = true
		r.say(c, Waits, "", why)
		r.Cache.forget(v.Repository)
		return false
	}
	return true
}

// note remembers that the change is proposed. That the pull request shows it is noted later, unless it stays.
func (c *change) note(m *updates.Memory) {
	for _, v := range c.verdicts {
		p := updates.Proposal{
			Key: v.Key(), From: v.Current, To: v.Next, Branch: c.branch, Tree: c.tree.ID().String(), Parent: c.parent.String(),
		}
		before := c.was
		if its := m.Policies[v.Name()].Proposal; its.IsOpen() {
			before = its
		}
		if before != nil {
			p.PullRequest, p.URL, p.Labeled = before.PullRequest, before.URL, before.Labeled
		}
		if c.stays {
			p.Tree, p.Parent, p.At = c.was.Tree, c.was.Parent, before.At
		} else if !c.at.IsZero() {
			p.Over = c.at.String()
		}
		m.Propose(v.Name(), &p)
	}
}

// isOurs reports whether the head of a branch is the commit that Waybill pushed: its author, and the tree and the parent that are
// remembered, so that it is the only one on the branch, whoever else writes that name into a commit. Of
// a branch below updates.BranchPrefix of which nothing is remembered, as when the memory was lost, it is one whose message names
// the subscription. Another branch of which nothing is remembered is somebody else's: who fast-forwards it to a merged commit of
// Waybill's has such a head, too.
func (r *run) isOurs(ctx context.Context, p *updates.Proposal) (bool, error) {
	at := r.heads[p.Branch]
	if at.IsZero() {
		return true, nil
	}
	if err := r.Repository.Fetch(ctx, p.Branch); err != nil {
		return false, err
	}
	if at.String() == p.Over {
		return true, nil
	}
	head, err := r.Repository.Commit(ctx, at) // wherever the branch is by now
	if err != nil {
		return false, err
	}
	isWritten := head.Author == author && len(head.Others) == 0 && len(sources.Trailers(head.Message, trailer)) > 0
	isAlone := p.Parent == "" || head.Parent.String() == p.Parent
	isLost := p.Tree == "" && strings.HasPrefix(p.Branch, updates.BranchPrefix)
	return isWritten && isAlone && (isLost || head.Tree.ID().String() == p.Tree), nil
}

// isSame reports whether a branch has the change already: what it changes is what is to be changed, whatever else the base got
// meanwhile. From a base that was rewritten it would bring back what that gave up.
func (r *run) isSame(ctx context.Context, c *change) (bool, error) {
	if c.was == nil {
		return false, nil
	}
	head, err := r.Repository.Commit(ctx, c.at)
	if err != nil {
		return false, err
	}
	if !r.isBefore(ctx, head.Parent.String(), r.base.Commit) {
		return false, ctx.Err()
	}
	before, err := r.Repository.Commit(ctx, head.Parent)
	if err != nil {
		return false, ctx.Err() // it is not at hand, and the branch is written anew
	}
	var was, is []string
	for d := range files.Diff(before.Tree, head.Tree) {
		was = append(was, fmt.Sprint(d.Path, d.Old.ID, d.New.ID))
	}
	for d := range files.Diff(r.base.Tree, c.tree) {
		is = append(is, fmt.Sprint(d.Path, d.Old.ID, d.New.ID))
	}
	return slices.Equal(was, is), nil
}

// written is the root of the base with other contents of files of the source.
func (r *run) written(edited map[string][]byte) *files.Folder {
	tree := r.base.Tree
	for name, data := range edited {
		tree = with(tree, strings.Split(strings.Trim(r.Subdir+"/"+name, "/"), "/"), data)
	}
	return tree
}

// with is a folder with another content of a file.
func with(f *files.Folder, path []string, data []byte) *files.Folder {
	entries := slices.Clone(f.Entries())
	i := slices.IndexFunc(entries, func(e files.Entry) bool { return e.Name == path[0] })
	e := entries[i] // the file was read from it
	if len(path) == 1 {
		e.Blob = files.NewBlob(data)
		e.ID = e.Blob.ID()
	} else {
		e.Dir = with(e.Dir, path[1:], data)
		e.ID = e.Dir.ID()
	}
	entries[i] = e
	return files.NewFolder(entries)
}

// push moves the branches that have another change, and what is remembered, in one push.
func (r *run) push(ctx context.Context, all []*change) error {
	var list []git.Update
	for _, c := range all {
		if c.stays {
			continue
		}
		list = append(list, git.Update{
			Branch: c.branch, Old: c.at, Anew: true, After: []files.ID{r.base.Commit}, Tree: c.tree,
			Message: c.message(), Author: author, When: r.now, Stage: 1,
		})
	}
	return r.publish(ctx, list...)
}

// remember writes what is remembered, if it is not what is written.
func (r *run) remember(ctx context.Context) error { return r.publish(ctx) }

// publish pushes branches, and the memory with them if it changes.
func (r *run) publish(ctx context.Context, list ...git.Update) error {
	root, err := r.memory.Encode()
	if err != nil {
		return err
	}
	u := git.Update{Branch: updates.MemoryBranch, Old: r.memoryAt.Commit, Tree: root, Author: author, When: r.now}
	u.Message = "what is known of new versions\n"
	if r.memoryAt.Tree == nil || r.memoryAt.Tree.ID() != root.ID() {
		list = append([]git.Update{u}, list...)
	}
	if len(list) == 0 {
		return nil
	}
	ids, err := r.Repository.Publish(ctx, list)
	if err != nil {
		return err
	}
	for i, l := range list {
		r.heads[l.Branch] = ids[i]
	}
	r.memoryAt.Commit, r.memoryAt.Tree = r.heads[updates.MemoryBranch], root
	return nil
}

// pullOf is the open pull request from a branch to the base, and whether there is one.
func (r *run) pullOf(ctx context.Context, branch string) (forge.PullRequest, bool, error) {
	open, err := r.Forge.PullRequestsOf(ctx, r.heads[branch].String())
	for _, p := range open {
		if p.Branch == branch && p.Base == r.Base {
			return p, true, err
		}
	}
	return forge.PullRequest{}, false, err
}

// trailer names what a commit takes.
const trailer = "Waybill-Update"

// message is that of the commit.
func (c *change) message() string {
	text := c.title() + "\n\n"
	if a := c.verdicts[0].Automation; a != nil && a.Message != "" {
		text = strings.TrimSpace(a.Message) + "\n\n"
	}
	var b strings.Builder
	b.WriteString(text)
	for _, v := range c.verdicts {
		fmt.Fprintf(&b, "%s: %s\n", trailer, taken(v.Subscription, v.Key()))
	}
	return b.String()
}

// taken says in a trailer which version of a subscription a commit takes.
func taken(s *updates.Subscription, key string) string {
	return fmt.Sprintf("%s %s %s", s.What(), s.Repository, key)
}

// title says what changes.
func (c *change) title() string {
	if v := c.verdicts[0]; len(c.verdicts) == 1 {
		return fmt.Sprintf("Update %s to %s", v.Repository, v.Key())
	}
	count := map[string]int{}
	for _, v := range c.verdicts {
		count[v.What()]++
	}
	var parts []string
	for _, what := range []string{"image", "chart"} {
		if n := count[what]; n > 0 {
			parts = append(parts, words.Count(n, what))
		}
	}
	return "Update " + strings.Join(parts, " and ")
}
