package facts

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/twin"
)

// same reports that two maps are one.
func same[M ~map[K]V, K comparable, V any](a, b M) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// What a status branch says of objects is read once as long as it says that, be it a namespace of it or all; objects that are well are
// one where they have the same in common; and no more is remembered than there may be.
func TestWhatIsRememberedOfObjects(t *testing.T) {
	repo := twin.New("fleet")
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	recon := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: repo, Target: repo, Version: "test", Now: func() time.Time { return now }}
	repo.Write("main", "a fleet", twin.Tree{"fleet.yaml": twin.File([]byte("apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Push}\n"))}.Folder())
	if _, err := recon.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	names := []string{"a/one", "a/two", "b/three"}
	say := func(unwell string) {
		head, _, err := repo.Branch(t.Context(), "waybill/cluster/eu")
		if err != nil {
			t.Fatal(err)
		}
		c := status.Cluster{Summary: status.Summary{Name: "eu", Commit: head.Commit, Verdict: status.Verdict{Reason: status.Applied}, Since: now}, Objects: map[object.Ref]*status.Object{}}
		for _, name := range names {
			o := &status.Object{Applied: status.Application{Phase: status.PhaseApplied, Commit: head.Commit, Since: now}, Health: status.Health{State: karmada.ResourceHealthy, Since: now}}
			if name == unwell {
				o.Health.State = karmada.ResourceUnhealthy
			}
			namespace, name, _ := strings.Cut(name, "/")
			c.Objects[object.Ref{Group: "apps", Kind: "Deployment", Namespace: namespace, Name: name}] = o
		}
		repo.Write("waybill/status/eu", "status", status.Summarize(c))
	}
	r := &Reader{Reconciler: recon, Rev: "main"}
	ref := func(namespace, name string) object.Ref {
		return object.Ref{Group: "apps", Kind: "Deployment", Namespace: namespace, Name: name}
	}

	say("a/two")
	f, err := r.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := f.Cluster("eu")
	of := r.Objects(m, "a")
	if len(of) != 2 || !same(of, r.Objects(m, "a")) || r.objects.count != 3 {
		t.Errorf("of a namespace it says %v, and %d are remembered", of, r.objects.count)
	}
	all := r.Everything(m)
	if len(all) != 3 || !same(all, r.Objects(m, "a")) || !same(all, r.Objects(m, "b")) || !same(all, r.Everything(m)) || r.objects.count != 4 {
		t.Errorf("of all it says %v, and %d are remembered", all, r.objects.count)
	}
	if all[ref("a", "one")] != all[ref("b", "three")] || all[ref("a", "one")] == all[ref("a", "two")] || all[ref("a", "two")].Well() || !all[ref("a", "one")].Well() {
		t.Error("what is well is not one, or what is not well is")
	}

	say("b/three")
	r.Renew()
	if f, err = r.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	m = f.Cluster("eu")
	if o := r.Objects(m, "b")[ref("b", "three")]; o == nil || o.Well() || r.objects.count != 2 {
		t.Errorf("it says something else now, and that is %+v; %d are remembered", o, r.objects.count)
	}

	r.objects.count = mostObjects + 1
	r.objects.known["us"] = &said{count: mostObjects}
	if r.Everything(m); r.objects.count != 4 || len(r.objects.known) != 1 {
		t.Errorf("with too much of it %d are remembered, of %d clusters", r.objects.count, len(r.objects.known))
	}
}
