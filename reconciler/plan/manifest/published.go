package manifest

import (
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/sources/files"
)

// Published is what clusters, by index, have of an object. Most of them have the same.
type Published struct {
	files []*files.Blob // nil for nothing
	of    []int         // which of them each cluster has
}

// NewPublished is what clusters have of an object, by the files that there are of it and which of these each has. A file that is nil
// is nothing. The lists must not be changed afterwards.
func NewPublished(list []*files.Blob, of []int) Published { return Published{list, of} }

// In is what a cluster has; nil for nothing.
func (p *Published) In(cluster int) *files.Blob { return p.files[p.of[cluster]] }

// Clusters are those that have anything of it.
func (p *Published) Clusters() groups.Set {
	return groups.Where(len(p.of), func(cluster int) bool { return p.In(cluster) != nil })
}
