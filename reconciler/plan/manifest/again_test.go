package manifest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/ingress"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/autoscale"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/object"
)

// said prints rows as table does, with whole reasons, and the codes of what is said.
func said(r *manifest.Result) string {
	all := strings.Split(table(r), "; ")
	for _, row := range r.Rows {
		for _, g := range row.Blocks {
			all = append(all, fmt.Sprintf("%s: %s in %v", row.Ref.Name, g.Is, slices.Collect(g.Clusters.All())))
		}
	}
	return strings.Join(append(all, codes(r)), "\n")
}

// content is what a kind of object is in a cluster, less what a branch adds.
func content(t *testing.T, r *manifest.Result, kind string, cluster int) string {
	t.Helper()
	at := slices.IndexFunc(r.Rows, func(row manifest.Row) bool { return row.Ref.Kind == kind })
	w, ok := r.Rows[at].Wanted(cluster)
	if !ok || w.Blob < 0 {
		return fmt.Sprint("nothing ", w.Blob)
	}
	data, err := r.Blobs.At(w.Blob).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// decisionOf is that of a kind of object.
func decisionOf(in *manifest.Input, kind string) *schedule.Decision {
	return &in.Decisions[slices.IndexFunc(in.Decisions, func(d schedule.Decision) bool { return d.Ref().Kind == kind })]
}

// What is written later is wanted where it goes, and is written anew alone: where it went before and does not go now it stays unwritten,
// what was in its way is gone, and what was in the way of others stays.
func TestWhatIsWrittenLater(t *testing.T) {
	key, err := draw.NewKey([]byte("0123456789abcdefghijklmnopqrstuv"))
	if err != nil {
		t.Fatal(err)
	}
	const rules = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: o, namespace: a}\n" +
		"spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], overrideRules: [{targetCluster: {clusterNames: [us]}," +
		" overriders: {plaintext: [{path: /data/none, operator: replace, value: v}]}}]}\n"
	clusters := strings.Replace(three, "name: eu", "name: eu, annotations: {waybill.dev/age-recipients: "+toAnna+"}", 1)
	clusters = strings.Replace(clusters, "name: ap", "name: ap, annotations: {waybill.dev/age-recipients: nobody}", 1)
	var in manifest.Input
	r := of(t, clusters+strings.Replace(sendsAll, "[ap, eu]", "[ap, eu, us]", 1)+plain+rules+
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\n", func(m *manifest.Input) {
		m.Random.Key = key
		m.Later = map[object.Ref]bool{{Kind: "ConfigMap", Namespace: "a", Name: "x"}: true, {Kind: "Secret", Namespace: "a", Name: "s"}: true}
		decisionOf(m, "ConfigMap").Targets = append(slices.Clone(decisionOf(m, "ConfigMap").Targets), schedule.Target{Name: "zz"})
		m.Failures = []expand.Failure{{Objects: []object.Ref{{Kind: "Pod", Namespace: "b", Name: "y"}}, Everywhere: true}}
		in = *m
	})
	if diff := cmp.Diff("ConfigMap/x 0:-1 1:-1 2:-1\nSecret/s 0:-1 1:-1 2:-1\nPod/y 0!rendered 1!rendered 2!rendered\n"+
		"y: ReleaseNotRendered in [0 1 2]\nbad-recipients false", said(&r)+fmt.Sprint(" ", r.Keyed)); diff != "" {
		t.Fatalf("before it is written (-want +is):\n%s", diff)
	}
	row := r.Row(object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "x"})
	row.Block(0, reason.NoBackend)
	row.Block(1, reason.Lost)
	d := *decisionOf(&in, "ConfigMap")
	d.Targets = slices.Clone(d.Targets)[1:3]
	r.Rewrite(in, []schedule.Decision{d, *decisionOf(&in, "Secret")})
	plainly := string(reason.Plain)
	if diff := cmp.Diff("ConfigMap/x 0:-1 0!there 1:0 2:-1 2!fails\nSecret/s 0:-1 0!text 1:1 2:-1 2!text\n"+
		"Pod/y 0!rendered 1!rendered 2!rendered\n"+
		"x: BackendMissing in [0]\nx: OverrideFails in [2]\ns: "+plainly+" in [0 2]\ny: ReleaseNotRendered in [0 1 2]\n"+
		"bad-recipients override-failed plain-secret true", said(&r)+fmt.Sprint(" ", r.Keyed)); diff != "" {
		t.Errorf("once it is written (-want +is):\n%s", diff)
	}
	r.Rewrite(in, []schedule.Decision{d})
	if !r.Keyed || r.Blobs.Len() != 2 {
		t.Errorf("a second time: keyed %t, %d blobs", r.Keyed, r.Blobs.Len())
	}
	if r.Row(object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "w"}) != nil {
		t.Error("there is a row of what nobody wrote")
	}
}

// What cannot be told stays where it is wanted and where it was, be there a row of it or none.
func TestWhatIsKept(t *testing.T) {
	var in manifest.Input
	r := write(t, "", "/data/none", func(m *manifest.Input) {
		m.Before.Had = func(r object.Ref) func(int) bool {
			return func(i int) bool { return r.Kind == "Pod" && i == 1 || r.Kind == "ConfigMap" && i == 0 }
		}
		targeted(m, "eu", "us")
		in = *m
	})
	for _, ref := range []object.Ref{{Kind: "ConfigMap", Namespace: "a", Name: "x"}, {Kind: "Pod", Namespace: "a", Name: "y"}} {
		r.Keep(&in, ref)
	}
	if diff := cmp.Diff("Namespace/a 1:1 2:1\nConfigMap/x 0!be 1:-1 1!be 2:-1 2!fails\nPod/y 1!be\n"+
		"x: ContentUnknown in [0 1]\nx: OverrideFails in [2]\ny: ContentUnknown in [1]\noverride-failed", said(&r)); diff != "" {
		t.Errorf("(-want +is):\n%s", diff)
	}
}

const jobs = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: a}\nspec:\n" +
	"  resourceSelectors: [{apiVersion: batch/v1, kind: Job}, {apiVersion: networking.k8s.io/v1, kind: Ingress}]\n" +
	"  placement: {clusterAffinity: {clusterNames: [ap, eu]}, replicaScheduling: {replicaSchedulingType: %s}}\n" +
	"---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: a}\n" +
	"spec: {parallelism: %d, completions: 9, template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}\n" +
	"---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: a}\n" +
	"spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}\n" +
	"---\napiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: o, namespace: a}\nspec:\n" +
	"  resourceSelectors: [{apiVersion: batch/v1, kind: Job}, {apiVersion: networking.k8s.io/v1, kind: Ingress}]\n" +
	"  overrideRules:\n  - {overriders: {labelsOverrider: [{operator: add, value: {one: '1'}}]}}\n" +
	"  - {targetCluster: {clusterNames: [ap]}, overriders: {labelsOverrider: [{operator: add, value: {two: '2'}}]}}\n" +
	"  - {targetCluster: {clusterNames: [eu]}, overriders: {labelsOverrider: [{operator: add, value: {three: '3'}}]}}\n"

// weighted divides replicas by weights.
const weighted = "replicaDivisionPreference: Weighted, weightPreference: {staticWeightList: [" +
	"{targetCluster: {clusterNames: [ap]}, weight: 2}, {targetCluster: {clusterNames: [eu]}, weight: 1}]}"

// A Job's completions are divided as its replicas are, and stay as they are written where those are not divided.
func TestCompletionsAreDivided(t *testing.T) {
	for _, tt := range []struct {
		kind        string
		parallelism int
		want        string
	}{
		{"Divided, " + weighted, 3, "6 2; 3 1"}, {"Duplicated", 3, "9 3; 9 3"}, {"Divided, " + weighted, 0, "9 0; nothing"},
	} {
		text := fmt.Sprintf(jobs, tt.kind, tt.parallelism)
		r := of(t, three+text, func(in *manifest.Input) {
			if tt.parallelism == 0 {
				decisionOf(in, "Job").Targets = []schedule.Target{{Name: "ap"}}
			}
		})
		var is []string
		for cluster := range 2 {
			c := content(t, &r, "Job", cluster)
			if strings.HasPrefix(c, "nothing") {
				is = append(is, "nothing")
				continue
			}
			is = append(is, field(c, "completions")+" "+field(c, "parallelism"))
		}
		if got := strings.Join(is, "; "); got != tt.want {
			t.Errorf("%s, %d at once: %s, want %s", tt.kind, tt.parallelism, got, tt.want)
		}
	}
}

// field is what a line of YAML says of a field.
func field(text, name string) string {
	_, after, _ := strings.Cut(text, " "+name+": ")
	value, _, _ := strings.Cut(after, "\n")
	return value
}

// What rules change in a cluster is told of the content as it goes there, with its share of replicas, completions and backends.
func TestWhatRulesChangeIsExplained(t *testing.T) {
	const at = "/metadata/labels/"
	text := three + fmt.Sprintf(jobs, "Divided, "+weighted, 2)
	of(t, text, func(in *manifest.Input) {
		names := ingress.NamesOf(map[object.Ref]string{{Kind: "Service", Namespace: "a", Name: "web"}: "derived-web"})
		decisionOf(in, "Ingress").Backends = map[string]ingress.Found{"ap": {Names: names}}
		for _, d := range in.Decisions {
			for _, c := range []schedule.Target{{Name: "ap", Replicas: 1}, {Name: "eu", Replicas: 1}, {Name: "gone"}} {
				applied, err := manifest.Explain(in.Policies, &d, c)
				var labels []string
				for _, a := range applied {
					labels = append(labels, a.Changes[0].Path)
				}
				want := map[string]string{"ap": at + "one " + at + "two", "eu": at + "one " + at + "three"}[c.Name]
				if got := strings.Join(labels, " "); got != want || err != nil {
					t.Errorf("%s in %s: %q, %v; want %q", d.Ref(), c.Name, got, err, want)
				}
			}
		}
		r := manifest.Write(*in)
		for cluster, want := range []string{"derived-web", "web"} {
			if c := content(t, &r, "Ingress", cluster); !strings.Contains(c, "name: "+want+"\n") {
				t.Errorf("in %d the Ingress sends traffic to another than %s:\n%s", cluster, want, c)
			}
		}
		part := *decisionOf(in, "Job")
		part.Template = nowhere(part.Template)
		if applied, err := manifest.Explain(in.Policies, &part, schedule.Target{Name: "ap"}); applied != nil || err != nil {
			t.Errorf("of what a release does not render there: %v, %v", applied, err)
		}
	})
}

// change has an input ask for something that shows in a manifest, or in no other one.
type change struct {
	name string
	make func(in *manifest.Input)
	bare bool // it changes nothing
}

// TestAMemoDistinguishesWhatAManifestIsMadeOf: a manifest that is remembered is the very same, and whatever is asked for otherwise is
// made as it would be without a memo.
func TestAMemoDistinguishesWhatAManifestIsMadeOf(t *testing.T) {
	job := func(in *manifest.Input) *schedule.Decision { return decisionOf(in, "Job") }
	for _, tt := range []change{
		{"nothing", func(*manifest.Input) {}, true},
		{"no branch", func(in *manifest.Input) { job(in).Sent.Overwrite, in.OnBranch = true, false }, false},
		{"a link", func(in *manifest.Input) { in.Config.Publish.Links = "https://waybill.example.com" }, false},
		{"replicas", func(in *manifest.Input) { job(in).Targets = []schedule.Target{{Name: "ap", Replicas: 2}, {Name: "eu"}} }, false},
		{"completions", func(in *manifest.Input) { job(in).Scheduled = []schedule.Target{{Name: "ap", Replicas: 2}} }, false},
		{"overwriting", func(in *manifest.Input) { job(in).Sent.Overwrite = true }, false},
		{"no policy", func(in *manifest.Input) { job(in).Policy = nil }, false},
		{"scaled", func(in *manifest.Input) {
			job(in).Scaler = &autoscale.Scaler{Located: policies.Located[karmada.FederatedHPA]{Object: job(in).Template.Object}}
			job(in).Scaled = map[string]bool{"ap": true}
		}, false},
		{"other rules", func(in *manifest.Input) {
			set := in.Policies.Set
			o := *set.Override[0]
			spec := *o.Spec
			spec.OverrideRules = spec.OverrideRules[1:]
			o.Spec, set.Override = &spec, []*policies.Override{&o}
			in.Policies = index.Of(set, nil, &index.Memo{})
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			of(t, three+fmt.Sprintf(jobs, "Divided, "+weighted, 2), func(in *manifest.Input) {
				first := manifest.Write(*in)
				in.Memo.Turn()
				tt.make(in)
				again := manifest.Write(*in)
				in.Memo = &manifest.Memo{}
				anew := manifest.Write(*in)
				was, is, want := content(t, &first, "Job", 0), content(t, &again, "Job", 0), content(t, &anew, "Job", 0)
				if is != want || (is == was) != tt.bare {
					t.Errorf("it was\n%s\nis\n%s\nwant\n%s", was, is, want)
				}
				if same := first.Blobs.At(0) == again.Blobs.At(0); tt.name == "nothing" && !same {
					t.Error("it was made anew")
				}
			})
		})
	}
}

const taught = `---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: p}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {replicaScheduling: {replicaSchedulingType: Duplicated}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: a}
spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}
---
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: taught}
spec:
  target: {apiVersion: apps/v1, kind: Deployment}
  customizations:
    replicaRevision:
      luaScript: |
        function ReviseReplica(desiredObj, desiredReplica)
          if desiredReplica == 9 then error("nine are too many") end
          for i = 1, 30000 do desiredObj.spec.paused = i % 2 == 0 end
          return desiredObj
        end
`

// What scripts took for a manifest is taken again when the manifest is remembered, in virtual clusters too, and where a script fails there
// is no manifest. A Deployment that a HorizontalPodAutoscaler scales says nothing of replicas.
func TestWhatScriptsMakeIsRemembered(t *testing.T) {
	of(t, edges+taught, func(in *manifest.Input) {
		d := decisionOf(in, "Deployment")
		d.Targets = []schedule.Target{{Name: "eu", Replicas: 2}, {Name: "va", Replicas: 2}, {Name: "vb", Replicas: 9}}
		d.Scaler = &autoscale.Scaler{Located: policies.Located[karmada.FederatedHPA]{Object: d.Template.Object}}
		d.Scaled = map[string]bool{"eu": true}
		interpreter := in.Policies.Interpreter
		var spent []int
		var is []string
		for range 2 {
			interpreter.Renew()
			r := manifest.Write(*in)
			in.Memo.Turn()
			spent = append(spent, interpreter.Spent())
			for cluster := range 3 {
				c := content(t, &r, "Deployment", cluster)
				why := r.Rows[len(r.Rows)-1].Blocked(cluster)
				is = append(is, fmt.Sprintf("paused %q, replicas %q %s", field(c, "paused"), field(c, "replicas"), why))
			}
			is = append(is, codes(&r))
		}
		want := []string{
			`paused "true", replicas "" `, `paused "true", replicas "2" `, `paused "", replicas "" ReplicasNotSet`, "replicas",
			`paused "true", replicas "" `, `paused "true", replicas "2" `, `paused "", replicas "" ReplicasNotSet`, "replicas",
		}
		if diff := cmp.Diff(want, is); diff != "" || spent[0] == 0 || spent[0] != spent[1] {
			t.Errorf("%v steps were taken, (-want +is):\n%s", spent, diff)
		}
	})
}
