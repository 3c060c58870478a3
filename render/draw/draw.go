package draw

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxLength is how many characters or bytes one draw may have.
const maxLength = 1 << 20

// The alphabets of functions that draw characters, as sprig has them.
const (
	digits  = "0123456789"
	letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Is reports whether a template function, by its name, is one that can be drawn.
func Is(function string) bool {
	switch function {
	case "randAlphaNum", "randAlpha", "randNumeric", "randAscii", "randBytes", "randInt", "shuffle", "uuidv4":
		return true
	}
	return false
}

// Site is a call of a function in a template.
type Site struct {
	Template string // the file that is rendered
	Call     string // the call, in whatever file it stands
}

// Draws are the draws of one rendering of a release, in its order.
type Draws struct {
	key   []byte
	count map[Site]int
	texts []string
}

// Begin returns the draws of a rendering, of which there was none yet.
func (s Subkey) Begin() *Draws { return &Draws{key: s.Secret, count: map[Site]int{}} }

// Texts returns what was drawn, in order. Numbers are not among it.
func (d *Draws) Texts() []string { return d.texts }

// Draw returns the next draw of a site as text. The operands are a list as JSON. An error
// says what is wrong with them, and not what they are.
func (d *Draws) Draw(at Site, function, operands string) (string, error) {
	args := json.NewDecoder(strings.NewReader(operands))
	args.UseNumber()
	var list []any
	if err := args.Decode(&list); err != nil {
		return "", errors.New("its operands are no JSON")
	}
	d.count[at]++
	s := &stream{key: d.key, of: []string{at.Template, at.Call, strconv.Itoa(d.count[at]), function, operands}}
	text, err := s.call(function, list)
	if err == nil && function != "randInt" {
		d.texts = append(d.texts, text)
	}
	return text, err
}

// stream is the bytes of one draw.
type stream struct {
	key    []byte
	of     []string
	blocks int
	rest   []byte
}

// next returns eight bytes as a number.
func (s *stream) next() uint64 {
	const size = 8
	if len(s.rest) < size {
		s.rest = digest(s.key, append(slices.Clip(s.of), strconv.Itoa(s.blocks))...)
		s.blocks++
	}
	n := binary.BigEndian.Uint64(s.rest)
	s.rest = s.rest[size:]
	return n
}

// below returns a number below m, which is positive; each is as likely as any other.
func (s *stream) below(m uint64) uint64 {
	excess := (math.MaxUint64%m + 1) % m // of the numbers of eight bytes over a multiple of m
	for {
		if n := s.next(); n <= math.MaxUint64-excess {
			return n % m
		}
	}
}

// call does what the template function of that name does.
func (s *stream) call(function string, operands []any) (string, error) {
	want := map[string]int{"uuidv4": 0, "randInt": 2}
	if n, ok := want[function]; len(operands) != n && ok || len(operands) != 1 && !ok {
		return "", fmt.Errorf("it has %d operands", len(operands))
	}
	switch function {
	case "uuidv4":
		return s.uuid(), nil
	case "randInt":
		return s.between(operands[0], operands[1])
	case "shuffle":
		text, ok := operands[0].(string)
		if !ok || len(text) > maxLength {
			return "", fmt.Errorf("its operand is no text, or one of more than %d bytes", maxLength)
		}
		return s.shuffled(text), nil
	}
	n, err := whole(operands[0])
	if err != nil || n > maxLength {
		return "", fmt.Errorf("its operand is no whole number up to %d", maxLength)
	}
	return s.text(function, max(int(n), 0)), nil
}

// text returns n characters, or bytes in base64.
func (s *stream) text(function string, n int) string {
	switch function {
	case "randAlpha":
		return s.characters(letters, n)
	case "randNumeric":
		return s.characters(digits, n)
	case "randAlphaNum":
		return s.characters(letters+digits, n)
	case "randAscii":
		return s.characters(ascii(), n)
	}
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(s.below(1 << 8)) //nolint:gosec // it is below 256
	}
	return base64.StdEncoding.EncodeToString(out)
}

// characters returns n characters of an alphabet.
func (s *stream) characters(alphabet string, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[s.below(uint64(len(alphabet)))]
	}
	return string(out)
}

// ascii returns the characters that can be printed.
func ascii() string {
	var out []byte
	for c := byte(' '); c <= '~'; c++ {
		out = append(out, c)
	}
	return string(out)
}

// between returns a number from low to below high.
func (s *stream) between(low, high any) (string, error) {
	from, err := whole(low)
	to, other := whole(high)
	if errors.Join(err, other) != nil || to <= from {
		return "", errors.New("its operands are not two whole numbers, the second the greater one")
	}
	n := from + int64(s.below(uint64(to)-uint64(from))) //nolint:gosec // in two's complement it is what is meant, and below to
	return strconv.FormatInt(n, 10), nil
}

// shuffled returns the characters of a text in another order.
func (s *stream) shuffled(text string) string {
	runes := []rune(text)
	for i := len(runes) - 1; i > 0; i-- {
		j := s.below(uint64(i) + 1)
		runes[i], runes[j] = runes[j], runes[i]
	}
	return string(runes)
}

// uuid returns a UUID of version 4 (RFC 9562, section 5.4).
func (s *stream) uuid() string {
	var u [16]byte
	binary.BigEndian.PutUint64(u[:8], s.next())
	binary.BigEndian.PutUint64(u[8:], s.next())
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// whole returns an operand as a number. Values of charts are read as numbers with a
// fraction, which may be zero.
func whole(operand any) (int64, error) {
	n, ok := operand.(json.Number)
	if !ok {
		return 0, errors.New("it is no number")
	}
	if i, err := n.Int64(); err == nil {
		return i, nil
	}
	f, err := n.Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, errors.New("it is no whole number")
	}
	return int64(f), nil
}
