package place

import "encoding/json"

// Answers remembers what schedulers answered: requests that ask alike share one list of
// targets, which nobody may modify. It changes speed and memory only.
type Answers map[question]Decision

// question is all that an answer follows from, about a template of which it is neither
// known where it was nor where it may not be.
type question struct {
	scheduler        *Scheduler
	apiVersion, kind string
	replicas, most   int32
	requirements     string // as JSON
	components       int
	fresh            bool
}

// Schedule asks a scheduler, and the same question once.
func (a Answers) Schedule(s *Scheduler, r Request) Decision {
	if len(r.Previous)+len(r.Evicting) > 0 || r.Group != "" || r.AlsoServed != nil || r.Only != nil {
		return s.Schedule(r)
	}
	q := question{
		scheduler: s, apiVersion: r.APIVersion, kind: r.Kind,
		replicas: r.Replicas, most: r.Most, components: r.Components, fresh: r.Fresh,
	}
	if r.Requirements != nil {
		data, err := json.Marshal(r.Requirements)
		if err != nil {
			panic("place: requirements that were decoded from JSON do not encode: " + err.Error())
		}
		q.requirements = string(data)
	}
	known, ok := a[q]
	if !ok {
		known = s.Schedule(r)
		a[q] = known
	}
	return known
}
