// Package evidence turns what status branches say of objects into what plans take for evidence
// that work moved well, or fails where it is. It is pure: whoever reads branches hands in what
// is there.
package evidence

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/util/jsonpath"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Moving lists the templates of bindings for which evidence counts, with the clusters that
// should say something: what leaves clusters, and what does when it fails. Leaving is what leaves them for others.
func Moving(bindings map[object.Ref]*karmada.ResourceBinding, leaving []state.Leaving, c render.Failover) map[object.Ref][]string {
	all := map[object.Ref][]string{}
	for _, l := range leaving {
		if b := bindings[l.Object]; b != nil {
			all[l.Object] = append(all[l.Object], append(goesTo(b), l.Cluster)...)
		}
	}
	for r, b := range bindings {
		if tasks := b.Spec.GracefulEvictionTasks; len(tasks) > 0 || c.Enabled && needs(b.Spec.Failover) {
			for _, c := range b.Spec.Clusters {
				all[r] = append(all[r], c.Name)
			}
			for _, t := range tasks {
				all[r] = append(all[r], t.FromCluster)
			}
		}
	}
	return all
}

// goesTo lists the clusters that a template goes to, itself or with what needs it.
func goesTo(b *karmada.ResourceBinding) (names []string) {
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

// needs reports that work which fails over so needs evidence before it leaves.
func needs(b *karmada.FailoverBehavior) bool {
	return b != nil && (b.Application != nil || b.Cluster != nil && b.Cluster.StatePreservation != nil)
}

// Found is what is known of an object in a cluster.
type Found struct {
	// Cluster is what the cluster says of itself, and Object of the object; nil for nothing.
	Cluster status.Summary
	Object  *status.Object
	// Head is that of the cluster's branch, or the commit that changed its folder last; zero for none.
	Head files.ID
	// Published is the object's file on the head of the cluster's branch, Applied the one in the
	// commit that was applied of the object, and Round the one in the commit that was applied of
	// the branch; nil where there is none.
	Published, Applied, Round *files.Blob
	// Preserve are the rules by which labels hold what is to be preserved of the status.
	Preserve []karmada.StatePreservationRule
}

// Seen is what it comes to. Of a cluster that does not answer nothing is known to be well; what it
// said of a status before is what there is to preserve.
func (f *Found) Seen() evict.Seen {
	s := evict.Seen{Health: karmada.ResourceUnknown}
	o, looked := f.Object, f.Cluster.Verdict.Looked()
	s.UpToDate = looked && !f.Head.IsZero() && f.Cluster.Commit == f.Head
	switch {
	case o == nil:
		s.Gone = looked && f.Published == nil && f.Round == nil
		return s
	case looked:
		isCurrent := f.Published != nil && f.Applied != nil && f.Published.ID() == f.Applied.ID()
		s.Health, s.Since = o.Health.ByKarmada()
		s.Done = o.Health.State == karmada.ResourceHealthy
		s.Current = isCurrent && o.Applied.Phase == status.PhaseApplied
	}
	s.Preserved = preserved(f.Preserve, o.Health.Status)
	return s
}

// preserved returns the labels of rules for a status; nil where one of them cannot be had.
func preserved(rules []karmada.StatePreservationRule, status []byte) map[string]string {
	if len(rules) == 0 || len(status) == 0 {
		return nil
	}
	var content any
	if err := json.Unmarshal(status, &content); err != nil {
		return nil
	}
	labels := map[string]string{}
	for _, r := range rules {
		path, text := jsonpath.New(r.AliasLabelName), strings.Builder{}
		if err := path.Parse(r.JSONPath); err != nil {
			return nil
		}
		if err := path.Execute(&text, content); err != nil || len(validation.IsValidLabelValue(text.String())) > 0 {
			return nil
		}
		labels[r.AliasLabelName] = text.String()
	}
	return labels
}

// Preserve returns the rules of a policy by which labels hold what is to be preserved.
func Preserve(b *karmada.FailoverBehavior) (rules []karmada.StatePreservationRule) {
	if b == nil {
		return nil
	}
	if a := b.Application; a != nil && a.StatePreservation != nil {
		rules = append(rules, a.StatePreservation.Rules...)
	}
	if c := b.Cluster; c != nil && c.StatePreservation != nil {
		rules = append(rules, c.StatePreservation.Rules...)
	}
	return rules
}
