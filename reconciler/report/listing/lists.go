package listing

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/report/cell"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
)

// Lists is what get prints of a plan, and of the set of policies and clusters that it was
// made with.
type Lists struct {
	Plan *plan.Plan
	Set  *policies.Set
	// Now is the time from which on ages count.
	Now time.Time
	// Rollouts is what is recorded of what goes out in stages. The list of these needs nothing else.
	Rollouts []rollouts.Rollout
	// Words are what the clusters say; none where nobody says anything.
	Words status.Reports
}

// item is one object of a list, and its row.
type item struct {
	object *unstructured.Unstructured
	// whole is what the object is a part of, which takes time to make; nil for one that is whole.
	whole func() any
	cells []any
	alias string // another name of it; empty for none
}

// made is an item of an object, as its JSON is.
func made(o any, cells ...any) (item, error) {
	u, err := asJSON(o)
	return item{object: u, cells: cells}, err
}

func asJSON(o any) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	data, err := json.Marshal(o)
	if err == nil {
		err = u.UnmarshalJSON(data)
	}
	return u, err
}

// wholly makes the objects whole of which items have a part.
func wholly(items []item) error {
	for n := range items {
		i := &items[n]
		if i.whole == nil {
			continue
		}
		u, err := asJSON(i.whole())
		if err != nil {
			return err
		}
		i.object, i.whole = u, nil
	}
	return nil
}

// columnsOf are columns of these names; those behind a dash are wide.
func columnsOf(names ...string) []column {
	var all []column
	wide := false
	for _, n := range names {
		if n == "-" {
			wide = true
			continue
		}
		all = append(all, column{n, wide})
	}
	return all
}

func (*Lists) ofClusters() []column {
	return columnsOf("NAME", "VERSION", "MODE", "READY", "SINCE", "PROVIDER", "REGION", "ZONES", "TAINTS", "OBJECTS", "-", "WHERE")
}

// clusters lists the registered clusters.
func (l *Lists) clusters() (items []item, err error) {
	objects := map[string]int{}
	for _, c := range l.Plan.Clusters {
		objects[c.Name] = c.Objects
	}
	for _, c := range l.Set.Clusters {
		joined := fleet.Observed(c.Spec, c.Observed)
		s := joined.Spec
		ready, since := readiness(&joined, l.Now)
		i, err := made(joined,
			c.Spec.Name, cell.Dash(joined.Status.KubernetesVersion), string(s.SyncMode), ready, since,
			cell.Dash(s.Provider), cell.Dash(s.Region), cell.Dash(strings.Join(s.Zones, ",")),
			len(s.Taints), objects[c.Spec.Name], c.Object.Origin().String())
		if err != nil {
			return nil, err
		}
		items = append(items, i)
	}
	return items, nil
}

// readiness is the status of a cluster's condition Ready, and how long it has been that; dashes
// where nobody observes it.
func readiness(c *karmada.Cluster, now time.Time) (ready, since string) {
	r := meta.FindStatusCondition(c.Status.Conditions, karmada.ConditionReady)
	if r == nil {
		return cell.Dash(""), cell.Dash("")
	}
	return string(r.Status), cell.Age(&r.LastTransitionTime.Time, now)
}

func (*Lists) ofPolicies() []column {
	return columnsOf("KIND", "NAMESPACE", "NAME", "PRIORITY", "CLAIMS", "WHERE")
}

// policiesOf lists the policies of a kind, or of all: those that place first, with how many
// templates each claims, then those that override.
func policiesOf(kind string) func(*Lists) ([]item, error) {
	return func(l *Lists) (items []item, err error) {
		add := func(o *object.Object, shown map[string]any, priority, claimed any) {
			r := o.Ref()
			if err != nil || kind != "" && kind != r.Kind {
				return
			}
			var i item
			i, err = made(shown, r.Kind, cell.Dash(r.Namespace), r.Name, priority, claimed, o.Origin().String())
			items = append(items, i)
		}
		claims := l.claims()
		for _, p := range l.Set.Propagation {
			add(p.Object, object.WithoutApplied(p.Object.Content()), p.Spec.ExplicitPriority(), claims[p.Object])
		}
		for _, p := range l.Set.Override {
			add(p.Object, override.Shown(p), "-", "-")
		}
		return items, err
	}
}

// claims counts the templates that each policy claims.
func (l *Lists) claims() map[*object.Object]int {
	claims := map[*object.Object]int{}
	for _, d := range l.Plan.Decisions {
		if d.Policy != nil {
			claims[d.Policy.Object]++
		}
	}
	return claims
}

func (l *Lists) ofBindings() []column {
	if len(l.Words) > 0 {
		return columnsOf("NAMESPACE", "NAME", "REPLICAS", "SCHEDULED", "APPLIED", "HEALTHY", "CLUSTERS", "-", "POLICY", "MESSAGE")
	}
	return columnsOf("NAMESPACE", "NAME", "REPLICAS", "SCHEDULED", "CLUSTERS", "-", "POLICY", "MESSAGE")
}

// bindings lists what was decided about each template that has a binding, and, where
// clusters say something, what became of it.
func (l *Lists) bindings() (items []item, err error) {
	for i := range l.Plan.Decisions {
		d := &l.Plan.Decisions[i]
		if d.Binding == nil {
			continue
		}
		b := binding{ResourceBinding: d.Binding}
		cells := []any{cell.Dash(d.Binding.Namespace), d.Binding.Name, d.Binding.Spec.Replicas, cell.Dash(d.Reason)}
		if len(l.Words) > 0 {
			b = l.joined(d)
			cells = append(cells, b.tally()...)
		}
		cells = append(cells, cell.Dash(cell.Short(cell.Targets(d.Targets), 4)), policyOf(d), cell.Dash(d.Message))
		i, err := made(b, cells...)
		if err != nil {
			return nil, err
		}
		items = append(items, i)
	}
	return items, nil
}

// policyOf names the policy that claims a template.
func policyOf(d *plan.Decision) string {
	if d.Policy == nil {
		return cell.Dash("")
	}
	return d.Policy.String()
}

// binding is what was decided about a template, with what the clusters say of it.
type binding struct {
	*karmada.ResourceBinding `json:",inline"`

	// TemplateStatus is the status that the clusters' reports make together (Karmada section
	// D.8), or why they make none.
	TemplateStatus any    `json:"templateStatus,omitempty"`
	TemplateError  string `json:"templateStatusError,omitempty"`
}

// joined is a binding with what the clusters say.
func (l *Lists) joined(d *plan.Decision) binding {
	b := binding{ResourceBinding: l.Words.Join(d.Binding, d.Ref())}
	in := l.Set.Interpreter.About(d.Template.Object)
	if in.Answered(d.Template.Content, karmada.InterpreterOperationAggregateStatus) == "" {
		return b
	}
	template, err := in.Aggregate(d.Template.Content, b.Status.AggregatedStatus)
	if err != nil {
		b.TemplateError = err.Error()
	}
	b.TemplateStatus = template["status"]
	return b
}

// tally counts in how many clusters the object is applied, and healthy.
func (b *binding) tally() []any {
	applied, healthy := 0, 0
	for _, item := range b.Status.AggregatedStatus {
		if item.Applied {
			applied++
		}
		if item.Health == karmada.ResourceHealthy {
			healthy++
		}
	}
	of := "/" + strconv.Itoa(len(b.Status.AggregatedStatus))
	return []any{strconv.Itoa(applied) + of, strconv.Itoa(healthy) + of}
}
