package registration

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// Unschedulable is the key of the taint by which a cluster is cordoned, as by karmadactl cordon.
const Unschedulable = "cluster.karmada.io/unschedulable"

// Drained is the key of the taint by which a cluster is drained.
const Drained = "waybill.dev/drain"

// taint is one that is written into a Cluster, and taken out.
type taint struct{ key, effect string }

var (
	cordon = taint{Unschedulable, string(corev1.TaintEffectNoSchedule)}
	drain  = taint{Drained, string(corev1.TaintEffectNoExecute)}
)

// inline is the taint in flow style.
func (t taint) inline() string { return "{key: " + t.key + ", effect: " + t.effect + "}" }

// item is the taint as an item of a list in block style.
func (t taint) item(indent string) []string {
	return []string{indent + "- key: " + t.key, indent + "  effect: " + t.effect}
}

func (t taint) is(other any) bool {
	o, _ := other.(map[string]any)
	return o["key"] == t.key && o["effect"] == t.effect
}

// on reports whether a Cluster has the taint.
func (t taint) on(cluster *object.Object) bool {
	return slices.ContainsFunc(taintsOf(cluster), t.is)
}

// Cordon returns the file in which a Cluster stands with the taint that keeps new objects
// away from it; the same bytes if it has that. At is where the source has the Cluster.
func Cordon(at diag.Pos, data []byte, cluster string) ([]byte, error) {
	return cordon.put(at, data, cluster)
}

// Drain returns the file in which a Cluster stands with the taint that has what is there leave
// it; the same bytes if it has that.
func Drain(at diag.Pos, data []byte, cluster string) ([]byte, error) {
	return drain.put(at, data, cluster)
}

// Uncordon returns the file in which a Cluster stands without these taints; the same bytes if
// it has none.
func Uncordon(at diag.Pos, data []byte, cluster string) ([]byte, error) {
	data, err := cordon.take(at, data, cluster)
	if err != nil {
		return data, err
	}
	return drain.take(at, data, cluster)
}

// put adds the taint to a Cluster.
func (t taint) put(at diag.Pos, data []byte, cluster string) ([]byte, error) {
	d, err := open(at, data, cluster)
	if err != nil || t.on(d.before.Objects[d.index]) {
		return data, err
	}
	want := append(taintsOf(d.before.Objects[d.index]), map[string]any{"key": t.key, "effect": t.effect})
	for _, text := range d.puts(t) {
		if d.says(text, want) {
			return text, nil
		}
	}
	return nil, fmt.Errorf("%s: spec of Cluster %s is written in a way that is not edited here; add %s to its taints by hand", d.specAt(), cluster, t.inline())
}

// take takes the taint from a Cluster.
func (t taint) take(at diag.Pos, data []byte, cluster string) ([]byte, error) {
	for {
		d, err := open(at, data, cluster)
		if err != nil || !t.on(d.before.Objects[d.index]) {
			return data, err
		}
		if data = d.untainted(t); data == nil {
			return nil, fmt.Errorf("%s: spec of Cluster %s is written in a way that is not edited here; take %s out of its taints by hand", d.specAt(), cluster, t.inline())
		}
	}
}

// untainted returns the file with one such taint less; nil if no edit does that.
func (d *document) untainted(one taint) []byte {
	var want []any
	index := -1
	for i, t := range taintsOf(d.before.Objects[d.index]) {
		if index < 0 && one.is(t) {
			index = i
			continue
		}
		want = append(want, t)
	}
	for _, text := range d.uncordons(index) {
		if d.says(text, want) {
			return text
		}
	}
	return nil
}

// specAt is where the spec of the Cluster stands.
func (d *document) specAt() diag.Pos {
	return diag.Pos{File: d.file, Line: d.before.Objects[d.index].FieldPos([]any{"spec"}).Line}
}

func taintsOf(o *object.Object) []any {
	spec, _ := o.Content()["spec"].(map[string]any)
	taints, _ := spec["taints"].([]any)
	return slices.Clip(taints)
}

// tainted returns the content of a Cluster with these taints; without the field where there
// are none.
func tainted(content map[string]any, taints []any) map[string]any {
	content = maps.Clone(content)
	spec, _ := content["spec"].(map[string]any)
	spec = maps.Clone(spec)
	if delete(spec, "taints"); len(taints) > 0 {
		spec["taints"] = taints
	}
	content["spec"] = spec
	return content
}

// puts lists edits that may add a taint, the ones that a person would choose first.
func (d *document) puts(t taint) (texts [][]byte) {
	_, spec := field(d.cluster, "spec")
	key, taints := field(spec, "taints")
	switch {
	case spec == nil || spec.Kind != yaml.MappingNode || len(spec.Content) == 0:
	case taints == nil && isFlow(spec):
		return d.ends(spec, '}', "taints: ["+t.inline()+"]")
	case taints == nil:
		indent := strings.Repeat(" ", spec.Content[0].Column-1)
		deeper := indent
		if d.indents() {
			deeper += "  "
		}
		return [][]byte{d.below(d.last(spec), append([]string{indent + "taints:"}, t.item(deeper)...)...)}
	case taints.Kind == yaml.SequenceNode && isFlow(taints):
		return d.ends(taints, ']', t.inline())
	case taints.Kind == yaml.SequenceNode:
		return [][]byte{d.below(d.last(taints), t.item(strings.Repeat(" ", taints.Column-1))...)}
	case taints.ShortTag() == "!!null":
		at := d.offset(key) + len(key.Value) + 1
		if taints.Value != "" {
			at = d.offset(taints)
			return [][]byte{d.spliced(at, at+len(taints.Value), "["+t.inline()+"]")}
		}
		return [][]byte{d.spliced(at, at, " ["+t.inline()+"]")}
	}
	return nil
}

// indents reports whether the document indents its lists below their keys, as it does if it
// has none.
func (d *document) indents() bool {
	indents := true
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && c.Kind == yaml.SequenceNode && !isFlow(c) {
				indents = c.Column > n.Content[i-1].Column
			}
			walk(c)
		}
	}
	walk(d.root)
	return indents
}

// ends lists edits that add something at the end of a collection in flow style.
func (d *document) ends(n *yaml.Node, closing byte, text string) (texts [][]byte) {
	if len(n.Content) > 0 {
		text = ", " + text
	}
	for _, at := range d.closings(n, closing) {
		trimmed := len(bytes.TrimRight(d.data[:at], " \t\r\n"))
		if len(n.Content) == 0 {
			trimmed = at
		}
		texts = append(texts, d.spliced(trimmed, trimmed, text), d.spliced(at, at, text))
	}
	return texts
}

// closings lists where a bracket stands behind the beginning of a node, one of which ends it.
func (d *document) closings(n *yaml.Node, closing byte) (at []int) {
	end := d.starts[d.last(n)]
	if next := d.following(n); next != nil {
		end = d.offset(next)
	}
	for i := d.offset(n) + 1; i < end; i++ {
		if d.data[i] == closing {
			at = append(at, i)
		}
	}
	return at
}

// uncordons lists edits that may take a taint out.
func (d *document) uncordons(index int) [][]byte {
	_, spec := field(d.cluster, "spec")
	key, taints := field(spec, "taints")
	if taints == nil || taints.Kind != yaml.SequenceNode || index >= len(taints.Content) {
		return nil
	}
	one := taints.Content[index]
	switch only := len(taints.Content) == 1; {
	case only && isFlow(spec):
		return d.without(key, d.closings(taints, ']'))
	case only && isFlow(taints):
		return [][]byte{d.cut(span{key.Line, d.last(taints)})}
	case only: // comments between the two stay
		return [][]byte{d.cut(span{key.Line, key.Line}, span{one.Line, d.last(one)})}
	case isFlow(taints):
		return d.without(one, d.closings(one, '}'))
	}
	return [][]byte{d.cut(span{one.Line, d.last(one)})}
}

// without lists edits that take a member out of a collection in flow style. It ends at one of
// the brackets.
func (d *document) without(member *yaml.Node, closings []int) (texts [][]byte) {
	from := d.offset(member)
	before := bytes.TrimRight(d.data[:from], " \t\r\n")
	for _, at := range closings {
		if bytes.HasSuffix(before, []byte(",")) {
			texts = append(texts, d.spliced(len(before)-1, at+1, ""))
			continue
		}
		rest := bytes.TrimLeft(d.data[at+1:], " \t\r\n")
		rest = bytes.TrimLeft(bytes.TrimPrefix(rest, []byte(",")), " ")
		texts = append(texts, d.spliced(from, len(d.data)-len(rest), ""))
	}
	return texts
}

func isFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }
