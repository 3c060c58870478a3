package kustomize

import "github.com/waybill-dev/waybill/render/diag"

// HelmChart is a chart that a kustomization lists, with all that stands in files read.
type HelmChart struct {
	// Pos is the entry of the kustomization.
	Pos diag.Pos `json:"pos"`
	// Path is the folder of the chart inside the file system. It is empty for a chart
	// that is not there and is to be had from Repo, in Version.
	Path    string `json:"path,omitempty"`
	Name    string `json:"name"`
	Repo    string `json:"repo,omitempty"`    // https://..., or oci://... without the name
	Version string `json:"version,omitempty"` // empty for the newest
	// ReleaseName is never empty.
	ReleaseName string   `json:"releaseName"`
	Namespace   string   `json:"namespace,omitempty"`
	KubeVersion string   `json:"kubeVersion,omitempty"`
	APIVersions []string `json:"apiVersions,omitempty"`
	// Values are the values of all files and of the entry itself, merged. They go over
	// the chart's own.
	Values      map[string]any `json:"values,omitempty"`
	IncludeCRDs bool           `json:"includeCRDs,omitempty"`
	SkipHooks   bool           `json:"skipHooks,omitempty"`
	SkipTests   bool           `json:"skipTests,omitempty"`
	Devel       bool           `json:"devel,omitempty"` // newest may be a pre-release
}
