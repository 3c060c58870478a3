//go:build e2e

package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// before is the commit of the release before the trailer Replaces.
const before = "7881003"

// theReleaseBefore builds waybill as it was released before, of the history of this clone.
func theReleaseBefore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	top, err := exec.CommandContext(t.Context(), "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(dir, "source.tar")
	for _, args := range [][]string{
		{"git", "-C", strings.TrimSpace(string(top)), "archive", "-o", archive, before}, // it needs a clone with its whole history
		{"tar", "-x", "-C", dir, "-f", archive},
		{"go", "build", "-C", dir, "-buildvcs=false", "-ldflags=-w", "-o", filepath.Join(dir, "waybill"), "./cmd/waybill"},
	} {
		if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	return filepath.Join(dir, "waybill")
}

// TestTheAgentOfTheReleaseBefore sets the branch of a cluster back under an agent of the release before. It goes on where what
// was lost is the parent of what is published next, and stays where that is only said: until it is upgraded.
func TestTheAgentOfTheReleaseBefore(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds another release")
	}
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	e := newEdge(t, p, startAPI(t, p, startEtcd(t, p, dir), filepath.Join(dir, "eu")))
	now := e.waybill
	e.waybill = theReleaseBefore(t)
	old := e.agent("--instance", "old")
	e.waybill = now
	const branch = "waybill/cluster/eu-1"
	head := func() string { return strings.TrimSpace(e.git(e.bare, "rev-parse", branch)) }
	value := func(v string, flags ...string) {
		e.namespace("follow", v, 3)
		e.publish(flags...)
	}
	refuses := func(lost string) {
		eventually(t, "it refuses what does not come after "+lost, func() (bool, string) {
			said := old.said()
			return strings.Contains(said, "does not come after "+lost[:12]), said
		})
		e.tells("it says so", "waybill/status/eu-1", "status.yaml", "does not come after "+lost[:12])
	}
	restored := []string{"--restored", "--status-repository", e.statuses}
	value("one")
	e.becomes("eu-1", "c0000", "one")
	first := head()
	value("two")
	e.becomes("eu-1", "c0000", "two")
	second := head()
	e.tells("it applied the second", "waybill/status/eu-1", "status.yaml", second)
	e.git(e.bare, "branch", "-f", branch, first)
	value("three")
	refuses(second)
	value("four", restored...)
	if parents := e.git(e.bare, "log", "-1", "--format=%P", branch); !strings.HasPrefix(parents, second) {
		t.Errorf("the parents are %s", parents)
	}
	e.becomes("eu-1", "c0000", "four")

	// what was applied is gone for good
	fourth := head()
	e.tells("it applied the fourth", "waybill/status/eu-1", "status.yaml", fourth)
	e.git(e.bare, "branch", "-f", branch, first)
	e.git(e.bare, "branch", "-f", "waybill/state", strings.TrimSpace(e.git(e.bare, "rev-list", "--max-parents=0", "waybill/state")))
	e.git(e.bare, "gc", "-q", "--prune=now")
	value("five")
	refuses(fourth)
	value("six", restored...)
	if said := e.git(e.bare, "log", "-1", "--format=%(trailers:key=Replaces,valueonly)", branch); strings.TrimSpace(said) != "eu-1 "+fourth {
		t.Errorf("it replaces %s", said)
	}
	said := len(old.said())
	eventually(t, "it looks again, and refuses", func() (bool, string) {
		now := old.said()[said:]
		return strings.Contains(now, "does not come after "+fourth[:12]), now
	})
	if o := e.get("eu-1", at("ConfigMap", "follow", "c0000")); text(o, "data", "value") != "four" {
		t.Errorf("it has %v", o["data"])
	}
	old.stop()
	upgraded := e.agent("--instance", "new")
	e.becomes("eu-1", "c0000", "six")
	upgraded.stop()
}
