package git

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestErrorsOfTheDiskSayWhatToDo(t *testing.T) {
	for cause, want := range map[error]string{
		syscall.ENOSPC: "make room", syscall.EDQUOT: "make room", syscall.EFBIG: "make room",
		syscall.EROFS: "may write", syscall.EACCES: "may write", syscall.EPERM: "may write",
		syscall.EIO: "input/output error",
	} {
		err := advise(fmt.Errorf("writing: %w", &os.PathError{Op: "write", Path: "/x", Err: cause}))
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "/x") {
			t.Errorf("%v: %v, want %q", cause, err, want)
		}
	}
	if advise(nil) != nil {
		t.Error("no error became one")
	}
}

func TestPrintable(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"line breaks and tabs become spaces", " a\r\n\tb ", "a b"},
		{"terminal sequences lose their escape", "\x1b[31mred\u009b1m", "[31mred 1m"},
		{"text that changes direction is straightened", "a\u202eb", "a b"},
		{"text that is told apart from what is around it is not", "a\u2066b\u2069c\u202ad", "a b c d"},
		{"the last control character goes, and the letter after them stays", "a\u009fb\u00a1", "a b\u00a1"},
		{"the first of these characters and the last", "a\u202ab\u2069\x7f\u0080c\u2029\u202f\u2065\u206a", "a b c \u2065\u206a"},
		{"text just short enough stays", strings.Repeat("é", 300), strings.Repeat("é", 300)},
		{"bytes that are no text are marked", "a\xffb", "a?b"},
		{"secrets are covered", "token=hunter2&x=hunter2", "token=***&x=***"},
		{"long text is cut", strings.Repeat("é", 400), strings.Repeat("é", 300) + "..."},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := printable(test.text, "", "hunter2"); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestErrorTexts(t *testing.T) {
	race := &RaceError{Branch: "a", Got: noID}
	race.Want[0] = 0xab
	partial := &PartialError{Moved: []string{"b", "c", "d", "e"}, Err: race}
	for err, want := range map[error]string{
		race:    "branch a moved: expected ab00000000000000000000000000000000000000, found no such branch; read it again and plan again",
		partial: "4 branches moved (b, c, d and 1 more) and the others did not: " + race.Error(),
		&LimitError{What: "paths in a tree", Limit: 2, Got: 3}: "paths in a tree: 3, more than the limit of 2",
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
	if _, ok := errors.AsType[*RaceError](partial); !ok {
		t.Error("a PartialError hides its RaceError")
	}
}

// What was used of late is remembered, and what was not is forgotten in time.
func TestGenerations(t *testing.T) {
	var g generations[int, int]
	for i := range 3 * generationSize {
		g.put(i, -i)
		if v, ok := g.get(0); i < generationSize/2 && (!ok || v != 0) {
			t.Fatalf("0 is forgotten after %d", i)
		}
	}
	if _, ok := g.get(generationSize / 2); ok {
		t.Error("nothing is ever forgotten")
	}
	if v, ok := g.get(3*generationSize - 1); !ok || v != 1-3*generationSize {
		t.Error("the last is forgotten")
	}
	if len(g.young)+len(g.old) > 2*generationSize {
		t.Errorf("%d are remembered", len(g.young)+len(g.old))
	}
}
