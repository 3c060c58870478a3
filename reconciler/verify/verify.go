// Package verify rebuilds what is published from what its commits name, and compares it byte for byte.
package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/lastgood"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/words"
)

// Verifier rebuilds what is published from one source.
type Verifier struct {
	Planner   planner.Planner
	Published *published.Reader
	Version   string // of the running Waybill

	after    map[string]git.Head // commits of the state branch that are known, by the one before
	branches *branches
}

// New returns what rebuilds what is read of a source that is planned so, by a version of Waybill.
func New(p *planner.Planner, r *published.Reader, version string) *Verifier {
	return &Verifier{Planner: *p, Published: r, Version: version}
}

// Verification is the outcome of rebuilding a branch, or folders of one that clusters share.
type Verification struct {
	Branch      string   `json:"branch"`
	Folders     []string `json:"folders,omitempty"` // that were compared; none for the whole branch
	Commit      string   `json:"commit"`
	Source      string   `json:"sourceCommit"`
	Version     string   `json:"waybillVersion"` // that wrote the commit
	Same        bool     `json:"same"`
	Differences []string `json:"differences,omitempty"` // paths, or what else differs
}

// Verify rebuilds what is published from what its trailers name, and compares it byte for byte: the
// head of a branch or, for BRANCH:FOLDER or the name of a cluster, what is at that address. Of a branch
// that clusters share, these are the folders that its head was written for.
func (v *Verifier) Verify(ctx context.Context, what string) (Verification, error) {
	v = v.afresh()
	s, err := v.subject(ctx, what)
	if err != nil {
		return Verification{}, err
	}
	return v.rebuiltAs(ctx, what, s)
}

// rebuiltAs rebuilds a subject, which messages call what it was asked for as.
func (v *Verifier) rebuiltAs(ctx context.Context, what string, s *subject) (Verification, error) {
	is := Verification{
		Branch: s.branch, Commit: s.head.Commit.String(),
		Source: publish.Trailer(s.head.Message, publish.TrailerCommit), Version: publish.Trailer(s.head.Message, publish.TrailerVersion),
	}
	if is.Source == "" {
		return is, fmt.Errorf("the head of %s, %s, has no %s trailer: Waybill did not write it", what, is.Commit, publish.TrailerCommit)
	}
	for _, p := range s.parts {
		if p.address.Folder != "" {
			is.Folders = append(is.Folders, p.address.Folder)
		}
	}
	at := *v
	at.Planner.Subdir = publish.Trailer(s.head.Message, publish.TrailerPath)
	var err error
	is.Differences, err = at.differences(ctx, s)
	if err != nil {
		return is, fmt.Errorf("%s at %.12s could not be rebuilt: %w", what, is.Commit, err)
	}
	is.Same = len(is.Differences) == 0
	return is, nil
}

// differences rebuilds a commit and says in what it differs. Where it does for
// want of something that it was made from, or because another version wrote it, that is the
// error. What other clusters had when it was written is read only if something differs without it.
func (v *Verifier) differences(ctx context.Context, s *subject) ([]string, error) {
	differ, missing, err := v.compared(ctx, s)
	if err == nil && len(differ) > 0 {
		s.readsClusters = true
		differ, missing, err = v.compared(ctx, s)
	}
	if err != nil || len(differ) == 0 {
		return nil, err // whatever was missing, it was so then, too
	}
	if by := publish.Trailer(s.head.Message, publish.TrailerVersion); by != v.Version {
		return nil, fmt.Errorf("it was written by Waybill %s, and this is %s, which gives something else for %s", by, v.Version, words.List(differ))
	}
	return differ, missing
}

// compared rebuilds a commit and says in what it differs, and what was missing for that; nil for nothing.
func (v *Verifier) compared(ctx context.Context, s *subject) (differ []string, missing, err error) {
	p, obs, err := v.rebuild(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	if digest := publish.Trailer(s.head.Message, publish.TrailerFleet); digest != p.Basis.FleetDigest {
		differ = append(differ, fmt.Sprintf("the fleet: the commit saw %.12s, the source has %.12s", digest, p.Basis.FleetDigest))
	}
	for i := range s.parts {
		part := &s.parts[i]
		want, err := rebuilt(&p, part, &obs, s.head)
		if err != nil {
			return nil, nil, err
		}
		for c := range files.Diff(want, part.root) {
			differ = append(differ, part.address.Path(c.Path))
		}
	}
	if s.branch == state.Branch {
		for i := range p.Rollouts {
			for _, why := range p.Rollouts[i].Breaks {
				differ = append(differ, fmt.Sprintf("%s/%s: %s", rollouts.Folder, p.Rollouts[i].Unit, why))
			}
		}
	}
	return differ, wanting(&p, &obs.Input.Unresolved), nil
}

// wanting says what a plan was not given; nil for nothing.
func wanting(p *plan.Plan, d *lastgood.Unresolved) error {
	if d.OutOfReach != "" {
		return fmt.Errorf("commit %s of the source, from which it takes what is broken later, cannot be read; in a shallow clone, git fetch --unshallow gets it", d.OutOfReach)
	}
	if i := slices.IndexFunc(p.Diags, diag.Diagnostic.MayPass); i >= 0 {
		return errors.New(p.Diags[i].String())
	}
	return nil
}

// rebuild makes the plan that a commit was written by, and says what it is made from.
func (v *Verifier) rebuild(ctx context.Context, s *subject) (plan.Plan, planner.Observation, error) {
	head := s.head
	obs, err := v.then(ctx, s)
	if err != nil {
		return plan.Plan{}, obs, err
	}
	released := publish.ReadReleased(head.Message)
	replay, err := v.stateThen(ctx, head, s.branch, obs.Input.State)
	if err == nil {
		err = readable(&replay)
	}
	if err != nil {
		return plan.Plan{}, obs, fmt.Errorf("what was recorded with it cannot be read: %w", err)
	}
	if obs.Input.State.Commit == "" { // what was said of the random key before, it says, too
		obs.Input.State.Random = replay.Random
	}
	obs.Input.Replay = &plan.Replay{State: replay, Allowed: released.Held}
	if err := v.Planner.Mend(ctx, &obs, func(string) bool { return released.Missing }); err != nil {
		return plan.Plan{}, obs, err
	}
	if err := plan.Expand(&obs.Input, v.Planner.Renderer(ctx, obs.Snapshot)); err != nil {
		return plan.Plan{}, obs, err
	}
	obs.Input.Staging.Renderer = publish.Trailer(head.Message, publish.TrailerVersion)
	is, err := planned(ctx, v, &obs, s)
	return is, obs, err
}

// planned makes the plan, and makes it anew as long as it asks about older commits: about those that the plan asked about which is
// made again.
func planned(ctx context.Context, v *Verifier, obs *planner.Observation, s *subject) (plan.Plan, error) {
	for asked := plan.OlderCommits(&obs.Input); ; {
		if _, err := v.Planner.ReadOlder(ctx, obs, asked); err != nil {
			return plan.Plan{}, err
		}
		if err := others(ctx, v, obs, s); err != nil {
			return plan.Plan{}, err
		}
		is := plan.Build(obs.Input)
		if asked = is.Missing; len(asked) == 0 {
			return is, nil
		}
	}
}

// then collects what a plan was made from, by the trailers of a commit that it wrote.
func (v *Verifier) then(ctx context.Context, s *subject) (planner.Observation, error) {
	head := s.head
	snapshot, err := v.Planner.Source.Snapshot(ctx, publish.Trailer(head.Message, publish.TrailerCommit), v.Planner.Subdir)
	if err != nil {
		return planner.Observation{}, fmt.Errorf("its source commit cannot be read: %w", err)
	}
	src, err := v.Planner.Load(ctx, snapshot, render.With{})
	if err != nil {
		return planner.Observation{}, err
	}
	obs := v.Planner.Observe(snapshot, src, plan.Branch)
	if obs.Input.Random, err = v.randomOf(head); err != nil {
		return planner.Observation{}, err
	}
	obs.Input.Now = time.Time{}
	if at := publish.Trailer(head.Message, publish.TrailerTime); at != "" {
		if obs.Input.Now, err = time.Parse(time.RFC3339, at); err != nil {
			return planner.Observation{}, fmt.Errorf("reading the trailer %s: %w", publish.TrailerTime, err)
		}
	}
	if commit := publish.Trailer(head.Message, publish.TrailerState); commit != "" {
		before, err := v.commit(ctx, commit)
		if err != nil {
			return planner.Observation{}, err
		}
		if obs.Input.State, err = published.ReadState(before, nil); err == nil {
			err = readable(&obs.Input.State)
		}
		if err != nil {
			return planner.Observation{}, err
		}
	}
	for commit := range strings.FieldsSeq(publish.Trailer(head.Message, publish.TrailerAhead)) {
		obs.Ahead = append(obs.Ahead, state.Publication{Commit: commit})
	}
	for i := range s.parts {
		p := &s.parts[i]
		if p.cluster == "" && p.address.Branch != state.Branch {
			p.cluster, _ = src.Config.Publish.Addresses().Cluster(p.address.Branch)
		}
		if err := v.thenAt(ctx, &obs, p, head); err != nil {
			return planner.Observation{}, err
		}
	}
	return obs, nil
}

// readable refuses a state with a file that cannot be read: what was made up for it
// follows from every branch at that time.
func readable(s *state.State) error {
	if len(s.Unreadable) == 0 {
		return nil
	}
	u := s.Unreadable[0]
	return fmt.Errorf("%s of commit %s cannot be read: %s", u.Path, s.Commit, u.Reason)
}

// randomOf is what the plan of a commit drew from: the key whose fingerprint it names, or
// nothing.
func (v *Verifier) randomOf(head git.Head) (plan.Random, error) {
	want := publish.Trailer(head.Message, publish.TrailerRandomKey)
	if want == "" {
		return plan.Random{}, nil
	}
	if v.Planner.Random.Key.Fingerprint() != want {
		return plan.Random{}, fmt.Errorf("it depends on the random key %s; give that one with --random-key-file", want)
	}
	source := published.SourceID(publish.Trailer(head.Message, publish.TrailerRepository), publish.Trailer(head.Message, publish.TrailerPath))
	return plan.Random{Key: v.Planner.Random.Key, Source: source, Rotate: true}, nil
}

// stateThen returns the state that was published with a commit, on top of the one before:
// it records what was left as it was. Where the server took the one and not the other,
// nothing is recorded.
func (v *Verifier) stateThen(ctx context.Context, head git.Head, branch string, before state.State) (state.State, error) {
	if h, known := v.after[before.Commit]; known && branch != state.Branch {
		if !isOfOnePlan(h, head) {
			return state.State{}, nil
		}
		return published.ReadState(h, nil)
	}
	at, ok, err := head, true, error(nil)
	if branch != state.Branch {
		at, ok, err = v.Published.Target.Branch(ctx, state.Branch)
	}
	for ; err == nil && ok && at.Commit.String() != before.Commit; at, err = v.Published.Target.Commit(ctx, at.Parent) {
		first := at.Parent.IsZero()
		if first && before.Commit == "" || at.Parent.String() == before.Commit {
			if published.IsObservation(at) || !isOfOnePlan(at, head) {
				break // that one came later
			}
			return published.ReadState(at, nil)
		}
		if first {
			break
		}
	}
	return state.State{}, err
}

// isOfOnePlan reports commits on top of one state that one plan may have written: of the same commit of the source, and with the same leave
// to let go what is missing. One that has leave may come to some branches alone, and one without it is then the next that the state knows.
func isOfOnePlan(a, b git.Head) bool {
	return publish.Trailer(a.Message, publish.TrailerCommit) == publish.Trailer(b.Message, publish.TrailerCommit) &&
		publish.ReadReleased(a.Message).Missing == publish.ReadReleased(b.Message).Missing
}

func (v *Verifier) commit(ctx context.Context, hex string) (git.Head, error) {
	id, err := files.ParseID(hex)
	if err != nil {
		return git.Head{}, err
	}
	return v.Published.Target.Commit(ctx, id)
}
