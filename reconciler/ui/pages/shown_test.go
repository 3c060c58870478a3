package pages_test

import (
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/problems"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/reconciler/ui/pages"
	"github.com/waybill-dev/waybill/render/object"
)

// The list of clusters shows those that are asked for, with how each stands, what needs somebody first, in the order and the groups of
// its address.
func TestTheListOfClusters(t *testing.T) {
	var shown []page
	for _, asked := range []string{"", "status=Failing&page=2", "region=eu&sort=-failing", "q=env%3Dprod+held", "group=region&sort=told"} {
		shown = append(shown, page{"/fleet?" + asked, pages.OfFleet(everything(), query(t, asked), noon)})
	}
	golden(t, "fleet", shown...)
	for asked, want := range map[string][2]string{ // the first and the last of them
		"sort=ready": {"strange", "unhealthy"}, "sort=behind": {"behind", "empty"}, "sort=-unhealthy": {"unhealthy", "untold"},
		"sort=-unknown": {"behind", "untold"}, "sort=-drifting": {"drifting", "untold"}, "sort=status": {"failing", "empty"},
		"sort=objects": {"lost", "held"}, "sort=-told": {"empty", "untold"},
	} {
		rows := pages.OfFleet(everything(), query(t, asked), noon).Rows
		if is := [2]string{rows[0].Name, rows[len(rows)-1].Name}; is != want {
			t.Errorf("%s: the first and the last are %s, want %s", asked, is, want)
		}
	}
}

// The page of a cluster says all that is known of it, but no credential, and what is wrong there.
func TestThePageOfACluster(t *testing.T) {
	f := everything()
	commits := []facts.Change{
		{Commit: id("b"), Source: "c0ffee", Subject: "web: 2", When: ago(0)}, {Commit: id("a"), Subject: "begin", When: ago(1000)},
	}
	var shown []page
	for _, name := range []string{"unhealthy", "held", "untold"} {
		m := cluster(f, name)
		shown = append(shown, page{"/clusters/" + name, pages.OfCluster(f, m, pages.Branch{Commits: commits, Objects: told(m, "*")}, noon)})
		commits = nil
	}
	golden(t, "cluster", shown...)
}

// A page of a cluster lists so many objects that are not well, and counts the others.
func TestObjectsOfACluster(t *testing.T) {
	f := fleet(1, 402)
	all := map[object.Ref]*status.Object{}
	for _, x := range f.Templates() {
		all[x.Ref] = &status.Object{Applied: status.Application{Phase: status.PhaseFailed}}
	}
	p := pages.OfCluster(f, &f.Fleet.Clusters[0], pages.Branch{Objects: all, Error: "it cannot be read"}, noon)
	if len(p.Objects) != 200 || p.More != 202 || p.Templates != 402 || p.Error != "it cannot be read" {
		t.Errorf("%d objects are listed, and %d more, of %d: %s", len(p.Objects), p.More, p.Templates, p.Error)
	}
}

// The matrix shows each template in each cluster, or group of them, that it goes to.
func TestTheMatrix(t *testing.T) {
	f := everything()
	l := problems.Of(problems.Input{Facts: f, Objects: func(m *reports.Cluster) map[object.Ref]*status.Object { return told(m, "*") }})
	var shown []page
	for _, asked := range []string{"", "group=region&q=web", "in=us&kind=ConfigMap", "sort=-where&of=region%3Deu", "off=1&sort=name"} {
		shown = append(shown, page{"/matrix?" + asked, pages.OfMatrix(f, &l, query(t, asked), told)})
	}
	golden(t, "matrix", shown...)
	if p := pages.OfMatrix(&facts.Facts{}, &problems.List{}, nil, told); len(p.Rows) > 0 || len(p.Clusters) > 0 {
		t.Errorf("of nothing it is %+v", p)
	}
}

// The page of what is broken shows each kind, with the place of each, by whom, and what to do next.
func TestThePageOfWhatIsBroken(t *testing.T) {
	f := everything()
	l := problems.Of(problems.Input{Facts: f, Objects: func(m *reports.Cluster) map[object.Ref]*status.Object { return told(m, "*") }})
	i := slices.IndexFunc(l.Problems, func(p problems.Problem) bool { return p.Kind == problems.Unhealthy })
	l.Problems[i].Clusters, l.Problems[i].Of = []string{"behind", "drifting", "errored", "failing", "nowhere", "untold"}, 3
	l.Problems[i].Author, l.Problems[i].Subject, l.Problems[i].Loses = "Ada", "web: 3", make([]string, 22)
	i = slices.IndexFunc(l.Problems, func(p problems.Problem) bool { return p.Kind == problems.ClusterFailing })
	l.Problems[i].Clusters = append(l.Problems[i].Clusters, "failing")
	l.Unreported = append(l.Unreported, "u2", "u3", "u4")
	var shown []page
	for _, asked := range []string{
		"", "kind=Held&page=2&group=region", "group=region&q=Degraded", "group=region&kind=ClusterFailing", "sort=-kind&q=web",
		"sort=where&kind=Unhealthy", "sort=since&q=shop",
	} {
		shown = append(shown, page{"/?" + asked, pages.OfProblems(f, &l, query(t, asked), noon)})
	}
	golden(t, "problems", shown...)
}

// A search finds what has all words, says of each sort how many, and lists the first.
func TestSearching(t *testing.T) {
	f := everything()
	in := &pages.Searched{
		Facts: f, Problems: &problems.List{}, Changes: []facts.Change{
			{Subject: "web: 2", Source: "c0ffee", Commit: id("a"), Body: "moves pay/api", ReleasedBy: []string{"eu-admin"}}, {
				Subject: "other",
				Source:  "bad",
			},
		},
	}
	l := problems.Of(problems.Input{Facts: f, Objects: func(m *reports.Cluster) map[object.Ref]*status.Object { return told(m, "*") }})
	in.Problems = &l
	var shown []page
	for _, text := range []string{"shop", "eu", "pay api", "reader", " "} {
		shown = append(shown, page{"/search?q=" + text, pages.OfSearch(in, text)})
	}
	golden(t, "search", shown...)
	many := fleet(16, 0)
	if p := pages.OfSearch(&pages.Searched{Facts: many, Problems: &problems.List{}}, "c00"); p.Total != 16 || p.Groups[0].N != 16 || len(p.Groups[0].Hits) != 15 {
		t.Errorf("of many it shows %+v", p)
	}
}
