package verify_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/verify"
	"github.com/waybill-dev/waybill/test/twin"
)

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
				f := twin.FailingAt(n, s.repo)
				p.Target = f
				isSame, err := tt.ask(s, verify.New(r.Planner(), p, "v1"))
				if !f.HasFailed() { // it was not asked that often
					if err != nil || !isSame || n < 5 {
						t.Errorf("answered all of %d questions, it is the same: %v, %v", n-1, isSame, err)
					}
					return
				}
				if err == nil || !strings.Contains(err.Error(), twin.ErrDown.Error()) || isSame {
					t.Errorf("not answered question %d, it is the same: %v, %v", n, isSame, err)
				}
			}
			t.Errorf("it asks more than %d questions", most)
		})
	}
}
