package unseal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/waybill-dev/waybill/sources/words"
)

// ErrNoIdentity says that no identity is that of a recipient of a document.
var ErrNoIdentity = errors.New("no identity fits")

// Identities decrypt what was encrypted to their recipients. The zero value has none.
type Identities struct{ all []age.Identity }

// ParseIdentities reads a key file of age: an identity a line, as age-keygen writes them;
// empty lines and those that begin with # say nothing.
func ParseIdentities(text []byte) (Identities, error) {
	var out Identities
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		one, err := age.ParseIdentities(strings.NewReader(line))
		if err != nil { // which might quote the line
			return Identities{}, fmt.Errorf("line %d is no identity of age, AGE-SECRET-KEY-1 and what follows, nor a comment", n)
		}
		out.all = append(out.all, one...)
	}
	if lines.Err() != nil || len(out.all) == 0 {
		return Identities{}, errors.New("it holds no identity of age: no line begins with AGE-SECRET-KEY-1")
	}
	return out, nil
}

// With returns these identities and others.
func (i Identities) With(others Identities) Identities {
	return Identities{slices.Concat(i.all, others.all)}
}

// Format says that they are identities, and not which, whatever the verb.
func (Identities) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "unseal.Identities") }

// dataKey returns the data key of a document, which each recipient's age file holds.
func (i Identities) dataKey(m *metadata) ([]byte, error) {
	switch {
	case len(m.Groups) > 0:
		return nil, errors.New("its data key is divided among key groups, which are not put together here")
	case len(m.Age) == 0:
		return nil, errors.New("it has no age recipient")
	}
	recipients := make([]string, 0, len(m.Age))
	damaged := false
	for _, to := range m.Age {
		recipients = append(recipients, to.Recipient)
		if len(i.all) == 0 {
			continue
		}
		key, err := i.open(to.Encrypted)
		if err == nil {
			return key, nil
		}
		if _, other := errors.AsType[*age.NoIdentityMatchError](err); !other {
			damaged = true
		}
	}
	whose := words.First(recipients, 5)
	switch {
	case damaged:
		return nil, fmt.Errorf("what holds its data key is damaged (its recipients: %s)", whose)
	case len(i.all) == 0:
		return nil, fmt.Errorf("%w, for none is given; its recipients: %s", ErrNoIdentity, whose)
	}
	return nil, fmt.Errorf("%w of the %d that are given; its recipients: %s", ErrNoIdentity, len(i.all), whose)
}

// open reads an armored age file that holds a data key.
func (i Identities) open(file string) ([]byte, error) {
	plain, err := age.Decrypt(armor.NewReader(strings.NewReader(file)), i.all...)
	if err != nil {
		return nil, err
	}
	key := make([]byte, keySize)
	if _, err := io.ReadFull(plain, key); err != nil {
		return nil, errors.New("it holds too little")
	}
	if n, err := plain.Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
		return nil, errors.New("it holds too much")
	}
	return key, nil
}
