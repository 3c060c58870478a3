package virtual_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/render/object"
)

// cluster is a virtual cluster of the host edge.
func cluster(name string, annotations ...string) *karmada.Cluster {
	c := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{karmada.VirtualOfAnnotation: "edge"}}}
	for i := 0; i < len(annotations); i += 2 {
		c.Annotations[annotations[i]] = annotations[i+1]
	}
	return c
}

func beijing() *virtual.Mapping {
	return virtual.Of(cluster("ke-beijing", karmada.SuffixAnnotation, "-bj", karmada.SelectorAnnotation, "location=beijing"))
}

// has are the namespaces of the virtual cluster.
func has(namespace string) bool { return namespace == "shop" || namespace == "db" }

// content is a manifest: its kind, and its fields as YAML in one line.
func content(t *testing.T, kind, fields string) map[string]any {
	t.Helper()
	version, name, _ := strings.Cut(kind, " ")
	o, diags := object.Single("x.yaml", []byte("apiVersion: "+version+"\nkind: "+name+"\n"+fields+"\n"))
	if o == nil {
		t.Fatal(diags)
	}
	return o.Content()
}

func TestRewrite(t *testing.T) {
	const meta, mapped = "metadata: {name: x, namespace: shop}\n", "metadata: {name: x, namespace: shop-bj}\n"
	const plain = "metadata: {name: x}\n"
	const rbac, admission, gateway = "rbac.authorization.k8s.io/v1 ", "admissionregistration.k8s.io/v1 ", "gateway.networking.k8s.io/v1 "
	const pod, placed = "{containers: [{name: c}]}", "{containers: [{name: c}], nodeSelector: {location: beijing}}"
	for _, tt := range []struct{ name, kind, from, to string }{
		{"a namespaced object", "v1 ConfigMap", meta + "data: {a: shop}", mapped + "data: {a: shop}"},
		{"a Namespace", "v1 Namespace", "metadata: {name: shop, labels: {a: shop}}", "metadata: {name: shop-bj, labels: {a: shop}}"},
		{"an object without a namespace", rbac + "ClusterRole", plain + "rules: []", plain + "rules: []"},
		{
			"ServiceAccounts that are bound", rbac + "RoleBinding",
			meta + "subjects: [{kind: ServiceAccount, name: a, namespace: shop}, {kind: ServiceAccount, name: b, namespace: kube-system}, {kind: User, name: shop}]",
			mapped + "subjects: [{kind: ServiceAccount, name: a, namespace: shop-bj}, {kind: ServiceAccount, name: b, namespace: kube-system}, {kind: User, name: shop}]",
		},
		{
			"ServiceAccounts by their names as groups and users", rbac + "ClusterRoleBinding",
			plain + "subjects: [{kind: Group, name: 'system:serviceaccounts:db'}, {kind: User, name: 'system:serviceaccount:db:a'}, {kind: Group, name: 'system:serviceaccounts:other'}]",
			plain + "subjects: [{kind: Group, name: 'system:serviceaccounts:db-bj'}, {kind: User, name: 'system:serviceaccount:db-bj:a'}, {kind: Group, name: 'system:serviceaccounts:other'}]",
		},
		{
			"a webhook's Service and namespaces", admission + "ValidatingWebhookConfiguration",
			plain + "webhooks: [{clientConfig: {service: {name: s, namespace: shop}}, namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: db, a: db}, matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [shop, kube-system]}, {key: a, operator: In, values: [shop]}]}}]",
			plain + "webhooks: [{clientConfig: {service: {name: s, namespace: shop-bj}}, namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: db-bj, a: db}, matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [shop-bj, kube-system]}, {key: a, operator: In, values: [shop]}]}}]",
		},
		{
			"a conversion webhook", "apiextensions.k8s.io/v1 CustomResourceDefinition",
			plain + "spec: {conversion: {webhook: {clientConfig: {service: {namespace: shop}}}}}", plain + "spec: {conversion: {webhook: {clientConfig: {service: {namespace: shop-bj}}}}}",
		},
		{"an APIService", "apiregistration.k8s.io/v1 APIService", plain + "spec: {service: {namespace: shop, name: s}}", plain + "spec: {service: {namespace: shop-bj, name: s}}"},
		{
			"a route", gateway + "HTTPRoute",
			meta + "spec: {parentRefs: [{name: g, namespace: ingress}, {name: g, namespace: db}], rules: [{backendRefs: [{name: s, namespace: db}, {name: s}], filters: [{requestMirror: {backendRef: {name: m, namespace: db}}}]}]}",
			mapped + "spec: {parentRefs: [{name: g, namespace: ingress}, {name: g, namespace: db-bj}], rules: [{backendRefs: [{name: s, namespace: db-bj}, {name: s}], filters: [{requestMirror: {backendRef: {name: m, namespace: db-bj}}}]}]}",
		},
		{"a grant", "gateway.networking.k8s.io/v1beta1 ReferenceGrant", meta + "spec: {from: [{kind: HTTPRoute, namespace: db}], to: [{kind: Service}]}", mapped + "spec: {from: [{kind: HTTPRoute, namespace: db-bj}], to: [{kind: Service}]}"},
		{
			"a NetworkPolicy", "networking.k8s.io/v1 NetworkPolicy",
			meta + "spec: {ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: db}}}]}]}",
			mapped + "spec: {ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: db-bj}}}]}]}",
		},
		{"a list of namespaces", "monitoring.coreos.com/v1 ServiceMonitor", meta + "spec: {namespaceSelector: {matchNames: [db, other]}}", mapped + "spec: {namespaceSelector: {matchNames: [db-bj, other]}}"},
		{"its own namespace, of which nobody knows", "v1 ServiceAccount", "metadata: {name: x, namespace: lone}\nsecrets: [{name: s, namespace: lone}]", "metadata: {name: x, namespace: lone-bj}\nsecrets: [{name: s, namespace: lone-bj}]"},
		{"an autoscaler refers to nothing elsewhere", "autoscaling/v2 HorizontalPodAutoscaler", meta + "spec: {scaleTargetRef: {name: shop}}", mapped + "spec: {scaleTargetRef: {name: shop}}"},
		{"what a chart rendered with the suffix", rbac + "RoleBinding", meta + "subjects: [{kind: ServiceAccount, name: a, namespace: shop-bj}]", mapped + "subjects: [{kind: ServiceAccount, name: a, namespace: shop-bj}]"},

		{"a Pod", "v1 Pod", meta + "spec: " + pod, mapped + "spec: " + placed},
		{"a Deployment", "apps/v1 Deployment", meta + "spec: {template: {spec: " + pod + "}}", mapped + "spec: {template: {spec: " + placed + "}}"},
		{"a CronJob", "batch/v1 CronJob", meta + "spec: {jobTemplate: {spec: {template: {spec: " + pod + "}}}}", mapped + "spec: {jobTemplate: {spec: {template: {spec: " + placed + "}}}}"},
		{"a selector that is there", "apps/v1 DaemonSet", meta + "spec: {template: {spec: {nodeSelector: {arch: arm64, location: beijing}}}}", mapped + "spec: {template: {spec: {nodeSelector: {arch: arm64, location: beijing}}}}"},
		{"a kind that is not known and has containers", "example.org/v1 Web", meta + "spec: {template: {spec: " + pod + "}}", mapped + "spec: {template: {spec: " + placed + "}}"},
		{"a kind that is not known and has none", "example.org/v1 Web", meta + "spec: {template: {spec: {a: b}}}", mapped + "spec: {template: {spec: {a: b}}}"},
		{"tasks of a job", "batch.volcano.sh/v1alpha1 Job", meta + "spec: {tasks: [{template: {spec: " + pod + "}}]}", mapped + "spec: {tasks: [{template: {spec: " + placed + "}}]}"},
		{"replicas of a job by name", "kubeflow.org/v1 TFJob", meta + "spec: {tfReplicaSpecs: {PS: {template: {spec: " + pod + "}}}}", mapped + "spec: {tfReplicaSpecs: {PS: {template: {spec: " + placed + "}}}}"},
		{"pods without a template", "flink.apache.org/v1beta1 FlinkDeployment", meta + "spec: {image: x}", mapped + "spec: {image: x, podTemplate: {spec: {nodeSelector: {location: beijing}}}}"},
		{
			"a selector of namespaces by a list alone", "networking.k8s.io/v1 NetworkPolicy",
			meta + "spec: {egress: [{to: [{namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [db]}]}}]}]}",
			mapped + "spec: {egress: [{to: [{namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [db-bj]}]}}]}]}",
		},
		{"subjects that are none", rbac + "RoleBinding", meta + "subjects: [shop, {kind: ServiceAccount, name: a, namespace: 3}]", mapped + "subjects: [shop, {kind: ServiceAccount, name: a, namespace: 3}]"},
		{"subjects that are none, of what has no namespace itself", rbac + "ClusterRoleBinding", plain + "subjects: [{kind: ServiceAccount, name: a, namespace: 3}, {kind: ServiceAccount, name: a, namespace: ''}, {kind: Group, name: 'system:serviceaccounts:'}]", plain + "subjects: [{kind: ServiceAccount, name: a, namespace: 3}, {kind: ServiceAccount, name: a, namespace: ''}, {kind: Group, name: 'system:serviceaccounts:'}]"},
		{"a Namespace of somebody else's", "example.org/v1 Namespace", meta, mapped},
		{"a Pod without a spec", "v1 Pod", meta + "spec: none", mapped + "spec: none"},
		{
			"replicas of a job by name, of which some have no pods", "kubeflow.org/v1 TFJob",
			meta + "spec: {tfReplicaSpecs: {Chief: {}, PS: {template: {spec: " + pod + "}}, Worker: {template: {spec: " + pod + "}}, Zeta: {}}}",
			mapped + "spec: {tfReplicaSpecs: {Chief: {}, PS: {template: {spec: " + placed + "}}, Worker: {template: {spec: " + placed + "}}, Zeta: {}}}",
		},
		{"pods of a template that is there", "flink.apache.org/v1beta1 FlinkDeployment", meta + "spec: {podTemplate: {spec: " + pod + "}}", mapped + "spec: {podTemplate: {spec: " + placed + "}}"},
		{"pods of a template that is none", "flink.apache.org/v1beta1 FlinkDeployment", meta + "spec: {podTemplate: none}", mapped + "spec: {podTemplate: none}"},
		{
			"namespaces of an affinity", "v1 Pod",
			meta + "spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{namespaces: [db, other]}]}}}",
			mapped + "spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{namespaces: [db-bj, other]}]}}, nodeSelector: {location: beijing}}",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from, again := content(t, tt.kind, tt.from), content(t, tt.kind, tt.from)
			got, err := beijing().Rewrite(from, has)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(content(t, tt.kind, tt.to), got); diff != "" {
				t.Errorf("it is (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(again, from); diff != "" {
				t.Errorf("the manifest that was given is changed:\n%s", diff)
			}
		})
	}
}

// TestRewriteWithoutNodes holds that a virtual cluster of all nodes chooses none, and that a cluster with an API server of its own changes
// nothing.
func TestRewriteWithoutNodes(t *testing.T) {
	const from = "metadata: {name: x, namespace: shop}\nspec: {containers: [{name: c}], affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{namespaces: [%s]}]}}}"
	all := virtual.Of(cluster("ke-beijing", karmada.SuffixAnnotation, "-bj"))
	for _, namespace := range []string{"db", "other"} {
		given := content(t, "v1 Pod", fmt.Sprintf(from, namespace))
		got, err := all.Rewrite(given, has)
		want := strings.NewReplacer("shop", "shop-bj", "[db]", "[db-bj]").Replace(fmt.Sprintf(from, namespace))
		if diff := cmp.Diff(content(t, "v1 Pod", want), got); diff != "" || err != nil {
			t.Errorf("it is (-want +got): %v\n%s", err, diff)
		}
		var own *virtual.Mapping
		got, err = own.Rewrite(given, has)
		if diff := cmp.Diff(given, got); diff != "" || err != nil {
			t.Errorf("with an API server of its own it is (-want +got): %v\n%s", err, diff)
		}
		if texts := own.Texts(content(t, "v1 ConfigMap", "metadata: {name: x, namespace: shop}\ndata: {url: web.shop.svc}"), has); texts != nil {
			t.Errorf("with an API server of its own Services are called otherwise: %v", texts)
		}
	}
}

// TestNames holds what is called what, on the way there and back, and what is the virtual cluster's.
func TestNames(t *testing.T) {
	configMap := func(namespace string) object.Ref {
		return object.Ref{Kind: "ConfigMap", Namespace: namespace, Name: "shop-bj"}
	}
	namespace := func(group, name string) object.Ref {
		return object.Ref{Group: group, Kind: "Namespace", Name: name}
	}
	var own *virtual.Mapping
	for _, tt := range []struct {
		mapping  *virtual.Mapping
		template object.Ref
		server   object.Ref
	}{
		{beijing(), configMap("shop"), configMap("shop-bj")},
		{beijing(), configMap(""), configMap("")},
		{beijing(), namespace("", "shop"), namespace("", "shop-bj")},
		{beijing(), namespace("example.org", "shop"), namespace("example.org", "shop")},
		{own, configMap("shop"), configMap("shop")},
	} {
		if got := tt.mapping.Ref(tt.template); got != tt.server {
			t.Errorf("%v is called %v, want %v", tt.template, got, tt.server)
		}
		if got := tt.mapping.Template(tt.server); got != tt.template {
			t.Errorf("%v is %v, want %v", tt.server, got, tt.template)
		}
	}
	for _, tt := range []struct {
		mapping   *virtual.Mapping
		namespace string
		mapped    bool
	}{{beijing(), "shop-bj", true}, {beijing(), "shop", false}, {beijing(), "-bj", false}, {beijing(), "a-bjx", false}, {own, "shop", true}} {
		if got := tt.mapping.Mapped(tt.namespace); got != tt.mapped {
			t.Errorf("%s is mapped: %v", tt.namespace, got)
		}
		if r := configMap(tt.namespace); !tt.mapped && tt.mapping.Template(r) != r {
			t.Errorf("%v is called otherwise, though it is not the virtual cluster's", r)
		}
	}
	for r, shared := range map[object.Ref]bool{configMap("shop"): false, configMap(""): true, namespace("", "shop"): false, namespace("example.org", "shop"): true} {
		if got := virtual.Shared(r); got != shared {
			t.Errorf("%v is shared: %v", r, got)
		}
	}
}

func TestWhatCannotBeMapped(t *testing.T) {
	for _, tt := range []struct{ name, kind, fields, want string }{
		{"a longer name than a namespace may have", "v1 ConfigMap", "metadata: {name: x, namespace: " + strings.Repeat("n", 61) + "}", "has 64 bytes; a namespace has 63 at most"},
		{"the longest name", "v1 ConfigMap", "metadata: {name: x, namespace: " + strings.Repeat("n", 60) + "}", ""},
		{"a Namespace with a longer name", "v1 Namespace", "metadata: {name: " + strings.Repeat("n", 61) + "}", "has 64 bytes"},
		{"a namespace of the whole API server", "v1 ConfigMap", "metadata: {name: x, namespace: kube-system}", "belongs to the whole API server of edge"},
		{"other nodes", "v1 Pod", "metadata: {name: x, namespace: shop}\nspec: {nodeSelector: {location: hangzhou}}", "its nodeSelector says location: hangzhou, and the nodes of the virtual cluster ke-beijing have location: beijing"},
		{"other nodes twice", "v1 Pod", "metadata: {name: x, namespace: shop}\nspec: {nodeSelector: {arch: amd64, location: hangzhou}}", "its nodeSelector says arch: amd64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			of := virtual.Of(cluster("ke-beijing", karmada.SuffixAnnotation, "-bj", karmada.SelectorAnnotation, "location=beijing,arch=arm64"))
			_, err := of.Rewrite(content(t, tt.kind, tt.fields), has)
			switch {
			case tt.want == "" && err == nil:
			case tt.want == "" || err == nil || !strings.Contains(err.Message, tt.want) || err.Hint == "":
				t.Errorf("the error is %v, want %q", err, tt.want)
			}
		})
	}
}

func TestTexts(t *testing.T) {
	for _, tt := range []struct{ name, kind, fields, want string }{
		{"an URL", "v1 ConfigMap", "metadata: {name: x, namespace: shop}\ndata: {url: 'http://web.shop.svc:80/'}", "data.url: web.shop.svc is web.shop-bj.svc"},
		{"a whole name, and another", "v1 ConfigMap", "metadata: {name: x, namespace: shop}\ndata: {hosts: 'a.db.svc.cluster.local,pg-0.pg.db.svc'}", "data.hosts: a.db.svc is a.db-bj.svc; data.hosts: pg-0.pg.db.svc is pg-0.pg.db-bj.svc"},
		{
			"env and args", "v1 Pod", "metadata: {name: x, namespace: shop}\nspec: {containers: [{args: ['--db=pg.db.svc'], env: [{name: A, value: pg.db.svc}]}]}",
			"spec.containers[0].args[0]: pg.db.svc is pg.db-bj.svc; spec.containers[0].env[0].value: pg.db.svc is pg.db-bj.svc",
		},
		{"a namespace that is elsewhere", "v1 ConfigMap", "metadata: {name: x, namespace: shop}\ndata: {url: kube-dns.kube-system.svc}", ""},
		{"no Service", "v1 ConfigMap", "metadata: {name: x, namespace: shop}\ndata: {url: 'web.shop.svcs, shop.svc'}", ""},
		{"one name twice", "v1 ConfigMap", "metadata: {name: x, namespace: shop}\ndata: {url: 'web.shop.svc,web.shop.svc', z: web.shop.svc}", "data.url: web.shop.svc is web.shop-bj.svc; data.z: web.shop.svc is web.shop-bj.svc"},
		{"its own namespace, of which nobody knows", "v1 ConfigMap", "metadata: {name: x, namespace: lone}\ndata: {url: web.lone.svc}", "data.url: web.lone.svc is web.lone-bj.svc"},
		{"a Secret", "v1 Secret", "metadata: {name: x, namespace: shop}\nstringData: {url: web.shop.svc}", ""},
		{"what has the suffix", "v1 ConfigMap", "metadata: {name: x, namespace: shop}\ndata: {url: web.shop-bj.svc}", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said []string
			for _, x := range beijing().Texts(content(t, tt.kind, tt.fields), has) {
				said = append(said, object.FieldPath(x.Path)+": "+x.Name+" is "+x.Want)
			}
			if got := strings.Join(said, "; "); got != tt.want {
				t.Errorf("it says  %s\nwant     %s", got, tt.want)
			}
		})
	}
}
