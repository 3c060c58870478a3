package management

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/waybill-dev/waybill/reconciler/events"
)

// Events tells what happens to clusters as Events of Kubernetes, in the one namespace. The same
// thing again and again is one Event with a count, and of too many some are dropped: client-go
// sees to both.
type Events struct {
	broadcaster record.EventBroadcaster
	recorder    record.EventRecorder
	namespace   string
}

// Events returns what tells them, as a component of this name.
func (c *Cluster) Events(component string) *Events {
	b := record.NewBroadcaster()
	b.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: c.client.CoreV1().Events(c.namespace)})
	return &Events{broadcaster: b, recorder: b.NewRecorder(scheme.Scheme, corev1.EventSource{Component: component}), namespace: c.namespace}
}

// Tell tells an Event. It regards the Cluster, which need not be there as an object.
func (e *Events) Tell(all ...events.Event) {
	for _, one := range all {
		about := &corev1.ObjectReference{APIVersion: "cluster.karmada.io/v1alpha1", Kind: "Cluster", Name: one.Cluster, Namespace: e.namespace}
		kind := corev1.EventTypeNormal
		if one.Warning {
			kind = corev1.EventTypeWarning
		}
		e.recorder.Event(about, kind, one.Reason, one.Message)
	}
}

// Stop ends the telling.
func (e *Events) Stop() { e.broadcaster.Shutdown() }
