package endpoints_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/endpoints"
)

// read is what a book says, with slices of shop/api.
func read(number uint64, all ...endpoints.Slice) endpoints.Provider {
	return endpoints.Provider{UID: "u1", Number: number, Ages: true, Services: endpoints.Services{api: all}}
}

// TestWhatWasReadCountsAfterARestart has one who knows nothing but what slices say read one book after the other.
func TestWhatWasReadCountsAfterARestart(t *testing.T) {
	one, two, other := slice("api-1", "10.101.0.5"), slice("api-2", "10.101.0.6"), slice("api-1", "10.101.0.7")
	changed := func(p endpoints.Provider, change func(*endpoints.Provider)) endpoints.Provider {
		change(&p)
		return p
	}
	silent := func(p endpoints.Provider) endpoints.Provider {
		return changed(p, func(p *endpoints.Provider) { p.Silent = true })
	}
	const (
		five    = "apply shop/eu-1-api-1 for api: http 10.101.0.5\n"
		six     = "apply shop/eu-1-api-2 for api: http 10.101.0.6\n"
		gone    = "delete shop/eu-1-api-2 uid of eu-1-api-2\n"
		seven   = "apply shop/eu-1-api-1 for api: http 10.101.0.7\n"
		quiet   = "apply shop/eu-1-api-1 for api: http 10.101.0.5(not ready)\n"
		refused = "refused eu-1 api : " + endpoints.Older + "\n"
		none    = "apply shop/eu-1-api for api:\n"
		noneYet = "delete shop/eu-1-api uid of eu-1-api\n"
		bad     = "refused eu-1 api api-1: 127.0.0.1 is a loopback address\n"
	)
	wrong, three := slice("api-1", "127.0.0.1"), slice("api-3", "10.101.0.8")
	idle := slice("api-1", "10.101.0.5")
	idle.Endpoints[0].Conditions.Ready, idle.Endpoints[0].Conditions.Serving = new(false), new(false)
	for _, c := range []struct {
		name  string
		reads []endpoints.Provider
		want  []string
	}{
		{"a newer one", []endpoints.Provider{read(20, one), read(21, other)}, []string{five, seven}},
		{"a newer one that says the same", []endpoints.Provider{read(20, one), read(21, one)}, []string{five, ""}},
		{"the same again", []endpoints.Provider{read(20, one), read(20, one)}, []string{five, ""}},
		{"an older one", []endpoints.Provider{read(20, one), read(19, other), read(21, other)}, []string{five, refused, seven}},
		{"an older one that has what is gone", []endpoints.Provider{read(20, one, two), read(21, one), read(20, one, two)}, []string{five + six, five + gone, refused}},
		{"an older one, of a service that has no slices any more", []endpoints.Provider{read(20, one), read(21), read(21), read(20, one), read(22, one)}, []string{
			five, none + "delete shop/eu-1-api-1 uid of eu-1-api-1\n", "", refused, five + noneYet,
		}},
		{"an older one, of a service that never had any", []endpoints.Provider{read(21), read(20, one), read(22, two)}, []string{none, refused, six + noneYet}},
		{"an older one, of a service of which nothing was taken", []endpoints.Provider{read(21, wrong), read(21, wrong), read(20, one), read(22, one), read(23, wrong)}, []string{
			none + bad, bad, refused, five + noneYet, bad,
		}},
		{"an older one, after the first that said what was watched", []endpoints.Provider{read(0, one), read(20, one), read(20, one), read(19, other)}, []string{five, five, "", refused}},
		{"one without slices, that is watched from now on", []endpoints.Provider{read(20), read(0)}, []string{none, noneYet}},
		{"an older one of a cluster that was made anew", []endpoints.Provider{
			read(20, one), changed(read(19, other), func(p *endpoints.Provider) { p.UID, p.Certain = "u2", true }),
		}, []string{five, seven}},
		{"one of a cluster that is silent still", []endpoints.Provider{read(20, one), silent(read(20, one)), read(20, one), read(21, one), read(21, one)}, []string{five, quiet, "", five, ""}},
		{"one of a cluster that was silent when its slice was not known", []endpoints.Provider{
			read(20, one), changed(silent(read(20)), func(p *endpoints.Provider) { p.Services = nil }), read(20, one), read(21, one),
		}, []string{five, quiet, "", five}},
		{"one of a cluster that was silent, while silence counts no more", []endpoints.Provider{
			silent(read(20, one)), changed(read(20, one), func(p *endpoints.Provider) { p.Ages = false }),
		}, []string{quiet, five}},
		{"one of a cluster that was silent, where no endpoint was ready", []endpoints.Provider{
			silent(read(20, idle)), read(20, idle), read(21, idle), read(21, idle),
		}, []string{quiet, "", quiet, ""}},
		{"a newer one in which one is gone, and two others stay", []endpoints.Provider{
			read(20, one, two, three), read(21, one, two), read(20, one, two, three),
		}, []string{
			five + six + "apply shop/eu-1-api-3 for api: http 10.101.0.8\n", five + "delete shop/eu-1-api-3 uid of eu-1-api-3\n", refused,
		}},
		{"it is watched from now on", []endpoints.Provider{
			silent(read(20, one)), changed(read(0, one), func(p *endpoints.Provider) { p.Ages = false }), read(19, other),
		}, []string{quiet, five, seven}},
	} {
		in := endpoints.Input{Cluster: "us-1", Owner: owner, Imports: []services.Import{native}}
		for i := range c.reads {
			in.Providers = map[string]*endpoints.Provider{"eu-1": &c.reads[i]}
			r := endpoints.Resolve(&in)
			if got := shown(&r); got != c.want[i] {
				t.Errorf("%s, at %d:\n%swant\n%s", c.name, i, got, c.want[i])
			}
			in.Live = applied(&r, in.Live...)
		}
	}
}

// TestABookHasWhatIsNotExported by its cluster, by what is published: it is named, and not taken.
func TestABookHasWhatIsNotExported(t *testing.T) {
	eu, us := read(20, slice("api-1", "10.101.0.5")), read(20, slice("api-1", "10.103.0.5"))
	secret := types.NamespacedName{Namespace: "shop", Name: "secret"}
	eu.Services[secret] = []endpoints.Slice{slice("secret-1", "10.101.0.9")}
	in := endpoints.Input{
		Cluster: "us-1", Owner: owner, Providers: map[string]*endpoints.Provider{"eu-1": &eu, "us-2": &us},
		Imports: []services.Import{derived("us-2"), {Namespace: "shop", Service: "web", Style: services.Native, From: []string{"eu-1"}}},
	}
	const taken = "apply shop/imported-us-2-api-1 for derived-api: http metrics 10.103.0.5\n"
	const why = ": its book has it, and by what is published that cluster does not export it\n"
	exported := func(all ...types.NamespacedName) map[types.NamespacedName]bool {
		of := map[types.NamespacedName]bool{}
		for _, s := range all {
			of[s] = true
		}
		return of
	}
	for _, c := range []struct {
		name    string
		exports map[types.NamespacedName]bool
		number  uint64
		want    string
	}{
		{"nobody says", nil, 20, ""},
		{"it has no book", exported(), 20, "refused eu-1 api " + why + "refused eu-1 secret " + why},
		{"for others", exported(api), 20, "refused eu-1 secret " + why},
		{"all", exported(api, secret), 20, ""},
		{"it is watched, for whoever imports that from there", exported(), 0, ""},
	} {
		eu.Exports, eu.Number = c.exports, c.number
		if r := endpoints.Resolve(&in); shown(&r) != taken+c.want {
			t.Errorf("%s: %swant\n%s", c.name, shown(&r), taken+c.want)
		}
	}
	// what this cluster imports from there is exported, whatever counted when the rest was read
	in.Imports = []services.Import{{Namespace: "shop", Service: "secret", Style: services.Native, From: []string{"eu-1"}}}
	eu.Exports, eu.Number = exported(api), 20
	if r := endpoints.Resolve(&in); len(r.Refused) > 0 {
		t.Errorf("refused is %+v", r.Refused)
	}
}

// TestLabels are those by which kube-proxy and the Multi-Cluster Services API find slices.
func TestLabels(t *testing.T) {
	in := endpoints.Input{
		Cluster: "us-1", Owner: owner, Imports: []services.Import{derived("eu-1")},
		Providers: map[string]*endpoints.Provider{"eu-1": has(slice("api-1", "10.101.0.5"))},
	}
	want := map[string]string{
		"kubernetes.io/service-name": "derived-api", "endpointslice.kubernetes.io/managed-by": "services.waybill.dev",
		"multicluster.kubernetes.io/service-name": "api", "multicluster.kubernetes.io/source-cluster": "eu-1",
	}
	r := endpoints.Resolve(&in)
	if diff := cmp.Diff(want, r.Apply[0].Labels); diff != "" {
		t.Error(diff)
	}
	in.Live = applied(&r)
	for label := range want { // somebody takes one away
		in.Live[0] = in.Live[0].DeepCopy()
		if delete(in.Live[0].Labels, label); label == "kubernetes.io/service-name" || label == "endpointslice.kubernetes.io/managed-by" {
			in.Live = applied(&r)
			continue // it is nobody's then
		}
		again := endpoints.Resolve(&in)
		if len(again.Apply) != 1 || cmp.Diff(want, again.Apply[0].Labels) != "" || again.Apply[0].UID != in.Live[0].UID {
			t.Errorf("without the label %s it is\n%s", label, shown(&again))
		}
		in.Live = applied(&r)
	}
	in.Providers["eu-1"] = &endpoints.Provider{Silent: true}
	r = endpoints.Resolve(&in)
	if diff := cmp.Diff(want, r.Apply[0].Labels); diff != "" {
		t.Errorf("of a silent cluster: %s", diff)
	}
	annotations := map[string]string{endpoints.ProviderAnnotation: "eu-1", apply.OwnerAnnotation: owner}
	if diff := cmp.Diff(annotations, r.Apply[0].Annotations); diff != "" {
		t.Errorf("of a silent cluster that is watched: %s", diff)
	}
	book := read(20, slice("api-1", "10.101.0.5"))
	book.Silent = true
	in.Providers["eu-1"] = &book
	r = endpoints.Resolve(&in)
	annotations[endpoints.ProviderUIDAnnotation], annotations[endpoints.BookAnnotation] = "u1", "20"
	annotations[endpoints.SilentAnnotation] = "true"
	if diff := cmp.Diff(annotations, r.Apply[0].Annotations); diff != "" {
		t.Errorf("of a silent cluster that has a book: %s", diff)
	}
}
