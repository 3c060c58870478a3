package report

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/object"
)

// templated is a template in a list. It has no content: that may be a Secret's.
type templated struct {
	metav1.TypeMeta `json:",inline"`

	Metadata named        `json:"metadata"`
	Spec     templateSpec `json:"spec"`
}

// templateSpec says what is known of a template without looking into it.
type templateSpec struct {
	Object   object.Ref `json:"object"`
	Where    string     `json:"where"`
	Policy   string     `json:"policy,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	Message  string     `json:"message,omitempty"`
	Clusters []string   `json:"clusters"`
	// In is the release that renders this one.
	In *object.Ref `json:"in,omitempty"`
}

// as is a template as an object of a list.
func as(kind string, o *object.Object, spec templateSpec) templated {
	spec.Object = o.Ref()
	spec.Where = o.Origin().String()
	return templated{metav1.TypeMeta{APIVersion: listAPI, Kind: kind}, named{spec.Object.Name, spec.Object.Namespace, o.Labels()}, spec}
}

// specOf is what was decided about a template.
func specOf(d *plan.Decision) templateSpec {
	spec := templateSpec{Reason: d.Reason, Message: d.Message, Clusters: targets(d.Targets)}
	if d.Policy != nil {
		spec.Policy = d.Policy.String()
	}
	return spec
}

func (*Lists) ofTemplates() []column {
	return columnsOf("NAMESPACE", "KIND", "NAME", "POLICY", "CLUSTERS", "-", "WHERE", "MESSAGE")
}

// templates lists what policies may place.
func (l *Lists) templates() (items []item, err error) {
	for i := range l.Plan.Decisions {
		d := &l.Plan.Decisions[i]
		r := d.Ref()
		t := as("Template", d.Template.Object, specOf(d))
		i, err := made(t, dash(r.Namespace), kindOf(r), r.Name, dash(t.Spec.Policy), dash(Short(t.Spec.Clusters, 4)), t.Spec.Where, dash(d.Message))
		if err != nil {
			return nil, err
		}
		items = append(items, i)
	}
	return items, nil
}

// kindOf is a kind with its group.
func kindOf(r object.Ref) string {
	if r.Group == "" {
		return r.Kind
	}
	return r.Kind + "." + r.Group
}

func (*Lists) ofReleases() []column {
	return columnsOf("NAMESPACE", "NAME", "KIND", "POLICY", "CLUSTERS", "-", "WHERE")
}

// releases lists what is rendered, each with the releases that it renders below it.
func (l *Lists) releases() (items []item, err error) {
	inner := map[object.Ref][]*object.Object{}
	for _, n := range l.Plan.Inners() {
		inner[n.Of] = append(inner[n.Of], n.Release)
	}
	for i := range l.Plan.Decisions {
		d := &l.Plan.Decisions[i]
		if !d.Template.IsRelease() {
			continue
		}
		spec, r := specOf(d), d.Ref()
		if items, err = released(items, "", d.Template.Object, spec); err != nil {
			return nil, err
		}
		spec.In = &r
		for i, o := range inner[r] {
			branch := "├─ "
			if i == len(inner[r])-1 {
				branch = "└─ "
			}
			if items, err = released(items, branch, o, spec); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}

// released adds a release. A branch of the tree stands in front of its name.
func released(items []item, branch string, o *object.Object, spec templateSpec) ([]item, error) {
	r := as("Release", o, spec)
	i, err := made(r, dash(o.Ref().Namespace), branch+o.Ref().Name, kindOf(o.Ref()), dash(spec.Policy), dash(Short(spec.Clusters, 4)), r.Spec.Where)
	return append(items, i), err
}
