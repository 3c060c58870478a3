package updating_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/fetching"
	"github.com/waybill-dev/waybill/cmd/waybill/updating"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/test/twin"
)

const images = `
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImageRepository
metadata: {name: web, namespace: shop}
spec: {image: "REGISTRY/acme/web", interval: 5m}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata: {name: web, namespace: shop}
spec: {imageRepositoryRef: {name: web}, policy: {semver: {range: '>=1.0.0'}}}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all, namespace: shop}
spec: {resourceSelectors: [{apiVersion: v1, kind: Pod}], placement: {}}
`

const pod = `apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  containers:
  - name: web
    image: REGISTRY/acme/web:1.0.0 # {"$imagepolicy": "shop:web"}
`

// noEngine is that of a source in which nothing is to be rendered.
type noEngine struct{ render.Engine }

func (noEngine) Render(context.Context, sources.Snapshot, []engine.Job) ([]engine.Rendered, error) {
	return nil, nil
}

// place is a source in a repository, beside a registry that has 1.0.0 and 1.1.0 of its image.
type place struct {
	updating.Places

	repo *twin.Repo
	said bytes.Buffer // on either output
	told []diag.Code
}

// in returns a source with a mode, and what else is in a file. Broken may be otherwise than what is opened.
func in(t *testing.T, host, mode, more string, broken func(*updating.Place)) *place {
	t.Helper()
	p := &place{repo: twin.New("fleet")}
	config := "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec:\n  charts: {private: [127.0.0.0/8]}\n" +
		"  updates: {mode: " + mode + ", hosts: ['http://REGISTRY'], limits: {perHost: 1000/s}}\n"
	tree := twin.Tree{}
	for file, text := range map[string]string{"waybill.yaml": config, "images.yaml": images, "web.yaml": pod, "more.yaml": more} {
		tree[file] = twin.File([]byte(strings.ReplaceAll(text, "REGISTRY", host)))
	}
	p.repo.Write("main", "first", tree.Folder())
	base := func(branch string) (updating.Place, error) {
		s, err := p.repo.Snapshot(t.Context(), branch, "")
		if err != nil {
			return updating.Place{}, err
		}
		c, _, err := render.ConfigOf(s)
		at := updating.Place{
			Source: s, Config: c,
			Reconciler: &reconciler.Reconciler{Source: p.repo, Target: p.repo, Now: time.Now, Seen: reconciler.NewCache(), Engine: noEngine{}},
			Upstream:   func() (published.Repository, error) { return p.repo, nil },
			Asked:      func(c render.ConfigSpec) fetching.Asked { return fetching.Asked{Cmd: &cobra.Command{}, Config: c} },
		}
		if broken != nil {
			broken(&at)
		}
		return at, err
	}
	p.Places = updating.Places{
		Path: t.TempDir(), Out: &p.said, Err: &p.said, Base: base,
		Standing: func() (updating.Place, error) { return base("main") },
		Tell: func(all []diag.Diagnostic) {
			for _, d := range all {
				p.told = append(p.told, d.Code)
			}
		},
	}
	return p
}

// asks runs the command with flags.
func (p *place) asks(t *testing.T, line string) (fails bool, err error) {
	t.Helper()
	cmd := &cobra.Command{Use: "update"}
	cmd.Flags().Bool("plain-http", false, "")
	f := updating.AddFlags(cmd)
	if err := cmd.ParseFlags(strings.Fields(line)); err != nil {
		t.Fatal(err)
	}
	p.said.Reset()
	p.told = nil
	return f.Run(t.Context(), p.Places, append([]string{}, cmd.Flags().Args()...))
}

// served starts a registry.
func served(t *testing.T) (host string) {
	t.Helper()
	for _, key := range []string{"GITHUB_ACTIONS", "GITLAB_CI", "GITEA_ACTIONS"} {
		t.Setenv(key, "")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(s.Close)
	host = strings.TrimPrefix(s.URL, "http://")
	for _, tag := range []string{"1.0.0", "1.1.0"} {
		ref, err := name.ParseReference(host + "/acme/web:" + tag)
		if err == nil {
			err = remote.Write(ref, empty.Image)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return host
}

const wrong = `
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata: {name: other, namespace: shop}
spec: {imageRepositoryRef: {name: none}, policy: {semver: {range: '>=1.0.0'}}}
`

const chart = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: shop}
spec: {url: 'https://127.0.0.1/charts', interval: 1h}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: shop}
spec: {interval: 1h, chart: {spec: {chart: web, version: 1.x, sourceRef: {kind: HelmRepository, name: charts}}}}
`

var errAway = errors.New("it is away")

// nowhere is an output that is gone.
type nowhere struct{}

func (nowhere) Write([]byte) (int, error) { return 0, errAway }

// TestWhatAnUpdateSays: whether something newer is to be taken, by the status, and what; nothing is written but a lock, and of a source
// whose config does not act no registry is asked.
func TestWhatAnUpdateSays(t *testing.T) {
	host := served(t)
	const takes, line = `(?m)^shop/web .*1\.0\.0 +1\.1\.0`, "(?m)^web.yaml:7\n-.*1.0.0.*\n[+].*1.1.0"
	unlisted := func(p *updating.Place) { p.Config.Updates.Hosts = nil }
	t.Setenv("WAYBILL_FORGE_TOKEN", "token")
	for _, tt := range []struct {
		name, mode, more, args string
		broken                 func(*updating.Place)
		fails, wrong           bool
		says, not              string // "": nothing is asked of it
		err                    string
	}{
		{name: "it is asked", mode: "commit", args: "--check", fails: true, says: takes, not: line},
		{name: "it is shown", mode: "pullRequest", args: "--dry-run", says: line},
		{name: "it is shown, too", mode: "pullRequest", args: "--dry-run", says: takes},
		{name: "nothing acts", mode: "off", args: "--check", says: "waybill.lock is up to date: 0 of the source's charts", not: takes},
		{name: "charts are locked alone", mode: "commit", says: "waybill.lock is up to date: 0 of the source's charts", not: takes},
		{name: "a policy is wrong", mode: "commit", more: wrong, args: "--check", fails: true, wrong: true, says: takes},
		{name: "a policy is wrong, and all is shown", mode: "commit", more: wrong, args: "--dry-run", wrong: true, says: line},
		{name: "a chart is named", mode: "commit", args: "--check web", not: takes, err: `the source names no chart "web" of a repository`},
		{name: "a chart cannot be locked", mode: "commit", more: chart, not: takes, err: "1 chart could not be locked, and what"},
		{name: "a chart would not be locked", mode: "commit", more: chart, args: "--check", not: takes, err: "https://127.0.0.1/charts"},
		{name: "the registry is not to be asked", mode: "commit", args: "--check", broken: unlisted, not: takes, says: "may not"},
		{
			name: "a private range is none", mode: "commit", args: "--check", broken: func(p *updating.Place) { p.Config.Charts.Private = []string{"all"} },
			err: "reading --chart-private",
		},
		{
			name: "a private range is none, and all is locked", mode: "commit", broken: func(p *updating.Place) { p.Config.Charts.Private = []string{"all"} },
			err: "reading --chart-private",
		},
		{
			name: "nobody knows upstream", mode: "commit", args: "--check", broken: func(p *updating.Place) {
				p.Upstream = func() (published.Repository, error) { return nil, errAway }
			}, err: errAway.Error(),
		},
		{name: "there is no upstream", mode: "commit", args: "--check", broken: func(p *updating.Place) { p.Upstream = nil }, fails: true, says: takes},
		{
			name: "upstream does not answer", mode: "commit", args: "--check", broken: func(p *updating.Place) {
				p.Upstream = func() (published.Repository, error) { return twin.FailingAt(1, twin.New("x")), nil }
			}, err: twin.ErrDown.Error(),
		},
		{
			name: "upstream stops answering", mode: "commit", args: "--check", broken: func(p *updating.Place) {
				p.Upstream = func() (published.Repository, error) { return twin.FailingAt(2, twin.New("x")), nil }
			}, err: twin.ErrDown.Error(),
		},
		{
			name: "upstream answers no more", mode: "commit", args: "--check", broken: func(p *updating.Place) {
				p.Upstream = func() (published.Repository, error) { return twin.FailingAt(3, twin.New("x")), nil }
			}, err: twin.ErrDown.Error(),
		},
		{name: "no forge is named", mode: "pullRequest", args: "--pull-request", err: "give --forge"},
		{name: "a policy is wrong, and nothing is newer", mode: "commit", more: wrong, args: "--check", broken: unlisted, fails: true, wrong: true, not: takes},
		{name: "it is committed", mode: "commit", args: "--commit", says: "committed"},
		{
			name: "commits are wanted", mode: "commit", args: "--pull-request --forge gitea --forge-url http://127.0.0.1:9 --forge-repository a/b --plain-http",
			err: "updates.mode of waybill.yaml is commit",
		},
		{name: "another mode", mode: "pullRequest", args: "--commit", err: "updates.mode of waybill.yaml is pullRequest"},
		{name: "another branch", mode: "commit", args: "--commit --base none", err: "none"},
	} {
		p := in(t, host, tt.mode, tt.more, tt.broken)
		fails, err := p.asks(t, tt.args)
		if fails != tt.fails || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: it fails: %t, want %t; %v, want %q", tt.name, fails, tt.fails, err, tt.err)
		}
		if said := p.said.String(); !regexp.MustCompile(tt.says).MatchString(said) || tt.not != "" && regexp.MustCompile(tt.not).MatchString(said) {
			t.Errorf("%s: it says %q, want %q, and not %q", tt.name, said, tt.says, tt.not)
		}
		if (len(p.told) > 0) != tt.wrong {
			t.Errorf("%s: told is of %v", tt.name, p.told)
		}
		if _, err := os.Stat(filepath.Join(p.Path, lock.FileName)); err == nil {
			t.Errorf("%s: a lock of no chart is written", tt.name)
		}
	}
	p := in(t, host, "commit", "", nil)
	p.Standing = func() (updating.Place, error) { return updating.Place{}, errAway }
	_, asked := p.asks(t, "--check")
	_, about := updating.About(t.Context(), p.Places, []diag.Pos{{File: "web.yaml", Line: 1}})
	for _, err := range []error{asked, about, updating.List(t.Context(), p.Places, "updates", "table", nil)} {
		if !errors.Is(err, errAway) {
			t.Errorf("of a source that cannot be opened: %v", err)
		}
	}
	p = in(t, host, "commit", "", nil)
	p.Out = nowhere{}
	for _, args := range []string{"--check", "--commit"} {
		if _, err := p.asks(t, args); !errors.Is(err, errAway) {
			t.Errorf("%s: what cannot be printed is passed over: %v", args, err)
		}
	}
}

// TestWhatAnUpdateCommits: what is to be taken, on the branch that is followed, once; and what is remembered of it is listed, and told of
// whatever names it.
func TestWhatAnUpdateCommits(t *testing.T) {
	host := served(t)
	p := in(t, host, "commit", wrong, nil)
	where := func(lines ...int) (all []diag.Pos) {
		for _, n := range lines {
			all = append(all, diag.Pos{File: "web.yaml", Line: n})
		}
		return all
	}
	newer := func(at updating.Places, where []diag.Pos) (all []string, err error) {
		found, err := updating.About(t.Context(), at, where)
		for _, u := range found {
			last := ""
			if u.Last != nil {
				last = ", last " + u.Last.Version
			}
			all = append(all, u.Name+" "+u.Current+" to "+u.Next+last+": "+u.Message)
		}
		return all, err
	}
	about := func(when string, want ...string) {
		t.Helper()
		got, err := newer(p.Places, where(1))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s it is about (-want +got):\n%s%v", when, diff, err)
		}
	}
	about("before somebody looked", "shop/web 1.0.0 to : nobody has looked yet")
	for _, committed := range []bool{true, false} {
		fails, err := p.asks(t, "--commit")
		if !fails || err != nil || strings.Contains(p.said.String(), "committed") != committed || len(p.told) == 0 {
			t.Errorf("it fails for what is wrong with a policy: %t; %v; it says %q, and tells of %v", fails, err, p.said.String(), p.told)
		}
		if strings.Contains(p.said.String(), "BRANCH") != committed {
			t.Errorf("of what is done it says %q", p.said.String())
		}
	}
	s, err := p.repo.Snapshot(t.Context(), "main", "")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := s.ReadFile("web.yaml"); err != nil || !strings.Contains(string(text), host+"/acme/web:1.1.0 # ") {
		t.Errorf("committed is %s: %v", text, err)
	}
	about("after that", "shop/web 1.1.0 to , last 1.1.0: ")
	unasked := p.Places
	unasked.Standing = func() (updating.Place, error) {
		is, err := p.Standing()
		is.Upstream = func() (published.Repository, error) { return nil, errAway }
		return is, err
	}
	if got, err := newer(unasked, []diag.Pos{{File: "images.yaml", Line: 1}}); got != nil || err != nil {
		t.Errorf("of what has no marker it says %q: %v", got, err)
	}
	for name, broken := range map[string]func(*updating.Place){
		"off":  func(at *updating.Place) { at.Config.Updates.Mode = "off" },
		"away": func(at *updating.Place) { at.Upstream = func() (published.Repository, error) { return nil, errAway } },
		"fails": func(at *updating.Place) {
			at.Upstream = func() (published.Repository, error) { return twin.FailingAt(1, p.repo), nil }
		},
	} {
		at := p.Places
		at.Standing = func() (updating.Place, error) {
			is, err := p.Standing()
			broken(&is)
			return is, err
		}
		if got, err := newer(at, where(1)); got != nil || (err == nil) != (name == "off") {
			t.Errorf("%s: it says %q: %v", name, got, err)
		}
	}
	for _, tt := range []struct {
		as   string
		args []string
		says string
		err  string
	}{
		{"table", []string{"updates"}, `shop/web .*1\.1\.0 by [0-9a-f]{12}`, ""},
		{"json", []string{"updates"}, `"committed": true`, ""},
		{"yaml", nil, `committed: true`, ""},
		{"wide", []string{"updates"}, "", `get updates has the formats table, json and yaml, and not "wide"`},
		{"table", []string{"updates", "web"}, "", "get updates lists all, and takes no NAME"},
	} {
		p.said.Reset()
		err := updating.List(t.Context(), p.Places, "updates", tt.as, tt.args)
		if (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err || !regexp.MustCompile(tt.says).MatchString(p.said.String()) {
			t.Errorf("get %v -o %s: %v; it says %q", tt.args, tt.as, err, p.said.String())
		}
	}
	if err := updating.List(t.Context(), in(t, host, "off", "", nil).Places, "updates", "table", nil); err == nil || !strings.HasPrefix(err.Error(), "updates.mode of waybill.yaml is off") {
		t.Errorf("of a source that wants none: %v", err)
	}
}
