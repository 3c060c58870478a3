package status

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/words"
)

// Prefix is that of the branches; the name of the cluster follows.
const Prefix = "waybill/status/"

// ClusterOf returns the cluster that a branch is about; false if it is no status branch.
func ClusterOf(branch string) (string, bool) { return strings.CutPrefix(branch, Prefix) }

// The reasons of a cluster's Verdict.
const (
	Applied      = "Applied"      // all objects of the commit are
	Failing      = "Failing"      // some objects are not
	Held         = "Held"         // the guard holds removals, and nothing is done
	Errored      = "Error"        // the round did not come to its end
	Suspended    = "Suspended"    // nobody is to apply now
	Unreachable  = "Unreachable"  // the cluster does not answer, or is another one
	NoCredential = "NoCredential" //nolint:gosec // it is none: there is none to reach it with
)

// Verdict is how applying to a cluster went last.
type Verdict struct {
	Reason  string
	Message string // empty where all is well
}

// Looked reports whether somebody looked at the cluster.
func (v Verdict) Looked() bool {
	return v.Reason != Unreachable && v.Reason != NoCredential && v.Reason != Suspended
}

// Cluster is what is known of a cluster.
type Cluster struct {
	Summary

	Objects map[object.Ref]*Object
}

// Summary is what is known of a cluster as a whole.
type Summary struct {
	Name   string
	Branch string // that is applied to it
	// Commit of the branch, which the last round took that came to its end, and the source
	// commit that it was published from.
	Commit files.ID
	Source string
	// State is the commit of the state branch that was gone by last, while a head is refused that does not come after
	// it; zero otherwise.
	State   files.ID
	Verdict Verdict
	Since   time.Time // that verdict
	// Expires is when the credential does; zero if that is not known.
	Expires time.Time
	Counts  Counts
	// Edition is that of the rules by which the objects were judged; empty for those of a version that
	// did not say it. Flipped counts, by kind, what was healthy by the edition before, was not by
	// this one in the first round, and did not change between; a kind of which all is healthy again is
	// not in it.
	Edition string
	Flipped map[string]int
	// Refused are endpoints of services of other clusters that are not taken, and why: some of them, and More are not listed.
	Refused []Refusal
	More    int
}

// Refusal is that endpoints of another cluster are not taken: those of a service, or of one EndpointSlice of it.
type Refusal struct {
	From    string `json:"from"`
	Service string `json:"service,omitempty"` // as namespace/name; empty: of all
	Slice   string `json:"slice,omitempty"`
	Message string `json:"message"`
}

// Counts are numbers of objects.
type Counts struct {
	Objects   int `json:"objects"`
	Applied   int `json:"applied"`
	Failed    int `json:"failed"`
	Pending   int `json:"pending"`
	Leaving   int `json:"leaving"`
	Drifting  int `json:"drifting"`
	Healthy   int `json:"healthy"`
	Unhealthy int `json:"unhealthy"`
	Unknown   int `json:"unknown"`
}

// Phase is whether an object is applied.
type Phase string

// The phases. What is Failed may be there as an earlier commit had it.
const (
	PhaseApplied Phase = "Applied"
	PhaseFailed  Phase = "Failed"
	PhasePending Phase = "Pending" // it is not its turn yet: a hook failed, or an earlier wave is not healthy
	PhaseLeaving Phase = "Leaving" // it left the branch, and is still there
)

// Object is what is known of one object in a cluster.
type Object struct {
	Version  string // of its API
	Resource string // what its kind is called in paths of the API; empty if the cluster does not serve it
	Applied  Application
	Health   Health
	// Flaps counts how often the object changed its phase although it had just changed, since
	// its content was applied.
	Flaps int

	private bool
}

// Application is the fact that an API server accepted an object.
type Application struct {
	Phase Phase
	// Commit of the branch whose content is there, and the source commit that it was published
	// from; zero if none was accepted.
	Commit files.ID
	Source string
	// Message says why a commit is not applied.
	Message string
	// Corrected counts the rounds in a row that had to put right what somebody changed.
	Corrected int
	Since     time.Time
}

// Health is the fact that an object is healthy, or not.
type Health struct {
	// State says whether the object is done.
	State           karmada.ResourceHealth
	Reason, Message string
	// By names the rules that say why the object is not done; empty where it is.
	By string
	// Karmada and KarmadaSince are Karmada's answer, and since when it is so, where they are not
	// State and Since.
	Karmada              karmada.ResourceHealth
	KarmadaSince         time.Time
	Generation, Observed int64
	Status               json.RawMessage
	Since                time.Time
	// Pods are what pods of an object that is not healthy say, the commonest first, and PodsUnknown why they could not be asked.
	Pods        []health.Pods
	PodsUnknown string
}

// Why is why the object is not healthy, as a word: what its pods say if they say it, or else the rule's.
func (h *Health) Why() string {
	if len(h.Pods) > 0 {
		return h.Pods[0].Reason
	}
	return h.Reason
}

// PodWords is what pods say, in words; empty where they say nothing.
func (h *Health) PodWords() string {
	var all []string
	for _, p := range h.Pods {
		text := words.Count(p.Count, "pod") + " " + p.Reason
		if p.Container != "" {
			text += " in " + p.Container
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// ByKarmada returns Karmada's answer, and since when it is so.
func (h *Health) ByKarmada() (state karmada.ResourceHealth, since time.Time) {
	state, since = h.State, h.Since
	if h.Karmada != "" {
		state = h.Karmada
	}
	if !h.KarmadaSince.IsZero() {
		since = h.KarmadaSince
	}
	return state, since
}

// phase is what makes a commit due when it changes. That of a cluster has a verdict, and that
// of an object has none.
type phase struct {
	applied   Phase
	commit    files.ID
	corrected bool
	state     karmada.ResourceHealth
	karmada   karmada.ResourceHealth
	reason    string
	pods      string // the first reason of pods
	verdict   string
	edition   string
	expires   int64
	refused   string
}

func (o *Object) phase() phase {
	p := phase{applied: o.Applied.Phase, commit: o.Applied.Commit, corrected: o.Applied.Corrected > 0, state: o.Health.State, karmada: o.Health.Karmada, reason: o.Health.Reason}
	if len(o.Health.Pods) > 0 {
		p.pods = o.Health.Pods[0].Reason
	}
	return p
}

// isSaidOtherwise reports a phase that is another one only by what pods say.
func (p phase) isSaidOtherwise(was phase) bool {
	was.pods = p.pods
	return p == was
}

// mends reports that all that is another than it was is well now. What is updated gets well in steps: by Karmada's rules
// while old pods serve, and later as a whole.
func (p phase) mends(was phase) bool {
	if p.applied == PhaseApplied {
		was.applied = p.applied
	}
	if !p.corrected {
		was.corrected = false
	}
	if p.state == karmada.ResourceHealthy {
		was.state, was.reason, was.pods = p.state, p.reason, p.pods
	}
	if cmp.Or(p.karmada, p.state) == karmada.ResourceHealthy {
		was.karmada = p.karmada
	}
	if p.verdict == Applied {
		was.verdict = p.verdict
	}
	return p == was
}

func (s *Summary) phase() phase {
	p := phase{verdict: s.Verdict.Reason, commit: s.Commit, edition: s.Edition}
	if !s.Expires.IsZero() {
		p.expires = s.Expires.Unix()
	}
	if len(s.Refused) > 0 {
		p.refused = fmt.Sprint(s.Refused, s.More)
	}
	return p
}

// count counts the objects.
func count(objects map[object.Ref]*Object) Counts {
	c := Counts{Objects: len(objects)}
	for _, o := range objects {
		switch o.Applied.Phase {
		case PhaseApplied:
			c.Applied++
		case PhaseFailed:
			c.Failed++
		case PhasePending:
			c.Pending++
		case PhaseLeaving:
			c.Leaving++
		}
		if o.Applied.Corrected > 0 {
			c.Drifting++
		}
		switch o.Health.State {
		case karmada.ResourceHealthy:
			c.Healthy++
		case karmada.ResourceUnhealthy:
			c.Unhealthy++
		default:
			c.Unknown++
		}
	}
	return c
}

// judged returns a health with the times since which it is so, by what was known before.
func judged(h health.Health, before Health, at time.Time) Health {
	now := Health{State: h.State, Karmada: h.Karmada, Reason: h.Reason, Message: h.Message, By: h.By, Generation: h.Generation, Observed: h.Observed, Status: h.Status, Since: at}
	if h.Reason == "" {
		now.By, now.Message = "", h.Failed
	}
	now.Pods, now.PodsUnknown = h.Pods, h.PodsUnknown
	if before.State == now.State && before.Reason == now.Reason && !before.Since.IsZero() {
		now.Since = before.Since
		if h.Pods == nil && h.PodsUnknown == "" { // nobody asked again
			now.Pods, now.PodsUnknown = before.Pods, before.PodsUnknown
		}
	}
	state, _ := now.ByKarmada()
	if was, since := before.ByKarmada(); was == state && !since.IsZero() && !since.Equal(now.Since) {
		now.KarmadaSince = since
	} else if was != state && !now.Since.Equal(at) {
		now.KarmadaSince = at
	}
	return now
}
