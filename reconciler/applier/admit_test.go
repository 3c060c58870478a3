package applier

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/signing"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestWhatIsAllowedOnTheWay: what commits between the one that was applied and the head say of removals counts, each said by who may; what was
// said before, of another cluster, or by nobody who is known, does not.
func TestWhatIsAllowedOnTheWay(t *testing.T) {
	key, _, err := signing.NewKey(rand.Reader, "publisher")
	if err != nil {
		t.Fatal(err)
	}
	signers, err := signing.ParseSigners([]byte("publisher " + key.Public().String() + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	const (
		branch  = "waybill/cluster/eu"
		allows  = "x\n\nRemovals-Allowed: of held clusters\n"
		allowsA = "x\n\nRemovals-Allowed-In: eu\n"
		allowsB = "x\n\nRemovals-Allowed-In: us\n"
		fails   = "x\n\nFailed-Over: manifests/a.yaml\n"
		plain   = "x\n"
	)
	type step struct {
		message string
		signed  bool
	}
	for _, tt := range []struct {
		name   string
		before []step // the last of them is the one that was applied
		after  []step // the last of them is the head
		asks   bool   // for signatures
		want   string
	}{
		{"nothing", []step{{plain, true}}, nil, true, "false []"},
		{"the one that was applied says so", []step{{allows, true}}, nil, true, "false []"},
		{"the one after it says nothing", []step{{allows, true}}, []step{{plain, true}}, true, "false []"},
		{"the head says so", []step{{plain, true}}, []step{{plain, true}, {allows, true}}, true, "true []"},
		{"one on the way says so", []step{{plain, true}}, []step{{allows, true}, {plain, true}}, true, "true []"},
		{"one on the way says so, of this cluster", []step{{plain, true}}, []step{{allowsA, true}, {plain, true}}, true, "true []"},
		{"one on the way says so, of another cluster", []step{{plain, true}}, []step{{allowsB, true}, {plain, true}}, true, "false []"},
		{"one on the way says so, and nobody signed it", []step{{plain, true}}, []step{{allows, false}, {plain, true}}, true, "false []"},
		{"one on the way says so, and nobody is asked for signatures", []step{{plain, false}}, []step{{allows, false}, {plain, false}}, false, "true []"},
		{"one on the way names what failed over", []step{{plain, true}}, []step{{fails, true}, {plain, true}}, true, "false [manifests/a.yaml]"},
		{"one on the way names what failed over, and nobody signed it", []step{{plain, true}}, []step{{fails, false}, {plain, true}}, true, "false []"},
		{"before one that nobody signed one says so", []step{{plain, true}}, []step{{allows, true}, {plain, false}, {plain, true}}, true, "true []"},
	} {
		repo := twin.New("branches")
		root := twin.Tree{"a": twin.File(nil)}.Folder()
		write := func(all []step) (last files.ID) {
			for _, s := range all {
				repo.Sign = nil
				if s.signed {
					repo.Sign = key.SignCommit
				}
				last = repo.Write(branch, s.message, root)
			}
			return last
		}
		applied := write(tt.before)
		head := applied
		if len(tt.after) > 0 {
			head = write(tt.after)
		}
		r := &published.Reader{Branches: published.At(repo)}
		if tt.asks {
			r.Signers = signers
		}
		d := published.Artifact{Cluster: "eu", Address: render.Address{Branch: branch}, Commit: head, Head: head}
		a, err := Admit(t.Context(), r, d, inventory.Inventory{Commit: applied})
		var paths []string
		for path := range a.FailedOver {
			paths = append(paths, path)
		}
		if got := fmt.Sprint(a.Allowed, " ", paths); err != nil || got != tt.want {
			t.Errorf("%s: %s, want %s; %v", tt.name, got, tt.want, err)
		}
	}
}

// TestWhichCommitMayFollow the one that was applied: one after it, or one that somebody who may says takes its place.
func TestWhichCommitMayFollow(t *testing.T) {
	key, _, err := signing.NewKey(rand.Reader, "publisher")
	if err != nil {
		t.Fatal(err)
	}
	signers, err := signing.ParseSigners([]byte("publisher " + key.Public().String() + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	const branch = "waybill/cluster/eu"
	root := twin.Tree{"a": twin.File(nil)}.Folder()
	lost := files.Sum("commit", []byte("lost"))
	for _, tt := range []struct {
		name     string
		signed   bool
		message  string // of the commit below the head
		rollback bool
		edit     func(*published.Artifact)
		want     bool
	}{
		{"nobody says anything", true, "x", false, nil, false},
		{"the branch says so", true, "x\n\n" + ancestry.Line("eu", lost) + "\n", false, nil, true},
		{"the branch says so of another cluster", true, "x\n\n" + ancestry.Line("us", lost) + "\n", false, nil, false},
		{"somebody who may not says so", false, "x\n\n" + ancestry.Line("eu", lost) + "\n", false, nil, false},
		{"the Cluster says so", true, "x", false, func(d *published.Artifact) { d.Replaces = lost.String() }, true},
		{"a person has it go back", true, "x", true, nil, true},
	} {
		repo := twin.New("branches")
		if tt.signed {
			repo.Sign = key.SignCommit
		}
		repo.Write(branch, tt.message, root)
		repo.Sign = key.SignCommit
		head := repo.Write(branch, "x\n\nRemovals-Allowed: of held clusters\n", root)
		r := &published.Reader{Branches: published.At(repo), Signers: signers, Rollback: tt.rollback}
		d := published.Artifact{Cluster: "eu", Address: render.Address{Branch: branch}, Commit: head, Head: head}
		if tt.edit != nil {
			tt.edit(&d)
		}
		a, err := Admit(t.Context(), r, d, inventory.Inventory{Identity: inventory.Identity{Cluster: "eu"}, Commit: lost})
		if (err == nil) != tt.want || err != nil && !strings.Contains(err.Error(), "does not come after") {
			t.Errorf("%s: %v", tt.name, err)
		}
		// what is said since the branch was made anew counts; where a person vouches for it, the guard judges
		if since := strings.Contains(tt.message, " eu ") || strings.Contains(tt.message, "eu "+lost.String()); err == nil && a.Allowed != since {
			t.Errorf("%s: removals are allowed: %t", tt.name, a.Allowed)
		}
	}
}
