package registration_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/registration"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/dir"
)

// fleet registers us-1, eu-1, to which nothing is pushed, and bad, which says no syncMode; neither a policy nor a Cluster of another
// group registers any.
const fleet = `
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: us-1}, spec: {syncMode: Push, apiEndpoint: "https://us-1", secretRef: {namespace: a, name: b}}}
---
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: eu-1}, spec: {syncMode: Pull}}
---
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: bad}, spec: {}}
---
{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, metadata: {name: other}}
---
{apiVersion: cluster.karmada.io/v1alpha1, kind: Something, metadata: {name: thing}}
`

func namesOf(all []*karmada.Cluster) string {
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	return strings.Join(names, " ")
}

// TestRegistered has the clusters that objects register, those with an error among what is written alone, and those that somebody names.
func TestRegistered(t *testing.T) {
	objects := object.Decode("fleet.yaml", []byte(fleet)).Objects
	var written []string
	for _, o := range registration.Written(objects) {
		written = append(written, o.Ref().Name)
	}
	if got := strings.Join(written, " "); got != "us-1 eu-1 bad" {
		t.Errorf("written are %s", got)
	}
	all := registration.Registered(objects, nil)
	if got := namesOf(all); got != "eu-1 us-1" {
		t.Errorf("registered are %s", got)
	}
	for _, tt := range []struct{ names, want, err string }{
		{"", "us-1", ""},
		{"us-1 eu-1", "eu-1 us-1", ""},
		{"eu-1", "eu-1", ""},
		{"eu-1 bad", "", "no cluster \"bad\" is registered by what is published; `waybill get clusters` lists them"},
	} {
		got, err := registration.Pushed(all, strings.Fields(tt.names))
		if is := namesOf(got); is != tt.want || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
			t.Errorf("%q: %s, %v", tt.names, is, err)
		}
	}
	if got, err := registration.Pushed(all[:1], nil); err == nil || !strings.Contains(err.Error(), "name the clusters to apply to") {
		t.Errorf("nothing is pushed to %s: %v", namesOf(got), err)
	}
	if got, err := registration.Named(all, nil, "somebody"); err != nil || len(got) > 0 {
		t.Errorf("nobody is named, and it is %s, %v", namesOf(got), err)
	}
}

// TestDiff has a file that comes, one that changes and one that goes, as git takes them.
func TestDiff(t *testing.T) {
	for want, is := range map[string][2][]byte{
		"--- /dev/null\n+++ b/a/c.yaml\n@@ -0,0 +1,1 @@\n+x\n":      {nil, []byte("x\n")},
		"--- a/a/c.yaml\n+++ b/a/c.yaml\n@@ -1,1 +1,1 @@\n-x\n+y\n": {[]byte("x\n"), []byte("y\n")},
		"--- a/a/c.yaml\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n":      {[]byte("x\n"), nil},
	} {
		if got := registration.Diff("a/c.yaml", is[0], is[1]); got != want {
			t.Errorf("it is\n%s\nwant\n%s", got, want)
		}
	}
}

// TestWith has one more file in a snapshot, in the order of paths, and all others as they are.
func TestWith(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a.yaml", "c.yaml"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	src, err := dir.Snapshot(root)
	if err != nil {
		t.Fatal(err)
	}
	s := registration.With(src, "b.yaml", []byte("new"))
	var paths []string
	for _, f := range s.Files() {
		paths = append(paths, f.Path)
	}
	if !slices.Equal(paths, []string{"a.yaml", "b.yaml", "c.yaml"}) || s.Files()[1].Size != 3 || len(src.Files()) != 2 {
		t.Errorf("it has %v", paths)
	}
	for path, want := range map[string]string{"b.yaml": "new", "c.yaml": "c.yaml"} {
		if got, err := s.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", path, got, err)
		}
	}
}
