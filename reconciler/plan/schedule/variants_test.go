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
		eu, us          int // replicas there; -1: it cannot be rendered
		was             int32
		want, says      string
	}{
		{"alike", "", 3, 3, 0, "eu:3 us:3", ""},
		{"another number", "", 3, 5, 0, "eu:3 us:5", ""},
		{"none in a cluster", "", 3, 0, 0, "eu:3 us:0", ""},
		{"it fails, and was there", "", 3, -1, 7, "eu:3 us:7", ""},
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
