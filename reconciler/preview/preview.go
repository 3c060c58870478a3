// Package preview compares two plans: it says what going from one to the other does to
// every cluster, what appears, moves, scales, changes and disappears, where, and why.
// Equal changes in many clusters are one change.
//
// A Comparison is a value, and looks like nothing yet: package report shows it at a
// terminal and gives it to programs, such as one that comments on a pull request. Values of
// Secrets never reach it, so that whoever shows it need not look for them.
package preview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// Comparison is what changes between two plans.
type Comparison struct {
	Base     string            `json:"base"`
	Head     string            `json:"head"`
	Objects  []Object          `json:"objects"`
	Clusters []Cluster         `json:"clusters"`
	Diags    []diag.Diagnostic `json:"diagnostics,omitempty"` // of the head: all errors, and what else the base has not
}

// Errors counts what is an error in the head's source. What is held is sound, and is shown.
func (c *Comparison) Errors() int {
	n := 0
	for _, d := range c.Diags {
		if isMistake(d) {
			n++
		}
	}
	return n
}

// isMistake reports an error of the source.
func isMistake(d diag.Diagnostic) bool { return d.Severity == diag.Error && d.Code != diag.Held }

// Empty reports that the two plans are the same to every cluster.
func (c *Comparison) Empty() bool { return len(c.Objects) == 0 && len(c.Clusters) == 0 }

// Object is what changes for one object over all clusters.
type Object struct {
	Object  object.Ref `json:"object"`
	Verb    string     `json:"verb"` // appears, disappears, moves, scales or changes
	Why     string     `json:"why,omitempty"`
	Added   []string   `json:"added,omitempty"`   // clusters that receive it
	Removed []string   `json:"removed,omitempty"` // clusters that lose it
	Scaled  []Scale    `json:"scaled,omitempty"`
	Changed []Content  `json:"changed,omitempty"`
}

// Scale is a change of replicas in one cluster.
type Scale struct {
	Cluster string `json:"cluster"`
	From    int32  `json:"from"`
	To      int32  `json:"to"`
}

// Content is one change of a manifest and the clusters it is the same in.
type Content struct {
	Clusters []string `json:"clusters"`
	Diff     string   `json:"diff"` // unified; without values for Secrets
}

// Cluster counts what changes in one cluster.
type Cluster struct {
	Name    string `json:"name"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Changed int    `json:"changed"`
	Held    string `json:"held,omitempty"`
	New     bool   `json:"new,omitempty"`
	Gone    bool   `json:"gone,omitempty"`
}

// Compare reports what changes from base to head.
func Compare(base, head *plan.Plan) (Comparison, error) {
	c := comparer{base: base, head: head, objects: map[object.Ref]*Object{}, contents: map[change]int{}}
	r := Comparison{Base: base.Revision.Commit, Head: head.Revision.Commit}
	for name, pair := range pairs(base, head) {
		cl, err := c.cluster(name, pair[0], pair[1])
		if err != nil {
			return Comparison{}, err
		}
		if cl != (Cluster{Name: name}) {
			r.Clusters = append(r.Clusters, cl)
		}
	}
	slices.SortFunc(r.Clusters, func(a, b Cluster) int { return cmp.Compare(a.Name, b.Name) })
	c.decisions()
	for _, o := range c.objects {
		slices.Sort(o.Added)
		slices.Sort(o.Removed)
		slices.SortFunc(o.Scaled, func(a, b Scale) int { return cmp.Compare(a.Cluster, b.Cluster) })
		for i := range o.Changed {
			slices.Sort(o.Changed[i].Clusters)
		}
		slices.SortFunc(o.Changed, func(a, b Content) int { return slices.Compare(a.Clusters, b.Clusters) })
		o.Verb = verb(o)
		r.Objects = append(r.Objects, *o)
	}
	slices.SortFunc(r.Objects, func(a, b Object) int { return a.Object.Compare(b.Object) })
	for _, d := range head.Diags {
		if isMistake(d) || !slices.Contains(base.Diags, d) {
			r.Diags = append(r.Diags, d)
		}
	}
	return r, nil
}

// pairs matches the clusters of two plans by name.
func pairs(base, head *plan.Plan) map[string][2]*plan.Cluster {
	out := map[string][2]*plan.Cluster{}
	for i := range base.Clusters {
		c := &base.Clusters[i]
		out[c.Name] = [2]*plan.Cluster{c, nil}
	}
	for i := range head.Clusters {
		c := &head.Clusters[i]
		out[c.Name] = [2]*plan.Cluster{out[c.Name][0], c}
	}
	return out
}

type comparer struct {
	base, head *plan.Plan
	objects    map[object.Ref]*Object
	contents   map[change]int          // where in Object.Changed a change stands
	private    map[object.Ref][]string // see secrets; nil until it is asked
}

// change is a manifest that goes from one content to another.
type change struct {
	object   object.Ref
	from, to files.ID
}

func (c *comparer) object(r object.Ref) *Object {
	o, ok := c.objects[r]
	if !ok {
		o = &Object{Object: r}
		c.objects[r] = o
	}
	return o
}

// cluster adds what changes in one cluster.
func (c *comparer) cluster(name string, base, head *plan.Cluster) (Cluster, error) {
	out := Cluster{Name: name, New: base == nil, Gone: head == nil}
	if head != nil && head.Held != nil {
		out.Held = head.Held.Reason
	}
	for ch := range files.Diff(treeOf(base), treeOf(head)) {
		if !strings.HasPrefix(ch.Path, tree.ManifestDir+"/") {
			continue
		}
		blob := ch.New.Blob
		if blob == nil {
			blob = ch.Old.Blob
		}
		ref, err := refOf(ch.Path, blob)
		if err != nil {
			return out, err
		}
		o := c.object(ref)
		switch {
		case ch.Old.Blob == nil:
			out.Added++
			o.Added = append(o.Added, name)
		case ch.New.Blob == nil:
			out.Removed++
			o.Removed = append(o.Removed, name)
		default:
			out.Changed++
			if err := c.changed(o, name, ch); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

func treeOf(c *plan.Cluster) *files.Folder {
	if c == nil {
		return nil
	}
	return c.Tree
}

func refOf(path string, b *files.Blob) (object.Ref, error) {
	data, err := b.Bytes()
	if err != nil {
		return object.Ref{}, fmt.Errorf("reading %s: %w", path, err)
	}
	return object.RefOf(path, data) //nolint:wrapcheck // it names the file
}

// changed files a changed manifest with the clusters in which it changes alike.
func (c *comparer) changed(o *Object, cluster string, ch files.Change) error {
	from, had := c.base.Replicas(ch.Old.Blob)
	to, has := c.head.Replicas(ch.New.Blob)
	if had && has && from != to {
		o.Scaled = append(o.Scaled, Scale{Cluster: cluster, From: from, To: to})
	}
	key := change{o.Object, ch.Old.ID, ch.New.ID}
	if i, ok := c.contents[key]; ok {
		o.Changed[i].Clusters = append(o.Changed[i].Clusters, cluster)
		return nil
	}
	old, err := ch.Old.Blob.Bytes()
	if err != nil {
		return fmt.Errorf("reading %s: %w", ch.Path, err)
	}
	now, err := ch.New.Blob.Bytes()
	if err != nil {
		return fmt.Errorf("reading %s: %w", ch.Path, err)
	}
	c.contents[key] = len(o.Changed)
	o.Changed = append(o.Changed, Content{Clusters: []string{cluster}, Diff: c.unified(o.Object, string(old), string(now))})
	return nil
}

// decisions adds reasons from what the plans decided.
func (c *comparer) decisions() {
	base, head := decisions(c.base), decisions(c.head)
	for ref, o := range c.objects {
		b, h := base[ref], head[ref]
		o.Why = why(o, b, h)
	}
}

func decisions(p *plan.Plan) map[object.Ref]*plan.Decision {
	out := make(map[object.Ref]*plan.Decision, len(p.Decisions))
	for i := range p.Decisions {
		out[p.Decisions[i].Template.Ref()] = &p.Decisions[i]
	}
	return out
}

// verb sums an object's changes up in the word that matters most.
func verb(o *Object) string {
	switch {
	case len(o.Added) > 0 && len(o.Removed) > 0:
		return "moves"
	case len(o.Added) > 0:
		return "appears"
	case len(o.Removed) > 0:
		return "disappears"
	case len(o.Scaled) > 0:
		return "scales"
	}
	return "changes"
}
