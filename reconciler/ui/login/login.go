// Package login says who may look at the web UI. There are three ways: Open lets everybody in who is on
// this machine; Proxy believes the header of a reverse proxy at a known address; OIDC has people log in
// at a provider of OpenID Connect. Whoever is let in sees all clusters: there are no roles.
package login

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/ui/pages"
)

// Session is somebody who may look.
type Session struct {
	User  string    // empty where nobody logs in
	Until time.Time // zero: for ever
	// LogsOut says that there is a way to end it.
	LogsOut bool
}

// Tell writes a page that says what is wrong.
type Tell func(w http.ResponseWriter, r *http.Request, status int, p pages.Failure)

// Guard says who may look.
type Guard interface {
	// Who says who asks. The error is why they may not look.
	Who(r *http.Request) (Session, error)
	// Refuse answers those who may not.
	Refuse(w http.ResponseWriter, r *http.Request, why error, tell Tell)
	// Handle adds the pages by which one logs in.
	Handle(mux *http.ServeMux, tell Tell)
}

// Open lets everybody in. It is for an address that only this machine reaches; a browser may be made to
// ask there by another site's name, so that only names of this machine are answered.
type Open struct{}

// Who implements Guard.
func (Open) Who(r *http.Request) (Session, error) {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if ip, err := netip.ParseAddr(host); strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback() {
		return Session{}, nil
	}
	return Session{}, errors.New("without a way to log in the web UI is for this machine alone: ask for it as localhost")
}

// Refuse implements Guard.
func (Open) Refuse(w http.ResponseWriter, r *http.Request, why error, tell Tell) {
	tell(w, r, http.StatusForbidden, pages.Failure{Title: "Not for this name", Message: why.Error()})
}

// Handle implements Guard.
func (Open) Handle(*http.ServeMux, Tell) {}

// Proxy believes what a reverse proxy says of who asks, in a header, if it asks from a trusted address.
type Proxy struct {
	Header  string
	Trusted []netip.Prefix
}

// ParseTrusted reads ranges of addresses, as 10.0.0.0/8; an address alone is a range of one.
func ParseTrusted(texts []string) (all []netip.Prefix, err error) {
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if ip, wrong := netip.ParseAddr(text); err != nil && wrong == nil {
			p, err = netip.PrefixFrom(ip, ip.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("%q is no range of addresses, as 10.0.0.0/8", text)
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

// Who implements Guard.
func (p *Proxy) Who(r *http.Request) (Session, error) {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !p.trusts(from.Addr().Unmap().WithZone("")) {
		return Session{}, errors.New("this does not come through the proxy that knows who you are")
	}
	names := r.Header.Values(p.Header)
	if len(names) != 1 || strings.TrimSpace(names[0]) == "" {
		return Session{}, fmt.Errorf("the proxy does not say who you are: it has to set the header %s, once", http.CanonicalHeaderKey(p.Header))
	}
	return Session{User: strings.TrimSpace(names[0])}, nil
}

func (p *Proxy) trusts(from netip.Addr) bool {
	for _, t := range p.Trusted {
		if t.Contains(from) {
			return true
		}
	}
	return false
}

// Refuse implements Guard.
func (*Proxy) Refuse(w http.ResponseWriter, r *http.Request, why error, tell Tell) {
	tell(w, r, http.StatusForbidden, pages.Failure{Title: "Who are you?", Message: why.Error()})
}

// Handle implements Guard.
func (*Proxy) Handle(*http.ServeMux, Tell) {}
