package updates_test

import (
	"testing"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render/subscribe"
)

// TestBranch: an automation says on which branch a version is proposed, but nothing is pushed to the base, nor where Waybill publishes.
func TestBranch(t *testing.T) {
	const own = "waybill/update/shop/web"
	policy := &images.Policy{Name: images.Name{Namespace: "shop", Name: "web"}}
	for _, tt := range []struct {
		name       string
		automation *images.Automation
		want       string
	}{
		{"there is no automation", nil, own},
		{"it does not say", &images.Automation{}, own},
		{"one of its own", &images.Automation{Branch: "image-updates"}, "image-updates"},
		{"the base", &images.Automation{Branch: "main"}, own},
		{"that of a cluster", &images.Automation{Branch: "waybill/cluster/eu"}, own},
		{"one with almost such a name", &images.Automation{Branch: "waybill-updates"}, "waybill-updates"},
	} {
		s := updates.Subscription{Policy: policy, Automation: tt.automation}
		for group, want := range map[string]string{subscribe.GroupEach: own, subscribe.GroupNamespace: "waybill/update/shop/_all", subscribe.GroupAll: "waybill/update/_all"} {
			if tt.want != own {
				want = tt.want
			}
			if got := s.Branch("main", group); got != want {
				t.Errorf("%s, by %s: it is proposed on %s, want %s", tt.name, group, got, want)
			}
		}
	}
}
