package unseal

import (
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"math"
	"regexp"
	"strconv"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// ciphertext is a value as SOPS writes it.
var ciphertext = regexp.MustCompile(`^ENC\[AES256_GCM,data:(.+),iv:(.+),tag:(.+),type:(.+)\]$`)

// What SOPS calls the types of values.
const (
	typeString  = "str"
	typeInt     = "int"
	typeFloat   = "float"
	typeBool    = "bool"
	typeBytes   = "bytes"
	typeTime    = "time"
	typeComment = "comment"
)

// decrypt returns a value as text, and its type. What is empty was not encrypted. The path
// is that with which it was authenticated.
func decrypt(block cipher.Block, value, path string) (text, kind string, err error) {
	if value == "" {
		return "", typeString, nil
	}
	m := ciphertext.FindStringSubmatch(value)
	if m == nil {
		return "", "", errors.New("it is to be encrypted, and is not")
	}
	var parts [3][]byte
	for i := range parts {
		if parts[i], err = base64.StdEncoding.DecodeString(m[i+1]); err != nil {
			return "", "", errors.New("it is no ciphertext")
		}
	}
	gcm, err := cipher.NewGCMWithNonceSize(block, len(parts[1]))
	if err != nil || len(parts[2]) != gcm.Overhead() {
		return "", "", errors.New("it is no ciphertext")
	}
	plain, err := gcm.Open(nil, parts[1], append(parts[0], parts[2]...), []byte(path))
	if err != nil {
		return "", "", errors.New("somebody changed it, or moved it to another field, after it was encrypted")
	}
	return string(plain), m[4], nil
}

// put sets a scalar to a value that was decrypted, and returns it as the code has it.
func put(n *yaml.Node, text, kind string) (code string, err error) {
	wrong := errors.New("it decrypts to what its type (" + strconv.Quote(kind) + ") has not")
	n.Style = 0
	switch kind {
	case typeString, typeBytes:
		if !utf8.ValidString(text) {
			return "", errors.New("it decrypts to bytes that are no text; encrypt them as base64, in data")
		}
		quote(n, text)
		return text, nil
	case typeInt:
		i, err := strconv.Atoi(text)
		if err != nil {
			return "", wrong
		}
		n.Tag, n.Value = "!!int", strconv.Itoa(i)
		return n.Value, nil
	case typeFloat:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return "", wrong
		}
		n.Tag, n.Value = "!!float", strconv.FormatFloat(f, 'g', -1, 64)
		return strconv.FormatFloat(f, 'f', -1, 64), nil
	case typeBool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return "", wrong
		}
		n.Tag, n.Value = "!!bool", strconv.FormatBool(b)
		return spelled(b), nil
	case typeTime:
		var t time.Time
		if err := t.UnmarshalText([]byte(text)); err != nil {
			return "", wrong
		}
		quote(n, text)
		return text, nil
	}
	return "", wrong
}

// quote makes a scalar a string, whatever it looks like.
func quote(n *yaml.Node, text string) {
	n.Tag, n.Style, n.Value = "!!str", yaml.DoubleQuotedStyle, text
}

// spelled returns a boolean as the code has it.
func spelled(b bool) string { return map[bool]string{true: "True", false: "False"}[b] }

// readable returns a scalar that is not encrypted as the code has it; ok is false for null.
func readable(n *yaml.Node) (code string, ok bool, err error) {
	var v any
	if err := n.Decode(&v); err != nil {
		return "", false, errors.New("it cannot be read")
	}
	switch v := v.(type) {
	case nil:
		return "", false, nil
	case string:
		if ciphertext.MatchString(v) {
			return "", false, errors.New("it is ciphertext, and by the document's own rule it is not encrypted")
		}
		return v, true, nil
	case int:
		return strconv.Itoa(v), true, nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true, nil
	case bool:
		return spelled(v), true, nil
	case time.Time:
		text, err := v.MarshalText()
		return string(text), err == nil, err
	}
	return "", false, errors.New("it is of a type that sops does not know")
}
