package status

import (
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// The standings of a cluster, besides the reasons of a Verdict that is not Applied.
const (
	Healthy   = "Healthy"   // all is applied and healthy
	Unhealthy = "Unhealthy" // all is applied, and something is not healthy
	Drifting  = "Drifting"  // all is applied and healthy, and somebody keeps changing it
	Behind    = "Behind"    // another commit is published than is applied
	Unknown   = "Unknown"   // nobody says, or said so long ago that it is not worth anything
	Untold    = "Untold"    // nobody says, and nobody is expected to: others apply the branch
	Empty     = "Empty"     // nothing was published for it yet
)

// Published is what is published for a cluster.
type Published struct {
	Cluster *karmada.Cluster
	Head    files.ID // of its branch; zero for none
	// Held says why the publication holds it; empty if it does not.
	Held string
	// Ignored says why what its status branch says does not count; empty if it does, or if there
	// is none.
	Ignored string
	// Lost says that nobody hears of whoever applies; empty if somebody does.
	Lost string
	// Refused says why what the agent observed last does not count; empty if it does.
	Refused string
}

// Report is what a status branch says, and when it was said.
type Report struct {
	Summary

	At time.Time
	// Objects are those that are asked for; nil if none are.
	Objects map[object.Ref]*Object
}

// ClusterHealth is how a cluster is.
type ClusterHealth struct {
	Cluster string
	Mode    karmada.ClusterSyncMode
	State   string
	Message string
	Head    files.ID // of its branch
	Report  *Report  // nil if there is none
}

// Well reports a standing about which nothing is to be done.
func (s *ClusterHealth) Well() bool {
	return s.State == Healthy || s.State == Drifting || s.State == Untold || s.State == Empty
}

// HealthOf says how a cluster is, by what is published for it and the word of who applies it,
// which may be nil. A word that is older than lasting is worth nothing.
func HealthOf(p Published, w *Report, now time.Time, lasting time.Duration) ClusterHealth {
	s := ClusterHealth{Cluster: p.Cluster.Name, Mode: p.Cluster.Spec.SyncMode, Head: p.Head, Report: w}
	switch {
	case p.Head.IsZero():
		s.State = Empty
	case p.Ignored != "":
		s.State, s.Message = Unknown, p.Ignored
	case p.Lost != "":
		s.State, s.Message = Unknown, p.Lost
	case w == nil && p.Cluster.Spec.SyncMode == karmada.Push:
		s.State, s.Message = Unknown, "nobody said yet what became of its branch"
	case w == nil:
		s.State, s.Message = Untold, "nobody reports"
	case now.Sub(w.At) > lasting:
		s.State, s.Message = Unknown, "nobody said anything since "+w.At.UTC().Format(time.RFC3339)
	case p.Held != "":
		s.State, s.Message = Held, p.Held
	case w.Verdict.Reason == Failing && w.Commit != p.Head:
		s.State, s.Message = Behind, w.Verdict.Message
	case w.Verdict.Reason != Applied:
		s.State, s.Message = w.Verdict.Reason, w.Verdict.Message
	case w.Commit != p.Head:
		s.State = Behind
	case w.Counts.Failed+w.Counts.Pending > 0:
		s.State = Failing
	case w.Counts.Healthy < w.Counts.Objects:
		s.State = Unhealthy
	case w.Counts.Drifting > 0:
		s.State = Drifting
	default:
		s.State = Healthy
	}
	if s.Message == "" {
		s.Message = p.Refused
	}
	return s
}

// Within leaves of a word what is in a namespace.
func (w *Report) Within(namespace string) {
	for r := range w.Objects {
		if r.Namespace != namespace {
			delete(w.Objects, r)
		}
	}
	w.Counts = count(w.Objects)
}

// Well reports an object about which nothing is to be done.
func (o *Object) Well() bool {
	return o.Applied.Phase == PhaseApplied && o.Applied.Corrected == 0 && o.Health.State == karmada.ResourceHealthy
}
