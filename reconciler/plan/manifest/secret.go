package manifest

import (
	"fmt"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/seal"
)

// readRecipients reads to whom the Secrets of every cluster are encrypted.
func (w *writer) readRecipients() {
	w.secrets = seal.Secrets{
		Memo: &w.in.Memo.seals, Allowed: w.in.Config.Secrets == render.SecretsAllow, OnBranch: w.in.OnBranch,
		Random: w.in.Random.Key, Wrong: w.in.Random.Wrong,
	}
	w.recipients = make([]string, len(w.in.Policies.Fleet.Clusters()))
	for i, c := range w.in.Policies.Fleet.Clusters() {
		text, ok := c.Source.Annotations[seal.RecipientsAnnotation]
		if !ok {
			continue
		}
		var err error
		if w.recipients[i], err = w.secrets.Recipients(text); err != nil {
			w.report(diag.Diagnostic{
				Code: diag.BadRecipients, Severity: diag.Error, Pos: w.in.Policies.ClusterPos(c.Name, seal.RecipientsAnnotation),
				Message: fmt.Sprintf("Cluster %s: %s: %v", c.Name, seal.RecipientsAnnotation, err),
				Hint:    "name X25519 recipients, age1..., with commas between them; until then plain Secrets are not written for it",
			})
		}
	}
}

// protect refuses a Secret that would be plain on a branch, or encrypts it to recipients.
func (w *writer) protect(o *object.Object, r *result, recipients string) *result {
	blob, keyed, d := w.secrets.Protect(o, r.made.blob, recipients)
	w.keyed = w.keyed || keyed
	if blob == nil || d != nil && d.Severity == diag.Error {
		return &result{err: d}
	}
	if d != nil {
		w.report(*d)
	}
	if blob == r.made.blob {
		return r
	}
	return &result{made: &made{blob: blob, texts: r.made.texts}}
}
