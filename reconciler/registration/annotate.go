package registration

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// Annotate returns the file in which a Cluster stands with an annotation of that value; the
// same bytes if it has that. At is where the source has the Cluster.
func Annotate(at diag.Pos, data []byte, cluster, key, value string) ([]byte, error) {
	d, err := open(at, data, cluster)
	if err != nil {
		return data, err
	}
	if is, ok := d.annotations()[key].(string); ok && is == value {
		return data, nil
	}
	if _, had := d.annotations()[key]; had {
		if data, err = Unannotate(at, data, cluster, key); err != nil {
			return nil, err
		}
		if d, err = open(at, data, cluster); err != nil {
			return nil, err
		}
	}
	want := d.annotations()
	want[key] = value
	text, err := json.Marshal(value) // which is YAML, too
	if err != nil {
		return nil, fmt.Errorf("writing %q: %w", value, err)
	}
	for _, data := range d.annotates(key + ": " + string(text)) {
		if d.annotated(data, want) {
			return data, nil
		}
	}
	return nil, fmt.Errorf("%s: metadata of Cluster %s is written in a way that is not edited here; add the annotation %s: %s by hand", at, cluster, key, text)
}

// Unannotate returns the file without an annotation of a Cluster; the same bytes if it has none.
func Unannotate(at diag.Pos, data []byte, cluster, key string) ([]byte, error) {
	d, err := open(at, data, cluster)
	if err != nil {
		return data, err
	}
	want := d.annotations()
	if _, had := want[key]; !had {
		return data, nil
	}
	delete(want, key)
	for _, data := range d.unannotates(key) {
		if d.annotated(data, want) {
			return data, nil
		}
	}
	return nil, fmt.Errorf("%s: metadata of Cluster %s is written in a way that is not edited here; take the annotation %s out by hand", at, cluster, key)
}

// annotations returns a copy of those of the Cluster.
func (d *document) annotations() map[string]any {
	all := map[string]any{}
	maps.Copy(all, annotationsOf(d.before.Objects[d.index]))
	return all
}

func annotationsOf(o *object.Object) map[string]any {
	meta, _ := o.Content()["metadata"].(map[string]any)
	all, _ := meta["annotations"].(map[string]any)
	return all
}

// annotated reports whether a file says what it said before, with these annotations.
func (d *document) annotated(data []byte, want map[string]any) bool {
	return d.becomes(data, func(is, was *object.Object) bool {
		now := annotationsOf(is)
		return (len(now)+len(want) == 0 || reflect.DeepEqual(now, want)) && reflect.DeepEqual(bare(is.Content()), bare(was.Content()))
	})
}

// bare returns the content of an object without its annotations.
func bare(content map[string]any) map[string]any {
	content = maps.Clone(content)
	meta, _ := content["metadata"].(map[string]any)
	meta = maps.Clone(meta)
	delete(meta, "annotations")
	content["metadata"] = meta
	return content
}

// annotates lists edits that may add an annotation, which is one line.
func (d *document) annotates(line string) [][]byte {
	_, meta := field(d.cluster, "metadata")
	_, annotations := field(meta, "annotations")
	switch {
	case meta == nil || meta.Kind != yaml.MappingNode || len(meta.Content) == 0:
		return nil
	case annotations == nil && isFlow(meta):
		return d.ends(meta, '}', "annotations: {"+line+"}")
	case annotations == nil:
		indent := strings.Repeat(" ", meta.Content[0].Column-1)
		return [][]byte{d.below(d.last(meta), indent+"annotations:", indent+"  "+line)}
	case annotations.Kind == yaml.MappingNode && isFlow(annotations):
		return d.ends(annotations, '}', line)
	case annotations.Kind == yaml.MappingNode:
		return [][]byte{d.below(d.last(annotations), strings.Repeat(" ", annotations.Column-1)+line)}
	}
	return nil
}

// unannotates lists edits that may take an annotation out.
func (d *document) unannotates(name string) (texts [][]byte) {
	_, meta := field(d.cluster, "metadata")
	whole, annotations := field(meta, "annotations")
	key, value := field(annotations, name)
	switch {
	case key == nil:
		return nil
	case !isFlow(annotations) && len(annotations.Content) == 2: // it is the only one
		return [][]byte{d.cut(span{whole.Line, whole.Line}, span{key.Line, d.last(value)})}
	case !isFlow(annotations):
		return [][]byte{d.cut(span{key.Line, d.last(value)})}
	case len(annotations.Content) == 2:
		return d.without(whole, d.closings(annotations, '}'))
	}
	for at := d.offset(value); at < d.starts[d.last(annotations)]; at++ { // one of these is its end
		texts = append(texts, d.without(key, []int{at})...)
	}
	return texts
}
