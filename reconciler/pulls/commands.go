package pulls

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/poll"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/git"
)

// OrderContext is the commit status that answers a command.
const OrderContext = "waybill/orders"

// CommandHandler takes what maintainers command by comments on pull requests, and writes it to the branch of
// commands, from which plans read it. What a comment may do is asked of the forge when it is read.
type CommandHandler struct {
	Forge    forge.Forge
	Target   published.Repository // which has the branch
	Source   published.Repository // to which pull requests are made
	Rules    commands.Rules
	Interval time.Duration // between two looks
	Now      func() time.Time
	Log      *slog.Logger
	// Adds tells which removals a pull request adds that the guard would hold, or why it is not looked at.
	Adds func(ctx context.Context, pr forge.PullRequest) (adds guard.Removals, why string, err error)
	// Changed is told that there are other commands.
	Changed func()

	since  time.Time      // of the last look
	judged map[int64]bool // comments that do not count, or count already
	// mergedAs are the pull requests that became the targets of open runs, by that commit.
	mergedAs map[string][]forge.PullRequest
}

// The times of a command handler. What was commented while none ran is looked at by the next one, but for
// what is older than a day; a look begins a little before the last one, because the forge's
// clock is another.
const (
	commandsSince = 24 * time.Hour
	lookOverlap   = 5 * time.Minute
)

// Run looks until ctx ends, at once when it is woken.
func (c *CommandHandler) Run(ctx context.Context, wake <-chan struct{}) error {
	return poll.Every(ctx, c.Interval, wake, func() {
		if err := c.Look(ctx); err != nil && ctx.Err() == nil {
			c.Log.WarnContext(ctx, "commands not read", "err", err)
		}
	})
}

// Look reads what was commented since the last look, and writes what is commanded by it, and what
// is void.
func (c *CommandHandler) Look(ctx context.Context) error {
	start := c.Now()
	if c.judged == nil {
		c.judged, c.since = map[int64]bool{}, start.Add(-commandsSince)
	}
	pulls, err := c.Forge.OpenPullRequests(ctx, c.since.Add(-lookOverlap))
	if err != nil {
		return err
	}
	head, err := c.head(ctx)
	if err != nil {
		return err
	}
	known, strange := commands.Decode(head.Tree)
	ofRollouts, none := commands.DecodeRollouts(head.Tree)
	if strange = append(strange, none...); len(strange) > 0 {
		c.Log.WarnContext(ctx, "commands ignored", "branch", commands.Branch, "files", strange)
	}
	for _, o := range known {
		c.judged[o.Comment] = true
	}
	for _, o := range ofRollouts {
		c.judged[o.Comment] = true
	}
	delete(c.judged, 0) // of the CLI
	goes, failed := c.staged(ctx)
	change := commands.Change{Ended: c.ended(ofRollouts, &goes)}
	may := c.permissions(ctx)
	answers := map[int64]string{} // the heads at which commands about roll-outs are answered
	for _, p := range listed(pulls, goes.merged()) {
		if err := c.commands(ctx, &look{pull: p, goes: &goes, may: may, answers: answers}, &change); err != nil {
			failed = errors.Join(failed, fmt.Errorf("pull request %d: %w", p.Number, err)) // which stops no other
		}
	}
	if err := c.settle(ctx, known, pulls, &change); err != nil {
		failed = errors.Join(failed, err)
	}
	if err := c.write(ctx, head, &change, answers); err != nil {
		return errors.Join(failed, err)
	}
	if failed == nil { // otherwise these pull requests are listed again
		c.since = start
	}
	return failed
}

// permissions asks the forge what people may do: about each once, however much they wrote.
func (c *CommandHandler) permissions(ctx context.Context) func(forge.User) (forge.Permission, error) {
	known := map[forge.User]forge.Permission{}
	return func(u forge.User) (may forge.Permission, err error) {
		may, ok := known[u]
		if !ok {
			if may, err = c.Forge.Permission(ctx, u); err == nil {
				known[u] = may
			}
		}
		return may, err
	}
}

// head is the head of the branch; the zero one where there is none.
func (c *CommandHandler) head(ctx context.Context) (git.Head, error) {
	heads, err := c.Target.Heads(ctx)
	if err != nil {
		return git.Head{}, err
	}
	return commands.Head(ctx, c.Target, heads)
}

// listed are open pull requests, and those that were merged as what goes out.
func listed(open, merged []forge.PullRequest) []forge.PullRequest {
	all := slices.Clone(open)
	for _, p := range merged {
		if !slices.ContainsFunc(open, func(o forge.PullRequest) bool { return o.Number == p.Number }) {
			all = append(all, p)
		}
	}
	return all
}

// look is what a pull request is looked at with.
type look struct {
	pull    forge.PullRequest
	goes    *staged
	may     func(forge.User) (forge.Permission, error)
	answers map[int64]string
}

// commands adds the commands on a pull request that were not judged yet, and count. Only who may write is answered:
// an answer is a status of the head, which others see, too. With an error come those that were judged before.
func (c *CommandHandler) commands(ctx context.Context, l *look, change *commands.Change) error {
	p := &l.pull
	comments, err := c.Forge.Comments(ctx, p.Number)
	if err != nil {
		return err
	}
	for _, comment := range comments {
		w, is := c.read(l, comment)
		if !is {
			continue
		}
		if !comment.Mine && !comment.Author.Bot {
			if w.may, err = l.may(comment.Author); err != nil {
				return err
			}
		}
		why, err := c.take(ctx, l, &w, change)
		if err != nil {
			return err
		}
		if why != "" {
			c.refuse(ctx, p, &comment, w.may, why)
		}
	}
	return nil
}

// written is a comment that has a command.
type written struct {
	comment     forge.Comment
	may         forge.Permission // of who made it
	isOfRollout bool
	parsed      commands.Parsed // about a pull request
	said        commands.Spoken // about a roll-out
	wrong       error           // with what it says
}

// read reads the command of a comment; false if it has none, or none that can be judged now, or that was not judged before.
func (c *CommandHandler) read(l *look, comment forge.Comment) (w written, is bool) {
	w.comment = comment
	if w.said, w.isOfRollout, w.wrong = commands.ParseRolloutComment(comment.Body); w.isOfRollout {
		is = w.wrong != nil || l.goes.knows(&w.said)
	} else if w.parsed, is, w.wrong = commands.Parse(comment.Body); !l.pull.Open {
		is = false // what is about a change is, as long as that is open
	}
	return w, is && !c.judged[comment.ID] && c.Now().Sub(comment.Created) <= commandsSince
}

// take adds the command of a comment to those that count, or says why it does not.
func (c *CommandHandler) take(ctx context.Context, l *look, w *written, change *commands.Change) (why string, err error) {
	if w.isOfRollout {
		o, why := c.judgeRollout(w, l)
		if why == "" {
			change.Given, l.answers[w.comment.ID] = append(change.Given, o), l.pull.Head
		}
		return why, nil
	}
	o, why, err := c.judge(ctx, &commands.Request{Parsed: w.parsed, Comment: w.comment, Pull: l.pull, May: w.may}, w.wrong)
	if err == nil && why == "" {
		change.Taken = append(change.Taken, o)
	}
	return why, err
}

// refuse notes a command that does not count, and says so to who may write.
func (c *CommandHandler) refuse(ctx context.Context, p *forge.PullRequest, comment *forge.Comment, may forge.Permission, why string) {
	c.judged[comment.ID] = true
	c.Log.WarnContext(ctx, "command refused", "pull_request", p.Number, "by", comment.Author.Login, "why", why)
	if may >= forge.Write {
		c.answer(ctx, p.Head, forge.Failure, "refused: "+why)
	}
}

// judge makes a command of a request, or says why it is none.
func (c *CommandHandler) judge(ctx context.Context, a *commands.Request, wrong error) (o commands.Command, why string, err error) {
	if wrong != nil {
		return o, wrong.Error(), nil
	}
	if why = c.Rules.Judge(a); why != "" {
		return o, why, nil
	}
	o = commands.Take(a, c.Now())
	why, err = c.approve(ctx, &o, a.Pull)
	return o, why, err
}

// settle finds the commands that count no more, which are those of a head that is none, those that are old and
// those that are carried out, and the approvals whose pull request is merged.
func (c *CommandHandler) settle(
	ctx context.Context, known []commands.Command, pulls []forge.PullRequest, change *commands.Change,
) (err error) {
	published, err := c.published(ctx, known)
	if err != nil {
		return err
	}
	var failed error
	for _, o := range known {
		i := slices.IndexFunc(pulls, func(p forge.PullRequest) bool { return p.Number == o.PullRequest })
		var p forge.PullRequest
		if i >= 0 {
			p = pulls[i]
		} else if p, err = c.Forge.PullRequest(ctx, o.PullRequest); err != nil && !errors.Is(err, forge.ErrNotFound) {
			failed = errors.Join(failed, fmt.Errorf("pull request %d: %w", o.PullRequest, err))
			continue
		}
		switch {
		case p.Head != o.Head || !o.Counts(c.Now()) || c.carriedOut(ctx, &o, published):
			change.Void = append(change.Void, o)
		case o.Waits() && p.Merged != "":
			o.Merged = p.Merged
			change.Merged = append(change.Merged, o)
		}
	}
	return failed
}

// write writes what becomes of commands, and answers who gave them: those about roll-outs at these heads.
func (c *CommandHandler) write(ctx context.Context, head git.Head, change *commands.Change, heads map[int64]string) error {
	if change.Empty() {
		return nil
	}
	update, err := change.Update(head, c.Now())
	if err == nil {
		_, err = c.Target.Publish(ctx, []git.Update{update})
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", commands.Branch, err)
	}
	c.Changed()
	c.answerRollouts(ctx, change, heads)
	for _, o := range change.Taken {
		c.judged[o.Comment] = true
		c.Log.InfoContext(ctx, "command taken", "command", o.String(), "pull_request", o.PullRequest, "by", o.By)
		c.answer(ctx, o.Head, forge.Success, fmt.Sprintf("%s, by %s", strings.TrimPrefix(o.String(), "/waybill "), o.By))
	}
	for _, o := range change.Merged {
		c.Log.InfoContext(ctx, "command counts", "command", o.String(), "pull_request", o.PullRequest, "by", o.By, "merged", o.Merged)
	}
	for _, o := range change.Void {
		c.Log.InfoContext(ctx, "command void", "command", o.String(), "pull_request", o.PullRequest, "by", o.By)
	}
	return nil
}

// answer shows what became of a command. That it cannot be shown changes nothing of that.
func (c *CommandHandler) answer(ctx context.Context, commit string, state forge.State, text string) {
	if err := c.Forge.SetStatus(ctx, forge.Status{Commit: commit, Context: OrderContext, State: state, Description: text}); err != nil {
		c.Log.WarnContext(ctx, "commit status not sent", "commit", commit, "err", err)
	}
}
