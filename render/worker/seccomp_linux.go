package worker

import (
	"fmt"
	"os"
	"slices"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// filter lets, from here on and in all threads, only those system calls through that
// computing in memory and talking over open files takes. The others fail with EPERM,
// but for clone3, whose flags a filter cannot see: it fails with ENOSYS, upon which C
// libraries fall back to clone.
func filter() (string, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return "", fmt.Errorf("no filter for this architecture: %w", err)
	}
	known := func(name string) bool { _, ok := info.SyscallNames[name]; return ok }
	plain := slices.DeleteFunc(harmless(), func(name string) bool { return !known(name) })
	narrow := slices.DeleteFunc(narrowed(), func(c seccomp.NameWithConditions) bool { return !known(c.Name) })
	f := seccomp.Filter{
		NoNewPrivs: true,
		Flag:       seccomp.FilterFlagTSync,
		Policy: seccomp.Policy{
			DefaultAction: seccomp.ActionErrno,
			Syscalls: []seccomp.SyscallGroup{
				{Action: seccomp.ActionAllow, Names: plain},
				{Action: seccomp.ActionAllow, NamesWithCondtions: narrow},
				{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"}},
			},
		},
	}
	if err := seccomp.LoadFilter(f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d system calls let through, %d ways of others", len(plain), len(narrow)), nil
}

// harmless are the system calls that may be made with any arguments.
func harmless() []string {
	return []string{
		// Open files: the three pipes, and what the runtime waits with.
		"read", "write", "readv", "writev", "close", "fstat", "lseek",
		"epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd2",
		// Memory.
		"munmap", "madvise", "mremap", "mincore", "brk", "membarrier",
		// Threads, their clocks and signals.
		"futex", "set_robust_list", "rseq", "sched_yield", "sched_getaffinity", "restart_syscall",
		"nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday", "time",
		"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack",
		"getpid", "gettid", "getuid", "geteuid", "getgid", "getegid", "getcwd", "uname", "getrandom",
		"exit", "exit_group",
	}
}

// narrowed are the system calls that may be made with some arguments.
func narrowed() []seccomp.NameWithConditions {
	only := func(name string, c ...seccomp.Condition) seccomp.NameWithConditions {
		return seccomp.NameWithConditions{Name: name, Conditions: c}
	}
	is := func(argument uint32, value uint64) seccomp.Condition {
		return seccomp.Condition{Argument: argument, Operation: seccomp.Equal, Value: value}
	}
	const pid, flags, command, protection = 0, 0, 1, 2
	notExecutable := seccomp.Condition{Argument: protection, Operation: seccomp.BitsNotSet, Value: unix.PROT_EXEC}
	return []seccomp.NameWithConditions{
		only("mmap", notExecutable),
		only("mprotect", notExecutable),
		only("clone", seccomp.Condition{Argument: flags, Operation: seccomp.BitsSet, Value: unix.CLONE_THREAD}),
		only("tgkill", is(pid, uint64(os.Getpid()))), //nolint:gosec // it is not negative
		only("prctl", is(0, unix.PR_SET_VMA)),
		only("prctl", is(0, unix.PR_GET_NO_NEW_PRIVS)),
		only("fcntl", is(command, unix.F_GETFL)),
		only("fcntl", is(command, unix.F_GETFD)),
	}
}
