package virtual

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// Fleet says which clusters of a fleet are virtual. Clusters are named by their index.
type Fleet struct {
	mappings []*Mapping
	hosts    []int // Nowhere where the host is not known
	wrong    []bool
	problems []Problem
}

// Nowhere is the index of no cluster.
const Nowhere = -1

// Problem says why it is not known what a virtual cluster is to hold.
type Problem struct {
	Cluster, Annotation string
	Message, Hint       string
}

// New finds the virtual clusters of a fleet; nil if it has none. A cluster with a problem has no
// mapping that may be used.
func New(f fleet.Fleet) *Fleet {
	clusters := f.Clusters()
	v := &Fleet{}
	for i, c := range clusters {
		m := Of(c.Source)
		if m != nil && v.mappings == nil {
			v.mappings, v.hosts, v.wrong = make([]*Mapping, len(clusters)), make([]int, len(clusters)), make([]bool, len(clusters))
		}
		if m != nil {
			v.mappings[i] = m
		}
	}
	if v.mappings == nil {
		return nil
	}
	for i, m := range v.mappings {
		v.hosts[i] = i
		if m != nil {
			v.hosts[i] = v.host(clusters, m)
		}
	}
	v.twins()
	for i, m := range v.mappings {
		v.wrong[i] = m != nil && slices.ContainsFunc(v.problems, func(p Problem) bool { return p.Cluster == m.Cluster })
	}
	return v
}

// host finds the host of a virtual cluster.
func (v *Fleet) host(clusters []*fleet.Cluster, m *Mapping) int {
	wrong := func(message, hint string) int {
		v.problems = append(v.problems, Problem{Cluster: m.Cluster, Annotation: karmada.VirtualOfAnnotation, Message: message, Hint: hint})
		return Nowhere
	}
	at, ok := slices.BinarySearchFunc(clusters, m.Host, func(c *fleet.Cluster, name string) int { return cmp.Compare(c.Name, name) })
	if !ok {
		return wrong(fmt.Sprintf("its host %q is not registered", m.Host), "register the Cluster whose API server it is, by its own name")
	}
	if of := v.mappings[at]; of != nil {
		return wrong(fmt.Sprintf("its host %s is virtual itself, of %s", m.Host, of.Host), "name the Cluster that has the API server")
	}
	self := slices.IndexFunc(clusters, func(c *fleet.Cluster) bool { return c.Name == m.Cluster })
	if ours, theirs := clusters[self].Source.Spec.ID, clusters[at].Source.Spec.ID; ours != "" && theirs != "" && ours != theirs {
		return wrong(fmt.Sprintf("its spec.id is %s, and that of its host %s is %s, so that they are two API servers", ours, m.Host, theirs), "correct one of them; both are the UID of the Namespace kube-system")
	}
	return at
}

// twins finds virtual clusters of one host with one suffix.
func (v *Fleet) twins() {
	type identity struct {
		host   int
		suffix string
	}
	first := map[identity]string{}
	for i, m := range v.mappings {
		if m == nil || v.hosts[i] == Nowhere {
			continue
		}
		id := identity{v.hosts[i], m.Suffix}
		other, taken := first[id]
		if !taken {
			first[id] = m.Cluster
			continue
		}
		for _, pair := range [][2]string{{m.Cluster, other}, {other, m.Cluster}} {
			v.problems = append(v.problems, Problem{
				Cluster: pair[0], Annotation: karmada.SuffixAnnotation,
				Message: fmt.Sprintf("its namespaces have the suffix %s, as those of %s, which is on the same API server", m.Suffix, pair[1]),
				Hint:    "give one of them another " + karmada.SuffixAnnotation,
			})
		}
	}
}

// Problems lists what is wrong with the virtual clusters, in the order of the fleet.
func (v *Fleet) Problems() []Problem {
	if v == nil {
		return nil
	}
	return v.problems
}

// At returns the mapping of a cluster; nil for one with an API server of its own.
func (v *Fleet) At(cluster int) *Mapping {
	if v == nil {
		return nil
	}
	return v.mappings[cluster]
}

// Wrong reports a virtual cluster with a problem.
func (v *Fleet) Wrong(cluster int) bool { return v != nil && v.wrong[cluster] }

// Host returns the cluster whose API server a cluster is on: itself, its host, or Nowhere.
func (v *Fleet) Host(cluster int) int {
	if v == nil {
		return cluster
	}
	return v.hosts[cluster]
}

// Claim is a namespace of templates in a cluster.
type Claim struct {
	Cluster   int
	Namespace string
}

// Clash is two claims that are one namespace of an API server.
type Clash struct {
	Namespace string // on the API server
	A, B      Claim
}

// Clashes finds claims that are one namespace of an API server. Used tells for each namespace of
// templates which clusters have something in it.
func (v *Fleet) Clashes(used map[string][]bool) (all []Clash) {
	if v == nil {
		return nil
	}
	type place struct {
		host int
		name string
	}
	first := map[place]Claim{}
	for _, namespace := range slices.Sorted(maps.Keys(used)) {
		if namespace == "" {
			continue
		}
		for cluster, uses := range used[namespace] {
			if !uses || v.hosts[cluster] == Nowhere || v.wrong[cluster] {
				continue
			}
			name, claim := v.mappings[cluster].Namespace(namespace), Claim{cluster, namespace}
			at := place{v.hosts[cluster], name}
			if other, taken := first[at]; taken {
				all = append(all, Clash{name, other, claim})
			} else {
				first[at] = claim
			}
		}
	}
	return all
}
