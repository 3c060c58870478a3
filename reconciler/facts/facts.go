// Package facts is what Git says of a fleet at one moment, as values: how clusters are, where
// templates go, and how both came to be so. A Reader reads it from the branches of what is published
// and of the status, and keeps what it read for as long as no branch moves. It asks no cluster, writes
// nothing, and never holds a manifest that somebody else published.
package facts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/state/sourceerrors"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/forge"
)

// Facts is what Git says at one moment. Nobody may modify it.
type Facts struct {
	// Key is equal for equal facts.
	Key string
	// At is when they were read.
	At time.Time
	// Fleet is how clusters are. It is empty where nothing is published yet.
	Fleet reports.Fleet
	// Site is where the source's forge shows its commits and files; the zero value where nobody knows.
	Site forge.Site
	// Bindings reads where templates go, once, when somebody asks; nil where nothing is published.
	Bindings func() Bindings
	// Rollouts reads what goes out in stages, or did, once, when somebody asks; nil where nothing is published.
	Rollouts func() Rollouts
	// SourceErrors reads the errors of the source, once, when somebody asks; nil where nothing is published.
	SourceErrors func() sourceerrors.Record
	// Memory reads what is remembered of new versions of images and charts, once, when somebody asks; nil where nobody looked.
	Memory func() (Memory, error)
}

// Rollouts is what goes out in stages, or did.
type Rollouts struct {
	Units []rollouts.Rollout // in the order of their names
	// Unreadable says of units why nothing is known of them.
	Unreadable map[rollouts.Unit]error
}

// Rollout returns what is recorded of a unit; nil for nothing.
func (f *Facts) Rollout(u rollouts.Unit) *rollouts.Rollout {
	if f.Rollouts == nil {
		return nil
	}
	all := f.Rollouts().Units
	n, ok := slices.BinarySearchFunc(all, u, func(r rollouts.Rollout, u rollouts.Unit) int { return r.Unit.Compare(u) })
	if !ok {
		return nil
	}
	return &all[n]
}

// Bindings is where templates go.
type Bindings struct {
	// Templates are those that go somewhere, or should, in the order of refs.
	Templates []*Template
	// Unreadable are files of the state branch that say nothing.
	Unreadable []string
}

// Templates are those that go somewhere, or should, in the order of refs.
func (f *Facts) Templates() []*Template {
	if f.Bindings == nil {
		return nil
	}
	return f.Bindings().Templates
}

// Template is where one template goes.
type Template struct {
	Ref    object.Ref
	Policy string // empty where only what needs it brings it
	// Unit is the one with which it goes out in stages, if its policy is in no roll-out group and there is one.
	Unit   rollouts.Unit
	Source string // its file
	// Replicas is what it asks for, 0 for a kind without. Divided says that its clusters share them.
	Replicas int32
	Divided  bool
	Targets  []Target // in the order of the clusters' names
	// Scheduled says how it was placed; the zero value where nothing is said of it.
	Scheduled metav1.Condition
	Leaving   []karmada.GracefulEvictionTask
	NeededBy  []string
	// Gone says that it goes nowhere any longer: what is said of it is what was said last.
	Gone bool

	path string // of its binding
}

// Target is a cluster to which a template goes, or in which it is left.
type Target struct {
	Cluster  string
	Replicas int32
	// Left says why it is not as decided there, and Kept that it is there all the same.
	Left string
	Kept bool
	// Undecided says that the decision does not send it there.
	Undecided bool
}

// Target returns what a template is to be in a cluster; false if it does not go there.
func (t *Template) Target(cluster string) (Target, bool) {
	i, ok := slices.BinarySearchFunc(t.Targets, cluster, func(t Target, name string) int { return cmp.Compare(t.Cluster, name) })
	if !ok {
		return Target{}, false
	}
	return t.Targets[i], true
}

// Placed reports a template that was placed as its policy asks.
func (t *Template) Placed() bool {
	return t.Scheduled.Status == "" || t.Scheduled.Status == metav1.ConditionTrue
}

// Cluster returns how a cluster is; nil if it is not registered.
func (f *Facts) Cluster(name string) *reports.Cluster {
	i, ok := slices.BinarySearchFunc(f.Fleet.Clusters, name, func(m reports.Cluster, name string) int { return cmp.Compare(m.Cluster, name) })
	if !ok {
		return nil
	}
	return &f.Fleet.Clusters[i]
}

// Find returns the templates of a kind, whose group may be left out, with a namespace and a name.
func (f *Facts) Find(kind, namespace, name string) []*Template {
	kind, group, _ := strings.Cut(kind, ".")
	named := object.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}
	var found []*Template
	for _, t := range f.Templates() {
		if isNamed(t.Ref, named) {
			found = append(found, t)
		}
	}
	return found
}

// isNamed reports a ref that an address means, which may leave out the group.
func isNamed(r, named object.Ref) bool {
	return strings.EqualFold(r.Kind, named.Kind) && r.Namespace == named.Namespace && r.Name == named.Name &&
		(named.Group == "" || strings.EqualFold(r.Group, named.Group))
}

// templateOf is what a binding says. Names are shared by intern.
func templateOf(path string, b *karmada.ResourceBinding, intern func(string) string) *Template {
	t := &Template{
		Ref: state.TemplateRef(b), Policy: state.PolicyOf(b), Source: b.Annotations[state.SourceAnnotation], Replicas: b.Spec.Replicas,
		Leaving: b.Spec.GracefulEvictionTasks, path: path,
	}
	if s := b.Spec.Placement; s != nil && s.ReplicaScheduling != nil {
		t.Divided = s.ReplicaScheduling.ReplicaSchedulingType == karmada.ReplicaSchedulingTypeDivided
	}
	if namespace, name, ok := state.PolicyRef(b); ok {
		t.Unit = rollouts.Unit{Namespace: namespace, Name: name}
	}
	t.Scheduled, _ = state.Scheduled(b)
	at := map[string]Target{}
	for _, c := range b.Spec.Clusters {
		at[c.Name] = Target{Cluster: intern(c.Name), Replicas: c.Replicas}
	}
	for _, s := range b.Spec.RequiredBy {
		t.NeededBy = append(t.NeededBy, strings.TrimPrefix(s.Namespace+"/"+s.Name, "/"))
		for _, c := range s.Clusters {
			if _, known := at[c.Name]; !known {
				at[c.Name] = Target{Cluster: intern(c.Name)}
			}
		}
	}
	for _, item := range b.Status.AggregatedStatus {
		c, known := at[item.ClusterName]
		c.Cluster, c.Left, c.Kept, c.Undecided = intern(item.ClusterName), cmp.Or(item.AppliedMessage, "it stays as it was published"), item.Applied, !known
		at[item.ClusterName] = c
	}
	t.Targets = make([]Target, 0, len(at))
	for _, c := range at {
		t.Targets = append(t.Targets, c)
	}
	slices.SortFunc(t.Targets, func(a, b Target) int { return cmp.Compare(a.Cluster, b.Cluster) })
	return t
}
