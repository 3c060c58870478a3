package ui_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/ui"
	"github.com/waybill-dev/waybill/reconciler/ui/login"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/shown"
	"github.com/waybill-dev/waybill/test/twin"
)

var web = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}

// shared is a twin that several may ask, and that can be away.
type shared struct {
	mu   sync.Mutex
	twin *twin.Repo
	away bool
}

func (s *shared) do(what func(*twin.Repo) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return errors.New("connection refused")
	}
	return what(s.twin)
}

func (s *shared) Name() string { return "shared" }

func (s *shared) Resolve(ctx context.Context, rev string) (id files.ID, err error) {
	err = s.do(func(r *twin.Repo) (err error) { id, err = r.Resolve(ctx, rev); return err })
	return id, err
}

func (s *shared) IsAncestor(ctx context.Context, a, b files.ID) (is bool, err error) {
	err = s.do(func(r *twin.Repo) (err error) { is, err = r.IsAncestor(ctx, a, b); return err })
	return is, err
}

func (s *shared) Snapshot(ctx context.Context, rev, subdir string) (shot sources.Snapshot, err error) {
	err = s.do(func(r *twin.Repo) (err error) { shot, err = r.Snapshot(ctx, rev, subdir); return err })
	return shot, err
}

func (s *shared) Heads(ctx context.Context) (heads map[string]files.ID, err error) {
	err = s.do(func(r *twin.Repo) (err error) { heads, err = r.Heads(ctx); return err })
	return heads, err
}

func (s *shared) Fetch(context.Context, ...string) error { return nil }

func (s *shared) Branch(ctx context.Context, name string) (h git.Head, ok bool, err error) {
	err = s.do(func(r *twin.Repo) (err error) { h, ok, err = r.Branch(ctx, name); return err })
	return h, ok, err
}

func (s *shared) Commit(ctx context.Context, id files.ID) (h git.Head, err error) {
	err = s.do(func(r *twin.Repo) (err error) { h, err = r.Commit(ctx, id); return err })
	return h, err
}

func (s *shared) Root(ctx context.Context, id files.ID) (h git.Head, entries []files.Entry, err error) {
	err = s.do(func(r *twin.Repo) (err error) { h, entries, err = r.Root(ctx, id); return err })
	return h, entries, err
}

func (s *shared) Within(ctx context.Context, id files.ID, folder string) (h git.Head, ok bool, err error) {
	err = s.do(func(r *twin.Repo) (err error) { h, ok, err = r.Within(ctx, id, folder); return err })
	return h, ok, err
}

func (s *shared) Has(ids ...files.ID) (has map[files.ID]bool) {
	_ = s.do(func(r *twin.Repo) error { has = r.Has(ids...); return nil })
	return has
}

func (s *shared) Last() (map[string]files.ID, error) { return nil, nil }

func (s *shared) Publish(ctx context.Context, updates []git.Update) (ids []files.ID, err error) {
	err = s.do(func(r *twin.Repo) (err error) { ids, err = r.Publish(ctx, updates); return err })
	return ids, err
}

// fleet is a fleet in memory with a web UI.
type fleet struct {
	t       *testing.T
	repo    *shared
	source  twin.Tree
	now     time.Time
	ui      *ui.UI
	stop    chan struct{}
	handler http.Handler
}

// newFleet makes one of which nothing is published.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, repo: &shared{twin: twin.New("fleet")}, source: twin.Tree{}, now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), stop: make(chan struct{})}
	f.put("clusters.yaml", `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu, labels: {stage: production}}
spec: {syncMode: Push, region: europe, provider: acme, apiEndpoint: "https://eu.example.com"}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us, labels: {stage: production}}
spec: {syncMode: Push, region: america}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: ap}
spec: {syncMode: Pull, taints: [{key: maintenance, value: soon, effect: NoSchedule}]}
`)
	f.put("web.yaml", webText(4, "web:1"))
	f.put("conf.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf, namespace: shop}\ndata: {greeting: hello}\n")
	f.put("policy.yaml", `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: everywhere, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: v1, kind: ConfigMap}]
  placement:
    clusterAffinity: {clusterNames: [eu, us]}
    replicaScheduling:
      replicaSchedulingType: Divided
      replicaDivisionPreference: Weighted
      weightPreference: {staticWeightList: [{targetCluster: {clusterNames: [eu, us]}, weight: 1}]}
`)
	now := func() time.Time { return f.now }
	f.ui = &ui.UI{
		Reader: &facts.Reader{Reconciler: &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: f.repo, Target: f.repo, Now: now}, Rev: "main"},
		Guard:  login.Open{}, Now: now, Log: slog.New(slog.DiscardHandler), Stop: f.stop,
	}
	f.handler = f.ui.Handler()
	return f
}

func webText(replicas int, image string) string {
	return fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: %d, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: %q}]}}}\n", replicas, image)
}

func (f *fleet) put(name, text string) { f.source[name] = twin.File([]byte(text)) }

// publish commits the source and publishes it.
func (f *fleet) publish(message string) {
	f.t.Helper()
	f.repo.mu.Lock()
	f.repo.twin.Write("main", message, f.source.Folder())
	f.repo.mu.Unlock()
	f.publishes(&reconciler.Reconciler{})
}

// publishes has what is committed published.
func (f *fleet) publishes(r *reconciler.Reconciler) {
	f.t.Helper()
	r.Source, r.Target, r.Version, r.Now = f.repo, f.repo, "test", func() time.Time { return f.now }
	if _, err := r.Publish(f.t.Context(), "main"); err != nil {
		f.t.Fatal(err)
	}
	f.ui.Changed()
}

// say has a cluster say what became of web.
func (f *fleet) say(cluster string, o *status.Object) {
	f.t.Helper()
	h, _, err := f.repo.Branch(f.t.Context(), "waybill/cluster/"+cluster)
	if err != nil {
		f.t.Fatal(err)
	}
	o.Applied.Commit, o.Applied.Source = h.Commit, f.head("main").Commit.String()
	c := status.Cluster{
		Summary: status.Summary{Name: cluster, Commit: h.Commit, Verdict: status.Verdict{Reason: status.Applied}},
		Objects: map[object.Ref]*status.Object{web: o},
	}
	if o.Applied.Phase != status.PhaseApplied {
		c.Verdict = status.Verdict{Reason: status.Failing, Message: o.Applied.Message}
	}
	f.repo.mu.Lock()
	defer f.repo.mu.Unlock()
	f.repo.twin.Now = f.now.Add(-5 * time.Minute)
	f.repo.twin.Write(status.Prefix+cluster, "status", status.Summarize(c))
}

func healthy() *status.Object {
	return &status.Object{Applied: status.Application{Phase: status.PhaseApplied}, Health: status.Health{State: karmada.ResourceHealthy}}
}

// get asks for a page.
func (f *fleet) get(method, path string) *httptest.ResponseRecorder {
	f.t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(f.t.Context(), method, path, http.NoBody)
	r.Host = "localhost:8090"
	f.handler.ServeHTTP(w, r)
	return w
}

// published is a fleet with two publications, of which one cluster says that it is well and one that
// it is not.
func published(t *testing.T) *fleet {
	t.Helper()
	f := newFleet(t)
	f.publish("first")
	f.put("web.yaml", webText(6, "web:2"))
	f.publish("web: the second version")
	f.say("eu", healthy())
	f.say("us", &status.Object{
		Applied: status.Application{Phase: status.PhaseApplied},
		Health:  status.Health{State: karmada.ResourceUnhealthy, Reason: "InProgress", Message: "1 of 3 is available", By: "built-in", Since: f.now.Add(-time.Hour)},
	})
	return f
}

func (f *fleet) head(branch string) git.Head {
	f.t.Helper()
	h, ok, err := f.repo.Branch(f.t.Context(), branch)
	if err != nil || !ok {
		f.t.Fatal(branch, err)
	}
	return h
}

func TestPagesSayWhatGitSays(t *testing.T) {
	f := published(t)
	state := f.head("waybill/state")
	source := f.head("main").Commit.String()
	for path, want := range map[string][]string{
		"/": {
			"1 problem Published last: " + source[:12], "1 ✕ Not healthy",
			"✕ Not healthy shop/web (Deployment) 1 of 2 clusters us 60m ago InProgress 1 of 3 is available Next: waybill explain deployment/web -n shop",
			source[:12] + " web: the second version, by",
		},
		"/?kind=Unhealthy": {"shop/web (Deployment)"},
		"/?kind=Held":      {"No problem is like that."},
		"/?q=us+web":       {"shop/web (Deployment)"},
		"/?q=eu":           {"No problem is like that."},
		"/fleet": {
			"1 ✓ Healthy", "1 ✕ Unhealthy", "1 – Empty", "us america stage=production ✕ Unhealthy",
			"eu europe stage=production ✓ Healthy not observed " + f.head("waybill/cluster/eu").Commit.String()[:12], "1 0 0 0 0 5m ago",
		},
		"/fleet?q=europe":               {"eu europe", "!us america"},
		"/fleet?region=america":         {"us america", "!eu europe"},
		"/fleet?status=Healthy":         {"eu europe", "!us america"},
		"/fleet?q=nothing-is-called-so": {"No cluster is like that."},
		"/matrix":                       {"web Deployment in shop 2 3 ✕ Unhealthy 3 ✓ Healthy", "conf ConfigMap in shop 2 – Published, not told – Published, not told"},
		"/matrix?kind=ConfigMap":        {"conf ConfigMap", "!web Deployment"},
		"/matrix?unwell=1":              {"web Deployment in shop", "!conf ConfigMap"},
		"/matrix?unwell=1&off=1":        {"web Deployment in shop", "!conf ConfigMap"},
		"/search":                       {"Type a name"},
		"/search?q=nothing-says-so":     {"0 things with nothing-says-so", "Nothing is called so"},
		"/search?q=web": {
			"1 problem ✕ Not healthy shop/web (Deployment) 1 of 2 clusters, InProgress", "1 app shop/web (Deployment) in 2 clusters",
			"1 publication web: the second version " + source[:12], "!conf",
		},
		"/search?q=europe":                   {"1 cluster ✓ Healthy eu", "!us america"},
		"/search?q=SHOP":                     {"2 apps shop/web (Deployment) in 2 clusters shop/conf (ConfigMap)", "1 namespace shop 2 templates"},
		"/search?q=" + source[:10]:           {"1 publication web: the second version"},
		"/matrix?q=web&in=eu":                {"web Deployment in shop 2 3 ✓ Healthy", "!Unhealthy"},
		"/matrix?off=1":                      {"No template is like that."},
		"/clusters/eu":                       {"Provider acme", "Region europe", "API endpoint https://eu.example.com", "2 templates", "None.", "web: the second version", "first"},
		"/clusters/us":                       {"Deployment.apps/shop/web ✕ Unhealthy 1 of 3 is available (by built-in) 60m ago"},
		"/clusters/ap":                       {"Nothing was published for it.", "maintenance=soon NoSchedule"},
		"/templates/Deployment/shop/web":     {"6, divided among its clusters", "PropagationPolicy shop/everywhere", "web.yaml", "us ✕ Unhealthy 1 of 3 is available (by built-in) 3", "eu ✓ Healthy 3", "replicas 2 → 3 in eu, us", "added to eu (2), us (2)"},
		"/templates/ConfigMap/shop/conf":     {"added to eu, us", "!replicas 2"},
		"/changes":                           {"web: the second version current " + source[:12], "first"},
		"/changes/" + state.Commit.String():  {"web: the second version", "Who a person", "replicas 2 → 3 in eu, us", "2 clusters: eu, us", "spec.replicas was 2 → is 3", "image was web:1 → is web:2", "eu " + f.head("waybill/cluster/eu").Commit.String()[:12] + " 0 1 0"},
		"/changes/" + source + "?cluster=eu": {"web: the second version in eu", "1 cluster Manifests", "!2 clusters"},
		"/changes/" + source[:12]:            {"web: the second version", "2 clusters: eu, us"},
		"/changes/" + state.Parent.String():  {"first", "2 clusters", "The whole manifest is added."},
	} {
		w := f.get(http.MethodGet, path)
		if strings.HasPrefix(path, "/templates/Deployment/") {
			if to := w.Header().Get("Location"); w.Code != http.StatusOK && to == "" {
				t.Errorf("%s: %d", path, w.Code)
			}
		}
		text := shown.Words(w.Body.String())
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, text)
		}
		for _, s := range want {
			if no, isNo := strings.CutPrefix(s, "!"); isNo == strings.Contains(text, no) {
				t.Errorf("%s: want %q in\n%s", path, s, text)
			}
		}
	}
}

// TestAReleaseOfRemovalsNamesWhoAllowedIt publishes that all goes which clusters have, once by a comment of somebody who
// may write and once by whoever publishes: the pages of both say it, and those of other publications do not.
func TestAReleaseOfRemovalsNamesWhoAllowedIt(t *testing.T) {
	f := published(t)
	conf := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "conf"}
	gone := guard.Removals{{Clusters: []string{"eu", "us"}, Objects: []object.Ref{conf, web}}}
	delete(f.source, "web.yaml")
	delete(f.source, "conf.yaml")
	merged := f.repo.twin.Write("main", "all of it goes", f.source.Folder())
	approval := commands.Command{
		Parsed:      commands.Parsed{Verb: commands.ApprovePrune, Digest: gone.Digest(), Head: merged.String()},
		PullRequest: 7, Comment: 1, By: "wendy", At: f.now, Removals: gone, Merged: merged.String(),
	}
	update, err := (&commands.Change{Taken: []commands.Command{approval}}).Update(git.Head{}, f.now)
	if err != nil {
		t.Fatal(err)
	}
	f.repo.twin.Write(commands.Branch, update.Message, update.Tree)
	f.publishes(&reconciler.Reconciler{Seen: reconciler.NewCache(), ByComment: true})
	byWendy := f.head("waybill/state").Commit.String()
	f.put("conf.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf, namespace: shop}\ndata: {greeting: again}\n")
	f.publish("it comes again")
	nobody := f.head("waybill/state").Commit.String()
	delete(f.source, "conf.yaml")
	f.repo.twin.Write("main", "it goes again", f.source.Folder())
	f.publishes(&reconciler.Reconciler{Seen: reconciler.NewCache(), Allow: guard.AllowAll})
	byPublisher := f.head("waybill/state").Commit.String()
	gonePage := shown.Words(f.get(http.MethodGet, "/templates/Deployment.apps/shop/web").Body.String())
	for _, s := range []string{
		"Deployment.apps/shop/web", "– Gone", "✕ Gone all of it goes by a person " + merged.String()[:12] + " it is gone",
		"removals that would have been held: allowed by wendy on pull request 7, comment 1, at 2026-11-21T12:00:00Z", "!Where it runs", "!Explain where",
	} {
		if no, isNo := strings.CutPrefix(s, "!"); isNo == strings.Contains(gonePage, no) {
			t.Errorf("of what is gone: want %q in\n%s", s, gonePage)
		}
	}
	const what = "Removals that would have been held"
	for path, want := range map[string]string{
		"/changes/" + byWendy: what + " allowed by wendy on pull request 7", "/changes/" + byPublisher: what + " allowed by whoever ran publish --allow-prune", "/changes/" + nobody: "!" + what,
		"/changes": what + ": allowed by wendy on pull request 7",
	} {
		text := shown.Words(f.get(http.MethodGet, path).Body.String())
		if no, isNo := strings.CutPrefix(want, "!"); isNo == strings.Contains(text, no) {
			t.Errorf("%s: want %q in\n%s", path, want, text)
		}
	}
}

// TestATimeline has an image change, an object be held and let go, and a cluster say that it is not well: each is an event with when,
// who and by which commit, and what waited keeps whose it was.
func TestATimeline(t *testing.T) {
	f := published(t)
	page := func() string {
		return shown.Words(f.get(http.MethodGet, "/templates/Deployment.apps/shop/web").Body.String())
	}
	second := f.head("main").Commit.String()[:12]
	wants := func(want ...string) {
		t.Helper()
		text := page()
		_, text, _ = strings.Cut(text, "What happened, and when")
		for _, s := range want {
			if no, isNo := strings.CutPrefix(s, "!"); isNo == strings.Contains(text, no) {
				t.Errorf("want %q in\n%s", s, text)
			}
		}
	}
	wants(
		"60m ago ✕ Unhealthy with web: the second version "+second+" unhealthy in 1 of 2 clusters: us; 1 of 3 is available (by built-in)",
		"↕ Scaled ~ Image web: the second version by a person "+second+" replicas 2 → 3 in eu, us image web:1 → web:2 in eu, us",
		"Placed first by a person", "added to eu (2), us (2)", "!spec.replicas", "!delivered to",
	)
	for _, name := range []string{"web.yaml", "conf.yaml"} {
		delete(f.source, name)
	}
	f.repo.twin.Now = f.now
	f.publish("all of it goes")
	goes := f.head("main").Commit.String()[:12]
	wants("‖ Held all of it goes by a person "+goes+" not carried out in eu (the cluster is held), us (the cluster is held)", "✕ Unhealthy with web", "!carried out in eu, us")
	held := f.head("waybill/state").Commit.String()[:12]
	f.now = f.now.Add(time.Hour)
	f.publishes(&reconciler.Reconciler{Seen: reconciler.NewCache(), Allow: guard.AllowAll, AllowedBy: "ann@example.com"})
	wants("▸ Released all of it goes by a person "+goes+" it is gone carried out in eu, us: what “all of it goes” by a person ("+goes,
		"removals that would have been held: allowed by ann@example.com by publish --allow-prune, at 2026-11-21T13:00:00Z", "‖ Held all of it goes")
	if said := shown.Words(f.get(http.MethodGet, "/changes").Body.String()); !strings.Contains(said, "the same commit again, after "+held+" of 60m ago: what was held goes") {
		t.Errorf("two publications of a commit look alike:\n%s", said)
	}
}

// TestAChangeBeginsWithTheAnswer has the page of a publication say in a sentence what it did, and once what was decided of several.
func TestAChangeBeginsWithTheAnswer(t *testing.T) {
	f := published(t)
	page := func() string {
		t.Helper()
		return shown.Words(f.get(http.MethodGet, "/changes/"+f.head("waybill/state").Commit.String()).Body.String())
	}
	if text := page(); !strings.Contains(text, "web: the second version changes shop/web (Deployment) in 2 clusters: spec.replicas 2 -&gt; 3 Source commit") {
		t.Errorf("of a change it says %s", text)
	}
	for _, name := range []string{"web.yaml", "conf.yaml"} {
		delete(f.source, name)
	}
	f.repo.twin.Now = f.now
	f.publish("all of it goes")
	text := page()
	for _, want := range []string{
		"all of it goes leaves shop/web (Deployment) and 1 more object as it is in 2 clusters: the cluster is held Source commit",
		"What was decided ConfigMap/shop/conf , Deployment.apps/shop/web not carried out in eu (the cluster is held), us (the cluster is held)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	f.now = f.now.Add(time.Hour)
	f.publishes(&reconciler.Reconciler{Seen: reconciler.NewCache(), Allow: guard.AllowAll, AllowedBy: "ann@example.com"})
	if text := page(); !strings.Contains(text, "all of it goes removes shop/web (Deployment) and 1 more object from 2 clusters Source commit") {
		t.Errorf("of what goes it says %s", text)
	}
}

// TestATimelineSaysWhatFailsOver has a template leave a cluster because of its taint, and the page say from where and why, and where it goes.
func TestATimelineSaysWhatFailsOver(t *testing.T) {
	f := published(t)
	f.put("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {failover: {enabled: true}}\n")
	f.publish("failover")
	eu := `kind: Cluster
metadata: {name: eu, labels: {stage: production}}
spec: {syncMode: Push,`
	clusters, err := f.source["clusters.yaml"].Blob.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	f.put("clusters.yaml", strings.Replace(string(clusters), eu, eu+" taints: [{key: dead, effect: NoExecute}],", 1))
	f.now = f.now.Add(10 * time.Minute)
	f.publish("eu is dead")
	text := shown.Words(f.get(http.MethodGet, "/templates/Deployment.apps/shop/web").Body.String())
	_, text, _ = strings.Cut(text, "What happened, and when")
	for _, want := range []string{"→ Fails over", "eu is dead by a person", "leaves eu: "} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
}

// TestErrorsInTheFileOfATemplate has the page of a template say what is wrong with its file, though it is placed: it may be a release that
// cannot be rendered.
func TestErrorsInTheFileOfATemplate(t *testing.T) {
	f := published(t)
	page := func() string {
		return shown.Words(f.get(http.MethodGet, "/templates/Deployment.apps/shop/web").Body.String())
	}
	if said := page(); strings.Contains(said, "Errors in its file") {
		t.Errorf("there is no error, and it says\n%s", said)
	}
	f.put("web.yaml", webText(6, "web:2")+"---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: typo, namespace: shop}\nspec: {placementt: {}}\n")
	f.publish("a typo")
	if said := page(); !strings.Contains(said, "Placed ✓ Placed") || !strings.Contains(said, "Errors in its file ✕ web.yaml:") || !strings.Contains(said, "placementt") {
		t.Errorf("it says\n%s", said)
	}
}

// TestNothingIsBroken has a start page that says since when that is so: since the last cluster became well.
func TestNothingIsBroken(t *testing.T) {
	f := published(t)
	well := healthy()
	well.Health.Since = f.now.Add(-17 * time.Minute)
	f.say("us", well)
	page := f.get(http.MethodGet, "/").Body.String()
	if said := shown.Words(page); !strings.Contains(said, "Nothing is broken") || !strings.Contains(said, "As it is since 17m ago") {
		t.Errorf("it says\n%s", said)
	}
	if at := well.Health.Since.UTC().Format(time.RFC3339); !strings.Contains(page, `title="`+at+`"`) {
		t.Errorf("%s is not shown on hover", at)
	}
}

// TestAClusterInAFolderHasAHistoryOfItsOwn publishes for clusters that share a branch: the page of a
// cluster shows the commits that changed its folder, and that of a change the folders that it changed.
func TestAClusterInAFolderHasAHistoryOfItsOwn(t *testing.T) {
	f := newFleet(t)
	f.put("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publish: {layout: folders}}\n")
	f.publish("first")
	first := f.head("waybill/clusters").Commit.String()[:12]
	f.put("only.yaml", `apiVersion: v1
kind: ConfigMap
metadata: {name: only, namespace: extra}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: only, namespace: extra}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {clusterAffinity: {clusterNames: [us]}}}
`)
	f.publish("only for us")
	second := f.head("waybill/clusters").Commit.String()[:12]
	for path, want := range map[string][]string{
		"/fleet":       {"eu europe stage=production ? Unknown nobody said yet what became of its branch not observed " + first, "not observed " + second},
		"/clusters/eu": {"waybill/clusters:eu", first + " first", "!only for us"},
		"/clusters/us": {"waybill/clusters:us", second + " only for us", first + " first"},
		"/changes/" + f.head("waybill/state").Commit.String(): {"1 cluster Manifests", "us " + second + " 1 0 0", "!" + first},
		"/changes/" + f.head("waybill/state").Parent.String(): {"2 clusters: eu, us", "eu " + first, "The whole manifest is added."},
	} {
		w := f.get(http.MethodGet, path)
		text := shown.Words(w.Body.String())
		for _, s := range want {
			if no, isNo := strings.CutPrefix(s, "!"); isNo == strings.Contains(text, no) {
				t.Errorf("%s: %d, want %q in\n%s", path, w.Code, s, text)
			}
		}
	}
}

func TestWhyIsWhatExplainPrints(t *testing.T) {
	f := published(t)
	text := shown.Words(f.get(http.MethodGet, "/templates/Deployment.apps/shop/web/why").Body.String())
	for _, want := range []string{"policy PropagationPolicy shop/everywhere (policy.yaml:1)", "eu", "chosen", "no: "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestWhatIsNotThereLeadsBack(t *testing.T) {
	f := published(t)
	for _, path := range []string{
		"/nothing", "/clusters/xx", "/templates/Deployment.apps/shop/other", "/templates/Deployment.batch/shop/web", "/templates/x/y/z/why",
		"/changes/0123456789abcdef0123456789abcdef01234567", "/changes/" + f.head("waybill/state").Commit.String()[:6], "/changes/../../etc", "/changes/" + f.head("waybill/state").Commit.String() + "?cluster=xx",
		"/clusters/%3Cscript%3Ealert(1)%3C/script%3E", "/clusters/" + strings.Repeat("x", 5000), "/%00", "/clusters/%2e%2e%2f%2e%2e",
	} {
		w := f.get(http.MethodGet, path)
		if w.Code == http.StatusMovedPermanently || w.Code == http.StatusTemporaryRedirect { // to what is not there either
			continue
		}
		if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), `href="/"`) || strings.Contains(w.Body.String(), "<script>alert") {
			t.Errorf("%.60s: %d %.300s", path, w.Code, w.Body)
		}
	}
}

func TestItIsReadOnly(t *testing.T) {
	f := published(t)
	for _, path := range []string{"/", "/matrix", "/clusters/eu", "/events", "/assets/x", "/nothing"} {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodTrace, "PURGE"} {
			if w := f.get(method, path); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
		}
		w := f.get(http.MethodHead, path)
		if w.Body.Len() > 0 && path != "/assets/x" {
			t.Errorf("HEAD %s has a body", path)
		}
		for name, want := range map[string]string{"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; ", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} {
			if got := w.Header().Get(name); !strings.HasPrefix(got, want) {
				t.Errorf("HEAD %s: %s is %q", path, name, got)
			}
		}
		if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("HEAD %s: %s", path, csp)
		}
	}
}

func TestPagesHaveNothingInline(t *testing.T) {
	f := published(t)
	for _, path := range []string{"/", "/matrix", "/clusters/us", "/templates/Deployment.apps/shop/web", "/changes", "/changes/" + f.head("waybill/state").Commit.String(), "/nothing"} {
		page := f.get(http.MethodGet, path).Body.String()
		for _, bad := range []string{" style=", "<style", " onclick", " onload", "javascript:", "http://", "//cdn"} {
			if strings.Contains(strings.ReplaceAll(page, "https://eu.example.com", ""), bad) {
				t.Errorf("%s has %q", path, bad)
			}
		}
		for part := range strings.SplitSeq(page, `="/assets/`) {
			name, _, _ := strings.Cut(part, `"`)
			if strings.HasPrefix(part, "<!doctype") {
				continue
			}
			if w := f.get(http.MethodGet, "/assets/"+name); w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
				t.Errorf("%s: its file %s: %d", path, name, w.Code)
			}
		}
	}
}

func TestNothingIsPublishedYet(t *testing.T) {
	f := newFleet(t)
	f.repo.twin.Write("main", "first", f.source.Folder())
	for path, want := range map[string]string{"/": "Nothing is published yet", "/matrix": "No template goes anywhere yet", "/changes": "Nothing is published yet"} {
		if w := f.get(http.MethodGet, path); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", path, w.Code, shown.Words(w.Body.String()))
		}
	}
}

func TestWhatCannotBeReadIsShownAsItWas(t *testing.T) {
	f := published(t)
	f.repo.away = true
	if w := f.get(http.MethodGet, "/"); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "connection refused") {
		t.Errorf("with nothing read before: %d %s", w.Code, shown.Words(w.Body.String()))
	}
	f.repo.away = false
	f.get(http.MethodGet, "/")
	f.repo.away = true
	text := shown.Words(f.get(http.MethodGet, "/fleet").Body.String())
	if !strings.Contains(text, "What is shown may be old. looking at the source: connection refused") || !strings.Contains(text, "eu europe") {
		t.Error(text)
	}
}

func TestABindingThatCannotBeReadCostsOnlyItself(t *testing.T) {
	f := published(t)
	files := twin.Of(f.head("waybill/state").Tree)
	files["bindings/shop/broken-deployment.yaml"] = twin.File([]byte("a: [\n"))
	f.repo.twin.Write("waybill/state", f.head("waybill/state").Message, files.Folder())
	for path, want := range map[string]string{"/matrix": "bindings/shop/broken-deployment.yaml of the state branch cannot be read.", "/templates/Deployment.apps/shop/web": "us ✕ Unhealthy", "/fleet": "eu europe"} {
		if w := f.get(http.MethodGet, path); w.Code != http.StatusOK || !strings.Contains(shown.Words(w.Body.String()), want) {
			t.Errorf("%s: %d %s", path, w.Code, shown.Words(w.Body.String()))
		}
	}
}

const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)> ' {{.}} @all`

func TestHostileTexts(t *testing.T) {
	f := newFleet(t)
	f.put("clusters.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu, annotations: {waybill.dev/suspended: "+quoted(hostile)+"}}\nspec: {syncMode: Push, region: "+quoted(hostile)+"}\n---\n"+
		"apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: us}\nspec: {syncMode: Push, provider: "+quoted(hostile)+"}\n")
	f.put("conf.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf, namespace: shop}\ndata: {a: before}\n")
	f.publish(hostile)
	f.put("conf.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf, namespace: shop}\ndata: {a: "+quoted(hostile)+"}\n")
	f.put("hostile:name.yaml", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: 'system:node'}\n---\napiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: roles}\nspec: {resourceSelectors: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}], placement: {}}\n")
	f.publish(hostile + "\n\nbody " + hostile)
	f.say("eu", &status.Object{Applied: status.Application{Phase: status.PhaseFailed, Message: hostile}, Health: status.Health{State: karmada.ResourceUnknown, Reason: hostile, Message: hostile}})
	state := f.head("waybill/state")
	for _, path := range []string{
		"/", "/?q=" + "%22%3E%3Cscript%3Ealert(1)", "/matrix?q=%22%3E%3Cscript%3Ealert(1)&in=%22%3E%3Cscript%3E&kind=%22%3E%3Cscript%3E", "/matrix", "/clusters/eu", "/clusters/us",
		"/templates/Deployment.apps/shop/web", "/templates/Deployment.apps/shop/web?q=%22%3E%3Cscript%3E", "/changes", "/changes/" + state.Commit.String(),
		"/templates/ClusterRole.rbac.authorization.k8s.io/_cluster/system:node",
	} {
		w := f.get(http.MethodGet, path)
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, shown.Words(w.Body.String()))
		}
		if page := w.Body.String(); strings.Contains(page, "<script>alert") || strings.Contains(page, "<img") || strings.Contains(page, `="">`+"<") {
			t.Errorf("%s: a text is taken for HTML", path)
		}
	}
}

func quoted(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// TestReadersAtOnce looks at a fleet and asks why, both at once, where clusters share a branch: neither reads what the other one
// remembers while it is written. The race detector says so.
func TestReadersAtOnce(t *testing.T) {
	f := newFleet(t)
	f.put("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publish: {layout: folders}}\n")
	f.publish("a fleet")
	known, err := f.ui.Reader.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	reader := &facts.Reader{Reconciler: &reconciler.Reconciler{Source: f.repo, Target: f.repo, Now: func() time.Time { return f.now }}, Rev: "main"}
	var group errgroup.Group
	group.Go(func() error { _, err := reader.Look(t.Context()); return err })
	group.Go(func() error {
		_, ok, err := reader.Explain(t.Context(), known, object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"})
		if err == nil && !ok {
			t.Error("nobody knows why web is where it is")
		}
		return err
	})
	group.Go(func() error { _, err := reader.Branch(t.Context(), known, known.Cluster("eu"), 10); return err })
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// Answers are compressed for who takes that, and hold the same.
func TestAnswersAreCompressed(t *testing.T) {
	f := published(t)
	for _, path := range []string{"/fleet", "/nothing"} {
		plain := f.get(http.MethodGet, path)
		for accepted, compressed := range map[string]bool{"gzip, deflate, br": true, "br;q=1.0, gzip;q=0.5": true, "gzip;q=0": false, "br": false, "": false} {
			w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
			r.Host = "localhost:8090"
			r.Header.Set("Accept-Encoding", accepted)
			f.handler.ServeHTTP(w, r)
			text := w.Body.Bytes()
			if n := w.Header().Get("Content-Length"); n != strconv.Itoa(len(text)) || w.Code != plain.Code || w.Header().Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s with %q: %d, %s bytes, %v", path, accepted, w.Code, n, w.Header())
			}
			if got := w.Header().Get("Content-Encoding") == "gzip"; got != compressed {
				t.Errorf("%s with %q is compressed: %t", path, accepted, got)
			}
			if compressed {
				z, err := gzip.NewReader(bytes.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				if text, err = io.ReadAll(z); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(text, plain.Body.Bytes()) {
				t.Errorf("%s with %q is something else", path, accepted)
			}
		}
	}
}
