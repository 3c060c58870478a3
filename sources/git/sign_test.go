package git

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill-dev/waybill/sources/signing"
)

// What is signed here verifies here and with Git, and so does what Git signed.
func TestSignedCommits(t *testing.T) {
	key, private, err := signing.NewKey(rand.Reader, "waybill")
	if err != nil {
		t.Fatal(err)
	}
	at := t.TempDir()
	for name, data := range map[string]string{"key": string(private), "key.pub": key.Public().String(), "allowed": "who " + key.Public().String()} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir := newBare(t)
	r := mustOpen(t, Options{Location: dir, Sign: key.SignCommit})
	first := mustPublish(t, r, update("signed", noID, map[string]string{"a": "1"}))
	second := mustPublish(t, r, update("signed", first[0], map[string]string{"a": "2"}))
	run(t, dir, "-c", "gpg.ssh.allowedSignersFile="+filepath.Join(at, "allowed"), "verify-commit", first[0].String(), second[0].String())
	sound(t, dir)

	work := filepath.Join(t.TempDir(), "work")
	run(t, ".", "clone", "-q", "-b", "signed", dir, work)
	run(t, work, "-c", "gpg.format=ssh", "-c", "user.signingKey="+filepath.Join(at, "key"), "commit", "-q", "--allow-empty", "-S", "-m", "by Git\n\nwith more\n\n\nlines")
	run(t, work, "commit", "-q", "--allow-empty", "-m", "by nobody")
	run(t, work, "push", "-q")

	h, ok, err := r.Branch(t.Context(), "signed")
	if err != nil || !ok || h.Signature != nil || h.Signed != nil {
		t.Fatalf("an unsigned commit has the signature %q: %v", h.Signature, err)
	}
	for n := range 3 { // Git's, and the two of Publish
		if h, err = r.Commit(t.Context(), h.Parent); err != nil {
			t.Fatal(err)
		}
		if err := key.Public().Verify(signing.Git, h.Signed, h.Signature); err != nil {
			t.Errorf("commit %d: %v\n%s", n, err, h.Signed)
		}
	}
}
