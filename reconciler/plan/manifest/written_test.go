package manifest_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

const (
	three = "{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: ap}, spec: {syncMode: Pull}}\n---\n" +
		"{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: eu}, spec: {syncMode: Pull}}\n---\n" +
		"{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: us}, spec: {syncMode: Pull}}\n---\n"
	sendsAll = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: a}\n" +
		"spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: v1, kind: Secret}], placement: {clusterAffinity: {clusterNames: [ap, eu]}}}\n---\n"
	plain  = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: a}\nstringData: {k: v}\n"
	sealed = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: a}\nstringData: {k: 'ENC[AES256_GCM,data:x,type:str]'}\nsops: {mac: 'ENC[x]', version: 3.9.0}\n"
	labels = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: o, namespace: a}\n" +
		"spec: {resourceSelectors: [{apiVersion: v1, kind: Secret}], overrideRules: [{targetCluster: {clusterNames: [eu]}, overriders: {labelsOverrider: [{operator: add, value: {a: b}}]}}]}\n"
	static = "apiVersion: policy.karmada.io/v1alpha1\nkind: FederatedResourceQuota\nmetadata: {name: q, namespace: a}\n" +
		"spec: {overall: {cpu: '4'}, staticAssignments: [{clusterName: eu, hard: {cpu: '1'}}, {clusterName: gone, hard: {cpu: '2'}}]}\n"
)

// sendsQuota is a ResourceQuota, and what sends it.
const sendsQuota = "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: a}\n---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\n" +
	"metadata: {name: q, namespace: a}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ResourceQuota}], placement: {}}\n"

// codes are those of what is said, in its order.
func codes(r *manifest.Result) string {
	var all []string
	for _, d := range r.Diags {
		all = append(all, string(d.Code))
	}
	return strings.Join(all, " ")
}

// What may not be shown or changed is not written, and what two things would be is written once: it is said, and the rest is written.
func TestWhatIsNotWritten(t *testing.T) {
	own := func(text string) func(*manifest.Input) {
		return func(in *manifest.Input) {
			in.Bound = map[string][]*object.Object{"eu": object.Decode("own.yaml", []byte(text)).Objects, "gone": object.Decode("own.yaml", []byte(text)).Objects}
		}
	}
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\n"
	isPlain, fails := lastWord(reason.Plain), lastWord(reason.Failed)
	for _, tt := range []struct {
		name, source string
		edit         func(*manifest.Input)
		want, says   string
	}{
		{"a plain Secret", plain, nil, "Secret/s 0:-1 0!" + isPlain + " 1:-1 1!" + isPlain, "plain-secret"},
		{"a plain Secret that may be", plain, func(in *manifest.Input) { in.Config.Secrets = render.SecretsAllow }, "Secret/s 0:0 1:0", ""},
		{"a plain Secret on no branch", plain, func(in *manifest.Input) { in.OnBranch = false }, "Secret/s 0:0 1:0", "plain-secret"},
		{"a Secret that SOPS encrypted", sealed, nil, "Secret/s 0:0 1:0", ""},
		{"a Secret that SOPS encrypted, and an override", sealed + labels, nil, "Secret/s 0:0 1:-1 1!" + fails, "sealed"},
		{"a cluster's own plain Secret", config, own(plain), "ConfigMap/x 0:0 1:0; Secret/s 1:-1 1!" + isPlain, "plain-secret"},
		{"a cluster's own, which a policy sends", config, own(config + "data: {k: own}\n"), "ConfigMap/x 0:0 1:0", "duplicate-object"},
		{"a cluster's own, which is twice", config, own("apiVersion: v1\nkind: Secret\nmetadata: {name: t, namespace: a}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: t, namespace: a}\n"), "ConfigMap/x 0:0 1:0; Secret/t 1:1", "duplicate-object"},
		{"what each cluster has of its own", config, own("apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system}\n"), "ConfigMap/x 0:0 1:0", "never-propagated"},
		{"a quota", static, nil, "ResourceQuota/q 1:0", ""},
		{"a quota, and a ResourceQuota of its name", static + sendsQuota, nil, "ResourceQuota/q 0:0 1:0 2:0", "duplicate-object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := of(t, three+sendsAll+tt.source, tt.edit)
			if got := table(&r); got != tt.want || codes(&r) != tt.says {
				t.Errorf("it wants %s, and says %v\nwant     %s, and %q", got, r.Diags, tt.want, tt.says)
			}
		})
	}
}

// A Namespace goes where something is in it, everywhere, or where a policy sends it, as the config says; what is skipped goes nowhere by itself.
func TestWhereANamespaceGoes(t *testing.T) {
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: empty}\n"
	skipped := strings.Replace(config, "{name: a}", "{name: a, labels: {namespace.karmada.io/skip-auto-propagation: 'true'}}", 1)
	had := func(in *manifest.Input) {
		in.Before.Had = func(object.Ref) func(int) bool { return func(i int) bool { return i == 2 } }
	}
	for _, tt := range []struct {
		name, source, mode string
		edit               func(*manifest.Input)
		want               string
	}{
		{"used", config, render.NamespacesUsed, nil, "Namespace/a 0:1 1:1; Namespace/empty; ConfigMap/x 0:0 1:0"},
		{"all", config, render.NamespacesAll, nil, "Namespace/a 0:1 1:1 2:1; Namespace/empty 0:2 1:2 2:2; ConfigMap/x 0:0 1:0"},
		{"none", config, render.NamespacesNone, had, "Namespace/a; Namespace/empty; ConfigMap/x 0:0 1:0"},
		{"skipped", skipped, render.NamespacesUsed, nil, "Namespace/a; Namespace/empty; ConfigMap/x 0:0 1:0"},
		{"it was there", config, render.NamespacesUsed, had, "Namespace/a 0:1 1:1 2:1; Namespace/empty 2:2; ConfigMap/x 0:0 1:0"},
	} {
		r := of(t, three+sendsAll+tt.source, func(in *manifest.Input) {
			in.Config.Namespaces = tt.mode
			if tt.edit != nil {
				tt.edit(in)
			}
		})
		if got := table(&r); got != tt.want || len(r.Diags) > 0 {
			t.Errorf("%s: it wants %s, and says %v; want %s", tt.name, got, r.Diags, tt.want)
		}
	}
	kube := of(t, three+strings.ReplaceAll(sendsAll+"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n", "a}", "kube-mine}"), nil)
	if got := table(&kube); got != "Namespace/kube-mine; ConfigMap/x 0:0 1:0" || codes(&kube) != "never-propagated" {
		t.Errorf("what is in a Namespace that each cluster has of its own: %s, %v", got, kube.Diags)
	}
	own := of(t, three, func(in *manifest.Input) {
		in.Before.Own = func(i int) []object.Ref { return map[int][]object.Ref{1: {{Kind: "Namespace", Name: "default"}}}[i] }
	})
	if got := table(&own); got != "Namespace/default 1!"+lastWord(reason.ClustersOwn) {
		t.Errorf("what an earlier version wrote of what a cluster has of its own: %s", got)
	}
}

// What names a Service of a virtual cluster is quoted in a warning, unless it may be what a release made of a Secret.
func TestATextIsToldUnlessItIsPrivate(t *testing.T) {
	config := strings.Replace(three, "name: us", "name: us, annotations: {waybill.dev/virtual-of: eu}", 1) +
		strings.Replace(sendsAll, "ap, eu", "us", 1) + "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\ndata: {url: http://web.a.svc}\n"
	for secret, want := range map[string]string{"": "service-text", "web.a.svc": ""} {
		r := of(t, config, func(in *manifest.Input) {
			for i := range in.Decisions {
				if o := in.Decisions[i].Template; secret != "" && o.Ref().Kind == "ConfigMap" {
					in.Decisions[i].Template = template.New(o.Object.RenderedWith([]string{secret}), &template.Memo{})
				}
			}
		})
		if got := codes(&r); got != want {
			t.Errorf("of what may hold %q it says %v", secret, r.Diags)
		}
	}
}

// There are the clusters that have what is wanted, be it nothing; what is not known is nowhere.
func TestWhereARowIsCarriedOut(t *testing.T) {
	var blobs manifest.Blobs
	one, same, two := files.NewBlob([]byte("one")), files.NewBlob([]byte("one")), files.NewBlob([]byte("two"))
	row := manifest.Row{Wants: []manifest.Want{{Cluster: 0, Blob: blobs.Add(one)}, {Cluster: 1, Blob: blobs.Add(one)}, {Cluster: 2, Blob: blobs.Add(one)}, {Cluster: 4, Blob: manifest.Unwritten}, {Cluster: 5, Blob: manifest.Unwritten}}}
	have := manifest.NewPublished([]*files.Blob{nil, one, same, two}, []int{1, 2, 3, 0, 1, 0, 1})
	if is := row.There(&blobs, &have).String(); is != groups.Of(0, 1, 3).String() {
		t.Errorf("it is carried out in %s", is)
	}
	if is := have.Clusters().String(); is != groups.Of(0, 1, 2, 4, 6).String() {
		t.Errorf("%s have anything of it", is)
	}
	if is := row.Unwritten().String(); is != groups.Of(4, 5).String() || blobs.Len() != 1 {
		t.Errorf("it is not known in %s, and there are %d blobs", is, blobs.Len())
	}
}
