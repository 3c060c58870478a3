package lua

import (
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

// The ways in which a budget is spent.
var (
	errSteps  = fmt.Errorf("the script takes over %d steps", maxSteps)
	errMemory = fmt.Errorf("the script takes over %d MiB of memory", maxMemory>>20)
)

// A meter is the budget of one call. It is a context because that is what
// gopher-lua consults before each instruction.
type meter struct {
	grant
	memory  int                  // what is left
	origin  map[*glua.LTable]any // what tables were made of
	holes   map[*glua.LTable]int // places of tables that were, or may be, left by what was there
	state   *glua.LState
	shared  shared // variables of the script
	undated bool   // os.date without a time is nil
	caught  bool   // an error was raised, and caught
	why     error  // nothing is left
}

// begin starts the budget of a call.
func (m *meter) begin(s *Script, g grant) {
	*m = meter{
		grant: g, memory: maxMemory, state: m.state, shared: s.shared, undated: s.undated,
		origin: map[*glua.LTable]any{}, holes: map[*glua.LTable]int{},
	}
}

// A grant is what a call may take.
type grant struct {
	steps int   // what is left
	entry int   // steps that the call takes before it begins; 0: nor do its arguments
	over  error // what to say of steps that are not left
}

// whole is what a call may take at most.
func whole() grant { return grant{steps: maxSteps, over: errSteps} }

// spent is closed: nothing is left.
var spent = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Deadline makes a meter a context; it has none.
func (*meter) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value makes a meter a context; it carries nothing.
func (*meter) Value(any) any { return nil }

// Err returns why the budget is spent; nil if it is not.
func (m *meter) Err() error { return m.why }

// Done pays for one instruction, and for what the one before may have moved. A nil channel
// lets it happen.
func (m *meter) Done() <-chan struct{} {
	if m.steps -= 1 + moving(m.state.GetTop()); m.steps < 0 && m.why == nil {
		m.why = m.over
	}
	if m.why != nil {
		return spent
	}
	return nil
}

// take pays for steps and bytes, and returns what Err then does.
func (m *meter) take(steps, bytes int) error {
	if m.why != nil {
		return m.why
	}
	if steps > m.steps {
		m.why = m.over
		return m.why
	}
	if bytes > m.memory {
		m.why = errMemory
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
