package seal

import (
	"fmt"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// RecipientsAnnotation on a Cluster names the age recipients to whom plain Secrets are
// encrypted on its branch.
const RecipientsAnnotation = "waybill.dev/age-recipients"

// Wanted reports a Secret of the core group that SOPS has not encrypted.
func Wanted(o *object.Object) bool {
	_, sealed := o.Sealed()
	return o.Ref().Kind == "Secret" && o.Ref().Group == "" && !sealed
}

// Secrets says what becomes of plain Secrets.
type Secrets struct {
	Memo     *Memo
	Allowed  bool // they may be plain
	OnBranch bool // where everybody sees them who can read it
	Random   draw.Key
	Wrong    string // why the random key is the wrong one; empty if it is not

	recipients map[string]Recipients // by their String
}

// Recipients reads the annotation of a Cluster. It returns the recipients as Protect takes
// them.
func (s *Secrets) Recipients(annotation string) (string, error) {
	r, err := ParseRecipients(annotation)
	if err != nil {
		return "", err
	}
	if s.recipients == nil {
		s.recipients = map[string]Recipients{}
	}
	s.recipients[r.String()] = r
	return r.String(), nil
}

// Protect returns the manifest of a Secret as it is written to a cluster with recipients,
// and whether it is keyed with the random key. A diagnostic that is an error says why it is
// not written, and one that is none that it is plain.
func (s *Secrets) Protect(o *object.Object, manifest *files.Blob, recipients string) (out *files.Blob, keyed bool, d *diag.Diagnostic) {
	document, err := s.Memo.Open(o.Ref(), manifest)
	if err != nil {
		panic("seal: what was made here cannot be read: " + err.Error())
	}
	if !document.HoldsValues() {
		return manifest, false, nil
	}
	if recipients == "" {
		return manifest, false, s.plain(o)
	}
	if s.Wrong != "" {
		d := draw.WrongKey(o, nil, "it is not encrypted anew: "+s.Wrong)
		return nil, false, &d
	}
	keyed = s.Random.Seal() != nil
	sealed, err := document.Seal(s.recipients[recipients], s.Random)
	if err != nil {
		return nil, keyed, &diag.Diagnostic{
			Code: diag.PlainSecret, Severity: diag.Error, Pos: o.Origin(),
			Message: fmt.Sprintf("%s cannot be encrypted: %v", o.Ref(), err),
			Hint:    "there it stays as it was last published",
		}
	}
	return sealed, keyed, nil
}

// plain says of a Secret that it is plain, and whether it may be.
func (s *Secrets) plain(o *object.Object) *diag.Diagnostic {
	d := &diag.Diagnostic{
		Code: diag.PlainSecret, Severity: diag.Warning, Pos: o.Origin(),
		Message: o.Ref().String() + " holds its values in plain text",
		Hint:    "encrypt it with SOPS or Sealed Secrets, or use an ExternalSecret",
	}
	switch {
	case s.Allowed:
		return nil
	case s.OnBranch:
		d.Severity = diag.Error
		d.Message += ", which a branch would show to everybody who can read it"
		d.Hint += "; or name the cluster's keys with " + RecipientsAnnotation + " on its Cluster, or set secrets: allow in waybill.yaml"
	}
	return d
}
