package build

import (
	"fmt"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/diag"
)

// builtin reports whether a plugin is built into kustomize, and whether its
// configuration may name files. No other plugin runs here.
func builtin(kind string) (known, locates bool) {
	switch kind {
	case "ConfigMapGenerator", "SecretGenerator", "PatchTransformer", "PatchJson6902Transformer",
		"PatchStrategicMergeTransformer", "ReplacementTransformer", "ValueAddTransformer":
		return true, true
	case "AnnotationsTransformer", "HashTransformer", "IAMPolicyGenerator", "ImageTagTransformer", "LabelTransformer",
		"NamespaceTransformer", "PrefixSuffixTransformer", "PrefixTransformer", "ReplicaCountTransformer", "SuffixTransformer":
		return true, false
	}
	return false, false
}

// pluginConfig is what the locating plugins read from their configuration, all in one:
// no two of them give one field different types.
type pluginConfig struct {
	types.KvPairSources
	Path           string                      `json:"path"`
	Patch          string                      `json:"patch"`
	JSONOp         string                      `json:"jsonOp"`
	Paths          []types.PatchStrategicMerge `json:"paths"`
	Patches        string                      `json:"patches"`
	Replacements   []types.ReplacementField    `json:"replacements"`
	TargetFilePath string                      `json:"targetFilePath"`
}

// pluginUses lists what the plugin that r configures would read.
func pluginUses(f field, r *resource.Resource) ([]use, error) {
	gvk := r.GetGvk()
	known, locates := builtin(gvk.Kind)
	switch {
	case gvk.Kind == "HelmChartInflationGenerator":
		return nil, fmt.Errorf("configures a chart, %q, and charts are rendered from the field helmCharts only", r.GetName())
	case gvk.Group != "" || gvk.Version != konfig.BuiltinPluginApiVersion || !known:
		return nil, fmt.Errorf("configures %s of %s, and only plugins that are built into kustomize run", gvk.Kind, gvk.ApiVersion())
	case !locates:
		return nil, nil
	}
	written, err := r.AsYAML()
	if err != nil {
		return nil, err
	}
	var c pluginConfig
	if err := yaml.Unmarshal(written, &c); err != nil {
		return nil, err
	}
	files, envs := data, data
	if gvk.Kind == "SecretGenerator" {
		files, envs = secret, secrets
	}
	all := sourceUses(f, &c.KvPairSources, files, envs)
	all = append(all, pathUse(f.at("path"), c.Path, document)...)
	all = append(all, pathUse(f.at("patch"), c.Patch, text)...)
	all = append(all, pathUse(f.at("jsonOp"), c.JSONOp, text)...)
	for i, p := range c.Paths {
		all = append(all, use{f.at("paths", i), string(p), patch})
	}
	all = append(all, pathUse(f.at("patches"), c.Patches, text)...)
	for i, p := range c.Replacements {
		all = append(all, pathUse(f.at("replacements", i, "path"), p.Path, document)...)
	}
	return append(all, pathUse(f.at("targetFilePath"), c.TargetFilePath, document)...), nil
}

// plugin scans the configurations of generators, transformers or validators: those that
// stand in the string itself if kustomize finds any there, or else those in what it
// names. Files that they name are looked for from the folder of k, wherever they stand
// themselves.
func (s *scan) plugin(k *kustfile, u use) {
	if isYAMLText(u.value) {
		if !s.limits(k.pos(u.field), u.field, []byte(u.value)) {
			return
		}
		if m := s.resources([]byte(u.value)); m != nil {
			s.configs(k, u, m)
			return
		}
	}
	name, isDir, err := s.view.resolve(k.dir, u.value)
	switch {
	case err != nil:
		s.location(k.pos(u.field), u, err)
	case isDir:
		s.pluginFolder(k, u, name)
	default:
		s.pluginFile(k, u, name)
	}
}

func (s *scan) pluginFile(k *kustfile, u use, name string) {
	if content, ok := s.yaml(name); ok {
		if m := s.resources(content); m != nil {
			s.configs(k, u, m)
		}
	}
}

// pluginFolder scans configurations that a kustomization of their own lists. It may do
// no more than list them: what it changed would be seen by kustomize alone.
func (s *scan) pluginFolder(k *kustfile, u use, dir string) {
	at := listing{dir, k.dir}
	if s.plugins[at] {
		return
	}
	s.plugins[at] = true
	inner := s.read(dir, k.pos(u.field))
	if inner == nil {
		return
	}
	rest := inner.Kustomization
	rest.Resources, rest.Bases, rest.MetaData = nil, nil, nil //nolint:staticcheck // kustomize still reads bases
	if rest.CheckEmpty() == nil {
		s.refuse(diag.Pos{File: inner.file}, diag.KustomizePlugin,
			fmt.Sprintf("%s of %s uses it for configurations of plugins, and such a kustomization may only list resources", u.field, k.file),
			"write the configurations out as they should be")
		return
	}
	for _, r := range uses(&inner.Kustomization) {
		name, isDir, err := s.view.resolve(dir, r.value)
		switch {
		case err != nil:
			s.location(inner.pos(r.field), r, err)
		case isDir:
			s.pluginFolder(k, u, name)
		default:
			s.pluginFile(k, u, name)
		}
	}
}

// configs scans configurations of plugins that u of k stands for.
func (s *scan) configs(k *kustfile, u use, m resmap.ResMap) {
	for _, r := range m.Resources() {
		all, err := pluginUses(u.field.at(r.GetKind()), r)
		if err != nil {
			s.refuse(k.pos(u.field), diag.KustomizePlugin, fmt.Sprintf("%s: %s", u.field, err), "use a builtin plugin, patches or replacements")
		}
		for _, inner := range all {
			s.use(k, inner)
		}
	}
}
