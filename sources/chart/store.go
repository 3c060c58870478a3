package chart

import (
	"context"
	"crypto/sha256"
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
	"github.com/waybill-dev/waybill/sources/egress"
	"github.com/waybill-dev/waybill/sources/lock"
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

	// Allow, Listed, Private, Credentials, RootCAs and Proxy are what egress.Options says of them.
	Allow       []string
	Listed      bool
	Private     []netip.Prefix
	Credentials []egress.Credential
	RootCAs     *x509.CertPool
	Proxy       *url.URL

	// MaxArchive is how many bytes an archive may have, packed. 0: 20 MiB; at most
	// 100 MiB.
	MaxArchive int64
	// Timeout is how long one Resolve or Fetch may take. 0: two minutes.
	Timeout time.Duration

	pause    func(context.Context, time.Duration) error // tests do not wait
	resolver *net.Resolver                              // tests have names of their own
}

const (
	defaultTimeout = 2 * time.Minute
	defaultArchive = 20 << 20 // bytes; the largest of the common charts has 2 MiB
	defaultDir     = 1 << 30  // bytes
	maxRedirects   = 5
	retries        = 2 // after the first try
)

// ErrDigest is the reason why an archive is refused that is not the one that was
// pinned.
var ErrDigest = errors.New("the archive is not the one that is locked")

// Store finds and brings charts. It is safe for concurrent use.
type Store struct {
	cache      *cache // nil: none
	guard      *egress.Guard
	client     *http.Client // of Helm repositories
	maxArchive int64
	timeout    time.Duration
	turns      turns
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
	if o.Dir != "" {
		if c, err := openCache(o.Dir, o.MaxDir, o.Now); err == nil {
			s.cache = c
		}
	}
	var err error
	s.guard, err = egress.New(egress.Options{
		Allow: o.Allow, Listed: o.Listed, Private: o.Private, Credentials: o.Credentials, RootCAs: o.RootCAs, Proxy: o.Proxy,
		Retries: retries, Pause: o.pause, Resolver: o.resolver,
	})
	if err != nil {
		return nil, err
	}
	s.client = &http.Client{
		Transport: s.guard.Authorized(),
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("more than %d redirects", maxRedirects)
			}
			return nil
		},
	}
	return s, nil
}

// Resolve asks the repository of a reference which archive it stands for now: the best
// version that fits the constraint. It brings the archive, because its digest is
// counted and not believed, and refuses one that Unpack refuses. A host that may not be
// asked is an *egress.HostError.
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
	e, _, err := s.pin(ref, found)
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

// pin makes an entry of what was found, keeps the archive, and returns its Chart.yaml, too.
func (s *Store) pin(ref lock.Ref, f found) (lock.Entry, []byte, error) {
	files, err := Unpack(f.archive)
	if err != nil {
		return lock.Entry{}, nil, fmt.Errorf("unpacking %s: %w", f.url, err)
	}
	about := files["Chart.yaml"]
	e := lock.Entry{Ref: ref, URL: f.url, Digest: digest(f.archive)}
	if e.Version, err = versionOf(about, f.version); err != nil {
		return lock.Entry{}, nil, err
	}
	if err := e.Validate(); err != nil {
		return lock.Entry{}, nil, err
	}
	s.keep(e.Digest, f.archive)
	return e, about, nil
}

// Fetch returns the files of a locked chart, by their paths within its folder. An
// archive that is kept is not asked for again, so that this works without a network.
// An archive with another digest is an error that is ErrDigest; a host that may not be
// asked is an *egress.HostError.
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
	if archive, ok := s.kept(e.Digest); ok {
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

// kept is the archive with a digest, if it is in the cache and not larger than may be.
func (s *Store) kept(digest string) ([]byte, bool) {
	if s.cache == nil || !lock.IsDigest(digest) {
		return nil, false
	}
	archive, ok := s.cache.archive(digest)
	return archive, ok && int64(len(archive)) <= s.maxArchive
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
