package helm

import (
	"io/fs"

	"github.com/waybill-dev/waybill/render/draw"
)

// CRDPolicy says what becomes of the files in crds/, in Flux's words.
type CRDPolicy string

// The policies. What a release renders to has the definitions or not; who applies it
// replaces what is there.
const (
	Create        CRDPolicy = "Create" // they are rendered; the default
	CreateReplace CRDPolicy = "CreateReplace"
	Skip          CRDPolicy = "Skip" // they are not
)

// Release is what a chart is rendered for. Equal releases of equal charts render to
// equal output. It can be carried as JSON.
type Release struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"` // empty for default
	Values    Values `json:"values,omitempty"`
	// ValuesFiles are files of the chart that, merged in their order, take the place
	// of its values.yaml, as source-controller has it. Without any, it stays. They are files of
	// Source, where that is set: of the repository that a chart is a folder of.
	ValuesFiles              []string `json:"valuesFiles,omitempty"`
	Source                   fs.FS    `json:"-"`
	IgnoreMissingValuesFiles bool     `json:"ignoreMissingValuesFiles,omitempty"`
	// KubeVersion is .Capabilities.KubeVersion; if empty, that of the Helm release.
	KubeVersion string `json:"kubeVersion,omitempty"`
	// APIVersions are added to those of .Capabilities.APIVersions that Helm has, as
	// apps/v1 or apps/v1/Deployment.
	APIVersions []string  `json:"apiVersions,omitempty"`
	CRDs        CRDPolicy `json:"crds,omitempty"`
	// SkipSchema leaves out holding the values against the schemas of the charts.
	SkipSchema bool `json:"skipSchema,omitempty"`
	// Allow lists functions that are refused otherwise. See AllowAnnotation.
	Allow []string `json:"allow,omitempty"`
	// Draw is what allowed functions draw from that would draw at random; nil: they are
	// refused.
	Draw *draw.Subkey `json:"draw,omitempty"`
}
