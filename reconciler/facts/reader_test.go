package facts_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/test/twin"
)

// watched is a repository that counts how often it is asked where its branches are, and says no where it is to.
type watched struct {
	*twin.Repo

	asked int
	err   error
}

func (w *watched) Heads(ctx context.Context) (map[string]files.ID, error) {
	w.asked++
	if w.err != nil {
		return nil, w.err
	}
	return w.Repo.Heads(ctx)
}

const inAll = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop, labels: {in: all}}\n"

// reading is a reader of a fleet to which a ConfigMap is published, and its clock.
func reading(t *testing.T) (repo *watched, r *facts.Reader, source twin.Tree, now *time.Time) {
	t.Helper()
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	repo, now = &watched{Repo: twin.New("fleet")}, &at
	source = twin.Tree{"fleet.yaml": twin.File([]byte(fleet)), "a.yaml": twin.File([]byte(inAll))}
	r = &facts.Reader{Rev: "main", Fresh: 10 * time.Second, Reconciler: &reconciler.Reconciler{
		Seen: reconciler.NewCache(), Source: repo, Target: repo, Version: "test", Now: func() time.Time { return at },
	}}
	repo.Write("main", "first", source.Folder())
	publishes(t, r)
	return repo, r, source, now
}

func publishes(t *testing.T, r *facts.Reader) {
	t.Helper()
	if _, err := r.Reconciler.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
}

// Facts are good for ten seconds, or until somebody knows better; then a repository is asked, and what did not move is not read again for
// an hour. Where it does not answer, what was known stays, with why.
func TestHowLongFactsAreGood(t *testing.T) {
	repo, r, source, now := reading(t)
	look := func() *facts.Facts {
		t.Helper()
		f, err := r.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first := look()
	asked := repo.asked
	*now = now.Add(9 * time.Second)
	if look() != first || repo.asked != asked {
		t.Error("what is fresh is asked for again")
	}
	r.Renew()
	if look() != first || repo.asked == asked {
		t.Error("to renew asks nobody, or reads what did not move again")
	}
	source["b.yaml"] = twin.File([]byte(strings.Replace(inAll, "name: a", "name: b", 1)))
	repo.Write("main", "second", source.Folder())
	publishes(t, r)
	asked = repo.asked
	*now = now.Add(9 * time.Second)
	if look() != first || repo.asked != asked {
		t.Error("it was renewed a moment ago, and is asked for again")
	}
	*now = now.Add(time.Second)
	second := look()
	if second == first || second.Key == first.Key || len(second.Templates()) != 2 || len(first.Templates()) != 1 {
		t.Errorf("something moved, and of %d templates there are %d", len(first.Templates()), len(second.Templates()))
	}
	*now = now.Add(59 * time.Minute)
	if look() != second {
		t.Error("nothing moved, and it is read again")
	}
	*now = now.Add(2 * time.Minute)
	third := look()
	if third == second || !third.At.Equal(*now) {
		t.Error("what is older than an hour is not read again")
	}
	repo.err = errors.New("no route")
	*now = now.Add(time.Minute)
	if f, err := r.Look(t.Context()); f != third || !errors.Is(err, repo.err) {
		t.Errorf("it does not answer, and the facts are those of before: %t, %v", f == third, err)
	}
}

// A publication is found by at least seven digits of its commit, or of its source; of two of one source the newest is meant.
func TestFindAPublication(t *testing.T) {
	repo, r, source, now := reading(t)
	r.Fresh = 0
	source.Remove("a.yaml")
	second := repo.Write("main", "second", source.Folder()).String()
	publishes(t, r) // held
	r.Reconciler.Allow = guard.AllowAll
	*now = now.Add(time.Hour)
	publishes(t, r)
	f, err := r.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.Changes(t.Context(), f, 10)
	if err != nil || len(all) != 3 || all[0].Source != all[1].Source {
		t.Fatalf("there are %+v, %v", all, err)
	}
	oldest := all[len(all)-1]
	for id, want := range map[string]*facts.Change{
		second: &all[0], second[:7]: &all[0], second[:6]: nil, oldest.Source[:8]: &oldest, oldest.Commit.String(): &oldest, oldest.Commit.String()[:7]: &oldest, "0000000": nil, "": nil,
	} {
		got, ok, err := r.Find(t.Context(), f, id)
		if err != nil || ok != (want != nil) || ok && got.Commit != want.Commit {
			t.Errorf("%q is %+v, %t, %v", id, got, ok, err)
		}
	}
	if some, err := r.Changes(t.Context(), f, 1); err != nil || len(some) != 1 || some[0].Commit != all[0].Commit {
		t.Errorf("the last one is %+v, %v", some, err)
	}
	for range 300 { // as many as publications are looked at
		repo.Write(state.Branch, "waybill: how clusters are\n\nObserved: eu\n", f.Fleet.State.Tree)
	}
	if f, err = r.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if some, err := r.Changes(t.Context(), f, 10); err != nil || len(some) != len(all) || some[0].Commit != all[0].Commit {
		t.Errorf("after what was observed there are %+v, %v", some, err)
	}
	if a := r.Author(t.Context(), second); a == nil || a.Message != "second" {
		t.Errorf("who made it is %+v", a)
	}
	for _, none := range []string{"", "main", strings.Repeat("1", 40)} {
		if a := r.Author(t.Context(), none); a != nil {
			t.Errorf("who made %q is %+v", none, a)
		}
	}
}

// Where a template goes is explained as the source is now, whatever was asked before.
func TestExplainIsOfTheSourceOfNow(t *testing.T) {
	repo, r, source, _ := reading(t)
	f, err := r.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	explains := func(when, name string, clusters int) {
		t.Helper()
		e, ok, err := r.Explain(t.Context(), f, object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name})
		if err != nil || ok != (clusters > 0) || len(e.Clusters) != clusters {
			t.Errorf("%s: %s goes to %+v, %t, %v", when, name, e.Clusters, ok, err)
		}
	}
	explains("at first", "a", 2)
	explains("at first", "b", 0)
	source["b.yaml"] = twin.File([]byte(strings.NewReplacer("name: a", "name: b", "in: all", "in: eu").Replace(inAll)))
	source.Remove("a.yaml")
	repo.Write("main", "second", source.Folder())
	explains("moved", "a", 0)
	explains("moved", "b", 1)
}

// What a source subscribes to is read once for each version of it, and only where something comes of that; a config with a mistake is said.
func TestSubscriptions(t *testing.T) {
	repo, r, source, _ := reading(t)
	entry := lock.Entry{
		Ref: lock.Ref{Kind: lock.Helm, Repository: "https://charts.example", Name: "web", Constraint: "1.x"}, Version: "1.2.3",
		URL: "https://charts.example/web-1.2.3.tgz", Digest: "sha256:" + strings.Repeat("a", 64),
	}
	source["waybill.lock"] = twin.File(lock.Lock{}.With(entry).Encode())
	var last *facts.Subscribed
	for _, tt := range []struct {
		config string
		want   int // charts
		wrong  bool
	}{{"{}", 0, false}, {"{updates: {mode: pullRequest}}", 1, false}, {"{updates: {mode: sometimes}}", 0, true}, {"{updates: {mode: commit}}", 1, false}} {
		source["waybill.yaml"] = twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: " + tt.config + "\n"))
		commit := repo.Write("main", tt.config, source.Folder()).String()
		got, err := facts.Subscriptions(t.Context(), r)
		if tt.wrong {
			_, again := facts.Subscriptions(t.Context(), r)
			for _, err := range []error{err, again} {
				if _, is := errors.AsType[*render.ConfigError](err); !is {
					t.Errorf("%s: %v", tt.config, err)
				}
			}
			continue
		}
		if err != nil || got == last || got.Commit != commit || len(got.Source.Subscriptions) != tt.want {
			t.Errorf("%s: %+v, %v", tt.config, got, err)
		}
		if again, err := facts.Subscriptions(t.Context(), r); again != got || err != nil {
			t.Errorf("%s: it is read again", tt.config)
		}
		last = got
	}
}

// An address may leave out the group of a kind, and write it in either case; what is placed is what its policy wants.
func TestFindATemplate(t *testing.T) {
	service := object.Ref{Kind: "Service", Namespace: "shop", Name: "web"}
	knative := object.Ref{Group: "serving.knative.dev", Kind: "Service", Namespace: "shop", Name: "web"}
	all := []*facts.Template{
		{Ref: service, Targets: []facts.Target{{Cluster: "eu", Replicas: 2}, {Cluster: "us"}}}, {Ref: knative, Scheduled: metav1.Condition{Status: metav1.ConditionFalse}},
	}
	f := &facts.Facts{Bindings: func() facts.Bindings { return facts.Bindings{Templates: all} }, Rollouts: func() facts.Rollouts {
		return facts.Rollouts{Units: []rollouts.Rollout{{Unit: rollouts.Unit{Namespace: "shop", Name: "api"}}, {Unit: rollouts.Unit{Namespace: "shop", Name: "web"}}}}
	}}
	for kind, want := range map[string]int{"Service": 2, "service": 2, "Service.serving.knative.dev": 1, "service.Serving.knative.dev": 1, "Service.example.com": 0, "Services": 0} {
		if found := f.Find(kind, "shop", "web"); len(found) != want || want == 1 && found[0].Ref != knative {
			t.Errorf("%s: %v", kind, found)
		}
	}
	if f.Find("Service", "blog", "web") != nil || f.Find("Service", "shop", "api") != nil || (&facts.Facts{}).Find("Service", "shop", "web") != nil {
		t.Error("others are found")
	}
	if target, ok := all[0].Target("eu"); !ok || target.Replicas != 2 {
		t.Errorf("in eu it is %+v, %t", target, ok)
	}
	if target, ok := all[0].Target("ap"); ok || target.Cluster != "" {
		t.Errorf("in ap it is %+v", target)
	}
	if !all[0].Placed() || all[1].Placed() {
		t.Error("of what is placed, and what is not, one is the other")
	}
	if r := f.Rollout(rollouts.Unit{Namespace: "shop", Name: "web"}); r == nil || r.Unit.Name != "web" || f.Rollout(rollouts.Unit{Namespace: "shop", Name: "blog"}) != nil {
		t.Errorf("of the unit web there is %+v", r)
	}
}
