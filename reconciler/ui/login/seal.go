package login

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// leastKey is how many bytes the key of cookies has.
const leastKey = 32

// Key seals cookies. Replicas that share it read each other's.
type Key struct{ aead cipher.AEAD }

// NewKey returns the key that some bytes give.
func NewKey(from []byte) (Key, error) {
	if len(from) < leastKey {
		return Key{}, fmt.Errorf("the key of cookies has %d bytes, and needs at least %d: head -c 32 /dev/urandom makes one", len(from), leastKey)
	}
	derived, err := hkdf.Key(sha256.New, from, nil, "waybill web UI cookies", 32)
	if err != nil {
		return Key{}, fmt.Errorf("deriving the key of cookies: %w", err)
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return Key{}, fmt.Errorf("deriving the key of cookies: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return Key{}, fmt.Errorf("deriving the key of cookies: %w", err)
	}
	return Key{aead}, nil
}

// RandomKey returns a key that nobody else has.
func RandomKey() (Key, error) {
	from := make([]byte, leastKey)
	if _, err := rand.Read(from); err != nil {
		return Key{}, fmt.Errorf("making a key of cookies: %w", err)
	}
	return NewKey(from)
}

// seal seals a value for a purpose.
func (k Key) seal(purpose string, v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("sealing a cookie: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(k.aead.Seal(nil, nil, data, []byte(purpose))), nil //nolint:gosec // this AEAD draws its nonces itself, and takes none
}

// errForged is that a cookie was not sealed for its purpose by this key.
var errForged = errors.New("the cookie is not ours")

// open reads what seal sealed for the same purpose.
func (k Key) open(purpose, text string, into any) error {
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return errForged
	}
	data, err := k.aead.Open(nil, nil, sealed, []byte(purpose))
	if err != nil || json.Unmarshal(data, into) != nil {
		return errForged
	}
	return nil
}
