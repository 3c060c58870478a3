package schedule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
)

// What a release renders with other replicas in each cluster has those, unless its policy divides them, which is said; where it cannot be
// rendered it has those that it had.
func TestReplicasOfAReleaseThatDiffer(t *testing.T) {
	const releases = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: a}\n" +
		"spec: {resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}], placement: {%s}}\n"
	const divided = "replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}"
	one := func(replicas int) *object.Object {
		return decode(t, fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: a}\nspec: {replicas: %d, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}\n", replicas))[0]
	}
	for _, tt := range []struct {
		name, placement string
		eu, us          int // replicas there; -1: it cannot be rendered, -2: they cannot be read
		was             int32
		want, says      string
	}{
		{"alike", "", 3, 3, 0, "eu:3 us:3", ""},
		{"another number", "", 3, 5, 0, "eu:3 us:5", ""},
		{"none in a cluster", "", 3, 0, 0, "eu:3 us:0", ""},
		{"it fails, and was there", "", 3, -1, 7, "eu:3 us:7", ""},
		{"it fails, and was not there", "", 3, -1, 0, "eu:3", ""},
		{"they cannot be read in a cluster", "", 3, -2, 0, "eu:3 us:3", ""},
		{"divided", divided, 4, 6, 0, "eu:2 us:2", "replicas-differ"},
		{"divided alike", divided, 4, 4, 0, "eu:2 us:2", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			release := decode(t, "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: a}\nspec: {interval: 5m}\n")[0]
			set, _, diags := policies.Load(decode(t, strings.TrimSuffix(fleet, "---\n")+"---\n"+fmt.Sprintf(releases, tt.placement)), nil)
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			memo := &template.Memo{}
			web := template.New(one(tt.eu), memo)
			web.Part = &template.Part{Release: release, Policy: set.Propagation[0], Groups: []int{0, 1}, Failed: map[string]bool{}}
			web.Part.Add(web.Object, 0, memo)
			switch tt.us {
			case tt.eu:
				web.Part.Add(web.Object, 1, memo)
			case -1:
				web.Part.Groups[1], web.Part.Failed["us"] = template.NoGroup, true
			case -2:
				broken := strings.Replace(string(one(3).YAML()), "replicas: 3", "replicas: many", 1)
				web.Part.Add(decode(t, broken)[0], 1, memo)
			default:
				web.Part.Add(one(tt.us), 1, memo)
			}
			st := &state.State{Bindings: map[object.Ref]*karmada.ResourceBinding{}}
			if tt.was > 0 {
				b := state.NewBinding("apps/v1", web.Ref())
				b.Spec.Clusters = []karmada.TargetCluster{{Name: "eu", Replicas: 1}, {Name: "us", Replicas: tt.was}}
				st.Bindings[web.Ref()] = b
			}
			r := schedule.Decide(schedule.Input{
				Policies: index.Of(set, nil, &index.Memo{}), State: st, When: time.Unix(0, 0), Memo: &schedule.Memo{}, Templates: []*template.Template{web},
			})
			if got := summary(&r); got != "web placed "+tt.want || strings.Join(said(r.Diags), " ") != tt.says {
				t.Errorf("it decides %s, and says %v; want %s and %q", got, r.Diags, tt.want, tt.says)
			}
		})
	}
}

// What is remembered of an earlier plan counts for the clusters in which the release renders the template.
func TestADecisionFollowsWhereAReleaseRenders(t *testing.T) {
	const releases = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: a}\n" +
		"spec: {resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}], placement: {}}\n"
	release := decode(t, "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: a}\nspec: {interval: 5m}\n")[0]
	settings := decode(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: a}\n")[0]
	source := decode(t, fleet+releases)
	st, memo, seen := &state.State{}, &schedule.Memo{}, &template.Memo{}
	for _, tt := range []struct {
		groups []int
		failed string
		want   string
	}{
		{[]int{0, 0}, "", "eu:0 us:0"},
		{[]int{0, 0}, "", "eu:0 us:0"},
		{[]int{0, template.NoGroup}, "", "eu:0"},
		{[]int{0, 0}, "", "eu:0 us:0"},
		{[]int{0, template.NoGroup}, "us", "eu:0 us:0"}, // where it was
		{[]int{0, template.NoGroup}, "", "eu:0"},
		{[]int{0, template.NoGroup}, "us", "eu:0"},
		{[]int{template.NoGroup, 0}, "", "us:0"},
		{[]int{0, 0}, "", "eu:0 us:0"},
	} {
		set, _, diags := policies.Load(source, nil)
		if len(diags) > 0 {
			t.Fatal(diags)
		}
		memo.Turn()
		part := template.New(settings, seen)
		part.Part = &template.Part{Release: release, Policy: set.Propagation[0], Groups: tt.groups, Failed: map[string]bool{}}
		if tt.failed != "" {
			part.Part.Failed[tt.failed] = true
		}
		part.Part.Add(settings, 0, seen)
		r := schedule.Decide(schedule.Input{
			Policies: index.Of(set, nil, &index.Memo{}), State: st, When: time.Unix(0, 0), Memo: memo, Templates: []*template.Template{part},
		})
		if got := summary(&r); got != "web placed "+tt.want {
			t.Errorf("rendered for %v it is %s, want %s", tt.groups, got, tt.want)
		}
		st = after(&r)
	}
}

// Two that a release renders are placed alike, and each has its own replicas.
func TestReplicasOfOneAreNoneOfAnother(t *testing.T) {
	const releases = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: a}\n" +
		"spec: {resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}], placement: {}}\n"
	release := decode(t, "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: a}\nspec: {interval: 5m}\n")[0]
	set, _, diags := policies.Load(decode(t, fleet+releases), nil)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	memo := &template.Memo{}
	part := func(name string, replicas ...int) *template.Template {
		deployment, _, _ := strings.Cut(web, "---")
		var all []*object.Object
		for _, n := range replicas {
			all = append(all, decode(t, strings.NewReplacer("name: web", "name: "+name, "replicas: 10", fmt.Sprintf("replicas: %d", n)).Replace(deployment))[0])
		}
		of := template.New(all[0], memo)
		of.Part = &template.Part{Release: release, Policy: set.Propagation[0], Groups: []int{0, 1}, Failed: map[string]bool{}}
		for group, o := range all {
			of.Part.Add(o, group, memo)
		}
		return of
	}
	r := schedule.Decide(schedule.Input{
		Policies: index.Of(set, nil, &index.Memo{}), State: &state.State{}, When: time.Unix(0, 0), Memo: &schedule.Memo{},
		Templates: []*template.Template{part("one", 3, 5), part("two", 3, 4)},
	})
	one, two := r.Decisions[0], r.Decisions[1]
	if got := summary(&r); got != "one placed eu:3 us:5; two placed eu:3 us:4" || one.Binding.Spec.Clusters[1].Replicas != 5 || two.Binding.Spec.Clusters[1].Replicas != 4 {
		t.Errorf("it decides %s, and the bindings have %v and %v", got, one.Binding.Spec.Clusters, two.Binding.Spec.Clusters)
	}
}
