package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/sources/git"
)

// tries is how often a command is written again that others came before.
const tries = 5

// Give writes a command about a roll-out to the branch of commands, and takes those off it that count no more. It returns the
// first 12 digits of the commit, whose author is author.
func Give(ctx context.Context, at published.Repository, c *RolloutCommand, author git.Author) (string, error) {
	for try := 0; ; try++ {
		heads, err := at.Heads(ctx)
		if err != nil {
			return "", err
		}
		head, err := Head(ctx, at, heads)
		if err != nil {
			return "", err
		}
		all, _ := DecodeRollouts(head.Tree)
		change := Change{Given: []RolloutCommand{*c}}
		change.Ended = slices.DeleteFunc(all, func(o RolloutCommand) bool { return o.Counts(c.At) })
		update, err := change.Update(head, c.At)
		if err != nil {
			return "", err
		}
		update.Author = authorOf(author)
		ids, err := at.Publish(ctx, []git.Update{update})
		if _, lost := errors.AsType[*git.RaceError](err); lost && try < tries {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("writing %s: %w", Branch, err)
		}
		return ids[0].String()[:12], nil
	}
}

// authorOf is somebody as the author of a commit.
func authorOf(a git.Author) git.Author {
	clean := func(r rune) rune {
		if strings.ContainsRune("<>\n\x00", r) {
			return -1
		}
		return r
	}
	return git.Author{Name: strings.Map(clean, cmp.Or(a.Name, a.Email)), Email: strings.Map(clean, a.Email)}
}
