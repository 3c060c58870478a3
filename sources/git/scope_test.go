package git

import (
	"errors"
	"strings"
	"testing"
)

func TestCredentialsAreForAPlace(t *testing.T) {
	for _, test := range []struct {
		meant, location string
		sent            bool
	}{
		{"https://git.example.com", "https://git.example.com/team/fleet.git", true},
		{"https://git.example.com/", "https://git.example.com:443/team/fleet.git", true},
		{"https://GIT.example.com:443", "https://git.example.COM/team/fleet.git", true},
		{"https://git.example.com/team", "https://git.example.com/team/fleet.git", true},
		{"https://git.example.com/team/fleet.git", "https://git.example.com/team/fleet.git/", true},
		{"https://git.example.com/team", "https://git.example.com/teammates/fleet.git", false},
		{"https://git.example.com/team", "https://git.example.com/team/../other/fleet.git", false},
		{"https://git.example.com/team", "https://git.example.com/team/%2e%2e/other/fleet.git", false},
		{"https://git.example.com", "https://git.example.com.evil.example/fleet.git", false},
		{"https://git.example.com", "https://evil.example/git.example.com/fleet.git", false},
		{"https://git.example.com", "https://git.example.com@evil.example/fleet.git", false},
		{"https://git.example.com", "https://git.example.com:8443/fleet.git", false},
		{"https://git.example.com", "http://git.example.com/fleet.git", false},
		{"http://git.example.com", "https://git.example.com/fleet.git", false},
		{"http://git.example.com", "http://git.example.com:80/fleet.git", true},
	} {
		r, err := Open(t.Context(), Options{Location: test.location, CacheDir: t.TempDir(), Auth: Auth{For: test.meant, Password: secret, PlainHTTP: true}})
		if err != nil {
			t.Fatal(err)
		}
		u, _ := r.server()
		if sent := strings.Contains(strings.Join(u.remote.secrets, " "), secret) && u.remote.auth != nil; sent != test.sent {
			t.Errorf("meant for %s, sent to %s: %t", test.meant, test.location, sent)
		}
	}
}

func TestAKeyIsForAPlace(t *testing.T) {
	s := newSSHServer(t)
	location := "ssh://git@" + s.addr + "/repo.git"
	key := Auth{For: "ssh://git.example.com", SSHKey: newKey(t), Passphrase: secret, KnownHosts: s.knownHosts(t, s.host)}
	_, err := Open(t.Context(), Options{Location: location, CacheDir: t.TempDir(), Auth: key})
	if err == nil || !strings.Contains(err.Error(), "the SSH key is for ssh://git.example.com only") {
		t.Errorf("error %v", err)
	}
	key.For = Origin(location)
	mustOpen(t, Options{Location: location, CacheDir: t.TempDir(), Auth: key})
}

func TestNothingSecretGoesOverHTTP(t *testing.T) {
	for _, o := range []Options{
		{Location: "http://git.example.com/fleet.git", Auth: Auth{Password: secret}},
		{Location: "http://git.example.com/fleet.git", Auth: Auth{Username: secret}},
		{Location: "http://git.example.com/fleet.git", Auth: Auth{Password: secret, For: "http://git.example.com"}},
		{Location: "http://robot:pw@git.example.com/fleet.git"},
		{Location: "http://token@git.example.com/fleet.git"},
	} {
		o.CacheDir = t.TempDir()
		if _, err := Open(t.Context(), o); !errors.Is(err, ErrPlain) {
			t.Errorf("%s: error %v", o.Location, err)
		}
	}
	mustOpen(t, Options{Location: "http://git.example.com/fleet.git", CacheDir: t.TempDir()})
}

func TestLocationsThatAreNoURLsAreNotRepeated(t *testing.T) {
	_, err := Open(t.Context(), Options{Location: "robot:hunter2@git.example.com/team/fleet.git", CacheDir: t.TempDir()})
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "https://") {
		t.Errorf("error %v", err)
	}
}
