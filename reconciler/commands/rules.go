package commands

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/git"
)

// RolloutRules say which commands about roll-outs count.
type RolloutRules struct {
	// Signed takes only what a commit says that one of the signers signed, and NotAuthor refuses an approval by an author of
	// what is approved.
	Signed, NotAuthor bool
	Bypass            string // as render has it
}

// StrictestRules are the rules of all of these versions of waybill.yaml: what one of them asks for is asked for.
func StrictestRules(all ...render.Rollout) RolloutRules {
	r := RolloutRules{Bypass: render.BypassAllowed}
	for i := range all {
		r.Signed = r.Signed || all[i].Commands.Signed
		r.NotAuthor = r.NotAuthor || all[i].Commands.NotAuthor
		if by := all[i].Bypass; by == render.BypassNever || by == render.BypassSigned && r.Bypass == render.BypassAllowed {
			r.Bypass = by
		}
	}
	return r
}

// Giver is what is known of who gave a command about a roll-out.
type Giver struct {
	// Signer is whose key signed the commit that has it; empty if nobody's did who counts, and Unsigned is why.
	Signer   string
	Unsigned error
	// IsAuthor reports that the forge says that it is who opened the pull request that goes out.
	IsAuthor bool
	// Authors returns those of the commits that go out.
	Authors func() ([]git.Author, error)
}

// errUnknown is why an approval does not count where no author may approve.
var errUnknown = errors.New("authors may not approve, and who gave it is not known; sign it, or comment on the pull request")

// Judge says why a command does not count; nil if it does.
func (r RolloutRules) Judge(c *rollouts.Command, by *Giver) error {
	bypasses := c.Verb == rollouts.Bypass
	switch {
	case bypasses && r.Bypass == render.BypassNever:
		return errors.New("spec.rollout.bypass of waybill.yaml is never")
	case by.Signer == "" && (r.Signed || c.Via == ViaTrailer || bypasses && r.Bypass == render.BypassSigned):
		return fmt.Errorf("it takes a signature by one of the signers, as of the commit that was published before: %w", by.Unsigned)
	case c.Verb == rollouts.Approve && r.NotAuthor:
		return notByAuthor(c, by)
	}
	return nil
}

// notByAuthor says why an approval is one by an author of what goes out, or may be; nil if it is not.
func notByAuthor(c *rollouts.Command, by *Giver) error {
	who := by.Signer
	if c.Via == ViaComment { // the signer is who took it
		who = c.By
	}
	switch {
	case by.IsAuthor:
		return errors.New("whoever opened the pull request may not approve it; ask somebody else")
	case who == "":
		return errUnknown
	}
	authors, err := by.Authors()
	if err != nil {
		return fmt.Errorf("authors may not approve, and who they are cannot be read: %w", err)
	}
	for _, a := range authors {
		if isSame(who, a) {
			return fmt.Errorf("%s wrote a commit of what is approved; ask somebody else", who)
		}
	}
	return nil
}

// isSame reports whether a name may be that of an author: his name, his address or the part before its @, as forges and
// files of signers write them. Where names are patterns, one has to fit.
func isSame(who string, a git.Author) bool {
	user, _, _ := strings.Cut(a.Email, "@")
	_, login, _ := strings.Cut(user, "+") // of 123+login@users.noreply.github.com
	of := []string{strings.ToLower(a.Name), strings.ToLower(a.Email), strings.ToLower(user), strings.ToLower(login)}
	for pattern := range strings.SplitSeq(strings.ToLower(who), ",") {
		pattern = strings.TrimSpace(pattern)
		if _, in, ok := strings.Cut(strings.TrimSuffix(pattern, ">"), "<"); ok { // of an OpenPGP key: NAME <ADDRESS>
			pattern = in
		}
		fits := func(name string) bool {
			ok, _ := path.Match(pattern, name) // what is no pattern matches nothing
			return name != "" && (name == pattern || ok)
		}
		if slices.ContainsFunc(of, fits) {
			return true
		}
	}
	return false
}
