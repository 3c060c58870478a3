package notify

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/words"
)

// failsLong is how long a registry may be away, or a policy be a mistake, before somebody is told.
const failsLong = 24 * time.Hour

// versions are what became of new versions of images and charts. Where what is remembered of them cannot be read there is
// nothing to tell.
func versions(before, now *facts.Facts) []Event {
	if before.Memory == nil || now.Memory == nil {
		return nil
	}
	was, err := before.Memory()
	if err != nil {
		return nil
	}
	is, err := now.Memory()
	if err != nil {
		return nil
	}
	v := comparison{was: was.Policies, is: is.Policies, then: before.At, now: now.At, site: now.Site}
	names := slices.SortedFunc(maps.Keys(v.is), images.Name.Compare)
	return slices.Concat(v.failures(names), v.keptBack(names), v.taken(names), v.proposed(names))
}

// comparison is what was known of subscriptions then, and what is now.
type comparison struct {
	was, is   map[images.Name]updates.Record
	then, now time.Time
	site      forge.Site
}

// failures are the subscriptions of which nothing new could be proposed for long, and those of which that is over.
func (v *comparison) failures(names []images.Name) (all []Event) {
	for _, n := range names {
		is := v.is[n].Failure
		switch isLong, wasLong := failed(is, v.now), failed(v.was[n].Failure, v.then); {
		case isLong && !wasLong:
			said := string(is.Why) + " since " + is.Since.UTC().Format("2006-01-02 15:04Z")
			if is.Message != "" {
				said += ": " + is.Message
			}
			all = append(all, Event{Kind: UpdateFailing, Update: n.String(), Message: said})
		case is == nil && wasLong:
			all = append(all, Event{Kind: Recovered, Update: n.String()})
		}
	}
	for _, n := range slices.SortedFunc(maps.Keys(v.was), images.Name.Compare) {
		if _, still := v.is[n]; !still && failed(v.was[n].Failure, v.then) {
			all = append(all, Event{Kind: Recovered, Update: n.String()})
		}
	}
	return all
}

// failed reports a failure that is old enough to be told.
func failed(f *updates.Failure, at time.Time) bool {
	return f != nil && !at.Before(f.Since.Add(failsLong))
}

// keptBack are the versions that are not proposed again, and were not kept back before.
func (v *comparison) keptBack(names []images.Name) (all []Event) {
	for _, n := range names {
		for _, key := range slices.Sorted(maps.Keys(v.is[n].KeptBack)) {
			if _, known := v.was[n].KeptBack[key]; !known {
				all = append(all, Event{Kind: UpdateKeptBack, Update: n.String(), Message: key + ": " + v.is[n].KeptBack[key]})
			}
		}
	}
	return all
}

// proposed are the pull requests that have another version than before, each once.
func (v *comparison) proposed(names []images.Name) (all []Event) {
	for _, of := range together(names, func(n images.Name) (number int, isNew bool) {
		is, was := v.is[n].Proposal, v.was[n].Proposal
		if !is.IsOpen() || is.PullRequest == 0 {
			return 0, false
		}
		return is.PullRequest, was == nil || was.PullRequest != is.PullRequest || was.Key != is.Key
	}) {
		p := v.is[of[0]].Proposal
		e := Event{Kind: UpdateProposed, Update: of[0].String(), PullRequest: addressOf(p)}
		e.Message = fmt.Sprintf("pull request %d takes %s in place of %s", p.PullRequest, p.Key, p.From.Tag) + others(of)
		all = append(all, e)
	}
	return all
}

// taken are the versions that were committed or merged, and were not before: those of one pull request, or of one commit, once.
func (v *comparison) taken(names []images.Name) (all []Event) {
	type change struct {
		pullRequest int
		commit      string // where there was no pull request
	}
	for _, of := range together(names, func(n images.Name) (c change, isNew bool) {
		is, was := v.is[n].Last, v.was[n].Last
		switch {
		case is == nil || was != nil && was.Key == is.Key && was.Merged == is.Merged:
			return c, false
		case is.PullRequest != 0:
			return change{pullRequest: is.PullRequest}, true
		}
		return change{commit: is.Merged}, true
	}) {
		p := v.is[of[0]].Last
		e := Event{Kind: UpdateMerged, Update: of[0].String(), Commit: p.Merged, CommitURL: v.site.Commit(p.Merged), PullRequest: addressOf(p)}
		by := "branch " + p.Branch + " was merged and"
		switch {
		case p.IsCommitted():
			e.Kind, by = UpdateCommitted, fmt.Sprintf("commit %.12s", p.Merged)
		case p.PullRequest != 0:
			by = fmt.Sprintf("pull request %d was merged and", p.PullRequest)
		}
		e.Message = fmt.Sprintf("%s takes %s in place of %s", by, p.Key, p.From.Tag) + others(of)
		all = append(all, e)
	}
	return all
}

// together are the subscriptions that share something, in the order of the first of each. A function says what, and of which there is
// something to tell.
func together[K comparable](names []images.Name, by func(images.Name) (shared K, tells bool)) (all [][]images.Name) {
	at := map[K]int{}
	for _, n := range names {
		shared, tells := by(n)
		if !tells {
			continue
		}
		if _, known := at[shared]; !known {
			at[shared] = len(all)
			all = append(all, nil)
		}
		all[at[shared]] = append(all[at[shared]], n)
	}
	return all
}

// others says of how many subscriptions besides the first there is something new.
func others(of []images.Name) string {
	if n := len(of) - 1; n > 0 {
		return ", and new versions of " + words.Count(n, "other")
	}
	return ""
}

// addressOf is the address of a pull request, if what is remembered is one.
func addressOf(p *updates.Proposal) string {
	if at, err := url.Parse(p.URL); err == nil && at.Host != "" && (at.Scheme == "https" || at.Scheme == "http") {
		return p.URL
	}
	return ""
}
