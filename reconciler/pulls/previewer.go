// Package pulls serves pull requests: it shows what they do to the clusters, takes commands from their comments, and shows at
// commits what became of them.
package pulls

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/poll"
	"github.com/waybill-dev/waybill/reconciler/post"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources/forge"
)

// Previewer shows at a forge what open pull requests do to the clusters, each once a head.
//
// A change whose head is no member's (forge.OfMember) is a stranger's. It is planned by the configuration of the branch that it
// goes to; charts and overlays are rendered in the sandbox only, and of charts those that the
// lock of that branch names; nothing is decrypted for it. No change is planned with the random key. Where the
// configuration asks for it, it is looked at only when a maintainer named its head.
type Previewer struct {
	*Comparer

	Forge forge.Forge
	// PerAuthor is how many heads of a stranger's are looked at in an hour.
	PerAuthor int
	Shown     Shown
	Interval  time.Duration // between two looks

	since time.Time
	shown map[int]showing       // by the number of the pull request
	spent map[int64][]time.Time // on strangers

	published publication
}

// showing is what a pull request shows, as far as the previewer knows.
type showing struct {
	pull    forge.PullRequest // as it was then
	said    string            // why it is not looked at; empty if it was
	verdict *post.Verdict     // what is still to be shown, because the forge did not take it
	passing bool              // what it shows may be otherwise when the branch moves
	again   bool              // it is to be made again for that
}

const (
	// previewAbsence is how far a previewer that starts looks back.
	previewAbsence = 7 * 24 * time.Hour
	// previewTime is how long one preview may take.
	previewTime = 5 * time.Minute
	// spentWindow is what PerAuthor counts in.
	spentWindow = time.Hour
)

// Run looks until ctx ends, at once when it is woken.
func (p *Previewer) Run(ctx context.Context, wake <-chan struct{}) error {
	return poll.Every(ctx, p.Interval, wake, func() {
		if err := p.Look(ctx); err != nil && ctx.Err() == nil {
			p.Log.WarnContext(ctx, "pull requests not looked at", "err", err)
		}
	})
}

// Look shows what the pull requests do that changed since the last look, one after the other.
func (p *Previewer) Look(ctx context.Context) error {
	start := p.Now()
	if p.shown == nil {
		p.shown, p.spent, p.since = map[int]showing{}, map[int64][]time.Time{}, start.Add(-previewAbsence)
	}
	pulls, err := p.Forge.OpenPullRequests(ctx, p.since.Add(-lookOverlap))
	if err != nil {
		return err
	}
	pulls, failed := p.authored(ctx, pulls)
	p.seen(ctx, pulls)
	failed = errors.Join(failed, p.again(ctx))
	pulls = slices.DeleteFunc(p.waiting(pulls), func(pr forge.PullRequest) bool { return pr.Base != p.Rev || !p.news(&pr) })
	if len(pulls) == 0 && failed == nil {
		p.since = start
	}
	if len(pulls) == 0 {
		return failed
	}
	to, err := p.target(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(pulls, func(a, b forge.PullRequest) int { return cmp.Compare(a.Number, b.Number) })
	for i := range pulls {
		if err := p.one(ctx, &pulls[i], to); err != nil {
			failed = errors.Join(failed, fmt.Errorf("pull request %d: %w", pulls[i].Number, err))
		}
	}
	if failed == nil {
		p.since = start
	}
	return failed
}

// waiting adds to the pull requests that a forge lists those that were not looked at when it did:
// nobody need touch them for their turn to come.
func (p *Previewer) waiting(listed []forge.PullRequest) []forge.PullRequest {
	for number, s := range p.shown {
		if (s.said != "" || s.again) && !slices.ContainsFunc(listed, func(pr forge.PullRequest) bool { return pr.Number == number }) {
			listed = append(listed, s.pull)
		}
	}
	return listed
}

// news reports that a pull request does not show what its head does.
func (p *Previewer) news(pr *forge.PullRequest) bool {
	s, known := p.shown[pr.Number]
	return !known || s.pull.Head != pr.Head || s.said != "" || s.again || s.verdict != nil
}

// one shows what one pull request does, or why that is not looked at.
func (p *Previewer) one(ctx context.Context, pr *forge.PullRequest, to *destination) error {
	was := p.shown[pr.Number]
	if was.pull.Head != pr.Head {
		was = showing{pull: *pr}
	}
	if was.verdict == nil {
		switch why := p.reserved(pr, to); {
		case why == "":
		case was.again:
			was.again = false // it keeps what it shows
			p.shown[pr.Number] = was
			return nil
		default:
			return p.wait(ctx, was, why, to)
		}
		if open, err := p.stillOpen(ctx, was); err != nil || !open {
			return err
		}
		verdict, err := p.planned(ctx, pr, to)
		if err != nil {
			return err
		}
		p.says(pr, verdict.State, verdict.Line)
		was.said, was.again, was.passing, was.verdict = "", false, verdict.Passing, &verdict
		p.shown[pr.Number] = was
	}
	about, err := p.about(ctx, pr, to)
	if err != nil {
		return err
	}
	change := post.Change{Commit: pr.Head, Number: pr.Number, Source: p.Reconciler.Subdir, Page: p.Shown.page(pr), About: about}
	shown, err := post.Show(ctx, p.Forge, change, *was.verdict)
	if err != nil {
		return err
	}
	p.shown[pr.Number] = showing{pull: *pr, passing: was.passing}
	p.Log.InfoContext(ctx, "pull request shown", "pull_request", pr.Number, "head", pr.Head, "not", shown.Not)
	return nil
}

// wait has a pull request say why it is not looked at, once.
func (p *Previewer) wait(ctx context.Context, was showing, why string, to *destination) error {
	pr := &was.pull
	if was.said == why {
		return nil
	}
	p.says(pr, forge.Pending, why)
	about, err := p.about(ctx, pr, to)
	if err != nil {
		return err
	}
	err = p.Forge.SetStatus(ctx, forge.Status{Commit: pr.Head, Context: about, State: forge.Pending, Description: why, URL: p.Shown.page(pr)})
	if err != nil {
		return err
	}
	p.shown[pr.Number] = showing{pull: *pr, said: why}
	p.Log.InfoContext(ctx, "pull request not looked at", "pull_request", pr.Number, "head", pr.Head, "why", why)
	return nil
}

// stillOpen reports whether a pull request is as it was, asking the forge of one that waited; one
// that is not is forgotten.
func (p *Previewer) stillOpen(ctx context.Context, was showing) (bool, error) {
	if was.said == "" && !was.again {
		return true, nil
	}
	now, err := p.Forge.PullRequest(ctx, was.pull.Number)
	if err != nil && !errors.Is(err, forge.ErrNotFound) {
		return false, err
	}
	if err == nil && now.Open && now.Head == was.pull.Head {
		return true, nil
	}
	delete(p.shown, was.pull.Number)
	return false, nil
}

// reserved says why a pull request is not looked at; empty if it is.
func (p *Previewer) reserved(pr *forge.PullRequest, to *destination) string {
	if pr.Member {
		return ""
	}
	switch mode := to.config.Previews.Forks; {
	case mode == render.ForksNever:
		return "changes from " + origin(pr) + "s are not looked at"
	case mode == render.ForksApproved && !to.approved[pr.Head]:
		return "from a " + origin(pr) + ": a maintainer may comment /waybill preview " + pr.Head
	}
	p.spent[pr.Author.ID] = slices.DeleteFunc(p.spent[pr.Author.ID], func(t time.Time) bool { return p.Now().Sub(t) >= spentWindow })
	if len(p.spent[pr.Author.ID]) >= p.PerAuthor {
		return fmt.Sprintf("from a %s: %d changes of its author were looked at within an hour; it waits", origin(pr), p.PerAuthor)
	}
	return ""
}

// planned is what is said of a pull request. The error is that there was no time for it; any other
// is for the log, and not for strangers to read.
func (p *Previewer) planned(ctx context.Context, pr *forge.PullRequest, to *destination) (post.Verdict, error) {
	if !pr.Member {
		p.spent[pr.Author.ID] = append(p.spent[pr.Author.ID], p.Now())
	}
	begun := p.Now()
	within, cancel := context.WithTimeout(ctx, previewTime)
	defer cancel()
	c, notes, failed := p.compare(within, pr, to)
	if ctx.Err() != nil {
		return post.Verdict{}, ctx.Err()
	}
	v := post.Unknown(pr.Head, "the log of the controller")
	switch {
	case errors.Is(failed, worker.ErrBudget):
		v = post.TooMuch(pr.Head)
	case failed == nil:
		v = post.Of(&c, append(notes, p.keeps(ctx, pr, &c)...)...)
	}
	p.Log.InfoContext(ctx, "pull request planned", "pull_request", pr.Number, "head", pr.Head, "member", pr.Member, "state", v.State,
		"verdict", v.Line, "dur", p.Now().Sub(begun), "err", failed)
	return v, nil
}
