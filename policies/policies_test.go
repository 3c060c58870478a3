package policies_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// decoded decodes documents of one file.
func decoded(t *testing.T, documents ...string) []*object.Object {
	t.Helper()
	d := object.Decode("p.yaml", []byte(strings.Join(documents, "\n---\n")))
	if len(d.Objects) != len(documents) {
		t.Fatalf("there are %d objects: %v", len(d.Objects), d.Diags)
	}
	return d.Objects
}

// said are the first lines of diagnostics.
func said(diags []diag.Diagnostic) (all []string) {
	for _, d := range diags {
		line, _, _ := strings.Cut(d.String(), "\n")
		all = append(all, line)
	}
	return all
}

// policy is a document of a kind of policy.karmada.io, as KIND NAMESPACE/NAME or KIND NAME.
func policy(head, spec string) string {
	kind, name, _ := strings.Cut(head, " ")
	meta := "{name: " + name + "}"
	if namespace, name, ok := strings.Cut(name, "/"); ok {
		meta = "{name: " + name + ", namespace: " + namespace + "}"
	}
	group := map[string]string{
		"Cluster": "cluster.karmada.io/v1alpha1", "WorkloadRebalancer": "apps.karmada.io/v1alpha1", "FederatedHPA": "autoscaling.karmada.io/v1alpha1",
		"CronFederatedHPA": "autoscaling.karmada.io/v1alpha1", "Remedy": "remedy.karmada.io/v1alpha1", "MultiClusterService": "networking.karmada.io/v1alpha1",
		"MultiClusterIngress": "networking.karmada.io/v1alpha1", "ResourceInterpreterCustomization": "config.karmada.io/v1alpha1",
		"ClusterStagedUpdateStrategy": "placement.kubernetes-fleet.io/v1", "Work": "work.karmada.io/v1alpha1",
		"ResourceBinding": "work.karmada.io/v1alpha2", "ClusterResourceBinding": "work.karmada.io/v1alpha2", "ConfigMap": "v1",
	}[kind]
	if group == "" {
		group = "policy.karmada.io/v1alpha1"
	}
	return "apiVersion: " + group + "\nkind: " + kind + "\nmetadata: " + meta + "\nspec: " + spec
}

const (
	deployments = "{resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]}"
	taints      = "{addOnConditions: [{conditionType: Ready, operator: In, statusValues: ['False']}], taints: [{key: sick, effect: %s}]}"
)

// refs are the names of objects, in a line.
func refs[T any](all []T, of func(T) *object.Object) string {
	var names []string
	for _, x := range all {
		names = append(names, of(x).Ref().Name)
	}
	return strings.Join(names, " ")
}

func located[T any](all []policies.Located[T]) string {
	return refs(all, func(l policies.Located[T]) *object.Object { return l.Object })
}

// TestLoad holds that each kind is filed where it acts, in the order of names, and what is no policy is a template.
func TestLoad(t *testing.T) {
	kinds := []struct{ kind, spec string }{
		{"PropagationPolicy shop", deployments},
		{"ClusterOverridePolicy", "{overrideRules: [{overriders: {labelsOverrider: [{operator: add, value: {a: b}}]}}]}"},
		{"Cluster", "{syncMode: Push}"},
		{"ClusterTaintPolicy", fmt.Sprintf(taints, "NoSchedule")},
		{"FederatedResourceQuota shop", "{overall: {cpu: 1}}"},
		{"WorkloadRebalancer", "{workloads: [{apiVersion: apps/v1, kind: Deployment, name: web, namespace: shop}]}"},
		{"CronFederatedHPA shop", "{scaleTargetRef: {apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, name: a}, rules: [{name: a, schedule: '@daily', targetMinReplicas: 1}]}"},
		{"FederatedHPA shop", "{scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, maxReplicas: 3}"},
		{"Remedy", "{actions: [TrafficControl]}"},
		{"MultiClusterService shop", "{types: [CrossCluster]}"},
		{"MultiClusterIngress shop", "{defaultBackend: {service: {name: web, port: {number: 80}}}}"},
		{"ResourceInterpreterCustomization", "{target: {apiVersion: example.com/v1, kind: %s}, customizations: {retention: {luaScript: 'function Retain(a, b) return a end'}}}"},
		{"ClusterStagedUpdateStrategy", "{stages: [{name: all, labelSelector: {}}]}"},
		{"ConfigMap shop", "{}"},
	}
	var documents []string
	for _, name := range []string{"z", "a", "m"} {
		for _, k := range kinds {
			kind, namespace, namespaced := strings.Cut(k.kind, " ")
			if namespaced {
				namespace += "/"
			}
			documents = append(documents, policy(kind+" "+namespace+name, strings.Replace(k.spec, "%s", "Widget"+strings.ToUpper(name), 1)))
		}
	}
	set, templates, diags := policies.Load(decoded(t, documents...), nil)
	if len(diags) > 0 || len(set.Broken)+len(set.BadStrategies) > 0 {
		t.Fatalf("broken are %v: %v", set.Broken, said(diags))
	}
	got := map[string]string{
		"propagation": refs(set.Propagation, func(p *policies.Propagation) *object.Object { return p.Object }),
		"override":    refs(set.Override, func(p *policies.Override) *object.Object { return p.Object }),
		"clusters":    refs(set.Clusters, func(c policies.Cluster) *object.Object { return c.Object }),
		"taints":      located(set.Taints), "quotas": located(set.Quotas), "rebalancers": located(set.Rebalancers), "scalers": located(set.Scalers),
		"autoscalers": located(set.Autoscalers), "remedies": located(set.Remedies), "exposures": located(set.Exposures), "ingresses": located(set.Ingresses),
		"customizations": located(set.Customizations), "strategies": located(set.Strategies),
	}
	want := map[string]string{}
	for kind := range got {
		want[kind] = "a m z"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("filed are (-want +got):\n%s", diff)
	}
	if got := refs(templates, func(o *object.Object) *object.Object { return o }); got != "z a m" {
		t.Errorf("templates are %s, want them as they came", got)
	}
	if p := set.Propagation[0].Spec; p.SchedulerName != karmada.DefaultScheduler || p.ResourceSelectors[0].Namespace != "shop" {
		t.Errorf("a policy is not as its defaults have it: %+v", p)
	}
}

// TestWhatLoadSays has for each document what is said of it, and whether it is broken: then the version that was last in force goes on.
func TestWhatLoadSays(t *testing.T) {
	const wild = "{resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: '*', kind: '*', namespace: shop}]}"
	paths := func(spec string) string {
		return strings.Replace(policy("ClusterPropagationPolicy p", spec), "{name: p}", "{name: p, annotations: {waybill.dev/paths: apps/}}", 1)
	}
	for _, tt := range []struct {
		name, document string
		failover       bool
		want           string // of the first; empty for nothing
		broken         bool
	}{
		{"a mistake has its line", policy("PropagationPolicy shop/p", "\n  resourceSelectors:\n  - {apiVersion: apps/v1, kind: Deployment}\n  preemption: Perhaps"), false, `p.yaml:7: error: PropagationPolicy shop/p: spec.preemption: "Perhaps" is not supported; want "Always" or "Never" [unsupported-value]`, true},
		{"what does not decode", policy("PropagationPolicy shop/p", "{resourceSelectors: all}"), false, `p.yaml:4: error: PropagationPolicy shop/p: spec.resourceSelectors: "all" is not a list [wrong-type]`, true},
		{"a warning leaves it in force", policy("PropagationPolicy shop/p", "{resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}], association: true}"), false, "p.yaml:4: warning: PropagationPolicy shop/p: spec.association: ", false},
		{"an unknown kind", policy("PropagatePolicy p", "{}"), false, "p.yaml:1: error: policy.karmada.io/v1alpha1 PropagatePolicy is no kind that Karmada or Waybill has [unknown-kind]", true},
		{"an unknown version", strings.Replace(policy("PropagationPolicy shop/p", deployments), "v1alpha1", "v1", 1), false, "p.yaml:1: error: policy.karmada.io/v1 PropagationPolicy is no kind that Karmada or Waybill has [unknown-kind]", true},

		{"a taint that drives out", policy("ClusterTaintPolicy p", fmt.Sprintf(taints, "NoExecute")), false, `p.yaml:4: error: ClusterTaintPolicy p: spec.taints[0].effect: "NoExecute" is not allowed here`, true},
		{"a taint that drives out, where work fails over", policy("ClusterTaintPolicy p", fmt.Sprintf(taints, "NoExecute")), true, "", false},
		{"a taint that keeps out", policy("ClusterTaintPolicy p", fmt.Sprintf(taints, "NoSchedule")), false, "", false},

		{"a selector of any kind is Waybill's own", policy("ClusterPropagationPolicy p", wild), false, `p.yaml:4: notice: ClusterPropagationPolicy p: the kind "*" is Waybill's own: Karmada selects nothing by it [not-karmadas]`, false},
		{"and so it is of an override", policy("OverridePolicy shop/p", strings.Replace(wild, "{resource", "{overrideRules: [{overriders: {labelsOverrider: [{operator: add, value: {a: b}}]}}], resource", 1)), false, `p.yaml:4: notice: OverridePolicy shop/p: the kind "*" is Waybill's own`, false},
		{"paths are Waybill's own", paths(deployments), false, "p.yaml:3: notice: ClusterPropagationPolicy p: waybill.dev/paths is Waybill's own: Karmada selects wherever an object stands [not-karmadas]", false},
		{"that Ingresses go to clusters is Waybill's own", policy("PropagationPolicy shop/p", "{resourceSelectors: [{apiVersion: networking.karmada.io/v1alpha1, kind: MultiClusterIngress}]}"), false, "p.yaml:4: notice: PropagationPolicy shop/p: that MultiClusterIngresses go to clusters, as Ingresses, is Waybill's own", false},
		{"of two selectors the first is of any kind", policy("ClusterPropagationPolicy p", "{resourceSelectors: [{apiVersion: '*', kind: '*', namespace: shop}, {apiVersion: apps/v1, kind: Deployment}]}"), false, `p.yaml:4: notice: ClusterPropagationPolicy p: the kind "*" is Waybill's own`, false},
		{"somebody else's are not", policy("PropagationPolicy shop/p", "{resourceSelectors: [{apiVersion: example.com/v1, kind: MultiClusterIngress}]}"), false, "", false},

		{"what Karmada computes", policy("ResourceBinding shop/p", "{resource: {apiVersion: apps/v1, kind: Deployment, name: web}}"), false, "p.yaml:1: warning: ResourceBinding shop/p is what Karmada computes, not what people write; it is passed over [not-a-policy]", false},
		{"a service that is no cluster's", policy("MultiClusterService shop/p", "{types: [LoadBalancer]}"), false, "p.yaml:4: warning: MultiClusterService shop/p is not of type CrossCluster: nothing is delivered because of it, and the Service stays with its policy [kind-not-acting]", false},
		{"a webhook", "apiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterWebhookConfiguration\nmetadata: {name: p}\nwebhooks: []", false, "p.yaml:1: warning: ResourceInterpreterWebhookConfiguration p needs a control plane that watches clusters; it is passed over [kind-not-acting]", false},

		{"an override that is missed", policy("PropagationPolicy shop/p", strings.Replace(deployments, "{res", "{dependentOverrides: [o], res", 1)), false, `p.yaml:4: error: PropagationPolicy shop/p depends on the override policy "o", which is not in the source [missing-override]`, false},
		{"a script that is none", policy("ResourceInterpreterCustomization p", "{target: {apiVersion: example.com/v1, kind: Widget}, customizations: {retention: {luaScript: \"function Retain(a, b)\\n  return a +\\nend\"}}}"), false, "p.yaml:4: error: ResourceInterpreterCustomization p: retention, line 3 of the script: ", true},
		{"a script for Secrets", policy("ResourceInterpreterCustomization p", "{target: {apiVersion: v1, kind: Secret}, customizations: {retention: {luaScript: 'function Retain(a, b) return a end'}}}"), false, "p.yaml:4: warning: ResourceInterpreterCustomization p is about Secrets, of which no script is told [secret-script]", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, templates, diags := policies.Settings{Failover: tt.failover}.Load(decoded(t, tt.document), nil)
			got := ""
			if all := said(diags); len(all) > 0 {
				got = all[0]
			}
			if (got == "") != (tt.want == "") || !strings.HasPrefix(got, tt.want) {
				t.Errorf("it says %s\nwant %s", got, tt.want)
			}
			if broken := len(set.Broken) == 1 && set.Broken[0].Ref.Name == decoded(t, tt.document)[0].Ref().Name; broken != tt.broken || len(templates) > 0 {
				t.Errorf("broken are %v, templates %v", set.Broken, templates)
			}
			if set.Failover.Enabled != tt.failover {
				t.Error("what the config says of failing over is not in the set")
			}
		})
	}
}

// TestWhatToDoAboutWhatDoesNotAct holds what is advised.
func TestWhatToDoAboutWhatDoesNotAct(t *testing.T) {
	for document, want := range map[string]string{
		policy("ResourceBinding shop/p", "{resource: {apiVersion: apps/v1, kind: Deployment, name: web}}"):                         "the bindings that Waybill computes are on the state branch",
		policy("MultiClusterService shop/p", "{types: [LoadBalancer]}"):                                                            "write types: [CrossCluster]",
		"apiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterWebhookConfiguration\nmetadata: {name: p}\nwebhooks: []": "see docs/karmada-compatibility.md",
		policy("PropagatePolicy p", "{}"): "check apiVersion and kind",
	} {
		if _, _, diags := policies.Load(decoded(t, document), nil); len(diags) != 1 || !strings.HasPrefix(diags[0].Hint, want) {
			t.Errorf("it says %v, want the advice %s", diags, want)
		}
	}
}

// TestWhatAPolicyIs holds which objects claim, which policies are of a namespace, and which stands for a service.
func TestWhatAPolicyIs(t *testing.T) {
	override := "{overrideRules: [{overriders: {labelsOverrider: [{operator: add, value: {a: b}}]}}]}"
	for _, tt := range []struct {
		document                  string
		claims, namespaced, owned bool
	}{
		{policy("PropagationPolicy shop/p", deployments), true, true, false},
		{policy("ClusterPropagationPolicy p", deployments), true, false, false},
		{policy("OverridePolicy shop/p", override), true, true, false},
		{policy("ClusterOverridePolicy p", override), true, false, false},
		{policy("MultiClusterService shop/p", "{types: [CrossCluster]}"), false, true, true},
	} {
		o := decoded(t, tt.document)[0]
		p, q := policies.Propagation{Object: o}, policies.Override{Object: o}
		if policies.Claims(o) != tt.claims || p.Namespaced() != tt.namespaced || q.Namespaced() != tt.namespaced || p.Owns() != tt.owned {
			t.Errorf("%s claims: %t, is of a namespace: %t, owns: %t", p.String(), policies.Claims(o), p.Namespaced(), p.Owns())
		}
	}
}

// TestWhatOthersAskOfAPolicy holds what a policy says of dividing, holding and giving back.
func TestWhatOthersAskOfAPolicy(t *testing.T) {
	ask := func(p *policies.Propagation) string {
		var all []string
		for _, a := range []struct {
			name string
			is   bool
		}{
			{"divides", p.Divides()},
			{"by room", p.DividesByRoom()},
			{"suspends m1", p.Suspends("m1")},
			{"preserves", p.Preserves()},
			{"overwrites", p.Overwrites()},
			{"waits", p.Waits != ""},
		} {
			if a.is {
				all = append(all, a.name)
			}
		}
		return strings.Join(all, ", ")
	}
	for _, tt := range []struct{ spec, want string }{
		{"", ""},
		{"placement: {replicaScheduling: {}}, ", "divides"},
		{"placement: {replicaScheduling: {replicaSchedulingType: Duplicated}}, ", ""},
		{"placement: {replicaScheduling: {replicaSchedulingType: Duplicated, replicaDivisionPreference: Aggregated}}, ", ""},
		{"placement: {replicaScheduling: {replicaDivisionPreference: Aggregated}}, ", "divides, by room"},
		{"placement: {replicaScheduling: {weightPreference: {dynamicWeight: AvailableReplicas}}}, ", "divides, by room"},
		{"placement: {replicaScheduling: {weightPreference: {staticWeightList: [{targetCluster: {}, weight: 1}]}}}, ", "divides"},
		{"suspension: {dispatching: true}, ", "suspends m1"},
		{"suspension: {dispatching: false}, ", ""},
		{"suspension: {dispatchingOnClusters: {clusterNames: [m2]}}, ", ""},
		{"suspension: {dispatchingOnClusters: {clusterNames: [m2, m1]}}, ", "suspends m1"},
		{"preserveResourcesOnDeletion: true, ", "preserves"},
		{"preserveResourcesOnDeletion: false, ", ""},
		{"conflictResolution: Overwrite, ", "overwrites"},
		{"dependentOverrides: [there], ", ""},
		{"dependentOverrides: [there, gone], ", "waits"},
		{"dependentOverrides: [elsewhere], ", "waits"},
	} {
		objs := decoded(t, policy("PropagationPolicy shop/p", strings.Replace(deployments, "{", "{"+tt.spec, 1)),
			policy("OverridePolicy shop/there", "{overriders: {labelsOverrider: [{operator: add, value: {a: b}}]}}"),
			policy("ClusterOverridePolicy elsewhere", "{overrideRules: [{overriders: {labelsOverrider: [{operator: add, value: {a: b}}]}}]}"))
		set, _, diags := policies.Load(objs, nil)
		if len(set.Propagation) != 1 {
			t.Fatal(said(diags))
		}
		if got := ask(set.Propagation[0]); got != tt.want {
			t.Errorf("%s: it %s, want %s", tt.spec, got, tt.want)
		}
	}
}

// TestWhatIsNotWrittenHasNoValue holds that nulls are dropped as by the schema of a kind, but for what overriders write.
func TestWhatIsNotWrittenHasNoValue(t *testing.T) {
	set, _, diags := policies.Load(decoded(t,
		policy("OverridePolicy shop/o", "{targetCluster: null, overrideRules: [{targetCluster: null, overriders: {commandOverrider: null, plaintext: [{path: /a, operator: add, value: null}, {path: /b, operator: add, value: {c: null}}], "+
			"labelsOverrider: [{operator: add, value: {a: b, c: null}}], fieldOverrider: [{fieldPath: /d, json: [{subPath: /e, operator: add, value: [{f: null}]}]}]}}]}"),
	), nil)
	if len(set.Override) != 1 {
		t.Fatal(said(diags))
	}
	o := set.Override[0].Spec.OverrideRules[0].Overriders
	for _, tt := range []struct{ what, got, want string }{
		{"a null at a path", string(o.Plaintext[0].Value), ""},
		{"a null below a value at a path", string(o.Plaintext[1].Value), `{"c":null}`},
		{"a null below a value at a path within a text", string(o.FieldOverrider[0].JSON[0].Value), `[{"f":null}]`},
		{"a null among labels", fmt.Sprint(o.LabelsOverrider[0].Value), "map[a:b]"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s is %s, want %s", tt.what, tt.got, tt.want)
		}
	}
	if p := set.Override[0].Spec.OverrideRules[0]; p.TargetCluster != nil || len(set.Broken) > 0 {
		t.Errorf("what is null is %+v: %v", p, said(diags))
	}
}

// TestANullOfAClusterIsAValue holds that a Cluster, which has no schema, has what is null as it is when it is empty.
func TestANullOfAClusterIsAValue(t *testing.T) {
	set, _, diags := policies.Load(decoded(t, strings.Replace(policy("Cluster m1", "{syncMode: Push}"), "{name: m1}", "{labels: {a: b, c: null}, name: m1}", 1)), nil)
	if len(set.Clusters) != 1 || fmt.Sprint(set.Clusters[0].Spec.Labels) != "map[a:b c:]" {
		t.Errorf("there are %+v: %v", set.Clusters, said(diags))
	}
}

// TestObserved holds what is known of a cluster by observation: what its registration does not say.
func TestObserved(t *testing.T) {
	ready := func(status metav1.ConditionStatus) *karmada.ClusterStatus {
		return &karmada.ClusterStatus{Conditions: []metav1.Condition{{Type: karmada.ConditionReady, Status: status}}}
	}
	for _, tt := range []struct {
		name           string
		written        string
		seen           *karmada.ClusterStatus
		observed, lost bool
	}{
		{"nobody looked", "", nil, false, false},
		{"it is ready", "", ready("True"), true, false},
		{"it is not ready", "", ready("False"), true, true},
		{"nobody knows", "", ready("Unknown"), true, true},
		{"another condition", "", &karmada.ClusterStatus{Conditions: []metav1.Condition{{Type: "Disk", Status: "False"}}}, false, false},
		{"its registration says so", "\nstatus: {conditions: [{type: Ready, status: 'True'}]}", ready("False"), false, false},
	} {
		set, _, diags := policies.Load(decoded(t, policy("Cluster m2", "{syncMode: Push}"), policy("Cluster m1", "{syncMode: Push}")+tt.written), nil)
		if len(set.Clusters) != 2 {
			t.Fatal(said(diags))
		}
		set.Observe(map[string]*karmada.ClusterStatus{"m1": tt.seen})
		c := &set.Clusters[0]
		if c.IsObserved(karmada.ConditionReady) != tt.observed || c.IsLost() != tt.lost {
			t.Errorf("%s: it is observed: %v, and lost: %v", tt.name, c.IsObserved(karmada.ConditionReady), c.IsLost())
		}
		if other := &set.Clusters[1]; other.Observed != nil || other.IsLost() {
			t.Errorf("%s: the other one is observed, too", tt.name)
		}
	}
}

// memory remembers what objects decoded to, and counts.
type memory struct {
	known map[*object.Object]policies.Decoded
	kept  int
}

func (m *memory) Decoded(o *object.Object) (policies.Decoded, bool) {
	d, ok := m.known[o]
	return d, ok
}

func (m *memory) Keep(o *object.Object, d policies.Decoded) { m.known[o], m.kept = d, m.kept+1 }

// TestWhatIsDecodedIsRemembered holds that an object is decoded once, and that what is said of it is said each time.
func TestWhatIsDecodedIsRemembered(t *testing.T) {
	objs := decoded(t,
		policy("PropagationPolicy shop/p", strings.Replace(deployments, "{", "{association: true, ", 1)), policy("PropagationPolicy shop/q", "{}"),
		policy("ClusterStagedUpdateStrategy s", "{stages: [{name: all, labelSelector: {}}]}"),
		policy("ClusterStagedUpdateStrategy worse", "{stages: []}"), policy("ClusterStagedUpdateStrategy bad", "{stages: []}"),
	)
	m := &memory{known: map[*object.Object]policies.Decoded{}}
	first, _, diags := policies.Load(objs, m)
	second, _, again := policies.Load(objs, m)
	if m.kept != len(objs) {
		t.Errorf("%d objects were decoded %d times", len(objs), m.kept)
	}
	if diff := cmp.Diff(said(diags), said(again)); diff != "" || len(diags) == 0 {
		t.Errorf("the second time it says (-first +second):\n%s", diff)
	}
	if first.Propagation[0].Spec != second.Propagation[0].Spec || len(second.Broken) != 1 || len(second.Strategies) != 1 || len(second.BadStrategies) != 2 || second.BadStrategies[0].Name != "bad" {
		t.Errorf("the second time it is %+v", second)
	}
}

// TestAScriptThatDoesNotSayWhatItIsAsked stays in force, and answers with an error, which is said.
func TestAScriptThatDoesNotSayWhatItIsAsked(t *testing.T) {
	set, _, diags := policies.Load(decoded(t, policy("ResourceInterpreterCustomization a", "{target: {apiVersion: example.com/v1, kind: Widget}, customizations: {retention: {luaScript: 'x = 1'}}}")), nil)
	const want = "p.yaml:4: error: ResourceInterpreterCustomization a: retention: the script does not define the function Retain [bad-script]"
	if got := said(diags); len(got) != 2 || !strings.HasPrefix(got[1], want) || !strings.Contains(diags[1].Hint, "stay as they were last published") {
		t.Errorf("it says %v", got)
	}
	if wrong := set.Interpreter.Wrong(); len(wrong) != 1 || located(set.Customizations) != "a" || len(set.Broken) > 0 {
		t.Errorf("in force are %s, of which wrong are %v, and broken is %v", located(set.Customizations), wrong, set.Broken)
	}
}

// TestCustomizations holds which scripts are in force where some are wrong, or teach one kind twice.
func TestCustomizations(t *testing.T) {
	teach := func(name, kind, scripts string) string {
		return policy("ResourceInterpreterCustomization "+name, "{target: {apiVersion: example.com/v1, kind: "+kind+"}, customizations: {"+scripts+"}}")
	}
	const retain, deps = "retention: {luaScript: 'function Retain(a, b) return a end'}", "dependencyInterpretation: {luaScript: 'function GetDependencies(a) return {} end'}"
	const bad = "retention: {luaScript: 'function Retain('}"
	for _, tt := range []struct {
		name      string
		documents []string
		inForce   string
		broken    int
		want      string
	}{
		{"each its own", []string{teach("a", "Widget", retain), teach("b", "Gadget", retain)}, "a b", 0, ""},
		{"one that is wrong", []string{teach("a", "Widget", bad), teach("b", "Gadget", retain)}, "b", 1, "ResourceInterpreterCustomization a: retention"},
		{"the second that is wrong", []string{teach("a", "Widget", retain), teach("b", "Gadget", bad)}, "a", 1, "ResourceInterpreterCustomization b: retention"},
		{"two of one kind", []string{teach("b", "Widget", retain), teach("a", "Widget", retain)}, "a b", 0, "p.yaml:4: error: ResourceInterpreterCustomization b: retention of example.com/v1 Widget is also customized by ResourceInterpreterCustomization a at p.yaml:6 [customized-twice]"},
		{"two of one kind, for something else each", []string{teach("a", "Widget", retain), teach("b", "Widget", "healthInterpretation: {luaScript: 'function InterpretHealth(a) return true end'}")}, "a b", 0, ""},
		{"dependencies come from several", []string{teach("a", "Widget", deps), teach("b", "Widget", deps)}, "a b", 0, ""},
		{"two of one kind, of which one is wrong", []string{teach("a", "Widget", bad), teach("b", "Widget", retain)}, "b", 1, "ResourceInterpreterCustomization a: retention"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, _, diags := policies.Load(decoded(t, tt.documents...), nil)
			if got := located(set.Customizations); got != tt.inForce || len(set.Broken) != tt.broken {
				t.Errorf("in force are %s, broken %v", got, set.Broken)
			}
			if got := said(diags); (len(got) == 0) != (tt.want == "") || len(got) > 1 || !strings.Contains(strings.Join(got, ""), tt.want) {
				t.Errorf("it says %v\nwant %s", got, tt.want)
			}
			if wrong := set.Interpreter.Wrong(); len(wrong) > 0 {
				t.Errorf("the interpreter still has %v", wrong)
			}
		})
	}
}

// TestStrategiesMeetTheClusters holds that what of a strategy does not fit the clusters is said of it.
func TestStrategiesMeetTheClusters(t *testing.T) {
	const strategy = "{stages: [{name: canary, labelSelector: {matchLabels: {ring: canary}}}]}"
	cluster := func(name, ring string) string {
		return strings.Replace(policy("Cluster "+name, "{syncMode: Push}"), "{name: "+name, "{labels: {ring: "+ring+"}, name: "+name, 1)
	}
	for _, tt := range []struct {
		ring string
		want string
	}{
		{"canary", ""},
		{"prod", "no stage selects 1 cluster (m1)"},
	} {
		_, _, diags := policies.Load(decoded(t, policy("ClusterStagedUpdateStrategy s", strategy), cluster("m1", tt.ring)), nil)
		if got := strings.Join(said(diags), "; "); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("in ring %s it says %s", tt.ring, got)
		}
	}
}

// TestRefusedOfRollouts holds that what a person cannot write about roll-outs acts on nothing.
func TestRefusedOfRollouts(t *testing.T) {
	set, _, diags := policies.Load(decoded(t, "apiVersion: placement.kubernetes-fleet.io/v1\nkind: ClusterStagedUpdateRun\nmetadata: {name: r}"), nil)
	if len(diags) != 1 || len(set.Strategies)+len(set.BadStrategies)+len(set.Broken) > 0 {
		t.Errorf("it is %+v: %v", set, said(diags))
	}
}

// TestHealthScripts holds where a script for health that is wrong is wrong, and that the others count.
func TestHealthScripts(t *testing.T) {
	const data = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: argocd}\ndata:\n" +
		"  resource.customizations.health.example.com_Widget: |\n    hs = {}\n    hs.status =\n    return hs\n" +
		"  resource.customizations: |\n    example.com/Gadget:\n      health.lua: |\n        hs = {}\n        hs.status =\n        return hs\n    example.com/Thing:\n      health.lua: |\n        return {status = 'Healthy'}\n"
	o := decoded(t, data)[0]
	_, diags := policies.HealthScripts(o)
	got := said(diags)
	slices.Sort(got)
	if len(got) != 2 || !strings.HasPrefix(got[0], "p.yaml:8: error: ConfigMap argocd/argocd-cm: resource.customizations.health.example.com_Widget (example.com/Widget), line 3 of the script: ") ||
		!strings.HasPrefix(got[1], "p.yaml:9: error: ConfigMap argocd/argocd-cm: resource.customizations (example.com/Gadget), line 3 of the script: ") {
		t.Errorf("it says\n%s", strings.Join(got, "\n"))
	}
	if _, diags := policies.HealthScripts(decoded(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata: {resource.customizations.health.example.com_Widget: 'return {status = \"Healthy\"}'}")[0]); len(diags) > 0 {
		t.Errorf("of what is right it says %v", said(diags))
	}
}
