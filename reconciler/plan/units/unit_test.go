package units_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/units"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/object"
)

// source is a source of two policies: web pulls its ConfigMap along, and ops is for the cluster.
const source = `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us, labels: {tier: prod}}
spec: {syncMode: Pull}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: team}
spec:
  propagateDeps: true
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: chart, namespace: team}
spec:
  resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}]
  placement: {}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: ops}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, namespace: ops}]
  placement: {clusterAffinity: {labelSelector: {matchLabels: {tier: prod}}}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: labels, namespace: team}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  overrideRules: [{overriders: {labelsOverrider: [{operator: add, value: {a: b}}]}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:1}], volumes: [{name: c, configMap: {name: web}}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: team}
data: {key: one}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: limits, namespace: ops}
data: {cpu: "2"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: nobody, namespace: team}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: db, namespace: team}
spec: {interval: 5m, chart: {spec: {chart: ./db, sourceRef: {kind: GitRepository, name: x}}}, values: {size: 1}}
`

// world is what units are found in beside the source.
type world struct {
	source   string
	chart    string       // what the chart renders to; empty: it fails
	rendered []object.Ref // what it rendered to before it failed
	files    string       // identifies the files of the chart
	renderer string
	config   render.ConfigSpec
	bindings map[object.Ref]*karmada.ResourceBinding
	stays    func(object.Ref, rollouts.Unit) (rollouts.Unit, bool)
	bound    string // what stands in the directory of eu
	memo     *units.Memo
}

func here() world {
	return world{source: source, chart: "apiVersion: v1\nkind: Service\nmetadata: {name: db, namespace: team}\n", files: "f1", renderer: "v1"}
}

// edit is a world with another text in place of one that is in the source.
func edit(t *testing.T, from, to string) world {
	t.Helper()
	w := here()
	if strings.Count(w.source, from) != 1 {
		t.Fatalf("%q is not once in the source", from)
	}
	w.source = strings.Replace(w.source, from, to, 1)
	return w
}

// configured is a world with another config.
func configured(edit func(*render.ConfigSpec)) world {
	w := here()
	edit(&w.config)
	return w
}

// units finds the units of a world, by name.
func (w world) units(t *testing.T) map[string]units.Unit {
	t.Helper()
	d := object.Decode("all.yaml", []byte(w.source))
	if len(d.Diags) > 0 {
		t.Fatal(d.Diags)
	}
	x, err := expand.Expand(expand.Input{
		Source: render.Source{Objects: d.Objects, Bound: map[string][]*object.Object{"eu": object.Decode("eu.yaml", []byte(w.bound)).Objects}},
		Memo:   &expand.Memo{},
		Place: func(l *index.Policies, release *template.Template) (*policies.Propagation, []karmada.TargetCluster) {
			return l.Claims.Policy(release.Subject), []karmada.TargetCluster{{Name: "eu"}, {Name: "us"}}
		},
		Override: func(_ *index.Policies, release *template.Template, _ string) (*object.Object, *diag.Diagnostic) {
			return release.Object, nil
		},
	}, w.render)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x.Failures {
		x.Failures[i].Objects = w.rendered
	}
	st := state.State{Bindings: w.bindings}
	decided := schedule.Decide(schedule.Input{Policies: x.Policies, Templates: x.Templates, State: &st, Memo: &schedule.Memo{}})
	all := map[string]units.Unit{}
	for _, u := range units.Find(units.Input{
		Of:       named(&x),
		Expanded: &x, Decisions: decided.Decisions, Bindings: w.bindings, Config: &w.config, Renderer: w.renderer, Stays: w.stays, Memo: w.memo,
	}) {
		all[u.String()] = u
	}
	return all
}

// named names the units of policies as package policies/unit does.
func named(x *expand.Result) map[object.Ref]rollouts.Unit {
	all := map[object.Ref]rollouts.Unit{}
	for _, p := range x.Policies.Set.Propagation {
		u := rollouts.Unit{Namespace: p.Object.Ref().Namespace, Name: p.Object.Ref().Name}
		if group := p.Object.Annotations()["waybill.dev/rollout-group"]; group != "" {
			u = rollouts.Unit{Name: group, IsGroup: true}
		}
		all[p.Object.Ref()] = u
	}
	return all
}

func (w world) render(jobs []engine.Job) ([]engine.Rendered, error) {
	out := make([]engine.Rendered, len(jobs))
	for i := range jobs {
		out[i].Inputs = w.files
		if w.chart == "" || jobs[i].Helm != nil && w.bound != "" && len(jobs[i].Helm.Release.Values) == 0 {
			out[i].Diags = []diag.Diagnostic{{Code: diag.Helm, Severity: diag.Error, Message: "no chart"}}
		}
		for _, o := range object.Decode("chart", []byte(w.chart)).Objects {
			out[i].Manifests = append(out[i].Manifests, engine.Manifest{Object: o})
		}
	}
	return out, nil
}

func refs(of []object.Ref) string {
	var all []string
	for _, r := range of {
		all = append(all, r.Kind+"/"+r.Name)
	}
	return strings.Join(all, " ")
}

func TestWhatMovesTogether(t *testing.T) {
	gone := object.Ref{Kind: "Secret", Namespace: "team", Name: "old"}
	binding := func(policy string) map[object.Ref]*karmada.ResourceBinding {
		b := state.NewBinding("v1", gone)
		b.Annotations["propagationpolicy.karmada.io/namespace"], b.Annotations["propagationpolicy.karmada.io/name"] = "team", policy
		return map[object.Ref]*karmada.ResourceBinding{gone: b}
	}
	for _, tt := range []struct {
		name  string
		in    func() world
		want  map[string]string
		stays map[string]string
	}{
		{"what a policy claims, pulls along, and renders", here, map[string]string{
			"team/web": "ConfigMap/web Deployment/web", "team/chart": "Service/db HelmRelease/db", "_cluster/ops": "ConfigMap/limits",
		}, nil},
		{"policies of one group", func() world {
			return edit(t, "metadata: {name: ops}", "metadata: {name: ops, annotations: {waybill.dev/rollout-group: all}}")
		}, map[string]string{"_group/all": "ConfigMap/limits", "_cluster/ops": "", "team/web": "ConfigMap/web Deployment/web"}, nil},
		{"what a release rendered to that fails now, though no binding says so", func() world {
			w := here()
			w.chart, w.rendered = "", []object.Ref{{Kind: "Service", Namespace: "team", Name: "db"}}
			return w
		}, map[string]string{"team/chart": "Service/db HelmRelease/db"}, nil},
		{"what is gone belongs where it was", func() world { w := here(); w.bindings = binding("web"); return w }, map[string]string{
			"team/web": "ConfigMap/web Secret/old Deployment/web",
		}, nil},
		{"what is gone belongs to the group of where it was", func() world {
			w := edit(t, "metadata: {name: web, namespace: team}\nspec:\n  propagateDeps", "metadata: {name: web, namespace: team, annotations: {waybill.dev/rollout-group: all}}\nspec:\n  propagateDeps")
			w.bindings = binding("web")
			return w
		}, map[string]string{"_group/all": "ConfigMap/web Secret/old Deployment/web", "team/web": ""}, nil},
		{"a policy that is gone has a unit still", func() world { w := here(); w.bindings = binding("was"); return w }, map[string]string{
			"team/was": "Secret/old", "team/web": "ConfigMap/web Deployment/web",
		}, nil},
		{"what is going out stays with its unit", func() world {
			w := here()
			w.stays = func(r object.Ref, _ rollouts.Unit) (rollouts.Unit, bool) {
				return rollouts.Unit{Namespace: "team", Name: "web"}, r.Name == "limits"
			}
			return w
		}, map[string]string{"_cluster/ops": "", "team/web": "ConfigMap/limits ConfigMap/web Deployment/web"}, map[string]string{"team/web": "ConfigMap/limits"}},
		{"what is gone and still going out stays with its unit, too", func() world {
			w, old := here(), object.Ref{Kind: "ConfigMap", Namespace: "ops", Name: "a"}
			w.bindings = binding("chart")
			w.bindings[old] = w.bindings[gone]
			w.stays = func(r object.Ref, _ rollouts.Unit) (rollouts.Unit, bool) {
				return rollouts.Unit{Namespace: "team", Name: "web"}, r.Name == "limits" || r.Name == "old" || r == old
			}
			return w
		}, map[string]string{
			"_cluster/ops": "", "team/chart": "Service/db HelmRelease/db", "team/web": "ConfigMap/a ConfigMap/limits ConfigMap/web Secret/old Deployment/web",
		}, map[string]string{"team/web": "ConfigMap/a ConfigMap/limits Secret/old"}},
		{"what stays where it is claimed has not moved", func() world {
			w := here()
			w.stays = func(_ object.Ref, claims rollouts.Unit) (rollouts.Unit, bool) { return claims, true }
			return w
		}, map[string]string{"team/web": "ConfigMap/web Deployment/web", "_cluster/ops": "ConfigMap/limits"}, nil},
		{"what was pulled along and is gone is of no unit", func() world {
			w := here()
			w.bindings = map[object.Ref]*karmada.ResourceBinding{gone: state.NewBinding("v1", gone)}
			return w
		}, map[string]string{"team/web": "ConfigMap/web Deployment/web", "team/chart": "Service/db HelmRelease/db", "_cluster/ops": "ConfigMap/limits"}, nil},
		{"what two releases rendered to that fail now is there once", func() world {
			w := here()
			w.source += strings.Replace(w.source[strings.LastIndex(w.source, "---\n"):], "name: db, namespace", "name: db2, namespace", 1)
			w.chart, w.rendered = "", []object.Ref{{Kind: "Service", Namespace: "team", Name: "db"}}
			return w
		}, map[string]string{"team/chart": "Service/db HelmRelease/db HelmRelease/db2"}, nil},
		{"what a release rendered to that fails now, and the source has itself", func() world {
			w := here()
			w.chart, w.rendered = "", []object.Ref{{Kind: "ConfigMap", Namespace: "team", Name: "nobody"}, {Kind: "ConfigMap", Namespace: "ops", Name: "limits"}}
			return w
		}, map[string]string{"team/chart": "HelmRelease/db", "_cluster/ops": "ConfigMap/limits"}, nil},
	} {
		units := tt.in().units(t)
		for _, u := range units {
			if got := refs(u.Stays); got != tt.stays[u.String()] {
				t.Errorf("%s: with %s stays %q, want %q", tt.name, u.Unit, got, tt.stays[u.String()])
			}
		}
		if _, is := units["_cluster/"]; is {
			t.Errorf("%s: there is a unit without a name", tt.name)
		}
		for name, want := range tt.want {
			if got := refs(units[name].Refs); got != want {
				t.Errorf("%s: %s is %q, want %q", tt.name, name, got, want)
			}
		}
	}
}

// TestWhatStaysIsOfItsUnit: what is recorded to stay with a unit, and is of none any more, is of that one while a run is open, whichever.
func TestWhatStaysIsOfItsUnit(t *testing.T) {
	gone := object.Ref{Kind: "Secret", Namespace: "team", Name: "gone"}
	first, second := rollouts.Unit{Namespace: "team", Name: "first"}, rollouts.Unit{Namespace: "team", Name: "second"}
	for _, tt := range []struct {
		name          string
		first, second rollouts.Phase
		found         []units.Unit
		want          string
	}{
		{"its run is open", rollouts.Stopped, rollouts.Done, nil, "Secret/gone"},
		{"that of another one is", rollouts.Done, rollouts.Updating, nil, "Secret/gone"},
		{"none is", rollouts.Done, rollouts.Done, nil, ""},
		{"another one has it", rollouts.Stopped, rollouts.Done, []units.Unit{{Unit: second, Refs: []object.Ref{gone}}}, ""},
	} {
		recorded := []rollouts.Rollout{{Unit: first, Stays: []object.Ref{gone}}, {Unit: second}}
		recorded[0].Status.Phase, recorded[1].Status.Phase = tt.first, tt.second
		all := units.WithRecorded(tt.found, recorded)
		if len(all) != 2 || refs(all[0].Refs) != tt.want || len(all[0].Stays) != len(all[0].Refs) {
			t.Errorf("%s: units are %+v", tt.name, all)
		}
	}
	recorded := []rollouts.Rollout{{Unit: second}, {Unit: first, Stays: []object.Ref{gone, {Kind: "ConfigMap", Namespace: "team", Name: "gone"}}}}
	recorded[0].Status.Phase, recorded[1].Status.Phase = rollouts.Done, rollouts.Updating
	found := []units.Unit{{Unit: first, Refs: []object.Ref{{Kind: "ConfigMap", Namespace: "team", Name: "there"}}}}
	if all := units.WithRecorded(found, recorded); refs(all[0].Refs) != "ConfigMap/gone ConfigMap/there Secret/gone" || all[0].Stays[0].Kind != "ConfigMap" || all[1].Unit != second {
		t.Errorf("beside what is there they are %+v", all)
	}
}

// TestWhatIsPulledAlongTwice: what two units pull along belongs to the first by name, whichever of the objects that need it is first.
func TestWhatIsPulledAlongTwice(t *testing.T) {
	for _, tt := range []struct{ policy, own, web string }{
		{"api", "ConfigMap/web Deployment/api", "Deployment/web"},
		{"zoo", "Deployment/api", "ConfigMap/web Deployment/web"},
	} {
		w := here()
		for part, name := range map[string]string{"PropagationPolicy": tt.policy, "Deployment": "api"} {
			at := strings.Index(w.source, part+"\nmetadata: {name: web, namespace: team}")
			doc := w.source[strings.LastIndex(w.source[:at], "---\n"):]
			doc = doc[:strings.Index(doc[4:], "---\n")+4]
			w.source += strings.NewReplacer("name: web, namespace", "name: "+name+", namespace", "Deployment, name: web", "Deployment, name: api").Replace(doc)
		}
		units := w.units(t)
		if own, web := refs(units["team/"+tt.policy].Refs), refs(units["team/web"].Refs); own != tt.own || web != tt.web {
			t.Errorf("team/%s is %s, and team/web %s", tt.policy, own, web)
		}
	}
}

// TestWhatIsAChange is the table of what changes the digests of units, and of which.
func TestWhatIsAChange(t *testing.T) {
	before := here().units(t)
	for _, tt := range []struct {
		name string
		in   world
		want string // the units with another digest
	}{
		{"nothing", here(), ""},
		{"an image", edit(t, "image: web:1", "image: web:2"), "team/web"},
		{"a comment", edit(t, "data: {key: one}", "data: {key: one} # really"), ""},
		{"what is pulled along", edit(t, "data: {key: one}", "data: {key: two}"), "team/web"},
		{"an override that matches", edit(t, "value: {a: b}", "value: {a: c}"), "team/web"},
		{"a placement", edit(t, "matchLabels: {tier: prod}", "matchLabels: {tier: test}"), "_cluster/ops"},
		{"the values of a release", edit(t, "values: {size: 1}", "values: {size: 2}"), "team/chart"},
		{"a chart's files", func() world { w := here(); w.files = "f2"; return w }(), "team/chart"},
		{"the labels of a cluster", edit(t, "labels: {tier: prod}", "labels: {tier: test}"), ""},
		{"another cluster", func() world {
			w := here()
			w.source += "---\napiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: ap}\nspec: {syncMode: Pull}\n"
			return w
		}(), ""},
		{"dispatching is suspended", edit(t, "placement: {clusterAffinity", "suspension: {dispatching: true}\n  placement: {clusterAffinity"), ""},
		{"an object of nobody", edit(t, "metadata: {name: nobody, namespace: team}", "metadata: {name: nobody, namespace: team, labels: {a: b}}"), ""},
		{"an object that a unit gains", edit(t, "metadata: {name: nobody, namespace: team}", "metadata: {name: nobody, namespace: ops}"), "_cluster/ops"},
		{"what becomes of hooks", configured(func(c *render.ConfigSpec) { c.Publish.Hooks = render.HooksArgoCD }), "_cluster/ops team/chart team/web"},
		{"what becomes of Secrets", configured(func(c *render.ConfigSpec) { c.Secrets = render.SecretsAllow }), "_cluster/ops team/chart team/web"},
		{"where people look at them", configured(func(c *render.ConfigSpec) { c.Publish.Links = "https://fleet.example" }), "_cluster/ops team/chart team/web"},
		{"how many may be removed", configured(func(c *render.ConfigSpec) { c.Guard.MaxRemoved = 7 }), ""},
		{"what a kind means", func() world {
			w := here()
			w.source += "---\napiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\nmetadata: {name: mine}\nspec:\n  target: {apiVersion: example.com/v1, kind: Thing}\n  customizations: {healthInterpretation: {luaScript: 'function InterpretHealth(o) return true end'}}\n"
			return w
		}(), "_cluster/ops team/chart team/web"},
		{"when work fails over", edit(t, "placement: {clusterAffinity", "failover: {cluster: {purgeMode: Directly}}\n  placement: {clusterAffinity"), ""},
		{"an override that matches no more", edit(t, "kind: Deployment, name: web}]\n  overrideRules", "kind: Deployment, name: api}]\n  overrideRules"), "team/web"},
		{"who renders", func() world { w := here(); w.renderer = "v2"; return w }(), "_cluster/ops team/chart team/web"},
		{"nobody sends an object any longer, but it was of the unit", func() world {
			w, nobody := here(), object.Ref{Kind: "ConfigMap", Namespace: "team", Name: "nobody"}
			b := state.NewBinding("v1", nobody)
			b.Annotations["propagationpolicy.karmada.io/namespace"], b.Annotations["propagationpolicy.karmada.io/name"] = "team", "web"
			w.bindings = map[object.Ref]*karmada.ResourceBinding{nobody: b}
			return w
		}(), ""},
		{"what the chart renders to, by a cluster's version", func() world {
			w := here()
			w.chart += "---\napiVersion: v1\nkind: Service\nmetadata: {name: db2, namespace: team}\n"
			return w
		}(), ""},
	} {
		after := tt.in.units(t)
		var got []string
		for _, name := range []string{"_cluster/ops", "team/chart", "team/web"} {
			if before[name].Digest != after[name].Digest {
				got = append(got, name)
			}
			if len(after[name].Digest) != 32 {
				t.Errorf("%s: the digest of %s is %q", tt.name, name, after[name].Digest)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s changes %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestWhatIsNotKnown: of what cannot be read or rendered, it is not known whether its unit changed. What fails elsewhere says nothing of it.
func TestWhatIsNotKnown(t *testing.T) {
	db := object.Ref{Kind: "Service", Namespace: "team", Name: "db"}
	fails := func(w world) world {
		w.chart, w.rendered = "", []object.Ref{db}
		return w
	}
	const bound = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: db, namespace: team}\n" +
		"spec: {interval: 5m, chart: {spec: {chart: ./db, sourceRef: {kind: GitRepository, name: x}}}}\n"
	unselected := fails(edit(t, "resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}]", "resourceSelectors: [{apiVersion: v1, kind: Service}]"))
	unselected.bindings = map[object.Ref]*karmada.ResourceBinding{db: state.NewBinding("v1", db)}
	unselected.bindings[db].Annotations["propagationpolicy.karmada.io/namespace"], unselected.bindings[db].Annotations["propagationpolicy.karmada.io/name"] = "team", "chart"
	beside := unselected
	beside.bindings = maps.Clone(unselected.bindings)
	for n := range 20 {
		gone := object.Ref{Kind: "ConfigMap", Namespace: "team", Name: fmt.Sprintf("gone-%d", n)}
		beside.bindings[gone] = state.NewBinding("v1", gone)
		beside.bindings[gone].Annotations = unselected.bindings[db].Annotations
	}
	own := here()
	own.bound = bound
	two := edit(t, "replicas: 2", "replicas: many")
	two.source = strings.ReplaceAll(two.source, "kind: Deployment, name: web}", "kind: Deployment}") + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: zoo, namespace: team}\n" +
		"spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}\n"
	for _, tt := range []struct {
		name string
		in   world
		want string // the units of which it is not known
	}{
		{"all is known", here(), ""},
		{"a release fails", fails(here()), "team/chart"},
		{"a release fails that no policy selects, and a policy had what it rendered to", unselected, "team/chart"},
		{"and what else the policy had is gone", beside, "team/chart"},
		{"a release fails in a cluster's own directory", own, ""},
		{"replicas cannot be read", edit(t, "replicas: 2", "replicas: many"), "team/web"},
		{"replicas of the first of two cannot be read", two, "team/web"},
	} {
		var got []string
		units := tt.in.units(t)
		for _, name := range slices.Sorted(maps.Keys(units)) {
			if units[name].Unknown {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: it is not known of %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestAFederatedHPAIsOfTheUnitOfItsTemplate: what it says is a change of that, and what clusters have of it is none.
func TestAFederatedHPAIsOfTheUnitOfItsTemplate(t *testing.T) {
	const hpa = "---\napiVersion: autoscaling.karmada.io/v1alpha1\nkind: FederatedHPA\nmetadata: {name: web, namespace: team}\n" +
		"spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 1, maxReplicas: 5}\n"
	const ap = "---\napiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: ap}\nspec: {syncMode: Pull}\n"
	unit := func(more string) units.Unit {
		w := here()
		w.source += more
		return w.units(t)["team/web"]
	}
	none, five := unit(""), unit(hpa)
	if got := refs(five.Refs); got != "ConfigMap/web Deployment/web HorizontalPodAutoscaler/web" {
		t.Errorf("the unit is %s", got)
	}
	if five.Digest == none.Digest || unit(strings.Replace(hpa, "maxReplicas: 5", "maxReplicas: 6", 1)).Digest == five.Digest {
		t.Error("a FederatedHPA, or its bounds, are no change")
	}
	if unit(hpa+ap).Digest != five.Digest {
		t.Error("another cluster is a change")
	}
}

// TestDigestsAreRemembered: by what they are of, so that a plan that remembers others finds what one finds that remembers nothing.
func TestDigestsAreRemembered(t *testing.T) {
	memo := &units.Memo{}
	changed := edit(t, "image: web:1", "image: web:2")
	for n, w := range []world{here(), here(), changed, here()} {
		fresh := w.units(t)
		w.memo = memo
		memo.Turn()
		for name, u := range w.units(t) {
			if u.Digest != fresh[name].Digest {
				t.Errorf("plan %d: %s has the digest %s, want %s", n+1, name, u.Digest, fresh[name].Digest)
			}
		}
	}
}

// TestARestlessUnit: a unit with a release that gives another result each time cannot go out in stages, and says which.
func TestARestlessUnit(t *testing.T) {
	db, web := object.Ref{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "team", Name: "db"}, object.Ref{Kind: "ConfigMap", Namespace: "team", Name: "web"}
	release := object.Decode("db.yaml", []byte("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: db, namespace: team}\n")).Objects[0]
	x := &expand.Result{Restless: map[object.Ref]expand.Restless{db: {Release: release, Function: "now"}}}
	for _, tt := range []struct {
		refs []object.Ref
		want bool
	}{{nil, false}, {[]object.Ref{web}, false}, {[]object.Ref{web, db}, true}, {[]object.Ref{db, web}, true}} {
		u := units.Unit{Unit: rollouts.Unit{Namespace: "team", Name: "chart"}, Refs: tt.refs}
		d, is := u.Restless(x)
		if is != tt.want || is && (d.Code != diag.RolloutRestless || d.Pos.File != "db.yaml" || !strings.Contains(d.Message, "team/db may call now")) {
			t.Errorf("of %v it says %v, restless: %t", tt.refs, d, is)
		}
	}
}

// TestStaying: an object that goes out with a unit still stays with it although another one claims it now, until the runs of both are over.
func TestStaying(t *testing.T) {
	const open, done = rollouts.Updating, rollouts.Done
	moved, staying, fresh := object.Ref{Kind: "ConfigMap", Name: "moved"}, object.Ref{Kind: "ConfigMap", Name: "staying"}, object.Ref{Kind: "ConfigMap", Name: "fresh"}
	was, group, claims := rollouts.Unit{Namespace: "team", Name: "was"}, rollouts.Unit{Name: "all", IsGroup: true}, rollouts.Unit{Namespace: "team", Name: "claims"}
	binding := state.NewBinding("v1", moved)
	binding.Annotations["propagationpolicy.karmada.io/namespace"], binding.Annotations["propagationpolicy.karmada.io/name"] = "team", "was"
	policy := object.Ref{Kind: "PropagationPolicy", Namespace: "team", Name: "was"}
	for _, tt := range []struct {
		name            string
		of              map[object.Ref]rollouts.Unit // of policies
		phases          map[rollouts.Unit]rollouts.Phase
		moved, recorded string // with which units these stay; empty for none
	}{
		{"nothing goes out", nil, map[rollouts.Unit]rollouts.Phase{was: done, claims: done}, "", ""},
		{"both go out", nil, map[rollouts.Unit]rollouts.Phase{was: open, claims: open}, "team/was", "team/was"},
		{"the run of who claims it is open", nil, map[rollouts.Unit]rollouts.Phase{was: done, claims: open}, "", "team/was"},
		{"that of a third one is", nil, map[rollouts.Unit]rollouts.Phase{was: done, claims: done, group: open}, "", ""},
		{"it goes out with a group", map[object.Ref]rollouts.Unit{policy: group}, map[rollouts.Unit]rollouts.Phase{was: done, claims: done, group: open}, "_group/all", ""},
		{"its policy joins a group, and goes out alone still", map[object.Ref]rollouts.Unit{policy: group}, map[rollouts.Unit]rollouts.Phase{was: open, group: done}, "team/was", "team/was"},
	} {
		before := map[rollouts.Unit]*rollouts.Rollout{}
		for u, phase := range tt.phases {
			before[u] = &rollouts.Rollout{Unit: u, Status: rollouts.Status{Phase: phase}}
		}
		before[was].Stays = []object.Ref{staying}
		stays := units.Staying(map[object.Ref]*karmada.ResourceBinding{moved: binding}, before, tt.of)
		for r, want := range map[object.Ref]string{moved: tt.moved, staying: tt.recorded, fresh: ""} {
			var got string
			if stays != nil {
				if u, ok := stays(r, claims); ok {
					got = u.String()
				}
			}
			if got != want {
				t.Errorf("%s: %s stays with %q, want %q", tt.name, r.Name, got, want)
			}
		}
	}
}
