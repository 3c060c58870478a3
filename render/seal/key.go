package seal

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"io"
	"strconv"

	"golang.org/x/crypto/argon2"

	"github.com/waybill-dev/waybill/render/object"
)

// salt begins what the salts are digests of, and names how keys are derived.
const salt = "waybill.dev/seal/v1\n"

// What the master costs. It is paid once a document, and again for each guess.
const (
	passes  = 1
	memory  = 64 << 10 // KiB
	threads = 1
	keySize = 32 // bytes: AES-256, X25519
)

// Key is what all keys of one document are derived from, whoever its recipients are.
// It is as secret as the document. It is small and immutable, and worth keeping as
// long as the document may be sealed again.
type Key struct {
	master [keySize]byte
	of     [sha256.Size]byte // the document
}

// Master returns the key of the manifest that o names, from its canonical YAML, which
// is what object.Encode returns. It takes some 50 ms and 64 MiB.
func Master(o object.Ref, canonical []byte) Key {
	s := sha256.Sum256([]byte(salt + o.Group + "/" + o.Kind + "/" + o.Namespace + "/" + o.Name))
	k := Key{of: sha256.Sum256(canonical)}
	copy(k.master[:], argon2.IDKey(canonical, s[:], passes, memory, threads, keySize))
	return k
}

// Keyed returns the key for which a random key's part is needed as well, so that nobody
// without it can test a guess at the document; k itself if the part is empty.
func (k Key) Keyed(random []byte) Key {
	if len(random) == 0 {
		return k
	}
	h := hmac.New(sha256.New, random)
	h.Write(k.master[:])
	copy(k.master[:], h.Sum(nil))
	return k
}

// Format says that it is a key, and not which, whatever the verb: a key that is
// printed by mistake would show the document to whoever can guess.
func (Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "seal.Key") }

// purpose is what a derived value is for.
type purpose string

const (
	dataKey      purpose = "data key"
	vector       purpose = "initialization vector"
	macVector    purpose = "initialization vector of the code"
	fileKey      purpose = "age file key"
	ephemeralKey purpose = "age ephemeral key"
	payloadNonce purpose = "age payload nonce"
)

// source gives the values that sops and age draw at random.
type source struct {
	master     []byte
	recipients string
}

// draw returns n bytes for a purpose at a place: the index-th, which path names. Only
// the path, which is last, may have a line's end in it.
func (s source) draw(p purpose, index int, path string, n int) ([]byte, error) {
	info := string(p) + "\n" + s.recipients + "\n" + strconv.Itoa(index) + "\n" + path
	out, err := hkdf.Key(sha256.New, s.master, nil, info, n)
	if err != nil {
		return nil, fmt.Errorf("deriving the %s: %w", p, err)
	}
	return out, nil
}
