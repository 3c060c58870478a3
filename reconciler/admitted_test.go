package reconciler_test

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// TestWhatNobodySignedAllowsNoRemovals: somebody put a commit between two that are signed, which allows removals.
func TestWhatNobodySignedAllowsNoRemovals(t *testing.T) {
	const branch = "waybill/cluster/us"
	key, _, err := signing.NewKey(rand.Reader, "publisher")
	if err != nil {
		t.Fatal(err)
	}
	signers, err := signing.ParseSigners([]byte("publisher " + key.Public().String() + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := newFolders(t)
	f.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {}\n")
	f.published()
	head := func(name string) git.Head {
		h, _, err := f.repo.Branch(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	first := head(branch)
	delete(f.source, "us-object.yaml")
	f.repo.Write("main", "a change", f.source.Folder())
	r := f.reconciler()
	r.Allow = guard.OfCluster("us")
	if _, err := r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	f.repo.Sign = key.SignCommit
	for _, name := range []string{branch, "waybill/state"} {
		h := head(name)
		if name == branch {
			h.Message = first.Message
		}
		f.repo.Write(name, h.Message, h.Tree)
	}
	for _, signed := range []bool{false, true} {
		reader := &published.Reader{Branches: published.At(f.target)}
		if signed {
			reader.Signers = signers
		}
		in, err := reader.Desired(t.Context(), "", files.ID{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := reader.Artifact(t.Context(), &in, "us")
		if err != nil {
			t.Fatal(err)
		}
		if a, err := applier.Admit(t.Context(), reader, d, inventory.Inventory{Commit: first.Commit}); err != nil || a.Allowed == signed {
			t.Errorf("where commits have to be signed: %t, removals are allowed: %t, %v", signed, a.Allowed, err)
		}
	}
}

// TestAStateThatWasSetBackDoesNotCount where a later one did.
func TestAStateThatWasSetBackDoesNotCount(t *testing.T) {
	f := newFolders(t)
	f.published()
	before := f.repo.Clone()
	f.object("eu", "second")
	f.published()
	reader := &published.Reader{Branches: published.At(f.target)}
	state := func() files.ID {
		heads, err := f.repo.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return heads["waybill/state"]
	}
	last := state()
	if _, err := reader.Desired(t.Context(), "", last); err != nil {
		t.Fatal(err)
	}
	f.repo.SetBack(before)
	if state() == last {
		t.Fatal("it was not set back")
	}
	_, err := reader.Desired(t.Context(), "", last)
	if refused, ok := errors.AsType[*ancestry.RefusedError](err); !ok || !refused.State || refused.Applied != last {
		t.Errorf("it is %v", err)
	}
	reader.Rollback = true
	if _, err := reader.Desired(t.Context(), "", last); err != nil {
		t.Errorf("where somebody wants to go back: %v", err)
	}
}

// TestWhatFailsStaysWhereItGainsNothing: every other cluster has a copy already.
func TestWhatFailsStaysWhereItGainsNothing(t *testing.T) {
	const failover = "  placement: {}\n  propagateDeps: true\n  failover: {application: {decisionConditions: {tolerationSeconds: 60}}}\n"
	m := newMovable(t, map[string]string{"eu": "", "us": ""}, failover)
	m.say("us", word{health: karmada.ResourceHealthy})
	m.say("eu", word{health: karmada.ResourceUnhealthy, since: time.Hour})
	before := m.where()
	for range 3 {
		m.after(time.Minute)
		if names := fieldsOf(m.where()); names != "eu us" {
			t.Errorf("it is in %s, and was in %s", m.where(), before)
		}
		m.say("us", word{health: karmada.ResourceHealthy})
	}
}

// fieldsOf are the clusters of where.
func fieldsOf(where string) string {
	var names []string
	for word := range strings.FieldsSeq(where) {
		if name, _, ok := strings.Cut(word, ":"); ok {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}
