// Package commands is what maintainers command by comments on pull requests: which comment is a
// command, whether it counts, and how a command that counts is remembered. It is values; a CommandHandler of package
// pulls asks the forge, and writes, and Give writes what somebody commands of a roll-out without a forge.
//
// Such a command is a commit of a branch of its own, from which the next plan reads it, so that there
// is no state but Git. An approval names, by a digest, the removals that its pull request adds: each an
// object and the cluster that loses it. It counts once that pull request is merged with the head that it
// names, and until it is carried out.
package commands

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/forge"
)

// Branch is the one that remembers commands.
const Branch = render.OrdersBranch

// Lasts is how long a command counts.
const Lasts = 7 * 24 * time.Hour

// Verb is what is commanded.
type Verb string

// The verbs.
const (
	// ApprovePrune allows the removals that a pull request adds.
	ApprovePrune Verb = "approve-prune"
	// Preview allows that a stranger's change is rendered.
	Preview Verb = "preview"
)

// Parsed is what a comment says.
type Parsed struct {
	Verb   Verb   `json:"verb"`
	Digest string `json:"digest,omitempty"` // of the removals
	Head   string `json:"head"`             // of the pull request, the whole name of the commit
}

var (
	digest = regexp.MustCompile(`^[0-9a-f]{40}$`)
	// older is the form of the digests of before, which were of all that held clusters would lose.
	older  = regexp.MustCompile(`^[0-9a-f]{16}$`)
	commit = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

// The commands, for people.
const (
	usagePrune   = "/waybill approve-prune DIGEST HEAD"
	usagePreview = "/waybill preview HEAD"
)

// Parse reads the command of a comment: its first line. It reports whether there is one; the
// error says what is wrong with it.
func Parse(body string) (c Parsed, is bool, err error) {
	line, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	words := strings.Fields(line)
	if len(words) == 0 || words[0] != "/waybill" {
		return Parsed{}, false, nil
	}
	switch words = words[1:]; {
	case len(words) > 0 && words[0] == "rollout": // ParseRolloutComment reads it
		return Parsed{}, false, nil
	case len(words) == 3 && words[0] == string(ApprovePrune) && digest.MatchString(words[1]) && commit.MatchString(words[2]):
		return Parsed{ApprovePrune, words[1], words[2]}, true, nil
	case len(words) == 2 && words[0] == string(Preview) && commit.MatchString(words[1]):
		return Parsed{Preview, "", words[1]}, true, nil
	}
	return Parsed{}, true, errors.New("it is none of the commands " + usagePrune + ", " + usagePreview + ", with the whole name of the commit, and " + usageRollout)
}

// String is the command as a comment gives it.
func (c Parsed) String() string {
	return strings.Join(strings.Fields("/waybill "+string(c.Verb)+" "+c.Digest+" "+c.Head), " ")
}

// Request is a command, and who gave it where.
type Request struct {
	Parsed

	Comment forge.Comment
	Pull    forge.PullRequest
	// May is what the author of the comment may do now.
	May forge.Permission
}

// Rules say who may command.
type Rules struct {
	// NotAuthor refuses whoever opened the pull request.
	NotAuthor bool
}

// Judge says why a command does not count; empty if it does.
func (r Rules) Judge(a *Request) string {
	switch {
	case isEdited(&a.Comment) != "":
		return isEdited(&a.Comment)
	case !a.Pull.Open:
		return "the pull request is not open"
	case a.Pull.Head != a.Head:
		return fmt.Sprintf("it is about the head %.12s, and the head is %.12s by now; look at what that does", a.Head, a.Pull.Head)
	case r.NotAuthor && a.Comment.Author.ID == a.Pull.Author.ID:
		return "whoever made the change may not approve it; ask somebody else"
	}
	return mayNot(&a.Comment, a.May)
}

// JudgeComment says why nobody may command by a comment, whatever it says; empty if who made it may: it was not edited, no bot made
// it, and its author may write now.
func JudgeComment(c *forge.Comment, may forge.Permission) string {
	if why := isEdited(c); why != "" {
		return why
	}
	return mayNot(c, may)
}

// isEdited says of a comment that it may not be what a person wrote.
func isEdited(c *forge.Comment) string {
	switch {
	case c.Edited:
		return "the comment was edited, and may have been another one; make a new one"
	case c.Author.Bot || c.Mine:
		return "a bot made it"
	}
	return ""
}

// mayNot says that its author may not command; empty if he may.
func mayNot(c *forge.Comment, may forge.Permission) string {
	if may < forge.Write {
		return fmt.Sprintf("it takes the permission to write, and %s has %s", c.Author.Login, may)
	}
	return ""
}

// Command is a command that counted.
type Command struct {
	Parsed

	PullRequest int       `json:"pullRequest"`
	Comment     int64     `json:"comment"`
	By          string    `json:"by"`
	At          time.Time `json:"at"` // when it was taken
	// Removals are those of an approval.
	Removals guard.Removals `json:"removals,omitempty"`
	// Merged is the commit as which the forge merged the pull request, with this head; empty until it did.
	Merged string `json:"merged,omitempty"`
}

// valid reports a command as Take makes it, or as a version before did.
func (o *Command) valid() bool {
	switch {
	case o.Verb != ApprovePrune || older.MatchString(o.Digest):
		return true
	case o.Merged != "" && !commit.MatchString(o.Merged):
		return false
	}
	return digest.MatchString(o.Digest) && o.Removals.Digest() == o.Digest
}

// Waits reports an approval that counts when its pull request is merged.
func (o *Command) Waits() bool {
	return o.Verb == ApprovePrune && o.Merged == "" && digest.MatchString(o.Digest)
}

// Take makes a command of a request that counts.
func Take(a *Request, now time.Time) Command {
	return Command{Parsed: a.Parsed, PullRequest: a.Pull.Number, Comment: a.Comment.ID, By: a.Comment.Author.Login, At: now.UTC().Truncate(time.Second)}
}

// Counts reports whether a command counts at a time. One that is of the future was written by
// somebody else.
func (o *Command) Counts(now time.Time) bool {
	age := now.Sub(o.At)
	return age < Lasts && age > -time.Hour
}

// Approved lists the approvals that count at a time, for a source commit that contains some commits.
func Approved(all []Command, now time.Time, contains func(commit string) bool) (approved []guard.Approval) {
	for i := range all {
		o := &all[i]
		if o.Verb != ApprovePrune || !o.Counts(now) {
			continue
		}
		switch a := (guard.Approval{By: o.By, PullRequest: o.PullRequest, Comment: o.Comment, At: o.At}); {
		case older.MatchString(o.Digest):
			a.Digest = o.Digest
			approved = append(approved, a)
		case o.Merged != "" && contains(o.Merged):
			a.Removals = o.Removals
			approved = append(approved, a)
		}
	}
	return approved
}
