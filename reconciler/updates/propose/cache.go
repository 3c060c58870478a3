package propose

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/sources/chart"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/registry"
)

// Cache keeps what registries answered, each for as long as the source says that its registry is left alone, and for a while what hinders
// merges. It is for one Proposer.
type Cache struct{ kept map[question]answer }

// question is what was asked of a repository, or of the head of a branch.
type question struct{ of, asked string }

type answer struct {
	until time.Time
	is    any
}

// NewCache returns one that keeps nothing yet.
func NewCache() *Cache { return &Cache{kept: map[question]answer{}} }

// forget has what was asked of a repository be asked again.
func (a *Cache) forget(repository string) {
	if a != nil {
		maps.DeleteFunc(a.kept, func(q question, _ answer) bool { return q.of == repository })
	}
}

// hindrance is why a question about a merge was answered by no, as long as that is kept; empty: it is to be judged.
func (a *Cache) hindrance(q question, now time.Time) string {
	if a == nil || !now.Before(a.kept[q].until) {
		return ""
	}
	why, _ := a.kept[q].is.(string)
	return why
}

// hinder keeps why something is not to be merged.
func (a *Cache) hinder(q question, why string, until time.Time) {
	if a != nil {
		a.kept[q] = answer{until, why}
	}
}

// over answers for what is to be asked, as it is kept, and asks otherwise.
func (a *Cache) over(r Registry, c Catalog, all []updates.Subscription, now time.Time) (Registry, Catalog) {
	maps.DeleteFunc(a.kept, func(_ question, k answer) bool { return !now.Before(k.until) })
	s := cached{Cache: a, registry: r, catalog: c, now: now, every: map[string]time.Duration{}}
	for i := range all {
		names, every := []string{all[i].Repository}, all[i].Interval()
		if c := all[i].Chart; c != nil {
			names = append(names, chart.Address(c.Ref)) // as references to its tags begin
		}
		for _, of := range names {
			if least, is := s.every[of]; !is || every < least {
				s.every[of] = every
			}
		}
	}
	return cachedRegistry{s}, cachedCatalog{s}
}

// cached asks what a cache does not have.
type cached struct {
	*Cache

	registry Registry
	catalog  Catalog
	now      time.Time
	every    map[string]time.Duration // how long an answer of a repository holds
}

// kept is the answer that is kept, or what ask returns. An error is no answer.
func kept[V any](s cached, of, asked string, ask func() (V, error)) (V, error) {
	q := question{of, asked}
	if is, ok := s.kept[q].is.(V); ok {
		return is, nil
	}
	is, err := ask()
	if err == nil {
		s.kept[q] = answer{s.now.Add(s.every[of]), is}
	}
	return is, err
}

// cachedRegistry is a Registry with a cache.
type cachedRegistry struct{ cached }

func (s cachedRegistry) Tags(ctx context.Context, repository string, known registry.Known) (registry.Known, error) {
	return kept(s.cached, repository, "tags", func() (registry.Known, error) { return s.registry.Tags(ctx, repository, known) })
}

func (s cachedRegistry) Image(ctx context.Context, ref string) (registry.Image, error) {
	return kept(s.cached, repositoryOf(ref), "image "+ref, func() (registry.Image, error) { return s.registry.Image(ctx, ref) })
}

func (s cachedRegistry) Digest(ctx context.Context, ref string) (string, error) {
	return kept(s.cached, repositoryOf(ref), "digest "+ref, func() (string, error) { return s.registry.Digest(ctx, ref) })
}

// Verify is asked anew each time: keys may be others.
func (s cachedRegistry) Verify(ctx context.Context, ref string, keys []registry.Key) error {
	return s.registry.Verify(ctx, ref, keys)
}

// repositoryOf is a reference without its tag or digest.
func repositoryOf(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if i := strings.LastIndex(ref, ":"); i > strings.LastIndex(ref, "/") {
		ref = ref[:i]
	}
	return ref
}

// cachedCatalog is a Catalog with a cache.
type cachedCatalog struct{ cached }

func (s cachedCatalog) Versions(ctx context.Context, ref lock.Ref, known registry.Known) (registry.Known, error) {
	return kept(s.cached, updates.RepositoryOf(ref), "versions "+ref.String(), func() (registry.Known, error) {
		return s.catalog.Versions(ctx, ref, known)
	})
}

func (s cachedCatalog) At(ctx context.Context, ref lock.Ref, version string) (lock.Entry, registry.Image, error) {
	type entry struct {
		lock.Entry
		registry.Image
	}
	e, err := kept(s.cached, updates.RepositoryOf(ref), ref.String()+" "+version, func() (entry, error) {
		e, is, err := s.catalog.At(ctx, ref, version)
		return entry{e, is}, err
	})
	return e.Entry, e.Image, err
}
