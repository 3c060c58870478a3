// Package page writes a comparison as one HTML page that needs nothing else: no server, no
// network, no other file. It shows which clusters and which objects change as a matrix, and each
// change with its causes and fields; a script on it filters, searches and draws what is looked at.
//
// What people wrote reaches the page as text only. The template escapes it, the script sets it as
// the text of nodes, and a policy in the page lets nothing run or load but its own script and style.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/words"
)

//go:embed assets
var assets embed.FS

// parts are the files of the script, in their order.
var parts = []string{"data.js", "filter.js", "fields.js", "changes.js", "window.js", "matrix.js", "clusters.js", "start.js"}

// texts are the templates of the page.
var texts = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"text": words.Printable, "short": short, "marks": marksOf, "errors": mistakes, "first": first, "named": named, "rest": rest, "count": words.Count,
	"verdict": verdict,
}).ParseFS(assets, "assets/page.html"))

// Page writes a comparison.
func Page(c *preview.Comparison) ([]byte, error) {
	style, script := Style(), Script()
	return write("page.html", map[string]any{
		"Comparison": c, "Data": encode(c), "Policy": policy(style, script),
		"Style":  template.CSS(style), //nolint:gosec // it is ours
		"Script": template.JS(script), //nolint:gosec // it is ours
	})
}

// Body writes what the page shows of a comparison, without what is around it: for a site that has
// its own frame, and Style and Script as files.
func Body(c *preview.Comparison) ([]byte, error) {
	return write("body", map[string]any{"Comparison": c, "Data": encode(c)})
}

func write(name string, v any) ([]byte, error) {
	var b bytes.Buffer
	if err := texts.ExecuteTemplate(&b, name, v); err != nil {
		return nil, fmt.Errorf("writing the page: %w", err)
	}
	return b.Bytes(), nil
}

// Style is the style sheet of the page.
func Style() string { return file("page.css") }

// Script is the script of the page. It draws what Body writes once that is there.
func Script() string {
	var b strings.Builder
	for _, name := range parts {
		b.WriteString(file(name))
	}
	return b.String()
}

func file(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic("page: the program lacks its file " + name)
	}
	return string(text)
}

// policy lets the one style and the one script of the page be used, and nothing else.
func policy(style, script string) string {
	return fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'", hash(style), hash(script))
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// The most of each that the top of the page lists. The rest is counted, and is in other formats.
const (
	maxHeld     = 20
	maxRemovals = 20
	maxErrors   = 50
)

// verdict is the answer in a line.
func verdict(c *preview.Comparison) *preview.Verdict {
	v := c.Verdict()
	return &v
}

// short abbreviates a commit, as Git does.
func short(commit string) string {
	const most = 12
	if len(commit) > most && strings.Trim(commit, "0123456789abcdef") == "" {
		return commit[:most]
	}
	return words.Printable(commit)
}

// letters are what cells of the matrix show, so that nobody needs to see colours. A cell that scales
// shows replicas.
var letters = map[string]string{
	string(preview.Appears): "A", string(preview.Disappears): "D", string(preview.Moves): "M", "arrives": "M+", "leaves": "M−", string(preview.Scales): "S",
	string(preview.Changes): "C", string(preview.Held): "H", string(preview.Frozen): "F", string(preview.Stays): "S!",
}

// marked is a verb with its letter, and how many objects do so.
type marked struct {
	Verb   preview.Verb
	Letter string
	Count  int
	Does   string
}

// marksOf counts the verbs that there are, in their order.
func marksOf(t preview.Totals) (all []marked) {
	for _, v := range preview.Verbs() {
		if n := t.Verbs[v]; n > 0 {
			all = append(all, marked{v, letters[string(v)], n, v.Of(n)})
		}
	}
	return all
}

// mistakes are the errors of the source, a line each.
func mistakes(all []diag.Diagnostic) (lines []string) {
	for _, d := range all {
		if preview.IsMistake(d) {
			lines = append(lines, d.String())
		}
	}
	if n := len(lines) - maxErrors; n > 0 {
		lines = append(lines[:maxErrors], fmt.Sprintf("and %d more", n))
	}
	return lines
}

// first lists the first names.
func first(names []string) string { return words.Printable(words.First(names, maxHeld)) }

// named are the removals that are shown.
func named(all []guard.Removal) []guard.Removal { return all[:min(maxRemovals, len(all))] }

// rest is what a list of the guard has beyond what is shown.
func rest(n int) int { return max(0, n-maxRemovals) }
