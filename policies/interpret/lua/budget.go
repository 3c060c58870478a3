package lua

import (
	"fmt"
	"sync/atomic"
)

// What the calls for one answer may take without drawing on a budget, and what each
// call but the first takes whatever it does, in steps.
const (
	freeSteps = 50_000
	callSteps = 2_000
)

// A Budget is what many answers may take together, beyond what each may take by itself.
// One that is spent fails no answer that is cheap. It is safe for concurrent use; whom
// it fails depends on who comes first.
type Budget struct {
	total int
	left  atomic.Int64
}

// NewBudget returns a budget of so many steps.
func NewBudget(steps int) *Budget {
	b := &Budget{total: steps}
	b.Renew()
	return b
}

// Renew puts back what was drawn.
func (b *Budget) Renew() { b.left.Store(int64(b.total)) }

// Spent returns how many steps were drawn.
func (b *Budget) Spent() int { return b.total - int(b.left.Load()) }

// Draw takes steps from the budget; false if there are fewer.
func (b *Budget) Draw(steps int) bool {
	if steps > int(b.left.Load()) {
		return false
	}
	b.left.Add(int64(-steps))
	return true
}

// Answer begins an answer.
func (b *Budget) Answer() *Answer { return &Answer{budget: b, free: freeSteps} }

// An Answer is what the calls may take that one answer needs: 50,000 steps, which are
// nobody else's, and beyond them what is left of a budget.
type Answer struct {
	budget *Budget
	free   int
	calls  int
}

// Call is Script.Call within the answer. The arguments of the first call cost nothing: to
// look at an object once costs as much as to decode it.
func (a *Answer) Call(s *Script, kube Kube, function string, args ...any) ([]any, error) {
	out, used, err := s.within(a.grant(), kube, function, args)
	a.take(used)
	return out, err
}

// Run is Script.Run within the answer.
func (a *Answer) Run(s *Script, kube Kube, name string, arg any) ([]any, error) {
	out, used, err := s.alone(a.grant(), kube, name, arg)
	a.take(used)
	return out, err
}

// grant is what the next call may take.
func (a *Answer) grant() grant {
	g := whole()
	if left := a.free + int(a.budget.left.Load()); left < g.steps {
		g.steps, g.over = left, fmt.Errorf("the scripts of all customizations have taken the %d steps that they may take together", a.budget.total)
	}
	if a.calls > 0 {
		g.entry = callSteps
	}
	a.calls++
	return g
}

// take draws what is not free.
func (a *Answer) take(steps int) {
	free := min(a.free, steps)
	a.free -= free
	a.budget.left.Add(int64(free - steps))
}
