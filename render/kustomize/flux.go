package kustomize

import "github.com/waybill-dev/waybill/render/diag"

// Flux is what a Flux Kustomization (kustomize.toolkit.fluxcd.io/v1) says.
type Flux struct {
	Path           string // the folder to build, inside the source; "." is its root
	Prune          bool
	Suspend        bool
	SourceRef      Reference
	DependsOn      []Reference
	SubstituteFrom []Reference // in the order in which later ones win
	// Overlay is what it adds. Its Substitute holds the variables of
	// postBuild.substitute alone: the caller lays them over those of SubstituteFrom.
	Overlay Overlay
}

// Reference names another object. Kind and Namespace are empty where Flux implies them.
type Reference struct {
	Kind, Namespace, Name string
	Optional              bool // the object may be missing; of SubstituteFrom alone
}

// Problem is what is wrong with a field.
type Problem struct {
	Path     []any // names and indices from the root of the object, as spec, patches, 0, patch
	Severity diag.Severity
	Message  string // names the field and its value
	Hint     string // what to do about it; may be empty
}

// ReadFlux reads a Flux Kustomization as decoded from YAML. With an Error among the
// problems it must not be built; a Warning names a field that is not known here and
// does nothing. Secrets are delivered as they are, so that decryption says nothing
// here, nor does what is about applying: interval, timeout, wait, healthChecks and
// their like.
func ReadFlux(content map[string]any) (Flux, []Problem) {
	r := &reader{}
	spec := value{r: r, v: content}.at("spec")
	post := spec.at("postBuild")
	f := Flux{
		Path:      spec.at("path").folder(),
		Prune:     spec.at("prune").flag(),
		Suspend:   spec.at("suspend").flag(),
		SourceRef: spec.at("sourceRef").reference(),
		Overlay: Overlay{
			TargetNamespace:         spec.at("targetNamespace").text(),
			NamePrefix:              spec.at("namePrefix").text(),
			NameSuffix:              spec.at("nameSuffix").text(),
			Components:              spec.at("components").texts(),
			IgnoreMissingComponents: spec.at("ignoreMissingComponents").flag(),
			BuildMetadata:           spec.at("buildMetadata").texts(),
			CommonMetadata:          spec.at("commonMetadata").metadata(),
			Substitute:              post.at("substitute").textMap(),
			SubstituteAlways:        post.at("substituteStrategy").text() == "Always",
		},
	}
	for _, p := range spec.at("patches").items() {
		f.Overlay.Patches = append(f.Overlay.Patches, p.patch())
	}
	for _, i := range spec.at("images").items() {
		f.Overlay.Images = append(f.Overlay.Images, i.image())
	}
	for _, d := range spec.at("dependsOn").items() {
		f.DependsOn = append(f.DependsOn, d.reference())
	}
	for _, s := range post.at("substituteFrom").items() {
		f.SubstituteFrom = append(f.SubstituteFrom, s.variables())
	}
	post.at("substitute").variableNames()
	spec.at("kubeConfig").refused()
	spec.known()
	return f, r.problems
}
