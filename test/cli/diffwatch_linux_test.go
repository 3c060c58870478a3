package cli

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// screen is what was written so far. Whoever writes may write while it is read.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{} // has an item when there is more
}

func newScreen() *screen { return &screen{more: make(chan struct{}, 1)} }

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		select {
		case s.more <- struct{}{}:
		default:
		}
	}()
	return s.text.Write(p)
}

// erase is what empties a terminal.
const erase = "\x1b[H\x1b[2J"

// now is what is to be seen: what was written since the screen was emptied, and how often that was.
func (s *screen) now() (text string, erased int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := strings.Split(s.text.String(), erase)
	return all[len(all)-1], len(all) - 1
}

// until waits until something holds of what is to be seen.
func (s *screen) until(t *testing.T, what string, holds func(text string) bool) string {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	for {
		text, _ := s.now()
		if holds(text) {
			return text
		}
		select {
		case <-s.more:
		case <-deadline.C:
			t.Fatalf("never: %s; it shows\n%s", what, text)
		}
	}
}

// watching runs diff --watch of a source with a change, with both outputs where it is told, and returns the
// file that is edited, and what ends it.
func watching(t *testing.T, out *os.File, to io.Writer, variables ...string) (edit func(text string), end func()) {
	t.Helper()
	src := filepath.Join(t.TempDir(), "src")
	ends(t, 0, "init", src)
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "first"}} {
		git := exec.CommandContext(t.Context(), "git", append([]string{"-C", src}, args...)...)
		if said, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, said)
		}
	}
	cmd := exec.CommandContext(t.Context(), binary, "diff", "-C", src, "--watch")
	cmd.Env = append(append(os.Environ(), "CI=", "NO_COLOR=", "TERM=xterm"), variables...)
	cmd.Stdout, cmd.Stderr = to, to
	if out != nil {
		cmd.Stdout, cmd.Stderr = out, out
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	edit = func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(src, "edited.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return edit, func() {
		t.Helper()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("it was told to stop, and ended with %v", err)
		}
	}
}

const edited = "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: edited}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]}\n---\n" +
	"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %, namespace: shop}\n"

// TestDiffWatch edits a file: what it does is shown, what is wrong with it is shown, and neither
// is when that is no longer so. On a terminal each time the screen is emptied first.
func TestDiffWatch(t *testing.T) {
	t.Parallel()
	has := func(want, last string) func(string) bool { // last is what it ends with
		return func(text string) bool { return strings.Contains(text, want) && strings.Contains(text, last) }
	}
	story := func(t *testing.T, s *screen, edit func(string), fresh func()) {
		t.Helper()
		named := func(name string) string { return strings.ReplaceAll(edited, "%", name) }
		s.until(t, "nothing changes", has("no cluster changes", "\n"))
		fresh()
		edit(named("one"))
		s.until(t, "what was written changes", has("ConfigMap/shop/one", "Plan: "))
		fresh()
		edit(named("another"))
		if text := s.until(t, "what was edited changes", has("ConfigMap/shop/another", "Plan: ")); strings.Contains(text, "shop/one") {
			t.Errorf("what was there before is shown, too:\n%s", text)
		}
		fresh()
		edit("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: [\n")
		s.until(t, "what is wrong is said", has("edited.yaml:", "error: the source has errors (1)"))
		fresh()
		edit(named("mended"))
		if text := s.until(t, "what was mended changes", has("ConfigMap/shop/mended", "Plan: ")); strings.Contains(text, "error") {
			t.Errorf("what was wrong is shown still:\n%s", text)
		}
	}
	t.Run("on a terminal", func(t *testing.T) {
		t.Parallel()
		tty, master := openTerminal(t)
		s := newScreen()
		go func() { _, _ = io.Copy(s, master) }() // it ends with an error when nobody has the terminal
		edit, end := watching(t, tty, nil)
		story(t, s, edit, func() {})
		end()
		tty.Close()
		if _, erased := s.now(); erased < 5 {
			t.Errorf("the screen was emptied %d times", erased)
		}
	})
	for _, variable := range []string{"A=b", "NO_COLOR=1"} {
		t.Run("on no terminal, "+variable, func(t *testing.T) {
			t.Parallel()
			s := newScreen()
			edit, end := watching(t, nil, s, variable)
			story(t, s, edit, func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				if strings.Contains(s.text.String(), "\x1b") {
					t.Errorf("there are commands for a terminal in\n%q", s.text.String())
				}
				s.text.Reset()
			})
			end()
		})
	}
}
