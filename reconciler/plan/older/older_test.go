package older_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/object"
)

// An older source is evaluated with the clusters of now, and what taints them: all else is as it was then, but for what stands in
// clusters' own directories.
func TestAnOlderSourceHasTheFleetOfNow(t *testing.T) {
	source := func(when string) render.Source {
		var s render.Source
		for _, o := range []string{
			"apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster", "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterTaintPolicy",
			"apiVersion: remedy.karmada.io/v1alpha1\nkind: Remedy", "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy",
			"apiVersion: example.com/v1\nkind: Cluster", "apiVersion: example.com/v1\nkind: ClusterTaintPolicy", "apiVersion: example.com/v1\nkind: Remedy",
			"apiVersion: remedy.karmada.io/v1alpha1\nkind: Other", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Other", "apiVersion: v1\nkind: ConfigMap",
		} {
			s.Objects = append(s.Objects, object.Decode(when, []byte(o+"\nmetadata: {name: x}\n")).Objects...)
		}
		s.Bound = map[string][]*object.Object{"eu": s.Objects[:1]}
		s.Config.Failover.LastCopy, s.Config.Descheduler.Enabled, s.Config.Namespaces = when, when == "now", when
		return s
	}
	then, now := source("then"), source("now")
	got := older.Source(then, now)
	var kinds []string
	for _, o := range got.Objects {
		kinds = append(kinds, o.Pos().File+" "+o.Ref().Kind+"."+o.Ref().Group)
	}
	want := []string{
		"then ClusterPropagationPolicy.policy.karmada.io", "then Cluster.example.com", "then ClusterTaintPolicy.example.com",
		"then Remedy.example.com", "then Other.remedy.karmada.io", "then Other.cluster.karmada.io", "then ConfigMap.",
		"now Cluster.cluster.karmada.io", "now ClusterTaintPolicy.policy.karmada.io", "now Remedy.remedy.karmada.io",
	}
	if !slices.Equal(kinds, want) || got.Bound != nil {
		t.Errorf("it has %q, and %v of clusters' own", kinds, got.Bound)
	}
	if c := got.Config; c.Failover.LastCopy != "now" || !c.Descheduler.Enabled || c.Namespaces != "then" {
		t.Errorf("its config is %+v", c)
	}
	if len(then.Objects) != 10 || then.Bound == nil {
		t.Error("the older source itself is changed")
	}
}

// What a policy of now says of failover and suspension counts for an older version of it, too: no digest has that, for it acts at once. All
// else is of then, and so is all of a policy that is no more.
func TestAnOlderPolicyActsAsTheOneOfNow(t *testing.T) {
	source := func(texts ...string) (s render.Source) {
		for _, text := range texts {
			s.Objects = append(s.Objects, object.Decode("f.yaml", []byte("apiVersion: policy.karmada.io/v1alpha1\n"+text)).Objects...)
		}
		return s
	}
	for _, tt := range []struct{ name, then, now, want string }{
		{"a suspension ends", "{placement: {}, suspension: {dispatching: true}}", "{priority: 2}", "map[placement:map[]]"},
		{"one begins", "{placement: {}}", "{suspension: {dispatching: true}}", "map[placement:map[] suspension:map[dispatching:true]]"},
		{"failover changes", "{failover: {cluster: 1}}", "{failover: {cluster: 2}}", "map[failover:map[cluster:2]]"},
		{"nothing changes", "{suspension: {dispatching: true}}", "{suspension: {dispatching: true}}", "map[suspension:map[dispatching:true]]"},
		{"it had no spec", "", "{suspension: {dispatching: true}}", "<nil>"},
		{"it is no more", "{suspension: {dispatching: true}}", "-", "map[suspension:map[dispatching:true]]"},
	} {
		for _, kind := range []string{"PropagationPolicy", "ClusterPropagationPolicy"} {
			var now render.Source
			head := "kind: " + kind + "\nmetadata: {name: x}\nspec: "
			then := source(head + tt.then)
			if now = source(head + tt.now); tt.now == "-" {
				now = render.Source{}
			}
			was := fmt.Sprint(then.Objects[0].Content())
			got := older.Source(then, now).Objects[0]
			if is := fmt.Sprint(got.Content()["spec"]); is != tt.want {
				t.Errorf("%s: a %s has %s, want %s", tt.name, kind, is, tt.want)
			}
			if fmt.Sprint(then.Objects[0].Content()) != was {
				t.Errorf("%s: the older source itself is changed", tt.name)
			}
			if isSame := got == then.Objects[0]; isSame != (fmt.Sprint(got.Content()) == was) {
				t.Errorf("%s: it is the object that was there: %t", tt.name, isSame) // what is remembered is remembered of an object
			}
		}
	}
	others := func(suspension string) render.Source {
		s := source("kind: OverridePolicy\nmetadata: {name: x}\nspec: {suspension: " + suspension + "}")
		foreign := "apiVersion: example.com/v1\nkind: PropagationPolicy\nmetadata: {name: x}\nspec: {suspension: " + suspension + "}"
		s.Objects = append(s.Objects, object.Decode("f.yaml", []byte(foreign)).Objects...)
		return s
	}
	for _, got := range older.Source(others("1"), others("2")).Objects {
		if fmt.Sprint(got.Content()["spec"]) != "map[suspension:1]" {
			t.Errorf("%s has %v", got.Ref(), got.Content()["spec"])
		}
	}
}

// failing is an older source of which the release cannot be rendered today, for two clusters.
const failing = `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us}
spec: {syncMode: Pull}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: team}
spec:
  resourceSelectors: [{apiVersion: SELECTED}]
  placement: {}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: db, namespace: team}
spec: {interval: 5m, chart: {spec: {chart: ./db, sourceRef: {kind: GitRepository, name: x}}}}
`

var (
	settings = object.Ref{Kind: "ConfigMap", Namespace: "team", Name: "settings"}
	web      = rollouts.Unit{Namespace: "team", Name: "web"}
)

// today evaluates the older source. Clusters that are named have what its release rendered to.
func today(t *testing.T, selected string, have ...string) older.Units {
	t.Helper()
	d := object.Decode("all.yaml", []byte(strings.Replace(failing, "SELECTED", selected, 1)))
	if len(d.Diags) > 0 {
		t.Fatal(d.Diags)
	}
	b := state.NewBinding("v1", settings)
	b.Annotations["propagationpolicy.karmada.io/namespace"], b.Annotations["propagationpolicy.karmada.io/name"] = web.Namespace, web.Name
	db := object.Ref{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "team", Name: "db"}
	st := state.State{
		Bindings: map[object.Ref]*karmada.ResourceBinding{settings: b},
		Releases: []state.Release{{Release: db, Objects: []object.Ref{settings}}},
	}
	x, err := expand.Expand(expand.Input{
		Source: render.Source{Objects: d.Objects}, Releases: st.Releases, Memo: &expand.Memo{},
		Override: func(_ *index.Policies, release *template.Template, _ string) (*object.Object, *diag.Diagnostic) {
			return release.Object, nil
		},
		Place: func(l *index.Policies, release *template.Template) (*policies.Propagation, []karmada.TargetCluster) {
			return l.Claims.Policy(release.Subject), []karmada.TargetCluster{{Name: "eu"}, {Name: "us"}}
		},
	}, engine.Unrendered)
	if err != nil {
		t.Fatal(err)
	}
	names := map[object.Ref]rollouts.Unit{}
	for _, p := range x.Policies.Set.Propagation {
		names[p.Object.Ref()] = web
	}
	return older.Evaluate(older.Input{
		Version: &older.Version{Expanded: &x, Of: names}, Asked: schedule.Input{State: &st, Memo: &schedule.Memo{}}, Units: []rollouts.Unit{web},
		Has: func(to []schedule.Target, _ object.Ref) []schedule.Target {
			for _, name := range have {
				to = append(to, schedule.Target{Name: name})
			}
			return to
		},
		Write:    manifest.Input{Memo: &manifest.Memo{}, Before: manifest.Before{Leaving: func(*schedule.Decision) []string { return nil }}},
		Backends: func(*schedule.Decision) map[string]ingress.Found { return nil },
		Memo:     &units.Memo{},
	})
}

// What a release of an older version rendered to, and cannot be rendered today, is of its unit still, and not wanted away: clusters that
// the release goes to are to have it, as is one that has it where no policy selects the release; what, is not known.
func TestWhatCannotBeRenderedIsNotGone(t *testing.T) {
	for _, tt := range []struct {
		name, selected string
		have           []string
		want           string
	}{
		{"a policy selects the release", "helm.toolkit.fluxcd.io/v2, kind: HelmRelease", nil, "eu us"},
		{"a policy selects what it rendered to", "v1, kind: ConfigMap", []string{"us"}, "us"},
		{"and no cluster has it", "v1, kind: ConfigMap", nil, ""},
		{"and a cluster has it that is gone", "v1, kind: ConfigMap", []string{"ap"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := today(t, tt.selected, tt.have...)
			if is := u.Found[web]; !slices.Contains(is.Refs, settings) || !is.Unknown {
				t.Errorf("the unit has %v, and is known: %t", is.Refs, !is.Unknown)
			}
			if isThere, isClaimed := u.Source(settings); !isThere || !isClaimed {
				t.Errorf("the older source has it: %t, and a policy claims it: %t", isThere, isClaimed)
			}
			var got []string
			row := u.Rows[settings]
			for i, name := range []string{"eu", "us"} {
				if _, ok := row.Wanted(i); ok {
					got = append(got, name)
				}
				if why := row.Blocked(i); why != reason.NotRendered {
					t.Errorf("in the way in %s is %q", name, why)
				}
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("it is wanted in %q, want %q", got, tt.want)
			}
		})
	}
}

// spread is an older source that divides replicas between two clusters.
const spread = `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us}
spec: {syncMode: Pull}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: team}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team}
spec:
  replicas: 12
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web:1}]}}
`

// Replicas are divided as was recorded of the version, then as its binding has them if the same placement decided that, and otherwise as
// clusters have them; anew where nothing of that is known, or where they found no room.
func TestADivisionStays(t *testing.T) {
	d := object.Decode("all.yaml", []byte(spread))
	x, err := expand.Expand(expand.Input{Source: render.Source{Objects: d.Objects}, Memo: &expand.Memo{}}, engine.Unrendered)
	if err != nil || len(d.Diags) > 0 {
		t.Fatal(err, d.Diags)
	}
	policy := x.Policies.Set.Propagation[0]
	deployment := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "team", Name: "web"}
	shares := func(eu, us int32) []schedule.Target {
		all := []schedule.Target{{Name: "eu", Replicas: eu}, {Name: "us", Replicas: us}}
		return slices.DeleteFunc(all, func(t schedule.Target) bool { return t.Replicas == 0 })
	}
	bound := func(replicas int32, placement string) *karmada.ResourceBinding {
		b := state.NewBinding("apps/v1", deployment)
		b.Spec.Replicas, b.Spec.Clusters = replicas, shares(8, replicas-8)
		return state.AsPlacedBy(*b, placement)
	}
	alike := state.Placement(&policy.Spec.Placement)
	unplaced := bound(12, alike)
	unplaced.Spec.Clusters = nil
	state.RecordScheduled(unplaced, nil, metav1.Condition{Status: metav1.ConditionFalse, Reason: "NoClusterFit"})
	odd := map[string]int32{"eu": 11, "us": 1}
	recorded := func(commit string, clusters map[string]int32) *rollouts.Rollout {
		return &rollouts.Rollout{Unit: web, Divided: []rollouts.Division{{Commit: commit, Object: deployment, Clusters: clusters}}}
	}
	for _, tt := range []struct {
		name    string
		record  *rollouts.Rollout
		binding *karmada.ResourceBinding
		have    []schedule.Target
		want    []schedule.Target
	}{
		{"nothing is known", nil, nil, nil, shares(6, 6)},
		{"recorded", recorded("a", map[string]int32{"eu": 12}), nil, nil, shares(12, 0)},
		{"recorded, though it is bound and there otherwise", recorded("a", odd), bound(12, alike), shares(10, 2), shares(11, 1)},
		{"recorded of another version", recorded("b", map[string]int32{"eu": 12}), nil, nil, shares(6, 6)},
		{"bound alike", nil, bound(12, alike), shares(10, 2), shares(8, 4)},
		{"bound alike, and there was no room", nil, unplaced, shares(12, 0), shares(6, 6)},
		{"bound by another placement", nil, bound(12, "{}"), shares(10, 2), shares(10, 2)},
		{"bound with other replicas", nil, bound(14, alike), shares(10, 2), shares(10, 2)},
		{"what is recorded is of a cluster that is gone", recorded("a", map[string]int32{"asia": 4, "eu": 4, "us": 4}), nil, nil, shares(6, 6)},
	} {
		st := state.State{Bindings: map[object.Ref]*karmada.ResourceBinding{}}
		if tt.binding != nil {
			st.Bindings[deployment] = tt.binding
		}
		u := older.Evaluate(older.Input{
			Version: &older.Version{Commit: "a", Expanded: &x, Of: map[object.Ref]rollouts.Unit{policy.Object.Ref(): web}},
			Asked:   schedule.Input{State: &st, Memo: &schedule.Memo{}}, Units: []rollouts.Unit{web},
			Has:      func(to []schedule.Target, _ object.Ref) []schedule.Target { return append(to, tt.have...) },
			Recorded: map[rollouts.Unit]*rollouts.Rollout{web: tt.record},
			Write:    manifest.Input{Memo: &manifest.Memo{}, Before: manifest.Before{Leaving: func(*schedule.Decision) []string { return nil }}},
			Backends: func(*schedule.Decision) map[string]ingress.Found { return nil },
			Memo:     &units.Memo{},
		})
		is := schedule.Find(u.Decisions, deployment)
		if is == nil || !slices.Equal(is.Scheduled, tt.want) {
			t.Errorf("%s: it is %+v, want %v", tt.name, is, tt.want)
		} else if !state.Placed(is.Binding) {
			t.Errorf("%s: the binding says that it is not placed: %+v", tt.name, is.Binding.Status)
		}
		if b := st.Bindings[deployment]; b != tt.binding {
			t.Errorf("%s: the binding of the state is %+v", tt.name, b)
		}
	}
}
