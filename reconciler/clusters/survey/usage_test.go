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
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/virtual"
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
	u, all := newUsage(), &part{}
	u.join(all)
	of := map[string]kept{nodes: {u, nodes}, pods: {u, pods}}
	transformed, err := of[pods].strip(aPod("p", "n", "1"))
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
		{func() error { return of[nodes].Replace([]any{aNode("k", "1")}, "9") }, "1 1 1", false},
		{func() error { return of[pods].Replace(nil, "9") }, "1 0 0", false},
	} {
		before, _ := u.sum(all)
		if err := tt.tell(); err != nil {
			t.Fatal(err)
		}
		after, refused := u.sum(all)
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
	u, all := newUsage(), &part{}
	u.join(all)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", nil)
	u.ended(pods, forbidden)
	u.ended(nodes, forbidden)
	if room, refused := u.sum(all); room != nil || !strings.Contains(refused, "list and watch nodes and pods") {
		t.Errorf("%v: %q", room, refused)
	}
	u.ended(nodes, nil)
	if _, refused := u.sum(all); !strings.Contains(refused, "list and watch pods") {
		t.Errorf("%q", refused)
	}
	for _, k := range []kept{{u, nodes}, {u, pods}} {
		if err := k.Replace(nil, "1"); err != nil {
			t.Fatal(err)
		}
	}
	if room, refused := u.sum(all); room == nil || refused != "" {
		t.Errorf("%v: %q", room, refused)
	}
}

// TestAVirtualClusterIsItsNodes counts of an API server what is each virtual cluster's: what runs on
// its nodes, whoever sent it, and what waits in its namespaces. To the host all counts.
func TestAVirtualClusterIsItsNodes(t *testing.T) {
	u := newSharedUsage()
	join := func(m *virtual.Mapping) *part {
		p := &part{cluster: Cluster{Virtual: m}}
		u.join(p)
		return p
	}
	host := join(nil)
	v := join(&virtual.Mapping{Cluster: "v", Host: "h", Suffix: "-v", Selector: map[string]string{"at": "v"}})
	waits := func(name, namespace string) *corev1.Pod {
		p := aPod(name, "", "4")
		p.Namespace = namespace
		return p
	}
	at := func(o *corev1.Node, where string) *corev1.Node {
		o.Labels = map[string]string{"at": where}
		return o
	}
	of := map[string]kept{nodes: {u, nodes}, pods: {u, pods}}
	for _, err := range []error{
		of[nodes].Replace([]any{at(aNode("n", "8"), "v"), at(aNode("m", "4"), "w")}, "1"),
		of[pods].Replace([]any{aPod("here", "n", "1"), aPod("elsewhere", "m", "2"), waits("ours", "shop-v"), waits("theirs", "shop-w")}, "1"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w := join(&virtual.Mapping{Cluster: "w", Host: "h", Suffix: "-w", Selector: map[string]string{"at": "w"}}) // it comes later
	holds := func(when string, p *part, want string) {
		t.Helper()
		room, _ := u.sum(p)
		r := room.Resources
		offered, allocated, allocating := r.Allocatable["cpu"], r.Allocated["cpu"], r.Allocating["cpu"]
		if got := offered.String() + " " + allocated.String() + " " + allocating.String(); got != want {
			t.Errorf("%s: allocatable, allocated and allocating are %s, want %s", when, got, want)
		}
	}
	holds("the host", host, "12 3 8")
	holds("v", v, "8 1 4")
	holds("w", w, "4 2 4")
	if err := of[nodes].Update(at(aNode("m", "4"), "v")); err != nil {
		t.Fatal(err)
	}
	holds("v, with another node", v, "12 3 4")
	holds("w, without a node", w, "0 0 4")
	u.leave(v)
	holds("the host, when v has left", host, "12 3 8")
}

// TestWhoIsWatchedTogether has clusters share what is watched where they are on one API server, and reached by one credential.
func TestWhoIsWatchedTogether(t *testing.T) {
	reached := func(change func(*Cluster)) string {
		t.Helper()
		c := Cluster{Name: "v", Host: "h", Config: &rest.Config{Host: "https://h", ExecProvider: &api.ExecConfig{Command: "token", Args: []string{"--role", "reader"}}}}
		change(&c)
		key, err := keyOf(&c)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	one := reached(func(*Cluster) {})
	if w := reached(func(c *Cluster) { c.Name = "w" }); w != one {
		t.Error("another cluster of that host is watched apart")
	}
	for name, change := range map[string]func(*Cluster){
		"another host":               func(c *Cluster) { c.Host = "g" },
		"no host":                    func(c *Cluster) { c.Host = "" },
		"another address":            func(c *Cluster) { c.Config.Host = "https://g" },
		"another token":              func(c *Cluster) { c.Config.BearerToken = "t" },
		"another user":               func(c *Cluster) { c.Config.Username = "ann" },
		"another certificate":        func(c *Cluster) { c.Config.CertData = []byte("c") },
		"another CA":                 func(c *Cluster) { c.Config.CAData = []byte("c") },
		"no CA":                      func(c *Cluster) { c.Config.Insecure = true },
		"another impersonated user":  func(c *Cluster) { c.Config.Impersonate.UserName = "ann" },
		"another command":            func(c *Cluster) { c.Config.ExecProvider.Command = "other" },
		"other arguments":            func(c *Cluster) { c.Config.ExecProvider.Args = []string{"--role", "writer"} },
		"no command":                 func(c *Cluster) { c.Config.ExecProvider = nil },
		"one that counts what waits": func(c *Cluster) { c.Watch = func() *deschedule.Watch { return nil } },
	} {
		if reached(change) == one {
			t.Errorf("%s: it is watched together", name)
		}
	}
	if a, b := reached(func(c *Cluster) { c.Host = "" }), reached(func(c *Cluster) { c.Name, c.Host = "w", "" }); a == b {
		t.Error("two clusters that share no API server are watched together")
	}
}
