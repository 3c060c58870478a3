// Package pages makes the pages of the web UI from facts: values in, HTML out. What a page shows is a
// plain struct that a function of the facts and of what was asked for makes; the templates, the style
// sheet and the script are files of the program. Nothing here reads a repository or tells the time.
package pages

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/waybill-dev/waybill/reconciler/preview/page"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/list"
	"github.com/waybill-dev/waybill/render/object"
)

//go:embed html/*.html
var texts embed.FS

//go:embed assets/frame.css assets/style.css assets/live.js
var assets embed.FS

// clusterScope stands for the namespace of what has none, as on branches.
const clusterScope = "_cluster"

// Frame is what every page has around what it shows.
type Frame struct {
	Title string
	// Here is the part of the UI that the page belongs to: problems, fleet, matrix, rollouts, changes, previews or search; empty
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
		panic("pages: the program lacks its file " + name)
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
		"asset": func(name string) string { return paths[name] },
		"short": short, "plural": plural,
		"counted": func(n int, many string) string { return plural(n, strings.TrimSuffix(many, "s")) },
	}
	frame := template.Must(template.New("frame.html").Funcs(functions).ParseFS(texts, "html/frame.html", "html/parts.html"))
	all := map[string]*template.Template{}
	names, err := fs.Glob(texts, "html/*.html")
	if err != nil {
		panic("pages: " + err.Error())
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

// Moment is a time, and how long ago that is.
type Moment struct {
	At  string // RFC 3339; empty for never
	Ago string
}

func moment(at, now time.Time) Moment {
	if at.IsZero() {
		return Moment{Ago: "never"}
	}
	return Moment{At: at.UTC().Format(time.RFC3339), Ago: duration.HumanDuration(max(0, now.Sub(at))) + " ago"}
}

// Mark is a word with a sign and a tone: good, bad, warn or muted. The tone is never the only one of
// them that says it.
type Mark struct{ Word, Sign, Tone string }

// Link is a text that leads somewhere.
type Link struct{ Text, URL string }

func short(id string) string { return id[:min(12, len(id))] }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// ClusterURL is the page of a cluster.
func ClusterURL(name string) string { return "/clusters/" + url.PathEscape(name) }

// TemplateURL is the page of a template.
func TemplateURL(r object.Ref) string {
	kind := r.Kind
	if r.Group != "" {
		kind += "." + r.Group
	}
	return "/templates/" + url.PathEscape(kind) + "/" + url.PathEscape(cmp.Or(r.Namespace, clusterScope)) + "/" + url.PathEscape(r.Name)
}

// ChangeURL is the page of a publication.
func ChangeURL(commit string) string { return "/changes/" + url.PathEscape(commit) }

// Namespace is the namespace that a page's address names.
func Namespace(part string) string {
	if part == clusterScope {
		return ""
	}
	return part
}

// Pager leads through a list that is shown in parts.
type Pager struct {
	From, To, Of   int
	Previous, Next string // addresses; empty for none
	What           string // what there are so many of
}

// part cuts a list: it returns where part number n, from 1 on, begins and ends.
func part(n, size, of int) (from, to int) {
	last := max(1, (of+size-1)/size)
	n = min(max(n, 1), last)
	return (n - 1) * size, min(n*size, of)
}

// listing is a list of a page that is shown in parts.
type listing struct {
	what, path string
	param      string // of the address, which counts the parts
	size       int    // of a part
}

// pager leads through a list of so many: it returns where the part begins and ends that is asked for.
func pager(l listing, q url.Values, of int) (p Pager, from, to int) {
	n, err := strconv.Atoi(q.Get(l.param))
	if err != nil {
		n = 1
	}
	from, to = part(n, l.size, of)
	p = Pager{From: min(from+1, of), To: to, Of: of, What: l.what}
	at := from/l.size + 1
	if from > 0 {
		p.Previous = list.With(l.path, q, l.param, strconv.Itoa(at-1))
	}
	if to < of {
		p.Next = list.With(l.path, q, l.param, strconv.Itoa(at+1))
	}
	return p, from, to
}

// matches reports whether every word of a text is in one of the others.
func matches(text string, in ...string) bool {
	all := strings.ToLower(strings.Join(in, "\x00"))
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}
