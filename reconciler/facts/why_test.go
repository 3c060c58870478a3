package facts

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/twin"
)

// A plan is kept for a while after somebody asked it last, and not longer: it holds all that clusters have.
func TestHowLongAPlanIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		repo := twin.New("fleet")
		r := &Reader{Reconciler: &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: repo, Target: repo, Version: "test", Now: time.Now}, Rev: "main"}
		repo.Write("main", "a fleet", twin.Tree{"fleet.yaml": twin.File([]byte("apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Push}\n"))}.Folder())
		if _, err := r.Reconciler.Publish(t.Context(), "main"); err != nil {
			t.Fatal(err)
		}
		f, err := r.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		asks := func() {
			t.Helper()
			if _, _, err := r.Explain(t.Context(), f, object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}); err != nil {
				t.Fatal(err)
			}
		}
		passes := func(d time.Duration, isKept bool) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			r.why.mu.Lock()
			defer r.why.mu.Unlock()
			if is := r.why.plan != nil; is != isKept {
				t.Errorf("after %s it is kept: %t", d, is)
			}
		}
		asks()
		passes(planKept-time.Second, true)
		asks()
		passes(planKept-time.Second, true)
		passes(2*time.Second, false)
		asks()
		passes(time.Second, true)
		passes(planKept, false)
	})
}
