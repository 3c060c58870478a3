package history_test

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/ancestry"
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
	now         time.Time
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, repo: twin.New("branches"), memory: &history.Memory{}, now: noon}
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
func (s *site) says(applied, by files.ID) {
	s.Helper()
	c := status.Cluster{Summary: status.Summary{Name: "eu", Commit: applied, State: by, Verdict: status.Verdict{Reason: status.Errored}}}
	now := s.repo.Now
	s.repo.Now = s.now
	s.repo.Write(status.Prefix+"eu", "status", status.Summarize(c))
	s.repo.Now = now
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
	return f.Continue(s.Context(), history.Branches{
		Heads: heads, Clusters: map[string]files.ID{"eu": heads[eu]}, Addresses: render.Addresses{Prefix: "waybill/cluster/"},
		Written: object.Decode("eu.yaml", []byte(text)).Objects, Now: s.now,
		Registered: func() []*karmada.Cluster { return []*karmada.Cluster{{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}} },
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
		if c := s.asks(); len(c) > 0 || s.memory.Awaits() {
			t.Fatalf("a branch that goes on continues %+v", c)
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
		s.says(second, files.ID{})
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
	for _, tt := range []struct {
		name     string
		trailers string
		message  string // in place of one as Waybill writes it
		signed   bool
		shared   bool
		key      *signing.Public
		taken    bool
	}{
		{"a commit for it", "Cluster: eu\n", "", false, false, nil, true},
		{"a commit for it and another one", "Cluster: us\nCluster: eu\n", "", false, false, nil, true},
		{"a commit for another one", "Cluster: us\n", "", false, false, nil, false},
		{"a commit of the state", "", "", false, false, nil, false},
		{"a commit by hand", "", "by hand\n\nCluster: eu\n", false, false, nil, false},
		{"a commit that nobody signed, where others may write", "Cluster: eu\n", "", false, true, &public, false},
		{"a commit that was signed", "Cluster: eu\n", "", true, true, &public, true},
		{"a commit that was signed, and nobody knows by whom", "Cluster: eu\n", "", true, true, nil, false},
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
			s.repo.Sign = nil
			s.annotations = published.ReplacesAnnotation + ": " + lost.String()
			s.reader.Shared, s.reader.Key = tt.shared, tt.key
			c := s.asks()["eu"]
			if taken := slices.Contains(c.After, lost); taken != tt.taken {
				t.Errorf("it continues %+v", c)
			}
		})
	}
}

// A cluster is asked when its branch is gone and it says something, when somebody says that all was restored, once, and when an
// annotation names what it applied.
func TestWhenAClusterIsAsked(t *testing.T) {
	applied := files.Sum("commit", []byte("applied"))
	for _, tt := range []struct {
		name string
		edit func(*site)
		want bool // that it replaces what eu says that it applied
	}{
		{"never", func(*site) {}, false},
		{"its branch is gone", func(s *site) { s.repo.Delete(eu) }, true},
		{"the state is gone", func(s *site) { s.repo.Delete(state.Branch) }, true},
		{"all was restored", func(s *site) { s.restored = true }, true},
	} {
		s := newSite(t)
		s.says(applied, files.ID{})
		tt.edit(s)
		if c := s.asks()["eu"]; slices.Contains(c.Replaces, applied) != tt.want {
			t.Errorf("%s: it continues %+v", tt.name, c)
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
}
