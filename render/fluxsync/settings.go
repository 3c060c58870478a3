// Package fluxsync says which Flux objects sync the branch of a cluster: the
// GitRepository and the root Kustomization that a person applies, and the child
// Kustomizations that the branch itself carries. Both come from one Sync, so that they
// agree in names, namespace, source and decryption.
//
// What a person applies stays the same however much the branch holds. Kustomize becomes
// slow above MaxObjects, so that a branch with more has parts, each with a child that the
// root applies and prunes like any other object. How a branch is divided is the business
// of package tree.
//
// # Order
//
// The root holds every CustomResourceDefinition and Namespace. Flux applies those before
// the rest of the root, and waits for them; the children depend on the root at the same
// revision. The root does not wait for its children, because each would then wait for
// the other.
//
// # The form before
//
// Branches used to get a folder for each namespace above 500 objects, and a person
// applied a Kustomization for each. Such a branch keeps its folders until a setting says
// otherwise, because Flux deletes what an emptied folder held; Migration prints the way
// to the root.
//
// The package reads and writes nothing.
package fluxsync

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// MaxObjects is the most objects that one Kustomization of Flux is given: kustomize takes
// 2.6 s for 2,000 and 43 s for 5,000.
const MaxObjects = 2000

// The forms that a branch may have. With none of them a branch keeps folders that it has
// from before, and is otherwise as with FormRoot.
const (
	// FormRoot lists everything in the root; above MaxObjects what is new goes to parts.
	FormRoot = "root"
	// FormSplit leaves the root only with definitions and Namespaces. What the root held
	// moves to parts, so that the root must not prune when it first sees that.
	FormSplit = "split"
	// FormOrphan is FormRoot, and a child that is deleted leaves its objects in place.
	FormOrphan = "orphan"
	// FormSingle has no parts. A branch loses those that it has only after FormOrphan.
	FormSingle = "single"
)

var forms = []string{"", FormRoot, FormSplit, FormOrphan, FormSingle}

// clusterWord stands for the name of the cluster in the settings.
const clusterWord = "<cluster>"

// Settings are publish.flux of waybill.yaml. A Cluster overrides each by an annotation.
type Settings struct {
	Form      string `json:"form"`
	Namespace string `json:"namespace"` // of every Flux object
	// Source is the name of the GitRepository; <cluster> in it is the cluster's name.
	Source string `json:"source"`
	// DecryptionSecret holds the keys of SOPS. Without one it is sops-age where the
	// cluster has something encrypted, and there is no decryption elsewhere.
	DecryptionSecret string `json:"decryptionSecret"`
	// ServiceAccountName is what Flux applies as; empty: as itself.
	ServiceAccountName string `json:"serviceAccountName"`
}

// Default returns the settings of a source that states none.
func Default() Settings {
	return Settings{Namespace: "flux-system", Source: "waybill-" + clusterWord}
}

// setting is one of the settings: its field, the annotation that overrides it, and what
// it may be.
type setting struct {
	field, annotation string
	value             *string
	check             func(value string) string
}

func (s *Settings) all() []setting {
	return []setting{
		{"form", "waybill.dev/flux-form", &s.Form, formProblem},
		{"namespace", "waybill.dev/flux-namespace", &s.Namespace, required},
		{"source", "waybill.dev/flux-source", &s.Source, sourceProblem},
		{"decryptionSecret", "waybill.dev/flux-decryption-secret", &s.DecryptionSecret, optional},
		{"serviceAccountName", "waybill.dev/flux-service-account", &s.ServiceAccountName, optional},
	}
}

// Check names the first field with a problem.
func (s *Settings) Check() (field, problem string) {
	for _, one := range s.all() {
		if p := one.check(*one.value); p != "" {
			return one.field, fmt.Sprintf("is %q; %s", *one.value, p)
		}
	}
	return "", ""
}

func formProblem(value string) string {
	if slices.Contains(forms, value) {
		return ""
	}
	return "want one of " + strings.Join(forms[1:], ", ")
}

func sourceProblem(value string) string {
	return required(strings.ReplaceAll(value, clusterWord, "c"))
}

func required(value string) string {
	if problems := validation.IsDNS1123Subdomain(value); len(problems) > 0 {
		return "want the name of an object: small letters, digits, dots and dashes"
	}
	return ""
}

func optional(value string) string {
	if value == "" {
		return ""
	}
	return required(value)
}

// Problem is an annotation of a Cluster that cannot be followed.
type Problem struct{ Annotation, Message string }

// For returns how the branch of a cluster is synced, by the settings and by the
// annotations of the Cluster. With a problem among these nothing may be published to the
// branch: in a form that was not meant Flux could delete what the branch holds.
func (s *Settings) For(cluster string, annotations map[string]string) (Sync, []Problem) {
	own := *s
	var problems []Problem
	for _, one := range own.all() {
		value, ok := annotations[one.annotation]
		if !ok {
			continue
		}
		if p := one.check(value); p != "" {
			problems = append(problems, Problem{one.annotation, fmt.Sprintf("%s is %q; %s", one.annotation, value, p)})
			continue
		}
		*one.value = value
	}
	own.Source = strings.ReplaceAll(own.Source, clusterWord, cluster)
	return Sync{Settings: own, Cluster: cluster}, problems
}

// label returns name in at most the 63 bytes of a label value, which Flux makes of the
// names of Kustomizations.
func label(name string) string {
	if len(name) <= validation.LabelValueMaxLength {
		return name
	}
	const digits = 10
	sum := sha256.Sum256([]byte(name))
	short := strings.TrimRight(name[:validation.LabelValueMaxLength-digits-1], ".-_")
	return short + "-" + hex.EncodeToString(sum[:])[:digits]
}
