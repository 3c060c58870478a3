package facts_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// Where the source is, and what is remembered of new versions beside it, is among the facts; that this cannot be read is no reason to know
// nothing else.
func TestFactsOfTheSource(t *testing.T) {
	s := newTale(t)
	s.has("a", "all", "1")
	s.repo.Write(updates.MemoryBranch, "garbage", twin.Tree{"memory.json": twin.File([]byte("{")), "format": twin.File([]byte("99"))}.Folder())
	s.publishes("one")
	s.r.Source = named{s.repo}
	reader := &facts.Reader{Reconciler: s.r, Rev: "main", Forge: forge.Gitea}
	f, err := reader.Look(t.Context())
	if err != nil || len(f.Templates()) != 1 || f.Site == (forge.Site{}) {
		t.Fatalf("the facts are %+v, %v", f, err)
	}
	if m, err := f.Memory(); err == nil {
		t.Errorf("garbage is remembered as %+v", m)
	}
	s.r.Source = unfetched{s.repo}
	if f, err = (&facts.Reader{Reconciler: s.r, Rev: "main"}).Look(t.Context()); err != nil || len(f.Templates()) != 1 {
		t.Fatalf("the facts are %+v, %v", f, err)
	}
	if m, err := f.Memory(); !errors.Is(err, errSilent) {
		t.Errorf("what cannot be fetched is remembered as %+v, %v", m, err)
	}
}

// named is a repository at a forge.
type named struct{ *twin.Repo }

func (n named) Snapshot(ctx context.Context, rev, subdir string) (sources.Snapshot, error) {
	s, err := n.Repo.Snapshot(ctx, rev, subdir)
	return at{s}, err
}

type at struct{ sources.Snapshot }

func (a at) Revision() sources.Revision {
	r := a.Snapshot.Revision()
	r.Repo = "https://git.example/ops/fleet.git"
	return r
}

// unfetched is a repository from which nothing can be fetched.
type unfetched struct{ *twin.Repo }

func (unfetched) Fetch(context.Context, ...string) error { return errSilent }

// unread is a repository whose versions cannot be read.
type unread struct{ *twin.Repo }

func (unread) Snapshot(context.Context, string, string) (sources.Snapshot, error) {
	return nil, errSilent
}

// Where the source cannot be read, it is not said that it has no such template, and what was known stays.
func TestASourceThatCannotBeRead(t *testing.T) {
	s := newTale(t)
	s.has("a", "all", "1")
	s.publishes("one")
	reader, f := s.read()
	s.has("b", "all", "1")
	s.publishes("two")
	s.r.Source = unread{s.repo}
	if is, err := reader.Look(t.Context()); is != f || !errors.Is(err, errSilent) {
		t.Errorf("the facts of before stay: %t, %v", is == f, err)
	}
	if _, ok, err := reader.Explain(t.Context(), f, object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}); ok || !errors.Is(err, errSilent) {
		t.Errorf("a template is explained: %t, %v", ok, err)
	}
	s.r.Source, s.r.Target = s.repo, &silent{s.repo, 1}
	if _, ok, err := reader.Explain(t.Context(), f, object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}); ok || !errors.Is(err, errSilent) {
		t.Errorf("without what is published a template is explained: %t, %v", ok, err)
	}
}

// ending is a repository that reads nothing for who went away.
type ending struct{ *twin.Repo }

func (e ending) Commit(ctx context.Context, id files.ID) (git.Head, error) {
	if err := ctx.Err(); err != nil {
		return git.Head{}, err
	}
	return e.Repo.Commit(ctx, id)
}

// That somebody went away while it was read who made a commit is no reason not to know it later.
func TestAnAuthorWhoWasNotRead(t *testing.T) {
	s := newTale(t)
	s.has("a", "all", "1")
	s.publishes("one")
	reader, _ := s.read()
	s.r.Source = ending{s.repo}
	h, _, err := s.repo.Branch(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a := reader.Author(ctx, h.Commit.String()); a != nil {
		t.Errorf("for who went away it is %+v", a)
	}
	if a := reader.Author(t.Context(), h.Commit.String()); a == nil || a.Message != "one" {
		t.Errorf("later it is %+v", a)
	}
}

// Much of what a publication did is counted, and not told; what is told of decisions is in the order of their templates, and not of files.
func TestMuchThatAPublicationDid(t *testing.T) {
	s := newTale(t)
	const many = 250
	for n := range many {
		s.has(fmt.Sprintf("a%03d", n), "eu", "1")
	}
	s.publishes("one")
	s.has("x", "eu", "1")
	s.has("x-a", "eu", "1")
	s.publishes("two")
	reader, f := s.read()
	for i, want := range []string{"2 decisions and 0 more, 2 objects and 0 more", "200 decisions and 50 more, 100 objects and 150 more"} {
		all, err := reader.Changes(t.Context(), f, 10)
		if err != nil {
			t.Fatal(err)
		}
		e, err := reader.Effect(t.Context(), f, all[i], "")
		if got := fmt.Sprintf("%d decisions and %d more, %d objects and %d more", len(e.Decisions), e.MoreDecisions, len(e.Objects), e.MoreObjects); err != nil || got != want || e.Cut {
			t.Errorf("%s: %s, %t, %v, want %s", all[i].Subject, got, e.Cut, err, want)
		}
		if i == 0 && (e.Decisions[0].Ref.Name != "x" || e.Decisions[1].Ref.Name != "x-a") {
			t.Errorf("the decisions are about %s and %s", e.Decisions[0].Ref, e.Decisions[1].Ref)
		}
	}
	if all := f.Templates(); len(all) != many+2 || all[many].Ref.Name != "x" || all[many+1].Ref.Name != "x-a" {
		t.Errorf("of %d templates the last two are %s and %s", len(all), all[len(all)-2].Ref, all[len(all)-1].Ref)
	}
}

// A value of a Secret that comes with a publication, or was there before it, is not told of another manifest.
func TestWhatAPublicationDidTellsNoSecret(t *testing.T) {
	s := newTale(t)
	s.source["waybill.yaml"] = twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {secrets: allow}\n"))
	s.source["secrets.yaml"] = twin.File([]byte("apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: secrets, namespace: shop}\n" +
		"spec: {resourceSelectors: [{apiVersion: v1, kind: Secret}], placement: {}}\n"))
	secret := func(value string) {
		s.source["login.yaml"] = twin.File([]byte("apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: shop}\nstringData: {p: " + value + "}\n"))
	}
	tellsLast := func() { // as the last edit
		t.Helper()
		reader, f := s.read()
		past, err := facts.History(t.Context(), reader, f, f.Find("ConfigMap", "shop", "a")[0], 1)
		if err != nil || len(past.Edits) != 1 {
			t.Fatal(past, err)
		}
		if text := fmt.Sprintf("%+v", past.Edits[0].Fields); !strings.Contains(text, "data.k") || strings.Contains(text, "CANARY") {
			t.Errorf("%s: its history tells %s", past.Edits[0].Change.Subject, text)
		}
	}
	secret("CANARY-1")
	s.has("a", "all", "none")
	s.publishes("one")
	secret("CANARY-2")
	s.has("a", "all", "now CANARY-2")
	s.publishes("two, after which it is known")
	tellsLast()
	s.source.Remove("login.yaml")
	s.has("a", "all", "still CANARY-2")
	s.publishes("three, before which it is known")
	tellsLast()
	reader, f := s.read()
	all, err := reader.Changes(t.Context(), f, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		e, err := reader.Effect(t.Context(), f, c, "")
		if text := fmt.Sprintf("%+v", fieldsOf(e.Objects)); err != nil || !strings.Contains(text, "data.k") || strings.Contains(text, "CANARY") {
			t.Errorf("%s: it tells %s, %v", c.Subject, text, err)
		}
	}
}

func fieldsOf(all []facts.Changed) (found []any) {
	for i := range all {
		found = append(found, all[i].Fields)
	}
	return found
}

// The commits of what is published for a cluster are told, the newest first, also where clusters share a branch: those that are its own.
func TestTheBranchOfACluster(t *testing.T) {
	for _, layout := range []string{"branches", "folders"} {
		s := newTale(t)
		s.source["waybill.yaml"] = twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publish: {layout: " + layout + "}}\n"))
		s.has("a", "all", "1")
		s.publishes("one")
		s.has("e", "eu", "1")
		s.publishes("two")
		s.has("a", "all", "2")
		s.publishes("three")
		reader, f := s.read()
		for _, tt := range []struct {
			cluster string
			most    int
			want    string
		}{{"eu", 10, "three two one"}, {"us", 10, "three one"}, {"us", 1, "three"}, {"eu", 2, "three two"}, {"eu", 0, ""}} {
			all, err := reader.Branch(t.Context(), f, f.Cluster(tt.cluster), tt.most)
			var got []string
			for _, c := range all {
				got = append(got, c.Subject)
			}
			if is := strings.Join(got, " "); err != nil || is != tt.want {
				t.Errorf("%s, %s, at most %d: %q, %v, want %q", layout, tt.cluster, tt.most, is, err, tt.want)
			}
		}
	}
}

// recorded is a publication that somebody wrote to the state branch.
func (s *tale) recorded(at time.Time, message string) files.ID {
	s.Helper()
	h, _, err := s.repo.Branch(s.Context(), state.Branch)
	if err != nil {
		s.Fatal(err)
	}
	s.repo.Now = at
	return s.repo.Write(state.Branch, message, h.Tree)
}

// Of the publications with a date that of the last source commit is meant, and of these the first one.
func TestThePublicationOfADate(t *testing.T) {
	s := newTale(t)
	s.has("a", "all", "1")
	s.publishes("one")
	day := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	s.recorded(day.Add(-time.Hour), "before\n\nSource-Commit: s0\n")
	s.recorded(day, "another source\n\nSource-Commit: s1\n")
	first := s.recorded(day, "first\n\nSource-Commit: s2\n")
	s.recorded(day, "observed\n\nSource-Commit: s9\nObserved: eu\n")
	s.recorded(day, "second\n\nSource-Commit: s2\n")
	last := s.recorded(day.Add(time.Hour), "last\n\nSource-Commit: s3\n")
	reader, f := s.read()
	for name, tt := range map[string]struct {
		at   time.Time
		want files.ID
	}{
		"of several": {day, first}, "of the last": {day.Add(time.Hour), last}, "of none between": {day.Add(time.Minute), files.ID{}}, "of none later": {day.Add(2 * time.Hour), files.ID{}},
	} {
		if c, ok := reader.PublishedOf(t.Context(), f, tt.at); ok != (tt.want != files.ID{}) || c.Commit != tt.want {
			t.Errorf("%s: %+v, %t", name, c, ok)
		}
	}
	lost := &facts.Reader{Reconciler: &reconciler.Reconciler{Seen: reconciler.NewCache(), Target: &silent{s.repo, 3}}}
	if c, ok := lost.PublishedOf(t.Context(), f, day); ok {
		t.Errorf("where it cannot be read how it was: %+v", c)
	}
}

// A publication is told by what its commit says: its subject without what stands before it, its text without trailers, who allowed what it
// took away, and when that was.
func TestWhatAPublicationSays(t *testing.T) {
	day := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		message string
		want    facts.Change
		at      time.Time
	}{
		"all":                          {"deadbeef: web 2\n\nit moves\n\nand why\n\nSource-Commit: s1\n", facts.Change{Source: "s1", Subject: "web 2", Body: "it moves\n\nand why"}, day},
		"no text":                      {"deadbeef: web 2\n\nSource-Commit: s1\n", facts.Change{Source: "s1", Subject: "web 2"}, day},
		"no commit before the subject": {"web 2\n\nSource-Commit: s1\n", facts.Change{Source: "s1", Subject: "web 2"}, day},
		"at a later time":              {"x: y\n\nSource-Commit: s1\nPlan-Time: 2026-11-25T13:00:00Z\n", facts.Change{Source: "s1", Subject: "y", Later: day.Add(time.Hour)}, day.Add(time.Hour)},
		"at an earlier time":           {"x: y\n\nSource-Commit: s1\nPlan-Time: 2026-11-25T11:00:00Z\n", facts.Change{Source: "s1", Subject: "y", Later: day.Add(-time.Hour)}, day},
		"allowed by somebody, later": {
			"x: y\n\nSource-Commit: s1\nPlan-Time: 2026-11-25T13:00:00Z\nRemovals-Allowed-By: ann, at 2026-11-25T14:00:00Z\nRemovals-Allowed-By: bob, at 2026-11-25T12:30:00Z\n",
			facts.Change{Source: "s1", Subject: "y", Released: true, ReleasedBy: []string{"ann, at 2026-11-25T14:00:00Z", "bob, at 2026-11-25T12:30:00Z"}, Later: day.Add(2 * time.Hour)},
			day.Add(2 * time.Hour),
		},
	} {
		s := newTale(t)
		s.has("a", "all", "1")
		s.publishes("one")
		tt.want.When = day
		tt.want.Commit = s.recorded(day, tt.message)
		reader, f := s.read()
		all, err := reader.Changes(t.Context(), f, 2)
		if err != nil || len(all) != 2 {
			t.Fatalf("%s: %+v, %v", name, all, err)
		}
		tt.want.Parent = all[1].Commit
		if got, want := fmt.Sprintf("%+v", all[0]), fmt.Sprintf("%+v", tt.want); got != want || !all[0].At().Equal(tt.at) {
			t.Errorf("%s: at %s %s, want at %s %s", name, all[0].At(), got, tt.at, want)
		}
	}
}

// Facts of a fleet that somebody else read are those of its state, and files there that cannot be read are named.
func TestFactsOfAFleet(t *testing.T) {
	s := newTale(t)
	s.has("a", "all", "1")
	s.publishes("one")
	h, _, err := s.repo.Branch(t.Context(), state.Branch)
	if err != nil {
		t.Fatal(err)
	}
	root := twin.Of(h.Tree)
	root["bindings/shop/b-configmap.yaml"] = twin.File([]byte("spec: ["))
	root["rollouts/shop/all.yaml"] = twin.File([]byte("phase: ["))
	h.Tree = root.Folder()
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	f := facts.Of(reports.Fleet{State: h}, at)
	if all := f.Bindings(); len(all.Templates) != 1 || len(all.Unreadable) != 1 || all.Unreadable[0] != "bindings/shop/b-configmap.yaml" || !f.At.Equal(at) {
		t.Errorf("at %s there are %+v", f.At, all)
	}
	if all := f.Rollouts(); len(all.Units) > 0 || all.Unreadable[rollouts.Unit{Namespace: "shop", Name: "all"}] == nil {
		t.Errorf("in stages there are %+v", all)
	}
}

// silent is a repository that does not answer one question.
type silent struct {
	published.Repository

	left int // questions until that one
}

var errSilent = errors.New("no route")

func (s *silent) fails() error {
	if s.left--; s.left == 0 {
		return errSilent
	}
	return nil
}

func (s *silent) Heads(ctx context.Context) (map[string]files.ID, error) {
	if err := s.fails(); err != nil {
		return nil, err
	}
	return s.Repository.Heads(ctx)
}

func (s *silent) Commit(ctx context.Context, id files.ID) (git.Head, error) {
	if err := s.fails(); err != nil {
		return git.Head{}, err
	}
	return s.Repository.Commit(ctx, id)
}

func (s *silent) Root(ctx context.Context, id files.ID) (git.Head, []files.Entry, error) {
	if err := s.fails(); err != nil {
		return git.Head{}, nil, err
	}
	return s.Repository.Root(ctx, id)
}

func (s *silent) Within(ctx context.Context, id files.ID, folder string) (git.Head, bool, error) {
	if err := s.fails(); err != nil {
		return git.Head{}, false, err
	}
	return s.Repository.Within(ctx, id, folder)
}

// Whichever question a repository does not answer, what is told is not told as all there is.
func TestARepositoryThatDoesNotAnswerOnce(t *testing.T) {
	for _, layout := range []string{"branches", "folders"} {
		s := newTale(t)
		s.source["waybill.yaml"] = twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publish: {layout: " + layout + "}}\n"))
		for n, message := range []string{"one", "two", "three"} {
			s.has("a", "all", strconv.Itoa(n))
			s.has(message, "eu", "1")
			s.publishes(message)
		}
		reader, f := s.read()
		all, err := reader.Changes(t.Context(), f, 10)
		if err != nil || len(all) != 3 {
			t.Fatal(all, err)
		}
		before := all[1]
		for name, ask := range map[string]func(r *facts.Reader, f *facts.Facts) error{
			"the publications": func(r *facts.Reader, f *facts.Facts) error {
				_, err := r.Changes(t.Context(), f, 10)
				return err
			},
			"one of them": func(r *facts.Reader, f *facts.Facts) error {
				_, _, err := r.Find(t.Context(), f, "0123456789")
				return err
			},
			"what the one before the last did": func(r *facts.Reader, f *facts.Facts) error {
				_, err := r.Effect(t.Context(), f, before, "")
				return err
			},
			"what happened to a template": func(r *facts.Reader, f *facts.Facts) error {
				_, err := facts.History(t.Context(), r, f, f.Find("ConfigMap", "shop", "a")[0], 10)
				return err
			},
			"the commits of a cluster": func(r *facts.Reader, f *facts.Facts) error {
				_, err := r.Branch(t.Context(), f, f.Cluster("eu"), 10)
				return err
			},
		} {
			for n := 1; ; n++ {
				target := &silent{s.repo, n}
				err := ask(&facts.Reader{Reconciler: &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: s.repo, Target: target}, Rev: "main"}, f)
				if target.left > 0 {
					if err != nil || n < 3 {
						t.Errorf("%s, %s: answered all of %d questions: %v", layout, name, n-1, err)
					}
					break
				}
				if !errors.Is(err, errSilent) {
					t.Errorf("%s, %s: not answered question %d: %v", layout, name, n, err)
				}
			}
		}
	}
}
