package applier

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

const allowing = "x\n\nRemovals-Allowed: of held clusters\n"

// unsure is a repository that goes by something else when it is asked which of two commits comes first.
type unsure struct {
	*twin.Repo

	err error // nil: it says that none does, as where the dates of commits are wrong
}

// IsAncestor implements published.Repository.
func (u *unsure) IsAncestor(context.Context, files.ID, files.ID) (bool, error) { return false, u.err }

// TestACommitOfWhichItIsNotKnown whether it comes after the one that was applied is not applied, and the error names both; one that is
// missing comes after nothing, and a person who has it go back is not asked to wait. Where the dates of commits are wrong the parents
// count.
func TestACommitOfWhichItIsNotKnown(t *testing.T) {
	t.Parallel()
	const branch = "waybill/cluster/eu"
	down := errors.New("the server is down")
	for _, tt := range []struct {
		name     string
		err      error
		rollback bool
		applied  int // which of the three commits
		want     string
	}{
		{"it cannot be asked", down, false, 0, "is not known, and nothing was applied: the server is down"},
		{"it cannot be asked, and a person has it go back", down, true, 0, "not allowed"},
		{"the commits say it themselves", nil, false, 0, "allowed"},
		{"a commit is missing, and the parents say it", git.ErrMissing, false, 0, "allowed"},
		{"nobody says it", nil, false, -1, "does not come after"},
	} {
		repo := twin.New("branches")
		root := twin.Tree{"a": twin.File(nil)}.Folder()
		all := []files.ID{repo.Write(branch, "x", root), repo.Write(branch, allowing, root), repo.Write(branch, "x", root)}
		applied := files.Sum("commit", []byte("lost"))
		if tt.applied >= 0 {
			applied = all[tt.applied]
		}
		r := &published.Reader{Branches: published.At(&unsure{repo, tt.err}), Rollback: tt.rollback}
		d := published.Artifact{Cluster: "eu", Address: render.Address{Branch: branch}, Commit: all[2], Head: all[2]}
		a, err := Admit(t.Context(), r, d, inventory.Inventory{Identity: inventory.Identity{Cluster: "eu"}, Commit: applied})
		got := map[bool]string{true: "allowed", false: "not allowed"}[a.Allowed]
		if err != nil {
			got = err.Error()
			if short := applied.String()[:12]; !strings.Contains(got, all[2].String()[:12]) || !strings.Contains(got, short) {
				t.Errorf("%s: the error names not both commits: %s", tt.name, got)
			}
		}
		if err == nil && got != tt.want || !strings.Contains(got, tt.want) {
			t.Errorf("%s: it comes to %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestWhatIsSaidBeforeABranchWasMadeAnew does not count, be it that the head says so, or a commit after that of the cluster's folder; what
// was said since does. One that nobody says takes the place of another is refused with the way out.
func TestWhatIsSaidBeforeABranchWasMadeAnew(t *testing.T) {
	t.Parallel()
	lost := files.Sum("commit", []byte("lost"))
	replaces := "x\n\n" + ancestry.Line("eu", lost) + "\n"
	for _, tt := range []struct {
		name     string
		folder   string
		messages []string
		at       int // the cluster's commit of them; the last is the head
		want     bool
	}{
		{"the head says it", "", []string{allowing, replaces}, 1, false},
		{"one before the head says it", "", []string{replaces, allowing}, 1, true},
		{"one that allowed is before it", "", []string{allowing, replaces, "x"}, 2, false},
		{"a folder that did not change since", "eu", []string{allowing, replaces}, 0, false},
		{"a folder that changed since", "eu", []string{replaces, allowing}, 1, true},
	} {
		const branch = "waybill/clusters"
		repo := twin.New("branches")
		var all []files.ID
		for i, message := range tt.messages {
			all = append(all, repo.Write(branch, message, twin.Tree{"eu/a": twin.File([]byte{byte(min(i, tt.at))})}.Folder()))
		}
		d := published.Artifact{
			Cluster: "eu", Address: render.Address{Branch: branch, Folder: tt.folder}, Commit: all[tt.at], Head: all[len(all)-1],
		}
		r := &published.Reader{Branches: published.At(repo)}
		i := inventory.Inventory{Identity: inventory.Identity{Cluster: "eu"}, Commit: lost}
		if a, err := Admit(t.Context(), r, d, i); err != nil || a.Allowed != tt.want {
			t.Errorf("%s: removals are allowed: %t; %v", tt.name, a.Allowed, err)
		}
		i.Commit = files.Sum("commit", []byte("another"))
		_, err := Admit(t.Context(), r, d, i)
		refused, ok := errors.AsType[*ancestry.RefusedError](err)
		annotation := "waybill.dev/replaces: " + i.Commit.String()
		if !ok || refused.Applied != i.Commit || refused.State || !strings.Contains(refused.Text, annotation) {
			t.Errorf("%s: of another commit it says %v", tt.name, err)
		}
	}
}

// TestTheWayGoesOnAtTheAddressBefore: a cluster that is published elsewhere now comes after what was published there, and what was said of
// removals on the way counts, at either address, of its own folder.
func TestTheWayGoesOnAtTheAddressBefore(t *testing.T) {
	t.Parallel()
	const before, now = "waybill/cluster/eu", "waybill/clusters"
	repo := twin.New("branches")
	tree := func(paths ...string) *files.Folder {
		root := twin.Tree{}
		for i, path := range paths {
			root[path] = twin.File([]byte{byte(i)})
		}
		return root.Folder()
	}
	one := repo.Write(before, allowing, tree("a"))
	two := repo.Write(before, "x\n\nFailed-Over: a\n", tree("b"))
	repo.Write(now, allowing, tree("us/a"))
	moves := fmt.Sprintf("x\n\nContinued-From: eu %s %s\nFailed-Over: eu/b\nFailed-Over: us/b\n", before, two)
	three := repo.Write(now, moves, tree("us/a", "eu/b"))
	repo.Write(now, allowing, tree("us/b", "eu/b")) // of the other folder
	four := repo.Write(now, "x\n\nFailed-Over: eu/c\n", tree("us/b", "eu/b", "eu/c"))
	r := &published.Reader{Branches: published.At(repo)}
	for name, tt := range map[string]struct {
		applied, head files.ID
		want          string
	}{
		"the head":                               {four, four, "map[]"},
		"the first of this one":                  {three, four, "map[c:true]"},
		"the last of the former":                 {two, three, "map[b:true]"},
		"one before":                             {one, three, "map[a:true b:true]"},
		"the last of the former, two commits on": {two, four, "map[b:true c:true]"},
		"one before, two commits on":             {one, four, "map[a:true b:true c:true]"},
		"one that is nowhere":                    {files.Sum("commit", []byte("lost")), four, "refused"},
	} {
		d := published.Artifact{Cluster: "eu", Address: render.Address{Branch: now, Folder: "eu"}, Commit: tt.head, Head: four}
		a, err := Admit(t.Context(), r, d, inventory.Inventory{Identity: inventory.Identity{Cluster: "eu"}, Commit: tt.applied})
		got := fmt.Sprint(a.FailedOver)
		if _, refused := errors.AsType[*ancestry.RefusedError](err); refused {
			err, got = nil, "refused"
		}
		if err != nil || got != tt.want || a.Allowed {
			t.Errorf("%s was applied: %s, want %s; removals are allowed: %t; %v", name, got, tt.want, a.Allowed, err)
		}
	}
}

// TestAWayThatCannotBeReadIsAnError, whichever question the repository does not answer: nothing is applied, and nothing is taken for
// allowed.
func TestAWayThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	const before, now = "waybill/cluster/eu", "waybill/clusters"
	repo := twin.New("branches")
	tree := func(path string, n byte) *files.Folder { return twin.Tree{path: twin.File([]byte{n})}.Folder() }
	applied := repo.Write(before, "x", tree("a", 1))
	last := repo.Write(before, allowing, tree("a", 2))
	head := repo.Write(now, fmt.Sprintf("x\n\nContinued-From: eu %s %s\n", before, last), tree("eu/a", 3))
	for n := 1; ; n++ {
		fails := twin.FailingAt(n, repo)
		r := &published.Reader{Branches: published.At(fails)}
		d := published.Artifact{Cluster: "eu", Address: render.Address{Branch: now, Folder: "eu"}, Commit: head, Head: head}
		a, err := Admit(t.Context(), r, d, inventory.Inventory{Identity: inventory.Identity{Cluster: "eu"}, Commit: applied})
		if !fails.HasFailed() {
			if err != nil || !a.Allowed || n < 4 {
				t.Errorf("after %d questions removals are allowed: %t; %v", n-1, a.Allowed, err)
			}
			return
		}
		if !errors.Is(err, twin.ErrDown) || a.Allowed {
			t.Errorf("question %d is not answered, and removals are allowed: %t; %v", n, a.Allowed, err)
		}
	}
}
