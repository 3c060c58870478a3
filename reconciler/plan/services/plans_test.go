package services_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/test/twin"
)

var update = flag.Bool("update", false, "rewrite what is wanted of each file of testdata")

// exchanged says what a plan makes of what clusters exchange: what it says, how it is explained, and the file of each cluster.
func exchanged(t *testing.T, p *plan.Plan) string {
	t.Helper()
	var b bytes.Buffer
	for _, d := range p.Diags {
		fmt.Fprintln(&b, d.String())
	}
	for i := range p.Decisions {
		r := p.Decisions[i].Ref()
		if r.Kind != "Service" || strings.HasPrefix(r.Name, "derived-") {
			continue
		}
		for _, a := range p.Services.About(r) {
			if a.Style == "derived" && !isFound(p, r, a.Derived) {
				t.Errorf("%s is not found by what exports or imports it, and what is derived of it", r)
			}
			text, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s: %s\n", r, text)
		}
	}
	for i := range p.Clusters {
		e, ok := p.Clusters[i].Tree.Lookup(tree.ServicesFile)
		if !ok {
			continue
		}
		text, err := e.Blob.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s: %s", p.Clusters[i].Name, text)
	}
	return b.String()
}

// isFound reports that what is said of a Service is said of its ServiceExport, of its ServiceImport, and of what is derived, too.
func isFound(p *plan.Plan, r object.Ref, derived string) bool {
	const group = "multicluster.x-k8s.io"
	for _, other := range []object.Ref{
		{Group: group, Kind: "ServiceExport", Namespace: r.Namespace, Name: r.Name},
		{Group: group, Kind: "ServiceImport", Namespace: r.Namespace, Name: r.Name},
		{Kind: "Service", Namespace: r.Namespace, Name: derived},
	} {
		if len(p.Services.About(other)) == 0 && other.Name != "" {
			return false
		}
	}
	return true
}

// TestWhatClustersExchange by whole plans. Each file of testdata has a source, and what is wanted of it. A file that stands after
// that is of the version which is planned after the first one was published.
func TestWhatClustersExchange(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there is nothing to plan: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			source, repo := twin.Tree{}, twin.New("fleet")
			r := &reconciler.Reconciler{
				Seen: reconciler.NewCache(), Source: repo, Target: repo, Cache: cache.Memory(),
				Now: func() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) },
			}
			for n, f := range a.Files {
				if name, isSource := strings.CutPrefix(f.Name, "source/"); isSource {
					source[name] = twin.File(f.Data)
					continue
				}
				repo.Write("main", f.Name, source.Folder())
				res, err := r.Publish(t.Context(), "main")
				if err != nil {
					t.Fatal(err)
				}
				got := exchanged(t, &res.Plan)
				if *update {
					a.Files[n].Data = []byte(got)
				} else if d := cmp.Diff(string(f.Data), got); d != "" {
					t.Errorf("%s: %s", f.Name, d)
				}
			}
			if *update {
				if err := os.WriteFile(path, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
