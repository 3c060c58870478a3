package worker

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// startTime is how long a child may take to come up.
const startTime = 10 * time.Second

// launcher starts children. It learns which namespaces can be had.
type launcher struct {
	Options

	mu      sync.Mutex
	without int // how many of the ways to start are known not to work
}

// start starts a child and waits until its walls are up. It refuses those that are
// not enough.
func (l *launcher) start(ctx context.Context) (*process, error) {
	p, err := l.spawn()
	if err == nil {
		err = p.greet(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	if l.Trust != Trusted && !Enough(p.walls) {
		p.end()
		return nil, noSandbox(p.walls)
	}
	return p, nil
}

// spawn starts a process in the best way that works. One is started at a time, so that
// a way that is refused is tried once: each refusal costs two files, which
// package syscall leaves open when it cannot clone with mappings of users.
func (l *launcher) spawn() (*process, error) {
	if len(l.Command) == 0 {
		return nil, errors.New("no command")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ways := attributes(*l.layers)
	for n := l.without; ; n++ {
		p, err := spawn(l.Options, ways[n])
		if err == nil {
			l.without = n
			return p, nil
		}
		if n == len(ways)-1 || passing(err) {
			return nil, err
		}
	}
}

// spawn starts a process. A thread is set aside for it until it ends, because the
// kernel ends the child when the thread that started it does.
func spawn(o Options, way attribute) (*process, error) {
	p := &process{Options: o, way: way, done: make(chan struct{})}
	p.cmd = &exec.Cmd{
		Path: o.Command[0], Args: o.Command, Env: []string{}, Dir: "/",
		Stderr: &p.err, SysProcAttr: way.attr, WaitDelay: grace,
	}
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	out, stdout, err := os.Pipe()
	if err != nil {
		in.Close()
		return nil, err
	}
	defer stdout.Close()
	p.cmd.Stdin, p.cmd.Stdout = stdin, stdout
	p.in, p.file, p.out = in, out, bufio.NewReader(out)

	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			over := awaitExit(p.cmd.Process.Pid)
			p.mu.Lock()
			p.over = over
			p.mu.Unlock()
			_ = p.cmd.Wait() // the state says how it ended
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		in.Close()
		out.Close()
		return nil, err
	}
	return p, nil
}

// greet tells the child its settings and takes its report.
func (p *process) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	defer context.AfterFunc(ctx, p.kill)()
	data, err := json.Marshal(settings{
		Layers: *p.layers, Memory: p.Memory, MaxOutput: p.MaxOutput, Own: p.way.user,
	})
	if err != nil {
		return fmt.Errorf("writing settings: %w", err)
	}
	err = writeFrame(p.in, kindSettings, data)
	if err == nil {
		_, data, err = readFrame(p.out, map[kind]int64{kindReport: maxSmall})
	}
	var r report
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		p.end()
		if said := p.err.reduced(); said != "" {
			return fmt.Errorf("it does not answer: %w: %s", cmp.Or(ctx.Err(), err), said)
		}
		return fmt.Errorf("it does not answer: %w", cmp.Or(ctx.Err(), err))
	}
	p.walls = append(p.way.compare(r.Namespaces), r.Walls...)
	return nil
}
