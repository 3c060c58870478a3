package lua

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	glua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// A Script is compiled Lua. It is immutable and safe for concurrent use.
type Script struct {
	proto   *glua.FunctionProto
	defines map[string]bool
	shared  shared
	undated bool
}

// Undated returns the script with an os.date that answers nil where it is given no time, so that
// a field which would hold the time of the call is left out.
func (s *Script) Undated() *Script {
	u := *s
	u.undated = true
	return &u
}

// shared are the variables that functions of a script share with those around them: the most
// that one has, and those of all. Lua allows sixty.
type shared struct{ most, all int }

const maxShared = 60

// count counts the variables of a function and of those in it.
func (s *shared) count(p *glua.FunctionProto) {
	s.most, s.all = max(s.most, int(p.NumUpvalues)), s.all+int(p.NumUpvalues)
	for _, inner := range p.FunctionPrototypes {
		s.count(inner)
	}
}

// Error is what is wrong with a script, or what one raised.
type Error struct {
	Line    int // from 1; 0 if it is not known
	Message string
}

// Error returns the message, after the line if that is known.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Message)
}

// sourceName is what the positions in gopher-lua's messages begin with.
const sourceName = "script"

// MaxSource is the size of the largest script, in bytes: ten times that of the largest
// that Karmada has. The parser takes up to 1,300 bytes of memory for one of a script, so
// that no longer script may reach it.
const MaxSource = 64 << 10

// maxMessage is the size, in bytes, of the longest message kept of a script.
const maxMessage = 500

// Compile reads Lua 5.1. An error is an *Error.
func Compile(source string) (script *Script, err error) {
	if len(source) > MaxSource {
		return nil, &Error{Message: fmt.Sprintf("the script has %d bytes, more than %d", len(source), MaxSource)}
	}
	defer func() { // the parser panics on some of what is not Lua
		if r := recover(); r != nil {
			script, err = nil, &Error{Message: "the script is not Lua: " + Brief(fmt.Sprint(r))}
		}
	}()
	chunk, err := parse.Parse(strings.NewReader(source), sourceName)
	if err != nil {
		return nil, syntaxError(err)
	}
	w := rewriter{defines: map[string]bool{}}
	chunk = w.chunk(chunk)
	if w.err != nil {
		return nil, w.err
	}
	proto, err := glua.Compile(chunk, sourceName)
	if err != nil {
		return nil, syntaxError(err)
	}
	trim(proto)
	out := &Script{proto: proto, defines: w.defines}
	if out.shared.count(proto); out.shared.most > maxShared+len(intrinsics) {
		return nil, &Error{Message: fmt.Sprintf("a function shares over %d variables with those around it", maxShared)}
	}
	return out, nil
}

// trim lets go of the room that the compiler made for more, some 18 KB a function.
func trim(p *glua.FunctionProto) {
	p.Code, p.Constants, p.FunctionPrototypes = slices.Clone(p.Code), slices.Clone(p.Constants), slices.Clone(p.FunctionPrototypes)
	p.DbgSourcePositions, p.DbgCalls = slices.Clone(p.DbgSourcePositions), slices.Clone(p.DbgCalls)
	for _, inner := range p.FunctionPrototypes {
		trim(inner)
	}
}

// Defines reports whether the script assigns a global variable of this name, as
// "function name" does.
func (s *Script) Defines(name string) bool { return s.defines[name] }

// Call runs the script and then its function of a name, and returns what that
// returns. Arguments and results are decoded values, as the package says; results
// may share parts with the arguments, which are not modified. Where a result has
// lost what it was, such as the kind of an empty table, the argument at the same
// position of the result is looked at, and then the first. An error that the script
// raised is an *Error.
func (s *Script) Call(kube Kube, function string, args ...any) ([]any, error) {
	out, _, err := s.within(whole(), kube, function, args)
	return out, err
}

// Run runs the script itself, with an argument as a global variable, and returns what it returns.
// All that Call says of arguments, results and errors holds.
func (s *Script) Run(kube Kube, name string, arg any) ([]any, error) {
	out, _, err := s.alone(whole(), kube, name, arg)
	return out, err
}

// alone is Run with what it may take, and what it took.
func (s *Script) alone(g grant, kube Kube, name string, arg any) (out []any, used int, err error) {
	m := prepared(s, g, kube)
	defer func() { used = m.done(g, err) }()
	v := &values{l: m.l, meter: m.meter}
	given, err := v.in(arg)
	if err != nil {
		return nil, 0, fmt.Errorf("giving %s: %w", name, err)
	}
	m.globals.RawSetString(name, given)
	if err := m.run(s, glua.MultRet); err != nil {
		return nil, 0, err
	}
	out, err = v.results("the script", nil)
	return out, 0, err
}

// within is Call with what it may take, and what it took.
func (s *Script) within(g grant, kube Kube, function string, args []any) (out []any, used int, err error) {
	m := prepared(s, g, kube)
	defer func() { used = m.done(g, err) }()
	v := &values{l: m.l, meter: m.meter}
	params := make([]glua.LValue, len(args))
	for i, arg := range args {
		if params[i], err = v.in(arg); err != nil {
			return nil, 0, fmt.Errorf("giving argument %d to %s: %w", i+1, function, err)
		}
	}
	if g.entry > 0 {
		if err := m.meter.take(g.entry+v.weight, 0); err != nil {
			return nil, 0, &Error{Message: err.Error()}
		}
	}
	if err := m.run(s, 0); err != nil {
		return nil, 0, err
	}
	f, ok := m.globals.RawGetString(function).(*glua.LFunction)
	if !ok {
		return nil, 0, &Error{Message: "the script has no function " + function}
	}
	if err := call(m.l, f, glua.MultRet, params); err != nil {
		return nil, 0, err
	}
	out, err = v.results(function, args)
	return out, 0, err
}

// call calls f and turns what it raises into an *Error.
func call(l *glua.LState, f *glua.LFunction, results int, args []glua.LValue) error {
	err := l.CallByParam(glua.P{Fn: f, NRet: results, Protect: true}, args...)
	if err == nil {
		return nil
	}
	var raised *glua.ApiError
	if !errors.As(err, &raised) || raised.Object == nil {
		return &Error{Message: Brief(err.Error())}
	}
	switch o := raised.Object.(type) {
	case glua.LString, glua.LNumber:
		return placed(o.String())
	default:
		return &Error{Message: "the script raised a " + o.Type().String()}
	}
}

var (
	position   = regexp.MustCompile(`(?s)^` + sourceName + `:(\d+): *(.*)$`)
	unexpected = regexp.MustCompile(`(?s)^` + sourceName + ` line:(\d+)\(column:\d+\) (near '.*?'):\s+(.*)$`)
	atEnd      = regexp.MustCompile(`(?s)^` + sourceName + ` at EOF:\s+(.*)$`)
	compiling  = regexp.MustCompile(`(?s)^compile error near line\((\d+)\) ` + sourceName + `: (.*)$`)
)

// placed takes the line out of the message of an error that a script raised.
func placed(message string) *Error {
	if m := position.FindStringSubmatch(message); m != nil {
		return &Error{Line: number(m[1]), Message: Brief(m[2])}
	}
	return &Error{Message: Brief(message)}
}

// syntaxError takes the line out of the message of an error of the compiler.
func syntaxError(err error) *Error {
	text := err.Error()
	if m := unexpected.FindStringSubmatch(text); m != nil {
		return &Error{Line: number(m[1]), Message: Brief(m[3] + " " + m[2])}
	}
	if m := atEnd.FindStringSubmatch(text); m != nil {
		return &Error{Message: Brief(m[1] + " at the end of the script")}
	}
	if m := compiling.FindStringSubmatch(text); m != nil {
		return &Error{Line: number(m[1]), Message: Brief(m[2])}
	}
	return &Error{Message: Brief(text)}
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // or 0, which is "not known"
	return n
}

// Brief makes one line, of some 500 bytes at most, of a message that a script may have had
// a part in.
func Brief(message string) string {
	if len(message) > maxMessage {
		message = message[:maxMessage] + "..."
	}
	return strings.ToValidUTF8(strings.Join(strings.Fields(message), " "), "?")
}
