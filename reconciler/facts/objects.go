package facts

import (
	"sync"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// mostObjects is how many objects are remembered of what status branches say. One takes some 100 bytes, and one that is not well some
// 500.
const mostObjects = 2_000_000

// objectCache remembers what status branches say of objects, as long as they say it.
type objectCache struct {
	mu    sync.Mutex
	known map[string]*said // by cluster
	refs  map[object.Ref]object.Ref
	count int
}

// said is what a status branch says of objects.
type said struct {
	branch files.ID
	// spaces are the namespaces that were asked for, and whole is all of them; nil where nobody asked for that.
	spaces map[string]map[object.Ref]*status.Object
	whole  map[object.Ref]*status.Object
	count  int
	well   map[wellness]*status.Object
}

// wellness is all that is kept of an object that is well, which most are: those of a cluster have few in common.
type wellness struct {
	applied status.Application
	since   time.Time
}

// Objects returns what is said of the objects of a namespace in a cluster, and may have those of other namespaces, too. That it cannot
// be read is that nothing is said. Of objects that are well only this is kept, since when, and the commit.
func (r *Reader) Objects(m *reports.Cluster, namespace string) map[object.Ref]*status.Object {
	c := &r.objects
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.of(m)
	if s.whole != nil {
		return s.whole
	}
	if known, ok := s.spaces[namespace]; ok {
		return known
	}
	objects := c.keep(s, func() (map[object.Ref]*status.Object, error) { return m.Objects(namespace) })
	s.spaces[namespace] = objects
	return objects
}

// Everything returns what is said of all objects in a cluster, as Objects does.
func (r *Reader) Everything(m *reports.Cluster) map[object.Ref]*status.Object {
	c := &r.objects
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.of(m)
	if s.whole == nil {
		c.forget(s)
		s.whole = c.keep(s, m.Everything)
	}
	return s.whole
}

// of returns what is remembered of a cluster: nothing if its status branch says something else now, or too much is remembered.
func (c *objectCache) of(m *reports.Cluster) *said {
	if c.known == nil || c.count > mostObjects {
		c.known, c.refs, c.count = map[string]*said{}, map[object.Ref]object.Ref{}, 0
	}
	s := c.known[m.Cluster]
	if s == nil || s.branch != m.ReportID() {
		if s != nil {
			c.forget(s)
		}
		s = &said{branch: m.ReportID()}
		c.known[m.Cluster] = s
		c.forget(s)
	}
	return s
}

// forget has nothing be remembered of a cluster.
func (c *objectCache) forget(s *said) {
	c.count -= s.count
	*s = said{branch: s.branch, spaces: map[string]map[object.Ref]*status.Object{}, well: map[wellness]*status.Object{}}
}

// keep reads objects, with equal names and equal objects that are well as one. It returns an empty map where they cannot be read.
func (c *objectCache) keep(s *said, read func() (map[object.Ref]*status.Object, error)) map[object.Ref]*status.Object {
	objects, err := read()
	if err != nil {
		objects = nil
	}
	kept := make(map[object.Ref]*status.Object, len(objects))
	for r, o := range objects {
		same, ok := c.refs[r]
		if !ok {
			same = r
			c.refs[r] = r
		}
		kept[same] = s.terse(o)
	}
	s.count += len(kept) + 1
	c.count += len(kept) + 1
	return kept
}

// terse is what is kept of an object.
func (s *said) terse(o *status.Object) *status.Object {
	if !o.Well() {
		short := *o
		short.Health.Status = nil // which no page shows
		return &short
	}
	key := wellness{o.Applied, o.Health.Since}
	same := s.well[key]
	if same == nil {
		same = &status.Object{Applied: o.Applied, Health: status.Health{State: karmada.ResourceHealthy, Since: o.Health.Since}}
		s.well[key] = same
	}
	return same
}
