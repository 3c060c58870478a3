package endpoints

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/apply"
)

// Provider is what is known of a cluster that others import from.
type Provider struct {
	// UID is that of its Namespace kube-system, and Certain says that it has to have that one.
	UID     string
	Certain bool
	// Wrong says why nothing is taken of it now; empty if it is.
	Wrong string
	// Services are what it has. Of one that is not among them it is not known what it has.
	Services Services
	// Number is that of the book by which that is known; zero: by none.
	Number uint64
	// Exports are the services that it exports by its book, by what is published; nil: nobody says.
	Exports map[types.NamespacedName]bool
	// Ages says that a cluster which writes no book for long counts as silent. One that was is so until a newer book comes.
	Ages bool
	// Silent says that it has not been heard for so long that its endpoints count as not ready.
	Silent bool
	// Ranges are those that its addresses have to be in; none for any.
	Ranges []netip.Prefix
}

// Input is what a consumer's slices follow from.
type Input struct {
	Cluster  string   // the consumer
	Owner    string   // what the source is known by there
	Formerly []string // and what it was known by before it moved
	Imports  []services.Import
	// Providers are the clusters of which anything is known. Of another one the slices stay.
	Providers map[string]*Provider
	// Live are the slices of the consumer with the label ManagedBy, of whatever source.
	Live []*discovery.EndpointSlice
	// Taken are the names of slices that others made.
	Taken map[types.NamespacedName]bool
}

// Result is what is to be done.
type Result struct {
	// Apply are slices as they should be, in the order of names. One that is there has its UID.
	Apply []*discovery.EndpointSlice
	// Delete are slices that are there, in the order of names.
	Delete  []*discovery.EndpointSlice
	Refused []Refusal
}

// Refusal is what is not taken from a provider: a slice, or, without one, all of a service, or of all services. What was taken of it
// before stays.
type Refusal struct {
	Provider string
	Service  types.NamespacedName
	Slice    string
	Why      string
}

// Named is the service as namespace/name; empty for all.
func (r *Refusal) Named() string {
	if r.Service.Name == "" {
		return ""
	}
	return r.Service.String()
}

func (r *Refusal) compare(o *Refusal) int {
	return cmp.Or(strings.Compare(r.Provider, o.Provider), CompareNames(r.Service, o.Service), strings.Compare(r.Slice, o.Slice))
}

// CompareNames orders names by namespace and name.
func CompareNames(a, b types.NamespacedName) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// Resolve decides which slices a consumer has.
func Resolve(in *Input) Result {
	r := resolver{
		in: in, mine: map[types.NamespacedName]*discovery.EndpointSlice{}, taken: map[types.NamespacedName]bool{},
		stays: map[types.NamespacedName]bool{}, books: map[string]read{},
	}
	maps.Copy(r.taken, in.Taken)
	for _, l := range in.Live {
		name := types.NamespacedName{Namespace: l.Namespace, Name: l.Name}
		if l.Labels[discovery.LabelManagedBy] != ManagedBy || !in.owns(l.Annotations[apply.OwnerAnnotation]) {
			r.taken[name] = true
			continue
		}
		r.mine[name] = l
		r.remember(l)
	}
	for i := range in.Imports {
		r.take(&in.Imports[i])
	}
	r.unexported()
	r.name()
	r.decide()
	slices.SortFunc(r.result.Refused, func(a, b Refusal) int { return a.compare(&b) })
	return r.result
}

// owns reports what the source is known by, or was before it moved.
func (in *Input) owns(owner string) bool {
	return owner == in.Owner || slices.Contains(in.Formerly, owner)
}

// resolver resolves one input.
type resolver struct {
	in     *Input
	books  map[string]read                                   // what is known of the last books of providers by the slices that are there
	mine   map[types.NamespacedName]*discovery.EndpointSlice // live, of this source
	taken  map[types.NamespacedName]bool                     // names that are others'
	stays  map[types.NamespacedName]bool                     // live slices that stay, whatever is not known
	wanted []*wanted
	result Result
}

// wanted is a slice of a provider that the consumer has.
type wanted struct {
	provider string
	slice    Slice
	from     *services.Import
	name     types.NamespacedName // here
	refused  bool                 // what is here of it stays
	silent   bool                 // its provider is
}

// take takes what providers have of a service.
func (r *resolver) take(im *services.Import) {
	service := types.NamespacedName{Namespace: im.Namespace, Name: im.Service}
	for _, p := range im.From {
		if p == r.in.Cluster && im.Style == services.Native {
			continue // its own endpoints are there
		}
		is := r.in.Providers[p]
		if is == nil {
			r.keep(im, p)
			continue
		}
		if why := cmp.Or(is.Wrong, r.another(im, p, is), r.older(p, is)); why != "" {
			r.keep(im, p)
			r.result.Refused = append(r.result.Refused, Refusal{Provider: p, Service: service, Why: why})
			continue
		}
		has, known := is.Services[service]
		if !known {
			there := r.keep(im, p)
			if r.isSilent(p, is) {
				r.silence(there, is)
			}
			continue
		}
		before := len(r.wanted)
		for i := range has {
			r.add(im, p, &has[i])
		}
		if is.Number > 0 && !slices.ContainsFunc(r.wanted[before:], r.isThere) {
			r.add(im, p, &Slice{Name: im.Service, AddressType: discovery.AddressTypeIPv4}) // it says which book counted
		}
	}
}

// isThere reports a wanted slice that is applied, or of which something stays.
func (r *resolver) isThere(w *wanted) bool { return !w.refused || len(r.stay(w)) > 0 }

// stay are the names of the slices that are there of one which is refused.
func (r *resolver) stay(w *wanted) (names []types.NamespacedName) {
	for _, called := range []string{w.plain(), w.apart()} {
		name := types.NamespacedName{Namespace: w.from.Namespace, Name: called}
		if l := r.mine[name]; l != nil && isOf(l, w.from, w.provider) { // which may be another one's
			names = append(names, name)
		}
	}
	return names
}

// another says that a provider is another cluster than the one of which slices are there; empty if it is that one, or has to be the
// one that it is.
func (r *resolver) another(im *services.Import, provider string, is *Provider) string {
	if is.Certain || is.UID == "" {
		return ""
	}
	first := ""
	for _, l := range r.mine {
		was := l.Annotations[ProviderUIDAnnotation]
		if isOf(l, im, provider) && was != "" && was != is.UID && (first == "" || was < first) {
			first = was
		}
	}
	if first == "" {
		return ""
	}
	return Another(first, is.UID)
}

// Another says that a cluster is another one than it was, by the UIDs of its Namespace kube-system.
func Another(was, is string) string {
	return fmt.Sprintf("this is not the cluster that it was: its Namespace kube-system had the UID %s, and has %s; if it was made anew, write that as spec.id of its Cluster", was, is)
}

// add adds a slice of a provider.
func (r *resolver) add(im *services.Import, provider string, s *Slice) {
	is := r.in.Providers[provider]
	w := &wanted{provider: provider, from: im, slice: *s}
	if why := refuse(s, is.Ranges); why != "" {
		r.refuse(w, why)
	} else if w.slice.Ports = imported(portsOf(s.Ports), im.Ports); len(w.slice.Ports) == 0 && len(s.Ports) > 0 {
		return // it has none of the ports that are imported
	}
	if w.silent = r.isSilent(provider, is); w.silent {
		w.slice.Endpoints = notReady(w.slice.Endpoints)
	}
	r.wanted = append(r.wanted, w)
}

// refuse does not take a slice.
func (r *resolver) refuse(w *wanted, why string) {
	w.refused = true
	service := types.NamespacedName{Namespace: w.from.Namespace, Name: w.from.Service}
	r.result.Refused = append(r.result.Refused, Refusal{Provider: w.provider, Service: service, Slice: w.slice.Name, Why: why})
}

// isOf reports a live slice that was made of what a provider has of a service.
func isOf(l *discovery.EndpointSlice, im *services.Import, provider string) bool {
	return l.Namespace == im.Namespace && l.Labels[discovery.LabelServiceName] == here(im) && l.Annotations[ProviderAnnotation] == provider
}

// keep has the slices stay that are there of what a provider has of a service, and returns them.
func (r *resolver) keep(im *services.Import, provider string) (all []*discovery.EndpointSlice) {
	for name, l := range r.mine {
		if isOf(l, im, provider) && !r.stays[name] {
			r.stays[name], r.taken[name] = true, true
			all = append(all, l)
		}
	}
	return all
}

// silence has no traffic go to slices of a provider that stay.
func (r *resolver) silence(all []*discovery.EndpointSlice, is *Provider) {
	for _, l := range all {
		if has := kept(l).Endpoints; !equality.Semantic.DeepEqual(notReady(has), has) {
			s := ours(l)
			is.noteSilent(s)
			r.result.Apply = append(r.result.Apply, made(s, notReady(has)))
		}
	}
}

// here is what the Service is called in the consumer.
func here(im *services.Import) string {
	if im.Style == services.ByImport {
		return im.Derived
	}
	return im.Service
}

// imported are the ports with names; all without any names.
func imported(ports []discovery.EndpointPort, names []string) []discovery.EndpointPort {
	if len(names) == 0 {
		return ports
	}
	return slices.DeleteFunc(ports, func(p discovery.EndpointPort) bool { return !slices.Contains(names, *p.Name) })
}

// notReady are endpoints to which no traffic goes.
func notReady(endpoints []Endpoint) []Endpoint {
	all, no := slices.Clone(endpoints), false
	for i := range all {
		all[i].Conditions.Ready, all[i].Conditions.Serving = &no, &no
	}
	return all
}
