package applier

import (
	"errors"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/events"
	"github.com/waybill-dev/waybill/sources/words"
)

// Events are those of a round: at most one of what was done, and those of the credential.
func (a *Result) Events() []events.Event { return append(a.events(), a.credentialEvents()...) }

func (a *Result) events() []events.Event {
	plan := a.Report.Plan
	switch {
	case errors.Is(a.Err, clusters.ErrNoCredential):
		return []events.Event{events.Warning(a.Cluster, "NoCredential", "%v", a.Err)}
	case a.Err != nil:
		return []events.Event{events.Warning(a.Cluster, "ApplyFailed", "%v", a.Err)}
	case plan.Hold != nil:
		return []events.Event{events.Warning(a.Cluster, "ApplyHeld", "%s; nothing was done for commit %.12s", plan.Hold.Reason, a.Commit.String())}
	}
	if why := a.Report.Stopped; why != "" {
		return []events.Event{events.Warning(a.Cluster, "ApplyStopped", "%s; commit %.12s", why, a.Commit.String())}
	}
	refused := make([]string, 0, len(plan.Refused))
	for _, r := range plan.Refused {
		refused = append(refused, r.Ref.String()+": "+r.Why)
	}
	done := 0
	for _, o := range a.Report.Outcomes {
		if o.Err != nil {
			refused = append(refused, o.Ref.String()+": "+o.Err.Error())
		} else {
			done++
		}
	}
	switch {
	case len(refused) > 0:
		return []events.Event{events.Warning(a.Cluster, "ObjectsRefused", "%s of commit %.12s refused: %s", words.Count(len(refused), "object"), a.Commit.String(), strings.Join(refused, "; "))}
	case done > 0:
		e := events.Warning(a.Cluster, "Applied", "%s changed, to commit %.12s", words.Count(done, "object"), a.Commit.String())
		e.Warning = false
		return []events.Event{e}
	}
	return nil
}
