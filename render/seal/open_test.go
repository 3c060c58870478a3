package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/waybill-dev/waybill/render/object"
)

// open decrypts a document with age's library and what SOPS's format says, apart from
// the code under test. It returns the content and the initialization vectors.
func open(data []byte, identity string) (map[string]any, []string, error) {
	content, err := object.DecodeCanonical(data)
	if err != nil {
		return nil, nil, err
	}
	meta, ok := content["sops"].(map[string]any)
	if !ok {
		return nil, nil, errors.New("it is no SOPS document")
	}
	delete(content, "sops")
	key, err := dataKeyOf(meta, identity)
	if err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, err
	}
	o := opener{block: block, regex: regexp.MustCompile(meta["encrypted_regex"].(string))}
	opened, err := o.value(content, nil)
	if err != nil {
		return nil, nil, err
	}
	mac, err := o.decrypt(meta["mac"].(string), meta["lastmodified"].(string))
	if err != nil {
		return nil, nil, fmt.Errorf("the code: %w", err)
	}
	if sum := sha512.Sum512([]byte(o.values.String())); mac != fmt.Sprintf("%X", sum) {
		return nil, nil, errors.New("the code is not that of the values")
	}
	return opened.(map[string]any), o.vectors, nil
}

// dataKeyOf returns the data key, which each recipient's file holds.
func dataKeyOf(meta map[string]any, identity string) ([]byte, error) {
	id, err := age.ParseX25519Identity(identity)
	if err != nil {
		return nil, err
	}
	for _, f := range meta["age"].([]any) {
		file := f.(map[string]any)
		if file["recipient"] != id.Recipient().String() {
			continue
		}
		plain, err := age.Decrypt(armor.NewReader(strings.NewReader(file["enc"].(string))), id)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(plain)
	}
	return nil, errors.New("it is for others")
}

type opener struct {
	block   cipher.Block
	regex   *regexp.Regexp
	values  strings.Builder
	vectors []string
}

func (o *opener) value(v any, path []string) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			opened, err := o.value(v[k], append(slices.Clip(path), k))
			if err != nil {
				return nil, err
			}
			v[k] = opened
		}
		return v, nil
	case []any:
		for i := range v {
			opened, err := o.value(v[i], path)
			if err != nil {
				return nil, err
			}
			v[i] = opened
		}
		return v, nil
	}
	if slices.ContainsFunc(path, o.regex.MatchString) {
		var err error
		if v, err = o.decrypt(v.(string), strings.Join(path, ":")+":"); err != nil {
			return nil, fmt.Errorf("%q: %w", path, err)
		}
	}
	switch v := v.(type) {
	case bool:
		o.values.WriteString(map[bool]string{true: "True", false: "False"}[v])
	case float64:
		o.values.WriteString(strconv.FormatFloat(v, 'f', -1, 64))
	default:
		fmt.Fprint(&o.values, v)
	}
	return v, nil
}

var form = regexp.MustCompile(`^ENC\[AES256_GCM,data:(.+),iv:(.+),tag:(.+),type:(.+)\]$`)

func (o *opener) decrypt(text, with string) (any, error) {
	if text == "" {
		return "", nil
	}
	m := form.FindStringSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("%q is no encrypted value", text)
	}
	var parts [3][]byte
	for i := range parts {
		var err error
		if parts[i], err = base64.StdEncoding.DecodeString(m[i+1]); err != nil {
			return nil, err
		}
	}
	o.vectors = append(o.vectors, m[2])
	gcm, err := cipher.NewGCMWithNonceSize(o.block, len(parts[1]))
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, parts[1], append(parts[0], parts[2]...), []byte(with))
	if err != nil {
		return nil, err
	}
	switch m[4] {
	case "int":
		return strconv.ParseInt(string(plain), 10, 64)
	case "float":
		return strconv.ParseFloat(string(plain), 64)
	case "bool":
		return strconv.ParseBool(string(plain))
	}
	return string(plain), nil
}
