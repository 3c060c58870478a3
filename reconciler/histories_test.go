package reconciler_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// layouts runs a test with a branch a cluster, and with folders of one branch.
func layouts(t *testing.T, test func(f *inFolders)) {
	t.Helper()
	for _, layout := range []string{"branches", "folders"} {
		t.Run(layout, func(t *testing.T) {
			f := newFolders(t)
			f.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publish: {layout: "+layout+"}}\n")
			test(f)
		})
	}
}

// by publishes another object of eu with a reconciler, which may remember what it published before, and returns what
// eu is to apply.
func (f *inFolders) by(r *reconciler.Reconciler, value string) files.ID {
	f.Helper()
	f.object("eu", value)
	f.repo.Write("main", "a change", f.source.Folder())
	if _, err := r.Publish(f.Context(), "main"); err != nil {
		f.Fatal(err)
	}
	return f.commit("eu")
}

// admits says whether what is published for eu may follow what was applied.
func (f *inFolders) admits(applied files.ID) error {
	f.Helper()
	r, d, err := f.delivery("eu")
	if err != nil {
		f.Fatal(err)
	}
	a, err := applier.Admit(f.Context(), r.Published(), d, inventory.Inventory{Commit: applied})
	if a.Allowed || len(a.FailedOver) > 0 {
		f.Errorf("it allows removals: %+v", a)
	}
	if refused, ok := errors.AsType[*ancestry.RefusedError](err); ok && (refused.Applied != applied || refused.State) {
		f.Errorf("it is refused because of %+v", refused)
	}
	return err
}

// tells writes a status branch of eu, as whoever applied a commit and went by a state.
func (f *inFolders) tells(applied, by files.ID) {
	f.Helper()
	root := status.Summarize(status.Cluster{Summary: status.Summary{Name: "eu", Commit: applied, State: by, Verdict: status.Verdict{Reason: status.Errored}}})
	heads, err := f.repo.Heads(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	if _, err := f.repo.Publish(f.Context(), []git.Update{{Branch: "waybill/status/eu", Old: heads["waybill/status/eu"], Tree: root, Message: "status\n"}}); err != nil {
		f.Fatal(err)
	}
}

func (f *inFolders) branch(name string) git.Head {
	f.Helper()
	h, ok, err := f.repo.Branch(f.Context(), name)
	if err != nil || !ok {
		f.Fatalf("branch %s: %t, %v", name, ok, err)
	}
	return h
}

// TestWhoPublishedGoesOnAfterARestore restores a repository under a publisher that goes on. Where it has what was lost,
// as in its cache, that is the parent of what it publishes next; otherwise the next commit says what it replaces, as far
// as it published that itself, or clusters say it.
func TestWhoPublishedGoesOnAfterARestore(t *testing.T) {
	layouts(t, func(f *inFolders) {
		for _, keeps := range []bool{true, false} {
			r := f.reconciler()
			f.by(r, "first")
			backup := f.repo.Clone()
			second, third := f.by(r, fmt.Sprint("second", keeps)), f.by(r, fmt.Sprint("third", keeps))
			lost := f.branch(state.Branch).Commit
			restore := f.repo.Restore
			if keeps {
				restore = f.repo.SetBack
			}
			restore(backup)
			if f.admits(third) == nil || f.admits(second) == nil {
				f.Fatal("the branch is set back, and is applied")
			}
			head := f.by(r, fmt.Sprint("fourth", keeps))
			for name, applied := range map[string]files.ID{"second": second, "third": third} {
				after, err := f.repo.IsAncestor(f.Context(), applied, head)
				if err != nil || after != keeps {
					f.Errorf("keeps %t: that it comes after the %s, as an earlier agent asks, is %t, %v", keeps, name, after, err)
				}
			}
			if says := ancestry.Replaces(f.branch(state.Branch).Message, state.Branch, lost); says == keeps {
				f.Errorf("keeps %t: that the state replaces the one before is said: %t", keeps, says)
			}
			isFolder := strings.HasSuffix(f.Name(), "folders")
			if err := f.admits(third); (err == nil) != (keeps || !isFolder) {
				f.Errorf("keeps %t: what this one published last is followed: %v", keeps, err)
			}
			if err := f.admits(second); (err == nil) != keeps {
				f.Errorf("keeps %t: what nobody said was applied is followed: %v", keeps, err)
			}
			for _, applied := range []files.ID{second, third} {
				f.tells(applied, lost)
				if f.publishes(r); f.admits(applied) != nil {
					f.Errorf("keeps %t: eu says what it applied, and does not go on: %v", keeps, f.admits(applied))
				}
			}
			if f.publishes(r) > 0 {
				f.Error("it is said again and again")
			}
			f.repo.Delete("waybill/status/eu")
		}
	})
}

// publishes has what is there published, and returns how many branches moved.
func (f *inFolders) publishes(r *reconciler.Reconciler) int {
	f.Helper()
	res, err := r.Publish(f.Context(), "main")
	if err != nil {
		f.Fatal(err)
	}
	return len(res.Updates)
}

// TestABranchThatIsMadeAnewGoesOn deletes what is published for clusters, or all of it, under nobody. Whoever publishes
// then reads of the clusters' statuses what they applied, and what they went by.
func TestABranchThatIsMadeAnewGoesOn(t *testing.T) {
	layouts(t, func(f *inFolders) {
		f.by(f.reconciler(), "first")
		address := map[bool]string{true: shared, false: "waybill/cluster/eu"}[strings.HasSuffix(f.Name(), "folders")]
		for _, tt := range []struct {
			name     string
			here     bool // the commit that was applied is
			branches []string
		}{
			{"its commits are here", true, []string{address}},
			{"its commits are gone", false, []string{address}},
			{"all is gone", false, []string{address, state.Branch}},
		} {
			applied, by := f.commit("eu"), f.branch(state.Branch).Commit
			if !tt.here {
				applied, by = files.Sum("commit", []byte(tt.name)), files.Sum("commit", []byte("state"))
			}
			f.tells(applied, by)
			for _, b := range tt.branches {
				f.repo.Delete(b)
			}
			head := f.by(f.reconciler(), tt.name)
			if after, err := f.repo.IsAncestor(f.Context(), applied, head); err != nil || after != tt.here {
				f.Errorf("%s: it comes after what was applied: %t, %v", tt.name, after, err)
			}
			if err := f.admits(applied); err != nil {
				f.Errorf("%s: %v", tt.name, err)
			}
			if says := ancestry.Replaces(f.branch(state.Branch).Message, state.Branch, by); says == tt.here {
				f.Errorf("%s: the state that was gone by is replaced: %t", tt.name, says)
			}
			f.repo.Delete("waybill/status/eu")
		}
	})
}

// TestSomebodySaysThatItWasRestored has one who knows nothing publish after a restore: it reads the statuses if it is
// told that there was one, and goes by the annotation of a Cluster in any case.
func TestSomebodySaysThatItWasRestored(t *testing.T) {
	layouts(t, func(f *inFolders) {
		f.by(f.reconciler(), "first")
		one, two := files.Sum("commit", []byte("one")), files.Sum("commit", []byte("two"))
		f.tells(one, files.ID{})
		f.by(f.reconciler(), "second")
		if err := f.admits(one); err == nil {
			f.Error("nobody says that it was restored, and the statuses are read")
		}
		told := f.reconciler()
		told.Restored = true
		f.by(told, "third")
		f.by(f.reconciler(), "fourth")
		if err := f.admits(one); err != nil {
			f.Error(err)
		}
		eu := f.source["eu.yaml"]
		data, err := eu.Blob.Bytes()
		if err != nil {
			f.Fatal(err)
		}
		f.write("eu.yaml", strings.Replace(string(data), "{name: eu}", fmt.Sprintf("{name: eu, annotations: {waybill.dev/replaces: '%s %s'}}", one, two), 1))
		f.by(f.reconciler(), "fifth")
		f.source["eu.yaml"] = eu
		f.by(f.reconciler(), "sixth")
		if err := f.admits(two); err != nil {
			f.Error(err)
		}
	})
}

// TestWhatAStrangerLostIsNotTakenUpAgain has somebody push to a cluster's branch, and take that back, as one does who
// pushed a password.
func TestWhatAStrangerLostIsNotTakenUpAgain(t *testing.T) {
	f := newFolders(t)
	r := f.reconciler()
	f.by(r, "first")
	before := f.repo.Clone()
	edit := f.edit(shared, "us/"+tree.ManifestDir+"/password.yaml", "hunter2")
	f.publishes(r) // it sees that
	f.repo.SetBack(before)
	head := f.by(r, "second")
	if after, err := f.repo.IsAncestor(t.Context(), edit, head); err != nil || after {
		t.Errorf("what was taken back is part of the history: %v", err)
	}
}

// TestWhatAClusterSaysTakesUpNoOtherBranch has a cluster without a branch say that it applied a commit of another cluster,
// and went by one of them: that becomes no parent of its branch, nor of the state.
func TestWhatAClusterSaysTakesUpNoOtherBranch(t *testing.T) {
	f := newFolders(t)
	f.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\n")
	f.by(f.reconciler(), "first")
	other := f.branch("waybill/cluster/us").Commit
	f.tells(other, other)
	f.repo.Delete("waybill/cluster/eu")
	head := f.by(f.reconciler(), "second")
	for _, at := range []files.ID{head, f.branch(state.Branch).Commit} {
		if after, err := f.repo.IsAncestor(t.Context(), other, at); err != nil || after {
			t.Errorf("%s comes after a commit of another cluster: %v", at, err)
		}
	}
	if err := f.admits(other); err != nil {
		t.Errorf("it is its own business: %v", err)
	}
}
