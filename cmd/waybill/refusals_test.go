package main

import (
	"strings"
	"testing"
)

// TestAnAgentWritesWhereNothingElseIs, unless that is said, and signs what it writes.
func TestAnAgentWritesWhereNothingElseIs(t *testing.T) {
	agent := func(args ...string) error {
		cmd := agentCommand()
		cmd.SetArgs(append([]string{"--cluster", "eu", "--repository", "https://git.example.com/a"}, args...))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		return cmd.ExecuteContext(t.Context())
	}
	for want, args := range map[string][]string{
		"is that of the branches":          {"--status-repository", "https://git.example.com/a", "--key", "k"},
		"has to be signed":                 {"--status-repository", "https://git.example.com/b"},
		"--heartbeat http needs":           {"--heartbeat", "http"},
		"needs a status repository behind": {"--heartbeat", "git", "--status-repository", "/a/path", "--key", "k"},
		"--services-only needs":            {"--services-only"},
		"sends no heartbeats":              {"--services-only", "--status-repository", "https://git.example.com/b", "--key", "k", "--controller", "https://c.example.com"},
	} {
		if err := agent(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
