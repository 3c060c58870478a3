package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strconv"

	"github.com/waybill-dev/waybill/render/object"
)

// What stands in every document. The time of the last change would change the bytes;
// when a document was published is what its commit says.
const (
	metadata       = "sops"
	encryptedRegex = "^(data|stringData)$"
	lastModified   = "1970-01-01T00:00:00Z"
	version        = "3.13.3"
)

// vectorSize is that of SOPS's initialization vectors, in bytes.
const vectorSize = 32

// fields are those of a Secret, and metadataFields those of its metadata that somebody may
// write: of all others nobody knows what they hold.
var (
	fields         = []string{"apiVersion", "kind", "metadata", "type", "immutable", "data", "stringData"}
	metadataFields = []string{"name", "namespace", "labels", "annotations", "finalizers", "ownerReferences"}
)

// Seal returns the manifest as a SOPS document in canonical YAML that each of the
// recipients can decrypt. The content must be that which k is the key of. A document
// that is encrypted already, or that repeats its values where they would stay
// readable, is an error. What is nil or empty stays so, as with sops.
func (k Key) Seal(content map[string]any, r Recipients) ([]byte, error) {
	if err := k.check(content, r); err != nil {
		return nil, err
	}
	s := source{master: k.master[:], recipients: r.String()}
	key, err := s.draw(dataKey, 0, "", keySize)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCMWithNonceSize(block, vectorSize)
	if err != nil {
		return nil, err
	}
	d := document{source: s, gcm: gcm, sum: sha512.New()}
	sealed, err := d.mapping(content, "", readable)
	if err != nil {
		return nil, err
	}
	if sealed[metadata], err = d.metadata(key, r); err != nil {
		return nil, err
	}
	return object.Encode(sealed), nil
}

// check reports what may not be sealed.
func (k Key) check(content map[string]any, r Recipients) error {
	if len(r.sorted) == 0 {
		return errors.New("there is no age recipient")
	}
	if sha256.Sum256(object.Encode(content)) != k.of {
		return errors.New("the key is that of another document")
	}
	if _, ok := content[metadata]; ok {
		return errors.New("the document has a field sops: it is encrypted already")
	}
	meta, _ := content["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if _, ok := annotations[object.LastApplied]; ok {
		return fmt.Errorf("the annotation %s repeats the values, and would stay readable", object.LastApplied)
	}
	if field := Unknown(content); field != "" {
		return fmt.Errorf("it has the field %s, which no Secret has, and which would stay readable", field)
	}
	return nil
}

// Unknown returns the first field of a manifest, by name, that no Secret has; "" for none.
// It may be a value that went to the wrong place.
func Unknown(content map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(content)) {
		if !slices.Contains(fields, name) {
			return name
		}
	}
	meta, _ := content["metadata"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(meta)) {
		if !slices.Contains(metadataFields, name) {
			return "metadata." + name
		}
	}
	return ""
}

// document is one that is being sealed.
type document struct {
	source
	gcm    cipher.AEAD
	sum    hash.Hash // of all values, in the order of the document
	sealed int       // values that were encrypted
}

// manner is what happens to a value.
type manner int

const (
	readable manner = iota
	encrypted
)

// mapping returns the sealed entries of m. The path is that of m: its keys, each with
// a colon behind it, as SOPS authenticates it. It is under way in the order in which
// the entries are written, which is that in which sops reads them.
func (d *document) mapping(m map[string]any, path string, how manner) (map[string]any, error) {
	out := make(map[string]any, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		below := how
		if k == "data" || k == "stringData" { // at any depth: so SOPS reads the expression
			below = encrypted
		}
		v, err := d.value(m[k], path+k+":", below)
		if err != nil {
			return nil, err
		}
		out[k] = v
	}
	return out, nil
}

// value returns what stands for v. The items of a list have the path of the list.
func (d *document) value(v any, path string, how manner) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return d.mapping(v, path, how)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			sealed, err := d.value(item, path, how)
			if err != nil {
				return nil, err
			}
			out[i] = sealed
		}
		return out, nil
	}
	text, kind := scalar(v)
	d.sum.Write([]byte(text))
	if how == readable || text == "" {
		return v, nil
	}
	iv, err := d.draw(vector, d.sealed, path, vectorSize)
	if err != nil {
		return nil, err
	}
	d.sealed++
	return d.encrypt(text, kind, path, iv), nil
}

// scalar returns a value as SOPS spells it, and what SOPS calls its type.
func scalar(v any) (text, kind string) {
	switch v := v.(type) {
	case bool:
		if v {
			return "True", "bool"
		}
		return "False", "bool"
	case int64:
		return strconv.FormatInt(v, 10), "int"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), "float"
	default:
		return v.(string), "str" // a manifest has no other type: object.Encode took it
	}
}

// encrypt returns a value as SOPS writes it.
func (d *document) encrypt(text, kind, path string, iv []byte) string {
	out := d.gcm.Seal(nil, iv, []byte(text), []byte(path))
	data, tag := out[:len(text)], out[len(text):]
	b64 := base64.StdEncoding.EncodeToString
	return "ENC[AES256_GCM,data:" + b64(data) + ",iv:" + b64(iv) + ",tag:" + b64(tag) + ",type:" + kind + "]"
}

// metadata returns what SOPS needs to read the document: the data key, once for each
// recipient, and the code over all values.
func (d *document) metadata(key []byte, r Recipients) (map[string]any, error) {
	files := make([]any, len(r.sorted))
	for i, to := range r.sorted {
		file, err := d.ageFile(key, to, i)
		if err != nil {
			return nil, fmt.Errorf("encrypting the data key for %s: %w", to.text, err)
		}
		files[i] = map[string]any{"recipient": to.text, "enc": file}
	}
	iv, err := d.draw(macVector, 0, "", vectorSize)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"age":             files,
		"encrypted_regex": encryptedRegex,
		"lastmodified":    lastModified,
		"mac":             d.encrypt(fmt.Sprintf("%X", d.sum.Sum(nil)), "str", lastModified, iv),
		"version":         version,
	}, nil
}
