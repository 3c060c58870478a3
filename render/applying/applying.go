// Package applying is what a config says of how branches are applied to clusters: sync windows, and fields that others decide.
package applying

import (
	"fmt"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Apply says how branches are applied to clusters.
type Apply struct {
	IgnoreDifferences []IgnoreDifference `json:"ignoreDifferences"`
	SyncWindows       []SyncWindow       `json:"syncWindows"`
	// ServiceAccountName is what objects are changed as: NAME in waybill-system, or
	// NAMESPACE/NAME. Empty: as the credential.
	ServiceAccountName string `json:"serviceAccountName"`
}

// SyncWindow is a time at which clusters are applied to, or are not, in the words of Argo CD.
type SyncWindow struct {
	Kind     string          `json:"kind"`     // WindowAllow or WindowDeny
	Schedule string          `json:"schedule"` // a cron line
	Duration metav1.Duration `json:"duration"`
	TimeZone string          `json:"timeZone"` // of the IANA database; empty is UTC
	Clusters []string        `json:"clusters"` // names, with wildcards
	// ManualSync lets a person apply outside of it.
	ManualSync bool `json:"manualSync"`
}

// The kinds of sync windows.
const (
	WindowAllow = "allow"
	WindowDeny  = "deny"
)

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

// Check names the first field with a problem.
func (a *Apply) Check() (field, problem string) {
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
	for i := range a.SyncWindows {
		if p := a.SyncWindows[i].problem(); p != "" {
			return "syncWindows", fmt.Sprintf("has an entry %s: %+v", p, a.SyncWindows[i])
		}
	}
	return "", ""
}

// problem says what is wrong with a window, but for what only a reader of cron lines knows.
func (w *SyncWindow) problem() string {
	switch {
	case w.Kind != WindowAllow && w.Kind != WindowDeny:
		return "whose kind is not allow or deny"
	case w.Duration.Duration <= 0:
		return "without a duration, such as 1h30m"
	case w.Schedule == "":
		return "without a schedule"
	case len(w.Clusters) == 0:
		return "without clusters; those of all are [\"*\"]"
	}
	for _, pattern := range w.Clusters {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Sprintf("with %q, which is no pattern", pattern)
		}
	}
	return ""
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
