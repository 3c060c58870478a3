package verify_test

import (
	"testing"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/test/twin"
)

// A plan that has leave to let go what may be in a file that cannot be read comes to some clusters alone, and the next one, of the same
// commit, has none: each verifies, by the leave that it had.
func TestALeaveThatTheStateDoesNotKnow(t *testing.T) {
	for _, tt := range []struct {
		name  string
		steps func(s *site, tries func(allow string, refused ...string))
	}{
		{"it comes to one, and the one without to the other", func(_ *site, tries func(string, ...string)) {
			tries(guard.AllowAll, state.Branch, "waybill/cluster/us")
			tries("", eu)
		}},
		{"it comes to both", func(_ *site, tries func(string, ...string)) {
			tries(guard.AllowAll, state.Branch)
			tries("", eu, "waybill/cluster/us")
		}},
		{"the one without comes to all", func(_ *site, tries func(string, ...string)) {
			tries(guard.AllowAll, state.Branch)
			tries("")
		}},
		{"the one with leave comes to one, and the one without to all", func(_ *site, tries func(string, ...string)) {
			tries(guard.AllowAll, state.Branch, "waybill/cluster/us")
			tries("")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			s.source["b.yaml"] = twin.File([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: shop}\n"))
			s.publish("second")
			s.source.Remove("a.yaml")
			s.source["b.yaml"] = twin.File([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: shop\n"))
			s.repo.Write("main", "broken", s.source.Folder())
			tt.steps(s, func(allow string, refused ...string) {
				s.repo.Refuse(refused...)
				r := s.by("v1")
				r.Allow = allow
				if _, err := r.Publish(t.Context(), "main"); (err != nil) != (len(refused) > 0) {
					t.Fatalf("refused %q, it is published: %v", refused, err)
				}
				s.repo.Refuse()
			})
			s.verifies("eu", "us", state.Branch)
			ids := s.commits()
			if c, _, _, err := s.chain(ids[len(ids)-1]); err != nil || !c.Same || c.State != len(ids) {
				t.Errorf("of %q: %+v, %v", ids, c, err)
			}
		})
	}
}
