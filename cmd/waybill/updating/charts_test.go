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
	file, locked, u, out := locking(t, "", web, api)
	u.Only = []string{"web"}
	changed, err := u.Run(t.Context())
	if changed || err != nil || out.Len() > 0 {
		t.Errorf("changed is %t, the error %v; it says %q", changed, err, out)
	}
	if err := u.Failure(); err == nil || !strings.Contains(err.Error(), "1 chart could not be locked") || !strings.Contains(err.Error(), "shop/web") {
		t.Errorf("the failure is %v", err)
	}
	if is, err := os.ReadFile(file); err != nil || !bytes.Equal(is, locked) {
		t.Errorf("locked is %s, and the error %v; want %s", is, err, locked)
	}
}

var web, api, old = entry("web", "1.x", "1.2.3"), entry("api", "2.x", "2.3.4"), entry("old", "3.x", "3.4.5")

// locking is a folder with a lock of charts, and what locks it anew: the source names web and api, and has another file. The repository
// of the charts does not answer.
func locking(t *testing.T, more string, charts ...lock.Entry) (file string, locked []byte, u *Charts, out *bytes.Buffer) {
	t.Helper()
	repo := twin.New("fleet")
	repo.Write("main", "a change", twin.Tree{"all.yaml": twin.File([]byte(source)), "more.yaml": twin.File([]byte(more))}.Folder())
	s, err := repo.Snapshot(t.Context(), "main", "")
	if err != nil {
		t.Fatal(err)
	}
	store, err := chart.New(chart.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir()
	file = filepath.Join(path, lock.FileName)
	locked = lock.Lock{}.With(charts...).Encode()
	if err := os.WriteFile(file, locked, 0o600); err != nil {
		t.Fatal(err)
	}
	out = &bytes.Buffer{}
	return file, locked, &Charts{
		Out: out, Err: out, Path: path, Source: s, Store: store, Planner: &planner.Planner{Source: repo, Engine: onlyCharts{}, Now: time.Now},
	}, out
}

// What the source no longer names is taken out, unless a part of the source cannot be read, which may name it. Without writing, the
// file stays as it is.
func TestWhatNothingNamesIsTakenOut(t *testing.T) {
	for name, test := range map[string]struct {
		more    string
		judged  bool // of what is locked nothing is asked for
		dry     bool
		changed bool
		stays   bool // in the file
		says    string
	}{
		"taken out": {judged: true, changed: true, says: "old"},
		"taken out, whoever else does not answer": {changed: true, says: "old"},
		"would be taken out":                      {judged: true, dry: true, changed: true, stays: true, says: "old"},
		"it may be named":                         {more: "kind: [", judged: true, stays: true, says: "kept in waybill.lock: 1 chart that nothing else names"},
		"nothing is known of the others":          {dry: true, stays: true, says: "old"},
	} {
		t.Run(name, func(t *testing.T) {
			file, locked, u, out := locking(t, test.more, web, api, old)
			u.Judged, u.Dry = test.judged, test.dry
			changed, err := u.Run(t.Context())
			if err != nil || changed != test.changed || !strings.Contains(out.String(), test.says) {
				t.Errorf("changed is %t, and the error %v; it says %q", changed, err, out)
			}
			want := locked
			if !test.stays {
				want = lock.Lock{}.With(web, api).Encode()
			}
			if is, err := os.ReadFile(file); err != nil || !bytes.Equal(is, want) {
				t.Errorf("locked is %s, and the error %v", is, err)
			}
			if (u.Failure() == nil) != test.judged {
				t.Errorf("the failure is %v", u.Failure())
			}
		})
	}
}

func TestAChartThatNothingNamesIsNotAskedFor(t *testing.T) {
	file, locked, u, _ := locking(t, "", web, api, old)
	u.Only = []string{"old"}
	if changed, err := u.Run(t.Context()); changed || err == nil || !strings.Contains(err.Error(), `names no chart "old"`) {
		t.Errorf("changed is %t, and the error %v", changed, err)
	}
	if is, err := os.ReadFile(file); err != nil || !bytes.Equal(is, locked) {
		t.Errorf("locked is %s, and the error %v", is, err)
	}
	if err := os.WriteFile(file, []byte("charts: [broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.Only = []string{"web"}
	if _, err := u.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "without names of charts it is written anew") {
		t.Errorf("of a lock that cannot be read the error is %v", err)
	}
}
