package updates

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies/imagepolicy"
	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/marker"
	"github.com/waybill-dev/waybill/render/subscribe"
	"github.com/waybill-dev/waybill/sources/lock"
)

// Why is why nothing is written for a subscription.
type Why string

// The reasons. Those of single versions are in package imagepolicy.
const (
	Suspended    Why = "Suspended"    // the policy, its repository or the automation that covers it says so
	NotAutomated Why = "NotAutomated" // no ImageUpdateAutomation of the source covers the policy
	Unclear      Why = "Unclear"      // none covers it, but one of its namespace has a mistake, or a part of the source cannot be read
	NoMarker     Why = "NoMarker"     // no value names it
	MarkerBad    Why = "MarkerBad"    // a marker of it is a mistake
	NotAnswered  Why = "NotAnswered"  // the registry did not say what there is
	NothingFits  Why = "NothingFits"  // none of the tags is a wanted version
	Unverified   Why = "Unverified"   // nobody whose keys count signed it
	Uneditable   Why = "Uneditable"   // its entry of the lock file is written in a way that cannot be changed alone
	UpToDate     Why = "UpToDate"     // nothing newer may be taken
)

// Verdict says what comes next for a subscription.
type Verdict struct {
	*Subscription

	Choice imagepolicy.Choice
	// Next is what is to be written; zero for nothing. Why is why it is nothing, and Message says it to people where there is
	// more to say.
	Next    marker.Image
	Why     Why
	Message string
	// Last is the version that was merged or committed last; nil where none is remembered.
	Last *Proposal
	// entry is what the lock file is to say of a chart.
	entry lock.Entry
	// moved says that the tag stays, and what it stands for does not.
	moved bool
	// signed says that somebody has to have signed it: what they sign is a digest, which is written therefore.
	signed bool
}

// Facts are what is known when subscriptions are judged.
type Facts struct {
	Now      time.Time
	Settings subscribe.Updates
	Memory   *Memory
	// Failed says of repositories why they did not answer.
	Failed map[string]error
}

// Judge says which version comes next, if any. Where Asks names a reference, the digest of it is to be told by Pin before
// anything is written; of a chart Lock tells the entry.
func Judge(s *Subscription, f Facts) Verdict {
	record := f.Memory.Policies[s.Name()]
	v := Verdict{Subscription: s, Why: s.Why, Last: record.Last, signed: s.Chart == nil && len(f.Settings.KeysOf(s.Repository)) > 0}
	known := f.Memory.Repositories[s.Repository]
	inUse := s.inUse(known.Digests)
	v.Choice = s.Rule.Choose(imagepolicy.Facts{
		Now: f.Now, Current: inUse, Tags: known.Known.Tags, FirstSeen: known.Seen,
		MinimumAge: f.Settings.MinimumAge.Duration, Major: f.Settings.Major, KeptBack: record.KeptBack,
	})
	switch err := f.Failed[s.Repository]; {
	case v.Why != "":
	case err != nil:
		v.Why, v.Message = NotAnswered, err.Error()
	case s.Chart != nil && !s.Chart.Moves() && slices.Contains(known.Known.Tags, s.Chart.Constraint):
		v.Why, v.Message = NothingFits, fmt.Sprintf("%q is no range there, but one of the versions", s.Chart.Constraint)
	case v.Choice.Tag != "" && v.signed && s.loose() != "":
		v.Why = Unverified
		v.Message = s.loose() + " says a tag, which may stand for something else after it was verified; let a value of that file say the digest"
	case v.Choice.Tag != "" && s.Chart != nil:
		v.Next = marker.Image{Tag: v.Choice.Tag}
	case v.Choice.Tag != "":
		v.Next = marker.Image{Name: s.Repository, Tag: v.Choice.Tag}
	case s.Chart != nil && s.Chart.Moves():
		v.Next, v.moved = marker.Image{Tag: s.Current.Tag}, true
	case s.follows(inUse) && slices.Contains(known.Known.Tags, inUse):
		v.Next, v.moved = marker.Image{Name: cmp.Or(s.Current.Name, s.Repository), Tag: inUse}, true
	case v.Choice.Fit == 0:
		v.Why, v.Message = NothingFits, fmt.Sprintf("none of %d tags is a version that is wanted", v.Choice.Unfit)
	default:
		v.Why = UpToDate
	}
	return v
}

// inUse is the tag that is in use; of a value that says a digest alone the newest one that stood for it when it was asked for.
func (s *Subscription) inUse(digests map[string]string) (tag string) {
	if s.Current.Tag != "" || s.Current.Digest == "" {
		return s.Current.Tag
	}
	for _, at := range sorted(digests) {
		if digests[at] == s.Current.Digest && (tag == "" || newer(s.Rule, at, tag)) {
			tag = at
		}
	}
	return tag
}

// follows reports a policy for which the digest of the tag in use is to be written.
func (s *Subscription) follows(inUse string) bool {
	if s.Chart != nil {
		return false
	}
	pinning := s.Policy.Pinning
	return inUse != "" && (pinning == images.PinAlways || pinning == images.PinIfNotPresent && s.Current.Digest == "")
}

// loose is a file in which more values say a tag alone than a digest; empty for none.
func (s *Subscription) loose() string {
	tags := map[string]int{}
	for i := range s.Markers {
		switch m := &s.Markers[i]; m.Part {
		case marker.Tag:
			tags[m.Pos.File]++
		case marker.Digest:
			tags[m.Pos.File]--
		case marker.Whole, marker.Name:
		}
	}
	for _, file := range sorted(tags) {
		if tags[file] > 0 {
			return file
		}
	}
	return ""
}

// pins reports that the digest is written, too.
func (v *Verdict) pins() bool {
	s := v.Subscription
	return v.signed || s.Chart != nil || s.Policy.Pinning != images.PinNever || s.Current.Digest != "" ||
		slices.ContainsFunc(s.Markers, func(m marker.Marker) bool { return m.Part == marker.Digest })
}

// Asks is the reference of which the digest is needed; empty for none.
func (v *Verdict) Asks() string {
	if v.Next == (marker.Image{}) || !v.pins() {
		return ""
	}
	return v.Repository + ":" + v.Next.Tag
}

// Moved reports that the tag stays: what is asked is whether its digest is another one. Then Pin tells the digest.
func (v *Verdict) Moved() bool { return v.moved }

// Pin tells the digest that the registry has for what is to be written.
func (v *Verdict) Pin(digest string, f Facts) {
	if v.pins() {
		v.Next.Digest = digest
	}
	if !v.moved {
		return
	}
	n := imagepolicy.Newer{Tag: v.Next.Tag + "@" + digest, Since: f.Now}
	if since, seen := f.Memory.Repositories[v.Repository].Seen[n.Tag]; seen {
		n.Since = since
	}
	switch why, kept := f.Memory.Policies[v.Name()].KeptBack[n.Tag]; {
	case digest == v.Current.Digest:
		v.Next, v.Why = marker.Image{}, UpToDate
		return
	case kept:
		n.Why, n.Message = imagepolicy.KeptBack, why
	case f.Now.Before(n.Since.Add(f.Settings.MinimumAge.Duration)):
		n.Why, n.Until = imagepolicy.TooYoung, n.Since.Add(f.Settings.MinimumAge.Duration)
	}
	if v.Choice.Newer = append(v.Choice.Newer, n); n.Why != "" {
		v.Next, v.Why = marker.Image{}, UpToDate
	}
}

// Refuse has nothing be written.
func (v *Verdict) Refuse(why Why, message string) {
	v.Next, v.Why, v.Message = marker.Image{}, why, message
}

// Key names what is to be written among versions that are kept back: the tag, or for a tag that moved tag@digest. Of a chart it is
// the version as its repository spells it.
func (v *Verdict) Key() string {
	switch {
	case v.moved:
		return v.Next.Tag + "@" + v.Next.Digest
	case v.Chart != nil:
		return v.Choice.Tag
	}
	return v.Next.Tag
}

// Takes reports that something is to be written.
func (v *Verdict) Takes() bool { return v.Next != (marker.Image{}) }

// Edit returns the files that change, by their paths, if all of these are written. Values of one policy change together or
// not at all.
func (s *Source) Edit(all []*Verdict) (map[string][]byte, error) {
	changed := map[string][]byte{}
	values := map[string]map[marker.Policy]marker.Image{} // by file, for an automation may leave files out
	for _, v := range all {
		for _, m := range v.Markers {
			if values[m.Pos.File] == nil {
				values[m.Pos.File] = map[marker.Policy]marker.Image{}
			}
			values[m.Pos.File][m.Policy] = v.Next
		}
	}
	if locked, is, err := s.relock(all); err != nil {
		return nil, err
	} else if is {
		changed[lock.FileName] = locked
	}
	for _, file := range sorted(values) {
		data, is, err := s.files[file].Write(values[file])
		if err != nil {
			return nil, fmt.Errorf("writing values of images: %w", err)
		}
		if is {
			changed[file] = data
		}
	}
	return changed, nil
}

// Due reports whether pull requests may be opened now, by a schedule: whether it came about since they were opened last.
// With no schedule they always may. A last time of tomorrow is that of a clock that was ahead, and counts for nothing.
func Due(schedule []Schedule, last, now time.Time) bool {
	if last.After(now.Add(24 * time.Hour)) {
		last = time.Time{}
	}
	return len(schedule) == 0 || slices.ContainsFunc(schedule, func(s Schedule) bool {
		at, ok := s.Last(now)
		return ok && at.After(last)
	})
}

// Schedule says when something came about last, and does next.
type Schedule interface {
	Last(now time.Time) (time.Time, bool)
	Next(now time.Time) (time.Time, bool)
}

// Next is when registries are to be asked again: when one of the lines of a schedule comes about, or, with none, when the first of the
// subscriptions has rested; zero for never.
func Next(now time.Time, schedule []Schedule, all []Subscription) (next time.Time) {
	earliest := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	for _, s := range schedule {
		if at, ok := s.Next(now); ok {
			earliest(at)
		}
	}
	if len(schedule) > 0 {
		return next
	}
	for i := range all {
		if all[i].Why == "" {
			earliest(now.Add(all[i].Interval()))
		}
	}
	return next
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Branch is the branch on which a subscription is proposed: the one that its automation pushes to, if that is no branch of
// Waybill's and not the base, or one of its own, of its namespace, or of all, as the group says.
func (s *Subscription) Branch(base, group string) string {
	if a := s.Automation; a != nil && a.Branch != "" && a.Branch != base && !strings.HasPrefix(a.Branch, "waybill/") {
		return a.Branch
	}
	switch group {
	case subscribe.GroupAll:
		return BranchPrefix + groupName
	case subscribe.GroupNamespace:
		return BranchPrefix + s.Name().Namespace + "/" + groupName
	}
	return BranchPrefix + s.Name().String()
}

// groupName ends the branch of several subscriptions. No policy is called so.
const groupName = "_all"

// BranchPrefix begins the branches on which versions are proposed.
const BranchPrefix = render.UpdatePrefix
