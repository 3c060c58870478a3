package worker

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// Reason says why a child died.
type Reason string

// The reasons.
const (
	OutOfMemory Reason = "out of memory"
	TimeLimit   Reason = "time limit"
	CPULimit    Reason = "processor time limit"
	Crashed     Reason = "crashed"
	Protocol    Reason = "broke the protocol" // it sent what no honest child sends
)

// DeathError is that of a job which killed its worker, twice.
type DeathError struct {
	Name   string // of the job
	Reason Reason
	// Detail is the limit, or the kind of a crash and the functions that it was in. It
	// holds nothing of what was rendered.
	Detail string
}

func (e *DeathError) Error() string {
	text := "the worker died: " + string(e.Reason)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Name != "" {
		text = "rendering " + e.Name + ": " + text
	}
	return text
}

// tail keeps the beginning of what a child writes to its standard error. The death that is told is that of a second child, which did
// one job.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// maxStderr is how much of it, in bytes.
const maxStderr = 16 << 10

// Write implements io.Writer; what is too much it takes and forgets.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(p[:min(len(p), maxStderr-t.text.Len())])
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// outOfMemory reports that the Go runtime says it could get no memory.
func (t *tail) outOfMemory() bool {
	return starved.MatchString(t.String())
}

var (
	// starved is a line that the Go runtime writes when it gets no memory.
	starved = regexp.MustCompile(`(?m)^(?:fatal error: )?(?:runtime: )?(?:out of memory|cannot allocate memory|failed to reserve|failed to create new OS thread)` +
		`|^runtime/cgo: pthread_create failed`)
	// frame is a line of a stack that names a function: it is not indented, has a package
	// and ends in arguments.
	frame = regexp.MustCompile(`^([A-Za-z_][\w./-]*\.(?:\(\*?\w+(?:\[\.\.\.\])?\)\.)?\w+(?:\[\.\.\.\])?(?:\.[\w.]+)?)\([^()]*\)$`)
)

// maxFrames is how many functions of a stack are told.
const maxFrames = 5

// reduced returns the kind of the crash that standard error tells of, and the
// functions on the stack. The text of a panic is left out: it may hold anything.
func (t *tail) reduced() string {
	var what string
	var functions []string
	stack := false
	for line := range strings.Lines(t.String()) {
		line = strings.TrimRight(line, "\n")
		switch m := frame.FindStringSubmatch(line); {
		case what == "":
			what = crashKind(line)
		case strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(line, "]:"):
			stack = true
		case stack && m != nil && len(functions) < maxFrames && !strings.HasPrefix(m[1], "runtime."):
			functions = append(functions, m[1])
		}
	}
	if len(functions) > 0 {
		what += " in " + strings.Join(functions, ", ")
	}
	return what
}

// crashKind says what a line of standard error that begins a crash tells of; "" if it
// does not.
func crashKind(line string) string {
	for _, k := range []string{
		"fatal error: stack overflow", "fatal error: concurrent map", "fatal error: all goroutines are asleep",
		"panic: runtime error: invalid memory address", "panic: runtime error: index out of range",
		"panic: runtime error: slice bounds out of range", "panic: runtime error: makeslice",
		"panic: runtime error: integer divide by zero", "panic: runtime error", "panic: interface conversion",
		"fatal error: thread exhaustion", "fatal error: worker", "fatal error", "panic", "SIGSEGV", "SIGBUS", "SIGSYS", "SIGABRT",
	} {
		if strings.HasPrefix(line, k) {
			return strings.TrimPrefix(k, "fatal error: ")
		}
	}
	return ""
}
