// Package signing signs and verifies as OpenSSH does (PROTOCOL.sshsig), which is also one of
// the two forms in which Git keeps signatures of commits; the other is OpenPGP's, which is
// verified only. It does no I/O: keys and messages are values.
package signing

import (
	"bytes"
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// Git is the namespace of signatures of commits. A signature that was made in one namespace is
// worth nothing in another.
const Git = "git"

// Key is a private key of the kind ed25519. The zero value signs nothing.
type Key struct{ signer ssh.Signer }

// NewKey makes a key, and returns it in the form in which ssh-keygen writes it, too.
func NewKey(random io.Reader, comment string) (Key, []byte, error) {
	_, private, err := ed25519.GenerateKey(random)
	if err != nil {
		return Key{}, nil, fmt.Errorf("making a key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, comment)
	if err != nil {
		return Key{}, nil, fmt.Errorf("making a key: %w", err)
	}
	text := pem.EncodeToMemory(block)
	key, err := ParseKey(text)
	return key, text, err
}

// ParseKey reads a private key as ssh-keygen -t ed25519 writes it, without a passphrase. What is
// wrong with it is said without a word of it.
func ParseKey(text []byte) (Key, error) {
	signer, err := ssh.ParsePrivateKey(text)
	_, locked := errors.AsType[*ssh.PassphraseMissingError](err)
	switch {
	case locked:
		return Key{}, errors.New("the key has a passphrase, and nobody is there to type it; make one without: ssh-keygen -t ed25519 -N ''")
	case err != nil:
		return Key{}, errors.New("it holds no private key of OpenSSH; make one: ssh-keygen -t ed25519 -N ''")
	case signer.PublicKey().Type() != ssh.KeyAlgoED25519:
		return Key{}, fmt.Errorf("the key is of the kind %s; make one of ed25519: ssh-keygen -t ed25519 -N ''", signer.PublicKey().Type())
	}
	return Key{signer}, nil
}

// IsZero reports that there is no key.
func (k Key) IsZero() bool { return k.signer == nil }

// Public is the public half.
func (k Key) Public() Public { return Public{k.signer.PublicKey()} }

// Sign signs a message in a namespace. The same message has the same signature.
func (k Key) Sign(namespace string, message []byte) ([]byte, error) {
	s, err := sshsig.Sign(bytes.NewReader(message), k.signer, sshsig.HashSHA512, namespace)
	if err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	return sshsig.Armor(s), nil
}

// SignCommit signs a commit, as Git does with gpg.format=ssh.
func (k Key) SignCommit(commit []byte) ([]byte, error) { return k.Sign(Git, commit) }

// Public is the public half of a Key.
type Public struct{ key ssh.PublicKey }

// ParsePublic reads a public key in the form of an authorized_keys file: its kind and its
// content, and perhaps a comment.
func ParsePublic(text string) (Public, error) {
	key, _, _, rest, err := ssh.ParseAuthorizedKey([]byte(text))
	switch {
	case err != nil || len(bytes.TrimSpace(rest)) > 0:
		return Public{}, errors.New("it is not one public key of OpenSSH, which begins with ssh-ed25519")
	case key.Type() != ssh.KeyAlgoED25519:
		return Public{}, fmt.Errorf("it is of the kind %s; want ssh-ed25519", key.Type())
	}
	return Public{key}, nil
}

// String is the key in the form that ParsePublic reads.
func (p Public) String() string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(p.key)))
}

// Fingerprint is that which ssh-keygen -l shows.
func (p Public) Fingerprint() string { return ssh.FingerprintSHA256(p.key) }

// The reasons for which a signature is not taken.
var (
	ErrUnsigned = errors.New("it is not signed")
	ErrForeign  = errors.New("it is signed by another key")
	ErrForged   = errors.New("its signature is not one of what it says")
)

// Verify checks the signature of a message in a namespace.
func (p Public) Verify(namespace string, message, signature []byte) error {
	if len(bytes.TrimSpace(signature)) == 0 {
		return ErrUnsigned
	}
	s, err := sshsig.Unarmor(signature)
	if err != nil {
		return ErrForged
	}
	switch err := sshsig.Verify(bytes.NewReader(message), s, p.key, s.HashAlgorithm, namespace); {
	case errors.Is(err, sshsig.ErrPublicKeyMismatch):
		return ErrForeign
	case err != nil:
		return ErrForged
	}
	return nil
}
