package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHowCommandsEnd: one after the other in one repository, each with its exit status, what it says and what it leaves.
func TestHowCommandsEnd(t *testing.T) {
	source, git := workTree(t)
	file := func(name string) string { return filepath.Join(source, name) }
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(file(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	has := func(name, text string) bool {
		data, err := os.ReadFile(file(name))
		return err == nil && strings.Contains(string(data), text)
	}
	out, theirs := filepath.Join(t.TempDir(), "out"), t.TempDir()
	ofSomebody := filepath.Join(theirs, "eu", "of-somebody")
	if err := errors.Join(os.Mkdir(filepath.Dir(ofSomebody), 0o700), os.WriteFile(ofSomebody, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	const settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: shop}\ndata: {a: b}\n"
	tip := func(branch string) string { return git("rev-parse", branch) }
	commit := func() {
		git("add", "--all")
		git("commit", "--quiet", "--allow-empty", "--message=next")
	}
	var before string
	for _, step := range []struct {
		first func() // is done before
		args  string
		ends  int
		says  string
		holds func() bool // afterwards; nil: nothing is asked
	}{
		{args: "validate", ends: 0},
		{args: "diff", ends: 0},
		{args: "status", ends: 2, says: "nothing"},
		{args: "rollback", ends: 2},
		{args: "publish --dry-run", ends: 0, holds: func() bool { return git("branch", "--list", "waybill/*") == "" }},
		{args: "publish", ends: 0, says: "eu", holds: func() bool { return strings.Contains(git("ls-tree", "-r", "waybill/cluster/eu"), "settings") }},
		{args: "verify waybill/cluster/eu", ends: 0},
		{args: "verify waybill/cluster/ap", ends: 2},
		{args: "verify main", ends: 2},
		{args: "rollback", ends: 2, says: "no other source commit was published before"},
		{args: "get templates", ends: 0, says: "settings"},
		{args: "get templates none", ends: 1, says: "none"},
		{args: "get templates none --ignore-not-found", ends: 0},
		{args: "explain configmap/settings", ends: 0, says: "eu"},
		// the source goes on
		{first: func() { write("other.yaml", settings) }, args: "diff", ends: 1, says: "other"},
		{args: "diff --at 2026-11-28", ends: 1},
		{args: "diff HEAD main", ends: 0},
		{first: func() { write("broken.yaml", "kind: [\n") }, args: "diff", ends: 2, says: "it is not known what else would change"},
		{args: "validate", ends: 1, says: "broken.yaml"},
		{args: "render --out " + out, ends: 1, says: "nothing was written", holds: func() bool { _, err := os.Stat(out); return err != nil }},
		{args: "render --keep-going --out " + out, ends: 1, holds: func() bool { _, err := os.Stat(filepath.Join(out, "eu")); return err == nil }},
		{first: func() { _ = os.Remove(file("broken.yaml")) }, args: "render --out " + out, ends: 0},
		{args: "render --out " + theirs, ends: 2, says: "is in the way", holds: func() bool { _, err := os.Stat(ofSomebody); return err == nil }},
		{
			first: func() {
				_, _ = os.RemoveAll(filepath.Join(out, "us")), os.WriteFile(filepath.Join(out, "us"), nil, 0o600)
			}, args: "render --out " + out, ends: 2,
			holds: func() bool { _, err := os.Stat(filepath.Join(out, "eu")); return err == nil },
		},
		{first: func() { commit(); before = tip("waybill/cluster/eu") }, args: "publish", ends: 0, holds: func() bool { return tip("waybill/cluster/eu") != before }},
		{first: func() { before = tip("waybill/cluster/eu") }, args: "publish", ends: 0, holds: func() bool { return tip("waybill/cluster/eu") == before }},
		{args: "publish --rev HEAD~1", ends: 2, holds: func() bool { return tip("waybill/cluster/eu") == before }},
		{args: "rollback --dry-run", ends: 0, holds: func() bool { return tip("waybill/cluster/eu") == before }},
		{args: "rollback", ends: 0, holds: func() bool { return !strings.Contains(git("ls-tree", "-r", "waybill/cluster/eu"), "other") }},
		{first: func() { before = tip("waybill/cluster/eu") }, args: "publish --rollback", ends: 0, holds: func() bool { return strings.Contains(git("ls-tree", "-r", "waybill/cluster/eu"), "other") }},
		// files of clusters
		{args: "cluster suspend eu --reason repair --dry-run", ends: 0, holds: func() bool { return !has("fleet.yaml", "repair") }},
		{args: "cluster suspend eu --reason repair", ends: 0, holds: func() bool { return has("fleet.yaml", "repair") }},
		{args: "cluster suspend eu --reason repair", ends: 0, says: "is suspended so already"},
		{args: "cluster resume eu", ends: 0, holds: func() bool { return !has("fleet.yaml", "repair") }},
		{args: "cluster resume eu", ends: 0, says: "is not suspended"},
		{args: "cluster cordon eu", ends: 0, holds: func() bool { return has("fleet.yaml", "NoSchedule") }},
		{args: "cluster uncordon eu", ends: 0, holds: func() bool { return !has("fleet.yaml", "NoSchedule") }},
		{args: "cluster add ap --file ap.yaml --dry-run", ends: 0, holds: func() bool { return !has("ap.yaml", "ap") }},
		{args: "cluster add ap --file ap.yaml", ends: 0, holds: func() bool { return has("ap.yaml", "name: ap") }},
		{args: "cluster add ap --file ap2.yaml", ends: 2, holds: func() bool { return !has("ap2.yaml", "ap") }},
		{args: "cluster remove ap --dry-run", ends: 0, holds: func() bool { return has("ap.yaml", "name: ap") }},
		{args: "cluster remove ap", ends: 2, says: "nobody can be asked", holds: func() bool { return has("ap.yaml", "name: ap") }},
		{args: "cluster remove ap --yes", ends: 0, holds: func() bool { return !has("ap.yaml", "name: ap") }},
		{args: "cluster unjoin us", ends: 0, holds: func() bool { return !has("fleet.yaml", "name: us") && has("fleet.yaml", "name: eu") }},
		// what somebody did to a branch
		{first: func() {
			git("checkout", "--quiet", "--", ".")
			git("update-ref", "refs/heads/waybill/cluster/us", strings.TrimSpace(git("commit-tree", "main^{tree}", "-p", "waybill/cluster/us", "-m", "by hand")))
		}, args: "verify waybill/cluster/us", ends: 2},
	} {
		if step.first != nil {
			step.first()
		}
		var said, problems strings.Builder
		code := run(t.Context(), slices.Concat(strings.Fields(step.args), []string{"--source", source}), &said, &problems)
		if code != step.ends || !strings.Contains(said.String()+problems.String(), step.says) {
			t.Errorf("waybill %s ends with %d, want %d and %q: %s%s", step.args, code, step.ends, step.says, said.String(), problems.String())
		}
		if step.holds != nil && !step.holds() {
			t.Errorf("waybill %s does not leave what it should: %s%s", step.args, said.String(), problems.String())
		}
	}
}
