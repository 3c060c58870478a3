package older_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/ingress"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/older"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/units"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
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
		decided     string   // all that is decided about
	}{
		{"it brings along what it refers to", "true", []string{"web"}, nil, nil, "Deployment.apps/team/web eu; ConfigMap/team/settings eu", "web settings", "settings web"},
		{"it brings nothing along", "false", []string{"web"}, nil, nil, "Deployment.apps/team/web eu", "web", "web"},
		{"another unit brings something along", "true", []string{"flags"}, nil, nil, "ConfigMap/team/flags eu us", "flags", "flags"},
		{
			"both, and neither is where its binding says", "false",
			[]string{"flags", "web"},
			[]string{"eu", "us"},
			[]string{"eu"},
			"Deployment.apps/team/web eu; ConfigMap/team/flags eu us", "web flags", "flags web",
		},
		{"a cluster has it, by its binding not", "false", []string{"web"}, []string{"eu"}, []string{"eu", "us"}, "Deployment.apps/team/web eu us", "web", "web"},
		{"a cluster has it not, by its binding it does", "false", []string{"web"}, []string{"eu", "us"}, []string{"eu"}, "Deployment.apps/team/web eu", "web", "web"},
		{"its binding says the same", "false", []string{"web"}, []string{"eu", "us"}, []string{"eu", "us"}, "Deployment.apps/team/web eu us", "web", "web"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := object.Decode("all.yaml", []byte(strings.Replace(pair, "PULLS", tt.pulls, 1)))
			x, err := expand.Expand(expand.Input{Source: render.Source{Objects: d.Objects}, Memo: &expand.Memo{}}, engine.Unrendered)
			if err != nil || len(d.Diags) > 0 {
				t.Fatal(err, d.Diags)
			}
			// What cannot be rendered of a cluster's own directory is in no unit.
			x.Failures = append(x.Failures, expand.Failure{
				ID: state.ReleaseID{Release: settings, Cluster: "eu"}, Objects: []object.Ref{flags, settings, deployment}, Everywhere: true,
			})
			version, placement := older.Version{Expanded: &x, Of: map[object.Ref]rollouts.Unit{}}, ""
			for _, p := range x.Policies.Set.Propagation {
				if p.Object.Ref().Name == "web" {
					placement = state.Placement(&p.Spec.Placement)
				}
				version.Of[p.Object.Ref()] = rollouts.Unit{Namespace: "team", Name: p.Object.Ref().Name}
			}
			st := state.State{Bindings: map[object.Ref]*karmada.ResourceBinding{}}
			if tt.bound != nil {
				b := state.NewBinding("apps/v1", deployment)
				b.Spec.Clusters, b.Spec.Replicas = named(tt.bound...), 1
				st.Bindings[deployment] = state.AsPlacedBy(*b, placement) // as it is placed by this version
			}
			st.Bindings[flags] = state.NewBinding("v1", flags) // which are in us
			st.Bindings[flags].Spec.Clusters = named("eu")
			var asked []string
			in := older.Input{
				Version: &version, Asked: schedule.Input{State: &st, Memo: &schedule.Memo{}}, Memo: &units.Memo{},
				Has: func(to []schedule.Target, r object.Ref) []schedule.Target {
					return append(to, named(map[object.Ref][]string{deployment: tt.have, flags: {"us"}}[r]...)...)
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
					if why := row.Blocked(i); why != "" {
						t.Errorf("in the way of %s in %s is %q", r, name, why)
					}
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
			var decided []string
			for _, d := range u.Decisions {
				decided = append(decided, d.Ref().Name)
			}
			if is := strings.Join(decided, " "); is != tt.decided {
				t.Errorf("it is decided about %s, want %s", is, tt.decided)
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

// What a release of an older version renders to is of the unit whose policy selects the release, whatever else would select it, and where
// the release fails in a cluster, its replicas are where clusters have them, whatever was recorded.
func TestWhatAnOlderReleaseRenders(t *testing.T) {
	const releases = `---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: db, namespace: team}
spec:
  resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}]
  placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: db, namespace: team}
spec: {interval: 5m, chart: {spec: {chart: ./db, sourceRef: {kind: GitRepository, name: x}}}}
`
	db := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "team", Name: "db"}
	unit := rollouts.Unit{Namespace: "team", Name: "db"}
	for _, tt := range []struct {
		name   string
		failed []string
		want   []schedule.Target
	}{
		{"it is rendered everywhere", nil, []schedule.Target{{Name: "eu", Replicas: 11}, {Name: "us", Replicas: 1}}},
		{"it fails in a cluster", []string{"us"}, []schedule.Target{{Name: "eu", Replicas: 10}, {Name: "us", Replicas: 2}}},
	} {
		d := object.Decode("all.yaml", []byte(spread+releases))
		x, err := expand.Expand(expand.Input{
			Source: render.Source{Objects: d.Objects}, Memo: &expand.Memo{},
			Override: func(_ *index.Policies, release *template.Template, _ string) (*object.Object, *diag.Diagnostic) {
				return release.Object, nil
			},
			Place: func(l *index.Policies, release *template.Template) (*policies.Propagation, []karmada.TargetCluster) {
				return l.Claims.Policy(release.Subject), []karmada.TargetCluster{{Name: "eu"}, {Name: "us"}}
			},
		}, engine.Unrendered)
		if err != nil || len(d.Diags) > 0 {
			t.Fatal(err, d.Diags)
		}
		x.Failures = nil
		version := older.Version{Commit: "a", Expanded: &x, Of: map[object.Ref]rollouts.Unit{}}
		memo := &template.Memo{}
		_, rest, _ := strings.Cut(spread, "apiVersion: apps/v1\n")
		rendered := object.Decode("chart", []byte("apiVersion: apps/v1\n"+strings.Replace(rest, "name: web", "name: db", 1))).Objects[0]
		part := template.New(rendered, memo)
		part.Part = &template.Part{Groups: []int{0, 0}, Failed: map[string]bool{}}
		for _, name := range tt.failed {
			part.Part.Groups[1], part.Part.Failed[name] = template.NoGroup, true
		}
		part.Part.Add(rendered, 0, memo)
		for _, p := range x.Policies.Set.Propagation {
			if version.Of[p.Object.Ref()] = (rollouts.Unit{Namespace: "team", Name: p.Object.Ref().Name}); p.Object.Ref().Name == "db" {
				part.Part.Policy = p
			}
		}
		for _, o := range x.Templates {
			if o.IsRelease() {
				part.Part.Release = o.Object
			}
		}
		x.Templates = append([]*template.Template{part}, x.Templates...)
		b := state.NewBinding("apps/v1", db)
		b.Spec.Clusters, b.Spec.Replicas = []schedule.Target{{Name: "eu", Replicas: 8}, {Name: "us", Replicas: 4}}, 12
		st := state.State{Bindings: map[object.Ref]*karmada.ResourceBinding{
			db: state.AsPlacedBy(*b, state.Placement(&part.Part.Policy.Spec.Placement)),
		}}
		u := older.Evaluate(older.Input{
			Version: &version, Asked: schedule.Input{State: &st, Memo: &schedule.Memo{}}, Units: []rollouts.Unit{unit}, Memo: &units.Memo{},
			Has: func(to []schedule.Target, r object.Ref) []schedule.Target {
				return append(to, schedule.Target{Name: "eu", Replicas: 10}, schedule.Target{Name: "us", Replicas: 2})
			},
			Recorded: map[rollouts.Unit]*rollouts.Rollout{unit: {
				Unit: unit, Divided: []rollouts.Division{{Commit: "a", Object: db, Clusters: map[string]int32{"eu": 11, "us": 1}}},
			}},
			Write:    manifest.Input{Memo: &manifest.Memo{}, Before: manifest.Before{Leaving: func(*schedule.Decision) []string { return nil }}},
			Backends: func(*schedule.Decision) map[string]ingress.Found { return nil },
		})
		if len(u.Decisions) != 2 || !slices.Contains(u.Found[unit].Refs, db) {
			t.Fatalf("%s: it is decided %v, and the unit is %+v", tt.name, u.Decisions, u.Found[unit])
		}
		if is := schedule.Find(u.Decisions, db).Scheduled; !slices.Equal(is, tt.want) {
			t.Errorf("%s: it is %v, want %v", tt.name, is, tt.want)
		}
		if isThere, isClaimed := u.Source(db); !isThere || !isClaimed {
			t.Errorf("%s: the older source has it: %t, and a policy claims it: %t", tt.name, isThere, isClaimed)
		}
	}
}
