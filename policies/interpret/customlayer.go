package interpret

import (
	"errors"
	"strings"
	"sync"

	"github.com/waybill-dev/waybill/policies/interpret/lua"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// script is a function that teaches one operation on one kind.
type script struct {
	by       string // who wrote it
	function string
	code     *lua.Script
	err      *lua.Error  // why there is no code
	refused  bool        // it does not compile
	budget   *lua.Budget // that its calls draw on; nil for none
}

// call calls the function for an answer that takes no more calls. An error says whose it
// is.
func (s *script) call(args ...any) ([]any, error) { return s.callFor(s.answer(), args...) }

// answer begins an answer; nil if nothing limits it but what a call may take.
func (s *script) answer() *lua.Answer {
	if s.budget == nil {
		return nil
	}
	return s.budget.Answer()
}

// callFor is call for an answer that may take more calls.
func (s *script) callFor(a *lua.Answer, args ...any) (results []any, err error) {
	switch {
	case s.err != nil:
		err = s.err
	case a != nil:
		results, err = a.Call(s.code, kube(), s.function, args...)
	default:
		results, err = s.code.Call(kube(), s.function, args...)
	}
	if err != nil {
		return nil, s.failed(err)
	}
	return results, nil
}

// failed says whose an error is. It may quote what the script returned, and so is brief.
func (s *script) failed(err error) error {
	if _, brief := errors.AsType[*lua.Error](err); !brief {
		err = errors.New(lua.Brief(err.Error()))
	}
	return &failure{by: s.by, function: s.function, err: err}
}

// failure is an error of a script.
type failure struct {
	by, function string
	err          error
}

func (f *failure) Error() string { return f.by + ": " + f.function + ": " + f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// lessons are the scripts that teach one kind, by operation. Only dependencies have
// more than one.
type lessons map[karmada.InterpreterOperation][]script

// scripted is a kind that scripts have rules for. They are compiled when the kind is first
// met: most of the kinds that are known do not occur.
type scripted struct {
	load  func() lessons
	once  sync.Once
	hooks layer
}

// layer is the layer of this one kind.
func (t *scripted) layer(k kind) layer {
	t.once.Do(func() { t.hooks = t.load().layer(k) })
	return t.hooks
}

// customization is what Answered says of a customization, before its name.
const customization = "customization "

// layer makes hooks of the scripts.
func (ls lessons) layer(k kind) layer {
	l := layer{by: map[karmada.InterpreterOperation]string{}}
	for operation, scripts := range ls {
		l.by[operation] = authors(scripts)
		s := &scripts[0]
		switch operation {
		case karmada.InterpreterOperationInterpretReplica:
			l.replicas = map[kind]replicasHook{k: s.replicas}
		case karmada.InterpreterOperationInterpretComponent:
			l.components = map[kind]componentsHook{k: s.components}
		case karmada.InterpreterOperationReviseReplica:
			l.revise = map[kind]reviseHook{k: s.revise}
		case karmada.InterpreterOperationInterpretDependency:
			l.dependencies = map[kind]dependenciesHook{k: united(scripts)}
		case karmada.InterpreterOperationInterpretHealth:
			l.health = map[kind]healthHook{k: s.health}
		case karmada.InterpreterOperationInterpretStatus:
			l.reflect = map[kind]reflectHook{k: s.reflect}
		case karmada.InterpreterOperationAggregateStatus:
			l.aggregate = map[kind]aggregateHook{k: s.aggregate}
		case karmada.InterpreterOperationRetain:
			l.retain = map[kind]retainHook{k: s.retain}
		default:
		}
	}
	return l
}

// authors names who wrote scripts.
func authors(scripts []script) string {
	names := make([]string, len(scripts))
	for i := range scripts {
		names[i] = scripts[i].by
	}
	return strings.Join(names, ", ")
}
