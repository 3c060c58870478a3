// Package whatif answers what-if: it makes of a source the one that there would be if clusters
// came, went, or were others. Nothing is written; what comes out is planned as any source is.
package whatif

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// Suppositions are what a source is planned with and does not say. They hold in this order:
// clusters come, go, and then are others.
type Suppositions struct {
	With     []*object.Object // Clusters
	Without  []string         // clusters
	Labels   []Label
	Taints   []Taint
	Capacity []Capacity
	// At is when it is; zero for now.
	At time.Time
}

// Label is a label of a cluster: set, or removed.
type Label struct {
	Cluster, Key, Value string
	Remove              bool
}

// Taint is a taint of a cluster: added, or removed.
type Taint struct {
	Cluster string
	Taint   corev1.Taint
	Remove  bool // every one of its key, and of its effect if it has one
}

// Capacity is what the nodes of a cluster have together.
type Capacity struct {
	Cluster     string
	Allocatable corev1.ResourceList
}

// None reports that nothing is supposed.
func (s *Suppositions) None() bool { return len(s.Say()) == 0 }

// Say says what is supposed, a line each.
func (s *Suppositions) Say() (all []string) {
	for _, o := range s.With {
		all = append(all, "with cluster "+o.Ref().Name)
	}
	for _, name := range s.Without {
		all = append(all, "without cluster "+name)
	}
	for _, l := range s.Labels {
		if l.Remove {
			all = append(all, fmt.Sprintf("cluster %s has no label %s", l.Cluster, l.Key))
		} else {
			all = append(all, fmt.Sprintf("cluster %s has the label %s=%s", l.Cluster, l.Key, l.Value))
		}
	}
	for _, t := range s.Taints {
		has := "has the taint "
		if t.Remove {
			has = "has no taint "
		}
		all = append(all, fmt.Sprintf("cluster %s %s%s", t.Cluster, has, t.Taint.ToString()))
	}
	for _, c := range s.Capacity {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(c.Allocatable)) {
			q := c.Allocatable[name]
			parts = append(parts, fmt.Sprintf("%s=%s", name, q.String()))
		}
		all = append(all, fmt.Sprintf("cluster %s has %s", c.Cluster, strings.Join(parts, ",")))
	}
	if !s.At.IsZero() {
		all = append(all, "it is "+s.At.UTC().Format(time.RFC3339))
	}
	return all
}

// Apply returns the source that there would be. Observed is what was observed of clusters. The error
// names a cluster that there is not, or that there is already.
func (s *Suppositions) Apply(src render.Source, observed map[string]*karmada.ClusterStatus) (render.Source, error) {
	e := editor{objects: slices.Clone(src.Objects), observed: observed}
	for _, o := range s.With {
		if i := e.find(o.Ref().Name); i >= 0 {
			return src, fmt.Errorf("cluster %s is registered already, in %s", o.Ref().Name, e.objects[i].Pos())
		}
		e.objects = append(e.objects, o)
	}
	for _, name := range s.Without {
		if err := e.remove(name); err != nil {
			return src, err
		}
	}
	for _, l := range s.Labels {
		if err := e.edit(l.Cluster, l.set); err != nil {
			return src, err
		}
	}
	for _, t := range s.Taints {
		if err := e.edit(t.Cluster, t.set); err != nil {
			return src, err
		}
	}
	for _, c := range s.Capacity {
		set := func(content map[string]any) error { return c.set(content, observed[c.Cluster]) }
		if err := e.edit(c.Cluster, set); err != nil {
			return src, err
		}
	}
	src.Objects = e.objects
	return src, nil
}

// editor edits the Clusters among objects.
type editor struct {
	objects  []*object.Object
	observed map[string]*karmada.ClusterStatus
}

// isCluster reports the registration of a cluster.
func isCluster(o *object.Object) bool {
	r := o.Ref()
	return r.Kind == "Cluster" && r.Group == "cluster.karmada.io"
}

// find returns the index of a cluster; -1 if there is none.
func (e *editor) find(name string) int {
	return slices.IndexFunc(e.objects, func(o *object.Object) bool { return isCluster(o) && o.Ref().Name == name })
}

func (e *editor) remove(name string) error {
	i := e.find(name)
	if i < 0 {
		return e.unknown(name)
	}
	e.objects = slices.Delete(e.objects, i, i+1)
	return nil
}

// edit changes a copy of what a Cluster says.
func (e *editor) edit(name string, set func(content map[string]any) error) error {
	i := e.find(name)
	if i < 0 {
		return e.unknown(name)
	}
	content, _ := copied(e.objects[i].Content()).(map[string]any)
	if err := set(content); err != nil {
		return fmt.Errorf("cluster %s: %w", name, err)
	}
	e.objects[i] = e.objects[i].With(content)
	return nil
}

// unknown says that there is no such cluster, and which one is called nearly so.
func (e *editor) unknown(name string) error {
	var names []string
	for _, o := range e.objects {
		if isCluster(o) {
			names = append(names, o.Ref().Name)
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("the source has no cluster %s, and no other", name)
	}
	slices.SortFunc(names, func(a, b string) int { return words.Distance(name, a) - words.Distance(name, b) })
	return fmt.Errorf("the source has no cluster %s; it has %s", name, words.List(names))
}

// copied copies a value of a manifest.
func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = copied(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = copied(value)
		}
		return out
	}
	return v
}
