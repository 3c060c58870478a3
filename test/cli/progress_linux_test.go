package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// slowCharts is a source with a release whose repository thinks for a while, and the flags by
// which it may be asked.
func slowCharts(t *testing.T) (src string, flags []string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const long = time.Second // the line is drawn after 300 ms
		select {
		case <-r.Context().Done():
		case <-time.After(long):
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	src = t.TempDir()
	for name, text := range map[string]string{
		"cluster.yaml": "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Pull}\n",
		"release.yaml": `apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: flux-system}
spec: {url: "` + s.URL + `", interval: 1h}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: shop}
spec:
  interval: 1h
  chart: {spec: {chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts, namespace: flux-system}}}
`,
	} {
		if err := os.WriteFile(filepath.Join(src, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return src, []string{"--chart-host", s.URL, "--chart-private", "127.0.0.0/8"}
}

// terminal returns a terminal, and what is written to it until it is closed.
func terminal(t *testing.T) (tty *os.File, written func() string) {
	t.Helper()
	tty, master := openTerminal(t)
	all := make(chan string, 1)
	go func() {
		data, _ := io.ReadAll(master) // it ends with an error when nobody has the terminal
		all <- string(data)
	}()
	return tty, func() string {
		tty.Close()
		return <-all
	}
}

// openTerminal opens a terminal, and its other end.
func openTerminal(t *testing.T) (tty, master *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return tty, master
}

// TestProgress has a terminal show what is being fetched, in one line that is gone at the end, and
// nothing of it where somebody minds, or where it is no terminal.
func TestProgress(t *testing.T) {
	t.Parallel()
	src, flags := slowCharts(t)
	run := func(t *testing.T, stderr *os.File, variable string, more ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), binary, append(append([]string{"validate", src, "--for", "render"}, flags...), more...)...)
		cmd.Env = append(os.Environ(), "CI=", "NO_COLOR=", "TERM=xterm", "XDG_CACHE_HOME="+t.TempDir(), variable)
		cmd.Stderr = stderr
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("the status is %d: %v", cmd.ProcessState.ExitCode(), err)
		}
	}
	for _, tt := range []struct {
		variable string
		lively   bool
	}{{"A=b", true}, {"CI=true", false}, {"NO_COLOR=1", false}, {"TERM=dumb", false}} {
		t.Run(tt.variable, func(t *testing.T) {
			t.Parallel()
			tty, written := terminal(t)
			run(t, tty, tt.variable)
			shown := written()
			if tt.lively != strings.Contains(shown, "planning, looking for http://127.0.0.1") {
				t.Errorf("shown:\n%q", shown)
			}
			if tt.lively && !strings.HasSuffix(shown, "\r\x1b[K") || !tt.lively && strings.Contains(shown, "\x1b") {
				t.Errorf("the line stays:\n%q", shown)
			}
		})
	}
	for flag, want := range map[string]bool{"--offline": false, "-v": true} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			run(t, file, "A=b", flag)
			if said := read(t, file.Name()); strings.Contains(said, "looking for http://127.0.0.1") != want || strings.Contains(said, "\x1b") {
				t.Errorf("said:\n%q", said)
			}
		})
	}
}
