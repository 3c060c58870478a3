package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGetWatch follows a directory: a list, and then a line for what is new in it, until it is
// interrupted.
func TestGetWatch(t *testing.T) {
	t.Parallel()
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

// TestProblemsWatch has a mistake be published while somebody watches: it is printed, and so is that it is gone. It ends when it is
// interrupted, and prints nothing as long as nothing changes.
func TestProblemsWatch(t *testing.T) {
	t.Parallel()
	src, to := filepath.Join(t.TempDir(), "src"), filepath.Join(t.TempDir(), "bare.git")
	git := func(args ...string) {
		t.Helper()
		if said, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, said)
		}
	}
	publish := func(status int, message string) {
		t.Helper()
		git("-C", src, "add", "-A")
		git("-C", src, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", message)
		ends(t, status, "publish", src, "--to", to)
	}
	ends(t, 0, "init", src)
	git("init", "-q", "-b", "main", src)
	git("init", "-q", "--bare", to)
	publish(0, "first")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute) // after which what it did not print is missed
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "problems", "-C", src, "--to", to, "--watch", "-o", "wide")
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
	until := func(want string) {
		t.Helper()
		for lines.Scan() {
			seen = append(seen, lines.Text())
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("it ended before it printed %q:\n%s", want, strings.Join(seen, "\n"))
	}
	until("nothing is broken")
	mistake := filepath.Join(src, "broken.yaml")
	if err := os.WriteFile(mistake, []byte("apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: typo, namespace: shop}\nspec: {resourceSelectors: [{apiVersion: v1, kind: Secret}], placementt: {}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	publish(1, "a typo")
	until("1 problem: 1 source error")
	until("spec.placementt")
	if err := os.Remove(mistake); err != nil {
		t.Fatal(err)
	}
	publish(0, "without it")
	until("nothing is broken")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out)
	if err != nil || len(rest) > 0 {
		t.Errorf("then it printed %q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it was told to stop, and ended with %v", err)
	}
	if n := strings.Count(strings.Join(seen, "\n"), "nothing is broken"); n != 2 {
		t.Errorf("nothing is broken %d times in\n%s", n, strings.Join(seen, "\n"))
	}
}
