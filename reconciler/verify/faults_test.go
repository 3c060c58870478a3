package verify_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/verify"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

var errDown = errors.New("the server is down")

// failing is a repository that fails to answer one question, and answers all others.
type failing struct {
	published.Repository

	left int // questions until the one that fails
}

func (f *failing) fails() error {
	if f.left--; f.left == 0 {
		return errDown
	}
	return nil
}

func (f *failing) Heads(ctx context.Context) (map[string]files.ID, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.Repository.Heads(ctx)
}

func (f *failing) Fetch(ctx context.Context, branches ...string) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.Repository.Fetch(ctx, branches...)
}

func (f *failing) Branch(ctx context.Context, name string) (git.Head, bool, error) {
	if err := f.fails(); err != nil {
		return git.Head{}, false, err
	}
	return f.Repository.Branch(ctx, name)
}

func (f *failing) Commit(ctx context.Context, id files.ID) (git.Head, error) {
	if err := f.fails(); err != nil {
		return git.Head{}, err
	}
	return f.Repository.Commit(ctx, id)
}

func (f *failing) Root(ctx context.Context, id files.ID) (git.Head, []files.Entry, error) {
	if err := f.fails(); err != nil {
		return git.Head{}, nil, err
	}
	return f.Repository.Root(ctx, id)
}

func (f *failing) Within(ctx context.Context, id files.ID, folder string) (git.Head, bool, error) {
	if err := f.fails(); err != nil {
		return git.Head{}, false, err
	}
	return f.Repository.Within(ctx, id, folder)
}

// moved is a site whose clusters share a branch since the last publication.
func moved(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.source["waybill.yaml"] = twin.File([]byte(folders))
	s.publish("second")
	return s
}

// Whichever question a server does not answer, what is asked about is neither the same nor another one.
func TestAServerThatDoesNotAnswerOnce(t *testing.T) {
	chain := func(s *site, v *verify.Verifier) (bool, error) {
		ids := s.commits()
		c, err := v.Chain(t.Context(), state.Branch, ids[len(ids)-1], func(int) func() { return func() {} })
		if err == nil {
			err = c.Err()
		}
		if err == nil && len(c.Unknown) > 0 {
			err = errors.New(strings.Join(c.Unknown, "\n"))
		}
		return c.Same, err
	}
	of := func(what string) func(*site, *verify.Verifier) (bool, error) {
		return func(_ *site, v *verify.Verifier) (bool, error) {
			is, err := v.Verify(t.Context(), what)
			return is.Same, err
		}
	}
	for _, tt := range []struct {
		name string
		site func(*testing.T) *site
		ask  func(*site, *verify.Verifier) (isSame bool, err error)
	}{
		{"a cluster", newSite, of("eu")},
		{"the state", inStages, of(state.Branch)},
		{"a folder that came along", moved, of("eu")},
		{"a branch that clusters share", moved, of(shared)},
		{"a chain", inStages, chain},
		{"a chain of a branch that clusters share", moved, chain},
		{"a chain in which others' clusters are read", func(t *testing.T) *site { t.Helper(); return divided(t, "second", "third") }, chain},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.site(t)
			const most = 1000
			for n := 1; n < most; n++ {
				r := s.by("v1")
				p := r.Published()
				f := &failing{p.Target, n}
				p.Target = f
				isSame, err := tt.ask(s, verify.New(r.Planner(), p, "v1"))
				if f.left > 0 { // it was not asked that often
					if err != nil || !isSame || n < 5 {
						t.Errorf("answered all of %d questions, it is the same: %v, %v", n-1, isSame, err)
					}
					return
				}
				if err == nil || !strings.Contains(err.Error(), errDown.Error()) || isSame {
					t.Errorf("not answered question %d, it is the same: %v, %v", n, isSame, err)
				}
			}
			t.Errorf("it asks more than %d questions", most)
		})
	}
}
