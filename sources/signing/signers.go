package signing

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// Signers are those whose signatures of commits count.
type Signers struct {
	lines []signer
	ring  openpgp.EntityList
}

// signer is a line of an allowed_signers file.
type signer struct {
	principals    string
	key           ssh.PublicKey
	namespaces    []string // patterns; none: all
	after, before time.Time
}

const (
	pgpKeys      = "-----BEGIN PGP PUBLIC KEY BLOCK-----"
	pgpSignature = "-----BEGIN PGP SIGNATURE-----"
)

// ParseSigners reads who may sign: an allowed_signers file, as ssh-keygen(1) describes it and
// Git's gpg.ssh.allowedSignersFile names it, or armored OpenPGP public keys, as gpg --armor
// --export prints them, one block after the other.
func ParseSigners(data []byte) (Signers, error) {
	if _, blocks, ok := bytes.Cut(data, []byte(pgpKeys)); ok {
		var s Signers
		for block := range bytes.SplitSeq(blocks, []byte(pgpKeys)) {
			ring, err := openpgp.ReadArmoredKeyRing(io.MultiReader(strings.NewReader(pgpKeys), bytes.NewReader(block)))
			if err != nil {
				return Signers{}, fmt.Errorf("reading the OpenPGP keys: %w", err)
			}
			s.ring = append(s.ring, ring...)
		}
		return s, nil
	}
	var s Signers
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		one, err := parseSigner(line)
		if err != nil {
			return Signers{}, fmt.Errorf("line %d: %w", n, err)
		}
		s.lines = append(s.lines, one)
	}
	if len(s.lines) == 0 {
		return Signers{}, errors.New("it names nobody; a line is: PRINCIPAL ssh-ed25519 AAAA..., and armored OpenPGP keys will do as well")
	}
	return s, nil
}

func parseSigner(line string) (signer, error) {
	stop := " \t"
	if quoted, ok := strings.CutPrefix(line, `"`); ok {
		line, stop = quoted, `"`
	}
	end := strings.IndexAny(line, stop)
	if end < 0 {
		return signer{}, errors.New("want a principal, a kind of key and a key")
	}
	principals, rest := line[:end], line[end+1:]
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(strings.TrimSpace(rest)))
	if err != nil {
		return signer{}, fmt.Errorf("what follows %q is no key of OpenSSH", principals)
	}
	s := signer{principals: principals, key: key}
	for _, o := range options {
		name, value, _ := strings.Cut(o, "=")
		value = strings.Trim(value, `"`)
		switch strings.ToLower(name) {
		case "namespaces":
			s.namespaces = strings.Split(value, ",")
		case "valid-after":
			s.after, err = parseMoment(value)
		case "valid-before":
			s.before, err = parseMoment(value)
		default:
			return signer{}, fmt.Errorf("the option %s is not understood; namespaces, valid-after and valid-before are", name)
		}
		if err != nil {
			return signer{}, err
		}
	}
	return s, nil
}

// parseMoment reads a time as ssh-keygen does: YYYYMMDD[HHMM[SS]][Z]. One without Z is taken for
// UTC, too: where this runs is nowhere in particular.
func parseMoment(text string) (time.Time, error) {
	for _, layout := range []string{"20060102", "200601021504", "20060102150405"} {
		if t, err := time.Parse(layout, strings.TrimSuffix(text, "Z")); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time; want YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS", text)
}

// IsZero reports that nobody is named, so that nothing is asked for.
func (s Signers) IsZero() bool { return len(s.lines) == 0 && len(s.ring) == 0 }

// Verify checks the signature of a commit that was made at a time, and returns who signed it.
func (s Signers) Verify(commit, signature []byte, at time.Time) (who string, err error) {
	switch {
	case len(bytes.TrimSpace(signature)) == 0:
		return "", ErrUnsigned
	case bytes.HasPrefix(bytes.TrimSpace(signature), []byte(pgpSignature)):
		return s.verifyPGP(commit, signature, at)
	}
	sig, err := sshsig.Unarmor(signature)
	if err != nil {
		return "", ErrForged
	}
	for _, l := range s.lines {
		if !bytes.Equal(l.key.Marshal(), sig.PublicKey.Marshal()) || !l.holds(at) {
			continue
		}
		if sshsig.Verify(bytes.NewReader(commit), sig, l.key, sig.HashAlgorithm, Git) != nil {
			return "", ErrForged
		}
		return l.principals, nil
	}
	return "", fmt.Errorf("%w, %s, whom nobody allowed", ErrForeign, ssh.FingerprintSHA256(sig.PublicKey))
}

// holds reports whether a line is for commits, and for a time.
func (l *signer) holds(at time.Time) bool {
	return l.forCommits() && !at.Before(l.after) && (l.before.IsZero() || at.Before(l.before))
}

// forCommits reports whether the patterns have Git among the namespaces that they name; one with "!" takes back what others name.
func (l *signer) forCommits() bool {
	named := len(l.namespaces) == 0
	for _, pattern := range l.namespaces {
		pattern, except := strings.CutPrefix(pattern, "!")
		if ok, _ := path.Match(pattern, Git); !ok { // nothing matches what is no pattern
			continue
		}
		if except {
			return false
		}
		named = true
	}
	return named
}

func (s Signers) verifyPGP(commit, signature []byte, at time.Time) (string, error) {
	config := &packet.Config{Time: func() time.Time { return at }}
	by, err := openpgp.CheckArmoredDetachedSignature(s.ring, bytes.NewReader(commit), bytes.NewReader(signature), config)
	switch {
	case errors.Is(err, pgperrors.ErrUnknownIssuer):
		return "", fmt.Errorf("%w, whom nobody allowed", ErrForeign)
	case err != nil || by == nil:
		return "", ErrForged
	}
	name := by.PrimaryIdentity()
	if name == nil {
		return fmt.Sprintf("%X", by.PrimaryKey.Fingerprint), nil
	}
	return name.Name, nil
}
