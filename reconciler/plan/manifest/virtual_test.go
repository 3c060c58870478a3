package manifest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/ingress"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// Two recipients of Secrets.
const (
	toAnna  = "age1jgxhllsn8xkwypdyn5p7m6xye9dnxawg70mr5sh9j37tz24v853qktm3gm"
	toBruno = "age1lczalcezytddp9aqg8mztxg4wlvyug39e3ea6kufkm820ey49fpq8whs5x"
)

// edges are a host, and two virtual clusters of it; lost is one more, whose host nobody knows.
var (
	edges = cluster("eu", "") + cluster("va", "waybill.dev/virtual-of: eu, waybill.dev/node-selector: at=a") +
		cluster("vb", "waybill.dev/virtual-of: eu, waybill.dev/namespace-suffix: -bb")
	lost = cluster("vw", "waybill.dev/virtual-of: gone")
)

// under is a text whose namespace a is another one.
func under(namespace, text string) string {
	return strings.ReplaceAll(text, "namespace: a}", "namespace: "+namespace+"}")
}

// nowhere is a template of a release that renders it for no cluster.
func nowhere(t *template.Template) *template.Template {
	part := &template.Part{Groups: []int{template.NoGroup, template.NoGroup, template.NoGroup}}
	return &template.Template{Variant: t.Variant, Subject: t.Subject, Part: part}
}

func cluster(name, annotations string) string {
	return "{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: " + name + ", annotations: {" + annotations + "}},\n" +
		" spec: {syncMode: Pull}}\n---\n"
}

// to sends some kinds to clusters.
func to(clusters string, kinds ...string) string {
	var selectors []string
	for _, k := range kinds {
		version, kind, _ := strings.Cut(k, " ")
		selectors = append(selectors, "{apiVersion: "+version+", kind: "+kind+"}")
	}
	name := "to-" + strings.ReplaceAll(clusters, ", ", "-")
	return "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: " + name + "}\n" +
		"spec: {resourceSelectors: [" + strings.Join(selectors, ", ") + "],\n" +
		" placement: {clusterAffinity: {clusterNames: [" + clusters + "]}}}\n---\n"
}

// either is why something is not written.
func either(why reason.Reason) reason.Reason {
	if why == "" {
		return "not known"
	}
	return why
}

// manifests are what clusters get of every object, by its kind and the cluster, without what a branch adds.
func manifests(t *testing.T, r *manifest.Result) string {
	t.Helper()
	var b strings.Builder
	for _, row := range r.Rows {
		for _, w := range row.Wants {
			if w.Blob < 0 {
				fmt.Fprintf(&b, "%s %d: %s\n", row.Ref.Kind, w.Cluster, either(row.Blocked(int(w.Cluster))))
				continue
			}
			data, err := r.Blobs.At(w.Blob).Bytes()
			if err != nil {
				t.Fatal(err)
			}
			o := object.Decode("x.yaml", data).Objects[0]
			fmt.Fprintf(&b, "%s %d: %s %v", row.Ref.Kind, w.Cluster, o.Ref().Namespace+"/"+o.Ref().Name, o.Content()["data"])
			if subjects, _ := o.Content()["subjects"].([]any); len(subjects) > 0 {
				subject, _ := subjects[0].(map[string]any)
				fmt.Fprint(&b, " of ", subject["namespace"])
			}
			b.WriteString("\n")
		}
		for _, g := range row.Blocks {
			fmt.Fprintf(&b, "%s is left in %v: %s\n", row.Ref.Kind, slices.Collect(g.Clusters.All()), g.Is)
		}
	}
	for _, d := range r.Diags {
		fmt.Fprintln(&b, d.Code, strings.NewReplacer(", ", ",\n", "; ", ";\n").Replace(d.Message))
	}
	return strings.ReplaceAll(b.String(), " <nil>", "")
}

// A virtual cluster gets the namespaces that templates have there under its own names, and nothing that has no place in it.
func TestWhatAVirtualClusterGets(t *testing.T) {
	const (
		config  = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\ndata: {k: v}\n"
		binding = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: rb, namespace: a}\n" +
			"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\n" +
			"subjects: [{kind: ServiceAccount, name: s, namespace: other}]\n"
		bindings = "rbac.authorization.k8s.io/v1 RoleBinding"
		space    = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n"
		skipped  = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: other,\n " +
			"labels: {namespace.karmada.io/skip-auto-propagation: 'true'}}\n"
		otherOne = "---\napiVersion: example.com/v1\nkind: Namespace\nmetadata: {name: other, namespace: b}\n"
		dflt     = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n"
		inDflt   = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: default}\n"
	)
	texts := strings.Replace(config, "k: v", "k: http://web.a.svc, l: http://web.a.svc", 1)
	quota := strings.Replace(static, "clusterName: eu", "clusterName: va", 1)
	used := func(in *manifest.Input) { in.Config.Namespaces = render.NamespacesUsed }
	everywhere := func(in *manifest.Input) { in.Config.Namespaces = render.NamespacesAll }
	none := func(in *manifest.Input) { in.Config.Namespaces = render.NamespacesNone }
	had := func(in *manifest.Input) {
		in.Before.Had = func(object.Ref) func(int) bool { return func(i int) bool { return i != 1 } }
	}
	own := func(text string) func(*manifest.Input) {
		return func(in *manifest.Input) {
			in.Bound = map[string][]*object.Object{"va": object.Decode("own.yaml", []byte(text)).Objects}
		}
	}
	for _, tt := range []struct {
		name, source string
		edit         func(*manifest.Input)
		want         string
	}{
		{"what is alike but for its namespace", lost + to("eu, va, vb, vw", "v1 ConfigMap") + config, nil, `
ConfigMap 0: a/x map[k:v]
ConfigMap 1: a-va/x map[k:v]
ConfigMap 2: a-bb/x map[k:v]
ConfigMap 3: not known
bad-virtual the virtual Cluster vw: its host "gone" is not registered
`},
		{"a namespace that is there by what is sent", to("va", bindings, "v1 ConfigMap") + binding + under("other", config), nil, `
RoleBinding 1: a-va/rb of other-va
ConfigMap 1: other-va/x map[k:v]
`},
		{"a namespace that is sent to one", to("va, vb", bindings) + to("va", "v1 Namespace") + binding + space, used, `
Namespace 1: /other-va
RoleBinding 1: a-va/rb of other-va
RoleBinding 2: a-bb/rb of other
`},
		{"a namespace that all have", to("vb", bindings) + binding + space, everywhere, `
Namespace 0: /other
Namespace 1: /other-va
Namespace 2: /other-bb
RoleBinding 2: a-bb/rb of other-bb
`},
		{"a namespace that is skipped", to("vb", bindings) + binding + skipped, everywhere, `
RoleBinding 2: a-bb/rb of other
`},
		{"a kind that is called Namespace", to("vb", bindings, "example.com/v1 Namespace") + binding + otherOne, used, `
RoleBinding 2: a-bb/rb of other
Namespace 2: b-bb/other
`},
		{"a namespace that stands in its directory", to("va", bindings) + binding, own(config + under("other", config)), `
ConfigMap 1: a-va/x map[k:v]
RoleBinding 1: a-va/rb of other-va
ConfigMap 1: other-va/x map[k:v]
`},
		{"the Namespace default", to("eu, va", "v1 ConfigMap") + inDflt + dflt, used, `
Namespace 1: /default-va
ConfigMap 0: default/x
ConfigMap 1: default-va/x
`},
		{"the Namespace default, which was there", dflt, had, `
Namespace 2: /default-bb
`},
		{"the Namespace default, and none", to("eu, va", "v1 ConfigMap") + inDflt + dflt, none, `
ConfigMap 0: default/x
ConfigMap 1: default-va/x
`},
		{"a namespace of its host", to("va", "v1 ConfigMap") + under("kube-system", config), nil, `
ConfigMap 1: VirtualClusterUnknown
ConfigMap is left in [1]: VirtualClusterUnknown
unmapped ConfigMap/kube-system/x: the namespace kube-system belongs to the whole API server of eu,
and the virtual cluster va has none of that name (clusters va)
`},
		{"a text, in two of them", to("eu, va, vb", "v1 ConfigMap") + texts, nil, `
ConfigMap 0: a/x map[k:http://web.a.svc l:http://web.a.svc]
ConfigMap 1: a-va/x map[k:http://web.a.svc l:http://web.a.svc]
ConfigMap 2: a-bb/x map[k:http://web.a.svc l:http://web.a.svc]
service-text ConfigMap/a/x: data.k names web.a.svc,
which is web.a-va.svc in the virtual cluster va;
nothing rewrites text (virtual clusters va,
vb)
service-text ConfigMap/a/x: data.l names web.a.svc,
which is web.a-va.svc in the virtual cluster va;
nothing rewrites text (virtual clusters va,
vb)
`},
		{"a text in its directory", "", own(texts), `
ConfigMap 1: a-va/x map[k:http://web.a.svc l:http://web.a.svc]
service-text ConfigMap/a/x: data.k names web.a.svc,
which is web.a-va.svc in the virtual cluster va;
nothing rewrites text (virtual clusters va)
service-text ConfigMap/a/x: data.l names web.a.svc,
which is web.a-va.svc in the virtual cluster va;
nothing rewrites text (virtual clusters va)
`},
		{"a sealed document", to("eu, va", "v1 Secret") + sealed, nil, `
Secret 0: a/s
Secret 1: VirtualClusterUnknown
Secret is left in [1]: VirtualClusterUnknown
unmapped Secret/a/s is encrypted by SOPS,
so that it cannot be put into the namespace of a virtual cluster (clusters va)
`},
		{"a quota", under("b", quota), nil, `
ResourceQuota 1: b-va/q
`},
		{"a quota in a namespace of its host", under("kube-system", quota), nil, `
ResourceQuota 1: VirtualClusterUnknown
ResourceQuota is left in [1]: VirtualClusterUnknown
unmapped FederatedResourceQuota.policy.karmada.io/kube-system/q: the namespace kube-system belongs to the whole API server of eu,
and the virtual cluster va has none of that name
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := of(t, edges+tt.source, tt.edit)
			if diff := cmp.Diff(tt.want, "\n"+manifests(t, &r)); diff != "" {
				t.Errorf("(-want +is):\n%s", diff)
			}
		})
	}
}

// Why a template is not written where it goes, and not removed where it was: the first reason counts.
func TestWhatHoldsATemplateBack(t *testing.T) {
	yes, no := true, false
	task := func(suppress *bool) *failover.Moves {
		return &failover.Moves{Tasks: []karmada.GracefulEvictionTask{{
			FromCluster: "us", PurgeMode: karmada.PurgeModeGracefully, SuppressDeletion: suppress,
		}}}
	}
	last := task(&no)
	last.Last = []string{"us"}
	gap := task(nil)
	gap.Gap = true
	moves := func(m *failover.Moves) func(*schedule.Decision) { return func(d *schedule.Decision) { d.Moves = m } }
	for _, tt := range []struct {
		name string
		edit func(*schedule.Decision)
		want string
	}{
		{"nothing, but for data", func(*schedule.Decision) {}, "0:0 1:0 DataWouldBeDeleted[2]"},
		{"new copies come up", moves(task(nil)), "0:0 1:0 NewCopiesNotHealthy[2]"},
		{"it may be deleted", moves(task(&no)), "0:0 1:0 NewCopiesNotHealthy[2]"},
		{"it may not be deleted", moves(task(&yes)), "0:0 1:0 StaysWhereItFailed[2]"},
		{"its time is over", moves(last), "0:0 1:0 LastCopy[2]"},
		{"the old copy is not gone", moves(gap), "0:-1 1:-1 OldCopyNotGone[0 1] NewCopiesNotHealthy[2]"},
		{"it cannot be told", func(d *schedule.Decision) { d.Outcome = schedule.Kept }, "0:-1 1:-1 ContentUnknown[0 1] DataWouldBeDeleted[2]"},
		{"a backend is not there", func(d *schedule.Decision) {
			d.Backends = map[string]ingress.Found{"eu": {Lacks: true}}
		}, "0:0 1:-1 BackendMissing[1] DataWouldBeDeleted[2]"},
		{"a release says nothing of it", func(d *schedule.Decision) {
			d.Template = nowhere(d.Template)
		}, "0:-1 1:-1 ReleaseNotRendered[0 1] DataWouldBeDeleted[2]"},
	} {
		r := write(t, "", "/data/k", func(in *manifest.Input) {
			in.Before.Had = func(object.Ref) func(int) bool { return func(int) bool { return true } }
			in.Before.HoldsData = func(r object.Ref, i int) bool { return r.Kind == "ConfigMap" && i == 2 }
			in.Before.Leaving = func(d *schedule.Decision) []string {
				return map[string][]string{"ConfigMap": {"ap", "gone", "us"}}[d.Ref().Kind]
			}
			targeted(in, "ap", "eu", "gone")
			tt.edit(decisionOf(in, "ConfigMap"))
		})
		row := r.Row(object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "x"})
		var is []string
		for _, w := range row.Wants {
			is = append(is, fmt.Sprint(w.Cluster, ":", w.Blob))
		}
		for _, g := range row.Blocks {
			is = append(is, fmt.Sprint(g.Is, slices.Collect(g.Clusters.All())))
		}
		if got := strings.Join(is, " "); got != tt.want {
			t.Errorf("%s: %s; want %s", tt.name, got, tt.want)
		}
	}
}

// What is said of what is not written names the clusters, and the templates that are in the way.
func TestWhatIsSaidOfWhatIsNotWritten(t *testing.T) {
	const upper = "---\napiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x, namespace: a}\n"
	const config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\n"
	const others = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n" +
		"---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: a}\n"
	lower := strings.Replace(upper, "Thing", "thing", 1)
	const onePath = "Thing.example.com/a/x and thing.example.com/a/x would be one file on a branch " +
		"(manifests/a/thing.example.com/x.yaml); the second is left out"
	owned := strings.Replace(config, "namespace: a", "namespace: a, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u}]", 1)
	suspends := strings.Replace(to("ap, eu, us", "v1 ConfigMap"), "placement:",
		"suspension: {dispatchingOnClusters: {clusterNames: [ap, us]}}, placement:", 1)
	own := object.Decode("own.yaml", []byte(lower)).Objects
	for _, tt := range []struct {
		name, source string
		edit         func(*manifest.Input)
		want         []string
	}{
		{"two that are one file", to("ap", "example.com/v1 Thing", "example.com/v1 thing") + upper + lower, nil, []string{
			"Thing/x 0:0",
			"thing/x",
			onePath,
		}},
		{"one in a cluster's directory is a policy's file", to("ap", "example.com/v1 Thing") + upper, func(in *manifest.Input) {
			in.Bound = map[string][]*object.Object{"ap": own, "eu": own, "us": nil}
		}, []string{
			"Thing/x 0:0",
			"thing/x 1:1",
			onePath,
		}},
		{"what a server exported", to("ap", "v1 ConfigMap") + owned, nil, []string{
			"ConfigMap/x 0:0",
			"ConfigMap/a/x was exported from a server; what that server set there is left out: metadata.ownerReferences",
		}},
		{"two clusters are suspended", suspends + config, nil, []string{
			"ConfigMap/x 0:-1 0!suspended 1:0 2:-1 2!suspended",
			"ClusterPropagationPolicy to-ap-eu-us suspends dispatching ConfigMap/a/x to ap, us; there it stays as it was last published",
		}},
		{"a release fails, and others send what it had", to("ap", "v1 ConfigMap", "v1 Secret") + config + others, func(in *manifest.Input) {
			in.Failures = []expand.Failure{{Everywhere: true, Objects: []object.Ref{
				{Kind: "ConfigMap", Namespace: "a", Name: "x"}, {Kind: "Namespace", Name: "a"}, {Kind: "Secret", Namespace: "a", Name: "s"},
			}}}
			for _, kind := range []string{"Namespace", "Secret"} {
				d := decisionOf(in, kind)
				d.Template = nowhere(d.Template)
			}
		}, []string{
			"Namespace/a 0:-1 0!rendered",
			"ConfigMap/x 0:0",
			"Secret/s 0:-1 0!rendered 1!rendered 2!rendered",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := of(t, three+tt.source, tt.edit)
			is := append(strings.Split(table(&r), "; "), "")[:len(r.Rows)]
			for _, d := range r.Diags {
				is = append(is, d.Message)
			}
			if diff := cmp.Diff(tt.want, is); diff != "" {
				t.Errorf("(-want +is):\n%s", diff)
			}
		})
	}
}

// A cluster's Secrets are encrypted to its own recipients, also those of its own directory, and none is written where these cannot be read.
func TestSecretsAreEncryptedToTheirClusters(t *testing.T) {
	clusters := three
	for name, to := range map[string]string{"ap": toAnna, "eu": toBruno, "us": "nobody"} {
		clusters = strings.Replace(clusters, "{name: "+name+"}", "{name: "+name+", annotations: {waybill.dev/age-recipients: "+to+"}}", 1)
	}
	r := of(t, clusters+strings.Replace(sendsAll, "[ap, eu]", "[ap, eu, us]", 1)+plain, func(in *manifest.Input) {
		in.Bound = map[string][]*object.Object{"eu": object.Decode("own.yaml", []byte(strings.Replace(plain, "name: s", "name: own", 1))).Objects}
	})
	var is []string
	for _, row := range r.Rows {
		for _, w := range row.Wants {
			if w.Blob < 0 {
				is = append(is, fmt.Sprint(row.Ref.Name, " ", w.Cluster, " ", row.Blocked(int(w.Cluster))))
				continue
			}
			data, err := r.Blobs.At(w.Blob).Bytes()
			if err != nil {
				t.Fatal(err)
			}
			for name, to := range map[string]string{"anna": toAnna, "bruno": toBruno} {
				if strings.Contains(string(data), to) {
					is = append(is, fmt.Sprint(row.Ref.Name, " ", w.Cluster, " ", name))
				}
			}
		}
	}
	for _, d := range r.Diags {
		is = append(is, d.Message)
	}
	want := []string{
		"own 1 bruno", "s 0 anna", "s 1 bruno", "s 2 " + string(reason.Plain),
		`Cluster us: waybill.dev/age-recipients: "nobody" is no age recipient: an X25519 recipient begins with age1`,
		"Secret/a/s holds its values in plain text, which a branch would show to everybody who can read it (clusters us)",
	}
	if diff := cmp.Diff(want, is); diff != "" || r.Keyed {
		t.Errorf("keyed %t, (-want +is):\n%s", r.Keyed, diff)
	}
}
