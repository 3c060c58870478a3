//go:build e2e

package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/previewtest"
	"github.com/waybill-dev/waybill/reconciler/preview/store"
	"github.com/waybill-dev/waybill/sources/forge"
)

func pull(number int, head, title string) *forge.PullRequest {
	return &forge.PullRequest{
		Number: number, Head: strings.Repeat(head, 40), Title: title, Base: "main", Author: forge.User{Login: "ann"}, Open: true, Member: true,
		URL: fmt.Sprintf("https://forge.example/acme/fleet/pulls/%d", number),
	}
}

// preview has the web UI know of a pull request of each kind.
func (f *served) preview() {
	f.t.Helper()
	f.ui.Previews = store.New(f.ui.Changed)
	f.ui.Previews.Working(true)
	ago, c := time.Now().Add(-time.Hour), previewtest.Everything()
	none := preview.Comparison{Base: c.Base, Head: c.Head}
	f.report(ago, pull(12, "a", "Move the shop to the north, and give it more room"), &c)
	f.report(ago, pull(13, "b", "app-001: the third version"), &c)
	f.ui.Previews.Seen(time.Now(), *pull(13, "c", "app-001: the third version"))
	stranger := pull(14, "d", "Fix a typo")
	stranger.Fork, stranger.Member, stranger.Author.Login = true, false, "sam"
	f.ui.Previews.Say(ago, stranger, forge.Pending, "from a fork: a maintainer may comment /waybill preview "+stranger.Head)
	f.ui.Previews.Say(ago, pull(15, "e", "An experiment"), forge.Broken, "the versions could not be compared; see the log of the controller")
	f.report(ago, pull(16, "f", "README: how to order"), &none)
}

// report has the web UI know what a pull request does.
func (f *served) report(at time.Time, p *forge.PullRequest, c *preview.Comparison) {
	f.t.Helper()
	if err := f.ui.Previews.Keep(at, p, c); err != nil {
		f.t.Fatal(err)
	}
	state, line := forge.Success, "no cluster changes"
	if !c.Empty() {
		state, line = forge.Failure, "10 objects in 4 clusters; 1 cluster would be held"
	}
	f.ui.Previews.Say(at, p, state, line)
}

// TestAPreviewIsUsable filters, opens a change by the keyboard, and goes to a change by its address.
func TestAPreviewIsUsable(t *testing.T) {
	f := newServed(t, 4, 1)
	p := f.visit(browser(t), "/previews")
	p.do(chromedp.Click("#p-12 a", chromedp.ByQuery), chromedp.WaitReady("html[data-ready]", chromedp.ByQuery))
	p.wants("document.querySelectorAll('#list details').length === 8 && document.querySelectorAll('#matrix td').length > 20")
	p.do(chromedp.Evaluate("document.getElementById('search').value = 'spec.paused'; document.getElementById('search').dispatchEvent(new Event('input', {bubbles: true}))", nil))
	p.wants("document.querySelectorAll('#list details').length === 1")
	p.do(chromedp.Focus("#list summary", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	p.wants("document.querySelector('#list details').open && location.hash.startsWith('#change-')")
	p.do(chromedp.Navigate(f.url+"/previews/12#change-deployment.apps-shop-wide"), chromedp.Reload(), chromedp.WaitReady("html[data-ready]", chromedp.ByQuery))
	p.wants("document.getElementById('change-deployment.apps-shop-wide')?.open")
	p.isOurs(f)
}

// TestAPreviewFollowsWhatHappens: what is said of a pull request is replaced, and what its script
// drew stays, until there is another report.
func TestAPreviewFollowsWhatHappens(t *testing.T) {
	f := newServed(t, 4, 1)
	p := f.visit(browser(t), "/previews/12")
	p.wants("document.getElementById('live').textContent === 'live' && document.querySelectorAll('#list details').length === 8")
	p.do(chromedp.SendKeys("#search", "wide", chromedp.ByQuery))
	p.wants("document.querySelectorAll('#list details').length === 1")
	f.now = time.Now()
	f.put("conf.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {greeting: later}\n")
	f.publish("third") // which is not about previews
	f.ui.Changed()
	next := pull(12, "9", "Move the shop to the north, and give it more room")
	f.ui.Previews.Seen(time.Now(), *next)
	p.wants("document.getElementById('note')?.textContent.includes('the earlier head aaaaaaaaaaaa')")
	if now := eval[string](p, "[document.activeElement.id, document.activeElement.value, document.querySelectorAll('#list details').length].join()"); now != "search,wide,1" {
		t.Errorf("the focus, the text, and the changes are %s", now)
	}
	c := previewtest.Everything()
	c.Changes = c.Changes[:3]
	f.report(time.Now(), next, &c)
	p.reloads("document.getElementById('note') === null && document.querySelectorAll('#list details').length === 3")
	p.isOurs(f)

	p.do(chromedp.Navigate(f.url+"/previews/14"), chromedp.WaitReady("footer", chromedp.ByQuery))
	p.wants("document.getElementById('live').textContent === 'live' && document.getElementById('list') === null")
	f.report(time.Now(), pull(14, "d", "Fix a typo"), &c)
	p.reloads("document.querySelectorAll('#list details').length === 3")
	p.isOurs(f)
}
