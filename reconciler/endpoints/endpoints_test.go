package endpoints_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/endpoints"
)

const owner = "https://git.example/fleet"

var (
	api    = types.NamespacedName{Namespace: "shop", Name: "api"}
	native = services.Import{Namespace: "shop", Service: "api", Style: services.Native, From: []string{"eu-1"}, Ports: []string{"http"}}
)

// derived imports shop/api as derived-api.
func derived(from ...string) services.Import {
	return services.Import{Namespace: "shop", Service: "api", Style: services.ByImport, Derived: "derived-api", From: from}
}

// slice is one with ports http and metrics, and an endpoint for each address.
func slice(name string, addresses ...string) endpoints.Slice {
	s := endpoints.Slice{Name: name, AddressType: discovery.AddressTypeIPv4, Ports: []discovery.EndpointPort{port("http", 8080), port("metrics", 9090)}}
	for _, a := range addresses {
		if strings.Contains(a, ":") {
			s.AddressType = discovery.AddressTypeIPv6
		}
		s.Endpoints = append(s.Endpoints, endpoints.Endpoint{Addresses: []string{a}, Conditions: discovery.EndpointConditions{Ready: new(true)}})
	}
	return s
}

func port(name string, number int32) discovery.EndpointPort {
	return discovery.EndpointPort{Name: &name, Port: &number}
}

// has is a provider with slices of shop/api.
func has(all ...endpoints.Slice) *endpoints.Provider {
	return &endpoints.Provider{Services: endpoints.Services{api: all}}
}

// cluster is a provider whose Namespace kube-system has a UID, with slices of shop/api.
func cluster(uid string, certain bool, all ...endpoints.Slice) *endpoints.Provider {
	p := has(all...)
	p.UID, p.Certain = uid, certain
	return p
}

// applied is what a result leaves of what was there: each slice has a UID.
func applied(r *endpoints.Result, live ...*discovery.EndpointSlice) []*discovery.EndpointSlice {
	named := func(all []*discovery.EndpointSlice, s *discovery.EndpointSlice) bool {
		return slices.ContainsFunc(all, func(o *discovery.EndpointSlice) bool { return o.Namespace == s.Namespace && o.Name == s.Name })
	}
	left := slices.DeleteFunc(slices.Clone(live), func(l *discovery.EndpointSlice) bool { return named(r.Apply, l) || named(r.Delete, l) })
	for _, s := range r.Apply {
		s = s.DeepCopy()
		if s.UID == "" {
			s.UID = types.UID("uid of " + s.Name)
		}
		left = append(left, s)
	}
	return left
}

// shown writes a result as text: what is applied and deleted, a line each.
func shown(r *endpoints.Result) string {
	var b strings.Builder
	for _, s := range r.Apply {
		fmt.Fprintf(&b, "apply %s/%s for %s:", s.Namespace, s.Name, s.Labels[discovery.LabelServiceName])
		for _, p := range s.Ports {
			fmt.Fprintf(&b, " %s", *p.Name)
		}
		for i := range s.Endpoints {
			fmt.Fprintf(&b, " %s", s.Endpoints[i].Addresses[0])
			if ready := s.Endpoints[i].Conditions.Ready; ready != nil && !*ready {
				b.WriteString("(not ready)")
			}
		}
		b.WriteString("\n")
	}
	for _, s := range r.Delete {
		fmt.Fprintf(&b, "delete %s/%s %s\n", s.Namespace, s.Name, s.UID)
	}
	for _, w := range r.Refused {
		fmt.Fprintf(&b, "refused %s %s %s: %s\n", w.Provider, w.Service.Name, w.Slice, w.Why)
	}
	return b.String()
}

// TestAsMuchAsASliceMayHave takes a slice that is as full as the API lets one be.
func TestAsMuchAsASliceMayHave(t *testing.T) {
	full := endpoints.Slice{Name: "api-1", AddressType: discovery.AddressTypeIPv4}
	for i := range 1000 {
		full.Endpoints = append(full.Endpoints, endpoints.Endpoint{Addresses: []string{fmt.Sprintf("10.101.%d.%d", i/250, i%250+1)}})
	}
	for i := range int32(100) {
		full.Ports = append(full.Ports, port(fmt.Sprintf("p%d", i), i+1))
	}
	r := endpoints.Resolve(&endpoints.Input{
		Cluster: "us-1", Owner: owner, Imports: []services.Import{derived("eu-1")}, Providers: map[string]*endpoints.Provider{"eu-1": has(full)},
	})
	if len(r.Refused) > 0 || len(r.Apply) != 1 || len(r.Apply[0].Endpoints) != 1000 || len(r.Apply[0].Ports) != 100 {
		t.Errorf("refused is %v, and %d slices are applied", r.Refused, len(r.Apply))
	}
}

// TestResolve tells what a consumer us-1 has: at first, and after that with what is there from the case before in its list.
func TestResolve(t *testing.T) {
	many := slice("api-1")
	for i := range 1001 {
		many.Endpoints = append(many.Endpoints, endpoints.Endpoint{Addresses: []string{fmt.Sprintf("10.101.%d.%d", i/250, i%250+1)}})
	}
	ports := slice("api-1", "10.101.0.5")
	for i := range int32(99) {
		ports.Ports = append(ports.Ports, port(fmt.Sprintf("p%d", i), i+1))
	}
	name := slice("api-1", "pods.example")
	name.AddressType = discovery.AddressTypeFQDN
	both := map[string]*endpoints.Provider{
		"eu-1": cluster("u1", false, slice("api-1", "10.101.0.5")), "us-2": cluster("u2", false, slice("api-1", "10.103.0.5")),
	}
	nobody := slice("api-1")
	nobody.Endpoints = []endpoints.Endpoint{{}}
	moved := slice("api-1", "10.101.0.5")
	moved.Ports[0] = port("http", 8081)
	const five = "apply shop/eu-1-api-1 for api: http 10.101.0.5\n"
	for _, c := range []struct {
		name    string
		imports []services.Import
		before  map[string]*endpoints.Provider // nil: nothing is there
		now     map[string]*endpoints.Provider
		want    string
	}{
		{"at first", []services.Import{native}, nil, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}, five},
		{"the same again", []services.Import{native}, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}, ""},
		{"another pod", []services.Import{native}, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.6"))}, "apply shop/eu-1-api-1 for api: http 10.101.0.6\n"},
		{
			"another port",
			[]services.Import{native},
			map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))},
			map[string]*endpoints.Provider{"eu-1": has(moved)},
			five,
		},
		{
			"an endpoint without an address",
			[]services.Import{native},
			nil,
			map[string]*endpoints.Provider{"eu-1": has(nobody)},
			"refused eu-1 api api-1: it has an endpoint without an address\n",
		},
		{
			"a name as an address",
			[]services.Import{native},
			nil,
			map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "pods"))},
			"refused eu-1 api api-1: \"pods\" is no address of type IPv4\n",
		},
		{
			"an address of a node's interface",
			[]services.Import{native},
			nil,
			map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "fd00::5%eth0"))},
			"refused eu-1 api api-1: \"fd00::5%eth0\" is no address of type IPv6\n",
		},
		{
			"addresses of two families",
			[]services.Import{native},
			nil,
			map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "fd00::5", "10.101.0.5"))},
			"refused eu-1 api api-1: \"10.101.0.5\" is no address of type IPv6\n",
		},
		{
			"no name of a slice",
			[]services.Import{native},
			nil,
			map[string]*endpoints.Provider{"eu-1": has(slice("Api_1", "10.101.0.5"))},
			"refused eu-1 api Api_1: \"Api_1\" is no name of an EndpointSlice\n",
		},
		{
			"the same one, whose UID is not known any more",
			[]services.Import{native},
			map[string]*endpoints.Provider{"eu-1": cluster("u1", false, slice("api-1", "10.101.0.5"))},
			map[string]*endpoints.Provider{"eu-1": cluster("", false, slice("api-1", "10.101.0.6"))},
			"apply shop/eu-1-api-1 for api: http 10.101.0.6\n",
		},
		{
			"two clusters, each of which is the same", []services.Import{derived("eu-1", "us-2")}, both, both, "",
		},
		{"no pod any more", []services.Import{native}, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}, map[string]*endpoints.Provider{"eu-1": has(slice("api-1"))}, "apply shop/eu-1-api-1 for api: http\n"},
		{"no slice any more", []services.Import{native}, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}, map[string]*endpoints.Provider{"eu-1": has()}, "delete shop/eu-1-api-1 uid of eu-1-api-1\n"},
		{"the provider is not known", []services.Import{native}, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}, nil, ""},
		{"its services are not known", []services.Import{native}, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}, map[string]*endpoints.Provider{"eu-1": {}}, ""},
		{"it is not known, and silent", []services.Import{native}, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}, map[string]*endpoints.Provider{"eu-1": {Silent: true}}, "apply shop/eu-1-api-1 for api: http 10.101.0.5(not ready)\n"},
		{"it is silent", []services.Import{native}, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}, map[string]*endpoints.Provider{"eu-1": {Services: has(slice("api-1", "10.101.0.5")).Services, Silent: true}}, "apply shop/eu-1-api-1 for api: http 10.101.0.5(not ready)\n"},
		{
			"it is not known, and silent still",
			[]services.Import{native},
			map[string]*endpoints.Provider{"eu-1": {Services: has(slice("api-1", "10.101.0.5")).Services, Silent: true}},
			map[string]*endpoints.Provider{"eu-1": {Silent: true}},
			"",
		},
		{
			"two of which all is refused",
			[]services.Import{derived("us-2", "eu-1")},
			nil,
			map[string]*endpoints.Provider{"eu-1": {Wrong: "it is wrong"}, "us-2": {Wrong: "it is wrong, too"}},
			"refused eu-1 api : it is wrong\nrefused us-2 api : it is wrong, too\n",
		},
		{"it was silent", []services.Import{native}, map[string]*endpoints.Provider{"eu-1": {Services: has(slice("api-1", "10.101.0.5")).Services, Silent: true}}, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}, five},
		{"nothing is imported any more", nil, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}, nil, "delete shop/eu-1-api-1 uid of eu-1-api-1\n"},
		{"two providers", []services.Import{derived("eu-1", "us-2")}, nil, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5")), "us-2": has(slice("api-1", "10.103.0.5"))}, "apply shop/imported-eu-1-api-1 for derived-api: http metrics 10.101.0.5\napply shop/imported-us-2-api-1 for derived-api: http metrics 10.103.0.5\n"},
		{"its own, native", []services.Import{{Namespace: "shop", Service: "api", Style: services.Native, From: []string{"us-1"}}}, nil, map[string]*endpoints.Provider{"us-1": has(slice("api-1", "10.102.0.5"))}, ""},
		{"its own, derived", []services.Import{derived("us-1")}, nil, map[string]*endpoints.Provider{"us-1": has(slice("api-1", "10.102.0.5"))}, "apply shop/imported-us-1-api-1 for derived-api: http metrics 10.102.0.5\n"},
		{"two slices of one name", []services.Import{derived("a", "a-b")}, nil, map[string]*endpoints.Provider{"a": has(slice("b-x", "10.101.0.5")), "a-b": has(slice("x", "10.103.0.5"))}, "apply shop/imported-a-b-x-6c8ed8e3 for derived-api: http metrics 10.103.0.5\napply shop/imported-a-b-x-70f56b9c for derived-api: http metrics 10.101.0.5\n"},
		{"one of them is not known", []services.Import{derived("a", "a-b")}, map[string]*endpoints.Provider{"a-b": has(slice("x", "10.103.0.5"))}, map[string]*endpoints.Provider{"a": has(slice("b-x", "10.101.0.5"))}, "apply shop/imported-a-b-x-70f56b9c for derived-api: http metrics 10.101.0.5\n"},
		{"what is refused of one has the name of the other's", []services.Import{derived("a", "a-b")}, map[string]*endpoints.Provider{"a": has(slice("b-x", "10.101.0.5")), "a-b": has()}, map[string]*endpoints.Provider{"a": has(slice("b-x", "10.101.0.6")), "a-b": has(slice("x", "127.0.0.1"))}, "apply shop/imported-a-b-x-70f56b9c for derived-api: http metrics 10.101.0.6\ndelete shop/imported-a-b-x uid of imported-a-b-x\nrefused a-b api x: 127.0.0.1 is a loopback address\n"},
		{"1001 endpoints", []services.Import{native}, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}, map[string]*endpoints.Provider{"eu-1": has(many)}, "refused eu-1 api api-1: it has 1001 endpoints; at most 1000 are taken\n"},
		{"101 ports", []services.Import{native}, nil, map[string]*endpoints.Provider{"eu-1": has(ports)}, "refused eu-1 api api-1: it has 101 ports; at most 100 are taken\n"},
		{"names", []services.Import{native}, nil, map[string]*endpoints.Provider{"eu-1": has(name)}, "refused eu-1 api api-1: its addressType is \"FQDN\"; IPv4 and IPv6 are taken\n"},
		{"loopback", []services.Import{native}, nil, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "127.0.0.1"))}, "refused eu-1 api api-1: 127.0.0.1 is a loopback address\n"},
		{"loopback of IPv6", []services.Import{native}, nil, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "::1"))}, "refused eu-1 api api-1: ::1 is a loopback address\n"},
		{"loopback, mapped", []services.Import{native}, nil, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "::ffff:127.0.0.1"))}, "refused eu-1 api api-1: ::ffff:127.0.0.1 is a loopback address\n"},
		{"broadcast, mapped", []services.Import{native}, nil, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "::ffff:255.255.255.255"))}, "refused eu-1 api api-1: ::ffff:255.255.255.255 is no address of one pod\n"},
		{"link-local", []services.Import{native}, nil, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "169.254.169.254"))}, "refused eu-1 api api-1: 169.254.169.254 is a link-local address\n"},
		{"any address", []services.Import{native}, nil, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "0.0.0.0"))}, "refused eu-1 api api-1: 0.0.0.0 is no address of one pod\n"},
		{"a bad one beside a good one", []services.Import{native}, nil, map[string]*endpoints.Provider{"eu-1": has(slice("api-0", "127.0.0.1"), slice("api-1", "10.101.0.5"))}, five + "refused eu-1 api api-0: 127.0.0.1 is a loopback address\n"},
		{"outside of its ranges", []services.Import{native}, nil, map[string]*endpoints.Provider{"eu-1": {Services: has(slice("api-1", "10.102.0.5")).Services, Ranges: []netip.Prefix{netip.MustParsePrefix("10.101.0.0/16")}}}, "refused eu-1 api api-1: 10.102.0.5 is in none of the ranges that the annotation waybill.dev/pod-cidrs of its Cluster lists\n"},
		{"within them", []services.Import{native}, nil, map[string]*endpoints.Provider{"eu-1": {Services: has(slice("api-1", "10.101.0.5")).Services, Ranges: []netip.Prefix{netip.MustParsePrefix("10.101.0.0/16")}}}, five},
		{"what is wrong with it", []services.Import{native}, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}, map[string]*endpoints.Provider{"eu-1": {Services: has().Services, Wrong: "it is wrong"}}, "refused eu-1 api : it is wrong\n"},
		{"another cluster", []services.Import{native}, map[string]*endpoints.Provider{"eu-1": cluster("u1", false, slice("api-1", "10.101.0.5"))}, map[string]*endpoints.Provider{"eu-1": cluster("u2", false)}, "refused eu-1 api : this is not the cluster that it was: its Namespace kube-system had the UID u1, and has u2; if it was made anew, write that as spec.id of its Cluster\n"},
		{"another one, which it has to be", []services.Import{native}, map[string]*endpoints.Provider{"eu-1": cluster("u1", false, slice("api-1", "10.101.0.5"))}, map[string]*endpoints.Provider{"eu-1": cluster("u2", true)}, "delete shop/eu-1-api-1 uid of eu-1-api-1\n"},
		{"the same one", []services.Import{native}, map[string]*endpoints.Provider{"eu-1": cluster("u1", false, slice("api-1", "10.101.0.5"))}, map[string]*endpoints.Provider{"eu-1": cluster("u1", false)}, "delete shop/eu-1-api-1 uid of eu-1-api-1\n"},
		{"the same one, of which the UID was not known", []services.Import{native}, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}, map[string]*endpoints.Provider{"eu-1": cluster("u1", false, slice("api-1", "10.101.0.5"))}, five},
		{"another family", []services.Import{native}, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}, map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "fd00::5"))}, "delete shop/eu-1-api-1 uid of eu-1-api-1\n"},
	} {
		in := endpoints.Input{Cluster: "us-1", Owner: owner, Imports: c.imports, Providers: c.before}
		if c.before != nil {
			if in.Imports == nil {
				in.Imports = []services.Import{native}
			}
			first := endpoints.Resolve(&in)
			in.Live = applied(&first)
		}
		in.Imports, in.Providers = c.imports, c.now
		if r := endpoints.Resolve(&in); shown(&r) != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, shown(&r), c.want)
		}
	}
}

// TestAnotherImport has slices of an import that is another one by now, of which nothing is known: they are not those of that one, and go.
func TestAnotherImport(t *testing.T) {
	for name, now := range map[string]services.Import{
		"derived, and not native": derived("eu-1"),
		"of another namespace":    {Namespace: "till", Service: "api", Style: services.Native, From: []string{"eu-1"}},
		"of another Service":      {Namespace: "shop", Service: "web", Style: services.Native, From: []string{"eu-1"}},
		"from another cluster":    {Namespace: "shop", Service: "api", Style: services.Native, From: []string{"us-2"}},
	} {
		in := endpoints.Input{Cluster: "us-1", Owner: owner, Imports: []services.Import{native}, Providers: map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}}
		first := endpoints.Resolve(&in)
		in.Live, in.Imports, in.Providers = applied(&first), []services.Import{now}, nil
		r := endpoints.Resolve(&in)
		if got, want := shown(&r), "delete shop/eu-1-api-1 uid of eu-1-api-1\n"; got != want {
			t.Errorf("%s:\n%swant\n%s", name, got, want)
		}
	}
}

// TestNoneOfThePorts has a provider without the ports that are imported: nothing is there of it.
func TestNoneOfThePorts(t *testing.T) {
	in := endpoints.Input{Cluster: "us-1", Owner: owner, Imports: []services.Import{native}, Providers: map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}}
	first := endpoints.Resolve(&in)
	in.Live = applied(&first)
	in.Imports[0].Ports = []string{"grpc"}
	r := endpoints.Resolve(&in)
	if got, want := shown(&r), "delete shop/eu-1-api-1 uid of eu-1-api-1\n"; got != want {
		t.Errorf("%swant\n%s", got, want)
	}
}

// TestAClusterThatWasSeveral names the first of the UIDs that slices have of it, whatever the order of the slices.
func TestAClusterThatWasSeveral(t *testing.T) {
	is := cluster("u5", false)
	for _, s := range []string{"1", "2", "3", "4"} {
		is.Services[api] = append(is.Services[api], slice("api-"+s, "10.101.0."+s))
	}
	providers := map[string]*endpoints.Provider{"eu-1": is}
	in := endpoints.Input{Cluster: "us-1", Owner: owner, Imports: []services.Import{native}, Providers: providers}
	first := endpoints.Resolve(&in)
	in.Live = applied(&first)
	for i, uid := range []string{"u3", "u1", "u5", "u4"} {
		in.Live[i].Annotations[endpoints.ProviderUIDAnnotation] = uid
	}
	for range 20 {
		r := endpoints.Resolve(&in)
		if len(r.Apply)+len(r.Delete) > 0 || len(r.Refused) != 1 {
			t.Fatalf("it is\n%s", shown(&r))
		}
		if one := r.Refused[0]; one.Why != endpoints.Another("u1", "u5") || one.Named() != "shop/api" {
			t.Fatalf("it is\n%s", shown(&r))
		}
	}
	all := endpoints.Refusal{Provider: "eu-1"}
	if all.Named() != "" {
		t.Errorf("all services are called %q", all.Named())
	}
}

// TestLongNames are cut where a slice could not be called so, and end as names do.
func TestLongNames(t *testing.T) {
	const most = 253
	for _, c := range []struct {
		name, want string // of the slice there, and how its name here begins
		apart      bool
	}{
		{strings.Repeat("a", most-len("eu-1-")), "eu-1-" + strings.Repeat("a", most-len("eu-1-")), false},
		{strings.Repeat("a", most-len("eu-1-")+1), "eu-1-" + strings.Repeat("a", most-len("eu-1-")-9) + "-", true},
		{strings.Repeat("a", most-len("eu-1-")-10) + ".aaaaaaaaaaaa", "eu-1-" + strings.Repeat("a", most-len("eu-1-")-10) + "-", true},
		{strings.Repeat("a", most-len("eu-1-")-11) + "--aaaaaaaaaaaa", "eu-1-" + strings.Repeat("a", most-len("eu-1-")-11) + "-", true},
	} {
		in := endpoints.Input{
			Cluster: "us-1", Owner: owner, Imports: []services.Import{native},
			Providers: map[string]*endpoints.Provider{"eu-1": has(slice(c.name, "10.101.0.5"))},
		}
		r := endpoints.Resolve(&in)
		if len(r.Apply) != 1 {
			t.Fatalf("%s: %s", c.name, shown(&r))
		}
		got := r.Apply[0].Name
		isValid := len(validation.IsDNS1123Subdomain(got)) == 0
		if !strings.HasPrefix(got, c.want) || len(got) > most || (got != "eu-1-"+c.name) != c.apart || !isValid {
			t.Errorf("%s is called %s, want %s", c.name, got, c.want)
		}
		in.Live = applied(&r)
		if r = endpoints.Resolve(&in); shown(&r) != "" {
			t.Errorf("the same again: %s", shown(&r))
		}
	}
}

// TestPortsAreWhole has a port without a name or a protocol be the one that an API server makes of it, and the order be that of names.
func TestPortsAreWhole(t *testing.T) {
	number, udp := int32(8080), corev1.ProtocolUDP
	live := &discovery.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "api-1", Labels: map[string]string{discovery.LabelServiceName: "api"}},
		Ports:      []discovery.EndpointPort{port("http", 80), {Port: &number}, {Protocol: &udp}, port("dns", 53)},
	}
	var got []string
	for _, p := range endpoints.Collect([]types.NamespacedName{api}, []*discovery.EndpointSlice{live})[api][0].Ports {
		text := fmt.Sprintf("%q %s", *p.Name, *p.Protocol)
		if p.Port != nil {
			text += fmt.Sprint(" ", *p.Port)
		}
		got = append(got, text)
	}
	if want := []string{`"" UDP`, `"" TCP 8080`, `"dns" TCP 53`, `"http" TCP 80`}; !slices.Equal(got, want) {
		t.Errorf("they are %q, want %q", got, want)
	}
	if live.Ports[1].Name != nil || *live.Ports[0].Name != "http" {
		t.Errorf("what was collected from is %v", live.Ports)
	}
}

// TestOthersStay has slices in the consumer that somebody else made: none is deleted, and none is written over.
func TestOthersStay(t *testing.T) {
	other := func(name string, labels, annotations map[string]string) *discovery.EndpointSlice {
		return &discovery.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "u", Labels: labels, Annotations: annotations},
			AddressType: discovery.AddressTypeIPv4,
		}
	}
	ours := map[string]string{discovery.LabelManagedBy: endpoints.ManagedBy, discovery.LabelServiceName: "api"}
	in := endpoints.Input{
		Cluster: "us-1", Owner: owner, Imports: []services.Import{native}, Providers: map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))},
		Live: []*discovery.EndpointSlice{
			other("api-2", map[string]string{discovery.LabelManagedBy: "endpointslice-controller.k8s.io"}, map[string]string{apply.OwnerAnnotation: owner}),
			other("eu-1-api-1", ours, map[string]string{apply.OwnerAnnotation: "https://git.example/another", endpoints.ProviderAnnotation: "eu-1"}),
		},
	}
	r := endpoints.Resolve(&in)
	if got, want := shown(&r), "apply shop/eu-1-api-1-7eff0ea3 for api: http 10.101.0.5\n"; got != want {
		t.Errorf("%swant\n%s", got, want)
	}
	in.Live, in.Taken = nil, map[types.NamespacedName]bool{{Namespace: "shop", Name: "eu-1-api-1"}: true, {Namespace: "shop", Name: "eu-1-api-1-7eff0ea3"}: true}
	r = endpoints.Resolve(&in)
	if got, want := shown(&r), "refused eu-1 api api-1: somebody else has an EndpointSlice eu-1-api-1-7eff0ea3\n"; got != want {
		t.Errorf("%swant\n%s", got, want)
	}
	in.Providers = map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "127.0.0.1"))}
	r = endpoints.Resolve(&in)
	if got, want := shown(&r), "refused eu-1 api api-1: 127.0.0.1 is a loopback address\n"; got != want {
		t.Errorf("of what is refused anyway: %swant\n%s", got, want)
	}
}

// TestASourceThatMoved has slices that it brought when it was known otherwise: they are its own still.
func TestASourceThatMoved(t *testing.T) {
	in := endpoints.Input{Cluster: "us-1", Owner: owner, Imports: []services.Import{native}, Providers: map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))}}
	first := endpoints.Resolve(&in)
	in.Live = applied(&first)
	in.Owner, in.Formerly = "https://git.example/moved", []string{owner}
	r := endpoints.Resolve(&in)
	if got, want := shown(&r), "apply shop/eu-1-api-1 for api: http 10.101.0.5\n"; got != want || r.Apply[0].UID != in.Live[0].UID || r.Apply[0].Annotations[apply.OwnerAnnotation] != in.Owner {
		t.Errorf("%swant\n%s", got, want)
	}
	in.Imports = nil
	r = endpoints.Resolve(&in)
	if got, want := shown(&r), "delete shop/eu-1-api-1 uid of eu-1-api-1\n"; got != want {
		t.Errorf("%swant\n%s", got, want)
	}
}

// TestCollect says what is kept of a provider's slices.
func TestCollect(t *testing.T) {
	node, host, zone := "node-1", "api-0", "b"
	live := func(name, by string, change func(*discovery.EndpointSlice)) *discovery.EndpointSlice {
		s := &discovery.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: name, ResourceVersion: "7", Labels: map[string]string{discovery.LabelServiceName: "api", discovery.LabelManagedBy: by, "team": "shop"},
			},
			AddressType: discovery.AddressTypeIPv4, Ports: []discovery.EndpointPort{port("metrics", 9090), port("http", 8080)},
			Endpoints: []discovery.Endpoint{
				{Addresses: []string{"10.101.0.6"}, NodeName: &node, DeprecatedTopology: map[string]string{"a": "b"}},
				{Addresses: []string{"10.101.0.5"}, Hostname: &host, Zone: &zone, Hints: &discovery.EndpointHints{ForZones: []discovery.ForZone{{Name: zone}}}},
			},
		}
		if change != nil {
			change(s)
		}
		return s
	}
	const local = "endpointslice-controller.k8s.io"
	got := endpoints.Collect([]types.NamespacedName{api, {Namespace: "shop", Name: "db"}}, []*discovery.EndpointSlice{
		live("api-2", local, nil), live("api-1", local, nil),
		live("imported", endpoints.ManagedBy, nil), live("eu-2-x", "endpointslice-dispatch-controller.karmada.io", nil),
		live("imported-eu-2-x", "endpointslice-controller.karmada.io", nil), live("lighthouse", "lighthouse-agent.submariner.io", nil),
		live("other", local, func(s *discovery.EndpointSlice) { s.Labels[discovery.LabelServiceName] = "web" }),
		live("leaves", local, func(s *discovery.EndpointSlice) { s.DeletionTimestamp = &metav1.Time{} }),
	})
	want := endpoints.Services{{Namespace: "shop", Name: "db"}: nil}
	for _, name := range []string{"api-1", "api-2"} {
		tcp := corev1.ProtocolTCP
		http, metrics := port("http", 8080), port("metrics", 9090)
		http.Protocol, metrics.Protocol = &tcp, &tcp
		want[api] = append(want[api], endpoints.Slice{
			Name: name, AddressType: discovery.AddressTypeIPv4, Ports: []discovery.EndpointPort{http, metrics},
			Endpoints: []endpoints.Endpoint{{Addresses: []string{"10.101.0.5"}, Hostname: &host, Zone: &zone}, {Addresses: []string{"10.101.0.6"}}},
		})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestIsReplaced says whose place one takes that is made: that of one which was made a moment ago, too, of which no watch has told yet.
func TestIsReplaced(t *testing.T) {
	for _, c := range []struct {
		manager, owner string
		want           bool
	}{
		{endpoints.ManagedBy, owner, true},
		{endpoints.ManagedBy, "https://git.example/another", false},
		{endpoints.ManagedBy, "", false},
		{"", owner, true},
		{"", "", false},
		{"somebody", owner, false},
		{"endpointslice-controller.k8s.io", "", false},
		{"endpointslice-dispatch-controller.karmada.io", "", true},
		{"endpointslice-controller.karmada.io", "", true},
	} {
		is := &discovery.EndpointSlice{ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{discovery.LabelManagedBy: c.manager}, Annotations: map[string]string{apply.OwnerAnnotation: c.owner},
		}}
		by := &discovery.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{apply.OwnerAnnotation: owner}}}
		if got := endpoints.IsReplaced(is, by); got != c.want {
			t.Errorf("of %q, for %q: %t", c.manager, c.owner, got)
		}
	}
}
