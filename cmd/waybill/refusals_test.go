package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAKeyIsReadWhereItIsPrivate: by its owner alone, a file, and outside of the source.
func TestAKeyIsReadWhereItIsPrivate(t *testing.T) {
	dir, source := t.TempDir(), t.TempDir()
	key := filepath.Join(dir, "key")
	for mode, want := range map[os.FileMode]string{0o600: "", 0o400: "", 0o640: "others than its owner", 0o604: "others than its owner"} {
		if err := os.WriteFile(key, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(key, mode); err != nil {
			t.Fatal(err)
		}
		text, err := readPrivate("key", key)
		if want == "" && (err != nil || string(text) != "secret") || want != "" && (err == nil || !strings.Contains(err.Error(), want) || text != nil) {
			t.Errorf("%o: %q, %v", mode, text, err)
		}
		if err := os.Remove(key); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := readPrivate("key", dir); err == nil {
		t.Error("a folder is read")
	}
	for _, file := range []string{filepath.Join(dir, "key"), filepath.Join(source, "key")} {
		if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := outside("key", filepath.Join(dir, "key"), source); err != nil {
		t.Errorf("a key elsewhere: %v", err)
	}
	if err := outside("key", filepath.Join(source, "key"), source); err == nil || !strings.Contains(err.Error(), "among the files of the source") {
		t.Errorf("a key in the source: %v", err)
	}
}

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
	} {
		if err := agent(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
