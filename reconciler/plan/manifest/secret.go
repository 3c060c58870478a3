package manifest

import (
	"fmt"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/seal"
)

// RecipientsAnnotation on a Cluster names the age recipients to whom plain Secrets are
// encrypted on its branch.
const RecipientsAnnotation = "waybill.dev/age-recipients"

// isSecret reports a Secret of the core group that SOPS has not encrypted.
func isSecret(o *object.Object) bool {
	_, sealed := o.Sealed()
	return o.Ref().Kind == "Secret" && o.Ref().Group == "" && !sealed
}

// newSealer reads the recipients of every cluster.
func (w *writer) newSealer() sealer {
	s := sealer{recipients: make([]string, len(w.in.Law.Fleet.Clusters())), parsed: map[string]seal.Recipients{}}
	for i, c := range w.in.Law.Fleet.Clusters() {
		text, ok := c.Source.Annotations[RecipientsAnnotation]
		if !ok {
			continue
		}
		r, err := seal.ParseRecipients(text)
		if err != nil {
			w.report(diag.Diagnostic{
				Code: diag.BadRecipients, Severity: diag.Error, Pos: w.in.Law.ClusterPos(c.Name, RecipientsAnnotation),
				Message: fmt.Sprintf("Cluster %s: %s: %v", c.Name, RecipientsAnnotation, err),
				Hint:    "name X25519 recipients, age1..., with commas between them; until then plain Secrets are not written for it",
			})
			continue
		}
		s.recipients[i], s.parsed[r.String()] = r.String(), r
	}
	return s
}

// protect refuses a Secret that would be plain on a branch, or encrypts it to the
// recipients of its clusters.
func (w *writer) protect(o *object.Object, r *result, recipients string) *result {
	document, err := w.in.Memo.seals.Open(o.Ref(), r.made)
	if err != nil {
		panic("manifest: what was made here cannot be read: " + err.Error())
	}
	if !document.HoldsValues() {
		return r
	}
	if recipients == "" {
		if d := w.plain(o); d != nil {
			return &result{err: d}
		}
		return r
	}
	if wrong := w.in.Random.Wrong; wrong != "" {
		d := draw.WrongKey(o, nil, "it is not encrypted anew: "+wrong)
		return &result{err: &d}
	}
	w.keyed = w.keyed || w.in.Random.Key.Seal() != nil
	sealed, err := document.Seal(w.seals.parsed[recipients], w.in.Random.Key)
	if err != nil {
		return &result{err: &diag.Diagnostic{
			Code: diag.PlainSecret, Severity: diag.Error, Pos: o.Pos(),
			Message: fmt.Sprintf("%s cannot be encrypted: %v", o.Ref(), err), Hint: keptHint,
		}}
	}
	return &result{made: sealed}
}

// plain says of a Secret that it is plain, and whether it may be.
func (w *writer) plain(o *object.Object) *diag.Diagnostic {
	d := diag.Diagnostic{
		Code: diag.PlainSecret, Severity: diag.Warning, Pos: o.Pos(),
		Message: o.Ref().String() + " holds its values in plain text",
		Hint:    "encrypt it with SOPS or Sealed Secrets, or use an ExternalSecret",
	}
	switch {
	case w.in.Config.Secrets == render.SecretsAllow:
		return nil
	case w.in.OnBranch:
		d.Severity = diag.Error
		d.Message += ", which a branch would show to everybody who can read it"
		d.Hint += "; or name the cluster's keys with " + RecipientsAnnotation + " on its Cluster, or set secrets: allow in " + render.ConfigFile
		return &d
	}
	w.report(d)
	return nil
}
