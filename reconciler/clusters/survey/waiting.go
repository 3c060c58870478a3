package survey

import (
	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/reconciler/observation"
	"github.com/waybill-dev/waybill/render/object"
)

// nobody is what is seen where nobody asks for replicas that wait.
var nobody = &observation.Waiting{}

// putReplica files what a pod is of a Deployment, where that is asked for.
func (u *usage) putReplica(s stripped) {
	switch {
	case u.replicas == nil:
	case s.replica != nil:
		u.replicas[s.key] = *s.replica
	default:
		delete(u.replicas, s.key)
	}
}

// waiting counts the replicas of those workloads that are asked for of which some wait; nil where
// pods are not known.
func (u *usage) waiting(p *part) *observation.Waiting {
	var asked *deschedule.Watch
	if p.cluster.Watch != nil {
		asked = p.cluster.Watch()
	}
	if asked == nil {
		return nobody
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.synced[pods] || u.banned[pods] {
		return nil
	}
	w := &observation.Waiting{Threshold: asked.Threshold, Workloads: map[object.Ref]observation.Replicas{}}
	waiting := map[string][]string{} // pods, by Deployment
	for pod, r := range u.replicas {
		if r.Waits {
			waiting[r.Of] = append(waiting[r.Of], pod)
		}
	}
	if len(waiting) == 0 {
		return w
	}
	wanted := map[string]object.Ref{}
	for _, ref := range asked.Workloads {
		here := p.cluster.Virtual.Ref(ref)
		if of := here.Namespace + "/" + here.Name; waiting[of] != nil {
			wanted[of] = ref
		}
	}
	for of, ref := range wanted {
		w.Workloads[ref] = u.counts(of, waiting[of])
	}
	return w
}

// counts adds up the pods of a Deployment, of which some wait.
func (u *usage) counts(of string, waiting []string) observation.Replicas {
	n := observation.Replicas{APIVersion: "apps/v1", Waiting: waiting}
	for _, r := range u.replicas {
		if r.Of != of {
			continue
		}
		n.Pods++
		if r.Ready {
			n.Ready++
		}
	}
	return n
}
