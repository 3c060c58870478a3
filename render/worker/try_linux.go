package worker

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// try attempts what must not work, in such a way that it does no harm where it does.
// parent is the process that started this one.
func try(parent int) []Wall {
	proc := fmt.Sprintf("/proc/%d/environ", parent)
	attempts := []struct {
		name string
		do   func() error
	}{
		{"reading a file", open("/", unix.O_RDONLY|unix.O_DIRECTORY)},
		{"writing a file", open(os.DevNull, unix.O_WRONLY)},
		{"reading its environment", open("/proc/self/environ", unix.O_RDONLY)},
		{"reading the parent's environment", open(proc, unix.O_RDONLY)},
		{"executing a program", execute},
		{"TCP", connect(unix.AF_INET, unix.SOCK_STREAM, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: 9})},
		{"UDP", connect(unix.AF_INET, unix.SOCK_DGRAM, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: 9})},
		{"a Unix socket", connect(unix.AF_UNIX, unix.SOCK_STREAM, &unix.SockaddrUnix{Name: "/nowhere/socket"})},
		{"signalling the parent", func() error { return unix.Kill(parent, 0) }},
		{"reading the parent's memory", func() error { return peek(parent) }},
		{"starting a process", fork},
		{"new namespaces", func() error { return unix.Unshare(0) }},
	}
	var walls []Wall
	for _, a := range attempts {
		err := a.do()
		w := Wall{Name: tryPrefix + a.name, Up: denied(err), Detail: "it works"}
		if err != nil {
			w.Detail = err.Error()
		}
		walls = append(walls, w)
	}
	return walls
}

// denied reports that an error is that of a wall, and not of something that merely was
// not there.
func denied(err error) bool {
	return slices.ContainsFunc([]error{unix.EPERM, unix.EACCES, unix.ENETUNREACH, unix.ENOSYS},
		func(e error) bool { return errors.Is(err, e) })
}

func open(path string, flags int) func() error {
	return func() error {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err
	}
}

func connect(domain, kind int, to unix.Sockaddr) func() error {
	return func() error {
		fd, err := unix.Socket(domain, kind|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd) //nolint:errcheck // it was for this only
		return unix.Connect(fd, to)
	}
}

// execute asks to execute this very program with arguments that are at no address, so
// that where it is allowed it fails late, with EFAULT.
func execute() error {
	path, err := unix.BytePtrFromString("/proc/self/exe")
	if err != nil {
		return err
	}
	const nowhere = 1
	_, _, errno := unix.Syscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)), nowhere, nowhere) //nolint:gosec // the pointer lives as long as the call
	return errno
}

// peek reads a byte of another process at an address where nothing is.
func peek(pid int) error {
	var b [1]byte
	local := []unix.Iovec{{Base: &b[0], Len: 1}}
	_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 1, Len: 1}}, 0)
	return err
}

// fork asks for a process with flags that do not go together, so that where it is
// allowed it fails with EINVAL.
func fork() error {
	_, _, errno := unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_SIGHAND|uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	return errno
}
