package versions_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/whatif"
	"github.com/waybill-dev/waybill/reconciler/versions"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/test/twin"
)

// asked is a fleet of two clusters to which a ConfigMap goes in stages, and of which its second value is a change.
func asked(t *testing.T) (r *reconciler.Reconciler, repo *twin.Repo, texts map[string]string) {
	t.Helper()
	texts = map[string]string{
		"waybill.yaml": "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {rollout: {default: careful}}\n",
		"clusters.yaml": "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu, labels: {ring: a}}\nspec: {syncMode: Pull}\n---\n" +
			"apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: us}\nspec: {syncMode: Pull}\n",
		"careful.yaml": "apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterStagedUpdateStrategy\nmetadata: {name: careful}\nspec:\n  stages:\n" +
			"  - {name: first, labelSelector: {matchExpressions: [{key: ring, operator: Exists}]}}\n  - {name: second, labelSelector: {matchExpressions: [{key: ring, operator: DoesNotExist}]}}\n",
		"policy.yaml": "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: shop}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: v1, kind: Secret}], placement: {}}\n",
		"a.yaml":      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {k: one}\n",
	}
	repo = twin.New("fleet")
	repo.Write("main", "first", folderOf(texts).Folder())
	r = &reconciler.Reconciler{
		Seen: reconciler.NewCache(), Source: repo, Target: repo, Cache: cache.Memory(), Now: func() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) },
	}
	if _, err := r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	return r, repo, texts
}

// answers is what a change of some texts does.
func answers(t *testing.T, r *reconciler.Reconciler, repo *twin.Repo, texts map[string]string, q versions.Question) preview.Comparison {
	t.Helper()
	repo.Write("change", "change", folderOf(texts).Folder())
	head, err := repo.Snapshot(t.Context(), "change", "")
	if err != nil {
		t.Fatal(err)
	}
	q.Base, q.Head = "main", head
	c, err := versions.Preview(t.Context(), r, q)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// clustersOf are those in which anything changes.
func clustersOf(c *preview.Comparison) (names []string) {
	for i := range c.Clusters {
		names = append(names, c.Clusters[i].Name)
	}
	return names
}

// What a change does is what it does at last, whatever goes out in stages; what is supposed is of the head alone, and said.
func TestWhatAChangeDoesAtLast(t *testing.T) {
	r, repo, texts := asked(t)
	texts["a.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {k: two}\n"
	c := answers(t, r, repo, texts, versions.Question{})
	if is := clustersOf(&c); !slices.Equal(is, []string{"eu", "us"}) || len(c.Supposed) > 0 {
		t.Errorf("it changes %q, and supposed is %q", is, c.Supposed)
	}
	c = answers(t, r, repo, texts, versions.Question{Suppose: whatif.Suppositions{Without: []string{"us"}}})
	isGone := func(c preview.Cluster) bool { return c.Name == "us" && c.Gone && c.Changed == 0 }
	if !slices.Equal(c.Supposed, []string{"without cluster us"}) || c.Totals.Changed != 1 || !slices.ContainsFunc(c.Clusters, isGone) {
		t.Errorf("without us it changes %+v, and supposed is %q", c.Clusters, c.Supposed)
	}
}

// What cannot be read is an error, and no change of nothing.
func TestAQuestionThatCannotBeAnswered(t *testing.T) {
	r, repo, _ := asked(t)
	head, err := repo.Snapshot(t.Context(), "main", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := versions.Preview(t.Context(), r, versions.Question{Base: "gone", Head: head}); err == nil {
		t.Error("a base that is not there is answered")
	}
	if _, err := versions.Preview(t.Context(), r, versions.Question{Base: "main", Head: unreadable{head}}); !errors.Is(err, errUnreadable) {
		t.Errorf("of a head that cannot be read it is %v", err)
	}
	if _, err := versions.Preview(t.Context(), r, versions.Question{Base: "main", Head: head, Suppose: whatif.Suppositions{Without: []string{"gone"}}}); err == nil {
		t.Error("a cluster that is not there is supposed to go")
	}
	// whichever question a repository does not answer, it is an error or the same answer
	ask := func(n int) (preview.Comparison, error, bool) {
		r, repo, texts := asked(t)
		texts["a.yaml"] = strings.Replace(texts["a.yaml"], "one", "two", 1)
		repo.Write("change", "change", folderOf(texts).Folder())
		head, err := repo.Snapshot(t.Context(), "change", "")
		if err != nil {
			t.Fatal(err)
		}
		failing := twin.FailingAt(n, repo)
		r.Target, r.Seen = failing, reconciler.NewCache()
		c, err := versions.Preview(t.Context(), r, versions.Question{Base: "main", Head: head})
		return c, err, failing.HasFailed()
	}
	want, err, _ := ask(0)
	if err != nil || want.Totals.Changed != 2 {
		t.Fatalf("it is %v, and %+v", err, want.Totals)
	}
	for n := 1; ; n++ {
		is, err, hasFailed := ask(n)
		if !hasFailed {
			if n < 4 {
				t.Errorf("after %d questions it is answered", n-1)
			}
			break
		}
		if d := cmp.Diff(want, is); !errors.Is(err, twin.ErrDown) && (err != nil || d != "") {
			t.Errorf("of question %d it is %v, and %s", n, err, d)
		}
	}
}

// What a schedule does at another time is what the head does then; the base is as it is now.
func TestAnotherTime(t *testing.T) {
	r, repo, texts := asked(t)
	texts["cron.yaml"] = "apiVersion: autoscaling.karmada.io/v1alpha1\nkind: CronFederatedHPA\nmetadata: {name: web, namespace: shop}\nspec:\n" +
		"  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n" +
		"  rules: [{name: day, schedule: \"0 8 * * *\", targetReplicas: 4}, {name: night, schedule: \"0 20 * * *\", targetReplicas: 2}]\n"
	texts["web.yaml"] = deployment("web", "shop", "web:1")
	texts["policy.yaml"] = strings.Replace(texts["policy.yaml"], "[{", "[{apiVersion: apps/v1, kind: Deployment}, {", 1)
	repo.Write("main", "scaled", folderOf(texts).Folder())
	if _, err := r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	if c := answers(t, r, repo, texts, versions.Question{}); len(c.Clusters) > 0 {
		t.Errorf("at the same time it changes %q", clustersOf(&c))
	}
	night := time.Date(2026, 11, 24, 23, 0, 0, 0, time.FixedZone("CET", 3600))
	c := answers(t, r, repo, texts, versions.Question{Suppose: whatif.Suppositions{At: night}})
	if c.Totals.Changed == 0 || c.Totals.Replicas.Before != 8 || c.Totals.Replicas.After != 4 {
		t.Errorf("at night it is %+v, and supposed is %q", c.Totals, c.Supposed)
	}
}

var errUnreadable = errors.New("the disk is away")

// unreadable is a version of a source of which no file can be read.
type unreadable struct{ sources.Snapshot }

func (unreadable) ReadFile(string) ([]byte, error) { return nil, errUnreadable }

// A stranger's config counts for nothing where another one is said to count.
func TestWhoseConfigCounts(t *testing.T) {
	r, repo, texts := asked(t)
	texts["waybill.yaml"] = "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {secrets: allow}\n"
	texts["s.yaml"] = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\nstringData: {k: v}\n"
	isRefused := func(c preview.Comparison) bool {
		return slices.ContainsFunc(c.Diags, func(d diag.Diagnostic) bool { return d.Code == diag.PlainSecret && d.Severity == diag.Error })
	}
	config := render.DefaultConfig()
	if own, other := isRefused(answers(t, r, repo, texts, versions.Question{})), isRefused(answers(t, r, repo, texts, versions.Question{Config: &config})); own || !other {
		t.Errorf("a plain Secret is refused by its own config: %t, and by another one: %t", own, other)
	}
}

// Each change is compared with the same baseline, whatever was compared with it before.
func TestManyChangesOfABaseline(t *testing.T) {
	r, repo, texts := asked(t)
	base, err := versions.Begin(t.Context(), r, "main", r.Random.Key)
	if err != nil {
		t.Fatal(err)
	}
	against := versions.Against{Base: base, By: *r, Head: *r}
	for _, value := range []string{"two", "three", "one"} {
		texts["a.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {k: " + value + "}\n"
		repo.Write("change", value, folderOf(texts).Folder())
		head, err := repo.Snapshot(t.Context(), "change", "")
		if err != nil {
			t.Fatal(err)
		}
		c, err := against.Answer(t.Context(), versions.Question{Base: "main", Head: head})
		if err != nil || (len(c.Clusters) == 0) != (value == "one") {
			t.Errorf("with %s it changes %q, %v", value, clustersOf(&c), err)
		}
	}
}
