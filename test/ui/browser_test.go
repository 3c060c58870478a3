//go:build e2e

package ui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	chromium "github.com/waybill-dev/waybill/test/browser"
)

// browser starts a browser for a test.
func browser(t *testing.T) context.Context {
	t.Helper()
	ctx, stop, err := chromium.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// tab is a page that is open.
type tab struct {
	context.Context

	t   *testing.T
	url string

	mu     sync.Mutex
	asked  []string // what it requested, beside itself
	failed []string // what the console and the page complain of
}

// open opens a page that is a file.
func open(ctx context.Context, t *testing.T, content []byte) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	p := &tab{t: t, Context: ctx, url: "file://" + file}
	chromedp.ListenTarget(ctx, p.heard)
	p.do(network.Enable(), runtime.Enable(), chromedp.Navigate(p.url), chromedp.WaitReady("html[data-ready]", chromedp.ByQuery))
	return p
}

func (p *tab) heard(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u, _, _ := strings.Cut(e.Request.URL, "#"); u != p.url {
			p.asked = append(p.asked, e.Request.URL)
		}
	case *runtime.EventExceptionThrown:
		p.failed = append(p.failed, e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		p.failed = append(p.failed, string(e.Type))
	case *page.EventJavascriptDialogOpening:
		p.failed = append(p.failed, "a dialog: "+e.Message)
	}
}

// isQuiet requires that the page asked nobody for anything, and that nothing failed in it.
func (p *tab) isQuiet() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.asked) > 0 {
		p.t.Errorf("the page asks for %q", p.asked)
	}
	if len(p.failed) > 0 {
		p.t.Errorf("in the page: %q", p.failed)
	}
}

func (p *tab) do(actions ...chromedp.Action) {
	p.t.Helper()
	if err := chromedp.Run(p, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// eval is the value of an expression in the page.
func eval[T any](p *tab, expression string) (out T) {
	p.t.Helper()
	p.do(chromedp.Evaluate(expression, &out))
	return out
}

// patience is how long is waited for what a page becomes: a machine that has more to do takes longer.
const patience = time.Minute

// enter presses the key as a browser sees it: the letter that it makes comes to what had the focus before, and to nothing if that took
// the key for itself. (That of kb.Enter comes to what has the focus then.)
func (p *tab) enter() {
	p.t.Helper()
	key := func(as input.KeyType) *input.DispatchKeyEventParams {
		return input.DispatchKeyEvent(as).WithKey("Enter").WithCode("Enter").WithWindowsVirtualKeyCode(13)
	}
	p.do(key(input.KeyDown).WithText("\r"), key(input.KeyUp))
}

// wants waits until an expression is true in the page, or in the one that takes its place meanwhile: as long as the browser changes
// pages, it may be asked about one that is gone.
func (p *tab) wants(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p, patience)
	defer cancel()
	var gone *cdproto.Error
	for {
		err := chromedp.Run(ctx, chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(0)))
		if err == nil {
			return
		}
		if ctx.Err() == nil && errors.As(err, &gone) && gone.Code == noPage {
			continue
		}
		now := ""
		if p.Err() == nil {
			now = "; the page has the hash " + eval[string](p, "location.hash") + " and says " + eval[string](p, "document.getElementById('found')?.textContent ?? ''")
		}
		p.t.Fatalf("%s: %v%s", expression, err, now)
	}
}

// noPage is the code of the browser's answer about a page that is gone.
const noPage = -32000

// reloads waits until an expression is true in a page that loads itself anew before it is.
func (p *tab) reloads(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p, patience)
	defer cancel()
	var err error
	for is := false; !is; {
		if ctx.Err() != nil {
			p.t.Fatalf("%s: %v", expression, err)
		}
		err = chromedp.Run(ctx, chromedp.Evaluate(expression, &is)) // fails while there is no page
	}
}

// width is how wide the page is shown, in light or dark.
func (p *tab) width(width int64, scheme string) {
	p.t.Helper()
	p.do(emulation.SetDeviceMetricsOverride(width, 900, 1, width < 500),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// picture saves what the page looks like, where WAYBILL_PICTURES names a folder.
func (p *tab) picture(name string) {
	p.t.Helper()
	var data []byte
	if pictures != "" {
		p.do(chromedp.FullScreenshot(&data, 100))
		p.save(name, data)
	}
}

// matrix saves what the matrix looks like.
func (p *tab) matrix(name string) {
	p.t.Helper()
	var data []byte
	if pictures != "" {
		p.do(chromedp.Screenshot("#matrix", &data, chromedp.ByQuery))
		p.save(name, data)
	}
}

// pictures is where pictures are saved; empty for nowhere.
var pictures = os.Getenv("WAYBILL_PICTURES")

func (p *tab) save(name string, data []byte) {
	p.t.Helper()
	if err := os.MkdirAll(pictures, 0o750); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(pictures, name+".png"), data, 0o600); err != nil {
		p.t.Fatal(err)
	}
}
