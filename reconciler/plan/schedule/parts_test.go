package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
)

// However many a release renders they leave at once, for they go with it; and they stay where they were while its binding is not known.
func TestAllThatAReleaseRendersGoesWithIt(t *testing.T) {
	const releases = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: a}\n" +
		"spec: {resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}], " +
		"placement: {spreadConstraints: [{spreadByField: cluster, maxGroups: 1, minGroups: 1}]}}\n"
	release := decode(t, "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: a}\nspec: {interval: 5m}\n")[0]
	deployment, _, _ := strings.Cut(web, "---")
	for _, isRecovered := range []bool{false, true} {
		st := &state.State{}
		var r schedule.Result
		for n, source := range []string{fleet, tainted("eu")} {
			set, _, diags := policies.Load(decode(t, source+releases), nil)
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			memo := &template.Memo{}
			in := schedule.Input{
				Policies: index.Of(set, nil, &index.Memo{}), State: st, When: time.Unix(0, 0), Now: noon, Memo: &schedule.Memo{},
				Failover: leaves(noon, true, failover.Record{}, nil), Recovered: map[object.Ref]bool{release.Ref(): isRecovered && n > 0},
			}
			for _, name := range []string{"v", "w", "x", "y", "z"} {
				part := template.New(decode(t, strings.Replace(deployment, "name: web", "name: "+name, 1))[0], memo)
				part.Part = &template.Part{Release: release, Policy: set.Propagation[0], Groups: []int{0, 0}, Failed: map[string]bool{}}
				part.Part.Add(part.Object, 0, memo)
				in.Templates = append(in.Templates, part)
			}
			in.Templates = append(in.Templates, template.New(release, memo))
			r = schedule.Decide(in)
			st = after(&r)
		}
		want := "placed us:10 leaves eu for us recorded 1"
		if isRecovered {
			want = "kept eu:10"
		}
		for i := range 5 {
			if got := moves(&r.Decisions[i]); got != want {
				t.Errorf("%s is %s, want %s", r.Decisions[i].Ref().Name, got, want)
			}
		}
	}
}
