package survey

import (
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

func aNode(name, cpu string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}}
}

func aPod(name, node, cpu string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "a"}, Spec: corev1.PodSpec{
		NodeName: node, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}}},
	}}
}

// TestUsageIsWhatWatchesTell follows the room of a cluster from event to event. It is summed up
// anew only when something that counts changed.
func TestUsageIsWhatWatchesTell(t *testing.T) {
	u := newUsage()
	of := map[string]kept{nodes: {u, nodes}, pods: {u, pods}}
	transformed, err := strip(aPod("p", "n", "1"))
	if err != nil {
		t.Fatal(err)
	}
	heartbeat := aNode("n", "8")
	heartbeat.ResourceVersion = "2"
	for i, tt := range []struct {
		tell func() error
		want string // allocatable and allocated CPU, and pods
		same bool
	}{
		{func() error { return of[nodes].Replace([]any{aNode("n", "8")}, "1") }, "unknown", true},
		{func() error { return of[pods].Replace([]any{transformed}, "1") }, "8 1 1", false},
		{func() error { return of[nodes].Update(heartbeat) }, "8 1 1", true},
		{func() error { return of[pods].Update(aPod("p", "n", "1")) }, "8 1 1", true},
		{func() error { return of[pods].Add(aPod("q", "n", "2")) }, "8 3 2", false},
		{func() error { return of[pods].Update(aPod("q", "n", "1")) }, "8 2 2", false},
		{func() error { return of[pods].Delete(cache.DeletedFinalStateUnknown{Obj: aPod("q", "n", "1")}) }, "8 1 1", false},
		{func() error { return of[nodes].Add(aNode("m", "2")) }, "10 1 1", false},
		{func() error { return of[nodes].Delete(aNode("n", "8")) }, "2 1 1", false},
		{func() error { return of[pods].Replace(nil, "9") }, "2 0 0", false},
	} {
		before, _ := u.sum(nil)
		if err := tt.tell(); err != nil {
			t.Fatal(err)
		}
		after, refused := u.sum(nil)
		got := "unknown"
		if after != nil {
			r := after.Resources
			got = strings.Join([]string{r.Allocatable.Cpu().String(), r.Allocated.Cpu().String(), strconv.FormatInt(r.Allocated.Pods().Value(), 10)}, " ")
		}
		if got != tt.want || (before == after) != tt.same || refused != "" {
			t.Errorf("event %d: %s, want %s; summed up anew: %t", i+1, got, tt.want, before != after)
		}
	}
	if err := of[pods].Add(&corev1.Service{}); err == nil {
		t.Error("a Service is taken for a pod")
	}
}

func TestWhatMayNotBeListedIsNamed(t *testing.T) {
	u := newUsage()
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", nil)
	u.ended(pods, forbidden)
	u.ended(nodes, forbidden)
	if room, refused := u.sum(nil); room != nil || !strings.Contains(refused, "list and watch nodes and pods") {
		t.Errorf("%v: %q", room, refused)
	}
	u.ended(nodes, nil)
	if _, refused := u.sum(nil); !strings.Contains(refused, "list and watch pods") {
		t.Errorf("%q", refused)
	}
	for _, k := range []kept{{u, nodes}, {u, pods}} {
		if err := k.Replace(nil, "1"); err != nil {
			t.Fatal(err)
		}
	}
	if room, refused := u.sum(nil); room == nil || refused != "" {
		t.Errorf("%v: %q", room, refused)
	}
}
