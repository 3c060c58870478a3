package propose_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/reconciler/updates/propose"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/registry"
	"github.com/waybill-dev/waybill/test/twin"
)

// BenchmarkNothingNew is a run that finds nothing new: 1,000 policies of 300 repositories with 500 tags each, each with a value. Processor time
// is that of the registry, too, which is in this process.
func BenchmarkNothingNew(b *testing.B) {
	const policies, repositories = 1000, 300
	var asked atomic.Int64
	var tags []string
	for i := range 500 {
		tags = append(tags, fmt.Sprintf("%q", fmt.Sprintf("1.%d.0", i)))
	}
	body := `{"name": "app", "tags": [` + strings.Join(tags, ",") + `]}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, body)
	}))
	b.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	client, err := registry.New(registry.Options{Allow: []string{server.URL}, Private: loopback, PerHost: -1, Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	source := twin.Tree{"waybill.yaml": twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {updates: {mode: pullRequest}}\n"))}
	for i := range repositories {
		source[fmt.Sprintf("images/%d.yaml", i)] = twin.File(fmt.Appendf(nil, "apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImageRepository\nmetadata: {name: r-%d, namespace: shop}\nspec: {image: %s/org/app-%d}\n", i, host, i))
	}
	for i := range policies {
		source[fmt.Sprintf("policies/%d.yaml", i)] = twin.File(fmt.Appendf(nil, "apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImagePolicy\nmetadata: {name: p-%d, namespace: shop}\nspec: {imageRepositoryRef: {name: r-%d}, policy: {semver: {range: 1.x}}}\n", i, i%repositories))
		source[fmt.Sprintf("apps/%d.yaml", i)] = twin.File(fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app-%d, namespace: shop}\ndata:\n  image: %s/org/app-%d:1.499.0 # {\"$imagepolicy\": \"shop:p-%d\"}\n", i, host, i%repositories, i))
	}
	repo := twin.New("fleet")
	repo.Write("main", "a source", source.Folder())
	p := propose.Proposer{
		Repository: repo, Forge: &pulls{repo: repo}, Base: "main", Now: time.Now,
		Registries: func(render.ConfigSpec) (propose.Registry, propose.Catalog, error) { return client, &catalog{}, nil },
		Load: func(ctx context.Context, s sources.Snapshot) (render.Source, error) {
			return render.Load(ctx, s, render.With{})
		},
		Rollouts: func(context.Context) ([]rollouts.Rollout, error) { return nil, nil },
		Charts:   func(context.Context, sources.Snapshot) (updates.Charts, error) { return updates.Charts{}, nil },
	}
	if _, err := p.Run(b.Context()); err != nil {
		b.Fatal(err)
	}
	known, _, err := repo.Branch(b.Context(), updates.MemoryBranch)
	if n := asked.Swap(0); err != nil || n != repositories {
		b.Fatalf("%d requests were made at first: %v", n, err)
	}
	before := processor(b)
	for b.Loop() {
		r, err := p.Run(b.Context())
		if err != nil || len(r.Outcomes) > 0 || len(r.Found.Verdicts) != policies || r.Found.Verdicts[0].Why != updates.UpToDate {
			b.Fatalf("of %d policies it did %+v: %v", len(r.Found.Verdicts), r.Outcomes, err)
		}
	}
	b.ReportMetric((processor(b)-before).Seconds()/float64(b.N), "cpu-s/run")
	b.ReportMetric(float64(asked.Load())/float64(b.N), "requests/run")
	if now, _, err := repo.Branch(b.Context(), updates.MemoryBranch); err != nil || now.Commit != known.Commit || int(asked.Load()) != b.N*repositories {
		b.Errorf("%d requests were made in %d runs, and something was written: %t, %v", asked.Load(), b.N, now.Commit != known.Commit, err)
	}
}

// processor is the processor time of this process.
func processor(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
