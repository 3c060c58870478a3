package signing_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"golang.org/x/crypto/ssh"

	"github.com/waybill-dev/waybill/sources/signing"
)

func newKey(t *testing.T) (signing.Key, []byte) {
	t.Helper()
	key, text, err := signing.NewKey(rand.Reader, "eu-1")
	if err != nil {
		t.Fatal(err)
	}
	return key, text
}

func TestASignatureCountsForOneKeyOneNamespaceAndOneMessage(t *testing.T) {
	mine, _ := newKey(t)
	other, _ := newKey(t)
	message := []byte("tree 0\n\nhello\n")
	signature, err := mine.SignCommit(message)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := other.SignCommit(message)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		namespace string
		message   string
		signature []byte
		want      error
	}{
		{"as it was signed", signing.Git, string(message), signature, nil},
		{"another message", signing.Git, "tree 1\n\nhello\n", signature, signing.ErrForged},
		{"another namespace", "file", string(message), signature, signing.ErrForged},
		{"another key", signing.Git, string(message), foreign, signing.ErrForeign},
		{"no signature", signing.Git, string(message), nil, signing.ErrUnsigned},
		{"no signature of SSH", signing.Git, string(message), []byte("yes, I signed it"), signing.ErrForged},
	} {
		if err := mine.Public().Verify(c.namespace, []byte(c.message), c.signature); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestKeysAreThoseOfOpenSSH(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "key")
	if out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	key, err := signing.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(file + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := signing.ParsePublic(string(public))
	if err != nil || parsed.String() != key.Public().String() {
		t.Fatalf("%v: %s is not %s", err, parsed, key.Public())
	}

	// ssh-keygen takes what is signed here
	message := []byte("commit\n")
	signature, err := key.SignCommit(message)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"allowed": []byte("me " + key.Public().String() + "\n"), "signature": signature} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	signers, err := signing.ParseSigners([]byte("me " + key.Public().String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, hash := range []string{"sha512", "sha256"} { // and what it signs is taken here
		cmd := exec.CommandContext(t.Context(), "ssh-keygen", "-Y", "sign", "-O", "hashalg="+hash, "-f", file, "-n", "git")
		cmd.Stdin = bytes.NewReader(message)
		theirs, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		_, by := signers.Verify(message, theirs, time.Now())
		if err := key.Public().Verify(signing.Git, message, theirs); err != nil || by != nil {
			t.Errorf("a signature with %s: %v, %v", hash, err, by)
		}
	}
	cmd := exec.CommandContext(t.Context(), "ssh-keygen", "-Y", "verify", "-f", "allowed", "-I", "me", "-n", "git", "-s", "signature")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(message)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}

	// and what it makes is read back
	_, made := newKey(t)
	if _, err := signing.ParseKey(made); err != nil {
		t.Error(err)
	}
}

func TestWhatIsNoKeyIsRefusedWithoutAWordOfIt(t *testing.T) {
	for _, text := range []string{"", "hunter2", "-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\n-----END OPENSSH PRIVATE KEY-----\n"} {
		if _, err := signing.ParseKey([]byte(text)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", text, err)
		}
	}
	key, _ := newKey(t)
	two := key.Public().String() + "\n" + key.Public().String()
	for _, text := range []string{"", "ssh-ed25519", "ssh-rsa AAAA", two} {
		if _, err := signing.ParsePublic(text); err == nil {
			t.Errorf("%q is taken for a key", text)
		}
	}
}

func TestWhoMaySign(t *testing.T) {
	key, _ := newKey(t)
	other, _ := newKey(t)
	public := key.Public().String()
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	signature, err := key.SignCommit([]byte("commit"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want string }{
		{"ci@example.com " + public, "ci@example.com"},
		{"# those of CI\n\n\"ci@example.com,bot@example.com\" " + public + " laptop", "ci@example.com,bot@example.com"},
		{`ci namespaces="git" ` + public, "ci"},
		{`ci namespaces="file,g*" ` + public, "ci"},
		{`ci namespaces="file" ` + public, ""},
		{`ci valid-after="20260301",valid-before="20260302" ` + public, "ci"},
		{`ci valid-after="20260301130000Z" ` + public, ""},
		{`ci valid-before="202603011200" ` + public, ""},
		{`ci valid-before="20260301120001" ` + public, "ci"},
		{`ci valid-after="202603011200" ` + public, "ci"},
		{`ci valid-after="20260301120001" ` + public, ""},
		{`ci valid-after="20260301",valid-before="20260301" ` + public, ""},
		{`ci namespaces="[" ` + public, ""},
		{`ci namespaces="*" ` + public, "ci"},
		{`ci namespaces="*,!git" ` + public, ""},
		{`ci namespaces="!g*,git" ` + public, ""},
		{`ci namespaces="g*,!file" ` + public, "ci"},
		{`ci namespaces="!file" ` + public, ""},
		{"ci\t" + public, "ci"},
		{"\"ci at work\"\tvalid-after=\"20260301\"\t" + public, "ci at work"},
		{`ci Namespaces="file",VALID-AFTER="20260101" ` + public, ""},
		{`before valid-before="20260101" ` + public + "\nnow " + public, "now"},
		{`files namespaces="file" ` + public + "\ncommits " + public, "commits"},
		{"other " + other.Public().String() + "\nci " + public, "ci"},
	} {
		s, err := signing.ParseSigners([]byte(c.line))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		who, err := s.Verify([]byte("commit"), signature, day)
		if who != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", c.line, who, err)
		}
		if _, err := s.Verify([]byte("another"), signature, day); err == nil {
			t.Errorf("%s: a signature of something else counts", c.line)
		}
		if _, err := s.Verify([]byte("commit"), nil, day); !errors.Is(err, signing.ErrUnsigned) {
			t.Errorf("%s: no signature: %v", c.line, err)
		}
	}
	for line, want := range map[string]string{
		"": "names nobody", "# nobody": "names nobody", "ci": "want a principal", `"ci ` + public: "want a principal", public: "no key of OpenSSH",
		"ci cert-authority " + public: "the option cert-authority", `ci valid-after="soon" ` + public: "is no time", `ci valid-before="2026" ` + public: "is no time",
	} {
		if _, err := signing.ParseSigners([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
	if _, err := signing.ParseSigners([]byte("# one\n\nci " + public + "\nci nonsense\n")); err == nil || !strings.Contains(err.Error(), "line 4") {
		t.Errorf("the fourth line is wrong: %v", err)
	}
	if _, err := signing.ParseSigners([]byte("-----BEGIN PGP PUBLIC KEY BLOCK-----\nx\n")); err == nil {
		t.Error("OpenPGP keys that are none are taken")
	}
	s, err := signing.ParseSigners([]byte("other " + other.Public().String()))
	if _, by := s.Verify([]byte("commit"), signature, day); err != nil || !errors.Is(by, signing.ErrForeign) || !strings.Contains(by.Error(), key.Public().Fingerprint()) {
		t.Errorf("a key that nobody allowed: %v, %v", err, by)
	}
	if _, by := s.Verify([]byte("commit"), []byte("-----BEGIN PGP SIGNATURE-----\nx\n"), day); !errors.Is(by, signing.ErrForged) {
		t.Errorf("a signature of OpenPGP where nobody has such a key: %v", by)
	}
	if _, by := s.Verify([]byte("commit"), []byte("yes, I signed it"), day); !errors.Is(by, signing.ErrForged) {
		t.Errorf("what is no signature: %v", by)
	}
	if s.IsZero() || !(signing.Signers{}).IsZero() || key.IsZero() || !(signing.Key{}).IsZero() {
		t.Error("somebody is nobody")
	}
}

// TestKeysOfOtherKinds are refused, and so is one that needs a passphrase.
func TestKeysOfOtherKinds(t *testing.T) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte("hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	another, err := ssh.MarshalPrivateKey(curve, "")
	if err != nil {
		t.Fatal(err)
	}
	for block, want := range map[*pem.Block]string{locked: "has a passphrase", another: "is of the kind ecdsa-sha2-nistp256"} {
		if key, err := signing.ParseKey(pem.EncodeToMemory(block)); err == nil || !strings.Contains(err.Error(), want) || !key.IsZero() {
			t.Errorf("%v, want %q", err, want)
		}
	}
	public, err := ssh.NewPublicKey(curve.Public())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := signing.ParsePublic(string(ssh.MarshalAuthorizedKey(public))); err == nil || !strings.Contains(err.Error(), "want ssh-ed25519") {
		t.Errorf("a public key of another kind: %v", err)
	}
}

func TestOpenPGP(t *testing.T) {
	mine, err := openpgp.NewEntity("Ada", "", "ada@example.com", nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := openpgp.NewEntity("Eve", "", "eve@example.com", nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := openpgp.NewEntity("Bob", "", "bob@example.com", nil)
	if err != nil {
		t.Fatal(err)
	}
	var ring bytes.Buffer
	for _, key := range []*openpgp.Entity{mine, second} { // as two files of gpg --armor --export, put together
		w, err := armor.Encode(&ring, openpgp.PublicKeyType, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(key.Serialize(w), w.Close()); err != nil {
			t.Fatal(err)
		}
		ring.WriteString("\n")
	}
	s, err := signing.ParseSigners(ring.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if s.IsZero() {
		t.Error("keys of OpenPGP ask for no signature")
	}
	at := time.Now().Add(time.Minute)
	for by, want := range map[*openpgp.Entity]error{mine: nil, second: nil, other: signing.ErrForeign} {
		var signature bytes.Buffer
		if err := openpgp.ArmoredDetachSign(&signature, by, strings.NewReader("commit"), nil); err != nil {
			t.Fatal(err)
		}
		who, err := s.Verify([]byte("commit"), signature.Bytes(), at)
		if !errors.Is(err, want) || want == nil && who != by.PrimaryIdentity().Name {
			t.Errorf("%q, %v; want %v", who, err, want)
		}
		if _, err := s.Verify([]byte("another"), signature.Bytes(), at); err == nil {
			t.Error("a signature of something else counts")
		}
		if _, err := s.Verify([]byte("commit"), append([]byte("\n "), signature.Bytes()...), at); !errors.Is(err, want) {
			t.Errorf("a signature behind an empty line: %v", err)
		}
	}
}

// TestAnOpenPGPKeyThatEnds: what a key signed while it lasted counts for good, as a line of an allowed_signers file has it, and what it
// signs later does not.
func TestAnOpenPGPKeyThatEnds(t *testing.T) {
	made := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) *packet.Config {
		return &packet.Config{Time: func() time.Time { return made.Add(d) }, KeyLifetimeSecs: 24 * 60 * 60}
	}
	mine, err := openpgp.NewEntity("Ada", "", "ada@example.com", at(0))
	if err != nil {
		t.Fatal(err)
	}
	var ring bytes.Buffer
	w, err := armor.Encode(&ring, openpgp.PublicKeyType, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(mine.Serialize(w), w.Close()); err != nil {
		t.Fatal(err)
	}
	s, err := signing.ParseSigners(ring.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var signature bytes.Buffer
	if err := openpgp.ArmoredDetachSign(&signature, mine, strings.NewReader("commit"), at(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]error{time.Hour: nil, 23 * time.Hour: nil, 25 * time.Hour: signing.ErrForged} {
		if _, err := s.Verify([]byte("commit"), signature.Bytes(), made.Add(after)); !errors.Is(err, want) {
			t.Errorf("a commit of %v after the key was made: %v, want %v", after, err, want)
		}
	}
}

// What strangers write is refused, and breaks nothing.
func FuzzVerify(f *testing.F) {
	key, _, err := signing.NewKey(rand.Reader, "")
	if err != nil {
		f.Fatal(err)
	}
	good, err := key.SignCommit([]byte("commit"))
	if err != nil {
		f.Fatal(err)
	}
	s, err := signing.ParseSigners([]byte("me " + key.Public().String()))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("commit"), good)
	f.Add([]byte("commit"), []byte("-----BEGIN PGP SIGNATURE-----\n"))
	f.Fuzz(func(t *testing.T, message, signature []byte) {
		_, err := s.Verify(message, signature, time.Unix(0, 0))
		if (err == nil) != (key.Public().Verify(signing.Git, message, signature) == nil) {
			t.Errorf("they differ about %q", signature)
		}
		if err == nil && string(message) != "commit" {
			t.Errorf("%q counts for %q", signature, message)
		}
	})
}
