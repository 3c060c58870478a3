package worker

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// escapes are orders that reach for what is outside. Without an error they got there,
// and return what they found.
func escapes() map[string]func(order) (string, error) {
	return map[string]func(order) (string, error){
		"read": func(o order) (string, error) {
			data, err := os.ReadFile(o.Arg)
			return string(data), err
		},
		"list": func(o order) (string, error) {
			list, err := os.ReadDir(o.Arg)
			return fmt.Sprint(list), err
		},
		"write": func(o order) (string, error) { return o.Arg, os.WriteFile(o.Arg, []byte("hit"), 0o600) },
		"make":  func(o order) (string, error) { return o.Arg, os.Mkdir(o.Arg, 0o700) },
		"exec": func(o order) (string, error) {
			out, err := exec.Command("/bin/sh", "-c", o.Arg).Output()
			return string(out), err
		},
		"dial": dial,
		"listen": func(o order) (string, error) {
			l, err := net.Listen("tcp", o.Arg)
			if err != nil {
				return "", err
			}
			return l.Addr().String(), l.Close()
		},
		"send": func(o order) (string, error) {
			c, err := net.Dial("udp", o.Arg)
			if err != nil {
				return "", err
			}
			_, err = c.Write([]byte("hit"))
			return "sent", err
		},
		"parent environment": func(order) (string, error) {
			data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid()))
			return string(data), err
		},
		"signal": func(order) (string, error) { return "parent", unix.Kill(os.Getppid(), 0) },
		"trace": func(o order) (string, error) {
			return "seized", seize(o.N)
		},
		"forks": func(order) (string, error) {
			for range 3 {
				if err := exec.Command("/bin/sh", "-c", "sleep 100 &").Run(); err != nil {
					return "", err
				}
			}
			return "forked", nil
		},
		"everywhere": everywhere,
		"inherited": func(o order) (string, error) {
			b := make([]byte, 64)
			n, err := unix.Read(o.N, b)
			return string(b[:max(n, 0)]), err
		},
		"limits":    func(order) (string, error) { return "raised", unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) },
		"namespace": func(order) (string, error) { return "unshared", unix.Unshare(unix.CLONE_FS) },
		"executable memory": func(order) (string, error) {
			m, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE)
			if err == nil {
				err = unix.Munmap(m)
			}
			return "mapped", err
		},
	}
}

// dial connects to "network address" and reads what it is greeted with.
func dial(o order) (string, error) {
	network, address, ok := strings.Cut(o.Arg, " ")
	if !ok {
		return "", errors.New("no network")
	}
	c, err := net.DialTimeout(network, address, time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close() //nolint:errcheck // it was for this only
	b := make([]byte, 64)
	n, err := c.Read(b)
	return string(b[:n]), err
}

// seize traces a process, without stopping it, until this thread ends.
func seize(pid int) error {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// everywhere opens a folder on many threads at once, of which some were there before
// the walls.
func everywhere(o order) (string, error) {
	opened := make(chan error)
	var ready, all sync.WaitGroup
	ready.Add(o.N)
	for range o.N {
		all.Go(func() {
			runtime.LockOSThread()
			ready.Done()
			ready.Wait()
			f, err := os.Open(o.Arg)
			if err == nil {
				err = f.Close()
			}
			opened <- err
		})
	}
	var denied error
	free := 0
	for range o.N {
		if err := <-opened; err != nil {
			denied = err
		} else {
			free++
		}
	}
	if free > 0 {
		return fmt.Sprintf("on %d threads", free), nil
	}
	return "", denied
}
