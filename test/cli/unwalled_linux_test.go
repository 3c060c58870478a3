package cli

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// hasWalls reports a kernel with what a sandbox needs at least.
func hasWalls() bool {
	const version = 1 // LANDLOCK_CREATE_RULESET_VERSION
	abi, _, _ := syscall.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(nil)), 0, version)
	return int(abi) >= 1
}

// unwalled runs a command as on a kernel that has neither Landlock nor user namespaces.
func unwalled() {
	newUser := func(call string) seccomp.NameWithConditions {
		return seccomp.NameWithConditions{Name: call, Conditions: []seccomp.Condition{{Argument: 0, Operation: seccomp.BitsSet, Value: unix.CLONE_NEWUSER}}}
	}
	err := seccomp.LoadFilter(seccomp.Filter{
		NoNewPrivs: true,
		Flag:       seccomp.FilterFlagTSync,
		Policy: seccomp.Policy{
			DefaultAction: seccomp.ActionAllow,
			Syscalls: []seccomp.SyscallGroup{
				{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"landlock_create_ruleset", "clone3"}},
				{Action: seccomp.ActionErrno, NamesWithCondtions: []seccomp.NameWithConditions{newUser("clone"), newUser("unshare")}},
			},
		},
	})
	if err == nil {
		var program string
		if program, err = exec.LookPath(os.Args[1]); err == nil {
			err = syscall.Exec(program, os.Args[1:], os.Environ())
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(125)
}
