// Package orders is what maintainers order by comments on pull requests: which comment is a
// command, whether it counts, and how an order is remembered. It is values; a Clerk of package
// reconciler asks the forge, and writes.
//
// An order is a commit of a branch of its own, from which the next plan reads it, so that there
// is no state but Git. What it approves is named by a digest that depends on every file of
// the clusters that are held: it approves that and nothing else, whatever is pushed later.
package orders

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/forge"
)

// Branch is the one that remembers orders.
const Branch = render.OrdersBranch

// Lasts is how long an order counts.
const Lasts = 7 * 24 * time.Hour

// Verb is what is ordered.
type Verb string

// The verbs.
const (
	// ApprovePrune allows the removals of a digest, as the trailer Waybill-Allow-Prune does.
	ApprovePrune Verb = "approve-prune"
	// Preview allows that a stranger's change is rendered.
	Preview Verb = "preview"
)

// Command is what a comment says.
type Command struct {
	Verb   Verb   `json:"verb"`
	Digest string `json:"digest,omitempty"` // of the removals
	Head   string `json:"head"`             // of the pull request, the whole name of the commit
}

var (
	digest = regexp.MustCompile(`^[0-9a-f]{16}$`)
	commit = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

// The commands, for people.
const (
	usagePrune   = "/waybill approve-prune DIGEST HEAD"
	usagePreview = "/waybill preview HEAD"
)

// Parse reads the command of a comment: its first line. It reports whether there is one; the
// error says what is wrong with it.
func Parse(body string) (c Command, is bool, err error) {
	line, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	words := strings.Fields(line)
	if len(words) == 0 || words[0] != "/waybill" {
		return Command{}, false, nil
	}
	switch words = words[1:]; {
	case len(words) == 3 && words[0] == string(ApprovePrune) && digest.MatchString(words[1]) && commit.MatchString(words[2]):
		return Command{ApprovePrune, words[1], words[2]}, true, nil
	case len(words) == 2 && words[0] == string(Preview) && commit.MatchString(words[1]):
		return Command{Preview, "", words[1]}, true, nil
	}
	return Command{}, true, errors.New("it is none of the commands " + usagePrune + " and " + usagePreview + ", with the whole name of the commit")
}

// String is the command as a comment gives it.
func (c Command) String() string {
	return strings.Join(strings.Fields("/waybill "+string(c.Verb)+" "+c.Digest+" "+c.Head), " ")
}

// Asked is a command, and who gave it where.
type Asked struct {
	Command

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

// Passed says why a command does not count before it is asked what its author may do; empty if
// it may count.
func (r Rules) Passed(a *Asked) string {
	switch {
	case a.Comment.Edited:
		return "the comment was edited, and may have been another one; make a new one"
	case a.Comment.Author.Bot || a.Comment.Mine:
		return "a bot made it"
	case !a.Pull.Open:
		return "the pull request is not open"
	case a.Pull.Head != a.Head:
		return fmt.Sprintf("it is about the head %.12s, and the head is %.12s by now; look at what that does", a.Head, a.Pull.Head)
	case r.NotAuthor && a.Comment.Author.ID == a.Pull.Author.ID:
		return "whoever made the change may not approve it; ask somebody else"
	}
	return ""
}

// Judge says why a command does not count; empty if it does.
func (r Rules) Judge(a *Asked) string {
	if why := r.Passed(a); why != "" {
		return why
	}
	if a.May < forge.Write {
		return fmt.Sprintf("it takes the permission to write, and %s has %s", a.Comment.Author.Login, a.May)
	}
	return ""
}

// Order is a command that counted.
type Order struct {
	Command

	PullRequest int       `json:"pullRequest"`
	Comment     int64     `json:"comment"`
	By          string    `json:"by"`
	At          time.Time `json:"at"` // when it was taken
}

// Take makes an order of a command that counts.
func Take(a *Asked, now time.Time) Order {
	return Order{Command: a.Command, PullRequest: a.Pull.Number, Comment: a.Comment.ID, By: a.Comment.Author.Login, At: now.UTC().Truncate(time.Second)}
}

// Counts reports whether an order counts at a time. One that is of the future was written by
// somebody else.
func (o *Order) Counts(now time.Time) bool {
	age := now.Sub(o.At)
	return age < Lasts && age > -time.Hour
}

// Approved lists the digests whose removals are allowed at a time.
func Approved(all []Order, now time.Time) (digests []string) {
	for i := range all {
		if o := &all[i]; o.Verb == ApprovePrune && o.Counts(now) {
			digests = append(digests, o.Digest)
		}
	}
	return digests
}
