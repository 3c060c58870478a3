// Package ancestry decides what becomes of a branch whose history was lost: it was deleted, set back, or restored from a
// backup, and those who apply it are at commits that its head does not come after.
//
// Whoever publishes continues the branch: Continue says of which of these commits the next one becomes a child, so that
// everybody goes on, and which it only names in a trailer. Whoever applies takes a head that does not come after what
// was applied if Replaces finds that trailer on the way. It does no I/O: a Graph answers.
package ancestry

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// Trailer is there on a commit that takes the place of one that was applied, or of one of the state that was gone by,
// and that it does not come after: it names the cluster, or the state branch, and that commit.
const Trailer = "Replaces"

// Line is that of Trailer.
func Line(of string, commit files.ID) string { return fmt.Sprintf("%s: %s %s", Trailer, of, commit) }

// Replaces reports a message which says that a commit is replaced, of a cluster or of the state branch.
func Replaces(message, of string, commit files.ID) bool {
	return slices.ContainsFunc(sources.Trailers(message, Trailer), func(value string) bool {
		f := strings.Fields(value)
		return len(f) == 2 && f[0] == of && f[1] == commit.String()
	})
}

// Named reads the commits that a text lists, as an annotation does. What is no id of a commit is passed over.
func Named(text string) (ids []files.ID) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		if id, err := files.ParseID(word); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// Branch is what whoever publishes knows of the history of a cluster's branch, or of that of the state.
type Branch struct {
	Of   string // cluster, or the name of the state branch
	Head files.ID
	// Was is where the branch was when it was read or written last; zero if that is not known.
	Was files.ID
	// Applied are commits that were applied, or gone by, as those say who did it.
	Applied []files.ID
	// Folder says that the branch has a folder a cluster. Nobody is at its head then, but at the commit that changed
	// a folder last.
	Folder bool
}

// Graph knows commits.
type Graph interface {
	// Follows reports whether a commit comes after another one, or is it, and whether one on the way says that it
	// replaces it.
	Follows(of string, head, commit files.ID) (bool, error)
	// AtHand reports whether a commit, and everything that lies between it and a head, can be had, and was written by
	// whoever publishes.
	AtHand(commit, head files.ID) (bool, error)
}

// Continuation is how a branch goes on after its history was lost.
type Continuation struct {
	// After become parents of the next commit; none comes after another one.
	After []files.ID
	// Replaces are named by it.
	Replaces []files.ID
	// When is the latest date of After: a commit is not older than its parents.
	When time.Time
}

// IsZero reports a branch that goes on as always.
func (c *Continuation) IsZero() bool { return len(c.After)+len(c.Replaces) == 0 }

// Continue decides how a branch goes on, so that whoever is at one of the commits that are known can.
func Continue(b Branch, g Graph) (c Continuation, err error) {
	for _, lost := range append([]files.ID{b.Was}, b.Applied...) {
		if lost.IsZero() {
			continue
		}
		follows, err := c.follows(b, g, lost)
		if err != nil {
			return c, err
		}
		if follows {
			continue
		}
		kept, err := g.AtHand(lost, b.Head)
		if err != nil {
			return c, err
		}
		switch {
		case kept:
			if err := c.take(b.Of, g, lost); err != nil {
				return c, err
			}
		case lost == b.Was && b.Folder:
		case !slices.Contains(c.Replaces, lost):
			c.Replaces = append(c.Replaces, lost)
		}
	}
	return c, nil
}

// follows reports whether whoever is at a commit can go on by what is decided already.
func (c *Continuation) follows(b Branch, g Graph, lost files.ID) (bool, error) {
	for _, head := range append([]files.ID{b.Head}, c.After...) {
		if head.IsZero() {
			continue
		}
		if follows, err := g.Follows(b.Of, head, lost); follows || err != nil {
			return follows, err
		}
	}
	return false, nil
}

// take makes a commit a parent, in the place of those that it comes after.
func (c *Continuation) take(of string, g Graph, commit files.ID) error {
	var others []files.ID
	for _, p := range c.After {
		before, err := g.Follows(of, commit, p)
		if err != nil {
			return err
		}
		if !before {
			others = append(others, p)
		}
	}
	c.After = append(others, commit)
	return nil
}

// Step is what is known of going from one head of the state branch to another one.
type Step struct {
	// Follows says that the new one comes after the other, or says itself that it replaces it.
	Follows bool
	// Back says that it comes before it.
	Back bool
	// Signed says that commits have to be signed: whoever may push could otherwise go to any that was ever signed.
	Signed bool
}

// Allowed reports whether it may be made. Where nothing is signed, whoever may push may say anything in a new commit, so
// that only what is plainly older is refused.
func (s Step) Allowed() bool {
	if s.Signed {
		return s.Follows
	}
	return !s.Back
}

// A RefusedError says that a head does not come after what was applied, or, of the state branch, what was gone by.
type RefusedError struct {
	State   bool
	Applied files.ID // or gone by
	Text    string
}

func (e *RefusedError) Error() string { return e.Text }
