package pages_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/problems"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/reconciler/ui/pages"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/frame"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/list"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/shown"
)

// fleet is so many clusters, a fifth of them in each of five regions, with so many templates in each: half of them ConfigMaps, which
// come first by their names.
func fleet(clusters, templates int) *facts.Facts {
	f := &facts.Facts{At: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	var targets []facts.Target
	for i := range clusters {
		name := fmt.Sprintf("c%04d", i)
		f.Fleet.Clusters = append(f.Fleet.Clusters, reports.Cluster{
			ClusterHealth: status.ClusterHealth{Cluster: name, State: status.Healthy},
			Registered: &karmada.Cluster{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"env": []string{"prod", "staging"}[i%2], "team": "platform"}},
				Spec:       karmada.ClusterSpec{Region: fmt.Sprintf("region-%d", i%5)},
			},
		})
		targets = append(targets, facts.Target{Cluster: name, Replicas: 3})
	}
	var all []*facts.Template
	for i := range templates {
		r := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: fmt.Sprintf("a%04d", i)}
		if i >= templates/2 {
			r = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: fmt.Sprintf("w%04d", i)}
		}
		all = append(all, &facts.Template{Ref: r, Targets: targets, Replicas: 3})
	}
	f.Bindings = func() facts.Bindings { return facts.Bindings{Templates: all} }
	return f
}

// said has the last template be unhealthy in every tenth cluster, and all else be healthy.
func said(f *facts.Facts) pages.Objects {
	all := f.Templates()
	well, unwell := map[object.Ref]*status.Object{}, map[object.Ref]*status.Object{}
	healthy := &status.Object{Applied: status.Application{Phase: status.PhaseApplied}, Health: status.Health{State: karmada.ResourceHealthy}}
	for _, t := range all {
		well[t.Ref], unwell[t.Ref] = healthy, healthy
	}
	unwell[all[len(all)-1].Ref] = &status.Object{
		Applied: status.Application{Phase: status.PhaseApplied}, Health: status.Health{State: karmada.ResourceUnhealthy, Reason: "InProgress"},
	}
	return func(m *reports.Cluster, _ string) map[object.Ref]*status.Object {
		if strings.HasSuffix(m.Cluster, "0") {
			return unwell
		}
		return well
	}
}

func matrixOf(t *testing.T, f *facts.Facts, query string) []byte {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	body := pages.OfMatrix(f, &problems.List{}, q, said(f))
	page, err := frame.Page("matrix", frame.Frame{Title: "Matrix", Here: "matrix", Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// A thousand templates in a thousand clusters are a page of less than 300 KB: workloads first, and clusters in groups. Each cluster is
// shown when somebody asks for that, a page of them.
func TestAThousandTimesAThousand(t *testing.T) {
	f := fleet(1000, 1000)
	began := time.Now()
	page := matrixOf(t, f, "")
	t.Logf("%d bytes in %s", len(page), time.Since(began))
	text := shown.Words(string(page))
	if len(page) > 300<<10 {
		t.Errorf("the page has %d bytes", len(page))
	}
	for _, want := range []string{"region=region-0 (200)", "w0500 Deployment in shop 1000 200 ✓ Healthy", "1 to 50 of 1000 templates", "A column for each cluster", "5 groups"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %.3000s", want, text)
		}
	}
	if strings.Contains(text, "ConfigMap in shop") {
		t.Error("ConfigMaps come before workloads")
	}
	each := matrixOf(t, f, "group=-")
	if text := shown.Words(string(each)); len(each) > 300<<10 || !strings.Contains(text, "1 to 40 of 1000 clusters") || !strings.Contains(text, "c0039") || strings.Contains(text, "c0040") {
		t.Errorf("ungrouped it has %d bytes: %.3000s", len(each), text)
	}
	if text := shown.Words(string(matrixOf(t, f, "group=env&q=w0999"))); !strings.Contains(text, "env=prod (500)") || !strings.Contains(text, "w0999 Deployment in shop 1000 100/500 ✕ Unhealthy") {
		t.Errorf("by env it is %.3000s", text)
	}
}

// What is not as decided and what is not healthy can be asked for each by itself; both together show what is either.
func TestBothFiltersOfTheMatrix(t *testing.T) {
	f := fleet(10, 8)
	all := f.Templates()
	off := *all[4]
	off.Targets = slices.Clone(off.Targets)
	off.Targets[3].Left = "the cluster is held"
	all[4] = &off
	sick := &status.Object{
		Applied: status.Application{Phase: status.PhaseApplied}, Health: status.Health{State: karmada.ResourceUnhealthy, Reason: "InProgress"},
	}
	says := func(m *reports.Cluster) map[object.Ref]*status.Object {
		if m.Cluster == "c0000" {
			return map[object.Ref]*status.Object{all[5].Ref: sick, all[0].Ref: sick}
		}
		return nil
	}
	f.Fleet.Clusters[0].Report = &status.Report{Summary: status.Summary{Counts: status.Counts{Unhealthy: 2}}}
	l := problems.Of(problems.Input{Facts: f, Objects: says})
	q := func(query string) (names []string) {
		t.Helper()
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		page := pages.OfMatrix(f, &l, values, func(m *reports.Cluster, _ string) map[object.Ref]*status.Object { return says(m) })
		for _, r := range page.Rows {
			names = append(names, r.Name)
		}
		return names
	}
	for _, tt := range []struct{ query, want string }{
		{"off=1", "w0004"},
		{"unwell=1", "w0005 a0000"},
		{"off=1&unwell=1", "w0005 w0004 a0000"},
		{"off=1&unwell=1&kind=Deployment", "w0005 w0004"},
		{"", "w0005 w0004 w0006 w0007 a0000 a0001 a0002 a0003"},
	} {
		if got := strings.Join(q(tt.query), " "); got != tt.want {
			t.Errorf("%q shows %s, want %s", tt.query, got, tt.want)
		}
	}
}

// The column of a group leads to its clusters and no others, whatever these are called and however values of labels begin; and nothing can
// be chosen to group by, where the matrix groups unless somebody says so.
func TestAGroupLeadsToItsClusters(t *testing.T) {
	f := fleet(120, 4)
	for i := range f.Fleet.Clusters {
		c := f.Fleet.Clusters[i].Registered
		switch i % 6 {
		case 0:
			c.Labels["env"] = "pro" // which prod begins with
		case 1:
			delete(c.Labels, "env")
		}
	}
	of := func(query string) pages.Matrix {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		return pages.OfMatrix(f, &problems.List{}, q, said(f))
	}
	p := of("group=env")
	if len(p.Clusters) != 4 {
		t.Fatalf("the groups are %+v", p.Clusters)
	}
	for _, c := range p.Clusters {
		_, query, _ := strings.Cut(c.URL, "?")
		if its := of(query); its.Columns.Of != c.N || its.Of == "" {
			t.Errorf("%s has %d clusters, and leads to %d by %s", c.Name, c.N, its.Columns.Of, c.URL)
		}
	}
	if its := of("of=env=pro&of=x"); its.Columns.Of != 20 || its.All != "/matrix" {
		t.Errorf("of pro there are %d, and all are at %s", its.Columns.Of, its.All)
	}
	for _, query := range []string{"", "group=-"} {
		if text := string(matrixOf(t, f, query)); !strings.Contains(text, `<option value="-">nothing</option>`) {
			t.Errorf("%q: nothing cannot be chosen", query)
		}
	}
	if text := string(matrixOf(t, f, "in=c000")); !strings.Contains(text, `<option value="">nothing</option>`) {
		t.Error("with few clusters an address has to say that nothing is chosen")
	}
}

// A list is in the order that its address asks for, and its heads lead to the other ones.
func TestSorting(t *testing.T) {
	f := fleet(12, 4)
	for i := range f.Fleet.Clusters {
		f.Fleet.Clusters[i].Report = &status.Report{Summary: status.Summary{Counts: status.Counts{Objects: i % 7}}}
	}
	order := func(query string) (names string, heads []list.Head) {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		p := pages.OfFleet(f, q, f.At)
		var b strings.Builder
		for i := range p.Rows {
			b.WriteString(p.Rows[i].Group[:min(1, len(p.Rows[i].Group))] + strings.TrimPrefix(p.Rows[i].Name, "c00") + " ")
		}
		return b.String(), p.Heads
	}
	for query, want := range map[string]string{
		"":                         "00 01 02 03 04 05 06 07 08 09 10 11 ",
		"sort=-name":               "11 10 09 08 07 06 05 04 03 02 01 00 ",
		"sort=-objects":            "06 05 04 11 03 10 02 09 01 08 00 07 ",
		"sort=nothing":             "00 01 02 03 04 05 06 07 08 09 10 11 ",
		"group=env&sort=-name":     "e10 08 06 04 02 00 e11 09 07 05 03 01 ",
		"group=no-such&sort=-name": "11 10 09 08 07 06 05 04 03 02 01 00 ",
	} {
		if got, _ := order(query); got != want {
			t.Errorf("%q is %s, want %s", query, got, want)
		}
	}
	for query, want := range map[string]string{"q=c": "/fleet?q=c&sort=-objects", "sort=-objects": "/fleet?sort=objects", "sort=objects": "/fleet"} {
		_, heads := order(query)
		for _, h := range heads {
			if h.Name == "Objects" && h.URL != want {
				t.Errorf("of %q the head leads to %s, want %s", query, h.URL, want)
			}
		}
	}
}

// The timeline says since when a template is as it is: of one that is not healthy, and that somebody changes besides, since when it is not.
func TestSinceWhenAnObjectIsSo(t *testing.T) {
	f := fleet(1, 1)
	corrected, unwell := f.At.Add(-10*time.Minute), f.At.Add(-time.Hour)
	for _, tt := range []struct {
		state   karmada.ResourceHealth
		phase   status.Phase
		changed int
		want    string
	}{
		{karmada.ResourceUnhealthy, status.PhaseApplied, 3, "60m ago Unhealthy"},
		{karmada.ResourceUnhealthy, status.PhaseApplied, 0, "60m ago Unhealthy"},
		{karmada.ResourceHealthy, status.PhaseApplied, 3, "10m ago Drifting"},
		{karmada.ResourceHealthy, status.PhaseApplied, 0, "60m ago Healthy"},
		{karmada.ResourceHealthy, status.PhaseFailed, 3, "10m ago Failed"},
	} {
		o := &status.Object{Applied: status.Application{Phase: tt.phase, Corrected: tt.changed, Since: corrected}, Health: status.Health{State: tt.state, Since: unwell}}
		p := pages.OfTemplate(f, f.Templates()[0], facts.Past{}, url.Values{}, pages.Asked{Now: f.At, Said: func(*reports.Cluster, string) map[object.Ref]*status.Object {
			return map[object.Ref]*status.Object{f.Templates()[0].Ref: o}
		}})
		if len(p.Events) != 1 || p.Events[0].When.Ago+" "+p.Events[0].Marks[0].Word != tt.want {
			t.Errorf("%s, %s, put right %d times: %+v, want %s", tt.state, tt.phase, tt.changed, p.Events, tt.want)
		}
	}
}

// Clusters in which a template is alike are one line, below those in which it is not well.
func TestAlikeClustersAreALine(t *testing.T) {
	f := fleet(200, 2)
	template := f.Templates()[1]
	of := func(query string) pages.Targets {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		return pages.OfTemplate(f, template, facts.Past{}, q, pages.Asked{Now: f.At, Said: said(f)}).Targets
	}
	p := of("")
	if len(p.Rows) != 2 || p.Rows[0].Mark.Word != "Unhealthy" || len(p.Rows[0].Alike) != 20 || len(p.Rows[1].Alike) != 180 || p.Rows[1].Cluster.Text != "180 clusters" {
		t.Errorf("they are %+v", p.Rows)
	}
	if each := of("each=1"); len(each.Rows) != 100 || each.Rows[0].Mark.Word != "Unhealthy" || each.Pager.Of != 200 || each.Each != "" {
		t.Errorf("each is %d rows of %d", len(each.Rows), each.Pager.Of)
	}
	since := pages.OfTemplate(f, template, facts.Past{}, nil, pages.Asked{Now: f.At, Said: func(m *reports.Cluster, _ string) map[object.Ref]*status.Object {
		at := f.At.Add(-time.Hour)
		if m.Cluster == "c0007" {
			at = at.Add(-time.Hour)
		}
		return map[object.Ref]*status.Object{template.Ref: {Applied: status.Application{Phase: status.PhaseFailed, Since: at}}}
	}}).Targets
	if len(since.Rows) != 1 || since.Rows[0].Since.Ago != "120m ago" || since.Rows[0].Applied != "" {
		t.Errorf("they are so since the first was: %+v", since.Rows)
	}
	template = f.Templates()[0] // which is well everywhere
	if p := of("group=env"); len(p.Rows) != 2 || len(p.Rows[0].Alike) != 100 || p.Rows[0].Group != "env=prod: 100 clusters" || p.Rows[1].Group != "env=staging: 100 clusters" {
		t.Errorf("in groups they are %+v", p.Rows)
	}
	template = f.Templates()[1]
	if few := of("q=c0010"); len(few.Rows) != 1 || len(few.Rows[0].Alike) != 0 {
		t.Errorf("one is %+v", few.Rows)
	}
}
