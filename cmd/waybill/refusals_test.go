package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/agent"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// TestAnAgentWritesWhereNothingElseIs, unless that is said, and signs what it writes.
func TestAnAgentWritesWhereNothingElseIs(t *testing.T) {
	runs := func(args ...string) error {
		cmd := agentCommand()
		cmd.SetArgs(append([]string{"--cluster", "eu", "--repository", "https://git.example.com/a"}, args...))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		return cmd.ExecuteContext(t.Context())
	}
	for want, args := range map[string][]string{
		"is that of the branches":          {"--status-repository", "https://git.example.com/a", "--key", "k"},
		"has to be signed":                 {"--status-repository", "https://git.example.com/b"},
		"--heartbeat http needs":           {"--heartbeat", "http"},
		"to be signed":                     {"--heartbeat", "http", "--controller", "https://c.example.com", "--status-repository", "https://git.example.com/b"},
		"needs a status repository behind": {"--heartbeat", "git", "--status-repository", "/a/path", "--key", "k"},
		"--services-only needs":            {"--services-only"},
		"sends no heartbeats":              {"--services-only", "--status-repository", "https://git.example.com/b", "--key", "k", "--controller", "https://c.example.com"},
	} {
		if err := runs(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// TestHowAnAgentIsHeard: by the way that is said, else at a controller, else by the status repository where that is behind a URL; and it
// tells nothing where it has none.
func TestHowAnAgentIsHeard(t *testing.T) {
	_, private, err := signing.NewKey(rand.Reader, "eu")
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, private, 0o600); err != nil {
		t.Fatal(err)
	}
	branches, _ := workTree(t)
	statuses, _ := workTree(t)
	const url = "https://git.example.com/status"
	for _, tt := range []struct {
		name   string
		flags  agentFlags
		want   string // the type of what carries heartbeats
		tells  bool
		writes bool // books of endpoints
	}{
		{name: "no status repository", want: "<nil>"},
		{name: "one on this disk", flags: agentFlags{statuses: statuses}, want: "<nil>", tells: true},
		{name: "one behind a URL", flags: agentFlags{statuses: url}, want: "*agent.ByGit", tells: true, writes: true},
		{name: "a controller, too", flags: agentFlags{statuses: url, controller: "https://c.example.com"}, want: "*agent.ByHTTP", tells: true, writes: true},
		{name: "a controller, and Git is said", flags: agentFlags{statuses: url, controller: "https://c.example.com", heartbeat: byGit}, want: "*agent.ByGit", tells: true, writes: true},
		{name: "a controller, and HTTP is said", flags: agentFlags{statuses: statuses, controller: "https://c.example.com", heartbeat: byHTTP}, want: "*agent.ByHTTP", tells: true},
		{name: "a controller, and none is said", flags: agentFlags{statuses: url, controller: "https://c.example.com", heartbeat: byNo}, want: "<nil>", tells: true, writes: true},
		{name: "services only", flags: agentFlags{statuses: url, servicesOnly: true}, want: "<nil>", tells: true, writes: true},
		{name: "that of the branches", flags: agentFlags{shared: true}, want: "<nil>", tells: true},
	} {
		f, plain := tt.flags, false
		f.cmd, f.branches, f.key, f.plain = agentCommand(), branches, key, &plain
		f.cmd.SetContext(t.Context())
		f.auth = func() (git.Auth, error) { return git.Auth{}, nil }
		a := &agent.Agent{}
		if err := f.repositories(a); err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := fmt.Sprintf("%T", a.Heart); got != tt.want || (a.Status != nil) != tt.tells || (a.Key != nil) != tt.tells || (a.Books.Agents != nil) != tt.writes {
			t.Errorf("%s: it is heard by %s, want %s; it tells: %t, signs: %t, writes books: %t", tt.name, got, tt.want, a.Status != nil, a.Key != nil, a.Books.Agents != nil)
		}
	}
	f := agentFlags{cmd: agentCommand(), branches: branches, key: key, signers: key, plain: new(bool), auth: func() (git.Auth, error) { return git.Auth{}, nil }}
	f.cmd.SetContext(t.Context())
	if err := f.repositories(&agent.Agent{}); err == nil || !strings.Contains(err.Error(), "reading --allowed-signers") {
		t.Errorf("a file that names no signer: %v", err)
	}
	f.branches, f.signers, f.auth = "http://git.example.com/a", "", func() (git.Auth, error) { return git.Auth{Password: "p"}, nil }
	for _, *f.plain = range []bool{false, true} {
		if err := f.repositories(&agent.Agent{}); (err == nil) != *f.plain || !*f.plain && !errors.Is(err, git.ErrPlain) {
			t.Errorf("a password for the branches goes over http: %t, it is said that it may: %t; %v", err == nil, *f.plain, err)
		}
	}
	f.branches, f.auth = branches, func() (git.Auth, error) { return git.Auth{}, nil }
	f.statuses = "http://git.example.com/status"
	f.statusAuth = func() (git.Auth, error) { return git.Auth{Password: "p"}, nil }
	for _, *f.plain = range []bool{false, true} {
		if err := f.repositories(&agent.Agent{}); (err == nil) != *f.plain || !*f.plain && !errors.Is(err, git.ErrPlain) {
			t.Errorf("a password for the statuses goes over http: %t, it is said that it may: %t; %v", err == nil, *f.plain, err)
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
