//go:build e2e

package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// axeFile is where make ui puts axe-core.
var axeFile = filepath.Join("..", "..", "bin", "axe", "node_modules", "axe-core", "axe.min.js")

// looks is what axe-core finds wrong in a page that keeps somebody from using it, each with where it is.
const looks = `axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.filter((v) => ['serious', 'critical'].includes(v.impact))
	.map((v) => v.impact + ' ' + v.id + ': ' + v.help + ': ' + v.nodes.slice(0, 3).map((n) => n.target.join(' ') + ' ' + n.html.slice(0, 160)).join(' | ')))`

// axe is what axe-core finds that is serious or critical in the page as it is now.
func (p *tab) axe() (wrong []string) {
	p.t.Helper()
	if !eval[bool](p, "typeof axe === 'object'") {
		script, err := os.ReadFile(axeFile)
		if err != nil {
			p.t.Fatalf("%v; make bin/axe/node_modules/axe-core/axe.min.js has npm install it, as make ui does", err)
		}
		p.do(chromedp.Evaluate(string(script), nil))
	}
	p.do(chromedp.Evaluate(looks, &wrong, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	return wrong
}

// TestAxeBites shows that axe-core finds something where there is something.
func TestAxeBites(t *testing.T) {
	p := open(browser(t), t, []byte(`<!DOCTYPE html><html data-ready="1"><head><title>a</title></head><body><main><h1>a</h1><input><button></button><p style="color:#999">grey</p></main></body></html>`))
	found := strings.Join(p.axe(), "\n")
	for _, want := range []string{"critical label", "critical button-name", "serious color-contrast", "serious html-has-lang"} {
		if !strings.Contains(found, want) {
			t.Errorf("%q is not found in:\n%s", want, found)
		}
	}
}
