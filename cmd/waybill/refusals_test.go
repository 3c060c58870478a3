package main

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
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

// TestABookBesideAgentsIsSigned: a book of endpoints among the branches counts as they do, without a signature where none is asked for,
// unless agents write to that repository.
func TestABookBesideAgentsIsSigned(t *testing.T) {
	key, _, err := signing.NewKey(rand.Reader, "hub")
	if err != nil {
		t.Fatal(err)
	}
	signers, err := signing.ParseSigners([]byte("hub " + key.Public().String() + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	signed := git.Head{Signed: []byte("a commit")}
	if signed.Signature, err = key.SignCommit(signed.Signed); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		shared  bool
		signers signing.Signers
		head    git.Head
		counts  bool
	}{
		{"agents write elsewhere", false, signing.Signers{}, git.Head{}, true},
		{"agents write elsewhere, and signatures are asked for", false, signers, git.Head{}, false},
		{"agents write there", true, signing.Signers{}, git.Head{}, false},
		{"agents write there, and nobody is a signer", true, signing.Signers{}, signed, false},
		{"agents write there, and signatures are asked for", true, signers, git.Head{}, false},
		{"agents write there, and it is signed", true, signers, signed, true},
	} {
		f := &agentFlags{shared: tt.shared}
		if err := f.signed(&published.Reader{Signers: tt.signers})(tt.head); (err == nil) != tt.counts {
			t.Errorf("%s: %v; it should count: %v", tt.name, err, tt.counts)
		}
	}
}
