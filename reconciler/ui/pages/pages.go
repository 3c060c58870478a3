// Package pages makes what the pages of the web UI show from facts: values in, values out. What a page shows is a plain struct that a
// function of the facts and of what was asked for makes; package frame writes it. Nothing here reads a repository or tells the time.
package pages

import (
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/waybill-dev/waybill/render/links"
	"github.com/waybill-dev/waybill/render/object"
)

// Moment is a time, and how long ago that is.
type Moment struct {
	At  string // RFC 3339; empty for never
	Ago string
}

// MomentOf is a time as it is shown now.
func MomentOf(at, now time.Time) Moment {
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

// ClusterURL is the page of a cluster.
func ClusterURL(name string) string { return links.Site("").Cluster(name) }

// TemplateURL is the page of a template.
func TemplateURL(r object.Ref) string { return links.Site("").Template(r) }

// ChangeURL is the page of a publication.
func ChangeURL(commit string) string { return "/changes/" + url.PathEscape(commit) }

// Version leads to the publication of a source commit.
func Version(commit string) Link {
	if commit == "" {
		return Link{}
	}
	return Link{short(commit), ChangeURL(commit)}
}

// Namespace is the namespace that a page's address names.
func Namespace(part string) string {
	if part == links.ClusterScope {
		return ""
	}
	return part
}

// Matches reports whether every word of a text is in one of the others.
func Matches(text string, in ...string) bool {
	all := strings.ToLower(strings.Join(in, "\x00"))
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}
