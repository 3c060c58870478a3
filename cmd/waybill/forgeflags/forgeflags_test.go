package forgeflags

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/sources/forge"
)

// parsed are the flags of a command line.
func parsed(t *testing.T, args ...string) (*Flags, *Evidence) {
	t.Helper()
	cmd := &cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error { return nil }, SilenceErrors: true, SilenceUsage: true}
	f := Add(cmd)
	e := AddEvidence(cmd, f)
	cmd.Flags().Bool("plain-http", false, "")
	cmd.SetArgs(args)
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	return f, e
}

// TestWhichForge: what a flag says counts before what the CI job says, and what neither says is asked for.
func TestWhichForge(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(" from-a-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const gitlab = "GITLAB_CI=true CI_SERVER_URL=https://gitlab.com CI_PROJECT_PATH=acme/fleet GITLAB_TOKEN=of-the-job"
	for name, tt := range map[string]struct {
		env, args string
		want      forge.Job
		says      string // of the error; empty: none
	}{
		"nothing":                 {"", "", forge.Job{}, "give --forge"},
		"a kind alone":            {"", "--forge gitea", forge.Job{}, "give --forge-url"},
		"no repository":           {"", "--forge gitea --forge-url https://git.example", forge.Job{}, "give --forge-repository"},
		"no token":                {"", "--forge gitea --forge-url https://git.example --forge-repository acme/fleet", forge.Job{}, "there is no token for https://git.example"},
		"an unknown kind":         {gitlab, "--forge svn", forge.Job{}, "no forge that is known"},
		"a job":                   {gitlab, "", forge.Job{Kind: forge.GitLab, URL: "https://gitlab.com", Repository: "acme/fleet", Token: "of-the-job"}, ""},
		"flags before a job":      {gitlab, "--forge forgejo --forge-url https://git.example --forge-repository other/fleet --token-file " + file, forge.Job{Kind: forge.Gitea, URL: "https://git.example", Repository: "other/fleet", Token: "from-a-file"}, ""},
		"nothing, and no file":    {"", "--token-file " + file + ".gone", forge.Job{}, "give --forge"},
		"a token of no file":      {gitlab, "--token-file " + file + ".gone", forge.Job{}, "reading --token-file"},
		"the token of Waybill":    {"WAYBILL_FORGE_TOKEN=own", "--forge github --forge-url https://github.com --forge-repository acme/fleet", forge.Job{Kind: forge.GitHub, URL: "https://github.com", Repository: "acme/fleet", Token: "own"}, ""},
		"an app needs no token":   {"", "--forge github --forge-url https://github.com --forge-repository acme/fleet --github-app-id 1 --github-app-key-file gone", forge.Job{Kind: forge.GitHub, URL: "https://github.com", Repository: "acme/fleet"}, ""},
		"an event of another job": {"GITHUB_ACTIONS=true GITHUB_EVENT_PATH=gone", "--forge gitea", forge.Job{}, "reading the event"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, known := range []string{"GITLAB_CI", "GITHUB_ACTIONS", "GITEA_ACTIONS", "FORGEJO_ACTIONS", "WAYBILL_FORGE_TOKEN", "GITHUB_EVENT_PATH"} {
				t.Setenv(known, "")
			}
			for pair := range strings.FieldsSeq(tt.env) {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			f, _ := parsed(t, strings.Fields(tt.args)...)
			got, err := f.Job()
			if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) || err == nil && got != tt.want {
				t.Errorf("%+v, %v; want %+v, %q", got, err, tt.want, tt.says)
			}
			if _, opened := f.Opened(); (opened == nil) != (tt.says == "" && f.app == "") {
				t.Errorf("it is opened: %v", opened)
			}
		})
	}
}

// TestWhoseStatusesAreEvidence: nobody's, unless that is asked for; then those of the repository that is published to.
func TestWhoseStatusesAreEvidence(t *testing.T) {
	t.Setenv("WAYBILL_FORGE_TOKEN", "t")
	const at = "--forge gitea --forge-url https://git.example --forge-repository acme/fleet"
	for _, tt := range []struct {
		args   string
		listed bool
		says   string // of the error; empty: none
	}{
		{at, false, ""},
		{at + " --commit-status-evidence", true, ""},
		{"--commit-status-evidence", false, "give --forge"},
		{at + " --commit-status-evidence --forge-published-repository branches", false, `"branches"`},
		{at + " --commit-status-evidence --forge-published-repository acme/branches", true, ""},
	} {
		_, e := parsed(t, strings.Fields(tt.args)...)
		lister, err := e.Lister()
		if (lister != nil) != tt.listed || (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, %v; want %q", tt.args, lister, err, tt.says)
		}
	}
	f, _ := parsed(t, "--forge", "forgejo")
	wrong, _ := parsed(t, "--forge", "svn")
	if f.Known() != forge.Gitea || wrong.Known() != "" {
		t.Errorf("known are %q and %q", f.Known(), wrong.Known())
	}
}

// TestAnAppHasAnIDAndAKey holds that one of the two alone is refused where the command line is read.
func TestAnAppHasAnIDAndAKey(t *testing.T) {
	for _, args := range []string{"--github-app-id 1", "--github-app-key-file key"} {
		cmd := &cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error { return nil }, SilenceErrors: true, SilenceUsage: true}
		Add(cmd)
		cmd.SetArgs(strings.Fields(args))
		if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), "github-app-id github-app-key-file") {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestWhoOpens: whoever has a token opens as themselves, and not as the job; http to another host has to be meant.
func TestWhoOpens(t *testing.T) {
	t.Setenv("WAYBILL_FORGE_TOKEN", "of-the-job")
	for args, want := range map[string]string{
		"": "give --forge", "--forge gitea --forge-url https://git.example": "", "--forge gitea --forge-url http://git.example": "over http", "--forge gitea --forge-url http://git.example --plain-http": "",
	} {
		f, _ := parsed(t, append(strings.Fields(args), "--forge-repository", "acme/fleet")...)
		if _, err := f.OpenedBy("somebody's"); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
		if _, err := f.OpenedBy(""); err == nil {
			t.Errorf("%s: without a token it is opened", args)
		}
	}
}

// TestWhetherAnAppAsks: an app asks in place of whoever has the token, with the key that is named.
func TestWhetherAnAppAsks(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, data := range map[string][]byte{
		"key":   pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		"other": []byte("no key"), "token": []byte("of-a-file"),
	} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, token, args string
		want              string // of the error; empty: none
	}{
		{"an app", "", "--github-app-id 1 --github-app-key-file key", ""},
		{"an app beside a token of the environment", "of-the-job", "--github-app-id 1 --github-app-key-file key", ""},
		{"an app beside a token of a file", "", "--github-app-id 1 --github-app-key-file key --token-file token", ""},
		{"a key that is none", "of-the-job", "--github-app-id 1 --github-app-key-file other", "the private key of the GitHub App is none"},
		{"a key that is not there", "of-the-job", "--github-app-id 1 --github-app-key-file gone", "reading --github-app-key-file"},
		{"an app at another forge", "of-the-job", "--forge gitea --github-app-id 1 --github-app-key-file key", "only GitHub has apps"},
		{"a token", "of-the-job", "", ""},
	} {
		t.Setenv("WAYBILL_FORGE_TOKEN", tt.token)
		f, _ := parsed(t, append(strings.Fields("--forge github --forge-url https://github.com --forge-repository acme/fleet"), strings.Fields(tt.args)...)...)
		if _, err := f.Opened(); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
