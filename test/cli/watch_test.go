package cli

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGetWatch follows a directory: a list, and then a line for what is new in it, until it is
// interrupted.
func TestGetWatch(t *testing.T) {
	src := filepath.Join(t.TempDir(), "src")
	ends(t, 0, "init", src)
	cmd := exec.CommandContext(t.Context(), binary, "get", "cl", "-w", "-C", src)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var seen []string
	until := func(name string) {
		for lines.Scan() {
			seen = append(seen, strings.Fields(lines.Text())[0])
			if seen[len(seen)-1] == name {
				return
			}
		}
		t.Errorf("it ended before it printed %s", name)
	}
	until("us-1")
	cluster := "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: ap-1}\nspec: {syncMode: Pull}\n"
	if err := os.WriteFile(filepath.Join(src, "ap-1.yaml"), []byte(cluster), 0o600); err != nil {
		t.Fatal(err)
	}
	until("ap-1")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it was told to stop, and ended with %v", err)
	}
	if want, got := "NAME eu-1 us-1 ap-1", strings.Join(seen, " "); got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}
