package applier_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// TestAsWhomAClusterIsChanged: as the service account that its Cluster names, or else as that of the config.
func TestAsWhomAClusterIsChanged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, annotations, apply, want string }{
		{"nobody says", "", "", ""},
		{"the config says", "", "serviceAccountName: all", "system:serviceaccount:waybill-system:all"},
		{"the Cluster says", "waybill.dev/service-account: tenants/own", "", "system:serviceaccount:tenants:own"},
		{"both say", "waybill.dev/service-account: own", "serviceAccountName: all", "system:serviceaccount:waybill-system:own"},
	} {
		s := newSite(t)
		s.apply = tt.apply
		var as atomic.Pointer[string]
		s.server.Before(func(r *http.Request) int {
			if who := r.Header.Get("Impersonate-User"); r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/configmaps/") {
				as.Store(&who)
			}
			return 0
		})
		in, eu := s.publish(tt.annotations, "settings")
		if res := s.applier.Apply(t.Context(), in, eu); res.Err != nil || res.Failed() {
			t.Fatalf("%s: %v, %+v", tt.name, res.Err, res.Report)
		}
		if got := as.Load(); got == nil || *got != tt.want {
			t.Errorf("%s: it is changed as %v, want %q", tt.name, got, tt.want)
		}
	}
}
