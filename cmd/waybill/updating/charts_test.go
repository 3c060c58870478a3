package updating

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/chart"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/test/twin"
)

const repository = "https://127.0.0.1/charts" // which is private, and not asked

const source = `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}]
  placement: {}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: shop}
spec: {url: '` + repository + `', interval: 1h}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: shop}
spec: {interval: 1h, chart: {spec: {chart: web, version: 1.x, sourceRef: {kind: HelmRepository, name: charts}}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: api, namespace: shop}
spec: {interval: 1h, chart: {spec: {chart: api, version: 2.x, sourceRef: {kind: HelmRepository, name: charts}}}}
`

// onlyCharts is an engine of a source in which nothing but charts of repositories is to be rendered.
type onlyCharts struct{ render.Engine }

func (onlyCharts) Render(context.Context, sources.Snapshot, []engine.Job) ([]engine.Rendered, error) {
	return nil, nil
}

func entry(name, constraint, version string) lock.Entry {
	return lock.Entry{
		Ref:     lock.Ref{Kind: lock.Helm, Repository: repository, Name: name, Constraint: constraint},
		Version: version, URL: repository + "/" + name + "-" + version + ".tgz", Digest: "sha256:" + strings.Repeat("a", 64),
	}
}

// Of two charts that are locked one is asked for, and its repository does not answer: both stay locked.
func TestAChartWhoseRepositoryDoesNotAnswerStaysLocked(t *testing.T) {
	repo := twin.New("fleet")
	repo.Write("main", "a change", twin.Tree{"all.yaml": twin.File([]byte(source))}.Folder())
	s, err := repo.Snapshot(t.Context(), "main", "")
	if err != nil {
		t.Fatal(err)
	}
	store, err := chart.New(chart.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir()
	file, locked := filepath.Join(path, lock.FileName), lock.Lock{}.With(entry("web", "1.x", "1.2.3"), entry("api", "2.x", "2.3.4")).Encode()
	if err := os.WriteFile(file, locked, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	u := Charts{
		Out: &out, Err: &out, Path: path, Source: s, Only: []string{"web"}, Store: store,
		Planner: &planner.Planner{Source: repo, Engine: onlyCharts{}, Now: time.Now},
	}
	changed, err := u.Run(t.Context())
	if changed || err != nil || out.Len() > 0 {
		t.Errorf("changed is %t, the error %v; it says %q", changed, err, &out)
	}
	if err := u.Failure(); err == nil || !strings.Contains(err.Error(), "1 chart could not be locked") || !strings.Contains(err.Error(), "shop/web") {
		t.Errorf("the failure is %v", err)
	}
	if is, err := os.ReadFile(file); err != nil || !bytes.Equal(is, locked) {
		t.Errorf("locked is %s, and the error %v; want %s", is, err, locked)
	}
}
