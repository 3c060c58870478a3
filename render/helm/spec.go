package helm

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/draw"
)

// Spec is what a Flux HelmRelease (helm.toolkit.fluxcd.io) says about what it renders
// to. What it says about applying that has no place here.
type Spec struct {
	ReleaseName      string // as Flux composes it
	Namespace        string // the target's, or else that of the HelmRelease
	StorageNamespace string
	Chart            ChartRef
	ValuesFrom       []ValuesRef
	Values           map[string]any // numbers are as decoded; Compose gives them Helm's types
	CRDs             CRDPolicy
	PostRenderers    []PostRenderer
	CommonMetadata   Labelled
	DependsOn        []ObjectRef
	Suspend          bool
	DisableHooks     bool // of an install: hooks are not part of it
	SkipSchema       bool // of an install: values are not held against the chart's schema
	CreateNamespace  bool
	Allow            []string // of the annotation AllowAnnotation
}

// Draws reports that the release allows functions that draw.
func (s *Spec) Draws() bool { return slices.ContainsFunc(s.Allow, draw.Is) }

// ObjectRef names an object. The namespace is never empty, the kind is where Flux
// implies it.
type ObjectRef struct{ Kind, Namespace, Name string }

// ChartRef says where a chart is.
type ChartRef struct {
	// Chart is a name in a HelmRepository, or a path in another source. It is empty
	// for a chart that Source is itself: an OCIRepository or a HelmChart.
	Chart                    string
	Version                  string // a range, * if nothing is said
	Source                   ObjectRef
	ValuesFiles              []string
	IgnoreMissingValuesFiles bool
	ReconcileStrategy        string
}

// PostRenderer changes what was rendered, as a kustomization does.
type PostRenderer struct {
	Patches []Patch
	Images  []Image
}

// Patch is a strategic merge or JSON 6902 patch, as YAML. Target may be nil for the
// former, which names what it changes.
type Patch struct {
	Patch  string
	Target *Target
}

// Target selects objects. Empty fields select any.
type Target struct {
	Group, Version, Kind, Name, Namespace string
	LabelSelector, AnnotationSelector     string
}

// Image replaces name, tag or digest of the images of a name.
type Image struct{ Name, NewName, NewTag, Digest string }

// Labelled are labels and annotations for all objects of a release.
type Labelled struct{ Labels, Annotations map[string]string }

// ReadRelease reads a HelmRelease as decoded from YAML. With an Error among the
// problems it must not be rendered; a Warning names a field that is not known.
func ReadRelease(content map[string]any) (Spec, []Problem) {
	r := &reader{}
	root := node{r: r, v: content}
	spec := root.at("spec")
	checkVersion(root)
	s := Spec{
		Values:         spec.at("values").mapping(),
		CRDs:           crds(spec),
		Suspend:        spec.at("suspend").flag(),
		DisableHooks:   spec.at("install").at("disableHooks").flag(),
		SkipSchema:     spec.at("install").at("disableSchemaValidation").flag(),
		CommonMetadata: Labelled{Labels: spec.at("commonMetadata").at("labels").textMap(), Annotations: spec.at("commonMetadata").at("annotations").textMap()},
		Allow:          allowed(root),
	}
	s.CreateNamespace = spec.at("install").at("createNamespace").flag()
	own := root.at("metadata").at("namespace").text()
	s.name(root, own)
	s.Chart = chartRef(spec, own)
	for _, n := range spec.at("valuesFrom").items() {
		s.ValuesFrom = append(s.ValuesFrom, n.valuesRef())
	}
	for _, n := range spec.at("postRenderers").items() {
		s.PostRenderers = append(s.PostRenderers, n.postRenderer())
	}
	for _, n := range spec.at("dependsOn").items() {
		s.DependsOn = append(s.DependsOn, n.objectRef(own))
	}
	if config := spec.at("kubeConfig"); config.set() {
		config.fail("place the release with a PropagationPolicy", "is not read: policies choose the cluster")
	}
	spec.known("chart", "chartRef", "commonMetadata", "dependsOn", "driftDetection", "healthCheckExprs", "install", "interval",
		"kubeConfig", "maxHistory", "persistentClient", "postRenderStrategy", "postRenderers", "releaseName", "rollback",
		"serviceAccountName", "storageNamespace", "suspend", "targetNamespace", "test", "timeout",
		"uninstall", "upgrade", "values", "valuesFrom", "waitStrategy")
	return s, r.problems
}

// checkVersion refuses versions of the API in which fields have other meanings.
func checkVersion(root node) {
	version := root.at("apiVersion")
	switch text := version.text(); text {
	case "helm.toolkit.fluxcd.io/v2", "helm.toolkit.fluxcd.io/v2beta2":
	default:
		version.fail("migrate it to helm.toolkit.fluxcd.io/v2", "is %q, which is not read here", text)
	}
	if spec := root.at("spec"); !spec.set() {
		spec.fail("", "is missing")
	} else {
		spec.mapping()
	}
}

// name composes the names of the release as Flux does.
func (s *Spec) name(root node, own string) {
	spec := root.at("spec")
	target := spec.at("targetNamespace").text()
	s.Namespace, s.StorageNamespace = own, own
	if target != "" {
		s.Namespace = target
	}
	if storage := spec.at("storageNamespace").text(); storage != "" {
		s.StorageNamespace = storage
	}
	given := spec.at("releaseName")
	s.ReleaseName = given.text()
	if s.ReleaseName == "" {
		name := root.at("metadata").at("name").required()
		if target != "" {
			name = target + "-" + name
		}
		s.ReleaseName = shortened(name)
		return
	}
	if len(s.ReleaseName) > longestName || !releaseName.MatchString(s.ReleaseName) {
		given.fail("", "is %q, which Helm takes for no name: invalid release name, must match regex %s and the length must not be longer than %d",
			s.ReleaseName, releaseName, longestName)
	}
}

// longestName is how many characters Helm takes for the name of a release.
const longestName = 53

// releaseName is what Helm takes for the name of a release.
var releaseName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// shortened makes a name fit Helm: the first 40 characters, and twelve digits of the whole name's
// SHA-256.
func shortened(name string) string {
	const prefix, digits = 40, 12
	if len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:prefix] + "-" + hex.EncodeToString(sum[:])[:digits]
}

// crds joins what is said for installs and for upgrades: what either would bring to a
// cluster is rendered.
func crds(spec node) CRDPolicy {
	policies := []string{string(Skip), string(Create), string(CreateReplace)}
	install := spec.at("install").at("crds").oneOf(policies...)
	if install == "" && spec.at("install").at("skipCRDs").flag() {
		install = string(Skip)
	}
	if install == "" {
		install = string(Create)
	}
	upgrade := spec.at("upgrade").at("crds").oneOf(policies...)
	for _, p := range []CRDPolicy{CreateReplace, Create} {
		if install == string(p) || upgrade == string(p) {
			return p
		}
	}
	return Skip
}

// allowed reads the annotation that allows functions.
func allowed(root node) []string {
	var all []string
	annotation := root.at("metadata").at("annotations").at(AllowAnnotation)
	for function := range strings.SplitSeq(annotation.text(), ",") {
		function = strings.TrimSpace(function)
		if function == "" {
			continue
		}
		r, ok := Refused(function)
		if !ok {
			annotation.fail("", "lists %q, which is no function that is refused", function)
			continue
		}
		if r.Never {
			annotation.fail(r.Hint, "lists %q, which is always refused: %s", function, r.Why)
			continue
		}
		all = append(all, function)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
