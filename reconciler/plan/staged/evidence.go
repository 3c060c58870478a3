package staged

import (
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Seen is what is known of a cluster by what it reports.
type Seen struct {
	// Ref is where that stands, as waybill/status/eu@77d0....
	Ref string
	// IsSilent reports that the cluster does not answer, or that its report is too old to count.
	IsSilent bool
	// Commit of the cluster's branch is the one that was applied last.
	Commit  files.ID
	Objects map[object.Ref]Object // by the names that templates have
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

// evidence is what is known of the health of a unit in a cluster: what the first source says that says something. That the
// published bytes are there is enough for the last one, time, unless somebody could be asked who was not, or did not answer.
func (c *Cluster) evidence(sources []string, refs []object.Ref, of subject) stage.Evidence {
	if c.IsLost {
		e := stage.Evidence{Health: stage.Silent}
		if c.Seen != nil {
			e.Ref = c.Seen.Ref
		}
		return e
	}
	var silent stage.Evidence
	isAnswered := true // by whoever is to be asked before
	for _, source := range sources {
		var e stage.Evidence
		switch {
		case source == render.EvidenceStatus:
			e = reported(c.Seen, refs, of)
			e.IsOld = c.isOld(refs, of.published)
		case source == render.EvidenceCommitStatus && c.Posted == nil:
			silent.Health, isAnswered = stage.Unasked, false
		case source == render.EvidenceCommitStatus:
			e, isAnswered = c.Posted.evidence(c.paths(refs)), c.Posted.Failed == ""
		case source == render.EvidenceTimed && isAnswered:
			e = stage.Evidence{Health: stage.Healthy, IsPresent: true}
		}
		if e.Health != stage.Unknown {
			return e
		}
	}
	return silent
}

// AskEvery is how often a forge is asked about a cluster at most.
const AskEvery = time.Minute

// again is when evidence may be another one of which no branch tells: the forge may be asked again about clusters that are
// waited for, or what waits for nothing but time was published.
func (in *Input) again(out *stage.Output) (again recheck.Recheck) {
	if out.After == nil {
		return again
	}
	for _, name := range stage.Awaited(out.After) {
		i, known := in.index[name]
		if !known {
			continue
		}
		c := &in.Clusters[i]
		for _, source := range in.Evidence {
			if source == render.EvidenceStatus && c.Seen != nil {
				break
			}
			if source == render.EvidenceCommitStatus {
				again = again.By(in.Now.Add(AskEvery), in.Now)
			}
			if source == render.EvidenceTimed && !c.Held && out.After.Clusters[name].State != rollouts.Healthy {
				again = again.By(in.Now.Add(time.Second), in.Now)
			}
		}
	}
	return again
}

// reported is what a cluster reports of objects, as far as they are published
// there. It speaks of what is published if each of these objects is applied as it is published and nothing that
// was removed is there still; or if one of them was tried and refused. Seen may be nil.
func reported(seen *Seen, refs []object.Ref, of subject) stage.Evidence {
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
		b := of.published(r)
		switch {
		case b == nil && isSeen:
			e.IsPresent, e.Message = false, r.String()+" is there still"
		case b == nil:
		case isSeen && is.Refused != "" && is.Tried == b.ID():
			refused = true
			e = worse(e, stage.Failed, is.Since, r.String()+": "+is.Refused)
		case !isSeen || is.Applied != b.ID() && !of.isKnown(r, is.Applied):
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
