//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAgentIdle measures what an agent costs that has nothing to do but to look and to beat.
func TestAgentIdle(t *testing.T) {
	if testing.Short() {
		t.Skip("measures what an agent costs")
	}
	p := build(t)
	dir := t.TempDir()
	e := newEdge(t, p, startAPI(t, p, startEtcd(t, p, dir), filepath.Join(dir, "eu")))
	e.namespace("follow", "one", 100)
	e.publish()
	a := e.agent("--interval", "30s")
	e.becomes("eu-1", "c0099", "one")
	e.tells("it tells", "waybill/observed/eu-1", "observed/eu-1.yaml", "ClusterReady")
	time.Sleep(45 * time.Second) // until what the first round took is given back
	const span = 90 * time.Second
	before := cpuOf(t, a.Cmd)
	time.Sleep(span)
	used := cpuOf(t, a.Cmd) - before
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	const most = 40 << 10 // KiB
	for line := range strings.Lines(string(data)) {
		var kib int
		if n, err := fmt.Sscanf(line, "RssAnon: %d kB", &kib); err == nil && n == 1 && kib > most {
			t.Errorf("it holds %d KiB of its own; want at most %d", kib, most)
		}
		if strings.HasPrefix(line, "VmRSS") || strings.HasPrefix(line, "Rss") || strings.HasPrefix(line, "VmHWM") {
			t.Log(strings.TrimSpace(line))
		}
	}
	t.Logf("%s of processor time in %s: %.2f %% of a core", used, span, 100*used.Seconds()/span.Seconds())
	if used > span/100 {
		t.Error("that is more than a hundredth of a core")
	}
	a.stop()
}
