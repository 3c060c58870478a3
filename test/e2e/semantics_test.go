//go:build e2e

package e2e

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestSemantics asks real API servers for what applying means beyond the first and the last.
func TestSemantics(t *testing.T) {
	p := build(t)
	dir := t.TempDir()
	etcd := startEtcd(t, p, dir)
	m := &members{waybill: p.waybill, apis: []*api{
		startAPI(t, p, etcd, filepath.Join(dir, "eu")), startAPI(t, p, etcd, filepath.Join(dir, "us")),
	}}
	t.Run("a newer commit between two stages", m.superseded)
}

// superseded rounds end at the next stage, and nothing of the older commit is applied from then.
func (m *members) superseded(t *testing.T) {
	s := m.two(t)
	s.namespace("superseded", "one", 20)
	s.commit()
	requests := s.counting("eu-1")
	asked, gate := make(chan struct{}, 1), make(chan struct{})
	requests.disturb = func(n int, w http.ResponseWriter, pass func(http.ResponseWriter)) {
		if r := requests.list()[n-1]; strings.HasPrefix(r, "PATCH /api/v1/namespaces/superseded?") {
			select {
			case asked <- struct{}{}:
			default:
			}
			<-gate
		}
		pass(w)
	}
	s.controller()
	<-asked
	s.namespace("superseded", "two", 20)
	s.commit()
	last := at("ConfigMap", "superseded", "c0019")
	is := func(cluster, value string) func() (bool, string) {
		return func() (bool, string) {
			_, body := s.apis[cluster].do(http.MethodGet, last, "", nil)
			return strings.Contains(string(body), `"value":"`+value+`"`), string(body)
		}
	}
	eventually(t, "us-1 has the second commit, which eu-1 is told of before", is("us-1", "two"))
	close(gate)
	eventually(t, "eu-1 has the second commit", is("eu-1", "two"))
	s.settles("eu-1")
	if n := requests.matching("PATCH", "/namespaces/superseded/configmaps/"); n != 20 {
		t.Errorf("it applied %d ConfigMaps, want the 20 of the second commit", n)
	}
}
