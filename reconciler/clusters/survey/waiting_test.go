package survey

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/observation"
	"github.com/waybill-dev/waybill/render/object"
)

// aReplica is a pod of the Deployment web, which waits for a node unless it has one.
func aReplica(namespace, name, node string) *corev1.Pod {
	yes := true
	p := aPod(name, node, "1")
	p.Namespace, p.Labels = namespace, map[string]string{"pod-template-hash": "1"}
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-1", Controller: &yes}}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if node == "" {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	}
	return p
}

// TestReplicasThatWaitAreCounted follows the pods of a virtual cluster from event to event.
func TestReplicasThatWaitAreCounted(t *testing.T) {
	u := newSharedUsage()
	ask := func(asked *deschedule.Watch) *observation.Waiting {
		m := &virtual.Mapping{Cluster: "v", Host: "h", Suffix: "-v"}
		return u.waiting(&part{cluster: Cluster{Virtual: m, Watch: func() *deschedule.Watch { return asked }}})
	}
	u.replicas = map[string]observation.Replica{}
	k := kept{u, pods}
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	asked := &deschedule.Watch{Threshold: time.Minute, Workloads: []object.Ref{web}}
	if ask(asked) != nil {
		t.Error("nobody listed pods, and it is known how many wait")
	}
	for i, tt := range []struct {
		tell func() error
		want string // pods, ready ones, those that wait
	}{
		{func() error {
			return k.Replace([]any{aReplica("shop-v", "a", "n"), aReplica("shop-v", "b", "n"), aReplica("shop-w", "c", "")}, "1")
		}, "none"}, // what waits is another cluster's
		{func() error { return k.Add(aReplica("shop-v", "d", "")) }, "3 2 [shop-v/d]"},
		{func() error { return k.Update(aReplica("shop-v", "d", "n")) }, "none"},
		{func() error { return k.Add(aReplica("shop-v", "e", "")) }, "4 3 [shop-v/e]"},
		{func() error { return k.Delete(aReplica("shop-v", "a", "n")) }, "3 2 [shop-v/e]"},
		{func() error { return k.Update(aPod("e", "", "1")) }, "3 2 [shop-v/e]"}, // of another namespace
		{func() error { return k.Replace([]any{aReplica("shop-v", "f", "")}, "9") }, "1 0 [shop-v/f]"},
	} {
		if err := tt.tell(); err != nil {
			t.Fatal(err)
		}
		got := "none"
		if r, ok := ask(asked).Workloads[web]; ok {
			got = fmt.Sprint(r.Pods, r.Ready, r.Waiting)
		}
		if got != tt.want {
			t.Errorf("event %d: %s, want %s", i+1, got, tt.want)
		}
	}
	if w := ask(nil); w == nil || len(w.Workloads) > 0 {
		t.Errorf("nobody asks, and %v wait", w)
	}
	other := &deschedule.Watch{Threshold: time.Minute, Workloads: []object.Ref{{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "other"}}}
	if w := ask(other); len(w.Workloads) > 0 {
		t.Errorf("of others %v wait", w)
	}
	if u.ended(pods, apierrors.NewForbidden(schema.GroupResource{Resource: pods}, "", nil)); ask(asked) != nil {
		t.Error("nobody may list pods any more, and it is known how many wait")
	}
}

// TestNothingIsKeptWhereNobodyAsks holds that replicas cost nothing then.
func TestNothingIsKeptWhereNobodyAsks(t *testing.T) {
	u := newUsage()
	if err := (kept{u, pods}).Replace([]any{aReplica("shop", "a", "")}, "1"); err != nil {
		t.Fatal(err)
	}
	if u.replicas != nil {
		t.Errorf("%v are kept", u.replicas)
	}
	if w := u.waiting(&part{}); w != nobody {
		t.Errorf("%v is seen", w)
	}
}
