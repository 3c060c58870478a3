package worker

import (
	"cmp"
	"errors"
	"io/fs"
	"time"
)

// Handler turns a job into an answer. It reads files from fsys only, which may be used
// by many goroutines, but not after Handler has returned. An error is a mistake in the
// input; its text, without control characters, is a *JobError for the caller of Do.
type Handler func(job []byte, fsys fs.FS) ([]byte, error)

// Level says how far what is rendered is trusted.
type Level int

// The levels of trust.
const (
	// Untrusted refuses to run without walls, and ends its children with each call of
	// Do, so that two callers' files never meet in one process.
	Untrusted Level = iota
	// Trusted runs with the walls that can be had, and keeps children for later calls.
	Trusted
)

// Options say how to run children. The zero value of every field but Command is
// usable.
type Options struct {
	// Command starts a child: the path of a program, mostly os.Executable, and
	// arguments upon which that program calls Main.
	Command []string
	Trust   Level
	// Memory is how many bytes of heap a child may use; 1 GiB if 0. The limit that the
	// kernel holds is half a gibibyte above.
	Memory int64
	CPU    time.Duration // processor time a job may use, on Linux; 20 s if 0
	Wall   time.Duration // how long a job may take; 20 s if 0
	// MaxInput is how many bytes a job's Input and, again, all its files may have;
	// 256 MiB if 0.
	MaxInput  int64
	MaxOutput int64 // bytes of a job's output; 256 MiB if 0
	Jobs      int   // children side by side; 1 if 0
	// Warn is called once if a child has been missing walls and ran all the same. It may
	// be nil.
	Warn func(missing []Wall)

	layers *layers // which walls to raise; nil is all of them. Tests take some away.
}

const (
	defaultMemory = 1 << 30
	defaultTime   = 20 * time.Second
	defaultBytes  = 256 << 20
)

// withDefaults fills in what is zero.
func (o Options) withDefaults() Options {
	o.Memory = cmp.Or(o.Memory, defaultMemory)
	o.CPU = cmp.Or(o.CPU, defaultTime)
	o.Wall = cmp.Or(o.Wall, defaultTime)
	o.MaxInput = min(cmp.Or(o.MaxInput, defaultBytes), maxFrame)
	o.MaxOutput = min(cmp.Or(o.MaxOutput, defaultBytes), maxFrame)
	o.Jobs = max(o.Jobs, 1)
	if o.layers == nil {
		o.layers = &layers{Namespaces: true, Landlock: true, Seccomp: true, Limits: true}
	}
	return o
}

// layers are the walls to raise.
type layers struct {
	Namespaces, Landlock, Seccomp, Limits bool
}

// Job is one thing to render.
type Job struct {
	Name  string // what messages call it
	Key   string // the digest of all that goes into it; "" is never quarantined
	Input []byte
	// Files is all that the handler can read; nil is no file at all. The time that it
	// takes to read them is the job's.
	Files fs.FS
	// Budget is what the job shares with others; nil: it has the limits of Options alone.
	Budget *Budget
}

// Result is what became of a job.
type Result struct {
	Output []byte
	// Reads are the paths that were asked for, each once, in the order of asking: with
	// the job's input, all that the output depends on.
	Reads []Read
	// Err is nil, a *JobError, a *DeathError, ErrQuarantined, ErrNoSandbox, ErrBudget, the error
	// of the context, or that of a file that could not be had.
	Err error
}

// Read is a path that a handler asked for.
type Read struct {
	Path string
	Kind Kind
}

// Kind is what was found at a path.
type Kind string

// The kinds of what is at a path. A folder stands for its listing.
const (
	Absent  Kind = "absent"
	File    Kind = "file"
	Folder  Kind = "folder"
	Refused Kind = "refused" // something else, such as a symbolic link out of the tree
)

// Errors of jobs that did not run.
var (
	// ErrQuarantined means that the input killed its worker three times and is not
	// tried again until it changes.
	ErrQuarantined = errors.New("quarantined: it has killed its worker 3 times, and is tried again when its input changes")
	// ErrNoSandbox means that untrusted input was refused for want of walls.
	ErrNoSandbox = errors.New("no sandbox for untrusted input")
)

// JobError is the error of a handler: a mistake in what is rendered.
type JobError struct {
	Text string // the handler's error
}

func (e *JobError) Error() string { return e.Text }
