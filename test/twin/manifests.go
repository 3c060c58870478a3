package twin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/sources/files"
)

// Manifest is an object on a branch, as far as tests look at it.
type Manifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace"`
		Labels    map[string]string `json:"labels"`
	} `json:"metadata"`
	Data map[string]string `json:"data"`
	Spec struct {
		Replicas *int `json:"replicas"`
		// MinReplicas and MaxReplicas are those of a HorizontalPodAutoscaler.
		MinReplicas int `json:"minReplicas"`
		MaxReplicas int `json:"maxReplicas"`
		Template    struct {
			Spec struct {
				Containers []struct {
					Image string `json:"image"`
				} `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

// String is the kind, the namespace and the name.
func (m Manifest) String() string {
	return strings.Join(slices.DeleteFunc([]string{m.Kind, m.Metadata.Namespace, m.Metadata.Name}, func(s string) bool { return s == "" }), "/")
}

// known are the manifests that were read before, by the id of their text: a walk reads the same ones after each
// step. Nobody changes them.
var known sync.Map

// manifest reads an object.
func manifest(b *files.Blob) (m Manifest, err error) {
	if before, ok := known.Load(b.ID()); ok {
		return before.(Manifest), nil
	}
	data, err := b.Bytes()
	if err != nil {
		return m, err
	}
	if err := yaml.Unmarshal(data, &m); err != nil {
		return m, err
	}
	known.Store(b.ID(), m)
	return m, nil
}

// Manifests reads the objects that a cluster's folder holds, by kind, namespace and name.
func Manifests(root *files.Folder) ([]Manifest, error) {
	var all []Manifest
	for path, e := range root.All() {
		if !strings.HasPrefix(path, "manifests/") {
			continue
		}
		m, err := manifest(e.Blob)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Manifest) int { return cmp.Compare(a.String(), b.String()) })
	return all, nil
}
