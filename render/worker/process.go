package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// grace is how long a child that closed its output may take to end.
const grace = time.Second

// Why a child is killed while a job runs.
var (
	errTimeLimit = errors.New("wall time")
	errCPULimit  = errors.New("processor time")
)

// process is a child, seen from the parent.
type process struct {
	Options

	cmd   *exec.Cmd
	way   attribute
	in    *os.File // its standard input
	file  *os.File // its standard output
	out   *bufio.Reader
	err   tail
	done  chan struct{} // closed when it is gone
	walls []Wall
	jobs  int // it has done
	once  sync.Once

	mu   sync.Mutex
	over bool // it has ended, and its number may soon be another's
}

// do has the child do a job. After a death, and if it says so, the child is gone.
func (p *process) do(ctx context.Context, j Job) (res Result, alive bool) {
	l := newLookup(j.Files, p.MaxInput)
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limited, release := context.WithTimeoutCause(limited, p.Wall, errTimeLimit)
	defer release()
	stop := context.AfterFunc(limited, p.kill)
	clock := newClock(p.cmd.Process.Pid)
	limit, why := j.Budget.atMost(p.CPU)
	go clock.watch(limited, limit, func() { cancel(why) })
	p.jobs++
	output, err := p.exchange(j.Input, l)
	alive = stop()
	j.Budget.spend(clock.read(), len(output))
	res = Result{Output: output, Reads: l.reads, Err: err}
	if _, ok := errors.AsType[*JobError](err); err != nil && !ok {
		alive = false
		res.Err = p.death(ctx, context.Cause(limited), err)
	}
	if l.err != nil && alive {
		res.Output, res.Err = nil, fmt.Errorf("rendering %s: %w", j.Name, l.err)
	}
	return res, alive
}

// exchange sends a job and answers the child until it is done.
func (p *process) exchange(input []byte, l *lookup) ([]byte, error) {
	if err := writeFrame(p.in, kindJob, input); err != nil {
		return nil, err
	}
	most := map[kind]int64{kindAsk: maxPath, kindOutput: p.MaxOutput, kindError: maxSmall}
	for {
		k, data, err := readFrame(p.out, most)
		if err != nil {
			return nil, err
		}
		if k == kindOutput {
			return data, nil
		}
		if k == kindError {
			return nil, &JobError{Text: printable(data)}
		}
		if data, err = l.answer(string(data)); err != nil {
			return nil, err
		}
		if err := writeFrame(p.in, kindFound, data); err != nil {
			return nil, err
		}
	}
}

// printable returns a text of the child without what a terminal would take for orders.
func printable(text []byte) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return utf8.RuneError
		}
		return r
	}, string(text))
}

// death says why a child is no more, and makes sure of that.
func (p *process) death(ctx context.Context, cause, err error) error {
	killed := errors.Is(err, errProtocol)
	if !killed {
		wait := time.NewTimer(grace)
		select {
		case <-p.done:
		case <-wait.C:
			killed = true
		}
		wait.Stop()
	}
	p.end()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(cause, ErrBudget) {
		return cause
	}
	e := &DeathError{}
	switch {
	case errors.Is(cause, errTimeLimit):
		e.Reason, e.Detail = TimeLimit, fmt.Sprintf("it ran for more than %v", p.Wall)
	case errors.Is(cause, errCPULimit):
		e.Reason, e.Detail = CPULimit, fmt.Sprintf("it used more than %v of processor time", p.CPU)
	case errors.Is(err, errProtocol):
		e.Reason, e.Detail = Protocol, err.Error()
	case killed:
		e.Reason, e.Detail = Protocol, "it closed its output"
	case p.err.outOfMemory(), killedByKernel(p.cmd.ProcessState):
		e.Reason, e.Detail = OutOfMemory, fmt.Sprintf("it may use %d MiB", p.Memory>>20)
	default:
		e.Reason, e.Detail = Crashed, p.err.reduced()
		if e.Detail == "" {
			e.Detail = p.cmd.ProcessState.String()
		}
	}
	return e
}

// kill ends the child and all that it may have started.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		killGroup(p.cmd.Process)
	}
}

// end kills the child and waits until it is gone.
func (p *process) end() {
	p.once.Do(func() {
		p.kill()
		<-p.done
		p.in.Close()
		p.file.Close()
	})
}
