package history_test

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/history"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
	"github.com/waybill-dev/waybill/test/twin"
)

const eu = "waybill/cluster/eu"

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// site is a repository with the state and the branch of eu, and one who publishes to it.
type site struct {
	*testing.T

	repo        *twin.Repo
	memory      *history.Memory
	reader      *reports.Reader
	restored    bool
	annotations string // of the Cluster
	shared      string // the branch that clusters share
	now         time.Time
	agent       string               // the key of that of eu
	target      published.Repository // in place of the repository
	ctx         context.Context      //nolint:containedctx // of a test
	registered  int                  // how often it was asked who is registered
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, repo: twin.New("branches"), memory: &history.Memory{}, now: noon, ctx: t.Context()}
	s.reader = &reports.Reader{
		Published: &published.Reader{Branches: published.At(s.repo)}, Now: func() time.Time { return s.now }, Cache: &reports.Cache{},
	}
	s.repo.Now = noon
	s.commit(state.Branch, "first", "")
	s.commit(eu, "first", "Cluster: eu\n")
	return s
}

// commit is one as Waybill writes it, with trailers.
func (s *site) commit(branch, content, trailers string) files.ID {
	s.Helper()
	return s.repo.Write(branch, content+"\n\nSource-Commit: c1\n"+trailers, twin.Tree{"waybill.metadata": twin.File([]byte(content))}.Folder())
}

// says has eu say which commit it applied, and by which of the state.
func (s *site) says(cluster string, applied, by files.ID) {
	s.Helper()
	c := status.Cluster{Summary: status.Summary{Name: cluster, Commit: applied, State: by, Verdict: status.Verdict{Reason: status.Errored}}}
	now := s.repo.Now
	s.repo.Now = s.now
	s.repo.Write(status.Prefix+cluster, "status", status.Summarize(c))
	s.repo.Now = now
}

// agentSays has an agent that writes elsewhere say what says says.
func (s *site) agentSays(applied, by files.ID) {
	s.Helper()
	key, _, err := signing.NewKey(rand.Reader, "")
	if err != nil {
		s.Fatal(err)
	}
	own := s.repo
	s.repo = own.Clone()
	s.repo.Sign = key.SignCommit
	s.says("eu", applied, by)
	s.agent, s.reader.Agents, s.repo = key.Public().String(), s.repo, own
}

// asks says how branches go on.
func (s *site) asks() map[string]ancestry.Continuation {
	s.Helper()
	c, err := s.continued()
	if err != nil {
		s.Fatal(err)
	}
	return c
}

func (s *site) continued() (map[string]ancestry.Continuation, error) {
	s.Helper()
	heads, err := s.repo.Heads(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	text := "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu, annotations: {" + s.annotations + "}}\n"
	f := &history.Finder{Target: s.repo, Reports: s.reader, Restored: s.restored, Memory: s.memory}
	if s.target != nil {
		f.Target = s.target
	}
	return f.Continue(s.ctx, history.Branches{
		Heads: heads, Clusters: map[string]files.ID{"eu": heads[eu]}, Addresses: render.Addresses{Prefix: "waybill/cluster/", Shared: s.shared},
		Written: object.Decode("eu.yaml", []byte(text)).Objects, Now: s.now,
		Registered: func() []*karmada.Cluster {
			s.registered++
			eu := metav1.ObjectMeta{Name: "eu", Annotations: map[string]string{heartbeat.AgentKey: s.agent}}
			return []*karmada.Cluster{{ObjectMeta: eu, Spec: karmada.ClusterSpec{SyncMode: karmada.Pull}}, {ObjectMeta: metav1.ObjectMeta{Name: "us"}}}
		},
	})
}

// A branch that goes on as ever is left alone; one that was set back under who published it goes on after what was lost, if that is at
// hand, and says what it replaces otherwise.
func TestABranchThatWasSetBack(t *testing.T) {
	for _, keeps := range []bool{true, false} {
		s := newSite(t)
		if c := s.asks(); len(c) > 0 {
			t.Fatalf("at the first look it continues %+v", c)
		}
		backup := s.repo.Clone()
		second := s.commit(eu, "second", "Cluster: eu\n")
		lost := s.commit(eu, "third", "Cluster: eu\n")
		when := s.repo.Now.Add(-time.Minute)
		if c := s.asks(); len(c) > 0 || s.memory.Awaits() || s.registered > 0 {
			t.Fatalf("a branch that goes on continues %+v, and it was asked %d times who is registered", c, s.registered)
		}
		if s.repo.SetBack(backup); !keeps {
			s.repo.Restore(backup)
		}
		c := s.asks()
		want := ancestry.Continuation{After: []files.ID{lost}, When: when}
		if !keeps {
			want = ancestry.Continuation{Replaces: []files.ID{lost}}
		}
		if got := c["eu"]; len(c) != 1 || !slices.Equal(got.After, want.After) || !slices.Equal(got.Replaces, want.Replaces) || !got.When.Equal(want.When) {
			t.Errorf("keeps %v: it continues %+v, want %+v", keeps, c, want)
		}
		if !s.memory.Awaits() {
			t.Error("eu is not asked what it applied")
		}
		s.says("eu", second, files.ID{})
		if got := s.asks()["eu"]; slices.Contains(got.Replaces, second) == keeps {
			t.Errorf("keeps %v: eu applied the one before, and it continues %+v", keeps, got)
		}
		// it is asked for an hour
		s.now = s.now.Add(time.Hour)
		s.asks()
		if c := s.asks(); s.memory.Awaits() || len(c) > 0 {
			t.Errorf("keeps %v: an hour later it continues %+v, and awaits %v", keeps, c, s.memory.Awaits())
		}
	}
}

// What was written is where a branch is, though nobody read it there.
func TestWhatWasWrittenIsRemembered(t *testing.T) {
	s := newSite(t)
	s.asks()
	backup := s.repo.Clone()
	lost := s.commit(eu, "second", "Cluster: eu\n")
	s.memory.Wrote([]git.Update{{Branch: eu}}, []files.ID{lost})
	s.repo.SetBack(backup)
	if c := s.asks()["eu"]; !slices.Equal(c.After, []files.ID{lost}) {
		t.Errorf("it continues %+v", c)
	}
}

// Which commits are taken up that who publishes does not remember, and others say were applied: those that who publishes wrote for the
// cluster. Where others may write to the repository, that is what was signed.
func TestWhatOthersSayWasApplied(t *testing.T) {
	key, _, err := signing.NewKey(rand.Reader, "")
	if err != nil {
		t.Fatal(err)
	}
	public := key.Public()
	const shallow = "Cluster: eu\nCluster: us\n" // of a commit that is not there
	for _, tt := range []struct {
		name     string
		trailers string
		message  string // in place of one as Waybill writes it
		signed   bool
		shared   bool
		key      *signing.Public
		taken    bool
		state    bool // that the state takes it
	}{
		{"a commit for it", "Cluster: eu\n", "", false, false, nil, true, false},
		{"a commit for it and another one", "Cluster: us\nCluster: eu\n", "", false, false, nil, true, false},
		{"a commit for another one", "Cluster: us\n", "", false, false, nil, false, false},
		{"a commit of the state", "", "", false, false, nil, false, true},
		{"a commit by hand", "", "by hand\n\nCluster: eu\n", false, false, nil, false, false},
		{"a commit that nobody signed, where others may write", "Cluster: eu\n", "", false, true, &public, false, false},
		{"a commit that was signed", "Cluster: eu\n", "", true, true, &public, true, false},
		{"a commit that was signed, and nobody knows by whom", "Cluster: eu\n", "", true, true, nil, false, false},
		{"a commit without those before it", shallow, "", false, false, nil, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			s.repo.Delete(eu)
			if tt.signed {
				s.repo.Sign = key.SignCommit
			}
			var lost files.ID
			if tt.message != "" {
				lost = s.repo.Write("elsewhere", tt.message, twin.Tree{"a": twin.File(nil)}.Folder())
			} else {
				lost = s.commit("elsewhere", "applied", tt.trailers)
			}
			if tt.trailers == shallow {
				lost = s.commit("elsewhere", "after that", "Cluster: eu\n")
				s.repo.Shallow("elsewhere")
			}
			s.repo.Sign = nil
			s.annotations = published.ReplacesAnnotation + ": " + lost.String()
			s.reader.Shared, s.reader.Key = tt.shared, tt.key
			c := s.asks()
			taken, state := slices.Contains(c["eu"].After, lost), slices.Contains(c[state.Branch].After, lost)
			if taken != tt.taken || state != tt.state {
				t.Errorf("it continues %+v", c)
			}
		})
	}
}

// A cluster is asked when its branch is gone and it says something, when somebody says that all was restored, once, and when an
// annotation names what it applied.
func TestWhenAClusterIsAsked(t *testing.T) {
	applied, gone, ofUs := files.Sum("commit", []byte("applied")), files.Sum("commit", []byte("gone by")), files.Sum("commit", []byte("by us"))
	for _, tt := range []struct {
		name string
		edit func(*site)
		want bool // that it replaces what eu says that it applied
	}{
		{"never", func(*site) {}, false},
		{"its branch is gone", func(s *site) { s.repo.Delete(eu) }, true},
		{"the state is gone", func(s *site) { s.repo.Delete(state.Branch) }, true},
		{"all was restored", func(s *site) { s.restored = true }, true},
		{"its branch is gone, which was seen", func(s *site) { s.asks(); s.repo.Delete(eu) }, true},
		{"the state is set back", func(s *site) {
			backup := s.repo.Clone()
			s.commit(state.Branch, "second", "")
			s.asks()
			s.repo.SetBack(backup)
		}, true},
		{"it is new, and somebody else makes its branch", func(s *site) {
			backup := s.repo.Clone()
			s.repo.Delete(eu)
			s.repo.Delete(status.Prefix + "eu")
			s.asks()
			s.repo.SetBack(backup)
		}, false},
		{"it is new, as it seems, and its agent knows better", func(s *site) {
			s.agentSays(applied, gone)
			s.repo.Delete(eu)
			s.repo.Delete(status.Prefix + "eu")
		}, true},
		{"it has its branch, whatever its agent says", func(s *site) { s.agentSays(applied, gone) }, false},
		{"it is new, as it seems, and nobody knows better", func(s *site) {
			s.repo.Delete(eu)
			s.repo.Delete(status.Prefix + "eu")
		}, false},
	} {
		s := newSite(t)
		s.says("eu", applied, gone)
		s.says("us", files.ID{}, ofUs) // which nobody asks
		tt.edit(s)
		c := s.asks()
		if is := c["eu"].Replaces; slices.Contains(is, applied) != tt.want || s.registered > 0 != tt.want {
			t.Errorf("%s: it continues %+v, and it was asked %d times who is registered", tt.name, c, s.registered)
		}
		if is := c[state.Branch].Replaces; slices.Contains(is, gone) != tt.want || slices.Contains(is, ofUs) {
			t.Errorf("%s: the state continues %+v", tt.name, c)
		}
	}
	s := newSite(t)
	s.annotations = published.ReplacesAnnotation + ": " + applied.String()
	if c := s.asks()["eu"]; !slices.Equal(c.Replaces, []files.ID{applied}) {
		t.Errorf("of its annotation it continues %+v", c)
	}
	s = newSite(t)
	s.restored = true
	s.asks()
	s.now = s.now.Add(2 * time.Hour)
	for range 3 {
		s.asks()
	}
	if s.memory.Awaits() {
		t.Error("that all was restored is asked about again and again")
	}
}

// told is a repository of agents that is away.
type told struct{ *twin.Repo }

// Heads implements published.Repository.
func (told) Heads(context.Context) (map[string]files.ID, error) {
	return nil, errors.New("connection refused")
}

// While the repository of agents is away, a publication goes on, and clusters are asked again; where clusters say it in the repository
// that is published to, its failure is one.
func TestTheRepositoryOfAgentsIsAway(t *testing.T) {
	s := newSite(t)
	s.asks()
	s.repo.Delete(eu)
	s.reader.Agents = told{twin.New("told")}
	if _, err := s.continued(); err != nil || !s.memory.Awaits() {
		t.Errorf("it awaits %v, %v", s.memory.Awaits(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.ctx = ctx
	if c, err := s.continued(); err == nil {
		t.Errorf("who is told to stop says that it continues %+v", c)
	}
}

// counted counts what is read.
type counted struct {
	*twin.Repo

	roots int
}

func (c *counted) Root(ctx context.Context, id files.ID) (git.Head, []files.Entry, error) {
	c.roots++
	return c.Repo.Root(ctx, id)
}

// A branch that says of what was lost that it replaces it goes on as always, and that is looked for once.
func TestABranchThatReplacesWhatWasLost(t *testing.T) {
	s := newSite(t)
	lost := files.Sum("commit", []byte("lost"))
	s.annotations = published.ReplacesAnnotation + ": " + lost.String()
	s.commit(eu, "second", "Cluster: eu\n"+ancestry.Line("eu", lost)+"\n"+ancestry.Line(state.Branch, lost)+"\n")
	s.commit(eu, "third", "Cluster: eu\n")
	repo := &counted{Repo: s.repo}
	s.target = repo
	c := s.asks()
	if is := c["eu"]; !is.IsZero() || len(c[state.Branch].Replaces) != 1 {
		t.Errorf("it continues %+v", c)
	}
	before := repo.roots
	if c := s.asks(); len(c) != 1 || repo.roots-before >= before {
		t.Errorf("at the second look it continues %+v, and has read %d commits, and %d before", c, repo.roots-before, before)
	}
}

// What we wrote ourselves to a branch that clusters share is taken up by each of them, whichever it was for and whoever may write there.
func TestASharedBranchThatWasSetBack(t *testing.T) {
	s := newSite(t)
	s.shared, s.reader.Shared = "waybill/clusters", true
	s.repo.Write(s.shared, "by hand", twin.Tree{"a": twin.File(nil)}.Folder())
	s.commit(s.shared, "first", "Cluster: eu\n")
	backup := s.repo.Clone()
	lost := s.commit(s.shared, "second", "Cluster: us\n")
	s.asks()
	s.repo.SetBack(backup)
	if c := s.asks(); !slices.Equal(c["eu"].After, []files.ID{lost}) || len(c) != 1 {
		t.Errorf("it continues %+v", c)
	}
}

// A question that the repository does not answer is an error, and no branch that goes on in another way.
func TestAQuestionThatIsNotAnswered(t *testing.T) {
	var want map[string]ancestry.Continuation
	for n := 0; ; n++ {
		s := newSite(t)
		backup := s.repo.Clone()
		lost := s.commit(eu, "second", "Cluster: eu\n")
		s.commit(state.Branch, "second", "")
		s.says("eu", lost, files.ID{})
		s.asks()
		s.repo.SetBack(backup)
		s.commit(eu, "another", "Cluster: eu\n")
		s.says("eu", lost, files.ID{})
		repo := twin.FailingAt(n, s.repo)
		s.target, s.reader.Published = repo, &published.Reader{Branches: published.At(repo)}
		c, err := s.continued()
		switch isRight := cmp.Equal(c, want); {
		case n == 0:
			if want = c; err != nil || len(c["eu"].After) != 1 || len(c[state.Branch].After) != 1 {
				t.Fatalf("it continues %+v, %v", c, err)
			}
		case !repo.HasFailed():
			if n < 8 || err != nil || !isRight {
				t.Errorf("after %d questions it continues %+v, %v", n, c, err)
			}
			return
		case !errors.Is(err, twin.ErrDown) && (err != nil || !isRight): // some are asked again
			t.Errorf("of question %d it is %v, and it continues %+v", n, err, c)
		}
	}
}

// untold is a repository that cannot tell which commit comes before which.
type untold struct {
	*twin.Repo

	err error
}

func (u untold) IsAncestor(context.Context, files.ID, files.ID) (bool, error) { return false, u.err }

// A history that is not there to tell whether a commit came before is one that was lost, and any other failure is an error.
func TestWhatCannotBeTold(t *testing.T) {
	for _, err := range []error{git.ErrMissing, twin.ErrDown} {
		s := newSite(t)
		lost := s.commit("elsewhere", "applied", "Cluster: eu\n")
		s.annotations = published.ReplacesAnnotation + ": " + lost.String()
		s.target = untold{s.repo, err}
		c, is := s.continued()
		if isLost := errors.Is(err, git.ErrMissing); isLost != (is == nil) || isLost != slices.Contains(c["eu"].After, lost) {
			t.Errorf("where it is %v it continues %+v, %v", err, c, is)
		}
	}
}
