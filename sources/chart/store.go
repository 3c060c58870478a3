package chart

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/pause"
)

// Options says what a store may ask and keep. The zero value asks any public host over
// https, without credentials, and keeps nothing.
type Options struct {
	// Dir is where archives are kept by their digests. It is made if it is not there,
	// may be shared by processes, and may be removed at any time. Empty, or where it
	// cannot be made or opened: nothing is kept.
	Dir string
	// MaxDir is how many bytes are kept there before those go that were not used for
	// the longest time. 0: 1 GiB.
	MaxDir int64
	// Now tells when an archive is used. nil: the oldest go first, used or not.
	Now func() time.Time

	// Allow lists the hosts that may be asked, each as https://host[:port] or
	// http://host[:port]. It has to list those, too, that a repository's index, a
	// redirect or a registry's token service leads to. Empty: any public host over
	// https.
	Allow []string
	// Private are ranges of addresses that are not public and may be asked, if the
	// host is in Allow.
	Private []netip.Prefix
	// Credentials are for repositories that ask for them.
	Credentials []Credential
	// RootCAs are who may certify a server. nil: whom the system trusts.
	RootCAs *x509.CertPool
	// Proxy is asked in place of every host. nil: none; the environment is not read.
	Proxy *url.URL

	// MaxArchive is how many bytes an archive may have, packed. 0: 20 MiB; at most
	// 100 MiB.
	MaxArchive int64
	// Timeout is how long one Resolve or Fetch may take. 0: two minutes.
	Timeout time.Duration
}

const (
	defaultTimeout = 2 * time.Minute
	defaultArchive = 20 << 20 // bytes; the largest of the common charts has 2 MiB
	defaultDir     = 1 << 30  // bytes
	maxRedirects   = 5
)

// Store finds and brings charts. It is safe for concurrent use.
type Store struct {
	cache       *cache // nil: none
	hosts       hosts
	credentials credentials
	dialer      *dialer
	guard       *guard
	client      *http.Client // of Helm repositories
	maxArchive  int64
	timeout     time.Duration
	turns       turns
}

// New returns a store. Nothing is asked yet.
func New(o Options) (*Store, error) {
	s := &Store{maxArchive: o.MaxArchive, timeout: o.Timeout, turns: newTurns()}
	if s.maxArchive == 0 {
		s.maxArchive = defaultArchive
	}
	if s.maxArchive < 0 || s.maxArchive > maxArchive {
		return nil, fmt.Errorf("MaxArchive is %d, not between 1 and %d", o.MaxArchive, maxArchive)
	}
	if s.timeout <= 0 {
		s.timeout = defaultTimeout
	}
	var err error
	if s.hosts, err = newHosts(o.Allow); err != nil {
		return nil, err
	}
	for _, c := range o.Credentials {
		read, err := readCredential(c)
		if err != nil {
			return nil, err
		}
		s.credentials = append(s.credentials, read)
	}
	if o.Dir != "" {
		if c, err := openCache(o.Dir, o.MaxDir, o.Now); err == nil {
			s.cache = c
		}
	}
	if err := s.connect(o); err != nil {
		return nil, err
	}
	return s, nil
}

// connect prepares the way to the network.
func (s *Store) connect(o Options) error {
	s.dialer = &dialer{private: o.Private, listed: s.hosts.lists}
	t := &http.Transport{
		DialContext:            s.dialer.dial,
		TLSClientConfig:        &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // bounds are on what was sent
		TLSHandshakeTimeout:    dialTime,
		ResponseHeaderTimeout:  30 * time.Second,
		IdleConnTimeout:        30 * time.Second,
		MaxConnsPerHost:        8,
		MaxResponseHeaderBytes: 1 << 20,
	}
	if o.Proxy != nil {
		port := portOf(o.Proxy)
		if port == "" || o.Proxy.Hostname() == "" {
			return errors.New("the proxy is not of the form http://host:port")
		}
		t.Proxy = http.ProxyURL(o.Proxy)
		s.dialer.proxy = net.JoinHostPort(o.Proxy.Hostname(), port)
	}
	s.guard = &guard{inner: t, hosts: s.hosts, dialer: s.dialer, pause: pause.For}
	s.client = &http.Client{
		Transport: &authorized{inner: s.guard, credentials: s.credentials},
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("more than %d redirects", maxRedirects)
			}
			return nil
		},
	}
	return nil
}

// Resolve asks the repository of a reference which archive it stands for now: the best
// version that fits the constraint. It brings the archive, because its digest is
// counted and not believed, and refuses one that Unpack refuses. A host that may not be
// asked is a *HostError.
func (s *Store) Resolve(ctx context.Context, ref lock.Ref) (lock.Entry, error) {
	if err := ref.Validate(); err != nil {
		return lock.Entry{}, fmt.Errorf("resolving the chart %s: %w", ref.Name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	find := s.resolveHelm
	if ref.Kind == lock.OCI {
		find = s.resolveOCI
	}
	found, err := find(ctx, ref)
	if err != nil {
		return lock.Entry{}, fmt.Errorf("resolving the chart %s: %w", ref, err)
	}
	e, err := s.pin(ref, found)
	if err != nil {
		return lock.Entry{}, fmt.Errorf("resolving the chart %s: %w", ref, err)
	}
	return e, nil
}

// found is what a repository offers for a reference.
type found struct {
	version string // as the repository calls it
	url     string
	archive []byte
}

// pin makes an entry of what was found, and keeps the archive.
func (s *Store) pin(ref lock.Ref, f found) (lock.Entry, error) {
	files, err := Unpack(f.archive)
	if err != nil {
		return lock.Entry{}, fmt.Errorf("unpacking %s: %w", f.url, err)
	}
	e := lock.Entry{Ref: ref, URL: f.url, Digest: digest(f.archive)}
	if e.Version, err = versionOf(files["Chart.yaml"], f.version); err != nil {
		return lock.Entry{}, err
	}
	if err := e.Validate(); err != nil {
		return lock.Entry{}, err
	}
	s.keep(e.Digest, f.archive)
	return e, nil
}

// Fetch returns the files of a locked chart, by their paths within its folder. An
// archive that is kept is not asked for again, so that this works without a network.
// An archive with another digest is an error that is ErrDigest; a host that may not be
// asked is a *HostError.
func (s *Store) Fetch(ctx context.Context, e lock.Entry) (fs.FS, error) {
	if err := e.Validate(); err != nil {
		return nil, fmt.Errorf("fetching the chart %s: %w", e.Name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	archive, err := s.archive(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("fetching the chart %s %s: %w", e.Name, e.Version, err)
	}
	files, err := Unpack(archive)
	if err != nil {
		return nil, fmt.Errorf("unpacking the chart %s %s: %w", e.Name, e.Version, err)
	}
	return sources.Tree(files), nil
}

// archive returns the bytes of a locked archive. Of several calls for one archive at a
// time only the first asks the network if there is a cache for the others to read.
func (s *Store) archive(ctx context.Context, e lock.Entry) ([]byte, error) {
	if s.cache == nil {
		return s.download(ctx, e)
	}
	done, err := s.turns.wait(ctx, e.Digest)
	if err != nil {
		return nil, err
	}
	defer done()
	if archive, ok := s.cache.archive(e.Digest); ok && int64(len(archive)) <= s.maxArchive {
		return archive, nil
	}
	archive, err := s.download(ctx, e)
	if err == nil {
		s.keep(e.Digest, archive)
	}
	return archive, err
}

// download brings a locked archive from where it was.
func (s *Store) download(ctx context.Context, e lock.Entry) ([]byte, error) {
	var archive []byte
	var err error
	if e.Kind == lock.OCI {
		archive, err = s.blob(ctx, e)
	} else {
		archive, err = s.get(ctx, e.URL, s.maxArchive)
	}
	if err != nil {
		return nil, err
	}
	if got := digest(archive); got != e.Digest {
		return nil, fmt.Errorf("%s has the digest %s, not %s: %w", e.URL, got, e.Digest, ErrDigest)
	}
	return archive, nil
}

// keep puts an archive into the cache. That it cannot be kept costs time later.
func (s *Store) keep(digest string, archive []byte) {
	if s.cache != nil {
		s.cache.keep(digest, archive)
	}
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
