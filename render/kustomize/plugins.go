package kustomize

import (
	"fmt"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
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
