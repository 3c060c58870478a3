//go:build e2e

package attack

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// signed is a fleet whose publisher signs, and what an agent of it that asks for signatures reads.
type signed struct {
	*pulled

	key    string // file of the publisher's key
	reader *published.Reader
	taken  files.ID // head of the state branch that was taken last
}

func newSigned(t *testing.T, more map[string]string, clusters ...string) *signed {
	t.Helper()
	s := &signed{pulled: newPulled(t, more, clusters...)}
	key, text, err := signing.NewKey(rand.Reader, "publisher")
	if err != nil {
		t.Fatal(err)
	}
	s.key = filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(s.key, text, 0o600); err != nil {
		t.Fatal(err)
	}
	signers, err := signing.ParseSigners([]byte("publisher " + key.Public().String() + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	repo, err := git.Open(t.Context(), git.Options{Location: s.branches})
	if err != nil {
		t.Fatal(err)
	}
	s.reader = &published.Reader{Branches: published.At(repo), Signers: signers}
	s.publishes()
	return s
}

// takes what is published, as an agent does that took something before.
func (s *signed) takes() (published.Desired, error) {
	s.t.Helper()
	in, err := s.reader.Desired(s.t.Context(), "", s.taken)
	if err == nil {
		s.taken = in.Head
	}
	return in, err
}

// publishes the source, with a change, and signs that.
func (s *signed) publishes(flags ...string) {
	s.t.Helper()
	s.write(map[string]string{"time.txt": time.Now().String()})
	if out, code := s.run(append([]string{"publish", s.source, "--to", s.branches, "--signing-key", s.key}, flags...)...); code != 0 {
		s.t.Fatalf("waybill publish ends with %d:\n%s", code, out)
	}
}

// head is where a branch is.
func (s *signed) head(branch string) files.ID {
	s.t.Helper()
	id, err := files.ParseID(s.git(s.branches, "rev-parse", branch))
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// TestTheStateIsSetBack sets waybill/state back to a commit that the publisher signed: what was said since,
// here the account as which it is applied, would not count any more. What is published on top of that counts once the
// publisher says, signed, that it replaces what counted before.
func TestTheStateIsSetBack(t *testing.T) {
	t.Parallel()
	s := newSigned(t, nil, "eu")
	var old files.ID
	for _, account := range []string{"admin", "deployer"} {
		old = s.head("waybill/state")
		s.write(map[string]string{"waybill.yaml": "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {apply: {serviceAccountName: " + account + "}}\n"})
		s.publishes()
	}
	in, err := s.takes()
	if err != nil || in.Apply.ServiceAccountName != "deployer" {
		t.Fatalf("as it is published: %+v, %v", in.Apply, err)
	}
	newest := s.head("waybill/state")
	s.git(s.branches, "update-ref", "refs/heads/waybill/state", old.String())
	if in, err := s.takes(); err == nil || !strings.Contains(err.Error(), "set the branch back") {
		t.Errorf("an older state is taken: %+v, %v", in.Apply, err)
	}
	s.git(s.branches, "update-ref", "refs/heads/waybill/state", newest.String())
	if _, err := s.takes(); err != nil {
		t.Errorf("the newest is not taken any more: %v", err)
	}
	s.git(s.branches, "update-ref", "refs/heads/waybill/state", old.String())
	s.publishes() // on top of it, by one who does not know what was lost
	if _, err := s.takes(); err == nil || !strings.Contains(err.Error(), "does not come after "+newest.String()) {
		t.Errorf("what is published on top of an older state is taken: %v", err)
	}
	cluster := filepath.Join(s.source, "clusters", "eu.yaml")
	text, err := os.ReadFile(cluster)
	if err != nil {
		t.Fatal(err)
	}
	s.write(map[string]string{"clusters/eu.yaml": strings.Replace(string(text), "annotations: {", "annotations: {waybill.dev/replaces: "+newest.String()+", ", 1)})
	s.publishes()
	said := s.head("waybill/state")
	if _, err := s.takes(); err != nil {
		t.Errorf("it is said that it is replaced: %v", err)
	}
	// nobody else may say so
	s.git(s.branches, "update-ref", "refs/heads/waybill/state", s.git(s.branches, "commit-tree", old.String()+"^{tree}", "-p", old.String(), "-m",
		s.git(s.branches, "log", "-1", "--format=%B", old.String())+"\nReplaces: waybill/state "+said.String()))
	s.publishes()
	if _, err := s.takes(); err == nil || !strings.Contains(err.Error(), "does not come after "+said.String()) {
		t.Errorf("by a commit that nobody signed an older state is replaced: %v", err)
	}
}

// TestAnybodyAllowsRemovals puts an unsigned commit that allows removals below one that the publisher signs.
func TestAnybodyAllowsRemovals(t *testing.T) {
	t.Parallel()
	object := func(name string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: a}\n"
	}
	s := newSigned(t, map[string]string{
		"one.yaml": object("one"), "policy.yaml": everywhere,
	}, "eu")
	const branch = "waybill/cluster/eu"
	applied := s.head(branch)
	commit := s.git(s.branches, "commit-tree", branch+"^{tree}", "-p", branch, "-m", s.git(s.branches, "log", "-1", "--format=%B", branch)+"\nRemovals-Allowed-In: eu")
	s.git(s.branches, "update-ref", "refs/heads/"+branch, commit)
	s.write(map[string]string{"two.yaml": object("two")})
	s.publishes()
	in, err := s.takes()
	if err != nil {
		t.Fatal(err)
	}
	delivery, err := s.reader.Artifact(t.Context(), &in, "eu")
	if err != nil {
		t.Fatal(err)
	}
	if s.git(s.branches, "merge-base", commit, delivery.Commit.String()) != commit {
		t.Fatal("nothing was published on top of the commit")
	}
	admission, err := applier.Admit(t.Context(), s.reader, delivery, inventory.Inventory{Commit: applied})
	if err != nil || admission.Allowed {
		t.Errorf("removals are allowed: %+v, %v", admission, err)
	}
	anybody := *s.reader
	anybody.Signers = signing.Signers{}
	if admission, err := applier.Admit(t.Context(), &anybody, delivery, inventory.Inventory{Commit: applied}); err != nil || !admission.Allowed {
		t.Errorf("where no signature is asked for: %+v, %v", admission, err)
	}
}
