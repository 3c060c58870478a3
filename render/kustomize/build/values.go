package build

import (
	"fmt"
	"maps"
	"path"

	"sigs.k8s.io/kustomize/api/types"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/kustomize/kyaml/yaml/merge2"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/sources/words"
)

// values merges the values of a chart's entry as kustomize and helm do: those of
// valuesFile, or else of the chart itself, with valuesInline as valuesMerge says; over
// them additionalValuesFiles, the last on top.
func (s *scan) values(k *kustfile, f field, chart string, c types.HelmChart) (map[string]any, error) {
	base, err := s.baseValues(k, f, chart, c)
	if err != nil {
		return nil, err
	}
	values, err := inlined(base, c)
	if err != nil {
		return nil, err
	}
	for i, file := range c.AdditionalValuesFiles {
		content, ok := s.located(k, use{f.at("additionalValuesFiles", i), file, document})
		if !ok {
			return nil, errReported
		}
		more, err := decoded(file, content)
		if err != nil {
			return nil, err
		}
		values = layered(values, more)
	}
	return values, nil
}

// baseValues reads the values that valuesInline is merged with. Of a chart that is not
// in the repository there are none, and Helm has them anyway.
func (s *scan) baseValues(k *kustfile, f field, chart string, c types.HelmChart) ([]byte, error) {
	own := path.Join(chart, "values.yaml")
	switch {
	case c.ValuesFile != "":
		content, ok := s.located(k, use{f.at("valuesFile"), c.ValuesFile, document})
		if !ok {
			return nil, errReported
		}
		return content, nil
	case chart != "" && s.view.isFile(own):
		content, ok := s.yaml(own)
		if !ok {
			return nil, errReported
		}
		return content, nil
	case c.ValuesMerge == "merge" && chart == "" && len(c.ValuesInline) > 0:
		return nil, fmt.Errorf("valuesMerge %q needs the values of the chart, which is not in the repository", c.ValuesMerge)
	default:
		return nil, nil
	}
}

// located reads a YAML file that a kustomization names.
func (s *scan) located(k *kustfile, u use) ([]byte, bool) {
	name, isDir, err := s.view.resolve(k.dir, u.value)
	if isDir {
		err = errNoFile
	}
	if err != nil {
		s.location(k.pos(u.field), u, err)
		return nil, false
	}
	return s.yaml(name)
}

// inlined merges valuesInline with the values of a file. A null removes a key.
func inlined(base []byte, c types.HelmChart) (map[string]any, error) {
	switch c.ValuesMerge {
	case "", "override", "merge", "replace":
	default:
		return nil, fmt.Errorf("valuesMerge is %q; it must be override, merge or replace", words.Short(c.ValuesMerge))
	}
	switch {
	case len(c.ValuesInline) == 0:
		return decoded(c.ValuesFile, base)
	case c.ValuesMerge == "replace":
		return c.ValuesInline, nil
	}
	file, err := kyaml.Parse(or(string(base), "{}"))
	if err != nil {
		return nil, fmt.Errorf("reading the values of %s: %w", c.Name, err)
	}
	inline, err := kyaml.FromMap(c.ValuesInline)
	if err != nil {
		return nil, fmt.Errorf("reading valuesInline: %w", err)
	}
	over, under := inline, file
	if c.ValuesMerge == "merge" {
		over, under = file, inline
	}
	both, err := merge2.Merge(over, under, kyaml.MergeOptions{})
	if err != nil {
		return nil, fmt.Errorf("merging valuesInline: %w", err)
	}
	if kyaml.IsMissingOrNull(both) {
		return nil, nil
	}
	return both.Map()
}

func decoded(file string, content []byte) (map[string]any, error) {
	var values map[string]any
	if err := yaml.Unmarshal(content, &values); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return values, nil
}

// layered lays values over others as helm does: mappings are merged, all else is
// replaced.
func layered(under, over map[string]any) map[string]any {
	all := maps.Clone(under)
	if all == nil {
		all = map[string]any{}
	}
	for key, o := range over {
		u, below := all[key].(map[string]any)
		if m, ok := o.(map[string]any); ok && below {
			o = layered(u, m)
		}
		all[key] = o
	}
	return all
}
