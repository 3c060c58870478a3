//go:build e2e

package ui

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/compare"
	"github.com/waybill-dev/waybill/reconciler/preview/page"
	"github.com/waybill-dev/waybill/reconciler/preview/previewtest"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/test/bench"
)

//go:embed testdata/checks.js
var checks string

// written is a comparison as a page.
func written(t *testing.T, c *preview.Comparison) []byte {
	t.Helper()
	data, err := page.Page(c)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// usable holds a page to what anybody needs to use it, at three widths, in light and in dark.
func usable(p *tab, name string) {
	p.t.Helper()
	for _, width := range []int64{360, 768, 1440} {
		for _, scheme := range []string{"light", "dark"} {
			p.width(width, scheme)
			p.picture(fmt.Sprintf("%s-%d-%s", name, width, scheme))
			for _, wrong := range eval[[]string](p, checks) {
				p.t.Errorf("at %d, %s: %s", width, scheme, wrong)
			}
		}
	}
}

func TestAPageIsForEverybody(t *testing.T) {
	c := previewtest.Everything()
	p := open(browser(t), t, written(t, &c))
	usable(p, "closed")
	p.do(chromedp.Evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })", nil))
	p.wants("document.querySelectorAll('.field').length >= 7")
	usable(p, "open")
	p.isQuiet()
}

// TestTheChecksOfPagesBite shows that what finds nothing wrong finds something.
func TestTheChecksOfPagesBite(t *testing.T) {
	p := open(browser(t), t, []byte(`<!DOCTYPE html><html data-ready="1"><body><h1>a</h1><h3 id="x">b</h3><main id="x"><input><button></button><p style="color:#999">grey</p>
		<table><tr><th>h</th></tr></table><div style="width:3000px">wide</div><div aria-labelledby="nothing">c</div></main></body></html>`))
	found := strings.Join(eval[[]string](p, checks), "\n")
	for _, want := range []string{"has no name: <input", "has no name: <button", "leaves out a level", "an id twice", "contrast 2.8", "without scope", "no language", "no title", "names nothing", "wide on a screen"} {
		if !strings.Contains(found, want) {
			t.Errorf("%q is not found in:\n%s", want, found)
		}
	}
}

func TestLinksOpenChanges(t *testing.T) {
	c := previewtest.Everything()
	p := open(browser(t), t, written(t, &c))
	p.do(chromedp.Evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })", nil))
	p.wants(fmt.Sprintf("document.querySelectorAll('details a').length === %d", len(c.Changes)))
	links := eval[[]string](p, "[...document.querySelectorAll('a')].map((a) => a.getAttribute('href'))")
	if len(links) < len(c.Changes)+1 {
		t.Fatalf("the page has the links %q", links)
	}
	for _, link := range links {
		if !strings.HasPrefix(link, "#") {
			t.Errorf("a link leaves the page: %s", link)
			continue
		}
		p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(p.url+link), chromedp.WaitReady("html[data-ready]", chromedp.ByQuery))
		p.wants(fmt.Sprintf("document.getElementById(%q) !== null", link[1:]))
		if strings.HasPrefix(link, "#change-") {
			isOpen := fmt.Sprintf("document.querySelectorAll('details[open]').length === 1 && document.querySelector('details[open]').id === %q && document.activeElement.parentElement.id === %[1]q", link[1:])
			p.wants(isOpen)
			p.do(chromedp.Reload(), chromedp.WaitReady("html[data-ready]", chromedp.ByQuery))
			p.wants(isOpen)
		}
	}
}

func TestFiltersAndSearch(t *testing.T) {
	c := previewtest.Everything()
	p := open(browser(t), t, written(t, &c))
	shown := func(want string) {
		t.Helper()
		p.wants(fmt.Sprintf("[...document.querySelectorAll('summary h3 code')].map((e) => e.textContent.split('/').pop()).join(' ') === %q", want))
	}
	set := func(id, value string) {
		t.Helper()
		p.do(chromedp.Evaluate(fmt.Sprintf("document.getElementById(%q).value = ''", id), nil), chromedp.SendKeys("#"+id, value, chromedp.ByQuery))
	}
	all := func() {
		t.Helper()
		p.do(chromedp.Click("#clear", chromedp.ByQuery))
		shown("old held frozen left-behind one wide web new")
	}
	shown("old held frozen left-behind one wide web new")
	set("search", "POLICY.yaml") // where a cause stands
	shown("one")
	all()
	set("search", "spec.paused") // a field
	shown("web")
	all()
	set("search", "three") // an object that is not the first of its change
	shown("one")
	set("search", "nothing at all")
	shown("")
	p.wants("document.getElementById('found').textContent === '0 of 8 changes' && document.getElementById('matrix-part').hidden")
	all()
	set("cluster", "d")
	shown("frozen wide web new")
	p.wants("document.querySelectorAll('#matrix thead th').length === 2") // its column, and the head of rows
	all()
	p.do(chromedp.Click("input[value=moves]", chromedp.ByQuery))
	shown("one")
	p.do(chromedp.Click("input[value=held]", chromedp.ByQuery))
	shown("held one")
	// a link to what is not shown clears the filter
	p.do(chromedp.Evaluate("location.hash = '#change-deployment.apps-shop-new'", nil))
	p.wants("document.getElementById('change-deployment.apps-shop-new')?.open")
	shown("old held frozen left-behind one wide web new")
	p.isQuiet()
}

// TestTheMatrix reads cells, and goes from one to another and to its change by keys alone.
func TestTheMatrix(t *testing.T) {
	c := previewtest.Everything()
	p := open(browser(t), t, written(t, &c))
	p.width(1440, "light")
	p.do(chromedp.Click("#alike", chromedp.ByQuery)) // a column a cluster
	p.wants("document.querySelectorAll('#matrix thead th').length === 9")
	row := func(name string) string {
		return eval[string](p, fmt.Sprintf("[...[...document.querySelectorAll('#matrix tbody tr')].find((r) => r.textContent.includes(%q)).querySelectorAll('td')].map((e) => e.textContent || '.').join(' ')", name))
	}
	for name, want := range map[string]string{
		"shop/old": "D . . . . . . .", "shop/held": "H . . . . . . .", "shop/frozen": ". F . F . . . .", "left-behind": ". . S! . . . . .",
		"shop/one +2": "M− M+ . . . . . .", "shop/wide": "2→3 2→3 . 0→1 . . . .", "shop/web": "C C C C C C C C", "shop/new": "A A A A A A A A",
	} {
		if got := row(name); got != want {
			t.Errorf("the row of %s is %q, want %q", name, got, want)
		}
	}
	p.do(chromedp.Focus("#matrix td[tabindex='0']", chromedp.ByQuery))
	for _, key := range []string{kb.ArrowRight, kb.ArrowDown, kb.ArrowDown, kb.ArrowLeft, kb.End} {
		p.do(chromedp.KeyEvent(key))
	}
	p.wants("document.activeElement.dataset.r === '2' && document.activeElement.dataset.c === '7'")
	for range 3 {
		p.do(chromedp.KeyEvent(kb.ArrowDown))
	}
	p.do(chromedp.KeyEvent(kb.Home))
	p.wants("document.activeElement.getAttribute('aria-label') === '2→3: scales from 2 to 3 replicas'")
	p.enter()
	p.wants("location.hash === '#change-deployment.apps-shop-wide' && document.getElementById('change-deployment.apps-shop-wide').open && document.activeElement.tagName === 'SUMMARY'")
	p.do(chromedp.Evaluate("document.getElementById('alike').click()", nil)) // the page still scrolls, a pointer would miss; e to h are alike
	p.wants("document.querySelectorAll('#matrix thead th').length === 6")
	p.isQuiet()
}

// TestEveryControlIsReachedByTab goes through the page with the Tab key.
func TestEveryControlIsReachedByTab(t *testing.T) {
	c := previewtest.Everything()
	p := open(browser(t), t, written(t, &c))
	p.width(1440, "light")
	want := eval[int](p, "[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex=\"0\"]')].filter((e) => e.getClientRects().length).length")
	seen := map[string]bool{}
	for range want + 5 {
		p.do(chromedp.KeyEvent(kb.Tab))
		at := eval[string](p, `(() => { const e = document.activeElement; if (e === document.body) return ''; const s = getComputedStyle(e);
			return [...document.querySelectorAll('*')].indexOf(e) + (s.outlineStyle === 'none' || s.outlineWidth === '0px' ? ' without outline: ' + e.outerHTML.slice(0, 80) : ''); })()`)
		if strings.Contains(at, "outline") {
			t.Errorf("what has the focus is not seen to: %s", at)
		}
		if at != "" {
			seen[at] = true
		}
	}
	if len(seen) < want {
		t.Errorf("the Tab key reaches %d controls of %d", len(seen), want)
	}
}

func TestHostileNamesStayTexts(t *testing.T) {
	ctx := browser(t)
	for _, text := range append(previewtest.Hostile(), "</script><script>alert(1)</script>", "<!--<script>", "\u2028alert(1)", "__proto__", "${alert(1)}") {
		c := previewtest.Filled(text)
		p := open(ctx, t, written(t, &c))
		p.do(chromedp.Evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })", nil))
		p.wants("document.querySelectorAll('details .body').length === document.querySelectorAll('details').length")
		if got := eval[string](p, "[...document.querySelectorAll('script, style, img, svg, iframe, object, embed, base, link, h1')].map((e) => e.tagName).join(' ')"); got != "STYLE H1 SCRIPT SCRIPT" {
			t.Errorf("%q: the page has the elements %s", text, got)
		}
		if got := eval[int](p, "[...document.querySelectorAll('*')].flatMap((e) => [...e.attributes]).filter((a) => a.name.startsWith('on') || /^\\s*javascript:/.test(a.value) && a.name === 'href').length"); got != 0 {
			t.Errorf("%q: %d attributes run something", text, got)
		}
		if got := eval[bool](p, "/[\\u202a-\\u202e\\u2066-\\u2069\\x1b]/.test(document.documentElement.outerHTML)"); got {
			t.Errorf("%q: what changes the order of letters is not written out", text)
		}
		p.isQuiet()
	}
}

// planned is the plan of a source.
func planned(t *testing.T, src *bench.Source) plan.Plan {
	t.Helper()
	loaded, err := render.Load(t.Context(), src, render.With{})
	if err != nil {
		t.Fatal(err)
	}
	return plan.Build(plan.Input{Source: loaded, Medium: plan.Branch})
}

// fleet is what a large change does to 1,000 clusters and 1,000 templates: all of these change,
// and a hundred of them move besides.
func fleet(t *testing.T) preview.Comparison {
	t.Helper()
	base := bench.New(bench.Shape{Clusters: 1000, Templates: 1000, Regions: 10, Overridden: 10}).With("policies/moving.yaml", "", bench.Moving)
	head := base.With("policies/moving.yaml", "[r0, r1, r2, r3, r4]", "[r3, r4, r5, r6, r7]").With("apps/", "v1.2.3", "v1.2.4").With("apps/", "option = value", "option = other")
	was, is := planned(t, base), planned(t, head)
	c, err := compare.Plans(&was, &is, compare.Scope{}, compare.Twins{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestALargePageIsQuick loads what changes in a thousand templates on a thousand clusters.
func TestALargePageIsQuick(t *testing.T) {
	c := fleet(t)
	if c.Totals.Objects < 1000 || c.Totals.Clusters != 1000 {
		t.Fatalf("it is not what was meant: %s", c.Totals.String())
	}
	data := written(t, &c)
	p := open(browser(t), t, data)
	p.width(1440, "light")
	var ready []time.Duration
	for range 5 {
		p.do(chromedp.Reload(), chromedp.WaitReady("html[data-ready]", chromedp.ByQuery))
		ready = append(ready, time.Duration(eval[float64](p, "Number(document.documentElement.dataset.ready)")*float64(time.Millisecond)))
	}
	search := eval[float64](p, "(() => { const at = performance.now(); document.getElementById('search').value = 'app-00777'; refresh(); return performance.now() - at; })()")
	t.Logf("%s: %d bytes, %d changes; it can be used after %v; a first search takes %.0f ms", c.Totals.String(), len(data), len(c.Changes), ready, search)
	if len(data) > 2_000_000 {
		t.Errorf("the page has %d bytes", len(data))
	}
	if best := minOf(ready); best > time.Second {
		t.Errorf("it can be used after %s at best", best)
	}
	p.wants("document.querySelectorAll('details').length === 1")
	p.do(chromedp.Click("#clear", chromedp.ByQuery))
	p.wants("document.querySelectorAll('details').length === 50")
	last, err := json.Marshal(eval[string](p, "data.changes.at(-1).id"))
	if err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Evaluate(fmt.Sprintf("location.hash = '#' + %s", last), nil))
	p.wants(fmt.Sprintf("document.getElementById(%s)?.open", last))
	p.do(chromedp.Evaluate("document.getElementById('alike').click(); document.getElementById('matrix').scrollTo(20000, 9000)", nil))
	p.wants("[...document.querySelectorAll('#matrix td.cell')].some((e) => e.dataset.c > 500 && e.dataset.r > 300)")
	if n := eval[int](p, "document.querySelectorAll('#matrix td').length"); n > 5000 {
		t.Errorf("%d cells are drawn at once", n)
	}
	p.matrix("fleet-scrolled")
	p.do(chromedp.Evaluate("location.hash = ''", nil), chromedp.Reload(), chromedp.WaitReady("html[data-ready]", chromedp.ByQuery))
	usable(p, "fleet")
	p.isQuiet()
}

func minOf(all []time.Duration) time.Duration {
	best := all[0]
	for _, d := range all {
		best = min(best, d)
	}
	return best
}
