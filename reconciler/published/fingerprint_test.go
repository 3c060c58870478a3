package published

import (
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestFingerprint changes what there is to apply: what a cluster is applied from, the file that registers it and the config
// count, and what concerns another cluster does not.
func TestFingerprint(t *testing.T) {
	first := Desired{
		at: render.Addresses{Prefix: "waybill/cluster/"}, terms: [32]byte{1}, revision: sources.Revision{Repo: "https://example.com/fleet", Commit: "a"},
		heads: map[string]files.ID{"waybill/cluster/eu": {1}, "waybill/cluster/us": {1}},
	}
	cluster := func(annotations map[string]string) *karmada.Cluster {
		return &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu", Annotations: annotations}}
	}
	for _, c := range []struct {
		name   string
		change func(*Desired) *karmada.Cluster
		same   bool
	}{
		{"nothing", func(*Desired) *karmada.Cluster { return cluster(nil) }, true},
		{"a source commit that changes nothing here", func(d *Desired) *karmada.Cluster { d.revision.Commit = "b"; return cluster(nil) }, true},
		{"the branch of another cluster", func(d *Desired) *karmada.Cluster {
			d.heads = map[string]files.ID{"waybill/cluster/eu": {1}, "waybill/cluster/us": {2}}
			return cluster(nil)
		}, true},
		{"the branch", func(d *Desired) *karmada.Cluster {
			d.heads = map[string]files.ID{"waybill/cluster/eu": {2}, "waybill/cluster/us": {1}}
			return cluster(nil)
		}, false},
		{"the Cluster", func(*Desired) *karmada.Cluster { return cluster(map[string]string{"a": "b"}) }, false},
		{"the config", func(d *Desired) *karmada.Cluster { d.terms = [32]byte{2}; return cluster(nil) }, false},
		{"the source", func(d *Desired) *karmada.Cluster {
			d.revision.Repo = "https://example.com/moved"
			return cluster(nil)
		}, false},
	} {
		r := &Reader{Branches: At(nil)}
		was, err := r.Fingerprint(t.Context(), &first, cluster(nil))
		if err != nil {
			t.Fatal(err)
		}
		next := first
		changed := c.change(&next)
		is, err := r.Fingerprint(t.Context(), &next, changed)
		if err != nil {
			t.Fatal(err)
		}
		if (is == was) != c.same {
			t.Errorf("%s: the same is %v, want %v", c.name, is == was, c.same)
		}
	}
}

// TestWhatOfTheStateMakesARound: the terms of the config, customizations and health scripts do, in every cluster, and what a plan notes does not.
func TestWhatOfTheStateMakesARound(t *testing.T) {
	const terms, custom, scripts = "apply.json", "interpreters/a.yaml", "health.json"
	first := map[string]string{
		terms:   `{"branchPrefix": "waybill/cluster/"}`,
		custom:  "apiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\nmetadata: {name: a}\n",
		scripts: `{"configMap": "argocd/argocd-cm", "scripts": {"example.com/Widget": "return {status = 'Healthy'}"}}`,
	}
	fingerprint := func(contents map[string]string) Fingerprint {
		t.Helper()
		repo, root := twin.New("published"), twin.Tree{}
		for path, content := range contents {
			root[path] = twin.File([]byte(content))
		}
		repo.Write(state.Branch, "a plan\n\nSource-Repository: https://git.example/fleet\n", root.Folder())
		r := &Reader{Branches: At(repo)}
		in, err := r.Desired(t.Context(), "", files.ID{})
		if err != nil {
			t.Fatal(err)
		}
		is, err := r.Fingerprint(t.Context(), &in, &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}})
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	was := fingerprint(first)
	for _, tt := range []struct {
		name, path, content string
		same                bool
	}{
		{"nothing", terms, first[terms], true},
		{"what was released", "releases/shop/web.json", "{}", true},
		{"how it is applied", terms, `{"branchPrefix": "waybill/cluster/", "apply": {"serviceAccountName": "deployer"}}`, false},
		{"a customization", custom, first[custom] + "spec: {target: {apiVersion: example.com/v1, kind: Widget}}\n", false},
		{"a health script", scripts, `{"configMap": "argocd/argocd-cm", "scripts": {"example.com/Widget": "return {status = 'Degraded'}"}}`, false},
	} {
		next := maps.Clone(first)
		next[tt.path] = tt.content
		if is := fingerprint(next); (is == was) != tt.same {
			t.Errorf("%s: the same is %v, want %v", tt.name, is == was, tt.same)
		}
	}
}

// TestFingerprintOfAFolder has clusters share a branch: of its commits, those count for a cluster that changed its folder.
func TestFingerprintOfAFolder(t *testing.T) {
	repo := twin.New("published")
	r := &Reader{Branches: At(repo)}
	var was Fingerprint
	for i, step := range []struct {
		contents map[string]string
		same     bool
	}{
		{map[string]string{"eu/a": "1", "us/a": "1"}, false},
		{map[string]string{"eu/a": "1", "us/a": "2"}, true},
		{map[string]string{"eu/a": "1", "us/a": "2", "README": "of a person"}, true},
		{map[string]string{"eu/a": "2", "us/a": "3"}, false},
		{map[string]string{"eu/a": "1", "us/a": "3"}, false},
		{map[string]string{"us/a": "3"}, false},
	} {
		root := twin.Tree{}
		for path, content := range step.contents {
			root[path] = twin.File([]byte(content))
		}
		heads := map[string]files.ID{"waybill/clusters": repo.Write("waybill/clusters", "a change", root.Folder())}
		in := Desired{at: render.Addresses{Shared: "waybill/clusters"}, heads: heads}
		is, err := r.Fingerprint(t.Context(), &in, &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}})
		if err != nil {
			t.Fatal(err)
		}
		if (is == was) != step.same {
			t.Errorf("step %d: the same is %v, want %v", i+1, is == was, step.same)
		}
		was = is
	}
}
