package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// staged are scenarios of roll-outs of some 100 steps in all, in which nothing is refused.
var staged = []string{
	"rollout-example", "rollout-example-newer", "rollout-restart", "rollout-removed",
	"rollout-width", "rollout-joins", "rollout-settle", "rollout-two-units", "rollout-commands", "rollout-folders",
	"rollout-example-return", "rollout-divided", "rollout-reverted",
}

// TestKilledBetweenPushes has a process die in each step of roll-outs after it pushed some of the branches, to a server that takes them
// one by one; another process goes on. All comes to the same, and no branch gets a commit twice.
func TestKilledBetweenPushes(t *testing.T) {
	for _, name := range staged {
		t.Run(name, func(t *testing.T) {
			want, counts := pictures(t, name, nil)
			for _, pushes := range []int{1, 2, -1} {
				died := 0
				got, is := pictures(t, name, func(repo *twin.Repo, like *reconciler.Reconciler) {
					d := &dying{Repo: repo, pushes: pushes}
					_, _ = over(d, like).Publish(t.Context(), "main") // it dies
					died += d.died
				})
				if died == 0 && pushes == 1 {
					t.Error("no process died")
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("killed after %d pushes, it comes to something else: %s", pushes, d)
				}
				for branch, n := range is {
					if n > counts[branch] {
						t.Errorf("killed after %d pushes, %s has %d commits, and would have %d", pushes, branch, n, counts[branch])
					}
				}
			}
		})
	}
}

// TestTwoControllers has two processes that plan the same steps of roll-outs: one publishes while the other is about to.
// Histories are those that one process makes, and so is what is recorded.
func TestTwoControllers(t *testing.T) {
	steps := 0
	for _, name := range staged {
		t.Run(name, func(t *testing.T) {
			want, counts := pictures(t, name, nil)
			steps += len(want)
			got, is := pictures(t, name, func(repo *twin.Repo, like *reconciler.Reconciler) {
				other := over(repo, like)
				first := over(&racing{Repo: repo, before: func() {
					if _, err := other.Publish(t.Context(), "main"); err != nil {
						t.Error(err)
					}
				}}, like)
				if _, err := first.Publish(t.Context(), "main"); err != nil {
					t.Error(err)
				}
			})
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("by two it comes to something else: %s", d)
			}
			for branch, n := range is {
				if n != counts[branch] {
					t.Errorf("by two %s has %d commits, and by one %d", branch, n, counts[branch])
				}
			}
		})
	}
	t.Logf("%d steps", steps)
}

// over is a process of its own that publishes as another one does.
func over(repo published.Repository, like *reconciler.Reconciler) *reconciler.Reconciler {
	r := reconcilerOver(repo, nil, like.Now())
	r.Version, r.Random, r.Allow = like.Version, like.Random, like.Allow
	return r
}

// pictures are what clusters have after each step of a scenario, and how many commits their branches have in the end.
func pictures(t *testing.T, name string, before func(*twin.Repo, *reconciler.Reconciler)) (steps []string, commits map[string]int) {
	t.Helper()
	ar, err := txtar.ParseFile("testdata/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	s, err := parse(ar)
	if err != nil {
		t.Fatal(err)
	}
	s.run(t, way{before: before, after: func(repo *twin.Repo, res *outcome) {
		steps = append(steps, fmt.Sprintf("step %d\n%s", len(steps)+1, images(t, repo, res)))
		commits = commitsOf(t, repo)
	}})
	return steps, commits
}

// commitsOf counts the commits of the branches of clusters, all of which are on one line.
func commitsOf(t *testing.T, repo *twin.Repo) map[string]int {
	t.Helper()
	heads, err := repo.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(heads)) {
		if !strings.HasPrefix(name, "waybill/cluster") {
			continue
		}
		for id := heads[name]; !id.IsZero(); all[name]++ {
			h, err := repo.Commit(t.Context(), id)
			if err != nil || len(h.Others) > 0 {
				t.Fatalf("%s: commit %s has other parents, or cannot be read: %v", name, id, err)
			}
			id = h.Parent
		}
	}
	return all
}

// dying is a repository behind a server that takes branches one by one, for a process that dies after some pushes; after all
// but the last one if the number is negative.
type dying struct {
	*twin.Repo

	pushes, died int
}

func (d *dying) Publish(ctx context.Context, updates []git.Update) ([]files.ID, error) {
	order := slices.Clone(updates)
	slices.SortStableFunc(order, func(a, b git.Update) int { return a.Stage - b.Stage })
	for n, u := range order {
		if n == d.pushes || d.pushes < 0 && n == len(order)-1 {
			d.died++
			return nil, errors.New("killed")
		}
		if _, err := d.Repo.Publish(ctx, []git.Update{u}); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("killed after the last push")
}

// racing is a repository to which somebody else publishes first.
type racing struct {
	*twin.Repo

	before func()
}

func (r *racing) Publish(ctx context.Context, updates []git.Update) ([]files.ID, error) {
	if before := r.before; before != nil {
		r.before = nil
		before()
	}
	return r.Repo.Publish(ctx, updates)
}
