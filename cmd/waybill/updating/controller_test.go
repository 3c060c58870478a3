package updating

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/fetching"
	"github.com/waybill-dev/waybill/cmd/waybill/forgeflags"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/git"
)

// Registries are opened anew for a source whose config says otherwise which they are, and for no other.
func TestWhichRegistriesAreAsked(t *testing.T) {
	opened := 0
	p := &Proposals{Asked: func(c render.ConfigSpec) fetching.Asked {
		opened++
		return fetching.Asked{Cmd: &cobra.Command{}, Config: c}
	}}
	c := render.ConfigSpec{}
	c.Updates.Limits.PerHost = "1/s"
	for _, tt := range []struct {
		name   string
		change func()
		want   int
	}{
		{"at first", func() {}, 1},
		{"nothing changed", func() {}, 1},
		{"what else the config says", func() { c.Publish.Links = "https://waybill.example.com" }, 1},
		{"hosts of updates", func() { c.Updates.Hosts = []string{"ghcr.io"} }, 2},
		{"hosts of charts", func() { c.Charts.Hosts = []string{"https://charts.example.com"} }, 3},
		{"nothing changed since", func() {}, 3},
	} {
		tt.change()
		if _, _, err := p.registries(c); err != nil || opened != tt.want {
			t.Errorf("%s: they were opened %d times, want %d (%v)", tt.name, opened, tt.want, err)
		}
	}
}

// Updates are proposed with a credential of their own: that of their file, before that of the environment, before what pushes. The
// token that the controller reads pull requests with is none of them.
func TestWhoseTokenProposes(t *testing.T) {
	t.Setenv("WAYBILL_FORGE_TOKEN", "of-the-controller")
	var asked string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header.Get("Authorization")
		w.WriteHeader(http.StatusNoContent)
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("of-the-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := []string{"--forge", "gitea", "--forge-url", s.URL, "--forge-repository", "acme/fleet", "--plain-http"}
	for name, test := range map[string]struct {
		args            []string
		env, push, want string
		says            string // of the error; empty: none
	}{
		"of the file":              {append(slices.Clip(at), "--updates-token-file", file), "of-the-environment", "pushes", "token of-the-file", ""},
		"of the environment":       {at, "of-the-environment", "pushes", "token of-the-environment", ""},
		"what pushes":              {at, "", "pushes", "token pushes", ""},
		"none":                     {at, "", "", "", "there is no token for the forge"},
		"a file that is not there": {append(slices.Clip(at), "--updates-token-file", file+".gone"), "of-the-environment", "", "", "reading --updates-token-file"},
		"no forge":                 {nil, "of-the-environment", "pushes", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("WAYBILL_UPDATES_TOKEN", test.env)
			cmd := &cobra.Command{Use: "controller"}
			cmd.Flags().Bool("plain-http", false, "")
			flags := AddControllerFlags(cmd, forgeflags.Add(cmd))
			if flags.On {
				t.Error("updates are looked for unasked")
			}
			if err := cmd.ParseFlags(append([]string{"--updates"}, test.args...)); err != nil || !flags.On {
				t.Fatal("updates are not looked for", err)
			}
			f, err := flags.Forge(git.Auth{Password: test.push})
			if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Fatalf("it ended with %v, want %q", err, test.says)
			}
			if (f != nil) != (test.want != "") {
				t.Fatalf("the forge is %v", f)
			}
			if asked = ""; f != nil {
				if err := f.ClosePullRequest(t.Context(), 1); err != nil {
					t.Log(err) // the answer is none
				}
			}
			if asked != test.want {
				t.Errorf("it asks by %q, want %q", asked, test.want)
			}
		})
	}
}
