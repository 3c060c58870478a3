package seal

import (
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

// Sizes of what an age file draws, in bytes.
const (
	fileKeySize = 16
	nonceSize   = 16
)

// width is that of a line in an armored file.
const width = 64

// ageFile returns the age file, in armor, that holds a secret for one recipient, the
// index-th. The secret is at most 64 KiB, one chunk.
func (s source) ageFile(secret []byte, to recipient, index int) (string, error) {
	file, err := s.draw(fileKey, index, to.text, fileKeySize)
	if err != nil {
		return "", err
	}
	ephemeral, err := s.draw(ephemeralKey, index, to.text, keySize)
	if err != nil {
		return "", err
	}
	nonce, err := s.draw(payloadNonce, index, to.text, nonceSize)
	if err != nil {
		return "", err
	}
	head, err := header(file, ephemeral, to)
	if err != nil {
		return "", err
	}
	// The nonce of a chunk counts them, and its last byte says that there is no more.
	chunk := sealing{key: file, salt: nonce, info: "payload", last: 1}
	body, err := chunk.of(secret)
	if err != nil {
		return "", err
	}
	return armored(slices.Concat([]byte(head), nonce, body)), nil
}

// header returns the header of a file: the file key, wrapped for one recipient, and a
// code over what stands before it.
func header(file, ephemeral []byte, to recipient) (string, error) {
	own, err := ecdh.X25519().NewPrivateKey(ephemeral)
	if err != nil {
		return "", err
	}
	shared, err := own.ECDH(to.key)
	if err != nil {
		return "", err
	}
	share := own.PublicKey().Bytes()
	wrap := sealing{key: shared, salt: slices.Concat(share, to.key.Bytes()), info: "age-encryption.org/v1/X25519"}
	wrapped, err := wrap.of(file)
	if err != nil {
		return "", err
	}
	key, err := hkdf.Key(sha256.New, file, nil, "header", sha256.Size)
	if err != nil {
		return "", err
	}
	b64 := base64.RawStdEncoding.EncodeToString
	text := "age-encryption.org/v1\n-> X25519 " + b64(share) + "\n" + b64(wrapped) + "\n---"
	code := hmac.New(sha256.New, key)
	code.Write([]byte(text))
	return text + " " + b64(code.Sum(nil)) + "\n", nil
}

// sealing is ChaCha20-Poly1305 under a key that serves once. Its nonce is zero but for
// the last byte.
type sealing struct {
	key, salt []byte // what the key is derived from
	info      string
	last      byte
}

func (s sealing) of(plaintext []byte) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, s.key, s.salt, s.info, chacha20poly1305.KeySize)
	if err != nil {
		return nil, err
	}
	aead, err := chacha20poly1305.New(key)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, chacha20poly1305.NonceSize)
	nonce[len(nonce)-1] = s.last
	return aead.Seal(nil, nonce, plaintext, nil), nil
}

// armored returns a file as text.
func armored(file []byte) string {
	text := base64.StdEncoding.EncodeToString(file)
	var b strings.Builder
	b.WriteString("-----BEGIN AGE ENCRYPTED FILE-----\n")
	for line := range slices.Chunk([]byte(text), width) {
		b.Write(line)
		b.WriteByte('\n')
	}
	b.WriteString("-----END AGE ENCRYPTED FILE-----\n")
	return b.String()
}
