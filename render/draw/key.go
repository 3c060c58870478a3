package draw

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
)

// minKey is how many bytes a random key has at least, and minBytes how many different ones:
// 32 random bytes have 30, written in hexadecimal digits 15.
const (
	minKey   = 32
	minBytes = 8
)

// version begins every message that K is used on.
const version = "waybill.dev/draw/v1"

// fingerprintSize is how many bytes of a digest tell keys apart.
const fingerprintSize = 16

// Key is the random key K. The zero value is no key, with which nothing is drawn. It does
// not print.
type Key struct {
	secret    string // so that keys can be compared
	throwaway bool
}

// NewKey returns the key of a file's bytes, all of which count.
func NewKey(secret []byte) (Key, error) {
	if len(secret) < minKey {
		return Key{}, fmt.Errorf("it has %d bytes; a random key has at least %d", len(secret), minKey)
	}
	different := map[byte]bool{}
	for _, b := range secret {
		different[b] = true
	}
	if len(different) < minBytes {
		return Key{}, fmt.Errorf("it has only %d different bytes, and is not random", len(different))
	}
	return Key{secret: string(secret)}, nil
}

// Throwaway returns a key that serves one process, for reports about a source that may be
// a stranger's: a template could show what it draws. What is drawn with it is masked
// where it is shown, and seals nothing.
func Throwaway(random io.Reader) (Key, error) {
	secret := make([]byte, minKey)
	if _, err := io.ReadFull(random, secret); err != nil {
		return Key{}, fmt.Errorf("making a throwaway key: %w", err)
	}
	return Key{secret: string(secret), throwaway: true}, nil
}

// Twin returns the throwaway key of a second plan, which tells what of a report depends on draws: what
// differs between the two. Of the zero key it is the zero key.
func (k Key) Twin() Key {
	if k.IsZero() {
		return k
	}
	return Key{secret: string(k.derive("twin")), throwaway: true}
}

// IsZero reports that there is no key.
func (k Key) IsZero() bool { return k.secret == "" }

// IsThrowaway reports a key that nothing may be published with.
func (k Key) IsThrowaway() bool { return k.throwaway }

// Fingerprint identifies the key, as 32 hexadecimal digits; empty for no key.
func (k Key) Fingerprint() string {
	if k.IsZero() {
		return ""
	}
	return hex.EncodeToString(k.derive("fingerprint")[:fingerprintSize])
}

// Seal returns what seals of Secrets are keyed with; nil if they are not.
func (k Key) Seal() []byte {
	if k.IsZero() || k.throwaway {
		return nil
	}
	return k.derive("seal")
}

// For returns what a release draws from for a cluster, which is empty if it is rendered
// once for all.
func (k Key) For(source, cluster, release string) Subkey {
	id := sha256.Sum256(message(k.Fingerprint(), source, cluster, release))
	return Subkey{Secret: k.derive("subkey", source, cluster, release), ID: hex.EncodeToString(id[:]), Masked: k.throwaway}
}

// Format says that it is a key, and not which, whatever the verb.
func (Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "draw.Key") }

func (k Key) derive(texts ...string) []byte {
	return digest([]byte(k.secret), append([]string{version}, texts...)...)
}

// Subkey is what one release draws from for one cluster. It can be carried as JSON, to
// the process that renders the release and nowhere else. It does not print.
type Subkey struct {
	Secret []byte `json:"secret,omitempty"`
	// ID identifies the subkey by the fingerprint of the key and what it is for. It is
	// no secret.
	ID string `json:"id"`
	// Masked says that what is rendered is shown to people, with the draws masked.
	Masked bool `json:"masked,omitempty"`
}

// Public returns the subkey without its secret.
func (s Subkey) Public() Subkey {
	s.Secret = nil
	return s
}

// Format says that it is a subkey, and which one, whatever the verb.
func (s Subkey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "draw.Subkey "+s.ID) }

// digest returns the HMAC-SHA256 of texts.
func digest(key []byte, texts ...string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(message(texts...))
	return h.Sum(nil)
}

// message joins texts, each behind its length. No two lists of texts give one message.
func message(texts ...string) []byte {
	var out []byte
	for _, t := range texts {
		out = binary.BigEndian.AppendUint64(out, uint64(len(t)))
		out = append(out, t...)
	}
	return out
}
