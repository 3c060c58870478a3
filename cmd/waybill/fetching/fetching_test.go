package fetching

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/render"
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
