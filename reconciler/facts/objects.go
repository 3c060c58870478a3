package facts

import (
	"sync"

	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// mostObjects is how many objects are remembered of what status branches say.
const mostObjects = 200_000

// objectCache remembers what status branches say of objects.
type objectCache struct {
	mu    sync.Mutex
	known map[said]map[object.Ref]*status.Object
	count int
	// whole is what was said last of each cluster of which all was asked for.
	whole map[string]wholeReport
}

// wholeReport is all that a status branch says.
type wholeReport struct {
	branch  files.ID
	objects map[object.Ref]*status.Object
}

// mostClusters is of how many clusters all is remembered.
const mostClusters = 1000

// said is what a status branch says of a namespace.
type said struct {
	cluster, namespace string
	branch             files.ID
}

// Objects returns what is said of the objects of a namespace in a cluster. That it cannot be read is
// that nothing is said.
func (r *Reader) Objects(m *reports.Cluster, namespace string) map[object.Ref]*status.Object {
	c := &r.objects
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || c.count > mostObjects {
		c.known, c.count = map[said]map[object.Ref]*status.Object{}, 0
	}
	at := said{m.Cluster, namespace, m.ReportID()}
	if known, ok := c.known[at]; ok {
		return known
	}
	objects, err := m.Objects(namespace)
	if err != nil {
		objects = nil
	}
	c.known[at] = objects
	c.count += len(objects) + 1
	return objects
}

// Everything returns what is said of all objects in a cluster. That it cannot be read is that nothing is said.
func (r *Reader) Everything(m *reports.Cluster) map[object.Ref]*status.Object {
	c := &r.objects
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.whole == nil || len(c.whole) > mostClusters {
		c.whole = map[string]wholeReport{}
	}
	if known, ok := c.whole[m.Cluster]; ok && known.branch == m.ReportID() {
		return known.objects
	}
	objects, err := m.Everything()
	if err != nil {
		objects = nil
	}
	c.whole[m.Cluster] = wholeReport{m.ReportID(), objects}
	return objects
}
