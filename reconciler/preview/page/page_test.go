package page

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/reconciler/preview/previewtest"
	"github.com/waybill-dev/waybill/render/object"
)

// written is a comparison as a page.
func written(t *testing.T, c *preview.Comparison) string {
	t.Helper()
	text, err := Page(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// between cuts out what stands between two texts, the first time.
func between(t *testing.T, text, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, from)
	inner, _, ends := strings.Cut(rest, to)
	if !ok || !ends {
		t.Fatalf("there is nothing between %q and %q", from, to)
	}
	return inner
}

// TestNothingElseRuns holds the policy of the page to its style and script, byte for byte.
func TestNothingElseRuns(t *testing.T) {
	c := previewtest.Everything()
	text := written(t, &c)
	policy := strings.ReplaceAll(between(t, text, `Content-Security-Policy" content="`, `"`), "&#39;", "'")
	policy = strings.ReplaceAll(policy, "&#43;", "+")
	want := fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'",
		hash(between(t, text, "<style>", "</style>")), hash(between(t, text, "<script>", "</script>")))
	if policy != want {
		t.Errorf("the policy is\n%s, want\n%s", policy, want)
	}
	if outside := regexp.MustCompile(`(?i)(src|href|action)="[^#"][^"]*"|url\(|@import|https?://`).FindString(text); outside != "" {
		t.Errorf("the page names something outside: %s", outside)
	}
}

func TestTheTopNeedsNoScript(t *testing.T) {
	c := previewtest.Everything()
	text := written(t, &c)
	for _, want := range []string{
		"10 objects in 4 of 6 clusters", "<b>3</b> move", "11 added, 11 changed, 4 removed", "6 → 10", "without cluster c", `<code title="` + strings.Repeat("1", 40) + `">111111111111</code>`,
		"it would lose everything", "Deployment.apps/shop/held", "Waybill-Allow-Prune: 0123456789abcdef", "waybill publish --allow-prune", "bad.yaml:3: error: no colon", "<td class=\"n\">2 of 2</td>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	empty := preview.Comparison{}
	if text := written(t, &empty); !strings.Contains(text, "No cluster changes.") || strings.Contains(text, `<form`) {
		t.Error("a page of no changes is not as it should be")
	}
	empty.Diags = c.Diags
	if text := written(t, &empty); !strings.Contains(text, "as far as is known") || !strings.Contains(text, "no colon") {
		t.Error("a page of nothing but errors does not say so")
	}
}

func TestTextsStayTexts(t *testing.T) {
	clean := previewtest.Filled("plain")
	tags := regexp.MustCompile(`<[a-z!/][^>]*>`)
	count := func(text string) int { return len(tags.FindAllString(strings.ReplaceAll(text, Script(), ""), -1)) }
	want := count(written(t, &clean))
	for _, hostile := range append(previewtest.Hostile(), "</script><script>alert(1)</script>", "<!--<script>", "]]><b>") {
		c := previewtest.Filled(hostile)
		text := written(t, &c)
		if got := count(text); got != want {
			t.Errorf("%q makes %d tags of %d", hostile, got, want)
		}
		if strings.ContainsAny(text, "\x1b\u202e\u2028") {
			t.Errorf("%q is not written out", hostile)
		}
	}
}

// TestTheBodyIsWhatThePageShows: a site with its own frame shows the same, and brings the rest itself.
func TestTheBodyIsWhatThePageShows(t *testing.T) {
	for _, c := range []preview.Comparison{previewtest.Everything(), previewtest.Filled("</script><b>"), {}} {
		body, err := Body(&c)
		if err != nil {
			t.Fatal(err)
		}
		versions, rest, ok := strings.Cut(string(body), "<section")
		if page := written(t, &c); !ok || !strings.Contains(page, strings.TrimSpace(versions)) {
			t.Errorf("the page does not have\n%s", versions)
		} else if report, data, ok := strings.Cut(rest, `<script type="application/json"`); !ok || !strings.Contains(page, report) || !strings.Contains(page, strings.TrimSpace(data)) {
			t.Errorf("the page does not have\n%s", rest)
		}
		for _, not := range []string{"<style", "<script>", "<html", "<h1", "<main"} {
			if strings.Contains(string(body), not) {
				t.Errorf("it has %s", not)
			}
		}
	}
}

// TestSetsAreReadAsWritten reads sets as the script does.
func TestSetsAreReadAsWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	sets := [][]int{{0}, {7}, {0, 1, 2}, {0, 2, 4}, {999}}
	for _, share := range []float64{0.001, 0.1, 0.5, 0.9, 1} {
		set := []int{3}
		for i := 4; i < 1000; i++ {
			if random.Float64() < share {
				set = append(set, i)
			}
		}
		sets = append(sets, set)
	}
	for _, set := range sets {
		text := encodeSet(set)
		if got := read(t, text); !slices.Equal(got, set) {
			t.Errorf("%v is written %s and read %v", set, text, got)
		}
		if len(text) > 200 {
			t.Errorf("a set of %d of a thousand takes %d bytes", len(set), len(text))
		}
	}
}

func read(t *testing.T, text string) (all []int) {
	t.Helper()
	if bits, ok := strings.CutPrefix(text, "*"); ok {
		data, err := base64.StdEncoding.DecodeString(bits)
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(data) * 8 {
			if data[i/8]>>(i%8)&1 == 1 {
				all = append(all, i)
			}
		}
		return all
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, ok := strings.Cut(part, "-")
		if !ok {
			to = from
		}
		first, _ := strconv.Atoi(from)
		last, _ := strconv.Atoi(to)
		for i := first; i <= last; i++ {
			all = append(all, i)
		}
	}
	return all
}

func TestAnchorsNameTheirObjects(t *testing.T) {
	e := encoder{ids: map[string]int{}}
	var got []string
	for _, r := range []object.Ref{
		{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
		{Kind: "Namespace", Name: "shop"},
		{Kind: "ConfigMap", Namespace: "a", Name: "ü x"},
		{Kind: "ConfigMap", Namespace: "a", Name: "ö x"},
		{Kind: "ConfigMap", Name: `"><script>`},
	} {
		got = append(got, e.id(r))
	}
	want := []string{"change-deployment.apps-shop-web", "change-namespace-shop", "change-configmap-a---x", "change-configmap-a---x_2", "change-configmap----script-"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// unlike is a comparison in which every cluster has another difference of every object.
func unlike(objects, clusters int) preview.Comparison {
	var c preview.Comparison
	for i := range clusters {
		c.Clusters = append(c.Clusters, preview.Cluster{Name: fmt.Sprintf("c%04d", i), Changed: objects})
	}
	for o := range objects {
		ch := preview.Change{Verb: preview.Changes, Objects: []object.Ref{{Kind: "ConfigMap", Name: fmt.Sprintf("o%04d", o)}}}
		for i := range clusters {
			ch.Changed = append(ch.Changed, preview.Content{Clusters: []string{c.Clusters[i].Name}, Fields: []fields.Field{{Path: "data.key", Op: fields.Replace, From: fmt.Sprint(o, i), To: strings.Repeat("x", 200)}}})
		}
		c.Changes = append(c.Changes, ch)
	}
	return c
}

// TestAPageHasALimit gives a page more than it has room for: every cluster is still in the matrix.
func TestAPageHasALimit(t *testing.T) {
	c := unlike(1000, 300)
	text := written(t, &c)
	if len(text) > 2_000_000 {
		t.Errorf("the page has %d bytes", len(text))
	}
	var d data
	if err := json.Unmarshal([]byte(between(t, text, `id="data">`, "</script>")), &d); err != nil {
		t.Fatal(err)
	}
	for i, ch := range d.Changes {
		in := map[int]bool{}
		for _, p := range ch.Parts {
			for _, n := range read(t, d.Sets[p.Set]) {
				in[n] = true
			}
		}
		if len(in) != 300 {
			t.Fatalf("change %d is in %d clusters", i, len(in))
		}
	}
	first, last := d.Changes[0].Parts, d.Changes[999].Parts
	if n := len(first); n != maxDiffs+1 || first[0].Diff == nil || first[n-1].Diff != nil {
		t.Errorf("the first change has %d parts", n)
	}
	if len(last) != 1 || last[0].Diff != nil {
		t.Errorf("the last change has the parts %+v", last)
	}
}

// TestEqualDifferencesStandOnce counts the texts of what changes alike in many objects.
func TestEqualDifferencesStandOnce(t *testing.T) {
	c := previewtest.Everything()
	web := c.Changes[6]
	for i := range 1000 {
		more := web
		more.Objects = []object.Ref{{Kind: "ConfigMap", Namespace: "shop", Name: strconv.Itoa(i)}}
		c.Changes = append(c.Changes, more)
	}
	d := encode(&c)
	if len(d.Diffs) != 2 || len(d.Sets) > 7 {
		t.Errorf("there are %d differences and the sets %q", len(d.Diffs), d.Sets)
	}
}
