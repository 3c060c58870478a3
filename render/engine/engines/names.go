package engines

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/object"
)

// keepNames fails a job that names something by a value of a Secret: what an object is
// called stands in paths, bindings and reports, which more may read than Secrets. That a
// name holds what is also the value of a Secret may be chance; with another value in the
// Secret it is then still there.
func (o *output) keepNames(j engine.Job, fsys fs.FS) {
	if j.Masked == nil || diag.HasErrors(o.Diags) {
		return
	}
	names, wrong := o.seen()
	if diag.HasErrors(wrong) { // decoding says so again, and does not know what is secret
		o.Documents, o.Diags = nil, append(o.Diags, wrong...)
		return
	}
	names = slices.DeleteFunc(names, func(n name) bool { return !n.holds(j.Secrets) })
	if len(names) == 0 {
		return
	}
	masked := do(*j.Masked, fsys)
	others, _ := masked.seen()
	for _, n := range names {
		if !slices.Contains(others, n) {
			o.fail(diag.SecretName, n.how()+", which everybody would see who reads the branch of the state",
				"take it from a ConfigMap, or write it out; values of Secrets belong into the data of a Secret")
			o.Documents = nil
			return
		}
	}
}

// name is what everybody sees of an object: what it is called, and all of a policy.
type name struct {
	kind, text string
	policy     bool
}

// how says how a secret gets into it.
func (n name) how() string {
	if n.policy {
		return "it puts a value of a Secret into a " + n.kind
	}
	return "it names a " + n.kind + " by a value of a Secret"
}

// seen returns the names of all objects, and what is wrong with documents.
func (o *output) seen() (names []name, wrong []diag.Diagnostic) {
	for _, doc := range o.Documents {
		d := object.Decode("", doc.Data)
		wrong = append(wrong, doc.Placed(d.Diags)...)
		for _, obj := range d.Objects {
			n := name{kind: obj.Ref().Kind, text: obj.Ref().String()}
			if isPolicy(obj.Ref()) {
				n.text, n.policy = string(obj.YAML()), true
			}
			names = append(names, n)
		}
	}
	return names, wrong
}

// isPolicy reports what may be a policy: whose text stands in messages, and whose names in the state.
func isPolicy(r object.Ref) bool {
	return strings.HasSuffix(r.Group, ".karmada.io") || r.Group == "waybill.dev" ||
		r.Group == "placement.kubernetes-fleet.io" && strings.HasSuffix(r.Kind, "StagedUpdateStrategy")
}

// holds reports a name with a secret in it, in whatever case.
func (n name) holds(secrets []string) bool {
	text := strings.ToLower(n.text)
	return slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(text, strings.ToLower(s)) })
}
