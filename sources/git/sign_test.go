package git

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
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

// A commit is read as its headers stand, and its signature is of what they say without it. A signature that is
// moved before a parent would leave a commit without parents, author and date, that verifies.
func TestASignatureThatIsMovedIsNone(t *testing.T) {
	key, _, err := signing.NewKey(rand.Reader, "waybill")
	if err != nil {
		t.Fatal(err)
	}
	dir := newBare(t)
	r := mustOpen(t, Options{Location: dir, Sign: key.SignCommit})
	first := mustPublish(t, r, update("main", noID, map[string]string{"a": "1"}))
	second := mustPublish(t, r, update("main", first[0], map[string]string{"a": "2"}))
	whole := run(t, dir, "cat-file", "commit", second[0].String()) + "\n"
	at, end := strings.Index(whole, "gpgsig "), strings.Index(whole, "\n\n")+1
	signature, without := whole[at:end], whole[:at]+whole[end:]
	before := func(header string) string {
		return strings.Replace(without, header, signature+header, 1)
	}
	behind := func(header string) string { return strings.Replace(whole, "\n\n", "\n"+header+"\n\n", 1) }
	for name, tt := range map[string]struct {
		commit string
		want   error // of its signature
	}{
		"as it was made":                   {whole, nil},
		"before the tree":                  {before("tree "), signing.ErrForged},
		"before the parent":                {before("parent "), signing.ErrForged},
		"before the author":                {before("author "), signing.ErrForged},
		"before the committer":             {before("committer "), signing.ErrForged},
		"twice":                            {behind(strings.TrimSuffix(signature, "\n")), signing.ErrForged},
		"another parent behind it":         {behind("parent " + first[0].String()), signing.ErrForged},
		"another header that says more":    {behind("encoding x"), signing.ErrForged},
		"another tree among its own lines": {strings.Replace(whole, "\n -----END", "\ntree "+first[0].String()+"\n -----END", 1), signing.ErrForged},
	} {
		signed, sig := parted([]byte(tt.commit))
		if err := key.Public().Verify(signing.Git, signed, sig); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v\n%s", name, err, tt.want, tt.commit)
		}
	}
	// and as it is read from a repository
	file := filepath.Join(t.TempDir(), "commit")
	if err := os.WriteFile(file, []byte(before("parent ")), 0o600); err != nil {
		t.Fatal(err)
	}
	moved := run(t, dir, "hash-object", "--literally", "-w", "-t", "commit", file)
	run(t, dir, "update-ref", "refs/heads/moved", moved)
	h, ok, err := r.Branch(t.Context(), "moved")
	if err != nil || !ok || !h.Parent.IsZero() {
		t.Fatalf("the commit is %+v: %v", h, err)
	}
	if err := key.Public().Verify(signing.Git, h.Signed, h.Signature); !errors.Is(err, signing.ErrForged) {
		t.Errorf("a commit without its parents: %v", err)
	}
}
