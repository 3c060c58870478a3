package main

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

// progress says what is being done: on a terminal in one line that is rewritten, with -v in a
// line for each step, and otherwise not at all. It is where everything else goes that is written
// to standard error, so that nothing is written into that line.
type progress struct {
	out    io.Writer
	lively bool // it may rewrite a line
	say    bool // -v
	width  int

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

// newProgress returns what shows progress on a writer.
func newProgress(w io.Writer) *progress {
	p := &progress{out: w, lively: isTerminal(w) && os.Getenv("CI") == "" && !isPlain()}
	if f, ok := w.(*os.File); ok && p.lively {
		p.width, _, _ = term.GetSize(int(f.Fd()))
	}
	return p
}

// isPlain reports a user who minds colours and lines that move (https://no-color.org).
func isPlain() bool { return os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" }

func isTerminal(w io.Writer) bool {
	w = uncleaned(w)
	if p, ok := w.(*progress); ok {
		w = p.out
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// hasColours reports a terminal whose user does not mind colours.
func hasColours(w io.Writer) bool { return isTerminal(w) && !isPlain() }

type progressKey struct{}

// doing begins a step of n parts, 0 for none. Part is called when one of them is done, and end when
// all of it is.
func doing(ctx context.Context, n int, format string, args ...any) (part, end func()) {
	p, ok := ctx.Value(progressKey{}).(*progress)
	if !ok {
		return func() {}, func() {}
	}
	s := &step{what: fmt.Sprintf(format, args...), begun: time.Now(), n: n}
	p.begin(s)
	return func() { p.part(s) }, func() { p.done(s) }
}

func (p *progress) begin(s *step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps = append(p.steps, s)
	if p.lively && p.end == nil {
		p.end = make(chan struct{})
		go p.draw(p.end)
	}
}

func (p *progress) part(s *step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.done++
}

func (p *progress) done(s *step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps = slices.DeleteFunc(p.steps, func(o *step) bool { return o == s })
	if p.say {
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
func (p *progress) draw(end <-chan struct{}) {
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
func (p *progress) line(turn rune) {
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
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	p.shown = false
}

// Write implements io.Writer.
func (p *progress) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	return p.out.Write(data)
}
