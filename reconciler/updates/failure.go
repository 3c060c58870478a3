package updates

import (
	"cmp"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/sources/words"
)

// Broken is why nothing is known of a policy that has a mistake, or whose repository has.
const Broken Why = "Broken"

// failures are the reasons for which somebody has to do something, or a registry.
var failures = []Why{NotAnswered, Unverified, Uneditable, MarkerBad, Unclear, Broken}

// Fails reports a reason for which somebody has to do something, or a registry, before anything new can be proposed.
func (w Why) Fails() bool { return slices.Contains(failures, w) }

// Judged notes of which subscriptions nothing new can be proposed, by what was said of them. As long as it is for the same
// reason, what is noted stays as it is. Of what a source that cannot be read in full does not have, it stays, too.
func (m *Memory) Judged(source *Source, all []Verdict, now time.Time) {
	is := map[images.Name]*Failure{}
	for n := range source.Broken {
		is[n] = &Failure{Why: Broken, Message: "the ImagePolicy, or its ImageRepository, has a mistake"}
	}
	known := map[images.Name]bool{}
	for i := range all {
		v := &all[i]
		known[v.Name()] = true
		if v.Why.Fails() {
			is[v.Name()] = &Failure{Why: v.Why, Message: words.Short(words.Printable(v.Message))}
		}
	}
	for n, r := range m.Policies {
		if r.Failure != nil && is[n] == nil && (known[n] || !source.Partial && !source.Unsure) {
			m.fail(n, nil)
		}
	}
	for n, f := range is {
		was := m.Policies[n].Failure
		if was != nil && was.Why == f.Why {
			continue
		}
		if f.Since = now.UTC().Truncate(time.Second); was != nil {
			f.Since = was.Since
		}
		m.fail(n, f)
	}
}

// fail notes why nothing new of a subscription can be proposed; nil for nothing.
func (m *Memory) fail(of images.Name, f *Failure) {
	r := m.Policies[of]
	r.Failure = f
	m.Policies[of] = r
}

// Remembered says what comes next for a subscription by what is remembered alone: versions, digests and failures are those that were
// seen when somebody looked last.
func Remembered(s *Subscription, f Facts) Verdict {
	v := Judge(s, f)
	switch failure := f.Memory.Policies[s.Name()].Failure; {
	case s.Why != "":
	case failure == nil && f.Memory.Repositories[s.Repository].Name == "":
		v.Refuse(NothingFits, "nobody has looked yet")
	case failure != nil:
		v.Refuse(failure.Why, failure.Message)
	case v.moved:
		v.Pin(cmp.Or(f.Memory.Repositories[s.Repository].Digests[v.Next.Tag], v.Current.Digest), f)
	}
	return v
}
