// Package updates runs waybill as CI does that proposes new versions of images and charts: against go-containerregistry's registry
// and a Helm repository over HTTP, a repository on this disk, and a forge with GitHub's API. Each file of testdata is a script.
package updates

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/waybill-dev/waybill/test/exits"
	"github.com/waybill-dev/waybill/test/program"
)

var binary string

func TestMain(m *testing.M) { testscript.Main(program.Tests{M: m, Path: &binary}, nil) }

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits.With, "push": push, "expand": expand, "pulls": pulls, "close": closed, "offer": offer, "fail": fail, "brought": brought, "chart": chart, "sign": sign, "trust": trust,
			"serve": serve, "pushers": pushers,
		},
		Setup: func(e *testscript.Env) error {
			quiet := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
			server := httptest.NewServer(quiet)
			e.Defer(server.Close)
			f := &forge{origin: filepath.Join(e.WorkDir, "origin.git")}
			api := httptest.NewServer(f.api())
			e.Defer(api.Close)
			e.Values["forge"] = f
			e.Values["served"] = new(*gitServer)
			h := &helm{archives: map[string][]byte{}, index: map[string]string{}}
			repository := httptest.NewServer(h)
			e.Defer(repository.Close)
			e.Values["helm"] = h
			e.Setenv("CHARTS", repository.URL)
			signer, err := newKey()
			if err != nil {
				return err
			}
			e.Values["key"] = signer
			e.Setenv("REGISTRY", strings.TrimPrefix(server.URL, "http://"))
			e.Setenv("FORGE", api.URL)
			e.Setenv("WAYBILL_FORGE_TOKEN", "secret-token")
			e.Setenv("PATH", filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
			e.Setenv("GOGC", os.Getenv("GOGC")) // what lives for a moment need not collect garbage
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
			e.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(e.WorkDir, ".gitconfig"))
			return os.WriteFile(filepath.Join(e.WorkDir, ".gitconfig"), []byte("[user]\n\tname = t\n\temail = t@example.com\n[init]\n\tdefaultBranch = main\n"), 0o600)
		},
	})
}

// push pushes images: push REPOSITORY TAG...
func push(ts *testscript.TestScript, _ bool, args []string) {
	for _, tag := range args[1:] {
		ref, err := name.ParseReference(ts.Getenv("REGISTRY") + "/" + args[0] + ":" + tag)
		ts.Check(err)
		file, err := empty.Image.ConfigFile()
		ts.Check(err)
		file = file.DeepCopy()
		file.Created.Time = time.Unix(0, 0) // the date of an image is what its builder says: it counts for nothing
		file.Config.Labels = map[string]string{"org.opencontainers.image.source": "https://example.com/" + tag}
		image, err := mutate.ConfigFile(empty.Image, file)
		ts.Check(err)
		ts.Check(remote.Write(ref, image))
	}
}

// expand puts the addresses in place of $REGISTRY and $CHARTS in files: expand FILE...
func expand(ts *testscript.TestScript, _ bool, args []string) {
	for _, file := range args {
		text := strings.NewReplacer("$REGISTRY", ts.Getenv("REGISTRY"), "$CHARTS", ts.Getenv("CHARTS")).Replace(ts.ReadFile(file))
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o600))
	}
}

// pulls prints the pull requests into a file: pulls FILE
func pulls(ts *testscript.TestScript, _ bool, args []string) {
	f := ts.Value("forge").(*forge)
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	for i, p := range f.all {
		fmt.Fprintf(&b, "%d %s %s -> %s\n%s\n%s\n", i+1, p.State, p.Head.Ref, p.Base.Ref, p.Title, p.Body)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}

// closed has somebody close a pull request: close NUMBER
func closed(ts *testscript.TestScript, _ bool, args []string) {
	f := ts.Value("forge").(*forge)
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all[n-1].State = "closed"
}

// pull is a pull request as GitHub has it.
type pull struct {
	Number   int    `json:"number"`
	State    string `json:"state"`
	Title    string `json:"title"`
	Body     string `json:"body"`
	URL      string `json:"html_url"`
	Head     ref    `json:"head"`
	Base     ref    `json:"base"`
	IsMerged bool   `json:"merged"`
	Merge    string `json:"merge_commit_sha"`
}

type ref struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo struct {
		ID int `json:"id"`
	} `json:"repo"`
}

// forge is GitHub as far as pull requests of a repository go.
type forge struct {
	origin string
	mu     sync.Mutex
	all    []*pull
}

// git asks the repository.
func (f *forge) git(args ...string) string {
	args = append([]string{"-C", f.origin, "-c", "user.name=forge", "-c", "user.email=forge@example.com"}, args...)
	out, _ := exec.Command("git", args...).Output() // what is not there is empty
	return strings.TrimSpace(string(out))
}

// merge merges a pull request at a head.
func (f *forge) merge(p *pull, head string) bool {
	if p.State != "open" || f.git("rev-parse", p.Head.Ref) != head {
		return false
	}
	tree := f.git("merge-tree", "--write-tree", p.Base.Ref, head)
	p.Merge = f.git("commit-tree", tree, "-p", p.Base.Ref, "-p", head, "-m", "Merge pull request "+strconv.Itoa(p.Number))
	f.git("update-ref", "refs/heads/"+p.Base.Ref, p.Merge)
	p.State, p.IsMerged = "closed", true
	return true
}

func (f *forge) api() http.Handler {
	const repo = "/api/v3/repos/acme/fleet"
	mux := http.NewServeMux()
	answer := func(pattern string, of func(r *http.Request) any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			f.mu.Lock()
			defer f.mu.Unlock()
			if r.Header.Get("Authorization") != "Bearer secret-token" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			_ = json.NewEncoder(w).Encode(of(r)) // who asked is gone
		})
	}
	numbered := func(r *http.Request) *pull {
		n, _ := strconv.Atoi(r.PathValue("n"))
		p := f.all[n-1]
		p.Head.SHA = f.git("rev-parse", p.Head.Ref)
		return p
	}
	answer("GET "+repo, func(*http.Request) any { return map[string]bool{"allow_merge_commit": true} })
	answer("GET "+repo+"/commits/{sha}/statuses", func(*http.Request) any { return []string{} })
	answer("PUT "+repo+"/pulls/{n}/merge", func(r *http.Request) any {
		var in struct{ SHA string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		return map[string]bool{"merged": f.merge(numbered(r), in.SHA)}
	})
	answer("GET "+repo+"/pulls/{n}", func(r *http.Request) any { return numbered(r) })
	answer("GET "+repo+"/commits/{sha}/pulls", func(*http.Request) any { return []*pull{} })
	answer("POST "+repo+"/pulls", func(r *http.Request) any {
		var in struct{ Head, Base, Title, Body string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		p := &pull{Number: len(f.all) + 1, State: "open", Title: in.Title, Body: in.Body, URL: fmt.Sprint("https://forge.example/pulls/", len(f.all)+1)}
		p.Head.Ref, p.Base.Ref = in.Head, in.Base
		f.all = append(f.all, p)
		return p
	})
	answer("PATCH "+repo+"/pulls/{n}", func(r *http.Request) any {
		p := numbered(r)
		_ = json.NewDecoder(r.Body).Decode(p)
		return p
	})
	return mux
}
