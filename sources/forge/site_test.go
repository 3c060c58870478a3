package forge_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/forge"
)

// Commits and files are where each forge shows them, however the repository is reached by Git; a place that nobody can tell is none.
func TestSites(t *testing.T) {
	const id = "8f3a1c2d8f3a1c2d8f3a1c2d8f3a1c2d8f3a1c2d"
	for _, tt := range []struct {
		kind                       forge.Kind
		repository, commit, atLine string
	}{
		{"", "https://github.com/acme/fleet.git", "https://github.com/acme/fleet/commit/" + id, "https://github.com/acme/fleet/blob/" + id + "/prod/a%20b/web.yaml#L3"},
		{"", "git@gitlab.example.com:acme/eu/fleet.git", "https://gitlab.example.com/acme/eu/fleet/-/commit/" + id, "https://gitlab.example.com/acme/eu/fleet/-/blob/" + id + "/prod/a%20b/web.yaml#L3"},
		{forge.Gitea, "http://127.0.0.1:3000/acme/fleet", "http://127.0.0.1:3000/acme/fleet/commit/" + id, "http://127.0.0.1:3000/acme/fleet/src/commit/" + id + "/prod/a%20b/web.yaml#L3"},
		{forge.GitHub, "ssh://git@git.example.com:2222/acme/fleet.git", "https://git.example.com/acme/fleet/commit/" + id, "https://git.example.com/acme/fleet/blob/" + id + "/prod/a%20b/web.yaml#L3"},
		{forge.Gitea, "ssh://git@[2001:db8::1]:2222/acme/fleet.git", "https://[2001:db8::1]:443/acme/fleet/commit/" + id, "https://[2001:db8::1]:443/acme/fleet/src/commit/" + id + "/prod/a%20b/web.yaml#L3"},
		{"", "https://git.example.com/acme/fleet.git", "", ""},
		{forge.GitHub, "/srv/fleet.git", "", ""},
		{forge.GitHub, "file:///srv/fleet.git", "", ""},
		{forge.GitHub, "javascript:alert(1)", "", ""},
		{"", "", "", ""},
	} {
		s := forge.SiteOf(tt.kind, tt.repository, "prod")
		if commit, file := s.Commit(id), s.File(id, "a b/web.yaml", 3); commit != tt.commit || file != tt.atLine {
			t.Errorf("of %q they are %q and %q", tt.repository, commit, file)
		}
		if got, want := s.File(id, "a b/web.yaml", 0), strings.TrimSuffix(tt.atLine, "#L3"); got != want {
			t.Errorf("of %q the file is %q, want %q", tt.repository, got, want)
		}
		if s.Commit("") != "" || s.File("", "web.yaml", 0) != "" || s.File(id, "", 0) != "" {
			t.Errorf("of %q nothing has a page", tt.repository)
		}
	}
}
