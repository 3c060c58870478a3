package lua

import (
	"errors"
	"fmt"
	"time"

	glua "github.com/yuin/gopher-lua"
)

// The limits of one call. Aggregating the status of a thousand clusters takes
// some 100,000 steps and 1 MB.
const (
	maxSteps  = 3_000_000 // instructions
	maxMemory = 64 << 20  // bytes, of tables and strings
)

// patience is how long a call may take that stays within its budget: five times
// Karmada's second, so that it is the budget that decides on a busy machine.
const patience = 5 * time.Second

// The ways in which a budget is spent.
var (
	errSteps  = fmt.Errorf("the script takes over %d steps", maxSteps)
	errMemory = fmt.Errorf("the script takes over %d MiB of memory", maxMemory>>20)
	errTime   = errors.New("the script takes too long")
)

// A meter is the budget of one call. It is a context because that is what
// gopher-lua consults before each instruction.
type meter struct {
	steps, memory int                  // what is left
	entry         int                  // steps that the call takes before it begins; 0: nor do its arguments
	over          error                // what to say of steps that are not left
	instructions  int                  // of the virtual machine, so far
	origin        map[*glua.LTable]any // what tables were made of
	late          <-chan time.Time
	spent         chan struct{} // closed when nothing is left
	why           error         // nothing is left
}

// newMeter starts the budget of a call, and the clock behind it; stop ends the clock.
func newMeter(patience time.Duration) (m *meter, stop func() bool) {
	clock := time.NewTimer(patience)
	return &meter{steps: maxSteps, memory: maxMemory, over: errSteps, origin: map[*glua.LTable]any{}, spent: make(chan struct{}), late: clock.C}, clock.Stop
}

// Deadline makes a meter a context; it has none.
func (*meter) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value makes a meter a context; it carries nothing.
func (*meter) Value(any) any { return nil }

// Err returns why the budget is spent; nil if it is not.
func (m *meter) Err() error { return m.why }

// Done pays for one instruction. A nil channel lets it happen.
func (m *meter) Done() <-chan struct{} {
	m.steps--
	m.instructions++
	switch {
	case m.why != nil:
	case m.steps < 0:
		m.end(m.over)
	case m.instructions%256 == 0:
		m.look()
	}
	if m.why != nil {
		return m.spent
	}
	return nil
}

// look ends the budget if the time is over.
func (m *meter) look() {
	select {
	case <-m.late:
		m.end(errTime)
	default:
	}
}

func (m *meter) end(why error) {
	m.why = why
	close(m.spent)
}

// take pays for steps and bytes, and returns what Err then does.
func (m *meter) take(steps, bytes int) error {
	if m.why != nil {
		return m.why
	}
	if steps > m.steps {
		m.end(m.over)
		return m.why
	}
	if bytes > m.memory {
		m.end(errMemory)
		return m.why
	}
	m.steps -= steps
	m.memory -= bytes
	return nil
}

// pay is take within a function that Lua calls: a spent budget ends the call.
func (m *meter) pay(l *glua.LState, steps, bytes int) {
	if err := m.take(steps, bytes); err != nil {
		l.RaiseError("%s", err.Error())
	}
}

// text pays for making a string of n bytes.
func (m *meter) text(l *glua.LState, n int) { m.pay(l, n/64, n) }
