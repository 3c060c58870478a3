package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// waitingOrder is the file that says what observers count.
type waitingOrder struct {
	Threshold metav1.Duration `json:"threshold"`
	Workloads []object.Ref    `json:"workloads"`
}

// orderOf returns the file for a watch.
func orderOf(w *deschedule.Watch) waitingOrder {
	if w == nil {
		return waitingOrder{}
	}
	return waitingOrder{metav1.Duration{Duration: w.Threshold}, w.Workloads}
}

// Descheduler reads from the state branch's folder of which workloads observers count the
// replicas that wait for a node; nil for none.
func Descheduler(root *files.Folder) (*deschedule.Watch, error) {
	e, ok := root.Lookup(deschedulerFile)
	if !ok || e.Blob == nil {
		return nil, nil
	}
	var order waitingOrder
	data, err := e.Blob.Bytes()
	if err == nil {
		err = json.Unmarshal(data, &order)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s of %s: %w", deschedulerFile, Branch, err)
	}
	return &deschedule.Watch{Threshold: order.Threshold.Duration, Workloads: order.Workloads}, nil
}

// descheduledAnnotation records on a binding which clusters replicas left for want of a node.
const descheduledAnnotation = "waybill.dev/descheduled"

// Descheduled says that replicas left a cluster for want of a node.
type Descheduled struct {
	Cluster  string
	Replicas int32
	At       time.Time
}

// departure is a Descheduled as it is recorded.
type departure struct {
	Cluster  string      `json:"cluster"`
	Replicas int32       `json:"replicas"`
	At       metav1.Time `json:"at"`
}

// DescheduledFrom returns what a binding, which may be nil, records of replicas that left clusters
// for want of a node. What cannot be read says nothing.
func DescheduledFrom(b *karmada.ResourceBinding) []Descheduled {
	if b == nil || b.Annotations[descheduledAnnotation] == "" {
		return nil
	}
	var recorded []departure
	if err := json.Unmarshal([]byte(b.Annotations[descheduledAnnotation]), &recorded); err != nil {
		return nil
	}
	all := make([]Descheduled, len(recorded))
	for i, r := range recorded {
		all[i] = Descheduled{r.Cluster, r.Replicas, r.At.UTC()}
	}
	return all
}

// RecordDescheduled records in a binding which clusters replicas left for want of a node, the last
// time for each.
func RecordDescheduled(b *karmada.ResourceBinding, all []Descheduled) {
	if len(all) == 0 {
		return
	}
	last := map[string]departure{}
	for _, d := range all {
		if was, ok := last[d.Cluster]; !ok || was.At.Time.Before(d.At) {
			last[d.Cluster] = departure{d.Cluster, d.Replicas, metav1.NewTime(d.At.UTC().Truncate(time.Second))}
		}
	}
	recorded := make([]departure, 0, len(last))
	for _, name := range slices.Sorted(maps.Keys(last)) {
		recorded = append(recorded, last[name])
	}
	data, err := json.Marshal(recorded)
	if err != nil {
		panic("state: names, numbers and times do not encode: " + err.Error())
	}
	b.Annotations[descheduledAnnotation] = string(data)
}
