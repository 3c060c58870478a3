package controlplane

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// Process is a server that runs.
type Process struct {
	*os.Process

	name, path string
	args, env  []string
	log        *os.File
	ended      chan struct{}
}

// Run starts a server, whose output goes to a file of dir.
func Run(dir, path string, env []string, args ...string) (*Process, error) {
	p := &Process{name: filepath.Base(path), path: path, args: args, env: env}
	var err error
	if p.log, err = os.Create(filepath.Join(dir, p.name+".log")); err != nil { //nolint:gosec // dir is the caller's
		return nil, err
	}
	return p, p.Restart()
}

// Restart starts a server again that has ended.
func (p *Process) Restart() error {
	cmd := exec.Command(p.path, p.args...) //nolint:gosec,noctx // it is a part of a cluster; Stop ends it
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), p.env...), p.log, p.log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	p.Process, p.ended = cmd.Process, ended
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	return nil
}

// Stop kills the server, and waits until it has ended.
func (p *Process) Stop() {
	_ = p.Kill()
	<-p.ended
}

// Ended reports that the server runs no more, though nobody stopped it.
func (p *Process) Ended() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Log returns the end of what the server has said.
func (p *Process) Log() string {
	const most = 4000
	data, err := os.ReadFile(p.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(data[max(0, len(data)-most):])
}

// Port returns a port that is free, and that this process was not given before. It is none of those
// that the system gives to connections, one of which might take it before it is listened on.
func Port() (string, error) {
	const first, after, tries = 10000, 32768, 1000
	for range tries {
		port := strconv.Itoa(first + rand.IntN(after-first)) //nolint:gosec // any will do
		l, err := net.Listen("tcp", "127.0.0.1:"+port)       //nolint:noctx // it is closed at once
		if err != nil {
			continue // it is taken
		}
		if err := l.Close(); err != nil {
			return "", err
		}
		if _, isGiven := ports.LoadOrStore(port, true); !isGiven {
			return port, nil
		}
	}
	return "", errors.New("no port is free from 10000 to 32767")
}

// ports are those that Port gave.
var ports sync.Map

// patience is how long a server may take to start on a busy machine.
const patience = 5 * time.Minute

// until waits until something holds, or a server on which it depends has ended.
func until(what string, on *Process, holds func() (bool, string)) error {
	const interval = 100 * time.Millisecond
	for deadline := time.Now().Add(patience); ; time.Sleep(interval) {
		ok, why := holds()
		if ok {
			return nil
		}
		if on.Ended() || time.Now().After(deadline) {
			return fmt.Errorf("never: %s: %s\n%s", what, why, on.Log())
		}
	}
}
