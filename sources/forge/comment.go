package forge

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// MaxBody is how many bytes the body of a comment has at most: what GitHub takes, which is the
// least, without what Say adds.
const MaxBody = 65_000

// rounds is how often Say looks again after others, or a failure, were in its way.
const rounds = 4

// Say has a pull request show one comment of a name: it is made, or edited if it is there and
// says something else. What is ours is known by who made it and by a line that is not shown, so
// that nobody else's comment is taken for it. Forges cannot be told to make a comment only if
// there is none, so who makes one looks again: of several the oldest stays, and whoever sees
// the others deletes them. Two who say something at once leave one comment, too.
func Say(ctx context.Context, f Forge, number int, name, text string) (Comment, error) {
	body := marker(name) + "\n" + text
	if len(text) > MaxBody {
		return Comment{}, fmt.Errorf("a comment of %d bytes is longer than forges take; at most %d", len(text), MaxBody)
	}
	var failed error
	for range rounds {
		ours, err := said(ctx, f, number, name)
		if err != nil {
			return Comment{}, err
		}
		if len(ours) == 0 {
			_, failed = f.Comment(ctx, number, body)
			if e, refused := errors.AsType[*Error](failed); failed != nil && (!refused || !e.unsure()) {
				return Comment{}, failed
			}
			continue // and look whether it is the only one
		}
		if gone, err := settle(ctx, f, number, ours, body); err != nil {
			return Comment{}, err
		} else if !gone {
			ours[0].Body = body
			return ours[0], nil
		}
	}
	if failed == nil {
		failed = fmt.Errorf("commenting on pull request %d: whatever is said is gone a moment later; does somebody delete it?", number)
	}
	return Comment{}, failed
}

// settle leaves one of our comments, which says body. It reports whether that one is gone.
func settle(ctx context.Context, f Forge, number int, ours []Comment, body string) (gone bool, err error) {
	for _, c := range ours[1:] {
		if err := f.DeleteComment(ctx, number, c.ID); err != nil && !errors.Is(err, ErrNotFound) {
			return false, err
		}
	}
	if ours[0].Body == body {
		return false, nil
	}
	err = f.EditComment(ctx, number, ours[0].ID, body)
	if errors.Is(err, ErrNotFound) {
		return true, nil
	}
	return false, err
}

// said lists our comments of a name, the oldest first.
func said(ctx context.Context, f Forge, number int, name string) ([]Comment, error) {
	all, err := f.Comments(ctx, number)
	if err != nil {
		return nil, err
	}
	var ours []Comment
	for _, c := range all {
		c.Body = strings.ReplaceAll(c.Body, "\r\n", "\n")
		if first, _, _ := strings.Cut(c.Body, "\n"); c.Mine && first == marker(name) {
			ours = append(ours, c)
		}
	}
	return ours, nil
}

// marker is the line of a comment that says which it is. Markdown does not show it.
func marker(name string) string {
	return "<!-- waybill: " + strings.NewReplacer("--", "- -", ">", "").Replace(plain(name)) + " -->"
}
