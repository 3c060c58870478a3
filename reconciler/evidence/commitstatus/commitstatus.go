// Package commitstatus reads what Flux and Argo CD say of a cluster by commit statuses on the commits of its branch. It is
// pure: whoever asks a forge hands in what is shown.
//
// Whoever may set a status can lie about every cluster. So the statuses of those count whom the source names, and what
// others set is named and ignored.
package commitstatus

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/sources/forge"
)

// The contexts begin with these, and go on with the name of the cluster.
const (
	fluxPrefix   = "waybill/flux/"
	argocdPrefix = "waybill/argocd/"
)

// FluxContext is the context of what notification-controller says of a Kustomization.
func FluxContext(cluster, kustomization string) string {
	return fluxPrefix + cluster + "/" + kustomization
}

// IsFlux reports a context of notification-controller.
func IsFlux(context string) bool { return strings.HasPrefix(context, fluxPrefix) }

// LeastWait is for how long what Flux said has to be told to count for a while. It is twice the interval at which a Kustomization looks
// again: one that degrades before that may never say so.
const LeastWait = 20 * time.Minute

// LeastSettle is for how long a failure that Flux told has to last to count. It is twice the time after which a Kustomization that failed
// is tried again, as it is printed: the next attempt may mend it, and only then is that told.
const LeastSettle = 2 * time.Minute

// ArgoCDContext is the context of what Argo CD says of an Application.
func ArgoCDContext(cluster, application string) string {
	return argocdPrefix + cluster + "/" + application
}

// State is what statuses say of a cluster.
type State string

// The states.
const (
	// Silent is that nobody who counts said anything.
	Silent State = "Silent"
	// Progressing is that some success is not there yet.
	Progressing State = "Progressing"
	// Healthy is that all that sync the cluster have success.
	Healthy State = "Healthy"
	// Failed is that one failed, and none had at the commit before.
	Failed State = "Failed"
	// FailedBefore is that one failed, and that the commit before had a failure, or is not known. It counts for nothing:
	// a status speaks for the whole cluster.
	FailedBefore State = "FailedBefore"
)

// Commit is a commit of the cluster's branch, and what is shown at it.
type Commit struct {
	ID       string
	Statuses []forge.Status
}

// Question is what is asked of a cluster.
type Question struct {
	Cluster string
	// Kustomizations and Applications are the names of what syncs the cluster. Where both are named, those count of which
	// something was said.
	Kustomizations, Applications []string
	// Creators are the logins of those who count, without regard to case. None: nobody does.
	Creators []string
	// Commits are those whose tree holds what is asked about as it is published now, from the newest.
	Commits []Commit
	// Before is the commit before these; nil: what is shown there is not known.
	Before *Commit
}

// Spoken is a status, as it is recorded.
type Spoken struct {
	Context string      `json:"context"`
	Creator string      `json:"creator"`
	Commit  string      `json:"commit"`
	State   forge.State `json:"state"`
	At      time.Time   `json:"-"` // by the forge's clock: it is shown, and never counted
}

// Answer is what is known of the cluster.
type Answer struct {
	State State
	// Spoken are the statuses that count, by context; one of each.
	Spoken []Spoken
	// Missing are the contexts that have no success and no failure yet.
	Missing []string
	// Ignored are the statuses of these contexts by others than the creators, by context and creator.
	Ignored []Spoken
}

// Read answers a question.
func (q *Question) Read() (a Answer) {
	for _, contexts := range q.consumers() {
		spoken, missing := q.of(contexts)
		if len(spoken) == 0 {
			continue
		}
		a.Spoken, a.Missing = append(a.Spoken, spoken...), append(a.Missing, missing...)
	}
	a.Ignored = q.ignored()
	isBad := slices.ContainsFunc(a.Spoken, func(s Spoken) bool { return failed(s.State) })
	switch {
	case len(a.Spoken) == 0:
		a.State = Silent
	case isBad && q.wasBad():
		a.State = FailedBefore
	case isBad:
		a.State = Failed
	case len(a.Missing) > 0:
		a.State = Progressing
	default:
		a.State = Healthy
	}
	return a
}

// consumers are the contexts of Flux, and those of Argo CD.
func (q *Question) consumers() [2][]string {
	var flux, argocd []string
	for _, name := range q.Kustomizations {
		flux = append(flux, FluxContext(q.Cluster, name))
	}
	for _, name := range q.Applications {
		argocd = append(argocd, ArgoCDContext(q.Cluster, name))
	}
	return [2][]string{flux, argocd}
}

// of returns of each context the status that counts: the one that says success or failure on the newest commit that has one,
// else one that is pending. Missing are the contexts without success or failure.
func (q *Question) of(contexts []string) (spoken []Spoken, missing []string) {
	for _, context := range slices.Sorted(slices.Values(contexts)) {
		s, ok := q.last(context)
		if ok {
			spoken = append(spoken, s)
		}
		if !ok || s.State == forge.Pending {
			missing = append(missing, context)
		}
	}
	return spoken, missing
}

// last is the status that counts of a context.
func (q *Question) last(context string) (found Spoken, ok bool) {
	for _, c := range q.Commits {
		s, there := q.at(c, context)
		if there && s.State != forge.Pending {
			return s, true
		}
		if there && !ok {
			found, ok = s, true
		}
	}
	return found, ok
}

// at is the status of a context at a commit: of several creators who count the one who spoke last, or who says the worst.
func (q *Question) at(c Commit, context string) (found Spoken, ok bool) {
	for i := range c.Statuses {
		s := &c.Statuses[i]
		if s.Context != context || !q.counts(s.Creator) {
			continue
		}
		isLater := s.Time.After(found.At) || s.Time.Equal(found.At) && failed(s.State)
		if !ok || isLater {
			found, ok = spokenOf(c.ID, s), true
		}
	}
	return found, ok
}

// counts reports that a creator is one of those who count.
func (q *Question) counts(u forge.User) bool {
	return u.Login != "" && slices.ContainsFunc(q.Creators, func(login string) bool { return strings.EqualFold(login, u.Login) })
}

// ignored lists what others than the creators set.
func (q *Question) ignored() (all []Spoken) {
	consumers := q.consumers()
	contexts := slices.Concat(consumers[0], consumers[1])
	for _, c := range q.Commits {
		for i := range c.Statuses {
			if s := &c.Statuses[i]; slices.Contains(contexts, s.Context) && !q.counts(s.Creator) {
				all = append(all, spokenOf(c.ID, s))
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Spoken) int {
		return cmp.Or(cmp.Compare(a.Context, b.Context), cmp.Compare(a.Creator, b.Creator))
	})
	return all
}

// wasBad reports that the cluster may have failed before: the commit before has a failure, or is not known.
func (q *Question) wasBad() bool {
	if q.Before == nil {
		return true
	}
	for _, contexts := range q.consumers() {
		for _, context := range contexts {
			if s, ok := q.at(*q.Before, context); ok && failed(s.State) {
				return true
			}
		}
	}
	return false
}

// failed reports a failure, be it that something is not well or that it could not be looked at.
func failed(s forge.State) bool { return s == forge.Failure || s == forge.Broken }

func spokenOf(commit string, s *forge.Status) Spoken {
	return Spoken{Context: s.Context, Creator: s.Creator.Login, Commit: commit, State: s.State, At: s.Time}
}
