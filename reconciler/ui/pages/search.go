package pages

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/problems"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/list"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// hitsShown is how many of each kind are listed.
const hitsShown = 15

// Search is the page of what matches a text.
type Search struct {
	Text   string
	Groups []Found
	Total  int
	// Publications is among how many of the last publications it was looked for.
	Publications int
}

// Found are the things of one kind that match.
type Found struct {
	What string // in the plural
	N    int
	Hits []Hit
	All  string // address of all of them; empty where there is no such page
}

// Hit is one of them.
type Hit struct {
	Link Link
	Says string
	Mark Mark
}

// Searched is what is looked through.
type Searched struct {
	Facts    *facts.Facts
	Problems *problems.List
	Changes  []facts.Change // the last publications
}

// OfSearch finds what has every word of a text: problems, apps, clusters, namespaces and publications.
func OfSearch(in *Searched, text string) Search {
	p := Search{Text: text, Publications: len(in.Changes)}
	if strings.TrimSpace(text) == "" {
		return p
	}
	for _, g := range []Found{
		{What: "problems", Hits: problemHits(in.Facts, in.Problems, text), All: "/"},
		{What: "apps", Hits: templateHits(in.Facts, text), All: "/matrix"},
		{What: "clusters", Hits: clusterHits(in.Facts, text), All: fleetPath},
		{What: "namespaces", Hits: namespaceHits(in.Facts, text)},
		{What: "publications", Hits: changeHits(in.Changes, text)},
	} {
		if g.N = len(g.Hits); g.N == 0 {
			continue
		}
		if g.All != "" {
			g.All = list.With(g.All, nil, "q", text)
		}
		g.Hits = g.Hits[:min(g.N, hitsShown)]
		p.Groups, p.Total = append(p.Groups, g), p.Total+g.N
	}
	return p
}

func problemHits(f *facts.Facts, l *problems.List, text string) (hits []Hit) {
	for i := range l.Problems {
		x := &l.Problems[i]
		if !Matches(text, problemTexts(x)...) {
			continue
		}
		r := problemRow(f, Grouping{}, x, l.Checked)
		hits = append(hits, Hit{Link: Link{r.What.Text, r.What.URL}, Mark: r.Mark, Says: strings.TrimPrefix(r.Where+", "+r.Reason, ", ")})
	}
	return hits
}

// templateHits are the templates that match: workloads before what they need.
func templateHits(f *facts.Facts, text string) (hits []Hit) {
	var found []*facts.Template
	for _, t := range f.Templates() {
		if Matches(text, t.Ref.String(), t.Policy, t.Source) {
			found = append(found, t)
		}
	}
	slices.SortStableFunc(found, func(a, b *facts.Template) int { return object.KindRank(a.Ref.Kind) - object.KindRank(b.Ref.Kind) })
	for _, t := range found {
		hits = append(hits, Hit{Link: Link{t.Ref.Called(), TemplateURL(t.Ref)}, Says: "in " + words.Count(len(t.Targets), "cluster")})
	}
	return hits
}

func clusterHits(f *facts.Facts, text string) (hits []Hit) {
	for i := range f.Fleet.Clusters {
		m := &f.Fleet.Clusters[i]
		if Matches(text, m.Cluster, m.Registered.Spec.Region, labelText(m), m.State, m.Message) {
			hits = append(hits, Hit{Link: Link{m.Cluster, ClusterURL(m.Cluster)}, Mark: standingMark(m.State), Says: words.Printable(m.Message)})
		}
	}
	return hits
}

func namespaceHits(f *facts.Facts, text string) (hits []Hit) {
	count := map[string]int{}
	for _, t := range f.Templates() {
		count[t.Ref.Namespace]++
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if name != "" && Matches(text, name) {
			hits = append(hits, Hit{Link: Link{name, list.With("/matrix", url.Values{}, "q", "/"+name+"/")}, Says: words.Count(count[name], "template")})
		}
	}
	return hits
}

func changeHits(all []facts.Change, text string) (hits []Hit) {
	for i := range all {
		c := &all[i]
		if Matches(text, c.Subject, c.Body, c.Source, c.Commit.String(), strings.Join(c.ReleasedBy, " ")) {
			hits = append(hits, Hit{Link: Link{c.Subject, ChangeURL(c.Commit.String())}, Says: short(c.Source)})
		}
	}
	return hits
}
