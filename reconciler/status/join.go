package status

import (
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

// fullyApplied is the type of Karmada's condition (section D.10).
const fullyApplied = "FullyApplied"

// Reports are what status branches say, by cluster. Those that say nothing that counts are not
// among them.
type Reports map[string]*Report

// Join returns a binding with what the clusters say of its object: aggregatedStatus, in the
// order of their names, and the condition FullyApplied (Karmada section D.10). A cluster that
// says nothing has the health Unknown. The binding is not modified.
func (words Reports) Join(b *karmada.ResourceBinding, r object.Ref) *karmada.ResourceBinding {
	items := map[string]karmada.AggregatedStatusItem{}
	for _, name := range targetsOf(b) {
		items[name] = karmada.AggregatedStatusItem{ClusterName: name}
	}
	for _, recorded := range b.Status.AggregatedStatus { // why it is not as decided
		items[recorded.ClusterName] = recorded
	}
	var since time.Time
	told, applied := 0, 0
	for name, item := range items {
		w := words[name]
		if w == nil {
			item.Applied, item.Health = false, karmada.ResourceUnknown
			items[name] = item
			continue
		}
		told++
		o := w.Objects[r]
		item = joined(item, o)
		if o != nil {
			since = later(since, o.Applied.Since)
		}
		if item.Applied {
			applied++
		}
		items[name] = item
	}
	out := *b
	out.Status.AggregatedStatus = nil
	for _, name := range slices.Sorted(maps.Keys(items)) {
		out.Status.AggregatedStatus = append(out.Status.AggregatedStatus, items[name])
	}
	if len(items) == 0 {
		return &out // it is sent nowhere
	}
	c := metav1.Condition{Type: fullyApplied, LastTransitionTime: metav1.NewTime(since)}
	switch {
	case applied == len(items):
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, "FullyAppliedSuccess", "it is applied in all clusters"
	case applied < told:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, "FullyAppliedFailed", "it is not applied in all clusters, see status.aggregatedStatus"
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, "Untold", "not all clusters say whether it is applied"
	}
	out.Status.Conditions = append(slices.Clone(b.Status.Conditions), c)
	return &out
}

// joined is an item with what its cluster says of the object, nil for nothing.
func joined(item karmada.AggregatedStatusItem, o *Object) karmada.AggregatedStatusItem {
	var why []string
	if item.AppliedMessage != "" {
		why = append(why, item.AppliedMessage)
	}
	if o == nil {
		item.Applied, item.Health = false, karmada.ResourceUnknown
		if len(why) == 0 {
			why = append(why, "it was not applied yet")
		}
	} else {
		item.Applied = o.Applied.Phase == PhaseApplied
		item.Health, _ = o.Health.ByKarmada()
		if o.Applied.Message != "" {
			why = append(why, o.Applied.Message)
		}
		if len(o.Health.Status) > 0 {
			item.Status = &runtime.RawExtension{Raw: o.Health.Status}
		}
	}
	item.AppliedMessage = strings.Join(why, "; ")
	return item
}

// targetsOf lists the clusters that a binding sends its object to, itself or through what
// needs it.
func targetsOf(b *karmada.ResourceBinding) []string {
	var names []string
	for _, c := range b.Spec.Clusters {
		names = append(names, c.Name)
	}
	for _, by := range b.Spec.RequiredBy {
		for _, c := range by.Clusters {
			names = append(names, c.Name)
		}
	}
	return names
}
