package kustomize

// Overlay is what a Flux Kustomization (kustomize.toolkit.fluxcd.io/v1) adds to the
// folder that it names. The fields have the names and the meaning of those of its spec.
// The zero value adds nothing, but builds as Flux does: a folder without a
// kustomization is all manifests below it, an empty one is no error, and files may be
// loaded from anywhere in the repository.
type Overlay struct {
	Patches                 []Patch   `json:"patches,omitempty"`
	Images                  []Image   `json:"images,omitempty"`
	TargetNamespace         string    `json:"targetNamespace,omitempty"`
	NamePrefix              string    `json:"namePrefix,omitempty"`
	NameSuffix              string    `json:"nameSuffix,omitempty"`
	Components              []string  `json:"components,omitempty"` // relative to the folder that is built
	IgnoreMissingComponents bool      `json:"ignoreMissingComponents,omitempty"`
	BuildMetadata           []string  `json:"buildMetadata,omitempty"` // in place of the folder's own
	CommonMetadata          *Metadata `json:"commonMetadata,omitempty"`
	// Substitute holds all variables of postBuild, those of substituteFrom included,
	// where substitute has the last word. Without any, nothing is substituted, unless
	// SubstituteAlways says so.
	Substitute       map[string]string `json:"substitute,omitempty"`
	SubstituteAlways bool              `json:"substituteAlways,omitempty"`
	// Sealed are variables whose values are encrypted, with what holds them. To use one is an error.
	Sealed map[string]string `json:"sealed,omitempty"`
}

// Patch is a strategic merge or JSON 6902 patch, as YAML, and what it changes. The
// target may be nil for a strategic merge patch, which names its own.
type Patch struct {
	Patch  string  `json:"patch"`
	Target *Target `json:"target,omitempty"`
}

// Target selects objects. Empty fields select any; Group to Namespace are regular
// expressions, the last two label selectors.
type Target struct {
	Group              string `json:"group,omitempty"`
	Version            string `json:"version,omitempty"`
	Kind               string `json:"kind,omitempty"`
	Name               string `json:"name,omitempty"`
	Namespace          string `json:"namespace,omitempty"`
	LabelSelector      string `json:"labelSelector,omitempty"`
	AnnotationSelector string `json:"annotationSelector,omitempty"`
}

// Image replaces the name, the tag or the digest of images of a name. A digest has
// precedence over a tag.
type Image struct {
	Name    string `json:"name"`
	NewName string `json:"newName,omitempty"`
	NewTag  string `json:"newTag,omitempty"`
	Digest  string `json:"digest,omitempty"`
}

// Metadata is set on every object, in place of what has the same keys there.
type Metadata struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}
