package given_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/commands/given"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// lacking is a repository that lacks a commit.
type lacking struct {
	*twin.Repo

	commit files.ID
}

func (l lacking) Root(ctx context.Context, id files.ID) (git.Head, []files.Entry, error) {
	if id == l.commit {
		return git.Head{}, nil, git.ErrMissing
	}
	return l.Repo.Root(ctx, id)
}

func (l lacking) Commit(ctx context.Context, id files.ID) (git.Head, error) {
	if id == l.commit {
		return git.Head{}, git.ErrMissing
	}
	return l.Repo.Commit(ctx, id)
}

// unknowing is a repository that cannot tell of a commit whether it comes before others.
type unknowing struct {
	*twin.Repo

	commit files.ID
}

func (u unknowing) IsAncestor(ctx context.Context, a, b files.ID) (bool, error) {
	if a == u.commit {
		return false, errors.New("the history is not here")
	}
	return u.Repo.IsAncestor(ctx, a, b)
}

// merges commits to a branch that follows others, with what the base of the run has.
func (w *world) merges(to, message string, parents ...files.ID) files.ID {
	w.t.Helper()
	base, err := w.repo.Commit(w.t.Context(), w.base)
	if err != nil {
		w.t.Fatal(err)
	}
	heads, err := w.repo.Heads(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	ids, err := w.repo.Publish(w.t.Context(), []git.Update{{Branch: to, Old: heads[to], After: parents, Tree: base.Tree, Message: message}})
	if err != nil {
		w.t.Fatal(err)
	}
	return ids[0]
}

// runs has the run go from a commit to the head, which is published.
func (w *world) runs(from files.ID) {
	w.state.Published.Commit = w.head.String()
	w.state.Rollouts[0].Status.Base.Commit, w.state.Rollouts[0].Status.Target.Commit = from.String(), w.head.String()
}

const byWendy = "\n\nCo-authored-by: Wendy <wendy@example.com>"

// An author of what goes out is who wrote a commit that the run brings, or is named there, and nobody else. Where that cannot be told, nobody
// is known to be none.
func TestWhoIsAnAuthorOfWhatGoesOut(t *testing.T) {
	const isAuthor, isNone = "wendy@example.com wrote a commit of what is approved", `by "wendy@example.com"`
	for _, tt := range []struct {
		name string
		edit func(w *world) (source published.Repository)
		want string
	}{
		{"somebody else wrote it", func(*world) published.Repository { return nil }, isNone},
		{"who wrote the last commit", func(w *world) published.Repository {
			w.pushes("", "last"+byWendy)
			w.runs(w.base)
			return nil
		}, isAuthor},
		{"who wrote one before the last", func(w *world) published.Repository {
			w.pushes("", "one"+byWendy)
			w.pushes("", "last")
			w.runs(w.base)
			return nil
		}, isAuthor},
		{"who wrote the base", func(w *world) published.Repository {
			w.pushes("", "base"+byWendy)
			from := w.head
			w.pushes("", "last")
			w.runs(from)
			return nil
		}, isNone},
		{"who wrote what the base has, and what was merged comes after", func(w *world) published.Repository {
			older := w.merges("older", "older"+byWendy, w.base)
			topic, from := w.merges("topic", "topic", older), w.merges("from", "base", older)
			w.head = w.merges("merged", "merge", from, topic)
			w.runs(from)
			return nil
		}, isNone},
		{"who wrote a commit without parents that was merged", func(w *world) published.Repository {
			root := w.repo.Write("elsewhere", "imported"+byWendy, twin.Tree{"a": twin.File(nil)}.Folder())
			w.head = w.merges("merged", "merge", w.base, root)
			w.runs(w.base)
			return nil
		}, isAuthor},
		{"a commit without parents was merged", func(w *world) published.Repository {
			root := w.repo.Write("elsewhere", "imported", twin.Tree{"a": twin.File(nil)}.Folder())
			w.head = w.merges("merged", "merge", w.base, root)
			w.runs(w.base)
			return nil
		}, isNone},
		{"somebody is named without an address", func(w *world) published.Repository {
			w.pushes("", "last\n\nCo-authored-by: Zoe")
			w.runs(w.base)
			return nil
		}, isNone},
		{"the target does not come after the base", func(w *world) published.Repository {
			from := w.merges("aside", "aside", w.base)
			w.runs(from)
			return nil
		}, "does not come after"},
		{"the target is no commit", func(w *world) published.Repository {
			w.state.Rollouts[0].Status.Target.Commit = "main"
			return nil
		}, "who they are cannot be read"},
		{"a commit between them is not there", func(w *world) published.Repository {
			w.pushes("", "one")
			lost := w.head
			w.pushes("", "last")
			w.runs(w.base)
			return lacking{w.repo, lost}
		}, "who they are cannot be read"},
		{"it cannot be told whether the target comes after the base", func(w *world) published.Repository {
			return unknowing{w.repo, w.base}
		}, "the history is not here"},
		{"it cannot be told whether a commit comes before the base", func(w *world) published.Repository {
			return unknowing{w.repo, w.head}
		}, "the history is not here"},
		{"there are a thousand commits", func(w *world) published.Repository {
			w.pushesMany(998) // beside the base and the second one
			w.runs(w.base)
			return nil
		}, isNone},
		{"there are more", func(w *world) published.Repository {
			w.pushesMany(999)
			w.runs(w.base)
			return nil
		}, "there are more than 1000 commits"},
	} {
		w := newWorld(t, "commands: {notAuthor: true}")
		source := tt.edit(w)
		if source == nil {
			source = w.repo
		}
		w.writes("wendy", said(rollouts.Approve, "canary"))
		all, ignored := w.reads(source)
		got := fmt.Sprintf("%+v", ignored)
		if len(all) == 1 && len(ignored) == 0 {
			got = fmt.Sprintf("by %q", all[0].By)
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// pushesMany pushes many commits of somebody else.
func (w *world) pushesMany(n int) {
	w.t.Helper()
	for i := range n {
		w.pushes("", fmt.Sprint("commit ", i))
	}
}

// Nobody is an author of the run of a unit that never went out, so that nobody is known to be none.
func TestAnApprovalOfAUnitThatNeverWentOut(t *testing.T) {
	w := newWorld(t, "")
	w.config.Commands.NotAuthor = true
	c := said(rollouts.Approve, "canary")
	c.Unit = "team/fresh"
	w.writes("wendy", c)
	if got := w.one(); !strings.Contains(got, "no run is open") {
		t.Errorf("it is %s", got)
	}
}

// Of a file whose commit cannot be told, nobody is known who signed it: not who wrote the next one.
func TestAFileWhoseCommitIsNotThere(t *testing.T) {
	w := newWorld(t, "commands: {signed: true}")
	w.writes("", said(rollouts.Stop, ""))
	heads, err := w.repo.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.writes("wendy", said(rollouts.Approve, "canary"))
	head, _, err := w.repo.Branch(t.Context(), commands.Branch)
	if err != nil {
		t.Fatal(err)
	}
	r := given.Reader{Source: w.repo, Target: lacking{w.repo, heads[commands.Branch]}, Now: w.now}
	all, ignored := r.Read(t.Context(), &given.Asked{Branch: head, State: &w.state, Revision: w.head.String(), Config: w.config})
	if len(all) > 0 || len(ignored) != 2 || !strings.Contains(ignored[0].What+ignored[1].What, "the commit that brought it is not known") {
		t.Errorf("there are %+v and %+v", all, ignored)
	}
}

// Trailers count of the commits that came since the one that was published, along the branch that is followed.
func TestWhichTrailersCount(t *testing.T) {
	const stop = "\n\nWaybill-Rollout: stop team/web"
	for _, tt := range []struct {
		name string
		edit func(w *world) (source published.Repository)
		want []string // the verbs that count, and what is said of those that do not
	}{
		{"one came since", func(w *world) published.Repository { w.pushes("wendy", "one"+stop); return nil }, []string{"stop"}},
		{"nothing was published before", func(w *world) published.Repository {
			w.pushes("wendy", "one"+stop)
			w.state.Published.Commit = ""
			return nil
		}, nil},
		{"what is planned is in no commit", func(w *world) published.Repository {
			w.pushes("wendy", "one"+stop)
			w.head = files.ID{}
			return nil
		}, nil},
		{"what is planned comes before what was published", func(w *world) published.Repository {
			w.pushes("wendy", "one"+stop)
			w.state.Published.Commit = w.head.String()
			w.head = w.base
			return nil
		}, nil},
		{"what was published is no commit", func(w *world) published.Repository {
			w.pushes("wendy", "one"+stop)
			w.state.Published.Commit = "main"
			return nil
		}, []string{"command nothing"}},
		{"it cannot be told what came since", func(w *world) published.Repository {
			was := w.head
			w.pushes("wendy", "one"+stop)
			return unknowing{w.repo, was}
		}, []string{"command nothing: the history is not here"}},
		{"what was published was merged into another branch", func(w *world) published.Repository {
			topic := w.merges("topic", "topic", w.base)
			w.head = w.merges("merged", "merge"+stop, w.base, topic)
			w.state.Published.Commit = topic.String()
			return nil
		}, []string{"is not among the last 1000 commits"}},
		{"a thousand came since", func(w *world) published.Repository { w.pushesMany(999); w.pushes("wendy", "one"+stop); return nil }, []string{"stop"}},
		{
			"more came since", func(w *world) published.Repository { w.pushesMany(1000); w.pushes("wendy", "one"+stop); return nil },
			[]string{"is not among the last 1000 commits"},
		},
		{"several came at once, the oldest first", func(w *world) published.Repository {
			now := w.repo.Now
			w.pushes("wendy", "one"+stop)
			w.repo.Now = now
			w.pushes("wendy", "two\n\nWaybill-Rollout: resume team/web")
			return nil
		}, []string{"stop", "resume"}},
		{"a file is older than a trailer, and another one newer", func(w *world) published.Repository {
			w.pushes("wendy", "one"+stop)
			older, newer := said(rollouts.Skip, "canary"), said(rollouts.Resume, "")
			older.At, newer.At = w.repo.Now.Add(-commands.Lasts/4), w.repo.Now.Add(commands.Lasts/4)
			w.now = w.repo.Now
			w.writes("wendy", older)
			w.now = newer.At
			w.writes("wendy", newer)
			return nil
		}, []string{"skip", "stop", "resume"}},
	} {
		w := newWorld(t, "")
		source := tt.edit(w)
		if source == nil {
			source = w.repo
		}
		revision := w.head.String()
		if w.head.IsZero() {
			revision = ""
		}
		head, _, err := w.repo.Branch(t.Context(), commands.Branch)
		if err != nil {
			t.Fatal(err)
		}
		r := given.Reader{Source: source, Target: w.repo, Now: w.now}
		all, ignored := r.Read(t.Context(), &given.Asked{Branch: head, State: &w.state, Revision: revision, Config: render.DefaultConfig().Rollout})
		var got []string
		for _, c := range all {
			got = append(got, string(c.Verb))
		}
		for _, i := range ignored {
			got = append(got, i.What)
		}
		if len(got) != len(tt.want) {
			t.Errorf("%s: there are %q", tt.name, got)
			continue
		}
		for i, want := range tt.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: there are %q, want %q", tt.name, got, tt.want)
			}
		}
	}
}

// A trailer names a stage of the run, or a cluster; of a unit that never went out, there are no stages.
func TestWhatATrailerIsAbout(t *testing.T) {
	w := newWorld(t, "")
	w.pushes("wendy", "one\n\nWaybill-Rollout: skip team/web canary\nWaybill-Rollout: skip team/web c9\nWaybill-Rollout: skip team/fresh canary")
	all, ignored := w.reads(w.repo)
	var got []string
	for _, c := range all {
		got = append(got, fmt.Sprintf("%s: stage %q, cluster %q", c.Unit, c.Stage, c.Cluster))
	}
	want := `team/web: stage "canary", cluster "", team/web: stage "", cluster "c9", team/fresh: stage "", cluster "canary"`
	if is := strings.Join(got, ", "); is != want || len(ignored) > 0 {
		t.Errorf("they are %s; ignored are %+v", is, ignored)
	}
}
