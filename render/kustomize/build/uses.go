package build

import (
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
)

// kind is what kustomize makes of a string in a kustomization.
type kind int

const (
	manifests kind = iota // the path of a file of manifests or of a folder with a kustomization
	folder                // the path of a folder with a kustomization
	document              // the path of a YAML file
	data                  // the path of a file that is taken as it stands
	secret                // the same, of a value that is secret
	secrets               // the same, of lines with values that are secret
	text                  // YAML
	patch                 // YAML, or else the path of a YAML file
	plugin                // configurations of plugins as YAML, or else their path as for manifests
)

// use is one string that names or holds something kustomize reads.
type use struct {
	field field
	value string
	kind  kind
}

// uses lists all strings of a kustomization that kustomize reads something from, in
// the order in which a reader meets them in the documentation. Everything else in a
// kustomization is only a value.
func uses(k *types.Kustomization) []use {
	var all []use
	list := func(name string, kind kind, values []string) {
		for i, v := range values {
			all = append(all, use{field{name, i}, v, kind})
		}
	}
	list("resources", manifests, k.Resources)
	list("bases", manifests, k.Bases) //nolint:staticcheck // kustomize still reads it
	list("components", folder, k.Components)
	list("crds", document, k.Crds)
	list("configurations", document, k.Configurations)
	list("generators", plugin, k.Generators)
	list("transformers", plugin, k.Transformers)
	list("validators", plugin, k.Validators)
	if p, ok := k.OpenAPI["path"]; ok {
		all = append(all, use{field{"openapi", "path"}, p, document})
	}
	for i, p := range k.PatchesStrategicMerge { //nolint:staticcheck // kustomize still reads it
		all = append(all, use{field{"patchesStrategicMerge", i}, string(p), patch})
	}
	all = append(all, patchUses("patchesJson6902", k.PatchesJson6902)...) //nolint:staticcheck // kustomize still reads it
	all = append(all, patchUses("patches", k.Patches)...)
	for i, r := range k.Replacements {
		all = append(all, pathUse(field{"replacements", i, "path"}, r.Path, document)...)
	}
	for i, g := range k.ConfigMapGenerator {
		all = append(all, sourceUses(field{"configMapGenerator", i}, &g.KvPairSources, data, data)...)
	}
	for i, g := range k.SecretGenerator {
		all = append(all, sourceUses(field{"secretGenerator", i}, &g.KvPairSources, secret, secrets)...)
	}
	return all
}

// pathUse is the use of a path that may be left out.
func pathUse(f field, value string, kind kind) []use {
	if value == "" {
		return nil
	}
	return []use{{f, value, kind}}
}

func patchUses(name string, patches []types.Patch) []use {
	var all []use
	for i, p := range patches {
		all = append(all, pathUse(field{name, i, "path"}, p.Path, document)...)
		all = append(all, pathUse(field{name, i, "patch"}, p.Patch, text)...)
	}
	return all
}

// sourceUses lists what a generator of ConfigMaps or Secrets reads, as the kinds given.
func sourceUses(f field, s *types.KvPairSources, files, envs kind) []use {
	var all []use
	for i, source := range s.FileSources {
		if _, after, ok := strings.Cut(source, "="); ok {
			source = after
		}
		all = append(all, use{f.at("files", i), source, files})
	}
	for i, source := range s.EnvSources {
		all = append(all, use{f.at("envs", i), source, envs})
	}
	return append(all, pathUse(f.at("env"), s.EnvSource, envs)...)
}

// at returns f with more steps.
func (f field) at(steps ...any) field { return append(slices.Clip(f), steps...) }
