package state

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

func binding(ref object.Ref, apiVersion string) *karmada.ResourceBinding {
	b := &karmada.ResourceBinding{}
	b.APIVersion, b.Kind = "work.karmada.io/v1alpha2", "ResourceBinding"
	b.Name, b.Namespace = BindingName(ref), ref.Namespace
	b.Annotations = map[string]string{"a": "it's: \"quoted\"", "n": "n"}
	b.Spec.Resource = karmada.ObjectReference{APIVersion: apiVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}
	b.Spec.Replicas = 7
	b.Spec.ReplicaRequirements = &karmada.ReplicaRequirements{ResourceRequest: corev1.ResourceList{"cpu": resource.MustParse("100m")}}
	b.Spec.Clusters = []karmada.TargetCluster{{Name: "eu-1", Replicas: 4}, {Name: "us-1", Replicas: 3}}
	b.Status.Conditions = []metav1.Condition{{Type: "Scheduled", Status: "True", Reason: "Success", Message: "ok", LastTransitionTime: metav1.NewTime(time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC))}}
	return b
}

// leave has an object left as it is in clusters, if there are any, of a fleet of these.
func leave(c *Content, r object.Ref, in ...LeftIn) {
	var by groups.Builder[Left]
	for i, l := range in {
		c.Clusters = append(c.Clusters, policies.Cluster{Spec: karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: l.Cluster}}})
		by.Add(i, l.Left)
	}
	if len(in) > 0 {
		c.Left = map[object.Ref]groups.By[Left]{r: by.By()}
	}
}

func TestWhatIsEncodedIsDecoded(t *testing.T) {
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	role := object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "system:Foo"}
	twin := object.Ref{Group: "x.example.com", Kind: "Deployment", Namespace: "shop", Name: "web"}
	in := Content{
		Bindings: []*karmada.ResourceBinding{binding(role, "rbac.authorization.k8s.io/v1"), binding(web, "apps/v1"), binding(twin, "x.example.com/v1")},
		LastGood: LastGood{
			Broken:  map[string]Part{"a.yaml": {Digest: "d", Commit: "c0ffee"}},
			Objects: []Good{{Object: web, Cluster: "eu", Commit: "c0ffee", In: []string{"a.yaml"}}},
		},
	}
	leave(&in, object.Ref{Kind: "Namespace", Name: "shop"}, LeftIn{Left{Reason: "it was never there"}, "as"}, LeftIn{Left{Kept: true}, "eu"}, LeftIn{Left{Kept: true}, "us"})
	folder, err := Encode(in, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, ref := range []object.Ref{role, web, twin} {
		if d := cmp.Diff(in.Bindings[i], got.Bindings[ref]); d != "" {
			t.Errorf("%s: %s", ref, d)
		}
	}
	if d := cmp.Diff(in.LastGood, got.LastGood) + cmp.Diff(map[object.Ref][]string{{Kind: "Namespace", Name: "shop"}: {"eu", "us"}}, got.Kept); d != "" || len(got.Bindings) != 3 {
		t.Error(d)
	}
	if _, ok := folder.Lookup("bindings/_cluster/system.foo-clusterrole.yaml"); !ok {
		t.Error("the binding of a cluster-scoped template is not where it should be")
	}
}

func TestBindingsShareTheTextOfTheirClusters(t *testing.T) {
	clusters := make([]karmada.TargetCluster, 1000)
	for i := range clusters {
		clusters[i] = karmada.TargetCluster{Name: fmt.Sprintf("c%04d", i), Replicas: int32(i % 2)}
	}
	var in Content
	for _, name := range []string{"a", "b", "c"} {
		b := binding(object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name}, "apps/v1")
		if b.Spec.Clusters = clusters; name == "c" {
			b.Spec.Clusters = slices.Clone(clusters[:900])
		}
		in.Bindings = append(in.Bindings, b)
	}
	for _, name := range []string{"d", "e", "f", "g"} { // what others need, and no policy sends
		b := binding(object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name}, "v1")
		b.Spec.Clusters = nil
		b.Spec.RequiredBy = []karmada.BindingSnapshot{{Namespace: "shop", Name: "a-deployment", Clusters: clusters}}
		switch name {
		case "f":
			b.Spec.RequiredBy[0].Namespace = ""
		case "g":
			b.Spec.RequiredBy = append(b.Spec.RequiredBy, karmada.BindingSnapshot{Name: "b", Clusters: clusters[:9]})
		}
		in.Bindings = append(in.Bindings, b)
	}
	folder, err := Encode(in, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, shares := range []bool{false, true, false, false, true, true, false} {
		b := in.Bindings[i]
		e, _ := folder.Lookup("bindings/shop/" + b.Name + ".yaml")
		got, _ := e.Blob.Bytes()
		if want, _ := encode(b); string(got) != string(want) || e.ID != files.Sum("blob", want) {
			t.Errorf("%s is not written as it would be alone", b.Name)
		}
		if is := e.Blob.Patch() != nil; is != shares {
			t.Errorf("%s shares the text of its clusters: %t", b.Name, is)
		}
	}
}

func TestAnEarlierStateSavesWorkAndChangesNothing(t *testing.T) {
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	first := binding(web, "apps/v1")
	folder, err := Encode(Content{Bindings: []*karmada.ResourceBinding{first}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	earlier, err := Decode(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Decode(folder, &earlier); err != nil || again.Bindings[web] != earlier.Bindings[web] {
		t.Errorf("what is as it was is read again: %v", err)
	}
	for name, change := range map[string]func(*karmada.ResourceBinding){
		"nothing":             func(*karmada.ResourceBinding) {},
		"the replicas in one": func(b *karmada.ResourceBinding) { b.Spec.Clusters[1].Replicas++ },
		"the clusters":        func(b *karmada.ResourceBinding) { b.Spec.Clusters = b.Spec.Clusters[:1] },
		"an annotation":       func(b *karmada.ResourceBinding) { b.Annotations["a"] = "other" },
		"the requirements": func(b *karmada.ResourceBinding) {
			b.Spec.ReplicaRequirements.ResourceRequest["cpu"] = resource.MustParse("1")
		},
		"the time of a change": func(b *karmada.ResourceBinding) {
			b.Status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Unix(0, 0))
		},
		"what needs it": func(b *karmada.ResourceBinding) { b.Spec.RequiredBy = []karmada.BindingSnapshot{{Name: "x"}} },
	} {
		t.Run(name, func(t *testing.T) {
			b := binding(web, "apps/v1")
			change(b)
			c := Content{Bindings: []*karmada.ResourceBinding{b}}
			cold, err := Encode(c, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			warm, err := Encode(c, &earlier, nil)
			if err != nil {
				t.Fatal(err)
			}
			if cold.ID() != warm.ID() || (name == "nothing") != (cold.ID() == folder.ID()) {
				t.Errorf("cold it is %s, warm %s, and before %s", cold.ID(), warm.ID(), folder.ID())
			}
		})
	}
}

func TestABindingThatSomebodyRewroteIsRead(t *testing.T) {
	b := files.NewBlob([]byte("# by hand\nkind: ResourceBinding\nspec: {resource: {apiVersion: v1, kind: Secret, name: a, namespace: b}, clusters: [{name: eu}]}\n"))
	dir := files.NewFolder([]files.Entry{files.DirEntry("b", files.NewFolder([]files.Entry{files.FileEntry("a-secret.yaml", b)}))})
	s, err := Decode(files.NewFolder([]files.Entry{files.DirEntry("bindings", dir)}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Bindings[object.Ref{Kind: "Secret", Namespace: "b", Name: "a"}]; got == nil || got.Spec.Clusters[0].Name != "eu" {
		t.Errorf("it is read as %+v", got)
	}
}

// TestBindingName holds names against Karmada's own (section A.17).
func TestBindingName(t *testing.T) {
	for want, ref := range map[string]object.Ref{
		"nginx-deployment":       {Kind: "Deployment", Namespace: "edge", Name: "nginx"},
		"edge-namespace":         {Kind: "Namespace", Name: "edge"},
		"system.foo-clusterrole": {Kind: "ClusterRole", Name: "system:Foo"},
		"a.b-configmap":          {Kind: "ConfigMap", Namespace: "ns", Name: "a.b"},
	} {
		if got := BindingName(ref); got != want {
			t.Errorf("the binding of %s is %s, want %s", ref, got, want)
		}
	}
}

func TestAFileThatCannotBeReadCostsOnlyItself(t *testing.T) {
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	folder, err := Encode(Content{
		Bindings: []*karmada.ResourceBinding{binding(web, "apps/v1")},
		Releases: []Release{{Release: object.Ref{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "shop", Name: "sound"}}},
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	sound, err := Decode(folder, nil)
	if err != nil || len(sound.Unreadable) != 0 {
		t.Fatal(err, sound.Unreadable)
	}
	e, _ := folder.Lookup("bindings/shop/web-deployment.yaml")
	for _, tt := range []struct{ path, data, want string }{
		{"bindings/shop/web-deployment.yaml", "x: [", "yaml"},
		{"bindings/shop/web-deployment.yaml", "", "it is no binding: it names no object"},
		{"bindings/shop/web-deployment.yaml", "<<<<<<< ours", "cannot unmarshal"},
		{"bindings/shop/api-deployment.yaml", "as web", "it is the binding of Deployment.apps/shop/web"},
		{"bindings/web-deployment.yaml", "as web", "it is the binding of Deployment.apps/shop/web"},
		{"releases/shop/web-helmrelease.json", "[]", "cannot unmarshal"},
		{"bindings/shop/web-deployment.yaml", "missing", "not in the repository"},
		{"kept.json", "{", "unexpected end"},
		{"clusters/eu.yaml", "{waybill.dev/Held", "yaml"},
	} {
		blob := files.NewBlob([]byte(tt.data))
		switch tt.data {
		case "as web":
			blob = e.Blob
		case "missing":
			blob = files.StoredBlob(blob.ID(), func(files.ID) ([]byte, error) { return nil, fmt.Errorf("blob: %w", files.ErrMissing) })
		}
		broken := with(folder, tt.path, blob)
		for _, earlier := range []*State{nil, &sound} {
			got, err := Decode(broken, earlier)
			if err != nil || len(got.Unreadable) != 1 || got.Unreadable[0].Path != tt.path || !strings.Contains(got.Unreadable[0].Reason, tt.want) {
				t.Errorf("%s with %q: %v, unreadable are %q, want %q", tt.path, tt.data, err, got.Unreadable, tt.want)
			}
			if got.Bindings[web] == nil && tt.path != "bindings/shop/web-deployment.yaml" || len(got.Releases) != 1 {
				t.Errorf("%s with %q costs more than itself", tt.path, tt.data)
			}
		}
	}
	away := files.StoredBlob(files.NewBlob([]byte("away")).ID(), func(files.ID) ([]byte, error) { return nil, errors.New("the disk is away") })
	if _, err := Decode(with(folder, "bindings/shop/web-deployment.yaml", away), nil); err == nil || !strings.Contains(err.Error(), "the disk is away") {
		t.Errorf("what may be read the next time gives %v", err)
	}
	for name, data := range map[string]string{"last-good.json": "{", "published.json": "{", "random.json": "{}"} {
		if _, err := Decode(with(folder, name, files.NewBlob([]byte(data))), nil); err == nil || !strings.Contains(err.Error(), "git log -p waybill/state -- "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// with returns a folder with a file at a path.
func with(f *files.Folder, path string, b *files.Blob) *files.Folder {
	name, rest, below := strings.Cut(path, "/")
	old, _ := f.Lookup(name)
	entries := slices.DeleteFunc(slices.Clone(f.Entries()), func(e files.Entry) bool { return e.Name == name })
	if !below {
		return files.NewFolder(append(entries, files.FileEntry(name, b)))
	}
	if old.Dir == nil {
		old.Dir = files.NewFolder(nil)
	}
	return files.NewFolder(append(entries, files.DirEntry(name, with(old.Dir, rest, b))))
}

func TestWhereABindingStands(t *testing.T) {
	for _, tt := range []struct {
		path string
		ref  object.Ref
		want bool
	}{
		{"bindings/shop/web-deployment.yaml", object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, true},
		{"bindings/shop/web-deployment.apps.yaml", object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, true},
		{"bindings/shop/web-deployment.apps-2-2.yaml", object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, true},
		{"bindings/shop/web-deployment.yaml", object.Ref{Group: "apps", Kind: "Deployment", Namespace: "other", Name: "web"}, false},
		{"bindings/shop/web-deployment.yaml", object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "we"}, false},
		{"bindings/shop/web-deployment.batch.yaml", object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, false},
		{"bindings/shop/web-deployment", object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, false},
		{"bindings/_cluster/system.foo-clusterrole.yaml", object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "system:Foo"}, true},
		{"clusters/shop/web-deployment.yaml", object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, false},
	} {
		if got := IsBindingOf(tt.path, tt.ref); got != tt.want {
			t.Errorf("%s is the binding of %s: %t, want %t", tt.path, tt.ref, got, tt.want)
		}
	}
}
