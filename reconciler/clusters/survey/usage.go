package survey

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/observation"
)

// usage is the nodes and pods of a cluster, as far as they count. Watches fill it while it is
// summed up.
type usage struct {
	mu     sync.Mutex
	of     observation.Usage
	synced map[string]bool                // by resource: all of it is here
	banned map[string]bool                // by resource: it may not be listed
	shared map[string]observation.Amounts // requests, by what they are
	room   *observation.Room              // nil: it is not summed up since it changed
}

func newUsage() *usage {
	return &usage{
		of:     observation.Usage{Nodes: map[string]observation.Node{}, Pods: map[string]observation.Pod{}},
		synced: map[string]bool{}, banned: map[string]bool{}, shared: map[string]observation.Amounts{},
	}
}

// The resources that count.
const (
	nodes = "nodes"
	pods  = "pods"
)

// sum sums up. Refused says what may not be listed; the room is nil where it is not known.
func (u *usage) sum(models []karmada.ResourceModel) (room *observation.Room, refused string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.banned) > 0 {
		what := strings.Join(slices.Sorted(maps.Keys(u.banned)), " and ")
		return nil, fmt.Sprintf("the credential may not list and watch %s, so that its room is not known", what)
	}
	if !u.synced[nodes] || !u.synced[pods] {
		return nil, ""
	}
	if u.room == nil {
		r := u.of.Room(models)
		u.room = &r
	}
	return u.room, ""
}

// ended notes how listing and watching a resource ended: whether it was refused.
func (u *usage) ended(resource string, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.banned, resource)
	if isRefused(err) {
		u.banned[resource] = true
	}
}

// stripped is what is kept of a node or a pod.
type stripped struct {
	key  string
	node *observation.Node
	pod  *observation.Pod
}

// strip keeps what counts of a node or a pod.
func strip(o any) (any, error) {
	switch o := o.(type) {
	case stripped:
		return o, nil
	case *corev1.Node:
		n := observation.NodeOf(o)
		return stripped{key: o.Name, node: &n}, nil
	case *corev1.Pod:
		p := observation.PodOf(o)
		return stripped{key: o.Namespace + "/" + o.Name, pod: &p}, nil
	case cache.DeletedFinalStateUnknown:
		return strip(o.Obj)
	}
	return nil, fmt.Errorf("a %T is neither a node nor a pod", o)
}

// put files a node or a pod.
func (u *usage) put(s stripped) {
	if s.node != nil {
		if was, ok := u.of.Nodes[s.key]; !ok || was.Ready != s.node.Ready || !maps.Equal(was.Allocatable, s.node.Allocatable) {
			u.of.Nodes[s.key], u.room = *s.node, nil
		}
		return
	}
	was, ok := u.of.Pods[s.key]
	if ok && was.Node == s.pod.Node && was.Ended == s.pod.Ended && maps.Equal(was.Requests, s.pod.Requests) {
		return
	}
	id := fmt.Sprint(s.pod.Requests) // in the order of names
	if _, known := u.shared[id]; !known {
		u.shared[id] = s.pod.Requests
	}
	s.pod.Requests = u.shared[id]
	u.of.Pods[s.key], u.room = *s.pod, nil
}

// kept is the nodes, or the pods, of a cluster: what a reflector fills.
type kept struct {
	*usage

	resource string
}

// Transformer implements cache.TransformingStore.
func (kept) Transformer() cache.TransformFunc { return strip }

// Add implements cache.ReflectorStore.
func (k kept) Add(o any) error { return k.Update(o) }

// Update implements cache.ReflectorStore.
func (k kept) Update(o any) error {
	s, err := strip(o)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.put(s.(stripped))
	return nil
}

// Delete implements cache.ReflectorStore.
func (k kept) Delete(o any) error {
	s, err := strip(o)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	key := s.(stripped).key
	if k.resource == nodes {
		delete(k.of.Nodes, key)
	} else {
		delete(k.of.Pods, key)
	}
	k.room = nil
	return nil
}

// Replace implements cache.ReflectorStore.
func (k kept) Replace(all []any, _ string) error {
	list := make([]stripped, len(all))
	for i, o := range all {
		s, err := strip(o)
		if err != nil {
			return err
		}
		list[i] = s.(stripped)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.resource == nodes {
		k.of.Nodes = make(map[string]observation.Node, len(list))
	} else {
		k.of.Pods, k.shared = make(map[string]observation.Pod, len(list)), map[string]observation.Amounts{}
	}
	for _, s := range list {
		k.put(s)
	}
	k.room, k.synced[k.resource] = nil, true
	delete(k.banned, k.resource)
	return nil
}

// Resync implements cache.ReflectorStore.
func (kept) Resync() error { return nil }
