// Package template is an object of the source that a policy may place, and what it says
// in each cluster. An object that stands for itself says the same everywhere; one that a
// release renders may say something else in every cluster, or nothing.
package template

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Template is an object that a policy may place.
type Template struct {
	// Variant is what it says: everywhere, or in the first cluster.
	Variant

	Subject policies.Subject
	// Part says which release renders it; nil for one that stands for itself.
	Part *Part
	// MadeOf is the MultiClusterIngress that it is made of, which policies select in its place; nil for none.
	MadeOf *object.Object
	// UsedUp reports a source of Flux that serves releases alone, which are rendered here.
	UsedUp bool
}

// Variant is one thing that a template says.
type Variant struct {
	Object *object.Object
	// Content is the object with the API server's defaults, as Karmada sees it; Added are
	// the defaults, to be taken away again.
	Content map[string]any
	Added   []interpret.Path
	// Scaled is the number of replicas that a schedule has put into Content; empty for
	// none.
	Scaled string
}

// Part is what a template is of the release that renders it.
type Part struct {
	Release *object.Object
	Policy  *policies.Propagation // that selects the release
	// Variants are the different things that the template says.
	Variants []Variant
	// Groups says for each cluster, by its index in the fleet, the number of the group for
	// which the release is alike, or NoGroup. All parts of a release share it.
	Groups []int
	// Failed are the clusters for which the release, or one within it, cannot be rendered.
	Failed map[string]bool

	said []int // one more than the number of the variant for a group; 0 for none
}

// NoGroup is the group of the clusters that a release does not go to.
const NoGroup = -1

// Memo remembers what objects say once they are defaulted.
type Memo struct {
	variants cache.Generation[*object.Object, Variant]
}

// Turn begins the next plan.
func (m *Memo) Turn() { m.variants.Turn() }

// New returns the template of an object that stands for itself.
func New(o *object.Object, m *Memo) *Template {
	return &Template{Variant: m.variant(o), Subject: policies.SubjectOf(o)}
}

// variant returns what an API server would see of an object.
func (m *Memo) variant(o *object.Object) Variant {
	return m.variants.Or(o, func() Variant {
		v := Variant{Object: o}
		v.Content, v.Added = interpret.Default(o.Content())
		return v
	})
}

// Add notes that the release renders an object as this template for a group of clusters.
func (p *Part) Add(o *object.Object, group int, m *Memo) {
	n := slices.IndexFunc(p.Variants, func(v Variant) bool { return v.Object == o })
	if n < 0 {
		n = len(p.Variants)
		p.Variants = append(p.Variants, m.variant(o))
	}
	for len(p.said) <= group {
		p.said = append(p.said, 0)
	}
	p.said[group] = n + 1
}

// Of returns the number of the variant that the template says in a cluster, by its index in
// the fleet; false where the release does not render the template.
func (p *Part) Of(cluster int) (int, bool) {
	group := p.Groups[cluster]
	if group == NoGroup || group >= len(p.said) || p.said[group] == 0 {
		return 0, false
	}
	return p.said[group] - 1, true
}

// Ref is what the template is called.
func (t *Template) Ref() object.Ref { return t.Object.Ref() }

// Selected is what resource selectors of policies that place templates see of it: of what it is made, if it is made of something.
// Overrides are about the template itself.
func (t *Template) Selected() policies.Subject {
	if t.MadeOf == nil {
		return t.Subject
	}
	return policies.SubjectOf(t.MadeOf)
}

// In returns what the template says in a cluster, by its index in the fleet; nil where its
// release says nothing.
func (t *Template) In(cluster int) *Variant {
	if t.Part == nil {
		return &t.Variant
	}
	if n, ok := t.Part.Of(cluster); ok {
		return &t.Part.Variants[n]
	}
	return nil
}

// Number tells the variants of a template apart.
func (t *Template) Number(cluster int) int {
	if t.Part == nil {
		return 0
	}
	n, _ := t.Part.Of(cluster)
	return n
}

// IsRelease reports a release: it stands for what it renders to, and is not delivered.
func (t *Template) IsRelease() bool { return flux.IsRelease(t.Object) }

// IsDelivered reports whether clusters get the template itself. A release stands for what it renders
// to, and a source that only releases use is for nobody there.
func (t *Template) IsDelivered() bool { return !t.IsRelease() && !t.UsedUp }

// Digest tells one content of the template, in a fleet, from another.
func (t *Template) Digest(in fleet.Fleet) string {
	if t.Part == nil && t.Scaled == "" {
		return files.Sum("blob", t.Object.YAML()).String()
	}
	all := []byte(t.Scaled + "\n")
	if t.Part == nil {
		return files.Sum("blob", append(all, t.Object.YAML()...)).String()
	}
	for i, c := range in.Clusters() {
		if n, ok := t.Part.Of(i); ok {
			all = fmt.Appendf(all, "%s %d\n", c.Name, n)
		}
	}
	for _, v := range t.Part.Variants {
		all = append(all, v.Object.YAML()...)
	}
	return files.Sum("blob", all).String()
}
