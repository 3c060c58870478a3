package endpoints

import (
	"slices"
	"strconv"

	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/policies/services"
)

const (
	// Older says why a book is not taken after another one.
	Older = "its number is below that of a book that was taken before: somebody has put an older one there"
	// notExported says why nothing is taken of a service in a book.
	notExported = "its book has it, and by what is published that cluster does not export it"
)

// read is the last book of a provider that changed anything here, as the slices say that are there.
type read struct {
	uid    string // of the provider
	number uint64
	silent bool // no newer one came for too long
}

// remember notes by which book a slice became what it is.
func (r *resolver) remember(l *discovery.EndpointSlice) {
	number, err := strconv.ParseUint(l.Annotations[BookAnnotation], 10, 64)
	provider := l.Annotations[ProviderAnnotation]
	last := r.books[provider]
	if err != nil || number < last.number {
		return
	}
	is := read{uid: l.Annotations[ProviderUIDAnnotation], number: number, silent: l.Annotations[SilentAnnotation] != ""}
	is.silent = is.silent || number == last.number && last.silent
	r.books[provider] = is
}

// note has a slice say by which book of its provider it became what it is.
func (p *Provider) note(s *discovery.EndpointSlice) {
	if p.Number > 0 {
		s.Annotations[BookAnnotation] = strconv.FormatUint(p.Number, 10)
	}
}

// noteSilent has it say, too, that no newer one came for too long.
func (p *Provider) noteSilent(s *discovery.EndpointSlice) {
	if p.note(s); p.Number > 0 {
		s.Annotations[SilentAnnotation] = "true"
	}
}

// last is the last book that changed anything here of the cluster that a provider is; zero for none.
func (r *resolver) last(provider string, is *Provider) read {
	if last := r.books[provider]; is.Number > 0 && last.uid == is.UID {
		return last
	}
	return read{}
}

// older says that an older book than the last one was read; empty if it was not.
func (r *resolver) older(provider string, is *Provider) string {
	if is.Number < r.last(provider, is).number {
		return Older
	}
	return ""
}

// isSilent reports a provider that is, or was when its last book came, and has not been heard since.
func (r *resolver) isSilent(provider string, is *Provider) bool {
	last := r.last(provider, is)
	return is.Silent || is.Ages && last.silent && is.Number == last.number
}

// unexported says which books have a service that their clusters do not export by what is published: nobody takes it.
func (r *resolver) unexported() {
	imported := func(p string, s types.NamespacedName) bool {
		return slices.ContainsFunc(r.in.Imports, func(im services.Import) bool {
			return im.Namespace == s.Namespace && im.Service == s.Name && slices.Contains(im.From, p)
		})
	}
	for p, is := range r.in.Providers {
		if is.Exports == nil || is.Number == 0 {
			continue
		}
		for service := range is.Services {
			if !is.Exports[service] && !imported(p, service) {
				r.result.Refused = append(r.result.Refused, Refusal{Provider: p, Service: service, Why: notExported})
			}
		}
	}
}

// noteDeleted has a slice say which book it is by which others of its provider go, so that none that is older brings them back.
func (r *resolver) noteDeleted() {
	said := map[string]bool{}
	for _, s := range r.result.Apply {
		said[s.Annotations[ProviderAnnotation]] = true
	}
	goes := map[string]bool{}
	for _, l := range r.result.Delete {
		goes[l.Annotations[ProviderAnnotation]] = true
	}
	for _, w := range r.wanted {
		is := r.mine[w.name]
		if is == nil || w.refused || said[w.provider] || !goes[w.provider] || is.AddressType != w.slice.AddressType {
			continue
		}
		said[w.provider] = true
		if r.in.Providers[w.provider].Number == 0 {
			continue
		}
		s := r.slice(w)
		s.UID = is.UID
		r.result.Apply = append(r.result.Apply, s)
	}
}
