package fetching

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/registry"
)

// asked is what is asked by a command line and a config with hosts, and private addresses, of charts.
func asked(t *testing.T, untrusted bool, args ...string) Asked {
	t.Helper()
	cmd := &cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error { return nil }, SilenceErrors: true, SilenceUsage: true}
	Add(cmd)
	cmd.SetArgs(args)
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	a := Asked{Cmd: cmd, Untrusted: untrusted}
	a.Config.Charts.Hosts, a.Config.Charts.Private = []string{"https://config.example"}, []string{"10.0.0.0/8"}
	return a
}

// TestWhichHosts: those of the command line, or else those of the config, unless a stranger may have written it.
func TestWhichHosts(t *testing.T) {
	flags := []string{"--chart-host", "https://flag.example", "--chart-private", "192.168.0.0/16"}
	for _, tt := range []struct {
		untrusted      bool
		args           []string
		hosts, private string
	}{
		{false, nil, "https://config.example", "10.0.0.0/8"},
		{true, nil, "", ""},
		{false, flags, "https://flag.example", "192.168.0.0/16"},
		{true, flags, "https://flag.example", "192.168.0.0/16"},
	} {
		a := asked(t, tt.untrusted, tt.args...)
		private, _, err := a.reached()
		var ranges []string
		for _, p := range private {
			ranges = append(ranges, p.String())
		}
		if hosts := strings.Join(a.hosts(), " "); hosts != tt.hosts || strings.Join(ranges, " ") != tt.private || err != nil {
			t.Errorf("untrusted %t, %v: %s, %v, %v; want %s, %s", tt.untrusted, tt.args, hosts, ranges, err, tt.hosts, tt.private)
		}
	}
	cmd := &cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error { return nil }, SilenceErrors: true, SilenceUsage: true}
	Add(cmd)
	cmd.SetArgs([]string{"--registry-credentials", "a", "--chart-credentials", "b"})
	if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), "registry-credentials chart-credentials") {
		t.Errorf("both names of a flag are taken: %v", err)
	}
	without := Asked{Cmd: &cobra.Command{Use: "x"}, Config: render.ConfigSpec{}}
	if without.hosts() != nil || without.value(accountsFlag) != "" {
		t.Error("a command without these flags has their values")
	}
}

// TestCredentialsAreRead by either name of the flag, and no error has what is in the file.
func TestCredentialsAreRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "accounts.yaml")
	for text, want := range map[string]string{
		"- {url: https://a.example, username: me, password: hunter2}\n": "", "password: hunter2\n": "is no list of credentials", "- {url: https://a.example, secret: hunter2}\n": "is no list of credentials",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, flag := range []string{"--registry-credentials", "--chart-credentials"} {
			_, all, err := asked(t, false, flag, file).reached()
			if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("%s: %v, want %q", flag, err, want)
			}
			if err == nil && (len(all) != 1 || all[0].Username != "me" || all[0].Password != "hunter2") {
				t.Errorf("%s: it is %+v", flag, all)
			}
		}
	}
	for _, args := range [][]string{{"--chart-private", "10.0.0.0"}, {"--registry-credentials", file + ".gone"}} {
		if _, _, err := asked(t, false, args...).reached(); err == nil || !strings.Contains(err.Error(), "reading "+args[0]) {
			t.Errorf("%v: %v", args, err)
		}
		if _, err := asked(t, false, args...).Charts(); err == nil {
			t.Errorf("with %v charts are fetched", args)
		}
		if _, _, err := asked(t, false, args...).Versions(); err == nil {
			t.Errorf("with %v registries are asked", args)
		}
	}
	if !slices.Contains(asked(t, false).Config.Charts.Hosts, "https://config.example") {
		t.Error("the config was changed")
	}
}

// TestWhichRegistriesAreAsked for versions: those of updates.hosts of the config and of charts, and no others, and of a stranger's config
// none.
func TestWhichRegistriesAreAsked(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	hits := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits++
		switch r.URL.Path {
		case "/v2/acme/web/tags/list":
			fmt.Fprint(w, `{"tags": ["1.0.0"]}`)
		case "/charts/index.yaml":
			fmt.Fprint(w, "entries: {web: [{version: 1.0.0}]}")
		}
	}))
	defer server.Close()
	_, host, _ := strings.Cut(server.URL, "://")
	for _, tt := range []struct {
		name       string
		untrusted  bool
		args       []string
		hosts      []string // updates.hosts
		image, ref bool     // may be asked for
	}{
		{"of updates.hosts", false, nil, []string{server.URL}, true, true},
		{"of charts", false, []string{"--chart-host", server.URL}, nil, true, true},
		{"of nobody", false, nil, []string{"other.example"}, false, false},
		{"of updates.hosts over https", false, nil, []string{host}, false, false},
		{"of a stranger's updates.hosts", true, nil, []string{server.URL}, false, false},
		{"of a stranger's, and named", true, []string{"--chart-host", server.URL}, nil, true, true},
	} {
		a := asked(t, tt.untrusted, append(tt.args, "--chart-private", "127.0.0.0/8")...)
		a.Config.Updates.Hosts, a.Config.Updates.Limits.PerHost = tt.hosts, "1000/s"
		client, catalog, err := a.Versions()
		if err != nil {
			t.Fatal(err)
		}
		before := hits
		tags, err := client.Tags(t.Context(), host+"/acme/web", registry.Known{})
		if ok := err == nil && slices.Equal(tags.Tags, []string{"1.0.0"}); ok != tt.image || ok != (hits > before) {
			t.Errorf("%s: the image has %v after %d requests: %v", tt.name, tags.Tags, hits-before, err)
		}
		before = hits
		versions, err := catalog().Versions(t.Context(), lock.Ref{Kind: lock.Helm, Repository: server.URL + "/charts", Name: "web"}, registry.Known{})
		if ok := err == nil && slices.Equal(versions.Tags, []string{"1.0.0"}); ok != tt.ref || ok != (hits > before) {
			t.Errorf("%s: the chart has %v after %d requests: %v", tt.name, versions.Tags, hits-before, err)
		}
	}
	a := asked(t, false)
	a.Config.Updates.Limits.PerHost = "often"
	if _, _, err := a.Versions(); err == nil || !strings.Contains(err.Error(), "often") {
		t.Errorf("a limit that is none: %v", err)
	}
}
