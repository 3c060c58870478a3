package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler"
)

// TestWhereAgentsWrite: in a repository of their own, in that of the branches, or nowhere, as the flags say; and in no two of them.
func TestWhereAgentsWrite(t *testing.T) {
	at := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", "--bare", filepath.Join(at, "statuses")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, tt := range []struct {
		name          string
		args          []string
		named, shared bool
		fails         bool
	}{
		{"nobody says where", nil, false, false, false},
		{"a repository is named", []string{"--status-repository", filepath.Join(at, "statuses")}, true, false, false},
		{"it is that of the branches", []string{"--shared-repository"}, false, true, false},
		{"both", []string{"--shared-repository", "--status-repository", at}, false, false, true},
	} {
		var r reconciler.Reconciler
		cmd := &cobra.Command{Use: "x", SilenceErrors: true, SilenceUsage: true}
		cmd.Flags().Bool("plain-http", false, "")
		f := addStatusFlags(cmd, "").addSharedFlag()
		cmd.RunE = func(*cobra.Command, []string) error { return f.into(&r) }
		cmd.SetArgs(tt.args)
		if err := cmd.ExecuteContext(t.Context()); (err != nil) != tt.fails || (r.Agents != nil) != tt.named || r.Shared != tt.shared {
			t.Errorf("%s: a repository: %t, that of the branches: %t; %v", tt.name, r.Agents != nil, r.Shared, err)
		}
	}
}
