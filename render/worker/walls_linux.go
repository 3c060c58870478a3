package worker

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// raise puts up the walls, tries them, and reports. It runs in the child.
func raise(s settings) report {
	runtime.LockOSThread() // what is set for a thread below holds when the next is
	defer runtime.UnlockOSThread()
	r := report{Namespaces: namespaces()}
	closeStrays()
	steps := []struct {
		name string
		want bool
		do   func() (string, error)
	}{
		{"empty environment", true, noEnvironment},
		{"resource limits", s.Layers.Limits, func() (string, error) { return limit(s) }},
		{landlockWall, s.Layers.Landlock, restrict},
		{"seccomp", s.Layers.Seccomp, filter},
		{"no new privileges", s.Layers.Landlock || s.Layers.Seccomp, noNewPrivileges},
	}
	for _, step := range steps {
		w := Wall{Name: step.name, Detail: "turned off"}
		if step.want {
			detail, err := step.do()
			w.Up, w.Detail = err == nil, detail
			if err != nil {
				w.Detail = err.Error()
			}
		}
		r.Walls = append(r.Walls, w)
	}
	r.Walls = append(r.Walls, try(os.Getppid())...)
	return r
}

// closeStrays closes files that the parent left open to its children, but not those
// of the Go runtime.
func closeStrays() {
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		return
	}
	for _, l := range links {
		fd, err := strconv.Atoi(filepath.Base(l))
		if err != nil || fd < 3 {
			continue
		}
		if to, err := os.Readlink(l); err == nil && !strings.HasPrefix(to, "anon_inode:[event") {
			_ = unix.Close(fd)
		}
	}
}

// noEnvironment checks that this process was started without an environment.
func noEnvironment() (string, error) {
	data, err := os.ReadFile("/proc/self/environ")
	if err == nil && len(data) > 0 {
		err = fmt.Errorf("it has %d bytes", len(data))
	}
	return "", err
}

// noNewPrivileges checks what Landlock and seccomp ask for.
func noNewPrivileges() (string, error) {
	set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	if err == nil && set != 1 {
		err = errors.New("not set")
	}
	return "", err
}

const (
	maxFiles     = 64
	slack        = 512 << 20      // bytes
	maxProcesses = 2 * maxThreads // what the kernel counts are threads
)

// limit sets resource limits. The limit of address space leaves, above what is taken
// and reserved already, the heap and some slack for threads, of which each can reserve
// tens of mebibytes where the program is linked with a C library. Processor time is not among
// them: it is limited for a job, not for a process, so the parent watches it.
func limit(s settings) (string, error) {
	space := addressSpace()
	if space == 0 {
		space = 1 << 30
	}
	space += s.Memory + slack
	limits := []struct {
		name     string
		resource int
		most     uint64
	}{
		{"RLIMIT_AS", unix.RLIMIT_AS, uint64(space)}, //nolint:gosec // it is not negative
		{"RLIMIT_NOFILE", unix.RLIMIT_NOFILE, maxFiles},
		{"RLIMIT_CORE", unix.RLIMIT_CORE, 0},
		{"RLIMIT_FSIZE", unix.RLIMIT_FSIZE, 0},
		{"RLIMIT_NPROC", unix.RLIMIT_NPROC, maxProcesses},
	}
	if !s.Own { // it would count all processes of the user
		limits = limits[:len(limits)-1]
	}
	for _, l := range limits {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return "", fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return fmt.Sprintf("%d MiB of address space, %d files", space>>20, maxFiles), nil
}

// restrict gives up all rights that the kernel's Landlock knows.
func restrict() (string, error) {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil || abi < 1 {
		return "", fmt.Errorf("the kernel has none: %w", cmp.Or(err, error(unix.ENOSYS)))
	}
	if err := landlock.V11.BestEffort().Restrict(); err != nil {
		return "", fmt.Errorf("restricting: %w", err)
	}
	if err := open("/", unix.O_RDONLY|unix.O_DIRECTORY)(); !denied(err) {
		return "", fmt.Errorf("it does not hold: opening / gives %w", cmp.Or(err, errors.New("no error")))
	}
	return fmt.Sprintf("ABI %d, no rights", abi), nil
}
