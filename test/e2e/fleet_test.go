//go:build e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// fleet is a source with one cluster, the repository that it is published to, and what
// stands for source-controller: it serves commits of the branch as archives.
type fleet struct {
	t            *testing.T
	api          *api
	waybill      string
	cluster      string
	source, bare string
	server       *httptest.Server
	mu           sync.Mutex
	archives     map[string][]byte // by commit
	shared       bool              // the branch is the one that clusters share
}

func newFleet(t *testing.T, s *servers, cluster string) *fleet {
	t.Helper()
	dir := t.TempDir()
	f := &fleet{
		t: t, api: s.api.with(t), waybill: s.waybill, cluster: cluster, archives: map[string][]byte{},
		source: filepath.Join(dir, "source"), bare: filepath.Join(dir, "fleet.git"),
	}
	f.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		data, ok := f.archives[strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/"), ".tar.gz")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(f.server.Close)
	f.git("", "init", "-q", "-b", "main", f.source)
	f.git("", "init", "-q", "--bare", f.bare)
	f.register("")
	f.write("policy.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec:\n  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]\n  placement: {}\n")
	return f
}

// register writes the Cluster, with a form of its branch.
func (f *fleet) register(form string) {
	annotations := ""
	if form != "" {
		annotations = ", annotations: {waybill.dev/flux-form: " + form + "}"
	}
	f.write("cluster.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: "+f.cluster+annotations+"}\nspec: {syncMode: Pull}\n")
}

func (f *fleet) write(name, content string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.source, name), []byte(content), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// namespace writes a Namespace with so many ConfigMaps.
func (f *fleet) namespace(name string, n int) {
	f.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", name)
	for i := range n {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%04d, namespace: %s}\ndata: {n: \"%d\"}\n", i, name, i)
	}
	f.write(name+".yaml", b.String())
}

func (f *fleet) command(name string, args ...string) string {
	f.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+f.api.kubeconfig, "PATH="+filepath.Dir(f.api.path)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr.String())
	}
	f.t.Logf("%s %.80q: %s", filepath.Base(name), strings.Join(args, " "), stderr.String())
	return string(out)
}

func (f *fleet) git(dir string, args ...string) string {
	f.t.Helper()
	if dir != "" {
		args = append([]string{"-C", dir}, args...)
	}
	return f.command("git", args...)
}

func (f *fleet) branch() string {
	if f.shared {
		return "waybill/clusters"
	}
	return "waybill/cluster/" + f.cluster
}

// publish commits the source and publishes it.
func (f *fleet) publish(flags ...string) {
	f.t.Helper()
	f.git(f.source, "add", "-A")
	f.git(f.source, "commit", "-q", "--allow-empty", "-m", "next")
	f.command(f.waybill, append([]string{"publish", f.source, "--to", f.bare}, flags...)...)
}

// flux returns what `get flux` prints.
func (f *fleet) flux(flags ...string) string {
	f.t.Helper()
	return f.command(f.waybill, append([]string{"get", "flux", "-C", f.source, "--to", f.bare, "--url", f.bare, "--cluster", f.cluster}, flags...)...)
}

// fetch lets Flux see the head of the branch, as source-controller would. It returns the
// revision.
func (f *fleet) fetch() string {
	f.t.Helper()
	commit := strings.TrimSpace(f.git(f.bare, "rev-parse", f.branch()))
	data := f.archive(commit)
	f.mu.Lock()
	f.archives[commit] = data
	f.mu.Unlock()
	revision := f.branch() + "@sha1:" + commit
	sum := sha256.Sum256(data)
	now := time.Now().UTC().Format(time.RFC3339)
	body, err := json.Marshal(map[string]any{"status": map[string]any{
		"artifact": map[string]any{
			"path": commit + ".tar.gz", "url": f.server.URL + "/" + commit + ".tar.gz", "revision": revision,
			"digest": "sha256:" + hex.EncodeToString(sum[:]), "lastUpdateTime": now, "size": len(data),
		},
		"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Succeeded", "message": revision, "lastTransitionTime": now}},
	}})
	if err != nil {
		f.t.Fatal(err)
	}
	path := "/apis/source.toolkit.fluxcd.io/v1/namespaces/flux-system/gitrepositories/waybill-" + f.cluster + "/status"
	if status, answer := f.api.do(http.MethodPatch, path, "application/merge-patch+json", body); status != http.StatusOK {
		f.t.Fatalf("PATCH %s: %d\n%s", path, status, answer)
	}
	return revision
}

// archive packs a commit.
func (f *fleet) archive(commit string) []byte {
	f.t.Helper()
	tree := strings.TrimSpace(f.git(f.bare, "rev-parse", commit+"^{tree}"))
	packed := tar.NewReader(strings.NewReader(f.git(f.bare, "archive", "--format=tar", tree)))
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	out := tar.NewWriter(zip)
	for {
		h, err := packed.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = out.WriteHeader(h)
		}
		if err == nil {
			_, err = io.Copy(out, packed)
		}
		if err != nil {
			f.t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		f.t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		f.t.Fatal(err)
	}
	return b.Bytes()
}

// kustomizations are the Flux Kustomizations of the cluster, by name.
func (f *fleet) kustomizations() map[string]object {
	f.t.Helper()
	out := map[string]object{}
	for _, k := range f.api.list(fluxObjects) {
		if name := k.Metadata.Name; name == "waybill-"+f.cluster || strings.HasPrefix(name, "waybill-"+f.cluster+".") || strings.HasPrefix(name, "waybill-"+f.cluster+"-") {
			out[name] = k
		}
	}
	return out
}

// settled waits until the named Kustomizations, and no others, are there and have applied
// a revision.
func (f *fleet) settled(revision string, names ...string) {
	f.t.Helper()
	eventually(f.t, fmt.Sprintf("%v have applied %s", names, revision), func() (bool, string) {
		have := f.kustomizations()
		for _, name := range names {
			k, ok := have["waybill-"+f.cluster+name]
			if ready, why := k.ready(); !ok || !ready || k.Status.LastAppliedRevision != revision {
				return false, fmt.Sprintf("%s: %v %s at %s", name, ok, why, k.Status.LastAppliedRevision)
			}
		}
		return len(have) == len(names), fmt.Sprintf("there are %d Kustomizations", len(have))
	})
}
