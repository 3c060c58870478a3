package main

import (
	"strings"
	"testing"

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
