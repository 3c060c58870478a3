package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
)

// Lists is what get prints of a plan, and of the set of policies and clusters that it was
// made with. Where a namespace is given, only what is in that one.
type Lists struct {
	Plan      *plan.Plan
	Set       *policies.Set
	Namespace string
	// Now is the time from which on ages count.
	Now time.Time
	// Words are what the clusters say; none where nobody says anything.
	Words status.Words
}

func (l *Lists) wants(namespace string) bool { return l.Namespace == "" || l.Namespace == namespace }

// Clusters lists the registered clusters.
func (l *Lists) Clusters() Report {
	objects := map[string]int{}
	for _, c := range l.Plan.Clusters {
		objects[c.Name] = c.Objects
	}
	items := []karmada.Cluster{}
	var rows [][]string
	for _, c := range l.Set.Clusters {
		joined := fleet.Observed(c.Spec, c.Observed)
		s := joined.Spec
		items = append(items, joined)
		ready, since := readiness(&joined, l.Now)
		rows = append(rows, []string{
			c.Spec.Name, dash(joined.Status.KubernetesVersion), string(s.SyncMode), ready, since, dash(s.Provider), dash(s.Region), dash(strings.Join(s.Zones, ",")),
			strconv.Itoa(len(s.Taints)), strconv.Itoa(objects[c.Spec.Name]),
		})
	}
	return table(items, []string{"NAME", "VERSION", "MODE", "READY", "SINCE", "PROVIDER", "REGION", "ZONES", "TAINTS", "OBJECTS"}, rows)
}

// readiness is the status of a cluster's condition Ready, and how long it has been that; dashes
// where nobody observes it.
func readiness(c *karmada.Cluster, now time.Time) (ready, since string) {
	r := meta.FindStatusCondition(c.Status.Conditions, karmada.ConditionReady)
	if r == nil {
		return dash(""), dash("")
	}
	return string(r.Status), age(&r.LastTransitionTime.Time, now)
}

// Policies lists the policies: those that place first, with how many templates each
// claims, then those that override.
func (l *Lists) Policies() Report {
	claims := map[*object.Object]int{}
	for _, d := range l.Plan.Decisions {
		if d.Policy != nil {
			claims[d.Policy.Object]++
		}
	}
	items := []map[string]any{}
	var rows [][]string
	add := func(o *object.Object, shown map[string]any, priority, claimed string) {
		if r := o.Ref(); l.wants(r.Namespace) {
			items = append(items, shown)
			rows = append(rows, []string{r.Kind, dash(r.Namespace), r.Name, priority, claimed, o.Pos().String()})
		}
	}
	for _, p := range l.Set.Propagation {
		add(p.Object, object.WithoutApplied(p.Object.Content()), strconv.Itoa(int(p.Spec.ExplicitPriority())), strconv.Itoa(claims[p.Object]))
	}
	for _, p := range l.Set.Override {
		add(p.Object, override.Shown(p), "-", "-")
	}
	return table(items, []string{"KIND", "NAMESPACE", "NAME", "PRIORITY", "CLAIMS", "WHERE"}, rows)
}

// binding is what was decided about a template, with what the clusters say of it.
type binding struct {
	*karmada.ResourceBinding `json:",inline"`

	// TemplateStatus is the status that the clusters' reports make together (Karmada section
	// D.8), or why they make none.
	TemplateStatus any    `json:"templateStatus,omitempty"`
	TemplateError  string `json:"templateStatusError,omitempty"`
}

// Bindings lists what was decided about each template that has a binding, and, where
// clusters say something, what became of it.
func (l *Lists) Bindings() Report {
	items := []binding{}
	var rows [][]string
	head := []string{"NAMESPACE", "NAME", "REPLICAS", "SCHEDULED", "CLUSTERS"}
	if len(l.Words) > 0 {
		head = slices.Insert(head, 4, "APPLIED", "HEALTHY")
	}
	for i := range l.Plan.Decisions {
		d := &l.Plan.Decisions[i]
		if d.Binding == nil || !l.wants(d.Binding.Namespace) {
			continue
		}
		b := binding{ResourceBinding: d.Binding}
		row := []string{dash(b.Namespace), b.Name, strconv.Itoa(int(b.Spec.Replicas)), dash(d.Reason), dash(Short(targets(d.Targets), 4))}
		if len(l.Words) > 0 {
			b = l.joined(d)
			row = slices.Insert(row, 4, b.tally()...)
		}
		items = append(items, b)
		rows = append(rows, row)
	}
	return table(items, head, rows)
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
func (b *binding) tally() []string {
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
	return []string{strconv.Itoa(applied) + of, strconv.Itoa(healthy) + of}
}

// work is one manifest in one cluster.
type work struct {
	Cluster string     `json:"cluster"`
	Object  object.Ref `json:"object"`
	Path    string     `json:"path"`
	// What the cluster says of it; empty where it says nothing.
	Applied status.Phase           `json:"applied,omitempty"`
	Health  karmada.ResourceHealth `json:"health,omitempty"`
	Message string                 `json:"message,omitempty"`
}

// told is a work with what its cluster says.
func (l *Lists) told(w work) work {
	said := l.Words[w.Cluster]
	if said == nil || said.Objects[w.Object] == nil {
		return w
	}
	o := said.Objects[w.Object]
	w.Applied, w.Health, w.Message = o.Applied.Phase, o.Health.State, cmp.Or(o.Applied.Message, o.Health.Message)
	return w
}

// Works lists what each cluster should hold.
func (l *Lists) Works() (Report, error) {
	items := []work{}
	for _, c := range l.Plan.Clusters {
		for path, e := range c.Tree.All() {
			if !strings.HasPrefix(path, tree.ManifestDir+"/") {
				continue
			}
			data, err := e.Blob.Bytes()
			if err != nil {
				return Report{}, fmt.Errorf("reading %s of cluster %s: %w", path, c.Name, err)
			}
			for _, o := range object.Decode(path, data).Objects {
				if r := l.Plan.Template(c.Name, o.Ref()); l.wants(r.Namespace) {
					items = append(items, l.told(work{Cluster: c.Name, Object: r, Path: path}))
				}
			}
		}
	}
	head := []string{"CLUSTER", "OBJECT", "PATH"}
	if len(l.Words) > 0 {
		head = slices.Insert(head, 2, "APPLIED", "HEALTH")
	}
	var rows [][]string
	for _, w := range items {
		row := []string{w.Cluster, w.Object.String(), w.Path}
		if len(l.Words) > 0 {
			row = slices.Insert(row, 2, dash(string(w.Applied)), dash(string(w.Health)))
		}
		rows = append(rows, row)
	}
	return table(items, head, rows), nil
}
