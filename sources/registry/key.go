package registry

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	_ "crypto/sha256" // crypto.SHA256 and the others by name
	_ "crypto/sha512"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// Key is a public key that may have signed an image.
type Key struct {
	// Name is what messages call it: its file, or its place in waybill.yaml.
	Name   string
	public crypto.PublicKey
}

const (
	maxKeys    = 100
	leastRSA   = 2048 // bits
	publicPEM  = "PUBLIC KEY"
	privatePEM = "PRIVATE KEY"
)

// ParseKeys reads public keys as cosign writes them to cosign.pub: PEM, one or several one
// after another, ECDSA, RSA of at least 2048 bits, or Ed25519. Name is what messages call them.
func ParseKeys(name string, data []byte) ([]Key, error) {
	var keys []Key
	for rest := bytes.TrimSpace(data); len(rest) > 0; rest = bytes.TrimSpace(rest) {
		block, after := pem.Decode(rest)
		switch {
		case block == nil:
			return nil, fmt.Errorf("reading the keys of %s: it is no PEM; a key begins with -----BEGIN %s-----, as in cosign.pub", name, publicPEM)
		case strings.HasSuffix(block.Type, privatePEM):
			return nil, fmt.Errorf("reading the keys of %s: it has a private key, which does not belong there; take cosign.pub, and replace that key", name)
		case block.Type != publicPEM:
			return nil, fmt.Errorf("reading the keys of %s: it has a %.40q; only a %s counts", name, block.Type, publicPEM)
		case len(keys) == maxKeys:
			return nil, fmt.Errorf("reading the keys of %s: it has more than %d", name, maxKeys)
		}
		public, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err == nil {
			err = fit(public)
		}
		if err != nil {
			return nil, fmt.Errorf("reading key %d of %s: %w", len(keys)+1, name, err)
		}
		keys, rest = append(keys, Key{name, public}), after
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("reading the keys of %s: there is none", name)
	}
	return keys, nil
}

// fit says why a key cannot verify.
func fit(public crypto.PublicKey) error {
	switch k := public.(type) {
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return nil
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < leastRSA {
			return fmt.Errorf("it is RSA of %d bits; at least %d are needed", bits, leastRSA)
		}
		return nil
	}
	return errors.New("it is of another kind than ECDSA, RSA or Ed25519")
}

// signed reports whether the key made a signature of a message, by the algorithms that cosign has for kinds of keys.
func (k Key) signed(message, signature []byte) bool {
	switch public := k.public.(type) {
	case *ecdsa.PublicKey:
		// Older versions of cosign hash by SHA-256 for whatever curve.
		return ecdsa.VerifyASN1(public, sum(crypto.SHA256, message), signature) ||
			ecdsa.VerifyASN1(public, sum(hashOf(public), message), signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(public, crypto.SHA256, sum(crypto.SHA256, message), signature) == nil
	case ed25519.PublicKey:
		// cosign hashes first (Ed25519ph); OpenSSL, whose signatures cosign attaches, does not.
		return ed25519.Verify(public, message, signature) ||
			ed25519.VerifyWithOptions(public, sum(crypto.SHA512, message), signature, &ed25519.Options{Hash: crypto.SHA512}) == nil
	}
	return false
}

// hashOf is the hash that goes with a curve.
func hashOf(public *ecdsa.PublicKey) crypto.Hash {
	switch bits := public.Curve.Params().BitSize; {
	case bits > 384:
		return crypto.SHA512
	case bits > 256:
		return crypto.SHA384
	}
	return crypto.SHA256
}

func sum(by crypto.Hash, message []byte) []byte {
	h := by.New()
	h.Write(message)
	return h.Sum(nil)
}
