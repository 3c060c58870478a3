package render

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Apply says how branches are applied to clusters.
type Apply struct {
	IgnoreDifferences []IgnoreDifference `json:"ignoreDifferences"`
}

// IgnoreDifference names fields that others decide once an object is there, in the words of
// Argo CD.
type IgnoreDifference struct {
	Group     string `json:"group"` // with wildcards, as Kind
	Kind      string `json:"kind"`
	Name      string `json:"name"` // empty for every one, as Namespace
	Namespace string `json:"namespace"`
	// JSONPointers (RFC 6901) name fields of the manifest.
	JSONPointers []string `json:"jsonPointers"`
	// ManagedFieldsManagers are field managers whose fields they are.
	ManagedFieldsManagers []string `json:"managedFieldsManagers"`
}

// Paths are the pointers as lists of names.
func (d *IgnoreDifference) Paths() [][]string {
	var all [][]string
	for _, p := range d.JSONPointers {
		names := strings.Split(strings.TrimPrefix(p, "/"), "/")
		for i := range names {
			names[i] = strings.ReplaceAll(strings.ReplaceAll(names[i], "~1", "/"), "~0", "~")
		}
		all = append(all, names)
	}
	return all
}

// Matches reports whether an object is one of those.
func (d *IgnoreDifference) Matches(group, kind, namespace, name string) bool {
	inGroup, _ := path.Match(d.Group, group)
	ofKind, _ := path.Match(d.Kind, kind)
	return inGroup && ofKind && (d.Name == "" || d.Name == name) && (d.Namespace == "" || d.Namespace == namespace)
}

// check names the first field with a problem.
func (a *Apply) check() (field, problem string) {
	const name = "ignoreDifferences"
	for i := range a.IgnoreDifferences {
		d := &a.IgnoreDifferences[i]
		if d.Kind == "" || len(d.JSONPointers)+len(d.ManagedFieldsManagers) == 0 {
			return name, fmt.Sprintf("has an entry without kind, or without jsonPointers and managedFieldsManagers: %+v", *d)
		}
		for _, pattern := range []string{d.Group, d.Kind} {
			if _, err := path.Match(pattern, ""); err != nil {
				return name, fmt.Sprintf("holds %q, which is no pattern", pattern)
			}
		}
		for n, names := range d.Paths() {
			if p := d.JSONPointers[n]; !strings.HasPrefix(p, "/") || slices.Contains(names, "") || identifies(names) {
				return name, fmt.Sprintf("holds the pointer %q; want one to a field that does not say which object it is, such as /spec/replicas", p)
			}
		}
	}
	return "", ""
}

// identifies reports a path without which a manifest names no object.
func identifies(names []string) bool {
	switch names[0] {
	case "apiVersion", "kind":
		return true
	case "metadata":
		return len(names) == 1 || names[1] == "name" || names[1] == "namespace"
	}
	return false
}
