package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/sources/git"
)

// TestCredentialsForWhatASourceNames: whoever may write to the source could name any repository, so that what is secret has to be meant for
// it. What the command line names gets what is meant for nothing in particular.
func TestCredentialsForWhatASourceNames(t *testing.T) {
	for _, tt := range []struct {
		name, at string
		auth     git.Auth
		refused  bool
	}{
		{"nothing secret", "https://git.example.com/fleet", git.Auth{KnownHosts: "known_hosts", PlainHTTP: true}, false},
		{"a user name", "https://git.example.com/fleet", git.Auth{Username: "waybill"}, true},
		{"a password", "https://git.example.com/fleet", git.Auth{Password: "p"}, true},
		{"an SSH key", "ssh://git@git.example.com/fleet", git.Auth{SSHKey: "key"}, true},
		{"an SSH key that is meant for something", "ssh://git@git.example.com/fleet", git.Auth{SSHKey: "key", For: "ssh://git.example.com"}, false},
		{"a password that is meant for another host", "https://git.example.com/fleet", git.Auth{Password: "p", For: "https://other.example.com"}, false},
		{"a path, to which nothing is sent", "/srv/fleet", git.Auth{Password: "p"}, false},
	} {
		auth, err := forConfigured(tt.auth, tt.at)
		if (err != nil) != tt.refused || err != nil && !strings.Contains(err.Error(), "--credentials-for "+git.Origin(tt.at)) {
			t.Errorf("%s: %v; refused it should be: %v", tt.name, err, tt.refused)
		}
		if auth != tt.auth {
			t.Errorf("%s: it became %+v", tt.name, auth)
		}
		named := forNamed(tt.auth, tt.at)
		if want := tt.auth.For; want == "" && named.For != git.Origin(tt.at) || want != "" && named.For != want {
			t.Errorf("%s: named by the command line they are for %q", tt.name, named.For)
		}
	}
}

// TestCredentialsOfACommandLine: a password is that of its file before that of the environment, and what credentials are for that of the
// flag; those of the source are others than those of the repository that is published to.
func TestCredentialsOfACommandLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(" of-the-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WAYBILL_PASSWORD", "of-the-environment")
	t.Setenv("WAYBILL_CREDENTIALS_FOR", "https://env.example")
	t.Setenv("WAYBILL_SOURCE_PASSWORD", "of-the-source")
	t.Setenv("WAYBILL_SOURCE_CREDENTIALS_FOR", "")
	source := git.Auth{Password: "of-the-source"}
	plain := source
	plain.PlainHTTP = true
	for _, tt := range []struct {
		args           []string
		source, target git.Auth
		fails          string
	}{
		{nil, source, git.Auth{For: "https://env.example", Password: "of-the-environment"}, ""},
		{
			[]string{"--username", "u", "--password-file", file, "--credentials-for", "https://flag.example", "--known-hosts", "k", "--plain-http"},
			plain,
			git.Auth{For: "https://flag.example", Username: "u", Password: "of-the-file", KnownHosts: "k", PlainHTTP: true},
			"",
		},
		{
			[]string{"--source-username", "s", "--source-ssh-key", "key", "--source-credentials-for", "ssh://s.example"},
			git.Auth{For: "ssh://s.example", Username: "s", Password: "of-the-source", SSHKey: "key"},
			git.Auth{For: "https://env.example", Password: "of-the-environment"},
			"",
		},
		{[]string{"--password-file", file + "-none"}, git.Auth{}, git.Auth{}, "reading --password-file"},
		{[]string{"--source-password-file", file + "-none"}, git.Auth{}, git.Auth{}, "reading --source-password-file"},
	} {
		cmd := &cobra.Command{Use: "x"}
		creds := credentialFlags(cmd)
		if err := cmd.ParseFlags(tt.args); err != nil {
			t.Fatal(err)
		}
		s, at, err := creds()
		if tt.fails != "" {
			if err == nil || !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("%v: %v", tt.args, err)
			}
			continue
		}
		if err != nil || s != tt.source || at != tt.target {
			t.Errorf("%v: for the source %+v, for what is published to %+v: %v", tt.args, s, at, err)
		}
	}
}

// TestCredentialsForARemote: a remote that nobody names on the command line gets what is meant for something, and nothing else, and where
// a push would go to another host is warned of.
func TestCredentialsForARemote(t *testing.T) {
	at, run := workTree(t)
	run("remote", "add", "origin", "https://git.example.com/fleet.git")
	run("remote", "add", "fork", "https://fork.example.com/fleet.git")
	run("config", "remote.fork.pushurl", "https://elsewhere.example.com/fleet.git")
	const password = "of-the-environment"
	for _, tt := range []struct {
		name, to, meant string
		find            finder
		want            destination
		warns           string
	}{
		{"nothing is said", "", "", repositories.destination, destination{auth: git.Auth{Password: password}}, ""},
		{"nothing is said, and it is a clone", "", "", home, destination{location: "https://git.example.com/fleet.git", remote: "origin", auth: git.Auth{KnownHosts: "k"}}, ""},
		{
			"nothing is said, and it is meant for that", "", "https://git.example.com", home,
			destination{location: "https://git.example.com/fleet.git", remote: "origin", auth: git.Auth{For: "https://git.example.com", Password: password, KnownHosts: "k"}},
			"",
		},
		{
			"the remote is named", "origin", "", repositories.destination,
			destination{location: "https://git.example.com/fleet.git", remote: "origin", typed: true, auth: git.Auth{For: "https://git.example.com", Password: password, KnownHosts: "k"}},
			"",
		},
		{
			"a remote whose push goes elsewhere", "fork", "", repositories.destination,
			destination{location: "https://fork.example.com/fleet.git", remote: "fork", typed: true, auth: git.Auth{For: "https://fork.example.com", Password: password, KnownHosts: "k"}},
			"elsewhere.example.com",
		},
		{
			"what is no remote", "https://git.example.com/other.git", "", home,
			destination{location: "https://git.example.com/other.git", typed: true, auth: git.Auth{For: "https://git.example.com", Password: password, KnownHosts: "k"}},
			"",
		},
	} {
		var said strings.Builder
		cmd := &cobra.Command{Use: "x"}
		cmd.SetErr(&said)
		cmd.SetContext(t.Context())
		source, err := git.Open(t.Context(), git.Options{Location: at})
		if err != nil {
			t.Fatal(err)
		}
		s, err := source.Snapshot(t.Context(), "HEAD", "")
		if err != nil {
			t.Fatal(err)
		}
		w := repositories{cmd: cmd, path: at, to: tt.to, at: git.Auth{For: tt.meant, Password: password, KnownHosts: "k"}}
		got, err := tt.find(w, source, s)
		if tt.want.location == "" {
			got.auth.KnownHosts, tt.want.auth.For = "", got.auth.For // nothing is sent anywhere
		}
		if err != nil || got != tt.want || !strings.Contains(said.String(), tt.warns) || (said.Len() > 0) != (tt.warns != "") {
			t.Errorf("%s: it is %+v\nwant %+v\nsaid is %q: %v", tt.name, got, tt.want, said.String(), err)
		}
	}
}
