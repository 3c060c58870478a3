package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

const fleet = `
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
`

const web = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: a}
spec: {replicas: 10, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x, envFrom: [{configMapRef: {name: settings}}]}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: a}
`

// policy is a policy for Deployments with more of its spec.
func policy(spec string) string {
	return "---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: a}\nspec:\n" +
		"  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n  " + spec + "\n"
}

// decide decides about a source in one file, with earlier decisions, of which some were made up because they could not be read.
func decide(t *testing.T, source string, st *state.State, recovered ...object.Ref) schedule.Result {
	t.Helper()
	in := input(t, decode(t, source), st)
	for _, ref := range recovered {
		in.Recovered[ref] = true
	}
	return schedule.Decide(in)
}

func decode(t *testing.T, source string) []*object.Object {
	t.Helper()
	d := object.Decode("all.yaml", []byte(source))
	if len(d.Diags) > 0 {
		t.Fatal(d.Diags)
	}
	return d.Objects
}

// input is what is decided about: a source, and earlier decisions.
func input(t *testing.T, source []*object.Object, st *state.State) schedule.Input {
	t.Helper()
	set, objects, diags := policies.Load(source, nil)
	for _, d := range diags {
		if d.Code != diag.MissingOverride && d.Code != diag.SpreadIdle {
			t.Fatal(d)
		}
	}
	render.SortObjects(objects)
	in := schedule.Input{
		Policies: index.Of(set, nil, &index.Memo{}), State: st, When: time.Unix(0, 0), Memo: &schedule.Memo{}, Recovered: map[object.Ref]bool{},
	}
	for _, o := range objects {
		in.Templates = append(in.Templates, template.New(o, &template.Memo{}))
	}
	return in
}

// summary prints decisions.
func summary(r *schedule.Result) string {
	var all []string
	for _, d := range r.Decisions {
		words := []string{d.Ref().Name, d.Outcome.String()}
		for _, c := range d.Targets {
			words = append(words, fmt.Sprintf("%s:%d", c.Name, c.Replicas))
		}
		all = append(all, strings.Join(words, " "))
	}
	return strings.Join(all, "; ")
}

func TestDecide(t *testing.T) {
	for _, tt := range []struct{ name, policy, want string }{
		{"no policy", "", "settings unclaimed; web unclaimed"},
		{"duplicated", policy("placement: {}"), "settings unclaimed; web placed eu:10 us:10"},
		{"divided", policy("placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}"), "settings unclaimed; web placed eu:5 us:5"},
		{"what it needs follows", policy("propagateDeps: true\n  placement: {clusterAffinity: {clusterNames: [us]}}"), "settings placed us:10; web placed us:10"},
		{"no cluster fits", policy("placement: {clusterAffinity: {clusterNames: [ap]}}"), "settings unclaimed; web placed"},
		{"the override policy is missing", policy("dependentOverrides: [o]\n  placement: {}"), "settings unclaimed; web unclaimed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := decide(t, fleet+web+tt.policy, &state.State{})
			if got := summary(&r); got != tt.want {
				t.Errorf("it decides %s, want %s", got, tt.want)
			}
		})
	}
}

// TestWhatTwoNeedStaysIfEitherKeeps: what is sent along for two takes over what is there, and stays when it leaves, if either policy says so,
// in whatever order they come.
func TestWhatTwoNeedStaysIfEitherKeeps(t *testing.T) {
	const asks = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: NAME, namespace: a}\n" +
		"spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: NAME}], propagateDeps: true, placement: {}MORE}\n"
	for _, keeps := range []string{"early", "late", "neither"} {
		documents := []string{strings.TrimSuffix(fleet, "---\n"), web[strings.Index(web, "---")+len("---"):]}
		for _, name := range []string{"early", "late"} {
			more := ""
			if name == keeps {
				more = ", preserveResourcesOnDeletion: true, conflictResolution: Overwrite"
			}
			one, _, _ := strings.Cut(web, "---")
			documents = append(documents, strings.NewReplacer("NAME", name, "MORE", more).Replace(asks), strings.Replace(one, "name: web", "name: "+name, 1))
		}
		r := decide(t, strings.Join(documents, "\n---\n"), &state.State{})
		for _, d := range r.Decisions {
			if want := keeps != "neither"; d.Ref().Name == "settings" && d.Sent != (schedule.Sent{Overwrite: want, Preserve: want}) {
				t.Errorf("%s keeps: the settings are sent %+v", keeps, d.Sent)
			}
			if d.Ref().Name == "settings" && len(d.RequiredBy) != 2 {
				t.Errorf("%s keeps: the settings are needed by %v", keeps, d.RequiredBy)
			}
		}
		if got := summary(&r); !strings.Contains(got, "settings placed") {
			t.Fatal(got)
		}
	}
}

// after is the state of a result that was published.
func after(r *schedule.Result) *state.State {
	st := &state.State{Bindings: map[object.Ref]*karmada.ResourceBinding{}}
	for _, d := range r.Decisions {
		if d.Binding != nil {
			st.Bindings[d.Ref()] = d.Binding
		}
	}
	return st
}

func TestASecondDecisionIsSteady(t *testing.T) {
	weighted := policy("placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}")
	first := decide(t, fleet+web+weighted, &state.State{})
	again := decide(t, fleet+web+weighted, after(&first))
	for i, d := range again.Decisions {
		if d.Binding != first.Decisions[i].Binding {
			t.Errorf("%s has another binding, and nothing changed", d.Ref())
		}
	}
	// An override policy that goes missing keeps what was placed, as it was.
	waits := strings.Replace(weighted, "placement:", "dependentOverrides: [o]\n  placement:", 1)
	kept := decide(t, fleet+web+waits, after(&first))
	if got := summary(&kept); got != "settings unclaimed; web kept eu:5 us:5" {
		t.Errorf("while its override policy is missing: %s", got)
	}
}

// What is remembered of an earlier plan counts for the bounds that it was made for: the most replicas of a FederatedHPA say how many
// clusters get one, though nothing else changes.
func TestADecisionFollowsTheMostReplicas(t *testing.T) {
	const scaler = "apiVersion: autoscaling.karmada.io/v1alpha1\nkind: FederatedHPA\nmetadata: {name: web, namespace: a}\n" +
		"spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 1, maxReplicas: MOST}\n"
	weighted := policy("placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}")
	source := decode(t, fleet+strings.Replace(web, "replicas: 10", "replicas: 1", 1)+weighted)
	st, memo := &state.State{}, &schedule.Memo{}
	for _, tt := range []struct{ most, want string }{{"1", "eu:1"}, {"1", "eu:1"}, {"2", "eu:1 us:1"}, {"1", "eu:1"}} {
		memo.Turn()
		in := input(t, slices.Concat(source, decode(t, strings.Replace(scaler, "MOST", tt.most, 1))), st)
		in.Memo = memo
		r := schedule.Decide(in)
		if got := summary(&r); !strings.Contains(got, "; web placed "+tt.want+";") {
			t.Errorf("of at most %s replicas: %s; want it in %s", tt.most, got, tt.want)
		}
		st = after(&r)
	}
}

// Templates that ask alike are the many: a fleet has a list of its clusters once, not once
// a template.
func TestTemplatesThatAskAlikeShareTheirClusters(t *testing.T) {
	named := func(name, replicas string) string {
		text, _, _ := strings.Cut(web, "---")
		return "---" + strings.NewReplacer("name: web", "name: "+name, "replicas: 10", "replicas: "+replicas).Replace(text)
	}
	r := decide(t, fleet+named("a", "3")+named("b", "3")+named("c", "4")+policy("placement: {}"), &state.State{})
	if got, want := summary(&r), "a placed eu:3 us:3; b placed eu:3 us:3; c placed eu:4 us:4"; got != want {
		t.Fatalf("decided %s; want %s", got, want)
	}
	lists := map[*schedule.Target]bool{}
	for _, d := range r.Decisions {
		lists[&d.Scheduled[0]], lists[&d.Targets[0]], lists[&d.Binding.Spec.Clusters[0]] = true, true, true
	}
	if len(lists) != 2 {
		t.Errorf("there are %d lists of clusters; want 2, one for each number of replicas", len(lists))
	}
}

// TestARebalancerActsOnce: on what was placed before it came, and on nothing of which that is not known.
func TestARebalancerActsOnce(t *testing.T) {
	weighted := policy("placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}")
	const rebalances = "---\napiVersion: apps.karmada.io/v1alpha1\nkind: WorkloadRebalancer\nmetadata: {name: r}\nspec: {workloads: [{apiVersion: apps/v1, kind: Deployment, namespace: a, name: NAME}]}\n"
	named := func(name string) string { return strings.Replace(rebalances, "NAME", name, 1) }
	web1 := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "web"}
	first := decide(t, fleet+web+weighted, &state.State{})
	acted := decide(t, fleet+web+weighted+named("web"), after(&first))
	for _, tt := range []struct {
		name      string
		before    *state.State
		source    string
		recovered []object.Ref
		want      bool
	}{
		{"nothing was placed before", &state.State{}, named("web"), nil, false},
		{"it was placed before", after(&first), named("web"), nil, true},
		{"another one is named", after(&first), named("db"), nil, false},
		{"the binding was made up", after(&first), named("web"), []object.Ref{web1}, false},
		{"the binding of another one was", after(&first), named("web"), []object.Ref{{Kind: "ConfigMap", Namespace: "a", Name: "settings"}}, true},
	} {
		r := decide(t, fleet+web+weighted+tt.source, tt.before, tt.recovered...)
		for _, d := range r.Decisions {
			if d.Ref() == web1 && (d.Binding.Spec.RescheduleTriggeredAt != nil) != tt.want {
				t.Errorf("%s: it is divided afresh at %v", tt.name, d.Binding.Spec.RescheduleTriggeredAt)
			}
		}
	}
	again := decide(t, fleet+web+weighted+named("web"), after(&acted))
	for i, d := range again.Decisions {
		if d.Binding != acted.Decisions[i].Binding {
			t.Errorf("%s: it acts twice", d.Ref())
		}
	}
}

// Of two rebalancers each acts once: to add one divides afresh, and to remove one does not.
func TestTheEndOfARebalancerDividesNothingAfresh(t *testing.T) {
	const rebalancer = "---\napiVersion: apps.karmada.io/v1alpha1\nkind: WorkloadRebalancer\nmetadata: {name: NAME}\n" +
		"spec: {workloads: [{apiVersion: apps/v1, kind: Deployment, namespace: a, name: web}]}\n"
	one, other := strings.Replace(rebalancer, "NAME", "one", 1), strings.Replace(rebalancer, "NAME", "other", 1)
	r := decide(t, fleet+web+policy("placement: {}"), &state.State{})
	for n, tt := range []struct {
		rebalancers string
		acts        bool
	}{{one, true}, {one + other, true}, {other, false}, {one + other, true}, {"", false}} {
		in := input(t, decode(t, fleet+web+policy("placement: {}")+tt.rebalancers), after(&r))
		in.When = time.Unix(int64(n+1), 0)
		r = schedule.Decide(in)
		for _, d := range r.Decisions {
			if d.Binding != nil && d.Binding.Spec.RescheduleTriggeredAt.Time.Equal(in.When) != tt.acts {
				t.Errorf("plan %d: it is divided afresh at %v, want it: %v", n+1, d.Binding.Spec.RescheduleTriggeredAt, tt.acts)
			}
		}
	}
}

// A rebalancer that finds no cluster for its template acts when there is one, as Karmada's does.
func TestARebalancerThatFindsNoClusterActsLater(t *testing.T) {
	const rebalancer = "---\napiVersion: apps.karmada.io/v1alpha1\nkind: WorkloadRebalancer\nmetadata: {name: r}\n" +
		"spec: {workloads: [{apiVersion: apps/v1, kind: Deployment, namespace: a, name: web}]}\n"
	r := decide(t, fleet+web+policy("placement: {}"), &state.State{})
	for n, tt := range []struct {
		in   string // the name of a cluster
		acts bool
	}{{"ap", true}, {"us", true}, {"us", false}} {
		source := fleet + web + policy("placement: {clusterAffinity: {clusterNames: ["+tt.in+"]}}") + rebalancer
		in := input(t, decode(t, source), after(&r))
		in.When = time.Unix(int64(n+1), 0)
		r = schedule.Decide(in)
		for _, d := range r.Decisions {
			if d.Binding != nil && d.Binding.Spec.RescheduleTriggeredAt.Time.Equal(in.When) != tt.acts {
				t.Errorf("plan %d, for %s: it is divided afresh at %v, want it: %v", n+1, tt.in, d.Binding.Spec.RescheduleTriggeredAt, tt.acts)
			}
		}
	}
}

// said are the codes of diagnostics, in their order.
func said(diags []diag.Diagnostic) (codes []string) {
	for _, d := range diags {
		codes = append(codes, string(d.Code))
	}
	return codes
}

// What was decided before counts as far as Karmada's own would: a policy that is lazy waits for the template, unless a cluster is gone;
// what cannot be told keeps where it was, and says so; and who claims it is judged afresh.
func TestWhatWasDecidedBefore(t *testing.T) {
	const inEU, inUS = "placement: {clusterAffinity: {clusterNames: [eu]}}", "placement: {clusterAffinity: {clusterNames: [us]}}"
	const lazy = "activationPreference: Lazy\n  "
	changed := strings.Replace(web, "image: x", "image: y", 1)
	onlyUS := strings.Replace(fleet[strings.Index(fleet, "---"):], "---\n", "", 1)
	const byRoom = "placement: {replicaScheduling: {replicaSchedulingType: Divided, weightPreference: {dynamicWeight: AvailableReplicas}}}"
	const rebalances = "---\napiVersion: apps.karmada.io/v1alpha1\nkind: WorkloadRebalancer\nmetadata: {name: r}\n" +
		"spec: {workloads: [{apiVersion: apps/v1, kind: Deployment, namespace: a, name: web}]}\n"
	weights := func(eu string) string {
		return "placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {staticWeightList: " +
			"[{targetCluster: {clusterNames: [eu]}, weight: " + eu + "}, {targetCluster: {clusterNames: [us]}, weight: 1}]}}}"
	}
	second := strings.NewReplacer("{name: p,", "{name: a,").Replace(policy(inUS))
	little := strings.Replace(roomy, "pods: '100'", "pods: '25'", 1)
	full := strings.ReplaceAll(roomy, "pods: '100'", "pods: '0'")
	grown := strings.Replace(web, "replicas: 10", "replicas: 12", 1)
	for _, tt := range []struct {
		name          string
		first, second string
		edit          func(*schedule.Input)
		want          string // of web
		says          string
	}{
		{"the policy changes", fleet + web + policy(inEU), fleet + web + policy(inUS), nil, "web placed us:10", ""},
		{"a lazy policy changes", fleet + web + policy(lazy+inEU), fleet + web + policy(lazy+inUS), nil, "web placed eu:10", ""},
		{"a lazy policy changes, and the template", fleet + web + policy(lazy+inEU), fleet + changed + policy(lazy+inUS), nil, "web placed us:10", ""},
		{"a policy becomes lazy, and changes", fleet + web + policy(inEU), fleet + web + policy(lazy+inUS), nil, "web placed us:10", ""},
		{"a policy is lazy no longer, and changes", fleet + web + policy(lazy+inEU), fleet + web + policy(inUS), nil, "web placed us:10", ""},
		{"a lazy policy changes, and the cluster is gone", fleet + web + policy(lazy+inEU), onlyUS + web + policy(lazy+inUS), nil, "web placed us:10", ""},
		{"the cluster is gone", fleet + web + policy(inEU), onlyUS + web + policy(inEU), nil, "web placed", "unschedulable"},
		{
			"the cluster may be in what cannot be read", fleet + web + policy(inEU), onlyUS + web + policy(inEU),
			func(in *schedule.Input) { in.MayHideClusters = true }, "web kept eu:10", "",
		},
		{
			"its policy changes, and a cluster may be in what cannot be read", fleet + web + policy(inEU), fleet + web + policy(inUS),
			func(in *schedule.Input) { in.MayHideClusters = true }, "web placed us:10", "",
		},
		{
			"it was nowhere, and a cluster may be in what cannot be read", fleet + web, onlyUS + web + policy(inEU),
			func(in *schedule.Input) { in.MayHideClusters = true }, "web placed", "unschedulable",
		},
		{"a lazy policy changes, and it is divided afresh", fleet + web + policy(lazy+inEU), fleet + web + policy(lazy+inUS) + rebalances, nil, "web placed us:10", ""},
		{"the weights change", fleet + web + policy(weights("1")), fleet + web + policy(weights("4")), nil, "web placed eu:8 us:2", ""},
		{"its replicas cannot be read", fleet + web + policy(inEU), fleet + strings.Replace(web, "replicas: 10", "replicas: many", 1) + policy(inUS), nil, "web kept eu:10", "interpret"},
		{"its binding could not be read", fleet + web + policy(inEU), fleet + web + policy(inUS), func(in *schedule.Input) {
			in.Recovered[object.Ref{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "web"}] = true
		}, "web kept eu:10", ""},
		{"another policy wins", fleet + web + policy(inEU), fleet + web + policy(inEU) + second, nil, "web placed us:10", "claim-moved"},
		{"another policy loses", fleet + web + policy(inUS) + second, fleet + web + policy(inEU) + second, nil, "web placed us:10", ""},
		{"there is other room, and as many replicas", little + web + policy(byRoom), roomy + web + policy(byRoom), nil, "web placed eu:2 us:8", ""},
		{"there is other room, and it is divided afresh", little + web + policy(byRoom), roomy + web + policy(byRoom) + rebalances, nil, "web placed eu:5 us:5", ""},
		{"it grows, and there is no room", roomy + web + policy(byRoom), full + grown + policy(byRoom), nil, "web placed eu:5 us:5", "unschedulable"},
		{"no policy claims it any longer", fleet + web + policy(inEU), fleet + web, nil, "web unclaimed", ""},
		{"its policy selects another version", fleet + web + policy(inEU), fleet + web + strings.Replace(policy(inEU), "apps/v1,", "apps/v1beta1,", 1), nil, "web unclaimed", "version-mismatch"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first := decide(t, tt.first, &state.State{})
			in := input(t, decode(t, tt.second), after(&first))
			if tt.edit != nil {
				tt.edit(&in)
			}
			r := schedule.Decide(in)
			if got := summary(&r); got != "settings unclaimed; "+tt.want || strings.Join(said(r.Diags), " ") != tt.says {
				t.Errorf("it decides %s, and says %v; want %s and %q", got, r.Diags, tt.want, tt.says)
			}
		})
	}
}

// What cannot be placed says what comes of it.
func TestWhatCannotBePlacedSaysWhatComesOfIt(t *testing.T) {
	const byRoom = "placement: {replicaScheduling: {replicaSchedulingType: Divided, weightPreference: {dynamicWeight: AvailableReplicas}}}"
	const nowhere = "placement: {clusterAffinity: {clusterNames: [ap]}}"
	full := strings.ReplaceAll(roomy, "pods: '100'", "pods: '0'")
	for _, tt := range []struct{ name, first, second, want string }{
		{"it was nowhere", roomy + web, full + web + policy(nowhere), "it is nowhere"},
		{"no cluster fits any longer", roomy + web + policy(byRoom), full + web + policy(nowhere), "it leaves its clusters"},
		{
			"it grows, and there is no room", roomy + web + policy(byRoom), full + strings.Replace(web, "replicas: 10", "replicas: 12", 1) + policy(byRoom),
			"it keeps its clusters and replicas",
		},
	} {
		first := decide(t, tt.first, &state.State{})
		r := decide(t, tt.second, after(&first))
		if len(r.Diags) != 1 || !strings.HasSuffix(r.Diags[0].Message, "; "+tt.want) {
			t.Errorf("%s: it says %v, want %s", tt.name, r.Diags, tt.want)
		}
	}
}

// Spread constraints that Karmada does not know act where the policy says that they are strict.
func TestSpreadConstraintsActWhereThePolicySaysSo(t *testing.T) {
	zoned := strings.ReplaceAll(fleet, "spec: {syncMode: Pull}", "spec: {syncMode: Pull, zones: [z]}")
	zoned = strings.Replace(zoned, "[z]", "[y]", 1)
	spread := policy("placement: {spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 9}, {spreadByField: zone, minGroups: 1, maxGroups: 1}]}")
	for says, want := range map[string]string{"strict": "web placed eu:10", "karmada": "web placed eu:10 us:10"} {
		r := decide(t, zoned+web+strings.Replace(spread, "namespace: a}", "namespace: a, annotations: {waybill.dev/spread: "+says+"}}", 1), &state.State{})
		if got := summary(&r); got != "settings unclaimed; "+want {
			t.Errorf("%s: it decides %s, want %s; %v", says, got, want, r.Diags)
		}
	}
}

// A policy whose placement cannot be says so once, whatever it claims.
func TestABrokenPlacementIsReportedOnce(t *testing.T) {
	broken := strings.Replace(policy("placement: {spreadConstraints: [{spreadByField: cluster, maxGroups: 9}, {spreadByField: region, maxGroups: 1}, {spreadByField: zone, maxGroups: 1}]}"),
		"namespace: a}", "namespace: a, annotations: {waybill.dev/spread: strict}}", 1)
	deployment, _, _ := strings.Cut(web, "---")
	r := decide(t, fleet+web+"---"+strings.Replace(deployment, "name: web", "name: db", 1)+broken, &state.State{})
	if got := summary(&r); got != "settings unclaimed; db kept; web kept" || !slices.Equal(said(r.Diags), []string{"bad-placement"}) {
		t.Errorf("it decides %s, and says %v", got, r.Diags)
	}
	if d := r.Find(webRef); d.Reason != "SchedulerError" || d.Message != "the policy's placement has an error" {
		t.Errorf("it is kept for %s: %s", d.Reason, d.Message)
	}
}

// What is of a kind that the source defines goes where the definition goes, and elsewhere if the kind is served there.
func TestWhatIsDefinedFollowsItsDefinition(t *testing.T) {
	const definition = "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: dbs.example.com}\n" +
		"spec: {group: example.com, names: {kind: DB, plural: dbs}, scope: Namespaced, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n"
	const object = "---\napiVersion: example.com/v1\nkind: DB\nmetadata: {name: a, namespace: a}\n"
	const policies = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: d}\nspec:\n" +
		"  resourceSelectors: [{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}]\n  placement: {clusterAffinity: {clusterNames: [NAMES]}}\n" +
		"---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: o, namespace: a}\nspec:\n" +
		"  resourceSelectors: [{apiVersion: example.com/v1, kind: DB}]\n  placement: {}\n"
	const apis = "status: {apiEnablements: [{groupVersion: apiextensions.k8s.io/v1, resources: [{kind: CustomResourceDefinition, name: crds}]}"
	enabled := strings.ReplaceAll(fleet, "spec: {syncMode: Pull}", "spec: {syncMode: Pull}\n"+apis+"]}")
	serves := strings.Replace(enabled, "name: us}\nspec: {syncMode: Pull}\n"+apis,
		"name: us}\nspec: {syncMode: Pull}\n"+apis+", {groupVersion: example.com/v1, resources: [{kind: DB, name: dbs}]}", 1)
	for _, tt := range []struct{ name, source, want string }{
		{"the definition is in one cluster", enabled + definition[4:] + object + strings.Replace(policies, "NAMES", "eu", 1), "dbs.example.com placed eu:0; a placed eu:0"},
		{"the definition is in both", enabled + definition[4:] + object + strings.Replace(policies, "NAMES", "'eu', us", 1), "dbs.example.com placed eu:0 us:0; a placed eu:0 us:0"},
		{
			"the other one serves the kind", serves + definition[4:] + object + strings.Replace(policies, "NAMES", "eu", 1),
			"dbs.example.com placed eu:0; a placed eu:0 us:0",
		},
		{"the definition is nowhere", enabled + definition[4:] + object + strings.Replace(policies, "NAMES", "ap", 1), "dbs.example.com placed; a placed"},
		{"nobody defines it", enabled + object[4:] + strings.Replace(policies, "NAMES", "eu", 1), "a placed"},
	} {
		r := decide(t, tt.source, &state.State{})
		if got := summary(&r); got != tt.want {
			t.Errorf("%s: it decides %s, want %s; %v", tt.name, got, tt.want, r.Diags)
		}
		if nowhere := strings.Count(summary(&r)+";", "placed;"); len(r.Diags) != nowhere {
			t.Errorf("%s: of %d that are nowhere it says %v", tt.name, nowhere, r.Diags)
		}
	}
}

// A MultiClusterService sends its Service, which is labelled as its own, in place of any policy, and leaves the labels alone.
func TestAMultiClusterServiceSendsItsService(t *testing.T) {
	const (
		service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: a, labels: {resourcetemplate.karmada.io/claimed-by: MultiClusterService}}\nspec: {ports: [{port: 80}]}\n"
		selects = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: a}\nspec: {resourceSelectors: [{apiVersion: v1, kind: Service}], placement: {}}\n"
		owner   = "apiVersion: networking.karmada.io/v1alpha1\nkind: MultiClusterService\nmetadata: {name: web, namespace: a}\nspec: {types: [CrossCluster]}\n"
	)
	plain := strings.Replace(service, ", labels: {resourcetemplate.karmada.io/claimed-by: MultiClusterService}", "", 1)
	type plan struct {
		service string
		isOwned bool
	}
	for _, tt := range []struct {
		name       string
		plans      []plan
		want, says string
		hints      bool
	}{
		{"another owner sends it", []plan{{service, false}}, "web skipped", "never-propagated", false},
		{"its owner sends it", []plan{{service, true}}, "web placed eu:0 us:0", "", false},
		{"its owner sends what a policy sent", []plan{{plain, false}, {plain, true}}, "web placed eu:0 us:0", "claim-moved", false},
		{"a policy sends what its owner sent", []plan{{plain, true}, {plain, false}}, "web placed eu:0 us:0", "claim-moved", false},
		{"another policy sends it", []plan{{plain, false}, {strings.Replace(plain, "---", strings.Replace(selects, "name: p", "name: b", 1)+"---", 1), false}}, "web placed eu:0 us:0", "claim-moved", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := &state.State{}
			var r schedule.Result
			for _, p := range tt.plans {
				set, objects, diags := policies.Load(decode(t, fleet+p.service[4:]+selects), nil)
				if len(diags) > 0 {
					t.Fatal(diags)
				}
				if p.isOwned {
					owned := *set.Propagation[0]
					owned.Object = decode(t, owner)[0]
					set.Propagation[0] = &owned
				}
				web := template.New(objects[0], &template.Memo{})
				r = schedule.Decide(schedule.Input{
					Policies: index.Of(set, nil, &index.Memo{}), State: st, When: time.Unix(0, 0), Memo: &schedule.Memo{}, Templates: []*template.Template{web},
				})
				if p.service == service && len(web.Subject.Labels) != 1 {
					t.Errorf("its labels are %v", web.Subject.Labels)
				}
				st = after(&r)
			}
			if got := summary(&r); got != tt.want || strings.Join(said(r.Diags), " ") != tt.says {
				t.Errorf("it decides %s, and says %v; want %s and %q", got, r.Diags, tt.want, tt.says)
			}
			if len(r.Diags) > 0 && r.Diags[0].Code == diag.ClaimMoved && (r.Diags[0].Hint != "") != tt.hints {
				t.Errorf("it hints: %s", r.Diags[0].Hint)
			}
		})
	}
}

// A binding says what Karmada's would: what is asked for, where it goes, by which policy, and since when.
func TestWhatABindingSays(t *testing.T) {
	asks := strings.Replace(web, "image: x, ", "image: x, resources: {requests: {cpu: '1'}}, ", 1)
	r := decide(t, fleet+asks+policy("activationPreference: Lazy\n  placement: {clusterAffinity: {clusterNames: [eu]}}"), &state.State{})
	b := r.Find(webRef).Binding
	c, _ := state.Scheduled(b)
	got := fmt.Sprintf("%d replicas of %s cpu in %v by %s, %s at %d", b.Spec.Replicas, b.Spec.ReplicaRequirements.ResourceRequest.Cpu(), b.Spec.Clusters,
		state.PolicyOf(b), c.Reason, c.LastTransitionTime.Unix())
	if want := "10 replicas of 1 cpu in [{eu 10}] by PropagationPolicy a/p, Success at 0"; got != want {
		t.Errorf("it says %s, want %s", got, want)
	}
	if b.Annotations[state.SourceAnnotation] != "all.yaml" || b.Annotations[state.TemplateAnnotation] == "" || b.Annotations[state.RebalancedAnnotation] != "" {
		t.Errorf("it is annotated with %v", b.Annotations)
	}
	if _, is := b.Annotations[state.RebalancedAnnotation]; is {
		t.Error("it names an empty rebalancer")
	}
}

// What every cluster has of its own goes nowhere, whoever selects or needs it.
func TestWhatIsNeverPropagated(t *testing.T) {
	own := strings.ReplaceAll(web, "name: settings", "name: kube-root-ca.crt")
	needs := decide(t, fleet+own+policy("propagateDeps: true\n  placement: {}"), &state.State{})
	if got := summary(&needs); got != "kube-root-ca.crt unclaimed; web placed eu:10 us:10" {
		t.Errorf("needed: %s", got)
	}
	selected := decide(t, fleet+own+strings.Replace(policy("placement: {}"), "apps/v1, kind: Deployment", "v1, kind: ConfigMap", 1), &state.State{})
	if got := summary(&selected); got != "kube-root-ca.crt skipped; web unclaimed" || !slices.Equal(said(selected.Diags), []string{"never-propagated"}) {
		t.Errorf("selected: %s, %v", got, selected.Diags)
	}
}

// A schedule sets the replicas of its template, from its time on; what names nothing is said to.
func TestWhatNamesATemplate(t *testing.T) {
	const schedules = "---\napiVersion: autoscaling.karmada.io/v1alpha1\nkind: CronFederatedHPA\nmetadata: {name: s, namespace: a}\n" +
		"spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: NAME}, rules: [{name: day, schedule: '0 8 * * *', targetReplicas: 3}]}\n"
	const rebalances = "---\napiVersion: apps.karmada.io/v1alpha1\nkind: WorkloadRebalancer\nmetadata: {name: r}\nspec: {workloads: [{apiVersion: apps/v1, kind: Deployment, namespace: a, name: web}, {apiVersion: apps/v1, kind: Deployment, namespace: a, name: db}]}\n"
	for _, tt := range []struct{ name, source, want, says string }{
		{"a schedule", strings.Replace(schedules, "NAME", "web", 1), "web placed eu:3 us:3", ""},
		{"a schedule of another one", strings.Replace(schedules, "NAME", "db", 1), "web placed eu:10 us:10", "scales-nothing"},
		{"a rebalancer", rebalances, "web placed eu:10 us:10", "rebalances-nothing"},
	} {
		in := input(t, decode(t, fleet+web+policy("placement: {}")+tt.source), &state.State{})
		in.Now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
		r := schedule.Decide(in)
		if got := summary(&r); got != "settings unclaimed; "+tt.want || strings.Join(said(r.Diags), " ") != tt.says {
			t.Errorf("%s: it decides %s, and says %v; want %s and %q", tt.name, got, r.Diags, tt.want, tt.says)
		}
		if r.Recheck.Timed != (tt.name != "a rebalancer") {
			t.Errorf("%s: its time counts: %t", tt.name, r.Recheck.Timed)
		}
		if at := time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC); tt.name == "a schedule" && !r.Recheck.At.Equal(at) {
			t.Errorf("%s: it may be another one at %s, want %s", tt.name, r.Recheck.At, at)
		}
	}
}
