package older_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/ingress"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/older"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/units"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/object"
)

// pair is an older source with two units, of which web brings along what it refers to, and a cluster that takes nothing new.
const pair = `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us}
spec: {syncMode: Pull, taints: [{key: full, effect: NoSchedule}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: team}
spec: {propagateDeps: PULLS, resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}], placement: {}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: flags, namespace: team}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: flags}], placement: {}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: flags, namespace: team}, data: {a: b}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: team}, data: {c: d}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1", envFrom: [{configMapRef: {name: settings}}]}]}
`

// Of an older version is decided and written what is of the units that are asked for, with what these bring along, and nothing of another
// unit; where something is not divided, it is where clusters have it, whatever its binding says.
func TestUnitsOfAnOlderVersion(t *testing.T) {
	deployment := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "team", Name: "web"}
	flags, settings := object.Ref{Kind: "ConfigMap", Namespace: "team", Name: "flags"}, object.Ref{Kind: "ConfigMap", Namespace: "team", Name: "settings"}
	named := func(names ...string) (all []schedule.Target) {
		for _, name := range names {
			all = append(all, schedule.Target{Name: name})
		}
		return all
	}
	for _, tt := range []struct {
		name, pulls string
		of          []string
		bound, have []string // where the Deployment is, by its binding, and by the clusters
		want        string   // rows, with the clusters that are to have them
		backends    string   // of which it is asked where they send traffic
	}{
		{"it brings along what it refers to", "true", []string{"web"}, nil, nil, "Deployment.apps/team/web eu; ConfigMap/team/settings eu", "web settings"},
		{"it brings nothing along", "false", []string{"web"}, nil, nil, "Deployment.apps/team/web eu", "web"},
		{"another unit brings something along", "true", []string{"flags"}, nil, nil, "ConfigMap/team/flags eu", "flags"},
		{"both", "false", []string{"flags", "web"}, nil, nil, "Deployment.apps/team/web eu; ConfigMap/team/flags eu", "web flags"},
		{"a cluster has it, by its binding not", "false", []string{"web"}, []string{"eu"}, []string{"eu", "us"}, "Deployment.apps/team/web eu us", "web"},
		{"a cluster has it not, by its binding it does", "false", []string{"web"}, []string{"eu", "us"}, []string{"eu"}, "Deployment.apps/team/web eu", "web"},
		{"its binding says the same", "false", []string{"web"}, []string{"eu", "us"}, []string{"eu", "us"}, "Deployment.apps/team/web eu us", "web"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := object.Decode("all.yaml", []byte(strings.Replace(pair, "PULLS", tt.pulls, 1)))
			x, err := expand.Expand(expand.Input{Source: render.Source{Objects: d.Objects}, Memo: &expand.Memo{}}, engine.Unrendered)
			if err != nil || len(d.Diags) > 0 {
				t.Fatal(err, d.Diags)
			}
			version := older.Version{Expanded: &x, Of: map[object.Ref]rollouts.Unit{}}
			for _, p := range x.Policies.Set.Propagation {
				version.Of[p.Object.Ref()] = rollouts.Unit{Namespace: "team", Name: p.Object.Ref().Name}
			}
			st := state.State{Bindings: map[object.Ref]*karmada.ResourceBinding{}}
			if tt.bound != nil {
				st.Bindings[deployment] = state.NewBinding("apps/v1", deployment)
				st.Bindings[deployment].Spec.Clusters = named(tt.bound...)
			}
			var asked []string
			in := older.Input{
				Version: &version, Asked: schedule.Input{State: &st, Memo: &schedule.Memo{}}, Memo: &units.Memo{},
				Has: func(to []schedule.Target, r object.Ref) []schedule.Target {
					if r == deployment {
						to = append(to, named(tt.have...)...)
					}
					return to
				},
				Write: manifest.Input{Memo: &manifest.Memo{}, Before: manifest.Before{Leaving: func(*schedule.Decision) []string { return nil }}},
				Backends: func(d *schedule.Decision) map[string]ingress.Found {
					asked = append(asked, d.Ref().Name)
					return nil
				},
			}
			for _, name := range tt.of {
				in.Units = append(in.Units, rollouts.Unit{Namespace: "team", Name: name})
			}
			u := older.Evaluate(in)
			var got []string
			for _, r := range []object.Ref{deployment, flags, settings} {
				row, ok := u.Rows[r]
				if !ok {
					continue
				}
				line := []string{r.String()}
				for i, name := range []string{"eu", "us"} {
					if w, ok := row.Wanted(i); ok {
						line = append(line, name)
						if text, err := u.Blobs.At(w.Blob).Bytes(); err != nil || !strings.Contains(string(text), "name: "+r.Name) {
							t.Errorf("%s is to have %s of %s, %v", name, text, r, err)
						}
					}
				}
				got = append(got, strings.Join(line, " "))
			}
			if is := strings.Join(got, "; "); is != tt.want || len(u.Found) != len(tt.of) {
				t.Errorf("there are %s, of %d units; want %s", is, len(u.Found), tt.want)
			}
			slices.Sort(asked)
			want := strings.Fields(tt.backends)
			if slices.Sort(want); !slices.Equal(asked, want) {
				t.Errorf("where they send traffic is asked of %v, want %v", asked, want)
			}
			if b := st.Bindings[deployment]; b != nil && !slices.Equal(b.Spec.Clusters, named(tt.bound...)) {
				t.Errorf("the binding of the state is changed: %v", b.Spec.Clusters)
			}
			for r, want := range map[object.Ref][2]bool{deployment: {true, true}, settings: {true, false}, {Kind: "Secret", Name: "x"}: {}} {
				isThere, isClaimed := u.Source(r)
				if is := [2]bool{isThere, isClaimed}; is != want {
					t.Errorf("the older source has %s, and a policy claims it: %v, want %v", r, is, want)
				}
			}
		})
	}
}
