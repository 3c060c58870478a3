package engine

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/kustomize"
	"github.com/waybill-dev/waybill/render/object"
)

// Output is what a job renders to, as the JSON that who runs it returns.
type Output struct {
	Documents []Document        `json:"documents,omitempty"`
	Diags     []diag.Diagnostic `json:"diags,omitempty"`
	// Places are where the source has what was built.
	Places []kustomize.Place `json:"places,omitempty"`
}

// Document is YAML, of one manifest or of several.
type Document struct {
	Source string     `json:"source,omitempty"` // the template, where it is known
	Data   []byte     `json:"data"`
	Hook   *helm.Hook `json:"hook,omitempty"`
}

// Placed says of diagnostics which template they are about.
func (d Document) Placed(diags []diag.Diagnostic) []diag.Diagnostic {
	for i := range diags {
		if d.Source != "" {
			diags[i].Message = d.Source + ": " + diags[i].Message
		}
	}
	return diags
}

// Decode reads an Output. It holds every document against the limits of
// manifests, for who ran the job may have been led astray.
func Decode(data []byte) (Rendered, error) {
	var out Output
	if err := json.Unmarshal(data, &out); err != nil {
		return Rendered{}, fmt.Errorf("decoding the output of a job: %w", err)
	}
	r := Rendered{Diags: out.Diags}
	places := kustomize.NewPlaces(out.Places)
	for _, doc := range out.Documents {
		d := object.Decode("", doc.Data)
		r.Diags = append(r.Diags, doc.Placed(d.Diags)...)
		if d.NotManifests > 0 {
			r.Diags = append(r.Diags, diag.Diagnostic{
				Code: diag.NoManifest, Severity: diag.Error,
				Message: cmp.Or(doc.Source, "it") + " renders a document without apiVersion or kind",
				Hint:    "every document that a chart renders is a manifest; look for an if or a range around the top of a template",
			})
		}
		for _, o := range d.Objects {
			if at, ok := places.Of(o.Ref().Kind, o.Ref().Namespace, o.Ref().Name); ok {
				o = o.Written(at)
			}
			r.Manifests = append(r.Manifests, Manifest{Object: o, Hook: doc.Hook})
		}
	}
	return r, nil
}

// Unrendered is what jobs render to where nothing renders.
func Unrendered(jobs []Job) ([]Rendered, error) {
	out := make([]Rendered, len(jobs))
	for i := range out {
		out[i].Diags = []diag.Diagnostic{{Code: diag.NotRendered, Severity: diag.Error, Message: "nothing here renders releases"}}
	}
	return out, nil
}
