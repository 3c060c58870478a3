package build

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/kustomize"
)

// overlaid scans a folder with an overlay over it. It reports whether nothing is left
// to build, which kustomize itself would call an error.
func (s *scan) overlaid(dir string, o *kustomize.Overlay) (empty bool) {
	k := s.rootOf(dir)
	if k == nil {
		return false
	}
	k.changed = true
	for _, v := range o.Substitute {
		s.hide(v)
	}
	k.Namespace = or(o.TargetNamespace, k.Namespace)
	k.NamePrefix = or(o.NamePrefix, k.NamePrefix)
	k.NameSuffix = or(o.NameSuffix, k.NameSuffix)
	k.Images = merged(k.Images, o.Images)
	if len(o.BuildMetadata) > 0 {
		k.BuildMetadata = o.BuildMetadata
	}
	s.folders[dir] = 0
	n := s.kustomization(k)
	for i, p := range o.Patches {
		f := field{"spec", "patches", i, "patch"}
		s.limits(diag.Pos{}, f, []byte(p.Patch))
		if p.Patch == "" {
			s.refuse(diag.Pos{}, diag.FluxKustomization, f.String()+" is empty", "write a patch or remove the entry")
		}
		k.Patches = append(k.Patches, types.Patch{Patch: p.Patch, Target: selector(p.Target)})
	}
	n += s.components(k, o)
	s.bounded(n, dir, diag.Pos{})
	return k.CheckEmpty() != nil
}

func or(first, second string) string {
	if first != "" {
		return first
	}
	return second
}

// components scans the overlay's components and adds them.
func (s *scan) components(k *kustfile, o *kustomize.Overlay) (visits int) {
	for i, c := range o.Components {
		u := use{field{"spec", "components", i}, c, folder}
		name, isDir, err := s.view.resolve(k.dir, c)
		switch {
		case errors.Is(err, errMissing) && o.IgnoreMissingComponents:
			continue
		case err != nil:
			s.location(diag.Pos{}, u, err)
		case !isDir:
			s.location(diag.Pos{}, u, errNoFolder)
		default:
			k.bases = append(k.bases, name)
			visits += s.folder(name, diag.Pos{})
			k.Components = append(k.Components, c)
		}
	}
	return visits
}

// selector is what a target selects, in kustomize's words.
func selector(t *kustomize.Target) *types.Selector {
	if t == nil {
		return nil
	}
	return &types.Selector{
		ResId: resid.ResId{
			Gvk:       resid.Gvk{Group: t.Group, Version: t.Version, Kind: t.Kind},
			Name:      t.Name,
			Namespace: t.Namespace,
		},
		LabelSelector: t.LabelSelector, AnnotationSelector: t.AnnotationSelector,
	}
}

// merged lays images over those of a kustomization: a name given there keeps what the
// overlay does not say. A tag and a digest are one value, the version.
func merged(images []types.Image, over []kustomize.Image) []types.Image {
	images = slices.Clone(images)
	for _, o := range over {
		i := slices.IndexFunc(images, func(m types.Image) bool { return m.Name == o.Name })
		if i < 0 {
			images = append(images, types.Image{Name: o.Name, NewName: o.NewName, NewTag: o.NewTag, Digest: o.Digest})
			continue
		}
		images[i].NewName = or(o.NewName, images[i].NewName)
		if o.NewTag != "" || o.Digest != "" {
			images[i].NewTag, images[i].Digest = o.NewTag, o.Digest
		}
	}
	return images
}

// finish does to the objects what Flux does after kustomize.
func finish(o *kustomize.Overlay, m resmap.ResMap) error {
	for _, r := range m.Resources() {
		if err := substitute(o, r); err != nil {
			return fmt.Errorf("substituting variables in %s %s: %w", r.GetKind(), r.GetName(), err)
		}
		if o.CommonMetadata == nil {
			continue
		}
		labels, annotations := r.GetLabels(), r.GetAnnotations()
		maps.Copy(labels, o.CommonMetadata.Labels)
		maps.Copy(annotations, o.CommonMetadata.Annotations)
		if err := r.SetLabels(labels); err != nil {
			return fmt.Errorf("labelling %s %s: %w", r.GetKind(), r.GetName(), err)
		}
		if err := r.SetAnnotations(annotations); err != nil {
			return fmt.Errorf("annotating %s %s: %w", r.GetKind(), r.GetName(), err)
		}
	}
	return nil
}
