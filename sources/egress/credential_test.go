package egress

import (
	"slices"
	"testing"
)

// TestWhatACredentialIsFor: it goes to one scheme, host and path and what is below, not to what begins like it; the longest path counts.
func TestWhatACredentialIsFor(t *testing.T) {
	all := []Credential{
		{URL: "https://charts.example/team", Token: "team"},
		{URL: "https://charts.example/team/own/", Token: "own"},
		{URL: "https://all.example", Token: "all"},
		{URL: "oci://images.example/team", Token: "images"},
	}
	given, err := readCredentials(all)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(all)
	backward, err := readCredentials(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ origin, path, want string }{
		{"https://charts.example", "/team", "team"},
		{"https://charts.example", "/team/index.yaml", "team"},
		{"https://charts.example", "/team/own", "own"},
		{"https://charts.example", "/team/own/index.yaml", "own"},
		{"https://charts.example", "/team/owner/index.yaml", "team"},
		{"https://charts.example", "/teams/index.yaml", ""},
		{"https://charts.example", "/team/../other/index.yaml", ""},
		{"https://charts.example", "/", ""},
		{"http://charts.example", "/team", ""},
		{"https://charts.example:8443", "/team", ""},
		{"https://all.example", "/whatever", "all"},
		{"https://images.example", "/team/web", ""},
		{"oci://images.example", "/team/web", "images"},
		{"oci://images.example", "/teammate/web", ""},
	} {
		for _, cs := range []credentials{given, backward} {
			if got, ok := cs.of(tt.origin, tt.path); got.Token != tt.want || ok != (tt.want != "") {
				t.Errorf("%s%s gets the credential %q, want %q", tt.origin, tt.path, got.Token, tt.want)
			}
		}
	}
	twice, err := readCredentials([]Credential{{URL: "https://a.example/x", Token: "first"}, {URL: "https://a.example/x", Token: "second"}})
	if got, _ := twice.of("https://a.example", "/x/y"); err != nil || got.Token != "first" {
		t.Errorf("of two for one place it is %q, %v", got.Token, err)
	}
}
