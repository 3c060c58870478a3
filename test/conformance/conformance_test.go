// Package conformance holds Waybill against what a real Karmada control plane did
// with the same files (v1.19.0-rc.0-18, commit f8fdd02). A case of testdata is a
// source in one file, repo.yaml, and expected.json: the objects that each cluster
// received and the bindings. Cases named steady-* are changes: repo1.yaml, then
// repo2.yaml with the decisions about repo1.yaml behind it. Cases named taint-* are what
// Karmada does with taints, conditions and dead clusters, with failover switched on (see
// failover_test.go).
//
// Labels and annotations of karmada.io and waybill.dev are left out on both sides,
// as are Namespaces, which Karmada sends everywhere, and what Karmada prunes because
// its API server sets it, where here somebody wrote it: finalizers, the clusterIP of a
// Service, the ttlSecondsAfterFinished of a Job.
package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/test/twin"
)

// expected is what Karmada did.
type expected struct {
	Clusters map[string][]map[string]any `json:"clusters"`
	Bindings []binding                   `json:"bindings"`
}

type binding struct {
	Clusters []struct {
		Name     string `json:"name"`
		Replicas int32  `json:"replicas"`
	} `json:"clusters"`
	Message  string `json:"message"`
	Tasks    []task `json:"gracefulEvictionTasks"`
	Resource struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Namespace  string `json:"namespace"`
		Name       string `json:"name"`
	} `json:"resource"`
	Scheduled string `json:"scheduled"`
}

// task is what Karmada's binding says of a cluster that it leaves.
type task struct {
	FromCluster string `json:"fromCluster"`
	Producer    string `json:"producer"`
	PurgeMode   string `json:"purgeMode"`
	Reason      string `json:"reason"`
	Replicas    int32  `json:"replicas"`
}

// file is a snapshot of one file, with a revision.
type file struct {
	twin.Texts

	commit string
}

func (f file) Revision() sources.Revision {
	return sources.Revision{Repo: "case", Commit: f.commit, When: time.Unix(0, 0)}
}

func TestCases(t *testing.T) {
	dirs, err := filepath.Glob("testdata/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no cases", err)
	}
	for _, dir := range dirs {
		if strings.HasPrefix(filepath.Base(dir), "taint-") {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(dir, "repo1.yaml")); err != nil {
				in := input(t, filepath.Join(dir, "repo.yaml"))
				compare(t, filepath.Join(dir, "expected.json"), plan.Build(in))
				return
			}
			first := plan.Build(input(t, filepath.Join(dir, "repo1.yaml")))
			compare(t, filepath.Join(dir, "expected1.json"), first)
			in := input(t, filepath.Join(dir, "repo2.yaml"))
			in.Memo = plan.NewMemo()
			after(t, &in, &first)
			second := plan.Build(in)
			compare(t, filepath.Join(dir, "expected2.json"), second)
			after(t, &in, &second)
			if third := plan.Build(in); third.State.ID() != second.State.ID() {
				t.Error("a plan is no fixed point: planned again it decides otherwise")
			}
		})
	}
}

func input(t *testing.T, name string) plan.Input {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	src, err := render.Load(t.Context(), file{twin.Texts{"all.yaml": string(data)}, name}, render.With{})
	if err != nil {
		t.Fatal(err)
	}
	src.Config.Secrets = render.SecretsAllow
	return plan.Input{Source: src, Medium: plan.Branch, Allow: guard.Allowance{Named: guard.AllowAll}}
}

// after makes in follow a plan that was published.
func after(t *testing.T, in *plan.Input, p *plan.Plan) {
	t.Helper()
	var err error
	if in.State, err = state.Decode(p.State, &in.State); err != nil {
		t.Fatal(err)
	}
	in.Published = map[string]tree.Published{}
	for _, c := range p.Clusters {
		in.Published[c.Name] = tree.Published{Built: c.Tree}
	}
}

func compare(t *testing.T, name string, p plan.Plan) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var want expected
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Clusters {
		if d := cmp.Diff(wanted(want.Clusters[c.Name]), delivered(t, c)); d != "" {
			t.Errorf("%s: %s", c.Name, d)
		}
	}
	decisions(t, want.Bindings, &p)
}

// wanted indexes what a cluster received from Karmada.
func wanted(objs []map[string]any) map[string]string {
	out := map[string]string{}
	for _, o := range objs {
		if o["kind"] != "Namespace" {
			out[key(o)] = norm(o)
		}
	}
	return out
}

func delivered(t *testing.T, c plan.Cluster) map[string]string {
	t.Helper()
	out := map[string]string{}
	for path, e := range c.Tree.All() {
		if !strings.HasPrefix(path, tree.ManifestDir+"/") {
			continue
		}
		data, err := e.Blob.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range object.Decode(path, data).Objects {
			if o.Ref().Kind != "Namespace" {
				out[key(o.Content())] = norm(o.Content())
			}
		}
	}
	return out
}

func key(o map[string]any) string {
	meta, _ := o["metadata"].(map[string]any)
	return fmt.Sprintf("%v %v %v/%v", o["apiVersion"], o["kind"], meta["namespace"], meta["name"])
}

// norm prints an object without what is each system's own.
func norm(o map[string]any) string {
	o = maps.Clone(o)
	meta, _ := o["metadata"].(map[string]any)
	meta = maps.Clone(meta)
	for _, field := range []string{"labels", "annotations"} {
		m, _ := meta[field].(map[string]any)
		m = maps.Clone(m)
		maps.DeleteFunc(m, func(k string, _ any) bool {
			return strings.Contains(k, "karmada.io") || strings.Contains(k, "waybill.dev")
		})
		delete(meta, field)
		if len(m) > 0 {
			meta[field] = m
		}
	}
	delete(meta, "creationTimestamp")
	delete(meta, "finalizers")
	delete(o, "status")
	o["metadata"] = meta
	if spec, ok := o["spec"].(map[string]any); ok {
		o["spec"] = withoutPruned(o["kind"], spec)
	}
	data, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// withoutPruned returns a spec without what Karmada prunes there.
func withoutPruned(kind any, spec map[string]any) map[string]any {
	spec = maps.Clone(spec)
	switch {
	case kind == "Job":
		delete(spec, "ttlSecondsAfterFinished")
	case kind == "Service" && spec["clusterIP"] != "None":
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
	}
	return spec
}

// decisions holds the bindings of templates that a policy claims against Karmada's.
func decisions(t *testing.T, want []binding, p *plan.Plan) {
	t.Helper()
	for _, b := range want {
		group, _ := object.GroupVersion(b.Resource.APIVersion)
		ref := object.Ref{Group: group, Kind: b.Resource.Kind, Namespace: b.Resource.Namespace, Name: b.Resource.Name}
		i := slices.IndexFunc(p.Decisions, func(d plan.Decision) bool { return d.Template.Ref() == ref })
		if i < 0 {
			t.Errorf("%s: there is no such template", ref)
			continue
		}
		d := p.Decisions[i]
		if d.Binding == nil || d.Policy == nil {
			continue // brought by what depends on it; held against what was delivered
		}
		var wantClusters, got []string
		for _, c := range b.Clusters {
			wantClusters = append(wantClusters, fmt.Sprintf("%s:%d", c.Name, c.Replicas))
		}
		for _, c := range d.Binding.Spec.Clusters {
			got = append(got, fmt.Sprintf("%s:%d", c.Name, c.Replicas))
		}
		var tasks []task
		for _, t := range d.Binding.Spec.GracefulEvictionTasks {
			tasks = append(tasks, task{t.FromCluster, t.Producer, string(t.PurgeMode), t.Reason, *t.Replicas})
		}
		if diff := cmp.Diff(b.Tasks, tasks); diff != "" {
			t.Errorf("%s: tasks: %s", ref, diff)
		}
		slices.Sort(wantClusters)
		if diff := cmp.Diff(wantClusters, got); diff != "" || d.Reason != b.Scheduled || d.Message != b.Message {
			t.Errorf("%s: %s\nKarmada %s: %s\nhere    %s: %s", ref, diff, b.Scheduled, b.Message, d.Reason, d.Message)
		}
	}
}
