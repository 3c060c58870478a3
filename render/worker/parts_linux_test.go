package worker

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestWhichNamespacesAreNew: those that a child has, and this process does not. One of which it says nothing is none.
func TestWhichNamespacesAreNew(t *testing.T) {
	t.Parallel()
	own := namespaces()
	if kinds := slices.Sorted(maps.Keys(own)); !slices.Equal(kinds, []string{"ipc", "mnt", "net", "user", "uts"}) {
		t.Fatalf("this process has %v", own)
	}
	link, err := os.Readlink("/proc/self/ns/net")
	if err != nil || own["net"] != link {
		t.Errorf("its network namespace is %s, and %s is told; %v", link, own["net"], err)
	}
	const old = "not a new one"
	got := attribute{}.compare(map[string]string{"user": "user:[1]", "net": own["net"], "ipc": "ipc:[2]", "mnt": ""})
	if diff := cmp.Diff([]Wall{
		{Name: "user namespace", Up: true, Detail: "user:[1]"},
		{Name: "network namespace", Detail: old},
		{Name: "IPC namespace", Up: true, Detail: "ipc:[2]"},
		{Name: "UTS namespace", Detail: old},
		{Name: "mount namespace", Detail: old},
	}, got); diff != "" {
		t.Error(diff)
	}
}

// TestWhatMayBeThereTheNextTime is no reason to start children in another way.
func TestWhatMayBeThereTheNextTime(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		unix.EAGAIN: true, unix.ENOMEM: true, unix.EMFILE: true, unix.ENFILE: true, unix.EPERM: false, unix.EINVAL: false, io.EOF: false,
	} {
		if passing(fmt.Errorf("fork: %w", err)) != want || passing(errors.Join(io.EOF, err)) != want {
			t.Errorf("%v passes: %t", err, !want)
		}
	}
}
