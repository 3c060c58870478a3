package marker

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Write returns the file with the values of some policies written, and whether that changes it. Values of policies that
// images does not have stay. The error says that what was written would not be read as it should: nothing is
// to be written then.
func (f *File) Write(images map[Policy]Image) (data []byte, changed bool, err error) {
	data = f.data
	values := map[int]string{}
	for _, m := range slices.Backward(f.Markers) {
		image, ok := images[m.Policy]
		if !ok {
			continue
		}
		value := image.part(m.Part)
		if value == "" {
			return nil, false, fmt.Errorf("%s: there is no %s to write", m.Pos, m.Part)
		}
		if value == m.Value {
			continue
		}
		values[m.node] = value
		data = slices.Concat(data[:m.from], []byte(m.scalar(value)), data[m.to:])
	}
	if len(values) == 0 {
		return f.data, false, nil
	}
	if err := f.holds(data, values); err != nil {
		return nil, false, fmt.Errorf("%s: %w", f.Path, err)
	}
	return data, true, nil
}

// scalar writes a value in the style of the one that was there. A plain one that YAML would read as a number, or as
// anything but a text, gets quotes.
func (m *Marker) scalar(value string) string {
	quote := m.quote
	if quote == "" {
		var n yaml.Node
		err := yaml.Unmarshal([]byte(value), &n)
		if err != nil || len(n.Content) != 1 || n.Content[0].ShortTag() != yaml.NodeTagString || yaml.IsYaml1_1NonString(n.Content[0]) {
			quote = `"`
		}
	}
	return quote + value + quote
}

// errOther says that splicing changed more than values.
var errOther = errors.New("more than the values would change")

// holds is an error if what was written is not what was read, but for the values, by their nodes.
func (f *File) holds(data []byte, values map[int]string) error {
	now, _, err := parse(data)
	if err != nil {
		return fmt.Errorf("what would be written cannot be read: %w", err)
	}
	if len(now) != len(f.nodes) {
		return errOther
	}
	for i, n := range now {
		was := f.nodes[i]
		value, written := values[i]
		switch {
		case written && (n.Kind != yaml.ScalarNode || n.Value != value || n.ShortTag() != yaml.NodeTagString):
			return errOther
		case !written && (n.Value != was.Value || n.Tag != was.Tag || n.Style != was.Style):
			return errOther
		case n.Kind != was.Kind || n.Anchor != was.Anchor:
			return errOther
		case n.HeadComment != was.HeadComment || n.LineComment != was.LineComment || n.FootComment != was.FootComment:
			return errOther
		}
	}
	if bytes.Count(data, []byte("\n")) != bytes.Count(f.data, []byte("\n")) {
		return errOther
	}
	return nil
}
