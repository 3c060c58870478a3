package staged

import (
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Seen is what is known of a cluster by what it reports, or by what somebody posted of it.
type Seen struct {
	// Ref is where that stands, as waybill/status/eu@77d0....
	Ref string
	// IsSilent reports that the cluster does not answer, or that its report is too old to count.
	IsSilent bool
	Objects  map[object.Ref]Object // by the names that templates have
}

// Object is what is known of an object in a cluster.
type Object struct {
	// Applied is the file that is applied, and Tried the one that was tried last; zero for none.
	Applied, Tried files.ID
	// Refused says why the cluster did not take what was tried; empty if it did.
	Refused string
	Health  stage.Health
	Since   time.Time // that health
	Message string
}

// evidence is what is known of the health of a unit in a cluster: of objects, as far as they are published
// there. It speaks of what is published if each of these objects is applied as it is published and nothing that
// was removed is there still; or if one of them was tried and refused. Seen may be nil.
func evidence(seen *Seen, refs []object.Ref, published func(object.Ref) *files.Blob) stage.Evidence {
	if seen == nil {
		return stage.Evidence{}
	}
	e := stage.Evidence{Ref: seen.Ref, Health: stage.Healthy, IsPresent: true}
	if seen.IsSilent {
		e.Health = stage.Silent
		return e
	}
	refused := false
	for _, r := range refs {
		is, isSeen := seen.Objects[r]
		b := published(r)
		switch {
		case b == nil && isSeen:
			e.IsPresent, e.Message = false, r.String()+" is there still"
		case b == nil:
		case isSeen && is.Refused != "" && is.Tried == b.ID():
			refused = true
			e = worse(e, stage.Failed, is.Since, r.String()+": "+is.Refused)
		case !isSeen || is.Applied != b.ID():
			e.IsPresent = false
		default:
			e = worse(e, is.Health, is.Since, r.String()+": "+is.Message)
		}
	}
	e.IsPresent = e.IsPresent || refused
	if e.Health == stage.Healthy {
		e.Message = ""
	}
	return e
}

// rank orders healths: the worst one is the unit's.
var rank = map[stage.Health]int{stage.Healthy: 0, stage.Progressing: 1, stage.Failed: 2}

// worse is evidence to which the health of an object is added. All are healthy since the last of them is, and one
// failed since the first did.
func worse(e stage.Evidence, h stage.Health, since time.Time, message string) stage.Evidence {
	switch {
	case rank[h] > rank[e.Health]:
		e.Health, e.Since, e.Message = h, since, message
	case rank[h] < rank[e.Health]:
	case h == stage.Failed && since.Before(e.Since), h != stage.Failed && since.After(e.Since):
		e.Since = since
	}
	return e
}
