package survey

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/waybill-dev/waybill/reconciler/observation"
)

// usage is the nodes and pods of an API server, as far as they count. Watches fill it while it is
// summed up.
type usage struct {
	mu     sync.Mutex
	of     observation.Usage
	labels map[string]labels.Set          // of nodes, by their names, where virtual clusters select by them
	synced map[string]bool                // by resource: all of it is here
	banned map[string]bool                // by resource: it may not be listed
	shared map[string]observation.Amounts // requests, by what they are
	// rooms are those of the clusters on the API server; nil: they are not summed up since something
	// changed.
	rooms map[*part]*observation.Room
	parts map[*part]bool
	// replicas are the pods of Deployments; nil where nobody asks for them.
	replicas map[string]observation.Replica
}

// newUsage makes one for an API server of one cluster.
func newUsage() *usage {
	return &usage{
		of:     observation.Usage{Nodes: map[string]observation.Node{}, Pods: map[string]observation.Pod{}},
		synced: map[string]bool{}, banned: map[string]bool{}, shared: map[string]observation.Amounts{}, parts: map[*part]bool{},
	}
}

// newSharedUsage makes one for an API server that has virtual clusters.
func newSharedUsage() *usage {
	u := newUsage()
	u.labels = map[string]labels.Set{}
	return u
}

// The resources that count.
const (
	nodes = "nodes"
	pods  = "pods"
)

// isKnown reports whether there is something to say of nodes and pods: all are here, or they may
// not be listed.
func (u *usage) isKnown() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.banned) > 0 || u.synced[nodes] && u.synced[pods]
}

// sum sums up what is a cluster's. Refused says what may not be listed; the room is nil where it is
// not known.
func (u *usage) sum(p *part) (room *observation.Room, refused string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.banned) > 0 {
		what := strings.Join(slices.Sorted(maps.Keys(u.banned)), " and ")
		return nil, fmt.Sprintf("the credential may not list and watch %s, so that its room is not known", what)
	}
	if !u.synced[nodes] || !u.synced[pods] {
		return nil, ""
	}
	if u.rooms == nil {
		u.rooms = map[*part]*observation.Room{}
		for p, counted := range u.counted() {
			room := counted.Room(p.cluster.Models)
			u.rooms[p] = &room
		}
	}
	return u.rooms[p], ""
}

// counted is what counts of the clusters. To a virtual cluster its nodes count, with whatever runs
// there, because it takes room whoever sent it; of the pods that wait for a node, those in
// its namespaces. To others all counts.
func (u *usage) counted() map[*part]*observation.Usage {
	all, on := map[*part]*observation.Usage{}, map[string][]*observation.Usage{}
	var virtual []*part
	for p := range u.parts {
		if all[p] = &u.of; p.cluster.Virtual == nil {
			continue
		}
		own := &observation.Usage{Nodes: map[string]observation.Node{}, Pods: map[string]observation.Pod{}}
		all[p], virtual = own, append(virtual, p)
		selector := labels.SelectorFromSet(p.cluster.Virtual.Selector)
		for name, n := range u.of.Nodes {
			if selector.Matches(u.labels[name]) {
				own.Nodes[name], on[name] = n, append(on[name], own)
			}
		}
	}
	if len(virtual) == 0 {
		return all
	}
	for name, pod := range u.of.Pods {
		for _, own := range on[pod.Node] {
			own.Pods[name] = pod
		}
		if pod.Node != "" {
			continue
		}
		namespace, _, _ := strings.Cut(name, "/")
		for _, p := range virtual {
			if p.cluster.Virtual.Mapped(namespace) {
				all[p].Pods[name] = pod
			}
		}
	}
	return all
}

// join has a cluster count, and leave not any more.
func (u *usage) join(p *part) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.parts[p], u.rooms = true, nil
}

func (u *usage) leave(p *part) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.parts, p)
	delete(u.rooms, p)
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
	key    string
	node   *observation.Node
	labels labels.Set // of the node
	pod    *observation.Pod
	// replica is what the pod is of a Deployment; nil if it is none, or nobody asks.
	replica *observation.Replica
}

// strip keeps what counts of a node or a pod.
func (k kept) strip(o any) (any, error) {
	switch o := o.(type) {
	case stripped:
		return o, nil
	case *corev1.Node:
		n := observation.NodeOf(o)
		return stripped{key: o.Name, node: &n, labels: o.Labels}, nil
	case *corev1.Pod:
		p := observation.PodOf(o)
		s := stripped{key: o.Namespace + "/" + o.Name, pod: &p}
		if k.replicas != nil {
			if r, ok := observation.ReplicaOf(o); ok {
				s.replica = &r
			}
		}
		return s, nil
	case cache.DeletedFinalStateUnknown:
		return k.strip(o.Obj)
	}
	return nil, fmt.Errorf("a %T is neither a node nor a pod", o)
}

// put files a node or a pod.
func (u *usage) put(s stripped) {
	if s.node != nil {
		if was, ok := u.of.Nodes[s.key]; !ok || was.Ready != s.node.Ready || !maps.Equal(was.Allocatable, s.node.Allocatable) {
			u.of.Nodes[s.key], u.rooms = *s.node, nil
		}
		if u.labels != nil && !maps.Equal(u.labels[s.key], s.labels) {
			u.labels[s.key], u.rooms = s.labels, nil
		}
		return
	}
	u.putReplica(s)
	was, ok := u.of.Pods[s.key]
	if ok && was.Node == s.pod.Node && was.Ended == s.pod.Ended && maps.Equal(was.Requests, s.pod.Requests) {
		return
	}
	id := fmt.Sprint(s.pod.Requests) // in the order of names
	if _, known := u.shared[id]; !known {
		u.shared[id] = s.pod.Requests
	}
	s.pod.Requests = u.shared[id]
	u.of.Pods[s.key], u.rooms = *s.pod, nil
}

// kept is the nodes, or the pods, of a cluster: what a reflector fills.
type kept struct {
	*usage

	resource string
}

// Transformer implements cache.TransformingStore.
func (k kept) Transformer() cache.TransformFunc { return k.strip }

// Add implements cache.ReflectorStore.
func (k kept) Add(o any) error { return k.Update(o) }

// Update implements cache.ReflectorStore.
func (k kept) Update(o any) error {
	s, err := k.strip(o)
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
	s, err := k.strip(o)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	key := s.(stripped).key
	if k.resource == nodes {
		delete(k.of.Nodes, key)
		delete(k.labels, key)
	} else {
		delete(k.of.Pods, key)
		delete(k.replicas, key)
	}
	k.rooms = nil
	return nil
}

// Replace implements cache.ReflectorStore.
func (k kept) Replace(all []any, _ string) error {
	list := make([]stripped, len(all))
	for i, o := range all {
		s, err := k.strip(o)
		if err != nil {
			return err
		}
		list[i] = s.(stripped)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.resource == nodes {
		k.of.Nodes = make(map[string]observation.Node, len(list))
		clear(k.labels)
	} else {
		k.of.Pods, k.shared = make(map[string]observation.Pod, len(list)), map[string]observation.Amounts{}
		clear(k.replicas)
	}
	for _, s := range list {
		k.put(s)
	}
	k.rooms, k.synced[k.resource] = nil, true
	delete(k.banned, k.resource)
	return nil
}

// Resync implements cache.ReflectorStore.
func (kept) Resync() error { return nil }
