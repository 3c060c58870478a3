package probe_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/endpoints/probe"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/peers"
)

// takes is a hook of a server that takes refs which match a pattern of sh, and no others.
func takes(pattern string) string {
	return "#!/bin/sh\nwhile read old new ref; do case $ref in " + pattern + ") ;; *) echo not this one; exit 1;; esac; done\n"
}

// TestAHostIsAsked has Git's own server be asked, as it is and where it lets less be done.
func TestAHostIsAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		config []string // names and values
		hook   string   // before refs are moved
		want   probe.Host
		tries  []string // each as REF DO: WHY
		left   string   // refs
	}{
		{
			name:  "everything",
			want:  probe.Host{Bus: exchange.Refs, Unasked: true},
			tries: []string{"refs write", "refs read", "refs replace", "refs delete"},
		},
		{
			name: "branches only", hook: takes("refs/heads/*"),
			want:  probe.Host{Bus: exchange.Branch, Unasked: true},
			tries: []string{"refs write: not this one", "heads write", "heads read", "heads replace", "heads delete"},
		},
		{
			name: "no branch is forced", hook: takes("refs/tags/*"),
			tries: []string{"refs write: not this one", "heads write: not this one"},
		},
		{
			name: "other refs are hidden from who reads", config: []string{"uploadpack.hideRefs", "refs/waybill"},
			want: probe.Host{Bus: exchange.Branch},
			tries: []string{
				"refs write", "refs read: the host does not show it to who reads", "refs replace", "refs delete", "heads write", "heads read", "heads replace", "heads delete",
			},
		},
		{
			name: "other refs are hidden from who writes", config: []string{"receive.hideRefs", "refs/waybill"},
			want:  probe.Host{Bus: exchange.Branch, Unasked: true},
			tries: []string{"refs write: hidden ref", "heads write", "heads read", "heads replace", "heads delete"},
		},
		{
			name: "nothing is deleted", hook: "#!/bin/sh\nwhile read old new ref; do case $new in *[1-9a-f]*) ;; *) echo it stays; exit 1;; esac; done\n",
			want:  probe.Host{Bus: exchange.Refs, Unasked: true},
			tries: []string{"refs write", "refs read", "refs replace", "refs delete: it stays"},
			left:  "refs/waybill/doctor/x",
		},
		{
			name: "branches are not forced, and other refs not taken", config: []string{"receive.denyNonFastForwards", "true"}, hook: takes("refs/heads/*"),
			tries: []string{"refs write: not this one", "heads write", "heads read", "heads replace: non-fast-forward", "heads delete"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			bare := filepath.Join(root, "status.git")
			run(t, "init", "-q", "--bare", bare)
			if len(c.config) > 0 {
				run(t, append([]string{"-C", bare, "config"}, c.config...)...)
			}
			if c.hook != "" {
				if err := os.WriteFile(filepath.Join(bare, "hooks", "pre-receive"), []byte(c.hook), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			backend, err := peers.GitServer(t.Context(), root)
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(backend)
			defer server.Close()
			repo, err := git.Open(t.Context(), git.Options{Location: server.URL + "/status.git", CacheDir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			got, err := probe.Of(t.Context(), git.LooseOf(repo), "x", time.Now())
			if err != nil {
				t.Fatal(err)
			}
			var tries []string
			for _, try := range got.Tries {
				ref := "refs"
				if strings.HasPrefix(try.Ref, probe.Branches) {
					ref = "heads"
				}
				tries = append(tries, ref+" "+string(try.Do))
				if try.Why != "" {
					tries[len(tries)-1] += ": " + try.Why
				}
			}
			if len(tries) != len(c.tries) {
				t.Fatalf("it was tried:\n%s\nwant\n%s", strings.Join(tries, "\n"), strings.Join(c.tries, "\n"))
			}
			for i, want := range c.tries {
				do, why, _ := strings.Cut(want, ": ")
				if tries[i] != want && (why == "" || !strings.HasPrefix(tries[i], do+": ") || !strings.Contains(tries[i], why)) {
					t.Errorf("try %d is %q, want %q", i, tries[i], want)
				}
			}
			got.Tries, got.Repository = nil, ""
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if left := strings.TrimSpace(run(t, "-C", bare, "for-each-ref", "--format=%(refname)")); left != c.left {
				t.Errorf("there are left: %q, want %q", left, c.left)
			}
		})
	}
}

func run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestAHostThatDoesNotAnswer gives an error, and so does a repository on this disk.
func TestAHostThatDoesNotAnswer(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	bare := filepath.Join(t.TempDir(), "status.git")
	run(t, "init", "-q", "--bare", bare)
	for _, at := range []string{server.URL + "/status.git", bare} {
		repo, err := git.Open(t.Context(), git.Options{Location: at, CacheDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if h, err := probe.Of(t.Context(), git.LooseOf(repo), "x", time.Now()); err == nil {
			t.Errorf("%s: %+v", at, h)
		}
	}
}
