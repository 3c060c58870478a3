package seal

import (
	"encoding/base32"
	"errors"
	"strings"
)

// The characters of Bech32 (BIP 173) by the five bits that each stands for, and what
// comes before and behind the 32 bytes of a recipient.
const (
	alphabet   = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	prefix     = "age"
	symbols    = 52 // 260 bits: 32 bytes and four of zero
	checkChars = 6
)

// decode returns the 32 bytes of an age recipient in Bech32. There is one spelling of
// a recipient: that in lower case.
func decode(text string) ([]byte, error) {
	body, ok := strings.CutPrefix(text, prefix+"1")
	switch {
	case !ok:
		return nil, errors.New("an X25519 recipient begins with age1")
	case strings.Contains(body, "1"):
		return nil, errors.New("it is of a type other than X25519")
	case len(body) != symbols+checkChars:
		return nil, errors.New("an X25519 recipient has 62 characters")
	}
	if err := verify(body); err != nil {
		return nil, err
	}
	encoding := base32.NewEncoding(alphabet).WithPadding(base32.NoPadding)
	point, err := encoding.DecodeString(body[:symbols])
	if err != nil {
		return nil, err
	}
	if encoding.EncodeToString(point) != body[:symbols] {
		return nil, errors.New("there are bits behind its 32 bytes")
	}
	return point, nil
}

// verify holds the characters behind the prefix against the checksum in them: the
// polynomial that the prefix and they make has the remainder 1.
func verify(body string) error {
	sum := 1
	for i := range len(prefix) {
		sum = step(sum, int(prefix[i])>>5)
	}
	sum = step(sum, 0)
	for i := range len(prefix) {
		sum = step(sum, int(prefix[i])&31)
	}
	for i := range len(body) {
		bits := strings.IndexByte(alphabet, body[i])
		if bits < 0 {
			return errors.New("it has a character that Bech32 has not")
		}
		sum = step(sum, bits)
	}
	if sum != 1 {
		return errors.New("its checksum is wrong")
	}
	return nil
}

// step takes five bits more into the remainder, which has thirty.
func step(sum, bits int) int {
	top := sum >> 25
	sum = sum&0x1ffffff<<5 ^ bits
	for i, g := range [...]int{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
		if top>>i&1 == 1 {
			sum ^= g
		}
	}
	return sum
}
