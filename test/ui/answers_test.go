//go:build e2e

package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/preview/previewtest"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// failing is a fleet of 200 clusters that fails in every way, and the faults that are planted in it.
type failing struct {
	*served

	bad, typo, held, gone string // source commits
}

const failingClusters = 200

func app(name, image string) string {
	return fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s, namespace: shop}\nspec: {replicas: 3, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: api, image: %q}]}}}\n", name, image)
}

func regionOf(i int) string { return []string{"eu-west", "eu-north", "us-east", "ap-south"}[i%4] }

func clusterOf(i int) string { return fmt.Sprintf("%s-%02d", regionOf(i), i/4+1) }

// by commits the source as somebody, and publishes it.
func (f *failing) by(who, message string, r *reconciler.Reconciler) string {
	f.t.Helper()
	heads, err := f.repo.Heads(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	f.write(git.Update{Branch: "main", Old: heads["main"], Tree: f.source.Folder(), Message: message, When: f.now, Author: git.Author{Name: who, Email: who + "@example.com"}})
	f.publishes(r)
	if heads, err = f.repo.Heads(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	return heads["main"].String()
}

func (f *failing) publishes(r *reconciler.Reconciler) {
	f.t.Helper()
	r.Seen, r.Source, r.Target, r.Version, r.Now = reconciler.NewCache(), f.repo, f.repo, "test", func() time.Time { return f.now }
	if _, err := r.Publish(f.t.Context(), "main"); err != nil {
		f.t.Fatal(err)
	}
}

// newFailing plants faults, one commit each: an app that is gone because somebody allowed it; an image that cannot be pulled; a typo; and
// what nobody has allowed to go.
func newFailing(t *testing.T) *failing {
	t.Helper()
	f := &failing{served: &served{t: t, repo: emptyRepository(t), source: twin.Tree{}}}
	f.now = time.Now().Add(-72 * time.Hour).Truncate(time.Second)
	for i := range failingClusters {
		f.put("clusters/"+clusterOf(i)+".yaml", fmt.Sprintf("apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: %s, labels: {env: %s, team: platform}}\nspec: {syncMode: Push, region: %s}\n",
			clusterOf(i), []string{"prod", "staging"}[i/4%2], regionOf(i)))
	}
	names := []string{"payments-api", "ledger"}
	for i := range 12 {
		names = append(names, fmt.Sprintf("app-%d", i))
	}
	for _, name := range names {
		f.put("apps/"+name+".yaml", app(name, "registry.example.com/"+name+":1.0"))
	}
	f.put("apps/legacy.yaml", strings.Replace(app("legacy", "legacy:1.0"), "kind: Deployment", "kind: StatefulSet", 1))
	f.put("policy.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: everywhere, namespace: shop}\nspec:\n  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: apps/v1, kind: StatefulSet}]\n  placement: {}\n")
	f.by("ann", "put the shop everywhere", &reconciler.Reconciler{})
	f.now = f.now.Add(24 * time.Hour)
	delete(f.source, "apps/legacy.yaml")
	f.gone = f.by("eve", "legacy: nobody uses it", &reconciler.Reconciler{Allow: guard.AllowAll, AllowedBy: "wendy@example.com"})
	f.now = time.Now().Add(-50 * time.Minute).Truncate(time.Second)
	f.put("apps/payments-api.yaml", app("payments-api", "registry.example.com/payments-api:9.9.9"))
	f.bad = f.by("bea", "payments-api: 9.9.9", &reconciler.Reconciler{})
	f.now = f.now.Add(10 * time.Minute)
	for path := range f.source {
		if strings.HasPrefix(path, "apps/app-") {
			delete(f.source, path)
		}
	}
	f.held = f.by("dora", "the apps move out", &reconciler.Reconciler{})
	f.now = f.now.Add(10 * time.Minute)
	f.put("typo.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: typo, namespace: shop}\nspec: {placementt: {}}\n")
	f.typo = f.by("carl", "a place for the new shop", &reconciler.Reconciler{})
	f.tells()
	f.serve()
	change := previewtest.Everything()
	f.report(time.Now(), pull(12, "a", "Move the shop to the north"), &change)
	return f
}

// tells has every cluster say what became of its branch: payments-api cannot pull its image in 22 of the 50 clusters of eu-west, and two
// do not answer.
func (f *failing) tells() {
	f.t.Helper()
	heads, err := f.repo.Heads(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	var updates []git.Update
	for i := range failingClusters {
		name := clusterOf(i)
		head := heads["waybill/cluster/"+name]
		c := status.Cluster{Summary: status.Summary{Name: name, Commit: head, Verdict: status.Verdict{Reason: status.Applied}, Since: f.now}, Objects: map[object.Ref]*status.Object{}}
		for _, app := range []string{"payments-api", "ledger"} {
			o := &status.Object{Applied: status.Application{Phase: status.PhaseApplied, Commit: head, Source: f.bad, Since: f.now}, Health: status.Health{State: karmada.ResourceHealthy, Since: f.now}}
			if app == "payments-api" && i%4 == 0 && i/4 < 22 {
				o.Health = status.Health{
					State: karmada.ResourceUnhealthy, Reason: health.InProgress, Message: "1 of 3 replicas are available", Since: time.Now().Add(-42 * time.Minute),
					Pods: []health.Pods{{Reason: "ImagePullBackOff", Container: "api", Count: 2}},
				}
			}
			c.Objects[object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: app}] = o
		}
		if name == "ap-south-07" || name == "ap-south-08" {
			c.Verdict = status.Verdict{Reason: status.Unreachable, Message: "dial tcp 192.0.2.7:6443: i/o timeout"}
		}
		updates = append(updates, status.Past{}.Next(name, status.Summarize(c), time.Now().Add(-time.Minute)))
	}
	f.write(updates...)
}

// clicks follows links by their texts, at most three of them.
func (p *tab) clicks(texts ...string) {
	p.t.Helper()
	if len(texts) > 3 {
		p.t.Fatalf("%d clicks are too many", len(texts))
	}
	for _, text := range texts {
		p.wants(fmt.Sprintf("[...document.querySelectorAll('a')].some((a) => a.textContent.trim() === %q)", text))
		p.do(chromedp.Evaluate(fmt.Sprintf("document.body.dataset.left = 'yes'; [...document.querySelectorAll('a')].find((a) => a.textContent.trim() === %q).click()", text), nil))
		p.reloads("document.readyState === 'complete' && document.body.dataset.left !== 'yes' && document.querySelector('footer') !== null")
	}
}

// TestTheAnswersAreFound asks what somebody asks who is on call, or about to merge: within three clicks from the start page a part of the
// page has the whole answer, with the cluster, the commit, the time and the person that were planted.
func TestTheAnswersAreFound(t *testing.T) {
	f := newFailing(t)
	ctx := browser(t)
	short := func(commit string) string { return commit[:12] }
	for _, q := range []struct {
		question string
		clicks   []string
		in       string // parts of the page, of which one has all of
		answer   []string
	}{
		{"what is broken, where, since when, by which commit", nil, "tr", []string{"shop/payments-api (Deployment)", "22 of 200 clusters", "eu-west-01", "42m ago", "ImagePullBackOff", short(f.bad), "payments-api: 9.9.9", "by bea"}},
		{"what is wrong with the source", nil, "tr", []string{"Source error", "typo.yaml:4", "unknown-field", "placementt", short(f.typo), "by carl"}},
		{"which clusters do not answer", nil, "tr", []string{"Cluster failing", "2 clusters", "ap-south-07", "ap-south-08", "i/o timeout"}},
		{"what waits for somebody", nil, "tr", []string{"Held", "200 clusters", "waybill publish --allow-prune=", "Deployment.apps/shop/app-0", short(f.held), "by dora"}},
		{"what will this do to prod", []string{"Previews", "#12 Move the shop to the north"}, "#report", []string{"broken", "removes", "held until approved"}},
		{"why not on cluster Y", []string{"shop/payments-api (Deployment)"}, "[data-load]", []string{"PropagationPolicy shop/everywhere", "ap-south-07"}},
		{"what happened to app X", []string{"shop/payments-api (Deployment)"}, ".timeline li", []string{"Image", "payments-api: 9.9.9", "by bea", "1.0 → ", "in 200 clusters", short(f.bad)}},
		{"how is app X", []string{"shop/payments-api (Deployment)"}, ".timeline li", []string{"unhealthy in 22 of 200 clusters", "2 pods ImagePullBackOff in api", "payments-api: 9.9.9"}},
		{"what happened to an app that is gone, and who approved", []string{"Changes", "legacy: nobody uses it", "StatefulSet.apps/shop/legacy"}, ".timeline li", []string{"it is gone", "by eve", "wendy@example.com by publish --allow-prune, at "}},
		{"who approved", []string{"Changes"}, "tr", []string{"legacy: nobody uses it", "allowed by wendy@example.com by publish --allow-prune"}},
	} {
		p := f.visit(ctx, "/")
		p.clicks(q.clicks...)
		p.wants("document.querySelector('[data-load]:not([data-loaded]), [aria-busy=true]') === null")
		var parts []string
		for _, s := range q.answer {
			parts = append(parts, fmt.Sprintf("%q", s))
		}
		has := fmt.Sprintf("[...document.querySelectorAll(%q)].some((e) => { const said = e.textContent.replace(/\\s+/g, ' '); return [%s].every((s) => said.includes(s)); })", q.in, strings.Join(parts, ","))
		if !eval[bool](p, has) {
			t.Errorf("%s: no %s says %q; the page %s says\n%.4000s", q.question, q.in, q.answer, eval[string](p, "location.pathname"), eval[string](p, "document.querySelector('main').innerText"))
		}
	}
}

// TestPagesOfManyClusters opens the pages of the fleet that fails at the widths that people have: nothing is wider than the screen, and
// thirty clusters are on one. Neither axe-core nor the checks find anything that keeps somebody from using them, in light or in dark.
func TestPagesOfManyClusters(t *testing.T) {
	f := newFailing(t)
	ctx := browser(t)
	for name, path := range map[string]string{
		"problems": "/?group=region", "fleet": "/fleet?group=env", "matrix": "/matrix", "matrix-each": "/matrix?group=-", "app": "/templates/Deployment.apps/shop/payments-api",
		"held": "/clusters/eu-north-01", "changes": "/changes", "change": "/changes/" + f.bad, "change-held": "/changes/" + f.held,
		"previews": "/previews", "preview": "/previews/12", "search": "/search?q=payments",
	} {
		p := f.visit(ctx, path)
		p.wants("document.querySelector('[data-load]:not([data-loaded]), [aria-busy=true]') === null")
		for _, width := range []int64{390, 1024, 1440} {
			for _, scheme := range []string{"light", "dark"} {
				p.width(width, scheme)
				p.picture(fmt.Sprintf("many-%s-%d-%s", name, width, scheme))
				wrong := eval[[]string](p, checks)
				if width != 1024 { // it has what the other two have
					wrong = append(wrong, p.axe()...)
				}
				for _, what := range wrong {
					t.Errorf("%s at %d, %s: %s", path, width, scheme, what)
				}
			}
		}
	}
	p := f.visit(ctx, "/fleet")
	p.width(1440, "light")
	if n := eval[int](p, "(() => { const rows = [...document.querySelectorAll('tbody tr')]; return Math.floor(900 / (rows[10].getBoundingClientRect().top - rows[9].getBoundingClientRect().top)) })()"); n < 30 {
		t.Errorf("a screen has %d clusters", n)
	}
	p.width(390, "light")
	if high := eval[int](p, "document.documentElement.scrollHeight"); high > 10_000 {
		t.Errorf("on a phone the list of clusters is %d pixels high", high)
	}
}
