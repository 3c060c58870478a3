// Package terminal is how the commands speak to people beside their results: what is being done, in a
// line that is rewritten, and texts of others so that no character of theirs commands the terminal.
package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// Progress says what is being done: if it is verbose in a line for each step, on a terminal in one
// line that is rewritten, and otherwise not at all. It is where everything else goes that is written
// to standard error, so that nothing is written into that line.
type Progress struct {
	out    io.Writer
	lively bool // it may rewrite a line
	width  int

	// Verbose has it write a line for each step that is done, with how long it took. It is set before the first begins.
	Verbose bool

	mu    sync.Mutex
	steps []*step // begun and not done, the outermost first
	shown bool
	end   chan struct{} // closed to stop drawing; nil: nothing is drawn
}

// step is something that is being done.
type step struct {
	what    string
	begun   time.Time
	n, done int // of how many parts, and how many are done; 0 of 0: it has none
}

func (s *step) String() string {
	if s.n > 1 {
		return fmt.Sprintf("%s (%d of %d)", s.what, s.done, s.n)
	}
	return s.what
}

// NewProgress returns what shows progress on a writer.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{out: w, lively: IsTerminal(w) && os.Getenv("CI") == "" && !isPlain()}
	if f, ok := w.(*os.File); ok && p.lively {
		p.width, _, _ = term.GetSize(int(f.Fd()))
	}
	return p
}

// isPlain reports a user who minds colours and lines that move (https://no-color.org).
func isPlain() bool { return os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" }

// IsTerminal reports a writer to a terminal, be it by a Progress or by what Cleaned returns.
func IsTerminal(w io.Writer) bool {
	w = Uncleaned(w)
	if p, ok := w.(*Progress); ok {
		w = p.out
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// HasColours reports a terminal whose user does not mind colours.
func HasColours(w io.Writer) bool { return IsTerminal(w) && !isPlain() }

type progressKey struct{}

// With is a context of which Doing shows steps by p.
func With(ctx context.Context, p *Progress) context.Context {
	return context.WithValue(ctx, progressKey{}, p)
}

// Of is what shows the steps of a context; nil for nothing.
func Of(ctx context.Context) *Progress {
	p, _ := ctx.Value(progressKey{}).(*Progress)
	return p
}

// Doing begins a step of n parts, 0 for none, which is shown if the context has a Progress. Part is called when one of
// them is done, and end when all of it is.
func Doing(ctx context.Context, n int, format string, args ...any) (part, end func()) {
	p := Of(ctx)
	if p == nil {
		return func() {}, func() {}
	}
	s := &step{what: fmt.Sprintf(format, args...), begun: time.Now(), n: n}
	p.begin(s)
	return func() { p.part(s) }, func() { p.done(s) }
}

// Pushing shows the push of so many branches, until end is called.
func Pushing(ctx context.Context, branches int) (end func()) {
	noun := "branches"
	if branches == 1 {
		noun = "branch"
	}
	_, end = Doing(ctx, 0, "pushing %d %s", branches, noun)
	return end
}

func (p *Progress) begin(s *step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps = append(p.steps, s)
	if p.lively && p.end == nil {
		p.end = make(chan struct{})
		go p.draw(p.end)
	}
}

func (p *Progress) part(s *step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.done++
}

func (p *Progress) done(s *step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps = slices.DeleteFunc(p.steps, func(o *step) bool { return o == s })
	if p.Verbose {
		p.clear()
		fmt.Fprintf(p.out, "%s: %s\n", s.what, time.Since(s.begun).Round(time.Millisecond))
	}
	if len(p.steps) == 0 && p.end != nil {
		close(p.end)
		p.end = nil
		p.clear()
	}
}

// draw rewrites the line until it is told to stop. What is over at once is not shown.
func (p *Progress) draw(end <-chan struct{}) {
	const at, every = 300 * time.Millisecond, 100 * time.Millisecond
	turns := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	timer := time.NewTimer(at)
	defer timer.Stop()
	for turn := 0; ; turn++ {
		select {
		case <-end:
			return
		case <-timer.C:
			timer.Reset(every)
		}
		p.mu.Lock()
		if p.end == end { // else it is over
			p.line(turns[turn%len(turns)])
		}
		p.mu.Unlock()
	}
}

// line draws the steps, as far as the terminal is wide.
func (p *Progress) line(turn rune) {
	texts := make([]string, 0, len(p.steps))
	for _, s := range p.steps {
		texts = append(texts, s.String())
	}
	line := []rune(string(turn) + " " + strings.Join(texts, ", "))
	if p.width > 1 && len(line) >= p.width {
		line = append(line[:p.width-2], '…')
	}
	fmt.Fprint(p.out, "\r\x1b[K"+string(line))
	p.shown = true
}

// clear takes the line away.
func (p *Progress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	p.shown = false
}

// Write implements io.Writer.
func (p *Progress) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	return p.out.Write(data)
}
