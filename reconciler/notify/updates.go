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
	v := comparison{was: was.Policies, is: is.Policies, then: before.At, now: now.At}
	names := slices.SortedFunc(maps.Keys(v.is), images.Name.Compare)
	return slices.Concat(v.failures(names), v.keptBack(names), v.proposed(names))
}

// comparison is what was known of subscriptions then, and what is now.
type comparison struct {
	was, is   map[images.Name]updates.Record
	then, now time.Time
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
	news := map[int][]images.Name{} // by the number of the pull request
	var order []int
	for _, n := range names {
		is, was := v.is[n].Proposal, v.was[n].Proposal
		if !is.IsOpen() || is.PullRequest == 0 || was != nil && was.PullRequest == is.PullRequest && was.Key == is.Key {
			continue
		}
		if news[is.PullRequest] == nil {
			order = append(order, is.PullRequest)
		}
		news[is.PullRequest] = append(news[is.PullRequest], n)
	}
	for _, number := range order {
		of := news[number]
		p := v.is[of[0]].Proposal
		e := Event{Kind: UpdateProposed, Update: of[0].String()}
		e.Message = fmt.Sprintf("pull request %d takes %s in place of %s", number, p.Key, p.From.Tag)
		if others := len(of) - 1; others > 0 {
			e.Message += ", and new versions of " + words.Count(others, "other")
		}
		if at, err := url.Parse(p.URL); err == nil && at.Host != "" && (at.Scheme == "https" || at.Scheme == "http") {
			e.PullRequest = p.URL
		}
		all = append(all, e)
	}
	return all
}
