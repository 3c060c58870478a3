package worker

import (
	"errors"
	"testing"
)

func TestSandboxed(t *testing.T) {
	filter := Wall{Name: "seccomp", Up: true}
	users, noUsers := Wall{Name: userNamespace, Up: true}, Wall{Name: userNamespace, Detail: "not a new one"}
	lock, noLock := Wall{Name: landlockWall, Up: true}, Wall{Name: landlockWall, Detail: "the kernel has none"}
	denied, worked := Wall{Name: tryPrefix + "TCP", Up: true}, Wall{Name: tryPrefix + "TCP", Detail: "it works"}
	tests := []struct {
		name  string
		walls []Wall
		want  bool
	}{
		{name: "no report is no sandbox"},
		{name: "both layers", walls: []Wall{users, lock, filter, denied}, want: true},
		{name: "namespaces alone", walls: []Wall{users, noLock, filter, denied}, want: true},
		{name: "Landlock alone", walls: []Wall{noUsers, lock, filter, denied}, want: true},
		{name: "neither, though the attempts fail", walls: []Wall{noUsers, noLock, filter, denied}},
		{name: "an attempt that succeeds", walls: []Wall{users, lock, filter, denied, worked}},
		{name: "nothing was tried", walls: []Wall{users, lock, filter}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Enough(tt.walls); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
	err := noSandbox([]Wall{users, noLock, filter, worked})
	want := "no sandbox for untrusted input: missing are Landlock (the kernel has none), try: TCP (it works)"
	if !errors.Is(err, ErrNoSandbox) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
