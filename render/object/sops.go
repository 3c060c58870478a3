package object

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/waybill-dev/waybill/render/diag"
)

// secretFields are the fields of a Secret that hold its values.
var secretFields = []string{"data", "stringData"}

// isEncrypted reports a document that SOPS encrypted: only it writes a checksum, which
// is encrypted as well, and when or with which version it did so. A mapping named sops
// may be anything.
func isEncrypted(content map[string]any) bool {
	sops, _ := content["sops"].(map[string]any)
	return isCipher(sops["mac"]) && (sops["lastmodified"] != nil || sops["version"] != nil)
}

func isCipher(v any) bool {
	s, _ := v.(string)
	return strings.HasPrefix(s, "ENC[")
}

// seal keeps the object of an encrypted document, the one behind those before, as it was
// written. A Secret with a plain value is refused whole: as it was written the value
// would be seen, and written in any other way SOPS would not open the others.
func (d *decoder) seal(before int, root *yaml.Node, content map[string]any, written []byte) {
	objs := d.out.Objects[before:]
	if len(objs) == 0 {
		return
	}
	o := objs[0]
	if _, isList := listItems(scalar(root, "kind"), content); isList {
		d.out.Objects = d.out.Objects[:before]
		d.malformed(root.Line, "the document is a list that SOPS encrypted, which cannot be taken apart")
		return
	}
	if field := plainField(o); field != nil {
		d.out.Objects = d.out.Objects[:before]
		pos := o.pos
		for n, i := root, 0; i < len(field); i++ {
			n = child(n, field[i], &pos)
		}
		hint := "encrypt all of data and stringData with SOPS, or put what is no secret into a ConfigMap"
		if field[len(field)-1] == LastApplied {
			hint = "it repeats what is encrypted: decrypt the file, remove the annotation, and encrypt it again"
		}
		d.fail(diag.Diagnostic{
			Code: diag.PlainSecret, Severity: diag.Error, Pos: pos,
			Message: fmt.Sprintf("%s is encrypted by SOPS, but for %s, which is plain text", o.ref, strings.Join(field, ".")),
			Hint:    hint,
		})
		return
	}
	o.sealed = sealedDocument(written)
}

// plainField returns the way to the first value of an encrypted object that is to be
// encrypted and is not: of a Secret, and in what repeats the whole manifest; nil for none.
// SOPS leaves what is empty as it is.
func plainField(o *Object) []string {
	if text := o.Annotations()[LastApplied]; text != "" && !isCipher(text) {
		return []string{"metadata", "annotations", LastApplied}
	}
	if o.ref.Kind != "Secret" || o.ref.Group != "" {
		return nil
	}
	for _, field := range secretFields {
		values, isMap := o.content[field].(map[string]any)
		if v := o.content[field]; !isMap && v != nil && !isCipher(v) {
			return []string{field}
		}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if v := values[key]; v != nil && v != "" && !isCipher(v) {
				return []string{field, key}
			}
		}
	}
	return nil
}

// sealedDocument returns a document without its marker, ending in one newline.
func sealedDocument(data []byte) []byte {
	if isBegin(data) {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return append(bytes.Clone(bytes.TrimRight(data, " \t\r\n")), '\n')
}
