// Package frame writes the pages of the web UI: what each has around what it shows, and the templates, the style sheet and the script,
// which are files of the program.
package frame

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"strings"
	"sync"

	"github.com/waybill-dev/waybill/reconciler/preview/page"
	"github.com/waybill-dev/waybill/sources/words"
)

//go:embed html/*.html
var texts embed.FS

//go:embed assets/frame.css assets/style.css assets/live.js
var assets embed.FS

// Frame is what every page has around what it shows.
type Frame struct {
	Title string
	// Here is the part of the UI that the page belongs to: problems, fleet, matrix, rollouts, updates, changes, previews or search; empty
	// for none.
	Here string
	// Group is the label by which lists are grouped, for the links to the other lists; empty for none.
	Group string
	// Find is what is searched; empty on other pages.
	Find string
	// Previews says that pull requests are previewed.
	Previews bool
	// Key is that of the facts; it changes when the page should be looked at again.
	Key string
	// User is who looks; empty where nobody logs in. LogsOut says that there is a way out.
	User    string
	LogsOut bool
	// Trouble says why what is shown may be old; empty if it is not.
	Trouble string
	Body    any
}

// Assets are the files that pages refer to, by the paths at which they do.
func Assets() map[string][]byte {
	all := map[string][]byte{}
	for _, name := range assetNames {
		all[assetPath(name)] = asset(name)
	}
	return all
}

// assetNames are those of the files. Reports bring a style and a script of their own.
var assetNames = []string{"frame.css", "style.css", "live.js", "report.css", "report.js"}

func asset(name string) []byte {
	switch name {
	case "report.css":
		return []byte(page.Style())
	case "report.js":
		return []byte(page.Script())
	}
	data, err := fs.ReadFile(assets, "assets/"+name)
	if err != nil {
		panic("frame: the program lacks its file " + name)
	}
	return data
}

// assetPath names the content, so that it can be kept for ever.
func assetPath(name string) string {
	sum := sha256.Sum256(asset(name))
	return "/assets/" + hex.EncodeToString(sum[:6]) + "/" + name
}

// set are the templates, each page with the frame. They are parsed when the first page is written: no command but those
// that serve pages has to wait for them.
var set = sync.OnceValue(parsed)

func parsed() map[string]*template.Template {
	paths := map[string]string{}
	for _, name := range assetNames {
		paths[name] = assetPath(name)
	}
	functions := template.FuncMap{
		"asset":   func(name string) string { return paths[name] },
		"plural":  words.Count,
		"counted": func(n int, many string) string { return words.Count(n, strings.TrimSuffix(many, "s")) },
	}
	frame := template.Must(template.New("frame.html").Funcs(functions).ParseFS(texts, "html/frame.html", "html/parts.html"))
	all := map[string]*template.Template{}
	names, err := fs.Glob(texts, "html/*.html")
	if err != nil {
		panic("frame: " + err.Error())
	}
	for _, name := range names {
		all[strings.TrimSuffix(strings.TrimPrefix(name, "html/"), ".html")] = template.Must(template.Must(frame.Clone()).ParseFS(texts, name))
	}
	return all
}

// Page writes a page by its name.
func Page(name string, f Frame) ([]byte, error) { return execute(name, "frame.html", f) }

// Fragment writes the part of a page that others load later.
func Fragment(name string, f Frame) ([]byte, error) { return execute(name, "text", f.Body) }

func execute(name, part string, v any) ([]byte, error) {
	var b bytes.Buffer
	if err := set()[name].ExecuteTemplate(&b, part, v); err != nil {
		return nil, fmt.Errorf("writing the page %s: %w", name, err)
	}
	return b.Bytes(), nil
}
