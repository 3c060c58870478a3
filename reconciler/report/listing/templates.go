package listing

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/report/cell"
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
	spec := templateSpec{Reason: d.Reason, Message: d.Message, Clusters: cell.Targets(d.Targets)}
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
		i, err := made(t, cell.Dash(r.Namespace), kindOf(r), r.Name,
			cell.Dash(t.Spec.Policy), cell.Dash(cell.Short(t.Spec.Clusters, 4)), t.Spec.Where, cell.Dash(d.Message))
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
	for _, n := range l.Plan.Expanded.Inners {
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
	return l.unclaimed(items)
}

// unclaimed lists the releases that no policy selects, each with those that it renders below it.
func (l *Lists) unclaimed(items []item) ([]item, error) {
	t := treeOf(l.Plan.Expanded.Unclaimed)
	for _, r := range t.below[object.Ref{}] {
		var err error
		if items, err = t.list(items, r, "", ""); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// releaseTree has releases by what renders them. One that stands in the folders of several clusters
// is there once.
type releaseTree struct {
	first    map[object.Ref]*object.Object
	clusters map[object.Ref][]string
	below    map[object.Ref][]object.Ref // in the order of refs; of the zero one those that nothing renders
	of       map[object.Ref]object.Ref
}

func treeOf(all []expand.Unclaimed) releaseTree {
	t := releaseTree{map[object.Ref]*object.Object{}, map[object.Ref][]string{}, map[object.Ref][]object.Ref{}, map[object.Ref]object.Ref{}}
	givers := map[*object.Object]object.Ref{}
	for _, u := range all {
		r := u.Release.Ref()
		for _, o := range u.Rendered {
			givers[o] = r
		}
		if t.first[r] == nil {
			of := givers[u.Release]
			t.first[r], t.of[r], t.below[of] = u.Release, of, append(t.below[of], r)
		}
		if u.Cluster != "" && !slices.Contains(t.clusters[r], u.Cluster) {
			t.clusters[r] = append(t.clusters[r], u.Cluster)
		}
	}
	for _, refs := range t.below {
		slices.SortFunc(refs, object.Ref.Compare)
	}
	return t
}

// list adds a release and what is below it. A branch of the tree stands in front of its name, and a
// trunk in front of those of what is below.
func (t *releaseTree) list(items []item, r object.Ref, branch, trunk string) ([]item, error) {
	spec := templateSpec{Clusters: t.clusters[r]}
	if of := t.of[r]; of != (object.Ref{}) {
		spec.In = &of
	}
	items, err := released(items, branch, t.first[r], spec)
	for i, inner := range t.below[r] {
		if err != nil {
			break
		}
		if i == len(t.below[r])-1 {
			items, err = t.list(items, inner, trunk+"└─ ", trunk+"   ")
		} else {
			items, err = t.list(items, inner, trunk+"├─ ", trunk+"│  ")
		}
	}
	return items, err
}

// released adds a release. A branch of the tree stands in front of its name.
func released(items []item, branch string, o *object.Object, spec templateSpec) ([]item, error) {
	r := as("Release", o, spec)
	i, err := made(r, cell.Dash(o.Ref().Namespace), branch+o.Ref().Name, kindOf(o.Ref()),
		cell.Dash(spec.Policy), cell.Dash(cell.Short(spec.Clusters, 4)), r.Spec.Where)
	return append(items, i), err
}
