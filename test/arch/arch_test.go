// Package arch holds the rules of the architecture against the code.
package arch

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/waybill-dev/waybill"

// order lists the top-level folders from the bottom up. A package may import its
// own folder and those before it; examples is data.
var order = []string{"examples", "deploy", "sources", "render", "policies", "reconciler", "cmd", "test"}

// only lists what none but the named packages and what is below them may import.
var only = map[string][]string{
	"os":                                   {"sources/git", "sources/dir", "sources/chart", "render/cache", "render/worker", "cmd", "test"},
	"os/exec":                              {"render/worker", "cmd", "test"},
	"syscall":                              {"sources/git", "sources/dir", "sources/egress", "render/worker", "cmd", "test"},
	"net":                                  {"sources/git", "sources/chart", "sources/egress", "sources/forge", "reconciler/serve", "reconciler/ui/login", "cmd", "test"},
	"net/http":                             {"sources/git", "sources/chart", "sources/egress", "sources/registry", "sources/forge", "reconciler/serve", "reconciler/ui", "reconciler/notify", "reconciler/agent", "reconciler/traces", "reconciler/clusters", "cmd", "test"},
	"log/slog":                             {"reconciler", "cmd", "test"},
	"text/tabwriter":                       {"reconciler/report", "test"}, // the commands print nothing else
	"sync":                                 {"reconciler/plan/manifest", "sources/git", "sources/dir", "sources/chart", "sources/egress", "sources/registry", "sources/forge", "render/cache", "render/worker", "policies/interpret", "render/renderer", "reconciler/inventory", "reconciler/folderlog", "reconciler/history", "reconciler/published", "reconciler/status/reports", "reconciler/heartbeat/receive", "reconciler/serve", "reconciler/preview/store", "reconciler/facts", "reconciler/ui", "reconciler/replicas", "reconciler/endpoints/push", "reconciler/clusters/survey", "reconciler/clusters/pods", "cmd", "test"},
	"golang.org/x/sync/errgroup":           {"sources/git", "sources/forge/forgetest", "reconciler/clusters", "reconciler/endpoints/push", "reconciler/members", "reconciler/agent", "cmd", "test"},
	"golang.org/x/sys":                     {"render/worker"},
	"helm.sh/helm/v3":                      {"render/helm"},
	"sigs.k8s.io/kustomize":                {"render/kustomize/build", "render/marker"}, // kyaml finds markers
	"github.com/landlock-lsm/go-landlock":  {"render/worker"},
	"golang.org/x/crypto/argon2":           {"render/seal"},
	"golang.org/x/crypto/chacha20poly1305": {"render/seal"},
	"github.com/hiddeco/sshsig":            {"sources/signing"},
	"github.com/ProtonMail/go-crypto":      {"sources/signing"},
	"golang.org/x/crypto/ssh":              {"sources/signing", "sources/git"},
	"filippo.io/age":                       {"render/seal/unseal", "test"},
	"github.com/elastic/go-seccomp-bpf":    {"render/worker"},
	"github.com/santhosh-tekuri/jsonschema/v6": {"render/helm/build"},
	"github.com/fluxcd/pkg/envsubst":           {"render/kustomize/build"},
	"github.com/yuin/gopher-lua":               {"policies/interpret/lua"},
	"github.com/karmada-io/karmada":            {"policies/interpret/thirdparty"}, // data
	"github.com/argoproj/argo-cd/v3":           {"policies/interpret/argocd"},     // data
	"github.com/google/go-containerregistry":   {"sources/chart", "sources/egress", "sources/registry", "test"},
	"github.com/Masterminds/semver/v3":         {"policies/imagepolicy", "sources/chart", "sources/lock", "render/helm", "render/flux"},
	"github.com/go-git/go-git/v5":              {"sources/git", "sources/ignore", "test"},
	"github.com/go-git/gcfg":                   {"sources/git"},
	"github.com/go-git/go-billy/v5":            {"sources/git", "test"},
	"github.com/evanphx/json-patch/v5":         {"policies/override"},
	"github.com/distribution/reference":        {"policies/override", "policies/images", "render/marker"},
	"github.com/robfig/cron/v3":                {"policies/karmada/validate", "policies/window"}, // validates; computes
	"github.com/prometheus/client_golang":      {"reconciler/serve"},
	"go.opentelemetry.io":                      {"reconciler/traces", "cmd"},
	"github.com/coreos/go-oidc/v3":             {"reconciler/ui/login"},
	"golang.org/x/oauth2":                      {"reconciler/ui/login"},
	"github.com/spf13/cobra":                   {"cmd"},
	"github.com/fluxcd/pkg/ssa":                {"reconciler/clusters"},
	"github.com/fluxcd/cli-utils":              {"reconciler/health", "reconciler/clusters"},
	"k8s.io/client-go":                         {"reconciler/clusters", "reconciler/members", "reconciler/management", "reconciler/replicas", "reconciler/evidence", "render/helm/build", "test"}, // a JSONPath; helm's lookup, which is refused
	"k8s.io/cli-runtime":                       {"reconciler/members", "cmd"},
	"k8s.io/kubectl":                           {"reconciler/members", "reconciler/report", "cmd"},
	"go.yaml.in/yaml/v3":                       {"render/object", "render/seal/unseal", "sources/lock", "sources/chart", "reconciler/registration"}, // manifests, as SOPS reads them, too; the lock; an index; where their text is
	"github.com/rogpeppe/go-internal/diff":     {"reconciler/preview", "reconciler/registration"},
}

// apart lists packages that decide beside each other and never import each other;
// only reconciler/plan joins them.
var apart = []string{"policies/match", "policies/place", "policies/override", "policies/interpret"}

// concurrent lists the packages that may start goroutines.
var concurrent = []string{"sources/git", "render/worker", "reconciler", "reconciler/applier", "reconciler/endpoints/push", "reconciler/observe", "reconciler/status/writer", "reconciler/members", "reconciler/replicas", "reconciler/serve", "cmd/waybill", "cmd/waybill/terminal", "test/bench/table"}

type pkg struct {
	ImportPath, Dir string
	Imports         []string
	GoFiles         []string
}

// rel is the package's path within the module.
func (p pkg) rel() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,Imports,GoFiles", module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var ps []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return ps
		} else if err != nil {
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
}

// below reports whether path is dir or in it.
func below(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

func TestImportsGoOneWay(t *testing.T) {
	for _, p := range packages(t) {
		level := slices.Index(order, top(p.rel()))
		if level < 0 {
			t.Errorf("%s is in none of the folders %v", p.rel(), order)
		}
		for _, imp := range p.Imports {
			if r, ok := strings.CutPrefix(imp, module+"/"); ok && slices.Index(order, top(r)) > level {
				t.Errorf("%s imports %s, which is above it", p.rel(), r)
			}
		}
	}
}

func TestOnePackageTouchesEachLibrary(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			for lib, allowed := range only {
				exact := !strings.Contains(lib, ".")
				if exact && imp != lib || !exact && !below(imp, lib) {
					continue
				}
				if !slices.ContainsFunc(allowed, func(dir string) bool { return below(p.rel(), dir) }) {
					t.Errorf("%s imports %s; only %v may", p.rel(), imp, allowed)
				}
			}
		}
	}
}

func TestDecidersStayApart(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			r := strings.TrimPrefix(imp, module+"/")
			if slices.Contains(apart, p.rel()) && slices.Contains(apart, r) {
				t.Errorf("%s imports %s; only reconciler/plan joins them", p.rel(), r)
			}
		}
	}
}

func TestThePureCoreTakesTheTimeAndStartsNothing(t *testing.T) {
	for _, p := range packages(t) {
		fset, files := syntax(t, p)
		for n := range nodes(files) {
			if g, ok := n.(*ast.GoStmt); ok && top(p.rel()) != "test" && !slices.Contains(concurrent, p.rel()) {
				t.Errorf("%s: go statement outside the packages that may have one", fset.Position(g.Pos()))
			}
			if s, ok := n.(*ast.SelectorExpr); ok && top(p.rel()) != "cmd" && top(p.rel()) != "test" {
				if isName(s.X, "time") && (s.Sel.Name == "Now" || s.Sel.Name == "Since") {
					t.Errorf("%s: take the time as a parameter", fset.Position(s.Pos()))
				}
			}
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	fset := token.NewFileSet()
	for _, p := range packages(t) {
		said := len(p.GoFiles) == 0 // only tests
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			said = said || f.Doc != nil
		}
		if !said {
			t.Errorf("%s has no package comment", p.rel())
		}
	}
}

func top(rel string) string { s, _, _ := strings.Cut(rel, "/"); return s }
