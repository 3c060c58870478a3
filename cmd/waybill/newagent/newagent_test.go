package newagent

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// TestWhatMakesNoAgent is refused before a key is made.
func TestWhatMakesNoAgent(t *testing.T) {
	const branches = "--agent --repository https://git.example/branches"
	for _, tt := range []struct {
		args string
		mode karmada.ClusterSyncMode
		want string // of the error; empty: none
	}{
		{"", karmada.Push, ""},
		{"--services-only", karmada.Pull, "--services-only says how the agent runs"},
		{"--status-repository https://git.example/status", karmada.Pull, "--status-repository says how the agent runs"},
		{branches, karmada.Push, "--sync-mode is Push"},
		{"--agent", karmada.Pull, "--repository is missing"},
		{branches, karmada.Pull, ""},
		{branches + " --services-only", karmada.Pull, "--services-only needs --status-repository"},
		{branches + " --status-repository https://git.example/branches", karmada.Pull, "name another one"},
		{branches + " --status-repository https://git.example/status --services-only", karmada.Pull, ""},
	} {
		flags := pflag.NewFlagSet("join", pflag.ContinueOnError)
		a := Flags(flags)
		if err := flags.Parse(strings.Fields(tt.args)); err != nil {
			t.Fatal(err)
		}
		if err := a.Check(tt.mode); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, %s: %v, want %q", tt.args, tt.mode, err, tt.want)
		}
	}
}
