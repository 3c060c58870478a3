package endpoints

import (
	"maps"
	"slices"

	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	mcs "sigs.k8s.io/mcs-api/pkg/apis/v1beta1"

	"github.com/waybill-dev/waybill/reconciler/apply"
)

// decide compares what is wanted with what is there.
func (r *resolver) decide() {
	for _, w := range r.wanted {
		if w.refused {
			for _, name := range r.stay(w) {
				r.stays[name] = true
			}
			continue
		}
		r.stays[w.name] = true
		is, s := r.mine[w.name], r.slice(w)
		switch {
		case is == nil:
			r.result.Apply = append(r.result.Apply, s)
		case is.AddressType != s.AddressType: // which cannot be changed
			r.result.Delete = append(r.result.Delete, is)
		case !isAs(is, s):
			s.UID = is.UID
			r.result.Apply = append(r.result.Apply, s)
		}
	}
	for name, l := range r.mine {
		if !r.stays[name] {
			r.result.Delete = append(r.result.Delete, l)
		}
	}
	r.noteDeleted()
	for _, all := range [][]*discovery.EndpointSlice{r.result.Apply, r.result.Delete} {
		slices.SortFunc(all, func(a, b *discovery.EndpointSlice) int { return CompareNames(nameOf(a), nameOf(b)) })
	}
}

func nameOf(s *discovery.EndpointSlice) types.NamespacedName {
	return types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
}

// slice is a wanted slice as it is applied.
func (r *resolver) slice(w *wanted) *discovery.EndpointSlice {
	s := &discovery.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.name.Namespace, Name: w.name.Name,
			Labels: map[string]string{
				discovery.LabelServiceName: here(w.from), discovery.LabelManagedBy: ManagedBy,
				mcs.LabelServiceName: w.from.Service, mcs.LabelSourceCluster: w.provider,
			},
			Annotations: map[string]string{ProviderAnnotation: w.provider, apply.OwnerAnnotation: r.in.Owner},
		},
		AddressType: w.slice.AddressType, Ports: w.slice.Ports,
	}
	is := r.in.Providers[w.provider]
	if is.UID != "" {
		s.Annotations[ProviderUIDAnnotation] = is.UID
	}
	if is.note(s); w.silent {
		is.noteSilent(s)
	}
	return made(s, w.slice.Endpoints)
}

// made is a slice of ours with endpoints, and with nothing but what is applied.
func made(s *discovery.EndpointSlice, endpoints []Endpoint) *discovery.EndpointSlice {
	m := &discovery.EndpointSlice{
		TypeMeta:    metav1.TypeMeta{APIVersion: discovery.SchemeGroupVersion.String(), Kind: "EndpointSlice"},
		ObjectMeta:  metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name, UID: s.UID, Labels: s.Labels, Annotations: s.Annotations},
		AddressType: s.AddressType, Ports: s.Ports, Endpoints: make([]discovery.Endpoint, len(endpoints)),
	}
	for i, e := range endpoints {
		m.Endpoints[i] = discovery.Endpoint{Addresses: e.Addresses, Conditions: e.Conditions, Hostname: e.Hostname, Zone: e.Zone}
	}
	return m
}

// ours is a live slice with nothing but what is applied of it.
func ours(l *discovery.EndpointSlice) *discovery.EndpointSlice {
	s := &discovery.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: l.Namespace, Name: l.Name, UID: l.UID, Labels: map[string]string{}, Annotations: map[string]string{},
		},
		AddressType: l.AddressType, Ports: portsOf(l.Ports),
	}
	for _, k := range []string{discovery.LabelServiceName, discovery.LabelManagedBy, mcs.LabelServiceName, mcs.LabelSourceCluster} {
		if v, ok := l.Labels[k]; ok {
			s.Labels[k] = v
		}
	}
	for _, k := range []string{ProviderAnnotation, ProviderUIDAnnotation, apply.OwnerAnnotation} {
		if v, ok := l.Annotations[k]; ok {
			s.Annotations[k] = v
		}
	}
	return s
}

// isAs reports a live slice that is as it should be. Labels and annotations that others add do not count, nor does which book said it, if
// one did.
func isAs(live, should *discovery.EndpointSlice) bool {
	said := maps.Clone(should.Annotations)
	if live.Annotations[BookAnnotation] != "" {
		delete(said, BookAnnotation)
	}
	return within(should.Labels, live.Labels) && within(said, live.Annotations) &&
		live.Annotations[SilentAnnotation] == should.Annotations[SilentAnnotation] &&
		equality.Semantic.DeepEqual(portsOf(live.Ports), portsOf(should.Ports)) && equality.Semantic.DeepEqual(live.Endpoints, should.Endpoints)
}

// within reports that a map has all of another one.
func within(some, all map[string]string) bool {
	for k, v := range some {
		if all[k] != v {
			return false
		}
	}
	return true
}
