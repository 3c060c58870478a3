package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
)

// Lists is what get prints of a plan, and of the set of policies and clusters that it was
// made with. Where a namespace is given, only what is in that one.
type Lists struct {
	Plan      *plan.Plan
	Set       *policies.Set
	Namespace string
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
		rows = append(rows, []string{
			c.Spec.Name, string(s.SyncMode), dash(s.Provider), dash(s.Region), dash(strings.Join(s.Zones, ",")),
			strconv.Itoa(len(s.Taints)), strconv.Itoa(objects[c.Spec.Name]),
		})
	}
	return table(items, []string{"NAME", "MODE", "PROVIDER", "REGION", "ZONES", "TAINTS", "OBJECTS"}, rows)
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

// Bindings lists what was decided about each template that has a binding.
func (l *Lists) Bindings() Report {
	items := []*karmada.ResourceBinding{}
	var rows [][]string
	for _, d := range l.Plan.Decisions {
		b := d.Binding
		if b == nil || !l.wants(b.Namespace) {
			continue
		}
		items = append(items, b)
		rows = append(rows, []string{dash(b.Namespace), b.Name, strconv.Itoa(int(b.Spec.Replicas)), dash(d.Reason), dash(Short(targets(d.Targets), 4))})
	}
	return table(items, []string{"NAMESPACE", "NAME", "REPLICAS", "SCHEDULED", "CLUSTERS"}, rows)
}

// work is one manifest in one cluster.
type work struct {
	Cluster string     `json:"cluster"`
	Object  object.Ref `json:"object"`
	Path    string     `json:"path"`
}

// Works lists what each cluster should hold.
func (l *Lists) Works() (Report, error) {
	items := []work{}
	var rows [][]string
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
				if l.wants(o.Ref().Namespace) {
					items = append(items, work{c.Name, o.Ref(), path})
					rows = append(rows, []string{c.Name, o.Ref().String(), path})
				}
			}
		}
	}
	return table(items, []string{"CLUSTER", "OBJECT", "PATH"}, rows), nil
}
