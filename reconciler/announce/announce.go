// Package announce says what a forge should show at a source commit: one commit status a
// fact, whatever the number of clusters, because forges bound how many statuses a commit may
// have, and people how many they read. It decides; a Forge sends.
//
// A status is sent when its state changes, not when its words do: that one cluster more has
// applied a commit is no news, and that all have is.
package announce

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/words"
)

// Fact is what a status is about. A forge shows "waybill/" and the fact as its context. Beside those below there is one for
// each unit that goes out in stages.
type Fact string

// The facts, each of which takes the one before it.
const (
	Published Fact = "published" // every cluster's branch is as the commit wants it
	Applied   Fact = "applied"   // every cluster that is pushed to took its branch
	Healthy   Fact = "healthy"   // and all of it is healthy
)

// Rollout is the fact that what moves together is out in every cluster, by its name, as "team/web".
func Rollout(unit string) Fact { return Fact("rollout/" + unit) }

// State is whether a fact is so.
type State string

// The states, as GitHub, GitLab and Gitea know them.
const (
	Pending State = "pending" // not yet
	Success State = "success"
	Failure State = "failure" // not, and not by itself
)

// Status is a commit status.
type Status struct {
	Commit      string // of the source
	Fact        Fact
	State       State
	Description string
}

// A Forge shows commit statuses. A later status of a commit and a fact stands in place of an
// earlier one.
type Forge interface {
	SetStatus(ctx context.Context, s Status) error
}

// shown is a repository of a forge.
type shown struct {
	forge forge.Forge
	page  string
}

// At returns the repository of a forge as what shows statuses. Page is where more is said; it may
// be empty. Nobody waits for it longer than a little: what cannot be sent now is sent later.
func At(f forge.Forge, page string) Forge { return shown{f, page} }

// sendTime is how long a status may take.
const sendTime = 10 * time.Second

// SetStatus implements Forge.
func (s shown) SetStatus(ctx context.Context, status Status) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	return s.forge.SetStatus(ctx, forge.Status{
		Commit: status.Commit, Context: "waybill/" + string(status.Fact), State: forge.State(status.State), Description: status.Description, URL: s.page,
	})
}

// Publication is what became of publishing a source commit.
type Publication struct {
	Commit string
	Held   int // clusters that were not published
	Errors int // of the source
}

// Decide returns the status of each fact, by what was published and how the clusters are.
func Decide(p Publication, fleet []status.ClusterHealth) []Status {
	pushed, applied, healthy, stuck := 0, 0, 0, 0
	for i := range fleet {
		s := &fleet[i]
		if s.Mode != karmada.Push || s.State == status.Empty {
			continue
		}
		pushed++
		switch s.State {
		case status.Healthy, status.Drifting:
			applied++
			healthy++
		case status.Unhealthy:
			applied++
		case status.Failing, status.Held, status.Errored:
			stuck++
		}
	}
	all := []Status{
		{Fact: Published, State: Success, Description: "every branch is as this commit wants it"},
		{Fact: Applied, State: reached(applied, pushed), Description: fmt.Sprintf("applied to %d of %d clusters", applied, pushed)},
		{Fact: Healthy, State: reached(healthy, pushed), Description: fmt.Sprintf("healthy in %d of %d clusters", healthy, pushed)},
	}
	if p.Held+p.Errors > 0 {
		all[0].State, all[0].Description = Failure, fmt.Sprintf("held: %s; the source has %s", words.Count(p.Held, "cluster"), words.Count(p.Errors, "error"))
	}
	if stuck > 0 {
		all[1].State, all[1].Description = Failure, fmt.Sprintf("%s; %d do not take it: waybill status says why", all[1].Description, stuck)
	}
	for i := range all {
		all[i].Commit = p.Commit
	}
	return all
}

func reached(n, of int) State {
	if n == of {
		return Success
	}
	return Pending
}

// News leaves of statuses those that have to be sent after those that were, the last of a
// fact being the one in force.
func News(sent, now []Status) []Status {
	latest := Latest(sent)
	return slices.DeleteFunc(slices.Clone(now), func(s Status) bool {
		return slices.ContainsFunc(latest, func(was Status) bool { return was.Commit == s.Commit && was.Fact == s.Fact && was.State == s.State })
	})
}

// Latest leaves of statuses the last of each fact.
func Latest(sent []Status) []Status {
	var latest []Status
	for _, s := range slices.Backward(sent) {
		if !slices.ContainsFunc(latest, func(later Status) bool { return later.Fact == s.Fact }) {
			latest = append(latest, s)
		}
	}
	return latest
}
