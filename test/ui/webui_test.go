//go:build e2e

package ui

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/serve"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/ui"
	"github.com/waybill-dev/waybill/reconciler/ui/login"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// served is a fleet in a repository on disk, with its web UI on a port.
type served struct {
	t      *testing.T
	repo   *git.Repo
	source twin.Tree
	now    time.Time
	ui     *ui.UI
	url    string
}

// newServed publishes twice to so many clusters, which say of themselves all that clusters say.
func newServed(t *testing.T, clusters, apps int) *served {
	t.Helper()
	f := &served{t: t, repo: emptyRepository(t), source: twin.Tree{}, now: time.Now().Add(-48 * time.Hour)}
	regions := []string{"europe-west", "europe-north", "america-east", "asia-south"}
	for i := range clusters {
		f.put(fmt.Sprintf("clusters/%03d.yaml", i), fmt.Sprintf("apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: %s-%02d, labels: {stage: %s, team: platform}}\nspec: {syncMode: Push, region: %s, provider: acme, taints: [{key: maintenance, effect: NoSchedule, value: soon}]}\n",
			regions[i%4][:len(regions[i%4])], i/4+1, []string{"production", "staging"}[i%2], regions[i%4]))
	}
	for i := range apps {
		f.put(fmt.Sprintf("apps/%03d.yaml", i), fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app-%03d, namespace: shop}\nspec: {replicas: 3, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: web, image: registry.example.com/app-%[1]d:1.0}]}}}\n", i, i))
	}
	f.put("conf.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {greeting: hello}\n")
	f.put("policy.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: everywhere, namespace: shop}\nspec:\n  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: v1, kind: ConfigMap}]\n  placement: {clusterTolerations: [{operator: Exists}]}\n")
	f.publish("Put the shop everywhere")
	f.now = time.Now().Add(-time.Hour)
	f.put("apps/000.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app-000, namespace: shop}\nspec: {replicas: 4, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: web, image: registry.example.com/app-000:2.0}]}}}\n")
	f.put("conf.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata:\n  greeting: |\n    welcome\n    to the shop\n")
	f.publish("app-000: the second version, with more room\n\nIt was too slow on Mondays.")
	f.tell()
	f.serve()
	return f
}

// emptyRepository is one on disk.
func emptyRepository(t *testing.T) *git.Repo {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo.git")
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", "--bare", "-b", "main", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	repo, err := git.Open(t.Context(), git.Options{Location: dir})
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

func (f *served) put(name, text string) { f.source[name] = twin.File([]byte(text)) }

func (f *served) write(updates ...git.Update) {
	f.t.Helper()
	if _, err := f.repo.Publish(context.WithoutCancel(f.t.Context()), updates); err != nil {
		f.t.Fatal(err)
	}
}

func (f *served) publish(message string) {
	f.t.Helper()
	heads, err := f.repo.Heads(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	f.write(git.Update{Branch: "main", Old: heads["main"], Tree: f.source.Folder(), Message: message, When: f.now, Author: git.Author{Name: "Ann Example", Email: "ann@example.com"}})
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: f.repo, Target: f.repo, Version: "test", Now: func() time.Time { return f.now }}
	if _, err := r.Publish(f.t.Context(), "main"); err != nil {
		f.t.Fatal(err)
	}
}

// tell has every cluster say what became of its branch: one after the other something else.
func (f *served) tell() {
	f.t.Helper()
	heads, err := f.repo.Heads(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	var updates []git.Update
	n := 0
	for branch, head := range heads {
		name, ok := strings.CutPrefix(branch, "waybill/cluster/")
		if !ok {
			continue
		}
		h, err := f.repo.Commit(f.t.Context(), head)
		if err != nil {
			f.t.Fatal(err)
		}
		c := status.Cluster{Summary: status.Summary{Name: name, Commit: head, Verdict: status.Verdict{Reason: status.Applied}, Since: f.now}, Objects: map[object.Ref]*status.Object{}}
		for path := range h.Tree.All() {
			if app, ok := strings.CutPrefix(path, "manifests/shop/deployment.apps/"); ok {
				c.Objects[object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: strings.TrimSuffix(app, ".yaml")}] = &status.Object{
					Applied: status.Application{Phase: status.PhaseApplied, Commit: head, Since: f.now}, Health: status.Health{State: karmada.ResourceHealthy, Since: f.now},
				}
			}
		}
		first := c.Objects[object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "app-000"}]
		switch name[len(name)-1] {
		case '2':
			first.Health = status.Health{State: karmada.ResourceUnhealthy, Reason: "InProgress", Message: "Deployment does not have minimum availability: 1 of 4 replicas are available", Since: f.now}
		case '3':
			first.Applied = status.Application{Phase: status.PhaseFailed, Message: "admission webhook \"images.example.com\" denied the request: registry.example.com/app-000:2.0 is not signed", Since: f.now}
			c.Verdict = status.Verdict{Reason: status.Failing, Message: "not every object is as the branch has it"}
		case '4':
			c.Commit = h.Parent
		case '5':
			c.Verdict = status.Verdict{Reason: status.Unreachable, Message: "dial tcp 192.0.2.7:6443: i/o timeout"}
		case '6':
			first.Applied.Corrected = 3
		}
		n++
		updates = append(updates, status.Past{}.Next(name, status.Summarize(c), time.Now().Add(-time.Duration(n)*time.Minute)))
	}
	f.write(updates...)
}

// serve serves the web UI.
func (f *served) serve() {
	f.t.Helper()
	l, err := (&net.ListenConfig{}).Listen(f.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(f.t.Context())
	f.ui = &ui.UI{
		Reader: &facts.Reader{Reconciler: &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: f.repo, Target: f.repo, Now: time.Now}, Rev: "main", Fresh: time.Second},
		Guard:  login.Open{}, Now: time.Now, Log: slog.New(slog.DiscardHandler), Stop: ctx.Done(),
	}
	f.preview()
	f.url = "http://" + l.Addr().String()
	done := make(chan error, 1)
	go func() { done <- serve.Serve(ctx, l, f.ui.Handler()) }()
	f.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			f.t.Error(err)
		}
	})
}

// visit opens a page of the web UI.
func (f *served) visit(ctx context.Context, path string) *tab {
	f.t.Helper()
	p := &tab{t: f.t, Context: ctx, url: f.url + path}
	chromedp.ListenTarget(ctx, p.heard)
	p.do(network.Enable(), runtime.Enable(), chromedp.Navigate(p.url), chromedp.WaitReady("footer", chromedp.ByQuery))
	return p
}

// isOurs requires that a page asked nobody but the web UI, and that nothing failed in it.
func (p *tab) isOurs(f *served) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, url := range p.asked {
		if !strings.HasPrefix(url, f.url+"/") && url != "data:," {
			p.t.Errorf("the page asks for %q", url)
		}
	}
	if len(p.failed) > 0 {
		p.t.Errorf("in the page: %q", p.failed)
	}
}

func TestTheWebUIIsForEverybody(t *testing.T) {
	f := newServed(t, 30, 12)
	f.subscribe()
	state, _, err := f.repo.Branch(t.Context(), "waybill/state")
	if err != nil {
		t.Fatal(err)
	}
	ctx := browser(t)
	for name, path := range map[string]string{
		"problems": "/", "problems-none": "/?q=nothing-is-called-so", "fleet": "/fleet", "fleet-empty": "/fleet?q=nothing-is-called-so", "matrix": "/matrix", "template": "/templates/Deployment.apps/shop/app-000", "cluster": "/clusters/europe-west-03",
		"updates": "/updates", "updates-none": "/updates?q=nothing-is-called-so",
		"changes": "/changes", "change": "/changes/" + state.Commit.String(), "nowhere": "/nowhere",
		"previews": "/previews", "preview": "/previews/12", "preview-earlier": "/previews/13", "preview-waits": "/previews/14", "preview-lost": "/previews/15", "why": "/templates/Deployment.apps/shop/app-000/why",
	} {
		p := f.visit(ctx, path)
		if name == "template" {
			p.wants("document.querySelector('[data-load] pre') !== null")
		}
		usable(p, "ui-"+name)
		p.isOurs(f)
	}
}

func TestEveryLinkOfTheWebUILeadsSomewhere(t *testing.T) {
	f := newServed(t, 8, 3)
	f.subscribe()
	ctx := browser(t)
	seen, todo := map[string]bool{"/": true}, []string{"/"}
	p := f.visit(ctx, "/")
	for len(todo) > 0 {
		path := todo[0]
		todo = todo[1:]
		p.do(chromedp.Navigate(f.url+path), chromedp.WaitReady("footer", chromedp.ByQuery))
		if title := eval[string](p, "document.title"); strings.Contains(title, "Not found") || strings.Contains(title, "cannot") {
			t.Errorf("%s: %s", path, title)
		}
		for _, link := range eval[[]string](p, "[...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))") {
			if !strings.HasPrefix(link, "/") && !strings.HasPrefix(link, "#") && !strings.HasPrefix(link, "https://forge.example/") {
				t.Errorf("%s: a link leaves the site: %s", path, link)
			}
			if strings.HasPrefix(link, "/") && !seen[link] && len(seen) < 200 {
				seen[link] = true
				todo = append(todo, link)
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d pages were found", len(seen))
	}
	p.isOurs(f)
}

// TestAPageFollowsWhatHappens types into the filter, scrolls, and publishes meanwhile.
func TestAPageFollowsWhatHappens(t *testing.T) {
	f := newServed(t, 24, 3)
	p := f.visit(browser(t), "/fleet")
	p.width(768, "light")
	p.wants("document.getElementById('live').textContent === 'live'")
	p.do(chromedp.SendKeys("#q", "europe", chromedp.ByQuery))
	p.do(chromedp.Evaluate("scrollTo(0, 400); document.getElementById('c-europe-west-01').seen = true", nil))
	before := eval[string](p, "document.body.dataset.key + document.querySelector('#content p code').textContent")
	f.now = time.Now()
	f.put("conf.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {greeting: later}\n")
	f.publish("third")
	f.ui.Changed()
	p.wants(fmt.Sprintf("document.body.dataset.key + document.querySelector('#content p code').textContent !== %q", before))
	p.wants("[...document.querySelectorAll('.counts strong')].length === 2") // all but the lost ones are behind
	if now := eval[string](p, "[document.activeElement.id, document.activeElement.value, document.activeElement.selectionStart, scrollY > 0, document.getElementById('c-europe-west-01').seen].join()"); now != "q,europe,6,true,true" {
		t.Errorf("the focus, the text, the selection, the place and the row are %s", now)
	}
	p.isOurs(f)
}

// slash presses the key / as a keyboard does: a page that takes the key keeps the letter out of what has the focus then.
func slash() chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		key := input.DispatchKeyEvent(input.KeyDown).WithKey("/").WithCode("Slash").WithText("/").WithWindowsVirtualKeyCode(191)
		if err := key.Do(ctx); err != nil {
			return err
		}
		return input.DispatchKeyEvent(input.KeyUp).WithKey("/").WithCode("Slash").WithWindowsVirtualKeyCode(191).Do(ctx)
	})
}

func TestTheWebUIByKeyboard(t *testing.T) {
	f := newServed(t, 8, 3)
	p := f.visit(browser(t), "/fleet")
	p.do(chromedp.KeyEvent(kb.Tab))
	if on := eval[string](p, "document.activeElement.textContent"); on != "Skip to the content" {
		t.Errorf("the first stop is %q", on)
	}
	p.do(chromedp.KeyEvent(kb.Enter))
	p.wants("document.activeElement.id === 'content'")
	p.do(slash())
	p.wants("document.activeElement.id === 'find' && document.activeElement.value === ''")
	p.do(slash())
	p.wants("document.activeElement.value === '/'") // in a field it is a letter
	p.do(chromedp.Evaluate("document.activeElement.value = ''; document.getElementById('content').focus()", nil))
	for range 60 {
		if eval[bool](p, "document.activeElement.getAttribute('href') === '/clusters/europe-west-01'") {
			break
		}
		p.do(chromedp.KeyEvent(kb.Tab))
		if !eval[bool](p, "(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0 })()") {
			t.Errorf("the focus is not seen on %s", eval[string](p, "document.activeElement.outerHTML.slice(0, 100)"))
		}
	}
	p.do(chromedp.KeyEvent(kb.Enter), chromedp.WaitReady("#unwell", chromedp.ByQuery))
	if title := eval[string](p, "document.title"); !strings.HasPrefix(title, "europe-west-01") {
		t.Errorf("it leads to %q", title)
	}
	p.isOurs(f)
}
