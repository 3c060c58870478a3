package subscriptions_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/imagepolicy"
	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/ui/pages"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/subscriptions"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/marker"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/registry"
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

const repository = "registry.example.com/"

// fleet is a source with a subscription of each kind, which is called as it is, and what is remembered of them.
func fleet(t *testing.T) subscriptions.Known {
	t.Helper()
	rule, err := imagepolicy.Read(imagepolicy.Spec{Range: ">=1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	m := facts.Memory{Memory: *updates.NewMemory(), At: noon.Add(-time.Minute)}
	of := facts.Subscribed{Commit: "c0ffee"}
	of.Settings.Mode, of.Settings.MinimumAge = "pullRequest", metav1.Duration{Duration: time.Hour}
	of.Source.Broken = map[images.Name]bool{{Namespace: "shop", Name: "broken"}: true}
	add := func(name, tags string, seen time.Duration, edit func(*updates.Subscription, *updates.Record)) {
		s := updates.Subscription{
			Policy:     &images.Policy{Name: images.Name{Namespace: "shop", Name: name}, Rule: rule, Pinning: images.PinNever},
			Repository: repository + name,
			Rule:       rule, Current: marker.Image{Name: repository + name, Tag: "1.0.0"},
			Markers: []marker.Marker{{Pos: diag.Pos{File: name + ".yaml", Line: 7}, Part: marker.Tag}},
		}
		var record updates.Record
		if edit != nil {
			edit(&s, &record)
		}
		if tags != "" {
			m.See(s.Repository, registry.Known{Tags: strings.Fields(tags)}, noon.Add(-seen))
		}
		m.Policies[s.Name()] = record
		of.Source.Subscriptions = append(of.Source.Subscriptions, s)
	}
	const day = 24 * time.Hour
	add("uptodate", "1.0.0", day, nil)
	add("off", "1.0.0 1.1.0", day, func(s *updates.Subscription, _ *updates.Record) { s.Why = updates.Suspended })
	add("unseen", "", day, nil)
	add("unfit", "latest", day, func(s *updates.Subscription, _ *updates.Record) { s.Current = marker.Image{} })
	add("young", "1.0.0 1.1.0", time.Minute, nil)
	add("major", "1.0.0 2.0.0", day, nil)
	add("kept", "1.0.0 1.1.0", day, func(_ *updates.Subscription, r *updates.Record) {
		r.KeptBack = map[string]string{"1.1.0": "it was closed"}
		for n := range 11 {
			r.KeptBack[fmt.Sprintf("0.%02d.0", n)] = "it is old"
		}
	})
	add("waiting", "1.0.0 1.1.0", day, nil)
	add("proposed", "1.0.0 1.1.0", day, func(s *updates.Subscription, r *updates.Record) {
		r.Proposal = &updates.Proposal{Key: "1.1.0", PullRequest: 7, URL: "http://git.example.com/7", At: noon.Add(-time.Hour)}
		for n := range 4 {
			s.Markers = append(s.Markers, marker.Marker{Pos: diag.Pos{File: "more.yaml", Line: n + 1}, Part: marker.Tag})
		}
	})
	add("failing", "1.0.0 1.1.0", day, func(_ *updates.Subscription, r *updates.Record) {
		r.Failure = &updates.Failure{Why: updates.Unverified, Message: "nobody signed it", Since: noon.Add(-2 * time.Hour)}
	})
	add("chart", "1.0.0", day, func(s *updates.Subscription, _ *updates.Record) {
		ref := lock.Ref{Kind: lock.Helm, Repository: "https://charts.example", Name: "chart", Constraint: "1.x"}
		s.Policy, s.Markers, s.Repository = nil, nil, updates.RepositoryOf(ref)
		s.Chart, s.Current = &updates.Chart{ChartUse: planner.ChartUse{Ref: ref}}, marker.Image{Tag: "1.0.0"}
	})
	return subscriptions.Known{
		Subscribed: &of, Memory: &m, Site: forge.SiteOf(forge.Gitea, "https://git.example.com/acme/fleet.git", ""),
		Author: func(string) *facts.Author { return nil },
	}
}

// names are those of the rows of a page, without what tells charts apart.
func names(p *subscriptions.Page) string {
	var all []string
	for i := range p.Rows {
		_, name, _ := strings.Cut(p.Rows[i].Name, "/")
		name, _, _ = strings.Cut(name, "-")
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

// TestHowSubscriptionsAreShown: those that need somebody first, each with why and since when, what is proposed and where its value stands.
func TestHowSubscriptionsAreShown(t *testing.T) {
	page := subscriptions.Of(fleet(t), url.Values{}, noon)
	if got, want := names(&page), "broken failing proposed waiting kept major young unfit unseen off chart uptodate"; got != want {
		t.Fatalf("they are %s, want %s", got, want)
	}
	if page.IsOff || page.Total != 12 || page.Noted != pages.MomentOf(noon.Add(-time.Minute), noon) || len(page.Heads) == 0 {
		t.Errorf("the page is off: %t, of %d, noted %s, with the heads %v", page.IsOff, page.Total, page.Noted, page.Heads)
	}
	type shown struct{ Mark, Newest, Message, Since, Proposes, Request, Value string }
	got := map[string]shown{}
	for i, name := range strings.Fields(names(&page)) {
		r := page.Rows[i]
		is := shown{r.Mark.Word, r.Newest, r.Message, r.Since.Ago, r.Proposes, r.Request.URL, ""}
		if len(r.Values) > 0 {
			is.Value = r.Values[0].Text + " " + strings.TrimPrefix(r.Values[0].URL, "https://git.example.com/acme/fleet/src/commit/")
		}
		got[name] = is
	}
	value := func(name string) string { return name + ".yaml:7 c0ffee/" + name + ".yaml#L7" }
	want := map[string]shown{
		"broken":   {"Fails", "", "the ImagePolicy, or its ImageRepository, has a mistake", "", "", "", ""},
		"failing":  {"Fails", "1.1.0", "nobody signed it", "120m ago", "", "", value("failing")},
		"proposed": {"Pull request open", "1.1.0", "", "", "1.1.0", "http://git.example.com/7", value("proposed")},
		"waiting":  {"To be proposed", "1.1.0", "", "", "1.1.0", "", value("waiting")},
		"kept":     {"Kept back", "1.1.0", "kept back: it was closed", "", "", "", value("kept")},
		"major":    {"Another major", "2.0.0", "another major, and updates.major is false", "", "", "", value("major")},
		"young":    {"Too young", "1.1.0", "too young until 2026-11-27 12:59Z", "", "", "", value("young")},
		"unfit":    {"No tag fits", "", "none of 1 tags is a version that is wanted", "", "", "", value("unfit")},
		"unseen":   {"Not looked at yet", "", "", "", "", "", value("unseen")},
		"off":      {"Off", "1.1.0", "suspended", "", "", "", value("off")},
		"chart":    {"Up to date", "", "", "", "", "", "waybill.lock c0ffee/waybill.lock"},
		"uptodate": {"Up to date", "", "", "", "", "", value("uptodate")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	kept, proposed, chart := &page.Rows[4], &page.Rows[2], &page.Rows[10]
	if len(kept.KeptBack) != 10 || kept.MoreKept != 2 || kept.KeptBack[0] != (subscriptions.Kept{Version: "1.1.0", Why: "it was closed"}) ||
		kept.KeptBack[1].Version != "0.10.0" {
		t.Errorf("kept back are %v, and %d more", kept.KeptBack, kept.MoreKept)
	}
	if len(proposed.Values) != 3 || proposed.Others != 2 || proposed.Values[1].Text != "more.yaml:1" || proposed.Request.Text != "#7" {
		t.Errorf("the value stands at %v, and %d others; the pull request is %v", proposed.Values, proposed.Others, proposed.Request)
	}
	if chart.Of != "https://charts.example/chart" || chart.Range != "1.x" || proposed.Of != "registry.example.com/proposed" ||
		chart.Others != 0 {
		t.Errorf("the chart is %s, %s, and the image %s", chart.Of, chart.Range, proposed.Of)
	}
}

// TestWhichSubscriptionsAreAskedFor: by words and by kind, of which the page counts what the words find; and in another order.
func TestWhichSubscriptionsAreAskedFor(t *testing.T) {
	known := fleet(t)
	for query, want := range map[string]string{
		"kind=Failing":            "broken failing",
		"kind=Proposed":           "proposed",
		"q=signed":                "failing",
		"q=registry+KEPT":         "kept",
		"q=0.07.0":                "kept",
		"q=shop&kind=UpToDate":    "uptodate",
		"q=zebra":                 "",
		"sort=name":               "chart broken failing kept major off proposed unfit unseen uptodate waiting young",
		"sort=-kept&kind=Major":   "major",
		"kind=KeptBack&sort=kept": "kept",
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		page := subscriptions.Of(known, q, noon)
		if got := names(&page); got != want || page.Total != 12 || page.Text != q.Get("q") || page.Kind != q.Get("kind") ||
			page.Sort != q.Get("sort") {
			t.Errorf("%s: they are %s of %d, want %s", query, got, page.Total, want)
		}
		counts := map[string]int{}
		for _, c := range page.Counts {
			counts[c.Mark.Word] += c.N
		}
		words := map[string]int{"Fails": 2, "Pull request open": 1, "Up to date": 2}
		switch {
		case q.Get("q") == "shop":
			words["Up to date"] = 1
		case q.Get("q") == "signed":
			words = map[string]int{"Fails": 1}
		case q.Get("q") != "":
			continue
		}
		for word, n := range words {
			if counts[word] != n {
				t.Errorf("%s: of %q there are %d, want %d", query, word, counts[word], n)
			}
		}
	}
}

// TestMistakesOfPoliciesAreShown: errors, so many, each with its place; what is less is not.
func TestMistakesOfPoliciesAreShown(t *testing.T) {
	known := fleet(t)
	for n := range 23 {
		d := diag.Diagnostic{
			Severity: diag.Error, Pos: diag.Pos{File: "p.yaml", Line: n + 1}, Message: fmt.Sprint("mistake ", n),
			Hint: "mend it",
		}
		if n == 0 {
			d.Severity = diag.Warning
		}
		known.Subscribed.Source.Diags = append(known.Subscribed.Source.Diags, d)
	}
	page := subscriptions.Of(known, url.Values{}, noon)
	first := subscriptions.Mistake{
		At:      pages.Link{Text: "p.yaml:2", URL: "https://git.example.com/acme/fleet/src/commit/c0ffee/p.yaml#L2"},
		Message: "mistake 1", Hint: "mend it",
	}
	if len(page.Mistakes) != 20 || page.More != 2 || page.Mistakes[0] != first {
		t.Errorf("%d are shown, and %d more; the first is %+v", len(page.Mistakes), page.More, page.Mistakes[0])
	}
	known.Subscribed.Settings.Mode = "off"
	known.Memory.At = time.Time{}
	if page = subscriptions.Of(known, url.Values{}, noon); !page.IsOff || page.Noted.Ago != "never" {
		t.Errorf("it is off: %t, and noted %s", page.IsOff, page.Noted.Ago)
	}
}

// TestPoliciesWithMistakesAreInOrder among the others, whatever the order in which they are known.
func TestPoliciesWithMistakesAreInOrder(t *testing.T) {
	known := fleet(t)
	for n := range 20 {
		known.Subscribed.Source.Broken[images.Name{Namespace: "shop", Name: fmt.Sprintf("b%02d", n)}] = true
	}
	page := subscriptions.Of(known, url.Values{"kind": {"Failing"}}, noon)
	got := strings.Fields(names(&page))
	if !slices.IsSorted(got) || len(got) != 2+20 {
		t.Errorf("they are %v", got)
	}
}

// TestWhatIsNoAddressLeadsNowhere, for what is remembered may have been written by anybody.
func TestWhatIsNoAddressLeadsNowhere(t *testing.T) {
	for address, leads := range map[string]bool{
		"https://git.example.com/7": true, "http://git.example.com/7": true, "javascript://git.example.com/%0aalert(1)": false,
		"//git.example.com/7": false, "https:///7": false, "https://git example.com/7": false, "/7": false, "": false,
	} {
		known := fleet(t)
		of := known.Memory.Policies
		record := of[images.Name{Namespace: "shop", Name: "proposed"}]
		record.Proposal = &updates.Proposal{Key: "1.1.0", PullRequest: 7, URL: address}
		of[images.Name{Namespace: "shop", Name: "proposed"}] = record
		page := subscriptions.Of(known, url.Values{"kind": {"Proposed"}}, noon)
		if to := page.Rows[0].Request; to.Text != "#7" || (to.URL == address) != (leads || address == "") || !leads && to.URL != "" {
			t.Errorf("%q leads to %+v", address, to)
		}
	}
	known := fleet(t)
	name := images.Name{Namespace: "shop", Name: "off"}
	known.Memory.Policies[name] = updates.Record{Failure: &updates.Failure{Why: updates.Unverified, Since: noon}}
	if page := subscriptions.Of(known, url.Values{"kind": {"Off"}}, noon); page.Rows[0].Since.Ago != "" {
		t.Errorf("what is off fails since %s", page.Rows[0].Since.Ago)
	}
	page := subscriptions.Of(known, url.Values{"sort": {"-proposed"}}, noon)
	if got := names(&page); !strings.HasPrefix(got, "proposed ") {
		t.Errorf("by when they were proposed, the last first, they are %s", got)
	}
}
