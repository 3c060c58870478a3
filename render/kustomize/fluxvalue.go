package kustomize

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// reader collects the problems of an object.
type reader struct{ problems []Problem }

// value is a value of an object and where it stands. Nil is a field that is left out.
// What has another type than asked for is a problem and reads as if left out.
type value struct {
	r    *reader
	path []any
	v    any
}

func (v value) problem(severity diag.Severity, format string, args ...any) {
	message := object.FieldPath(v.path) + " " + fmt.Sprintf(format, args...)
	if slices.ContainsFunc(v.r.problems, func(p Problem) bool { return p.Message == message }) {
		return // a value is asked for more than once
	}
	v.r.problems = append(v.r.problems, Problem{Path: v.path, Severity: severity, Message: message})
}

// as returns v as a T, or reports that it is not what.
func as[T any](v value, what string) T {
	t, ok := v.v.(T)
	if !ok && v.v != nil {
		v.problem(diag.Error, "is %s, which is no %s", words.Short(fmt.Sprintf("%v", v.v)), what)
	}
	return t
}

func (v value) object() map[string]any { return as[map[string]any](v, "mapping") }
func (v value) text() string           { return as[string](v, "string: put it in quotes") }
func (v value) flag() bool             { return as[bool](v, "boolean") }

func (v value) at(key string) value {
	return value{v.r, append(slices.Clip(v.path), key), v.object()[key]}
}

func (v value) items() []value {
	list := as[[]any](v, "list")
	items := make([]value, len(list))
	for i, item := range list {
		items[i] = value{v.r, append(slices.Clip(v.path), i), item}
	}
	return items
}

func (v value) texts() []string {
	var all []string
	for _, item := range v.items() {
		all = append(all, item.text())
	}
	return all
}

// textMap reads a mapping of strings. Its values are not shown: they may be secret.
func (v value) textMap() map[string]string {
	var all map[string]string
	for _, key := range slices.Sorted(maps.Keys(v.object())) {
		text, ok := v.object()[key].(string)
		if !ok {
			v.at(key).problem(diag.Error, "is no string: put it in quotes")
		}
		if all == nil {
			all = map[string]string{}
		}
		all[key] = text
	}
	return all
}

// required reports a string that is left out or empty.
func (v value) required() string {
	if v.v == nil || v.v == "" {
		v.problem(diag.Error, "is empty")
	}
	return v.text()
}

// folder reads a path, which Flux takes from the root of the source however it begins.
func (v value) folder() string {
	clean := path.Clean("./" + strings.TrimLeft(v.text(), "/"))
	if clean == ".." || strings.HasPrefix(clean, "../") {
		v.problem(diag.Error, "is %q, which leaves the source", v.v)
		return "."
	}
	return clean
}

func (v value) reference() Reference {
	return Reference{Kind: v.at("kind").text(), Namespace: v.at("namespace").text(), Name: v.at("name").required()}
}

// variables reads an entry of postBuild.substituteFrom.
func (v value) variables() Reference {
	r := Reference{Kind: v.at("kind").text(), Name: v.at("name").required(), Optional: v.at("optional").flag()}
	if r.Kind != "ConfigMap" && r.Kind != "Secret" {
		v.at("kind").problem(diag.Error, "is %q; it must be ConfigMap or Secret", r.Kind)
	}
	return r
}

// VariableName is the pattern of the names of variables.
const VariableName = `^[_[:alpha:]][_[:alpha:][:digit:]]*$`

var variable = regexp.MustCompile(VariableName)

// variableNames reports what cannot be the name of a variable.
func (v value) variableNames() {
	for _, name := range slices.Sorted(maps.Keys(v.object())) {
		if !variable.MatchString(name) {
			v.at(name).problem(diag.Error, "is no name of a variable: it must match %s", variable)
		}
	}
}

func (v value) patch() Patch {
	p := Patch{Patch: v.at("patch").required()}
	if t := v.at("target"); t.v != nil {
		p.Target = &Target{
			Group: t.at("group").text(), Version: t.at("version").text(), Kind: t.at("kind").text(),
			Name: t.at("name").text(), Namespace: t.at("namespace").text(),
			LabelSelector: t.at("labelSelector").text(), AnnotationSelector: t.at("annotationSelector").text(),
		}
	}
	return p
}

func (v value) image() Image {
	return Image{
		Name: v.at("name").required(), NewName: v.at("newName").text(),
		NewTag: v.at("newTag").text(), Digest: v.at("digest").text(),
	}
}

func (v value) metadata() *Metadata {
	if v.v == nil {
		return nil
	}
	return &Metadata{Labels: v.at("labels").textMap(), Annotations: v.at("annotations").textMap()}
}

// refused reports the cluster that a Kustomization names: what it builds would come to another.
func (v value) refused() {
	if v.v != nil {
		v.r.problems = append(v.r.problems, Problem{
			Path: v.path, Severity: diag.Error, Message: object.FieldPath(v.path) + " is not read: what it names is another cluster than the one that gets this",
			Hint: "register that cluster with waybill.dev/path naming the folder that is built, or place the Kustomization by a policy; then name this file in .waybillignore, or remove the field",
		})
	}
}

// known reports fields of a spec that no version of Flux's v1 API has.
func (v value) known() {
	for _, name := range slices.Sorted(maps.Keys(v.object())) {
		switch name {
		case "path", "prune", "suspend", "sourceRef", "targetNamespace", "namePrefix", "nameSuffix",
			"components", "ignoreMissingComponents", "buildMetadata", "commonMetadata", "postBuild",
			"patches", "images", "dependsOn",
			// about applying
			"decryption", "deletionPolicy", "force", "healthCheckExprs", "healthChecks", "ignore", "interval",
			"kubeConfig", "retryInterval", "serviceAccountName", "timeout", "wait":
		case "patchesStrategicMerge", "patchesJson6902":
			v.at(name).problem(diag.Error, "is no field of v1: move it to patches")
		default:
			v.at(name).problem(diag.Warning, "is no field that is known here; it does nothing")
		}
	}
}
