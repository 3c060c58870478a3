package propose

import (
	"context"
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/words"
)

// presenter has pull requests show changes.
type presenter struct{ *run }

// show has a pull request show a change: opens one, or has it say what it changes now. One that stays is not touched, unless
// nobody knows of it yet, or it could not be edited when the branch was pushed.
func (r *presenter) show(ctx context.Context, c *change) error {
	known := r.memory.Policies[c.verdicts[0].Name()].Proposal
	if r.settings.commits() {
		r.say(c, map[bool]Did{true: Stays, false: Pushed}[c.stays], "", "")
		return nil
	}
	if c.stays && known.PullRequest != 0 && !known.At.IsZero() {
		r.say(c, Stays, known.URL, "")
		return nil
	}
	draft, open, err := r.draft(ctx, c)
	if err != nil {
		return err
	}
	did := Edited
	var is forge.PullRequest
	if known.PullRequest != 0 {
		is.Number, is.URL = known.PullRequest, known.URL
		err = r.Forge.EditPullRequest(ctx, is.Number, draft)
	} else if is, did, err = r.found(ctx, c, draft); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	labeled, why := known.Labeled, ""
	isFound := did == Edited && known.PullRequest == 0 // what it has nobody knows
	if isOpen := len(open) > 0; isOpen != labeled || isFound {
		set := map[bool]func(context.Context, int, string) error{true: r.Forge.AddLabel, false: r.Forge.RemoveLabel}[isOpen]
		if err := set(ctx, is.Number, openLabel); err != nil { // nothing waits for it
			why = "the label " + openLabel + " is not as it should be: " + err.Error()
		} else {
			labeled = isOpen
		}
	}
	for _, v := range c.verdicts {
		p := *r.memory.Policies[v.Name()].Proposal
		p.PullRequest, p.URL, p.At, p.Labeled = is.Number, is.URL, r.now, labeled
		r.memory.Propose(v.Name(), &p)
	}
	r.say(c, did, is.URL, why)
	return nil
}

// openLabel says of a pull request that a roll-out of what it changes is open.
const openLabel = "waybill-rollout-open"

// unlabel takes the label from pull requests when no roll-out is open any more. Until then it is as when they were written.
func (r *presenter) unlabel(ctx context.Context) {
	if len(r.open) > 0 || r.Forge == nil {
		return
	}
	without := map[int]bool{}
	for _, n := range r.memory.Open() {
		p := *r.memory.Policies[n].Proposal
		if !p.Labeled {
			continue
		}
		if _, asked := without[p.PullRequest]; !asked {
			without[p.PullRequest] = r.Forge.RemoveLabel(ctx, p.PullRequest, openLabel) == nil // otherwise the next time
		}
		p.Labeled = !without[p.PullRequest]
		r.memory.Propose(n, &p)
	}
}

// found is the open pull request of a branch, as one that was opened just before somebody was interrupted, or a new one.
func (r *presenter) found(ctx context.Context, c *change, draft forge.Draft) (forge.PullRequest, Did, error) {
	p, is, err := r.pullOf(ctx, c.branch)
	switch {
	case err != nil:
		return forge.PullRequest{}, "", err
	case is:
		return p, Edited, r.Forge.EditPullRequest(ctx, p.Number, draft)
	}
	p, err = r.Forge.OpenPullRequest(ctx, c.branch, r.Base, draft)
	return p, Opened, err
}

// draft is what the pull request of a change says, and the units whose open run it meets.
func (r *presenter) draft(ctx context.Context, c *change) (d forge.Draft, open []string, err error) {
	var b strings.Builder
	for i, v := range c.verdicts {
		if i == maxShown || b.Len() > forge.MaxBody/2 {
			fmt.Fprintf(&b, "* and %d more\n", len(c.verdicts)-i)
			break
		}
		from, to := shown(v.Current.Tag, v.Current.Digest), shown(v.Next.Tag, v.Next.Digest)
		fmt.Fprintf(&b, "* `%s`: %s to %s, of %s%s\n", v.Repository, from, to, wanted(v), r.links(v))
		for _, n := range v.Choice.Newer {
			if n.Tag == v.Key() {
				fmt.Fprintf(&b, "  first seen %s\n", n.Since.Format("2006-01-02 15:04 MST"))
			}
		}
	}
	b.WriteString("\nCommits of others on this branch are never overwritten. Closed without a merge, " +
		map[bool]string{true: "this version is not proposed again; a newer one is", false: "these versions are not proposed again; newer ones are"}[len(c.verdicts) == 1] + ".\n\n")
	preview, effect, err := r.Preview(ctx, r.base.Commit.String(), r.heads[c.branch].String(), forge.MaxBody-b.Len()-maxNote)
	if err != nil {
		return forge.Draft{}, nil, err
	}
	if open = effect.Meets(); len(open) > 0 {
		fmt.Fprintf(&b, "> **A roll-out is open**: %.*s. Merged now, this waits for it or restarts it, as its strategy says.\n\n", maxNote/2, words.First(open, 3))
	}
	return forge.Draft{Title: c.title(), Body: b.String() + preview}, open, nil
}

// maxNote is how many bytes are left for what is said of open roll-outs.
const maxNote = 1 << 10

// maxShown is how many subscriptions a pull request names.
const maxShown = 50

// wanted is what says which versions are wanted.
func wanted(v *updates.Verdict) string {
	if v.Chart == nil {
		return "ImagePolicy " + v.Name().String()
	}
	kind := map[bool]string{true: "tag", false: "range"}[v.Chart.Moves()]
	return fmt.Sprintf("the %s `%s`, locked in `%s`", kind, v.Chart.Range(), lock.FileName)
}

// shown is a version as people see it.
func shown(tag, digest string) string {
	if digest == "" {
		return "`" + tag + "`"
	}
	return fmt.Sprintf("`%s` (`%.19s`)", tag, digest)
}

// links lead to what those who built an image or a chart say of it. Registry returns none but https URLs.
func (r *presenter) links(v *updates.Verdict) string {
	built := r.result.Found.Images[v.Name()]
	var text strings.Builder
	for _, l := range [][2]string{{"source", built.Source}, {"changelog", built.Changelog}, {"more", built.URL}} {
		if l[1] != "" {
			fmt.Fprintf(&text, " · [%s](<%s>)", l[0], strings.NewReplacer("<", "%3C", ">", "%3E", "\n", "", "\r", "").Replace(l[1]))
		}
	}
	return text.String()
}
