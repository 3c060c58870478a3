package worker

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attribute is a way to start a child.
type attribute struct {
	attr *syscall.SysProcAttr
	user bool // in a user namespace of its own
}

// nobody is who the child is in its own user namespace: without powers there.
const nobody = 65534

// spaces are the namespaces of a child, but that of users.
const spaces = syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWNS

// attributes returns the ways to start a child, best first: with all namespaces; with
// those that root can have where user namespaces are turned off; with none.
func attributes(l layers) []attribute {
	plain := func() *syscall.SysProcAttr {
		return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	}
	ways := []attribute{{attr: plain()}}
	if !l.Namespaces {
		return ways
	}
	root, user := plain(), plain()
	root.Cloneflags = spaces
	user.Cloneflags = spaces | syscall.CLONE_NEWUSER
	user.UidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getuid(), Size: 1}}
	user.GidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getgid(), Size: 1}}
	return append([]attribute{{attr: user, user: true}, {attr: root}}, ways...)
}

// namespaceKinds are the namespaces, by the name that /proc gives them.
func namespaceKinds() map[string]string {
	return map[string]string{
		"user": userNamespace, "net": "network namespace", "ipc": "IPC namespace",
		"uts": "UTS namespace", "mnt": "mount namespace",
	}
}

// namespaces returns those of this process.
func namespaces() map[string]string {
	own := map[string]string{}
	for kind := range namespaceKinds() {
		if link, err := os.Readlink("/proc/self/ns/" + kind); err == nil {
			own[kind] = link
		}
	}
	return own
}

// compare says which namespaces of a child are not those of this process.
func (attribute) compare(theirs map[string]string) []Wall {
	var walls []Wall
	own := namespaces()
	for _, kind := range []string{"user", "net", "ipc", "uts", "mnt"} {
		w := Wall{Name: namespaceKinds()[kind], Detail: theirs[kind]}
		w.Up = own[kind] != "" && theirs[kind] != "" && own[kind] != theirs[kind]
		if !w.Up {
			w.Detail = "not a new one"
		}
		walls = append(walls, w)
	}
	return walls
}

// passing reports that a process could not be started for want of what may be there
// again the next time, and not because namespaces are not to be had.
func passing(err error) bool {
	return slices.ContainsFunc([]error{unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE},
		func(e error) bool { return errors.Is(err, e) })
}

// awaitExit waits until a child has ended and ends what is left of its group, while
// the child's own number is not yet given to another. It reports that it did.
func awaitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			break
		}
	}
	_ = unix.Kill(-pid, unix.SIGKILL)
	return true
}

// killGroup ends a process and its group.
func killGroup(p *os.Process) {
	_ = unix.Kill(-p.Pid, unix.SIGKILL)
	_ = p.Kill()
}

// processorTime is what a process has used; 0 if it is gone.
func processorTime(pid int) time.Duration {
	const scheduled = 2 // CPUCLOCK_SCHED: all threads, user and system
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil { //nolint:gosec // a process number is small
		return 0
	}
	return time.Duration(t.Nano())
}

// killedByKernel reports that a process got a SIGKILL, which is what the kernel does
// to one that takes too much memory, where we did not.
func killedByKernel(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// addressSpace is the address space that this process has, in bytes; 0 if unknown.
func addressSpace() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	var pages int64
	if err == nil {
		_, err = fmt.Sscan(string(data), &pages)
	}
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
