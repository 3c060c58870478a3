package applier_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestWhatIsAllowedWhereAClusterMoved: from a folder of a branch to a branch of its own, and back. What was said of it at each address
// counts back to what was applied, and a folder that a commit did not change may have been applied at it.
func TestWhatIsAllowedWhereAClusterMoved(t *testing.T) {
	t.Parallel()
	const allows, fails = "x\n\nRemovals-Allowed-In: eu\n", "x\n\nFailed-Over: eu/manifests/a.yaml\nFailed-Over: us/manifests/b.yaml\n"
	for _, tt := range []struct {
		name    string
		third   string // what the commit says which changes eu's folder
		moved   string // what the first commit at the new address says besides
		applied int
		want    string
	}{
		{"nobody says anything", "x", "", 0, "false []"},
		{"the folder says so", allows, "", 0, "true []"},
		{"the folder says so, of what was applied", allows, "", 2, "false []"},
		{"the folder says so, and another one changed when it was applied", allows, "", 1, "true []"},
		{"the commit that moved it says so", "x", "Removals-Allowed-In: eu\n", 2, "true []"},
		{"the commit that moved it was applied", "x", "Removals-Allowed-In: eu\n", 3, "false []"},
		{"the folder names what failed over", fails, "", 0, "false [manifests/a.yaml]"},
		{"it is not known what was applied", allows, "", -1, "it does not come after it"},
	} {
		repo := twin.New("branches")
		tree := func(eu, us int) *files.Folder {
			return twin.Tree{"eu/a": twin.File(fmt.Append(nil, eu)), "us/a": twin.File(fmt.Append(nil, us))}.Folder()
		}
		var commits []files.ID
		write := func(branch, message string, root *files.Folder) {
			commits = append(commits, repo.Write(branch, message, root))
		}
		write("fleet", "x", tree(1, 1))
		write("fleet", "x", tree(1, 2))
		write("fleet", tt.third, tree(2, 2))
		from := fmt.Sprintf("x\n\nContinued-From: us fleet:us %s\nContinued-From: eu fleet:eu %s\n", commits[0], commits[2])
		write("waybill/cluster/eu", from+tt.moved, tree(3, 0))
		write("waybill/cluster/eu", "x", tree(4, 0))
		i := inventory.Inventory{Identity: inventory.Identity{Cluster: "eu"}, Commit: files.Sum("commit", []byte("lost"))}
		if tt.applied >= 0 {
			i.Commit = commits[tt.applied]
		}
		d := published.Artifact{Cluster: "eu", Address: render.Address{Branch: "waybill/cluster/eu"}, Commit: commits[4], Head: commits[4]}
		a, err := applier.Admit(t.Context(), &published.Reader{Branches: published.At(repo)}, d, i)
		got := fmt.Sprint(a.Allowed, " ", slices.Sorted(maps.Keys(a.FailedOver)))
		if err != nil {
			got = "it does not come after it"
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s %v", tt.name, diff, err)
		}
	}
}
