package reconciler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// pulled is a repository that fails in what its fields say.
type pulled struct {
	*twin.Repo

	fetch, ancestry error
	commits         map[files.ID]error
	fetched         []string
}

func (p *pulled) Fetch(_ context.Context, branches ...string) error {
	p.fetched = append(p.fetched, branches...)
	return p.fetch
}

func (p *pulled) Commit(ctx context.Context, id files.ID) (git.Head, error) {
	if err := p.commits[id]; err != nil {
		return git.Head{}, err
	}
	return p.Repo.Commit(ctx, id)
}

// IsAncestor says, as Git does, that a commit is an ancestor of itself.
func (p *pulled) IsAncestor(ctx context.Context, a, b files.ID) (bool, error) {
	before, err := p.Repo.IsAncestor(ctx, a, b)
	return before || a == b, errors.Join(err, p.ancestry)
}

// records writes the commits of the state branch that name source commits, the first one first.
func records(repo *twin.Repo, commits ...files.ID) {
	for n, commit := range commits {
		message := "an edit by hand\n"
		if !commit.IsZero() {
			message = fmt.Sprintf("published\n\n%s: %s\n", publish.TrailerCommit, commit)
		}
		repo.Write(state.Branch, message, twin.Tree{"n": twin.File([]byte{byte(n)})}.Folder())
	}
}

// A rollback goes to the source commit that was published before the last one, or to the one that is named, and nowhere but back.
func TestWhereARollbackGoes(t *testing.T) {
	for name, tt := range map[string]struct {
		published []int // commits of the source by number; 0: an edit by hand, -1: one of another branch
		rev       int
		down      func(context.Context, *pulled)
		want      int
		err       string
	}{
		"the one before":                 {published: []int{1, 2, 3}, want: 2},
		"one was left out":               {published: []int{1, 3}, want: 1},
		"the same was published again":   {published: []int{1, 2, 2, 2}, want: 1},
		"somebody edited the state once": {published: []int{1, 0, 2}, want: 1},
		"one that is named":              {published: []int{1, 2, 3}, rev: 1, want: 1},
		"one that was never published":   {published: []int{1, 3}, rev: 2, want: 2},
		"nothing was published":          {err: "there is nothing to go back to"},
		"no other one was":               {published: []int{2, 2}, err: "no other source commit was published before"},
		"the head names none":            {published: []int{1, 2, 0}, err: "names no source commit"},
		"to where it is":                 {published: []int{1, 2}, rev: 2, err: "does not come before"},
		"forward":                        {published: []int{1, 2}, rev: 3, err: "does not come before"},
		"the one before is a later one":  {published: []int{3, 2}, err: "does not come before"},
		"the one before is of another":   {published: []int{-1, 2}, err: "does not come before"},
		"the state cannot be fetched": {
			published: []int{1, 2}, err: "away", down: func(_ context.Context, p *pulled) { p.fetch = errors.New("away") },
		},
		"a record cannot be read": {
			published: []int{1, 2}, err: "reading what was published earlier: away",
			down: func(ctx context.Context, p *pulled) {
				head, _, _ := p.Branch(ctx, state.Branch)
				p.commits = map[files.ID]error{head.Parent: errors.New("away")}
			},
		},
		"nobody knows which comes first": {
			published: []int{1, 2}, err: "is not known", down: func(_ context.Context, p *pulled) { p.ancestry = errors.New("away") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			repo := &pulled{Repo: twin.New("fleet")}
			ids := map[int]files.ID{}
			for n := 1; n <= 3; n++ {
				ids[n] = repo.Write("main", fmt.Sprint("commit ", n), twin.Tree{"n": twin.File([]byte{byte(n)})}.Folder())
			}
			ids[-1] = repo.Write("other", "elsewhere", twin.Tree{}.Folder())
			var commits []files.ID
			for _, n := range tt.published {
				commits = append(commits, ids[n])
			}
			records(repo.Repo, commits...)
			if tt.down != nil {
				tt.down(t.Context(), repo)
			}
			rev := ""
			if tt.rev != 0 {
				rev = ids[tt.rev].String()
			}
			last, earlier, err := reconciler.Earlier(t.Context(), &reconciler.Reconciler{Source: repo, Target: repo}, rev)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v; want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := tt.published[len(tt.published)-1]; last != ids[want] || earlier != ids[tt.want] {
				t.Errorf("it goes from %s to %s; want from %s to %s", last, earlier, ids[want], ids[tt.want])
			}
			if fmt.Sprint(repo.fetched) != "["+state.Branch+"]" {
				t.Errorf("it fetched %v", repo.fetched)
			}
		})
	}
}

// Only a rollback publishes a commit that comes before one that was published, be its publication recorded or not.
func TestACommitThatComesBeforeIsNotPublished(t *testing.T) {
	const day = 24 * time.Hour
	for name, tt := range map[string]struct {
		rewritten bool          // the commit that was published is nowhere any more
		shallow   bool          // it cannot be had
		later     time.Duration // of the commit that is to be published than of the one that was; negative: before
		older     bool          // the commit that is to be published is the parent of the one that was
		partly    bool          // the other one got through but for the state, which records the one before both
		alike     bool          // both say the same of all clusters
		undated   bool          // the commit that was published has no date
		rollback  bool
		ancestry  error
		err       string
	}{
		"the one after":                         {later: time.Hour},
		"the one before":                        {older: true, later: -time.Hour, err: "would undo what came after it"},
		"the one before, whose clock was ahead": {older: true, later: time.Hour, err: "would undo what came after it"},
		"the one before what is not recorded":   {older: true, partly: true, later: -time.Hour, err: "would undo what came after it"},
		"the one after what is not recorded":    {partly: true, later: time.Hour},
		"a rollback":                            {older: true, later: -time.Hour, rollback: true},
		"the one after, whose clock was behind": {later: -time.Hour},
		"nobody knows":                          {later: time.Hour, ancestry: errors.New("away"), err: "is not known, and nothing is published: away"},
		"more than a day later nobody asks":     {later: day + time.Minute, ancestry: errors.New("away")},
		"after a day somebody asks":             {later: day, ancestry: errors.New("away"), err: "is not known"},
		"rewritten, and it is newer":            {rewritten: true, later: time.Minute},
		"rewritten, and it is older":            {rewritten: true, later: -time.Minute, err: "would undo what came after it"},
		"a shallow source asks Git":             {shallow: true, later: -time.Minute},
		"the one before, which undoes nothing":  {older: true, alike: true, later: -time.Hour},
		"the one before one without a date":     {older: true, undated: true, later: -time.Hour, err: "would undo what came after it"},
	} {
		t.Run(name, func(t *testing.T) {
			source, target := &pulled{Repo: twin.New("fleet")}, twin.New("branches")
			noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
			write := func(at time.Time, key string) files.ID {
				source.Now = at
				text := strings.Replace(fleet, "{k: v}", "{k: "+key+"}", 1)
				if tt.alike {
					text = fleet
				}
				return source.Write("main", key, twin.Tree{"fleet.yaml": twin.File([]byte(text)), "README.md": twin.File([]byte(key))}.Folder())
			}
			r := &reconciler.Reconciler{
				Seen: reconciler.NewCache(), Source: source, Target: target, Rollback: tt.rollback, Now: func() time.Time { return noon.Add(90 * 24 * time.Hour) },
			}
			if tt.partly {
				if _, err := r.Publish(t.Context(), write(noon.Add(-2*time.Hour), "zero").String()); err != nil {
					t.Fatal(err)
				}
			}
			var first, next files.ID
			if tt.older {
				next = write(noon.Add(tt.later), "one")
				at := noon
				if tt.undated {
					at = time.Time{}
				}
				first = write(at, "two")
			} else {
				first = write(noon, "one")
				next = write(noon.Add(tt.later), "two")
			}
			if tt.partly {
				r.Target = partial{target}
			}
			if _, err := r.Publish(t.Context(), first.String()); (err != nil) != tt.partly {
				t.Fatal(err)
			}
			r.Target, source.ancestry = target, tt.ancestry
			switch {
			case tt.rewritten:
				source.commits = map[files.ID]error{first: git.ErrMissing}
			case tt.shallow:
				source.commits = map[files.ID]error{first: git.ErrShallow}
			}
			res, err := r.Publish(t.Context(), next.String())
			if tt.err == "" && (err != nil || (len(res.Updates) == 0) != tt.alike) {
				t.Errorf("it is not published: %v", err)
			}
			if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v; want %q", err, tt.err)
			}
		})
	}
}
