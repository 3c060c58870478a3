package compare

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// TestWhatChangesOfWhatAReleaseRenders: the release itself, or what it is made from, which many have in common.
func TestWhatChangesOfWhatAReleaseRenders(t *testing.T) {
	release := func(spec string) *object.Object {
		return one(t, "r.yaml",
			"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\nspec: {"+spec+"}\n")
	}
	decision := func(r *object.Object, value string) *plan.Decision {
		v := template.Variant{Object: one(t, "made.yaml",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {v: "+value+"}\n")}
		d := &plan.Decision{Template: &template.Template{Variant: v}, Targets: []karmada.TargetCluster{{Name: "eu"}}}
		if r != nil {
			d.Template.Part = &template.Part{Release: r}
		}
		return d
	}
	const chart, folder = "chart: {spec: {chart: ./web}}, interval: 1m", "path: ./apps, interval: 1m"
	for _, tt := range []struct {
		name       string
		base, head *plan.Decision
		want       string
	}{
		{"the release", decision(release(chart), "1"), decision(release(chart+"0"), "2"),
			"HelmRelease shop/web: spec.interval changes (r.yaml:4)"},
		{"its chart", decision(release(chart), "1"), decision(release(chart), "2"), "rendered otherwise from chart ./web (r.yaml:1)"},
		{"its folder", decision(release(folder), "1"), decision(release(folder), "2"), "rendered otherwise from the folder ./apps (r.yaml:1)"},
		{"something else", decision(release("interval: 1m"), "1"), decision(release("interval: 1m"), "2"),
			"rendered otherwise by HelmRelease shop/web (r.yaml:1)"},
		{"a file is rendered now", decision(nil, "1"), decision(release(chart), "2"), "changed (made.yaml:1)"},
		{"a file is no longer rendered", decision(release(chart), "1"), decision(nil, "2"), "changed (made.yaml:1)"},
		{"nothing", decision(release(chart), "1"), decision(release(chart), "1"), ""},
	} {
		w := why{
			comparer: &comparer{groups: []group{{names: []string{"eu"}}}}, base: map[object.Ref]*plan.Decision{config("a"): tt.base},
			head: map[object.Ref]*plan.Decision{config("a"): tt.head},
		}
		var all []string
		for _, cause := range w.causes(&item{ref: config("a")}) {
			all = append(all, cause.String())
		}
		if got := strings.Join(all, "; "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestWhyATemplateIsPlacedNowhereIsACause, as long as it is not placed; that it is placed now, or was not, is none.
func TestWhyATemplateIsPlacedNowhereIsACause(t *testing.T) {
	decision := func(reason, message string) *plan.Decision {
		d := decided(t, "a")[0]
		d.Reason, d.Message = reason, message
		return &d
	}
	for _, tt := range []struct {
		base, head *plan.Decision
		want       bool
	}{
		{decision(string(place.Success), "ok"), decision("NoClusterFit", "0/2 clusters fit"), true},
		{decision("NoClusterFit", "0/2 clusters fit"), decision("NoClusterFit", "0/3 clusters fit"), true},
		{decision("NoClusterFit", "0/2 clusters fit"), decision("NoClusterFit", "0/2 clusters fit"), false},
		{decision("NoClusterFit", "0/2 clusters fit"), decision(string(place.Success), "ok"), false},
		{decision("NoClusterFit", "0/2 clusters fit"), decision("", ""), false},
	} {
		w := why{comparer: &comparer{}, base: map[object.Ref]*plan.Decision{config("a"): tt.base},
			head: map[object.Ref]*plan.Decision{config("a"): tt.head}}
		is := false
		for _, cause := range w.causes(&item{ref: config("a")}) {
			is = is || cause.Message == tt.head.Message
		}
		if is != tt.want {
			t.Errorf("from %q to %q: it is a cause: %t", tt.base.Message, tt.head.Message, is)
		}
	}
}

// TestACauseThatDependsOnASecretIsNotShown: what the twin does not give as a cause, too; and of several there is one.
func TestACauseThatDependsOnASecretIsNotShown(t *testing.T) {
	of := func(messages ...string) *why {
		head := decided(t, "a")[0]
		w := &why{
			comparer: &comparer{groups: []group{{names: []string{"eu"}}}}, base: map[object.Ref]*plan.Decision{config("a"): nil},
			head: map[object.Ref]*plan.Decision{config("a"): &head}, edits: edits{clusters: map[string]edit{}},
		}
		for _, m := range messages {
			w.edits.clusters[m] = edit{head: head.Template.Object, what: m}
		}
		return w
	}
	pos := diag.Pos{File: "a.yaml", Line: 1}
	for _, tt := range []struct{ is, twin, want []string }{
		{[]string{"Cluster a"}, []string{"Cluster a"}, []string{"new", "Cluster a is new"}},
		{[]string{"Cluster hunter2"}, []string{"Cluster other"}, []string{"new", hiddenCause}},
		{[]string{"Cluster a", "Cluster hunter2", "Cluster hunter3"}, []string{"Cluster a"}, []string{"new", "Cluster a is new", hiddenCause}},
		{[]string{"Cluster hunter2"}, nil, []string{"new", "Cluster hunter2 is new"}}, // there is no twin
	} {
		w := of(tt.is...)
		if tt.twin != nil {
			w.twin = of(tt.twin...)
		}
		var want []preview.Cause
		for _, m := range tt.want {
			want = append(want, preview.Cause{Message: m, Pos: pos})
		}
		if diff := cmp.Diff(want, w.shown(&item{ref: config("a")})); diff != "" {
			t.Errorf("of %q beside %q: %s", tt.is, tt.twin, diff)
		}
	}
}

// TestOnlySomeFieldsOfAnEditAreNamed, and how many more there are; values are, where they may be shown and are short.
func TestOnlySomeFieldsOfAnEditAreNamed(t *testing.T) {
	of := func(fields string) *object.Object {
		return one(t, "p.yaml", "apiVersion: x/v1\nkind: Policy\nmetadata: {name: p}\nspec: {"+fields+"}\n")
	}
	long := strings.Repeat("x", 61)
	for _, tt := range []struct {
		name, from, to string
		open           bool
		want           string
	}{
		{"it is shown", "a: 1", "a: 2", true, "p: spec.a goes from 1 to 2"},
		{"it is not", "a: 1", "a: 2", false, "p: spec.a changes"},
		{"one that comes", "", "a: b", true, "p: spec.a is b"},
		{"one that comes, and is not shown", "", "a: b", false, "p: spec.a is added"},
		{"one that goes", "a: true", "", true, "p: spec.a is no longer true"},
		{"one that goes, and is not shown", "a: true", "", false, "p: spec.a is removed"},
		{"one that is long", "a: b", "a: " + long, true, "p: spec.a changes"},
		{"one that is just short enough", "a: b", "a: " + long[1:], true, "p: spec.a goes from b to " + long[1:]},
		{"as many as are named", "", "a: 1, b: 1, c: 1", true, "p: spec.a is 1; p: spec.b is 1; p: spec.c is 1"},
		{"more than are named", "", "a: 1, b: 1, c: 1, d: 1, e: 1", true, "p: spec.a is 1; p: spec.b is 1; p: spec.c is 1; p: and 2 more fields"},
	} {
		e := edit{base: of(tt.from), head: of(tt.to), what: "p", open: tt.open}
		var all []string
		for _, cause := range e.causes() {
			all = append(all, cause.Message)
		}
		if got := strings.Join(all, "; "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
