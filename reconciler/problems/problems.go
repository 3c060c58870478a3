// Package problems says what is broken in a fleet now, by what Git records and without a plan: errors in the source, clusters that do not
// take their branch, objects that are not healthy, what is held, roll-outs that stopped. What is alike is one problem, and
// what hurts most comes first.
//
// A cluster of which nobody reports is no problem: it is counted apart.
package problems

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
)

// Kind is what sort of a problem it is.
type Kind string

// The kinds, in the order in which problems are listed.
const (
	SourceError    Kind = "SourceError"    // an error in the source, or in what is made of it
	NotPlaced      Kind = "NotPlaced"      // a template that is not placed as its policy asks
	ClusterFailing Kind = "ClusterFailing" // a cluster that is not reached, or does not take its branch
	NotApplied     Kind = "NotApplied"     // an object that is not applied as it is published
	Unhealthy      Kind = "Unhealthy"      // an object that is applied and not healthy
	RolloutStopped Kind = "RolloutStopped" // a roll-out of which nothing more is released
	Held           Kind = "Held"           // a cluster whose removals wait for somebody
	Drifting       Kind = "Drifting"       // an object that somebody keeps changing
	Silent         Kind = "Silent"         // a cluster of which nothing was heard for too long
)

// kinds are all of them, in their order.
var kinds = []Kind{SourceError, NotPlaced, ClusterFailing, NotApplied, Unhealthy, RolloutStopped, Held, Drifting, Silent}

// Problem is something that is broken.
type Problem struct {
	Kind Kind `json:"kind"`
	// Name is what it is about: an object, a unit, a file, or a cluster's state.
	Name string `json:"name"`
	// Reason is why, as a word; empty where there is none. Message is for people.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Clusters are where it is so, in their order, and Of in how many the object should be; 0 where that is not the question.
	Clusters []string `json:"clusters,omitempty"`
	Of       int      `json:"of,omitempty"`
	// Since is since when, at the earliest of the clusters; zero where that is not known.
	Since time.Time `json:"since,omitzero"`
	// Commit is the source commit that brought what is broken; empty where that is not known.
	Commit string `json:"commit,omitempty"`
	// Author wrote that commit, and Subject is the first line of its message, where somebody looked.
	Author  string `json:"author,omitempty"`
	Subject string `json:"subject,omitempty"`
	// File and Line are the place in the source, if it has one.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Loses lists what held clusters would lose.
	Loses []string `json:"loses,omitempty"`
	// Next is what to type next, or to do.
	Next string `json:"next,omitempty"`

	object object.Ref // zero for none
}

// Object is the object that it is about; false for none.
func (p *Problem) Object() (object.Ref, bool) { return p.object, p.object != object.Ref{} }

// List is what is broken.
type List struct {
	Problems []Problem `json:"problems"`
	// More is how many errors of the source there are besides.
	More int `json:"more,omitempty"`
	// Unreported are clusters of which nobody reports.
	Unreported []string `json:"unreported,omitempty"`
	// Since is since when nothing is broken, at the latest: when the last cluster or object became as it is. Zero where something is, or
	// nobody reports.
	Since time.Time `json:"since,omitzero"`
	// Commit is the source commit that was published last, and Checked when this was read.
	Commit  string    `json:"commit"`
	Checked time.Time `json:"checked"`
}

// Input is what there is to list problems of.
type Input struct {
	Facts *facts.Facts
	// Objects returns what a cluster's report says of its objects.
	Objects func(*reports.Cluster) map[object.Ref]*status.Object
}

// Of lists what is broken: by kind, then what is in most clusters first, then by name.
func Of(in Input) List {
	f := in.Facts
	list := List{Commit: f.Fleet.Seen.Commit, Checked: f.At.UTC()}
	all := slices.Concat(placed(ofSource(f, &list), ofTemplates(f)), ofClusters(f), ofObjects(&in), ofRollouts(f), ofHolds(f))
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(
			slices.Index(kinds, a.Kind)-slices.Index(kinds, b.Kind), len(b.Clusters)-len(a.Clusters),
			strings.Compare(a.Name, b.Name), strings.Compare(a.Reason, b.Reason), strings.Compare(a.Commit, b.Commit),
		)
	})
	if list.Problems = all; len(all) == 0 && list.More == 0 {
		list.Since = lastChange(&in)
	}
	for i := range f.Fleet.Clusters {
		if m := &f.Fleet.Clusters[i]; m.State == status.Untold {
			list.Unreported = append(list.Unreported, m.Cluster)
		}
	}
	return list
}

// lastChange is when the last cluster or object became as it is, as far as it is reported; zero where nothing is.
func lastChange(in *Input) (last time.Time) {
	is := func(since time.Time) {
		if since.After(last) {
			last = since.UTC()
		}
	}
	for i := range in.Facts.Fleet.Clusters {
		m := &in.Facts.Fleet.Clusters[i]
		if m.Report == nil {
			continue
		}
		is(m.Report.Since)
		for _, o := range in.Objects(m) {
			is(o.Applied.Since)
			is(o.Health.Since)
		}
	}
	return last
}

// Caused returns the list with the source commits at which holds of publications began. Began, which is asked by when that was, returns
// an empty text for what it does not know.
func (l List) Caused(began func(since time.Time) string) List {
	l.Problems = slices.Clone(l.Problems)
	for i := range l.Problems {
		if p := &l.Problems[i]; p.Kind == Held && p.Commit != "" {
			p.Commit = cmp.Or(began(p.Since), p.Commit)
		}
	}
	return l
}

// Authored returns the list with who wrote the commits that brought problems. Author, which is asked once for each, returns nil for what
// it does not know.
func (l List) Authored(author func(commit string) *facts.Author) List {
	l.Problems = slices.Clone(l.Problems)
	known := map[string]*facts.Author{}
	for i := range l.Problems {
		p := &l.Problems[i]
		if p.Commit == "" {
			continue
		}
		a, isKnown := known[p.Commit]
		if !isKnown {
			a = author(p.Commit)
			known[p.Commit] = a
		}
		if a != nil {
			p.Author, p.Subject = a.Name, sources.Subject(a.Message)
		}
	}
	return l
}
