package forgetest

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/waybill-dev/waybill/sources/forge"
)

// mine lists the comments of whoever asks.
func mine(t *testing.T, w World) (ours []forge.Comment) {
	t.Helper()
	for _, c := range must[[]forge.Comment](t)(w.Forge.Comments(t.Context(), w.Number)) {
		if c.Mine {
			ours = append(ours, c)
		}
	}
	return ours
}

// one returns the one comment that there should be.
func one(t *testing.T, w World, text string) forge.Comment {
	t.Helper()
	ours := mine(t, w)
	if len(ours) != 1 {
		t.Fatalf("there are %d comments of ours: %+v", len(ours), ours)
	}
	if _, says, _ := strings.Cut(ours[0].Body, "\n"); says != text {
		t.Errorf("the comment says %.200q, want %.200q", says, text)
	}
	return ours[0]
}

// say is made once and then edited in place.
func say(t *testing.T, w World) {
	t.Helper()
	first := must[forge.Comment](t)(forge.Say(t.Context(), w.Forge, w.Number, "fleet", "one"))
	one(t, w, "one")
	long := strings.Repeat("| a `b` <c> \u2028 ünïcode\n", 2000)
	for _, text := range []string{"two", "two", long} {
		again := must[forge.Comment](t)(forge.Say(t.Context(), w.Forge, w.Number, "fleet", text))
		if now := one(t, w, text); again.ID != first.ID || now.ID != first.ID {
			t.Errorf("comment %d became %d and %d", first.ID, again.ID, now.ID)
		}
	}
	if _, err := forge.Say(t.Context(), w.Forge, w.Number, "fleet", strings.Repeat("x", forge.MaxBody+1)); err == nil {
		t.Errorf("what no forge takes was said")
	}
}

// sayAgain is made anew when somebody deleted it.
func sayAgain(t *testing.T, w World) {
	t.Helper()
	first := must[forge.Comment](t)(forge.Say(t.Context(), w.Forge, w.Number, "fleet", "one"))
	if err := w.Forge.DeleteComment(t.Context(), w.Number, first.ID); err != nil {
		t.Fatal(err)
	}
	if second := must[forge.Comment](t)(forge.Say(t.Context(), w.Forge, w.Number, "fleet", "two")); second.ID == first.ID {
		t.Errorf("a deleted comment was edited")
	}
	one(t, w, "two")
}

// sayAtOnce leaves one comment, whoever comes first.
func sayAtOnce(t *testing.T, w World) {
	t.Helper()
	const writers = 6
	var group errgroup.Group
	for i := range writers {
		group.Go(func() error {
			_, err := forge.Say(t.Context(), w.Forge, w.Number, "fleet", strconv.Itoa(i))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if ours := mine(t, w); len(ours) != 1 {
		t.Errorf("%d writers left %+v", writers, ours)
	}
	forge.Say(t.Context(), w.Forge, w.Number, "fleet", "last") //nolint:errcheck // one would see it
	one(t, w, "last")
}

// sayBesideOthers leaves alone what others say, even if it looks like ours.
func sayBesideOthers(t *testing.T, w World) {
	t.Helper()
	first := must[forge.Comment](t)(forge.Say(t.Context(), w.Forge, w.Number, "fleet", "one"))
	line, _, _ := strings.Cut(one(t, w, "one").Body, "\n")
	if err := w.Forge.DeleteComment(t.Context(), w.Number, first.ID); err != nil {
		t.Fatal(err)
	}
	forged := line + "\nno cluster changes"
	w.Say(t, w.Writer, forged)
	must[forge.Comment](t)(forge.Say(t.Context(), w.Forge, w.Number, "fleet", "two"))
	one(t, w, "two")
	all := must[[]forge.Comment](t)(w.Forge.Comments(t.Context(), w.Number))
	if !slices.ContainsFunc(all, func(c forge.Comment) bool { return c.Author.Login == w.Writer.Login && c.Body == forged }) {
		t.Errorf("the comment of somebody else is gone: %+v", all)
	}
	// Another source has a comment of its own.
	must[forge.Comment](t)(forge.Say(t.Context(), w.Forge, w.Number, "other --> fleet", "three"))
	if ours := mine(t, w); len(ours) != 2 {
		t.Errorf("two sources have %+v", ours)
	}
}

// sayTwice leaves one of two comments that came about at once.
func sayTwice(t *testing.T, w World) {
	t.Helper()
	first := must[forge.Comment](t)(forge.Say(t.Context(), w.Forge, w.Number, "fleet", "one"))
	must[forge.Comment](t)(w.Forge.Comment(t.Context(), w.Number, one(t, w, "one").Body))
	must[forge.Comment](t)(forge.Say(t.Context(), w.Forge, w.Number, "fleet", "two"))
	if left := one(t, w, "two"); left.ID != first.ID {
		t.Errorf("%d is left, and not the older %d", left.ID, first.ID)
	}
}
