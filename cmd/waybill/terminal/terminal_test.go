package terminal

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestWhatCommandsATerminalIsShown: what others say may have characters that a terminal acts on; they are seen, and do nothing.
func TestWhatCommandsATerminalIsShown(t *testing.T) {
	for text, want := range map[string]string{
		"a line\n\twith a tab\n": "a line\n\twith a tab\n",
		"\x1b[31mred\x1b[0m":     `\x1b[31mred\x1b[0m`,
		"a\rb\x00\x7f":           `a\x0db\x00\x7f`,
		"\u009b31m, \u00a0ü":     `\x9b31m, ` + "\u00a0ü",
		"\xff\x1b":               "\xff" + `\x1b`,
		"\x9b31m, \xe9":          `\x9b31m, ` + "\xe9",
		"":                       "",
	} {
		var out bytes.Buffer
		if n, err := Cleaned(&out).Write([]byte(text)); out.String() != want || n != len(text) || err != nil {
			t.Errorf("%q is shown as %q, %d bytes, %v; want %q", text, out.String(), n, err, want)
		}
	}
	full := errors.New("the disk is full")
	if n, err := Cleaned(failing{full}).Write([]byte("\x1b")); n != 0 || !errors.Is(err, full) {
		t.Errorf("where nothing can be written it writes %d bytes, %v", n, err)
	}
	var out bytes.Buffer
	if Uncleaned(Cleaned(&out)) != &out || Uncleaned(&out) != &out || IsTerminal(&out) || IsTerminal(Cleaned(NewProgress(&out))) {
		t.Error("a buffer is a terminal, or another one")
	}
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestStepsThatAreDone are told, each in a line, where somebody asked for that, and otherwise not at all.
func TestStepsThatAreDone(t *testing.T) {
	for _, verbose := range []bool{false, true} {
		var out bytes.Buffer
		p := NewProgress(&out)
		p.Verbose = verbose
		ctx := With(t.Context(), p)
		_, outer := Doing(ctx, 0, "reading %s", "fleet")
		part, inner := Doing(ctx, 2, "charts")
		part()
		inner()
		Pushing(ctx, 1)()
		Pushing(ctx, 2)()
		outer()
		var got []string
		for line := range strings.Lines(out.String()) {
			what, took, _ := strings.Cut(line, ":")
			if !strings.HasSuffix(took, "s\n") {
				t.Errorf("it says %q", line)
			}
			got = append(got, what)
		}
		want := map[bool]string{true: "charts, pushing 1 branch, pushing 2 branches, reading fleet"}[verbose]
		if is := strings.Join(got, ", "); is != want {
			t.Errorf("verbose %t: told is %q, want %q", verbose, is, want)
		}
	}
	part, end := Doing(t.Context(), 1, "nothing that is shown")
	part()
	end()
}

// TestTheLineOfATerminal has all that is being done, as far as there is room, and goes before anything else is written.
func TestTheLineOfATerminal(t *testing.T) {
	var out bytes.Buffer
	p := &Progress{out: &out, width: 30}
	one, two := &step{what: "rendering", n: 3, done: 1}, &step{what: "reading", n: 1}
	p.steps = []*step{one, two}
	for _, tt := range []struct {
		width int
		want  string
	}{{40, "\r\x1b[K- rendering (1 of 3), reading"}, {31, "\r\x1b[K- rendering (1 of 3), reading"}, {29, "\r\x1b[K- rendering (1 of 3), readi…"}, {0, "\r\x1b[K- rendering (1 of 3), reading"}} {
		out.Reset()
		p.width = tt.width
		if p.line('-'); out.String() != tt.want {
			t.Errorf("%d wide it is %q, want %q", tt.width, out.String(), tt.want)
		}
	}
	out.Reset()
	for range 2 {
		if _, err := p.Write([]byte("a warning\n")); err != nil {
			t.Fatal(err)
		}
	}
	if want := "\r\x1b[Ka warning\na warning\n"; out.String() != want {
		t.Errorf("written is %q, want %q", out.String(), want)
	}
}

// TestALineIsDrawnWhileSomethingIsDone, and not of what is over at once; it goes when all is done.
func TestALineIsDrawnWhileSomethingIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := &Progress{out: &out, lively: true}
		ctx := With(t.Context(), p)
		_, quick := Doing(ctx, 0, "something short")
		time.Sleep(200 * time.Millisecond)
		quick()
		synctest.Wait()
		if out.Len() > 0 {
			t.Errorf("of what is over at once it shows %q", out.String())
		}
		_, outer := Doing(ctx, 0, "rendering")
		part, inner := Doing(ctx, 2, "charts")
		time.Sleep(250 * time.Millisecond)
		part()
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if want := "\r\x1b[K⠋ rendering, charts (1 of 2)"; out.String() != want {
			t.Errorf("it shows %q, want %q", out.String(), want)
		}
		out.Reset()
		inner()
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if want := "\r\x1b[K⠙ rendering"; out.String() != want {
			t.Errorf("of what is left it shows %q, want %q", out.String(), want)
		}
		out.Reset()
		outer()
		time.Sleep(time.Second)
		synctest.Wait()
		if want := "\r\x1b[K"; out.String() != want {
			t.Errorf("when all is done it shows %q, want %q", out.String(), want)
		}
	})
}
