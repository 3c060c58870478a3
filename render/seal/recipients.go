package seal

import (
	"crypto/ecdh"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Recipients are those who can decrypt. The zero value is nobody, for whom nothing
// can be sealed.
type Recipients struct {
	sorted []recipient
}

// recipient is one who can decrypt.
type recipient struct {
	text string // its one spelling
	key  *ecdh.PublicKey
}

// ParseRecipients reads age recipients (age1...) between commas, blanks and line ends;
// order and repetition mean nothing. Only X25519 ones are known. The error names the
// first that is none. A recipient is public; an identity that stands where a recipient
// belongs is not repeated.
func ParseRecipients(text string) (Recipients, error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	slices.Sort(words)
	words = slices.Compact(words)
	if len(words) == 0 {
		return Recipients{}, errors.New("there is no age recipient")
	}
	var r Recipients
	for _, w := range words {
		if strings.HasPrefix(strings.ToUpper(w), "AGE-SECRET-KEY-") {
			return Recipients{}, errors.New("an age identity stands where a recipient belongs; it is a secret, and must be replaced now that it was written here")
		}
		key, err := publicKey(w)
		if err != nil {
			return Recipients{}, fmt.Errorf("%q is no age recipient: %w", w, err)
		}
		r.sorted = append(r.sorted, recipient{w, key})
	}
	return r, nil
}

// String returns the recipients, sorted, without repetition, with commas between them.
// Equal recipients give equal strings.
func (r Recipients) String() string {
	words := make([]string, len(r.sorted))
	for i, s := range r.sorted {
		words[i] = s.text
	}
	return strings.Join(words, ",")
}

// publicKey reads a recipient. A point of low order, with which every exchange gives
// the same known secret, is none.
func publicKey(text string) (*ecdh.PublicKey, error) {
	point, err := decode(text)
	if err != nil {
		return nil, err
	}
	key, err := ecdh.X25519().NewPublicKey(point)
	if err != nil {
		return nil, err
	}
	probe, err := ecdh.X25519().NewPrivateKey(make([]byte, keySize))
	if err != nil {
		return nil, err
	}
	_, err = probe.ECDH(key)
	return key, err
}
