package reconciler

import (
	"errors"
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/sources/words"
)

// Event is something that happened to a cluster, for people who ask Kubernetes for Events.
type Event struct {
	Cluster string
	Warning bool
	Reason  string // one word, in CamelCase
	Message string
}

// longestMessage is how many bytes Kubernetes takes as the note of an Event.
const longestMessage = 1024

func event(cluster, reason, format string, args ...any) Event {
	message := fmt.Sprintf(format, args...)
	if len(message) > longestMessage {
		message = strings.ToValidUTF8(message[:longestMessage-3], "") + "..."
	}
	return Event{Cluster: cluster, Warning: true, Reason: reason, Message: message}
}

// Events are those of a round: at most one of what was done, and those of the credential.
func (a *Application) Events() []Event { return append(a.events(), a.credentialEvents()...) }

func (a *Application) events() []Event {
	plan := a.Report.Plan
	switch {
	case errors.Is(a.Err, clusters.ErrNoCredential):
		return []Event{event(a.Cluster, "NoCredential", "%v", a.Err)}
	case a.Err != nil:
		return []Event{event(a.Cluster, "ApplyFailed", "%v", a.Err)}
	case plan.Hold != nil:
		return []Event{event(a.Cluster, "ApplyHeld", "%s; nothing was done for commit %.12s", plan.Hold.Reason, a.Commit.String())}
	}
	if why := a.Report.Stopped; why != "" {
		return []Event{event(a.Cluster, "ApplyStopped", "%s; commit %.12s", why, a.Commit.String())}
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
		return []Event{event(a.Cluster, "ObjectsRefused", "%s of commit %.12s refused: %s", words.Count(len(refused), "object"), a.Commit.String(), strings.Join(refused, "; "))}
	case done > 0:
		e := event(a.Cluster, "Applied", "%s changed, to commit %.12s", words.Count(done, "object"), a.Commit.String())
		e.Warning = false
		return []Event{e}
	}
	return nil
}

// Events are those of a turn: one for each cluster that the guard holds.
func (s *Sync) Events() []Event {
	var all []Event
	for _, c := range s.Result.Plan.Clusters {
		if c.Held != nil {
			all = append(all, event(c.Name, "Held", "%s; it would lose %s, and nothing is published for it", c.Held.Reason, words.Count(len(c.Held.Removals), "object")))
		}
	}
	return all
}
