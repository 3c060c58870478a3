package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/words"
)

// mostChained is how many commits of the state branch a chain has at most, and mostWalked how many a cluster's branch may have since it
// begins: others may have put some there.
const (
	mostChained = 1000
	mostWalked  = 2 * mostChained
)

// Chain is the outcome of rebuilding commits of the state branch one by one, each from the one before, and the commits of clusters'
// branches that were published with them.
type Chain struct {
	From  string `json:"from"`  // the first commit of the state branch that was rebuilt
	To    string `json:"to"`    // and the last
	State int    `json:"state"` // how many of it were
	// Clusters is how many commits of clusters' branches were.
	Clusters int  `json:"clusters"`
	Same     bool `json:"same"`
	// Differing are the commits that are not what their sources give, and Unknown says which could not be rebuilt, and why; the oldest first.
	Differing []Verification `json:"differing,omitempty"`
	Unknown   []string       `json:"unknown,omitempty"`
}

// Chain rebuilds the state branch from a commit on or, without one, from the beginning of the oldest run that is open; where none is,
// of the run that began last. Begin is called with the number of commits, and what it returns when one of them is done.
func (v *Verifier) Chain(ctx context.Context, branch, from string, begin func(commits int) (part func())) (Chain, error) {
	if branch != state.Branch {
		return Chain{}, fmt.Errorf("--chain goes through %s, and not through %s; write: waybill verify %[1]s --chain", state.Branch, branch)
	}
	walk := v.afresh()
	heads, err := walk.branches.at(ctx)
	if err != nil {
		return Chain{}, err
	}
	at, err := walk.publishedNow(ctx, heads)
	if err != nil {
		return Chain{}, err
	}
	links, err := walk.links(ctx, heads[state.Branch], from)
	if err != nil {
		return Chain{}, err
	}
	walk.after = map[string]git.Head{}
	for _, l := range links {
		walk.after[named(l.Parent)] = l
	}
	shown := slices.DeleteFunc(slices.Sorted(maps.Keys(heads)), func(branch string) bool { return branch == state.Branch || !at.Has(branch) })
	if err := walk.branches.fetch(ctx, shown...); err != nil {
		return Chain{}, err
	}
	steps := make(map[string][]*subject, len(links))
	for _, branch := range shown {
		if err := walk.published(ctx, branch, heads[branch], steps); err != nil {
			return Chain{}, err
		}
	}
	c := Chain{From: links[0].Commit.String(), To: links[len(links)-1].Commit.String()}
	part := begin(len(links))
	for _, l := range links {
		if err := walk.link(ctx, &c, l, steps[named(l.Parent)]); err != nil {
			return c, err
		}
		part()
	}
	c.Same = len(c.Differing)+len(c.Unknown) == 0
	return c, nil
}

// Err is the error of a chain in which nothing is known to differ, and some commits could not be rebuilt; nil for any other.
func (c *Chain) Err() error {
	if len(c.Differing) > 0 || len(c.Unknown) == 0 {
		return nil
	}
	return fmt.Errorf("%s could not be rebuilt: %s", words.Count(len(c.Unknown), "commit"), c.Unknown[0])
}

// links are the commits of the state branch to be rebuilt, the oldest first.
func (v *Verifier) links(ctx context.Context, head files.ID, from string) (links []git.Head, err error) {
	if head.IsZero() {
		return nil, fmt.Errorf("nothing was published to %s yet", v.Published.Target.Name())
	}
	var runs map[string]bool
	for id := head; !id.IsZero(); {
		h, err := v.Published.Target.Commit(ctx, id)
		if err != nil {
			return nil, err
		}
		recorded, _ := state.Rollouts(h.Tree)
		if runs == nil {
			runs = runsOf(recorded)
		}
		isOlder := from == "" && !slices.ContainsFunc(recorded, func(r rollouts.Rollout) bool { return runs[r.Status.Run] })
		if isOlder && len(links) > 0 {
			break
		}
		if len(links) == mostChained {
			return nil, fmt.Errorf("there are more than %d commits; name a later one of %s with --from", mostChained, state.Branch)
		}
		links = append(links, h)
		if from != "" && strings.HasPrefix(h.Commit.String(), from) {
			slices.Reverse(links)
			return links, nil
		}
		id = h.Parent
	}
	if from != "" {
		return nil, fmt.Errorf("%s is no commit of %s", from, state.Branch)
	}
	slices.Reverse(links)
	return links, nil
}

// runsOf are the runs that are open or, if none is, the one that began last.
func runsOf(recorded []rollouts.Rollout) map[string]bool {
	runs, last := map[string]bool{}, (*rollouts.Rollout)(nil)
	for n := range recorded {
		switch r := &recorded[n]; {
		case r.Status.Run == "":
		case r.Status.Phase != rollouts.Done:
			runs[r.Status.Run] = true
		case last == nil || last.Status.StartTime.Before(&r.Status.StartTime):
			last = r
		}
	}
	if len(runs) == 0 && last != nil {
		runs[last.Status.Run] = true
	}
	return runs
}

// published adds the commits of a branch that were published with a link, by the commit of the state before it.
func (v *Verifier) published(ctx context.Context, branch string, id files.ID, steps map[string][]*subject) error {
	for range mostWalked {
		if id.IsZero() {
			return nil
		}
		h, _, err := v.Published.Target.Root(ctx, id)
		if err != nil {
			return err
		}
		before, isOurs := publish.Trailer(h.Message, publish.TrailerState), publish.Trailer(h.Message, publish.TrailerCommit) != ""
		switch _, isIn := v.after[before]; {
		case isOurs && !isIn:
			return nil // it is older than the chain
		case isOurs:
			s, err := v.subjectAt(ctx, branch, id)
			if err != nil {
				return err
			}
			steps[before] = append(steps[before], s)
		}
		id = h.Parent
	}
	return fmt.Errorf("%s has more than %d commits since the chain begins; name a later one of %s with --from", branch, mostWalked, state.Branch)
}

// subjectAt is a commit of a branch on which clusters are published.
func (v *Verifier) subjectAt(ctx context.Context, branch string, id files.ID) (*subject, error) {
	if s, isShared, err := v.shared(ctx, branch, id); err != nil || isShared {
		return s, err
	}
	h, err := v.Published.Target.Commit(ctx, id)
	return &subject{branch: branch, head: h, parts: []part{{address: render.ParseAddress(branch), root: h.Tree}}}, err
}

// named is a commit as trailers name it: empty for none.
func named(id files.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// link rebuilds a commit of the state branch, and what was published with it.
func (v *Verifier) link(ctx context.Context, c *Chain, h git.Head, with []*subject) error {
	c.State++
	if published.IsObservation(h) {
		if _, err := published.Planned(ctx, v.Published.Target, h); err != nil {
			c.Unknown = append(c.Unknown, err.Error())
		}
		return ctx.Err()
	}
	own := &subject{branch: state.Branch, head: h, parts: []part{{address: render.Address{Branch: state.Branch}, root: h.Tree}}}
	c.Clusters += len(with)
	for _, s := range append([]*subject{own}, with...) {
		is, err := v.rebuiltAs(ctx, s.branch, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		before := publish.Trailer(s.head.Message, publish.TrailerState)
		if s == own && before != named(h.Parent) && !h.Parent.IsZero() {
			is.Differences = append(is.Differences, fmt.Sprintf("it comes after %.12s, and was made from %.12s", h.Parent, before))
		}
		switch is.Same = len(is.Differences) == 0; {
		case err != nil:
			c.Unknown = append(c.Unknown, err.Error())
		case !is.Same:
			c.Differing = append(c.Differing, is)
		}
	}
	return nil
}
