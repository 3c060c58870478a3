package manifest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

const source = `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: ap}
spec: {syncMode: Pull}
---
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
metadata: {name: p, namespace: a}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  placement: {}
  %s
---
apiVersion: v1
kind: Namespace
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: x, namespace: a}
data: {k: v}
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: o, namespace: a}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  overrideRules:
  - targetCluster: {clusterNames: [us]}
    overriders: {plaintext: [{path: %s, operator: replace, value: other}]}
`

// write writes the source out; edit may change what is asked for.
func write(t *testing.T, suspension, path string, edit func(*manifest.Input)) manifest.Result {
	t.Helper()
	return of(t, fmt.Sprintf(source, suspension, path), edit)
}

// of writes any source out.
func of(t *testing.T, text string, edit func(*manifest.Input)) manifest.Result {
	t.Helper()
	set, objects, diags := policies.Load(object.Decode("all.yaml", []byte(text)).Objects, nil)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	l := index.Of(set, nil, &index.Memo{})
	render.SortObjects(objects)
	in := schedule.Input{Policies: l, State: &state.State{}, Memo: &schedule.Memo{}}
	for _, o := range objects {
		in.Templates = append(in.Templates, template.New(o, &template.Memo{}))
	}
	decided := schedule.Decide(in)
	m := manifest.Input{
		Policies: l, Decisions: decided.Decisions, Config: render.DefaultConfig(), OnBranch: true, Memo: &manifest.Memo{},
		Before: manifest.Before{
			Had:  func(object.Ref) func(int) bool { return func(int) bool { return false } },
			Sent: func(object.Ref, string) bool { return false },
			Own:  func(int) []object.Ref { return nil },

			Leaving:   func(*schedule.Decision) []string { return nil },
			HoldsData: func(object.Ref, int) bool { return false },
		},
	}
	if edit != nil {
		edit(&m)
	}
	return manifest.Write(m)
}

// table prints rows: of each cluster the number of its blob, and its block.
func table(r *manifest.Result) string {
	var all []string
	for _, row := range r.Rows {
		words := []string{row.Ref.Kind + "/" + row.Ref.Name}
		for i := range int32(3) {
			if w, ok := row.Wanted(int(i)); ok {
				words = append(words, fmt.Sprintf("%d:%d", i, w.Blob))
			}
			if b := row.Blocked(int(i)); b != "" {
				said := strings.Fields(b.Message())
				words = append(words, fmt.Sprintf("%d!%s", i, said[len(said)-1]))
			}
		}
		all = append(all, strings.Join(words, " "))
	}
	return strings.Join(all, "; ")
}

func TestWrite(t *testing.T) {
	failure := func(everywhere bool) func(*manifest.Input) {
		return func(in *manifest.Input) {
			in.Failures = []expand.Failure{{
				Objects: []object.Ref{{Kind: "ConfigMap", Namespace: "b", Name: "y"}}, Everywhere: everywhere,
				Clusters: map[string]bool{"eu": true}, Targets: map[string]bool{"eu": true, "us": true},
			}}
		}
	}
	for _, tt := range []struct {
		name, suspension, path string
		edit                   func(*manifest.Input)
		want                   string
	}{
		{"clusters that are alike share a manifest", "", "/data/k", nil, "Namespace/a 0:2 1:2 2:2; ConfigMap/x 0:0 1:0 2:1"},
		{"an override fails", "", "/data/none", nil, "Namespace/a 0:1 1:1 2:1; ConfigMap/x 0:0 1:0 2:-1 2!fails"},
		{"one cluster is suspended", "suspension: {dispatchingOnClusters: {clusterNames: [eu]}}", "/data/k", nil, "Namespace/a 0:2 1:2 2:2; ConfigMap/x 0:0 1:-1 1!suspended 2:1"},
		{"a release fails in a cluster", "", "/data/k", failure(false), "Namespace/a 0:2 1:2 2:2; ConfigMap/x 0:0 1:0 2:1; ConfigMap/y 1:-1 1!rendered"},
		{"a release fails", "", "/data/k", failure(true), "Namespace/a 0:2 1:2 2:2; ConfigMap/x 0:0 1:0 2:1; ConfigMap/y 0!rendered 1:-1 1!rendered 2:-1 2!rendered"},
		{"a cluster's own", "", "/data/k", func(in *manifest.Input) {
			in.Bound = map[string][]*object.Object{"eu": object.Decode("own.yaml", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: c}\n")).Objects}
		}, "Namespace/a 0:3 1:3 2:3; ConfigMap/x 0:0 1:0 2:1; ConfigMap/own 1:2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := write(t, tt.suspension, tt.path, tt.edit)
			if got := table(&r); got != tt.want {
				t.Errorf("it wants %s\nwant     %s", got, tt.want)
			}
		})
	}
}

// targeted has a ConfigMap go to some clusters.
func targeted(in *manifest.Input, clusters ...string) {
	i := slices.IndexFunc(in.Decisions, func(d schedule.Decision) bool { return d.Ref().Kind == "ConfigMap" })
	in.Decisions[i].Targets = nil
	for _, name := range clusters {
		in.Decisions[i].Targets = append(in.Decisions[i].Targets, schedule.Target{Name: name})
	}
}

// A copy in a cluster that it leaves stays where none of those that it goes to answers, if the config says so.
func TestTheLastCopyStays(t *testing.T) {
	for _, tt := range []struct {
		name, config string
		lost         []string
		want         string
	}{
		{"none answers", render.LastCopyKeep, []string{"ap", "us"}, "ConfigMap/x 0:0 1!" + lastWord(reason.LastCopy) + " 2:1"},
		{"one answers", render.LastCopyKeep, []string{"ap"}, "ConfigMap/x 0:0 2:1"},
		{"none answers, and it goes", render.LastCopyDelete, []string{"ap", "us"}, "ConfigMap/x 0:0 2:1"},
		{"it does not answer itself", render.LastCopyDelete, []string{"ap", "eu", "us"}, "ConfigMap/x 0:0 1!" + lastWord(reason.Lost) + " 2:1"},
	} {
		r := write(t, "", "/data/k", func(in *manifest.Input) {
			set := in.Policies.Set
			set.Clusters = slices.Clone(set.Clusters)
			for i := range set.Clusters {
				if slices.Contains(tt.lost, set.Clusters[i].Spec.Name) {
					set.Clusters[i].Observed = &karmada.ClusterStatus{Conditions: []metav1.Condition{{Type: karmada.ConditionReady, Status: metav1.ConditionFalse}}}
				}
			}
			in.Policies, in.Config.Failover.LastCopy = index.Of(set, nil, &index.Memo{}), tt.config
			in.Before.Had = func(object.Ref) func(int) bool { return func(i int) bool { return i == 1 } }
			in.Before.Leaving = func(d *schedule.Decision) []string { return map[string][]string{"ConfigMap": {"eu"}}[d.Ref().Kind] }
			targeted(in, "ap", "us")
		})
		if got := table(&r); !strings.HasSuffix(got, tt.want) {
			t.Errorf("%s: it wants %s; want %s", tt.name, got, tt.want)
		}
	}
}

func lastWord(why reason.Reason) string {
	said := strings.Fields(why.Message())
	return said[len(said)-1]
}

// A Namespace that was sent along stays where nothing is in it any more, and one that a policy sent goes when the policy does not send it.
func TestANamespaceStaysWhereItWasSentAlong(t *testing.T) {
	r := write(t, "", "/data/k", func(in *manifest.Input) {
		in.Before.Had = func(object.Ref) func(int) bool { return func(int) bool { return true } }
		in.Before.Sent = func(_ object.Ref, cluster string) bool { return cluster == "eu" }
		targeted(in, "ap")
	})
	if got, want := table(&r), "Namespace/a 0:1 2:1; ConfigMap/x 0:0"; got != want {
		t.Errorf("it wants %s; want %s", got, want)
	}
}

// TestManyManifestsAreEncodedAtOnce writes a ConfigMap that is another one in every cluster.
func TestManyManifestsAreEncodedAtOnce(t *testing.T) {
	const clusters = 3000
	var rules, text strings.Builder
	for i := range clusters {
		fmt.Fprintf(&text, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: c%04d}\nspec: {syncMode: Pull}\n---\n", i)
		fmt.Fprintf(&rules, "  - targetCluster: {clusterNames: [c%04d]}\n    overriders: {plaintext: [{path: /data/k, operator: replace, value: of-%04d}]}\n", i, i)
	}
	text.WriteString(`apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: a}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  placement: {}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: x, namespace: a}
data: {k: v}
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: o, namespace: a}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  overrideRules:
`)
	r := of(t, text.String()+rules.String(), nil)
	wants := r.Rows[0].Wants
	if len(r.Rows) != 1 || len(wants) != clusters || r.Blobs.Len() != clusters {
		t.Fatalf("there are %d rows, the first with %d wants, and %d blobs", len(r.Rows), len(wants), r.Blobs.Len())
	}
	for i, w := range wants {
		data, err := r.Blobs.At(w.Blob).Bytes()
		if want := fmt.Sprintf("data:\n  k: of-%04d\n", i); err != nil || int(w.Cluster) != i || int(w.Blob) != i || !strings.Contains(string(data), want) {
			t.Fatalf("cluster %d is to hold blob %d, %q %v; want %q", w.Cluster, w.Blob, data, err, want)
		}
	}
}

// TestManyClassesAreMadeBesideEachOther: a manifest that is another in every cluster is what it would
// be alone, also where some cannot be made.
func TestManyClassesAreMadeBesideEachOther(t *testing.T) {
	const clusters = 300
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\ndata: {k: v}\n")
	b.WriteString("---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: a}\nspec:\n  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]\n  placement: {}\n")
	b.WriteString("---\napiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: o, namespace: a}\nspec:\n  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]\n  overrideRules:\n")
	for i := range clusters {
		path := "/data/k"
		if i%10 == 3 {
			path = "/data/none"
		}
		fmt.Fprintf(&b, "  - targetCluster: {clusterNames: [c%03d]}\n    overriders: {plaintext: [{path: %s, operator: replace, value: v%d}]}\n", i, path, i)
	}
	for i := range clusters {
		fmt.Fprintf(&b, "---\napiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: c%03d}\nspec: {syncMode: Pull}\n", i)
	}
	r := of(t, b.String(), nil)
	row := r.Rows[slices.IndexFunc(r.Rows, func(row manifest.Row) bool { return row.Ref.Kind == "ConfigMap" })]
	for i := range clusters {
		w, wanted := row.Wanted(i)
		if fails := i%10 == 3; !wanted || fails != (w.Blob == manifest.Unwritten) || fails != (row.Blocked(i) == reason.Failed) {
			t.Fatalf("cluster %d: %+v, block %q", i, w, row.Blocked(i))
		}
		if w.Blob == manifest.Unwritten {
			continue
		}
		data, err := r.Blobs.At(w.Blob).Bytes()
		if err != nil || !strings.Contains(string(data), fmt.Sprintf("k: v%d\n", i)) {
			t.Fatalf("cluster %d has (%v)\n%s", i, err, data)
		}
	}
	if len(r.Diags) != clusters/10 || !strings.Contains(r.Diags[0].Message, "(clusters c003)") {
		t.Fatalf("%d diagnostics: %v", len(r.Diags), r.Diags[0])
	}
}

// TestAMemoDistinguishesWhatIsPreserved: what a copy that failed leaves to the new one is in the manifest of this one, each time, and
// in that of no other cluster.
func TestAMemoDistinguishesWhatIsPreserved(t *testing.T) {
	const path = "/data/k"
	write(t, "", path, func(in *manifest.Input) {
		i := slices.IndexFunc(in.Decisions, func(d schedule.Decision) bool { return d.Ref().Kind == "ConfigMap" })
		moves := func(label string) string {
			in.Decisions[i].Scheduled = []karmada.TargetCluster{{Name: "eu"}}
			in.Decisions[i].Moves = nil
			if label != "" {
				in.Decisions[i].Moves = &failover.Moves{Tasks: []karmada.GracefulEvictionTask{{
					FromCluster: "us", PurgeMode: karmada.PurgeModeDirectly, PreservedLabelState: map[string]string{"job": label},
				}}}
			}
			r := manifest.Write(*in)
			in.Memo.Turn()
			var said []string
			for _, row := range r.Rows {
				for _, w := range row.Wants {
					if row.Ref.Kind != "ConfigMap" || w.Blob < 0 {
						continue
					}
					data, err := r.Blobs.At(w.Blob).Bytes()
					if err != nil {
						t.Fatal(err)
					}
					o := object.Decode("x.yaml", data).Objects[0]
					said = append(said, fmt.Sprint(w.Cluster, o.Labels()["job"]))
				}
			}
			return strings.Join(said, " ")
		}
		for label, want := range map[string]string{"one": "0 1one 2", "two": "0 1two 2", "": "0 1 2"} {
			if got := moves(label); got != want {
				t.Errorf("of %q it has %q, want %q", label, got, want)
			}
		}
	})
}

// TestWhatIsPreserved: what a policy says stays in a cluster when it is no longer sent there, but for what a FederatedHPA becomes,
// which would go on scaling.
func TestWhatIsPreserved(t *testing.T) {
	const text = `
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: eu}, spec: {syncMode: Pull}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: a}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {}
  propagateDeps: true
  preserveResourcesOnDeletion: %t
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: a}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: a}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x, envFrom: [{configMapRef: {name: settings}}]}]}}}
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: web, namespace: a}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 1, maxReplicas: 5}
`
	for preserves, want := range map[bool][]string{
		true:  {"ConfigMap/a/settings", "Deployment.apps/a/web"},
		false: nil,
	} {
		r := of(t, fmt.Sprintf(text, preserves), nil)
		var stay []string
		for _, row := range r.Rows {
			data, err := r.Blobs.At(row.Wants[0].Blob).Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if o := object.Decode("x.yaml", data).Objects[0]; o.Annotations()[interpret.PreserveAnnotation] == "true" {
				stay = append(stay, row.Ref.String())
			}
		}
		if len(r.Rows) != 3 || !slices.Equal(stay, want) {
			t.Errorf("of %d objects these stay: %v; want %v", len(r.Rows), stay, want)
		}
	}
}
