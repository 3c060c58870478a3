package autoscale_test

import (
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/reconciler/plan/autoscale"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

const bounds = "spec:\n  maxReplicas: 7\n  minReplicas: 2\n"

const fleet = `{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: eu}, spec: {syncMode: Push}}
---
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: us}, spec: {syncMode: Push}}
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: web, namespace: shop}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, maxReplicas: 9}
`

// Replicas stay where they are: in Git if a manifest there says some, and, of one that cannot be read, if nothing that scales it is there.
// What cannot be read must neither take replicas from an autoscaler nor leave them to one that is not there.
func TestWhereReplicasAre(t *testing.T) {
	set, objects, diags := policies.Load(object.Decode("all.yaml", []byte(fleet)).Objects, nil)
	if len(diags)+len(objects) > 0 {
		t.Fatal(diags, objects)
	}
	config := render.DefaultConfig()
	s := &autoscale.Scaler{
		Located: set.Autoscalers[0],
		Target:  object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
	}
	const unread = "{no manifest"
	made := tree.Path(s.Ref())
	for _, tt := range []struct {
		name, web string
		isScaled  bool
		inGit     bool
	}{
		{"nothing is there", "", false, false},
		{"it says replicas", "spec:\n  replicas: 3\n", false, true},
		{"it says none", "spec:\n  paused: true\n", true, false},
		{"it has no spec", "kind: Deployment\n", false, false},
		{"it cannot be read, and nothing scales it", unread, false, true},
		{"it cannot be read, and something scales it", unread, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			built := twin.Tree{}
			if tt.web != "" {
				built[tree.Path(s.Target)] = twin.File([]byte(tt.web))
			}
			if tt.isScaled {
				built[made] = twin.File([]byte(bounds))
			}
			held := map[string]tree.Published{"eu": {Built: built.Folder()}, "us": {Built: built.Folder()}}
			p := autoscale.Branches(&config.Publish, index.Of(set, nil, &index.Memo{}), held)
			for _, c := range []string{"eu", "us"} { // the second one is told of what was read for the first
				if got := p.Says(s, c); got != tt.inGit {
					t.Errorf("in %s Git says replicas: %v", c, got)
				}
			}
			delete(held, "us")
			held["gone"] = held["eu"]
			for _, c := range []string{"us", "gone"} { // not published yet, and no longer registered
				if p.Says(s, c) {
					t.Errorf("in %s Git says replicas", c)
				}
			}
		})
	}
}

// A manifest that clusters share is read once.
func TestManifestsAreReadOnce(t *testing.T) {
	reads := 0
	b := files.NewBlob([]byte(bounds))
	b.Stored(func(files.ID) ([]byte, error) {
		reads++
		return []byte(bounds), nil
	})
	var m autoscale.Manifests
	for range 3 {
		if is, known := m.Bounds(b); !known || is.Min != 2 || is.Max != 7 {
			t.Errorf("the bounds are %v, %v", is, known)
		}
	}
	for _, half := range []string{"spec:\n  maxReplicas: 7\n", "spec:\n  minReplicas: 2\n", "spec: {}\n", "{no manifest"} {
		if is, known := m.Bounds(files.NewBlob([]byte(half))); known {
			t.Errorf("of %q bounds are known: %v", half, is)
		}
	}
	if _, known := m.Bounds(nil); known || reads != 1 {
		t.Errorf("bounds of nothing are known: %v; it was read %d times", known, reads)
	}
}
