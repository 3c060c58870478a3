package endpoints_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	discovery "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/endpoints"
)

// draw draws from a few, so that names meet.
func draw[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// drawnLive draws slices of a consumer, most of which look like those of Waybill.
func drawnLive(r *rand.Rand) (all []*discovery.EndpointSlice) {
	for i := range r.IntN(6) {
		s := &discovery.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: draw(r, "a-b-x", "imported-a-b-x", "a-x", "a-b-b-x", "c-x", "imported-c-x"), UID: types.UID(fmt.Sprint("u", i)),
				Labels: map[string]string{discovery.LabelServiceName: draw(r, "api", "derived-api"), discovery.LabelManagedBy: draw(r, endpoints.ManagedBy, endpoints.ManagedBy, "endpointslice-controller.k8s.io")},
				Annotations: map[string]string{
					endpoints.ProviderAnnotation: draw(r, "a", "a-b", "c"), apply.OwnerAnnotation: draw(r, owner, owner, "another"),
					endpoints.ProviderUIDAnnotation: draw(r, "", "u1", "u2"), endpoints.BookAnnotation: draw(r, "", "5", "9", "x"), endpoints.SilentAnnotation: draw(r, "", "true"),
				},
			},
			AddressType: draw(r, discovery.AddressTypeIPv4, discovery.AddressTypeIPv6),
		}
		if !slices.ContainsFunc(all, func(o *discovery.EndpointSlice) bool { return o.Name == s.Name }) {
			all = append(all, s)
		}
	}
	return all
}

// drawnProviders draws what is known of clusters. Slices of a have a name and an address that somebody wrote.
func drawnProviders(r *rand.Rand, name, address string) map[string]*endpoints.Provider {
	all := map[string]*endpoints.Provider{"a": cluster(draw(r, "", "u1"), draw(r, true, false), slice(name, address), slice(draw(r, "x", "y"), "10.101.0.6"))}
	all["a"].Number, all["a"].Ages, all["a"].Silent = draw(r, uint64(0), 5, 9, 10), draw(r, true, false), draw(r, true, false)
	for _, cluster := range []string{"a-b", "c"} {
		switch r.IntN(4) {
		case 0:
		case 1:
			all[cluster] = &endpoints.Provider{Silent: draw(r, true, false)}
		default:
			all[cluster] = has(slice(draw(r, "x", "b-x"), draw(r, "10.101.0.5", "127.0.0.1", "fd00::1")))
		}
	}
	return all
}

// FuzzResolve: whatever a provider says, nothing is deleted that was not made here for this source, nothing is deleted of a provider
// that is not known, nothing is written over that is somebody else's, no address is applied that may not be, and it comes to an end.
func FuzzResolve(f *testing.F) {
	f.Add(uint64(1), "b-x", "10.1.0.1")
	f.Add(uint64(2), "x", "::ffff:127.0.0.1")
	f.Add(uint64(3), "b-x-6c8ed8e3", "fe80::1%eth0")
	f.Add(uint64(4), "../x", "")
	f.Fuzz(func(t *testing.T, seed uint64, name, address string) {
		r := rand.New(rand.NewPCG(seed, 0))
		imports := []services.Import{
			{Namespace: "shop", Service: "api", Style: services.Native, From: []string{"a", "a-b", "c"}},
			derived(draw(r, "a", "c"), "a-b"),
		}[r.IntN(2):]
		in := endpoints.Input{Cluster: draw(r, "a", "us-1"), Owner: owner, Imports: imports, Providers: drawnProviders(r, name, address), Live: drawnLive(r)}
		for range 4 {
			res := endpoints.Resolve(&in)
			holds(t, &in, &res)
			if len(res.Apply)+len(res.Delete) == 0 {
				return
			}
			in.Live = applied(&res, in.Live...)
		}
		t.Error("it does not come to an end")
	})
}

func holds(t *testing.T, in *endpoints.Input, res *endpoints.Result) {
	t.Helper()
	isOurs := func(s *discovery.EndpointSlice) bool {
		return s.Labels[discovery.LabelManagedBy] == endpoints.ManagedBy && s.Annotations[apply.OwnerAnnotation] == owner
	}
	for _, d := range res.Delete {
		if !isOurs(d) || d.UID == "" || !slices.Contains(in.Live, d) {
			t.Errorf("deleted is %+v", d.ObjectMeta)
		}
		provider := d.Annotations[endpoints.ProviderAnnotation]
		for _, im := range in.Imports {
			here := im.Service
			if im.Style == services.ByImport {
				here = im.Derived
			}
			is, known := in.Providers[provider]
			if known {
				_, known = is.Services[api]
				uid := d.Annotations[endpoints.ProviderUIDAnnotation]
				known = known && (is.Certain || is.UID == "" || uid == "" || uid == is.UID)
			}
			isNative := im.Style == services.Native && provider == in.Cluster
			if !known && !isNative && slices.Contains(im.From, provider) && d.Labels[discovery.LabelServiceName] == here {
				t.Errorf("deleted is %s of %s, which is not known", d.Name, provider)
			}
		}
	}
	for _, s := range res.Apply {
		for _, l := range in.Live {
			if l.Name == s.Name && (!isOurs(l) || l.UID != s.UID) {
				t.Errorf("written over is %+v", l.ObjectMeta)
			}
		}
		for i := range s.Endpoints {
			for _, text := range s.Endpoints[i].Addresses {
				if a, err := netip.ParseAddr(text); err != nil || a.Unmap().IsLoopback() || a.Unmap().IsLinkLocalUnicast() {
					t.Errorf("applied is %s", text)
				}
			}
		}
	}
}
