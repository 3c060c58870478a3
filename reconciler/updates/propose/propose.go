// Package propose looks for new versions of images and charts and brings them to a source: it asks registries, remembers on a branch,
// and, as updates.mode says, pushes a branch a subscription and keeps a pull request for each at a forge, or commits to the branch that
// is followed. What is decided, package updates decides.
//
// A branch is pushed only if what it changes is another change than before, and only over a commit of Waybill's: as soon as
// somebody else's is on it, it is theirs, and nothing is written to it any more. The branch and what is remembered of it
// move in one push. With pull requests the branch that is followed is never pushed.
//
// Whoever is killed between two steps leaves nothing behind: what is to be closed, or was to be committed, is remembered before it is,
// and the next run goes on from there.
package propose

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/subscribe"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/git"
)

// Proposer brings new versions to one branch of a repository.
type Proposer struct {
	Repository published.Repository // which is pushed to
	Forge      forge.Proposer       // nil: there is none, so that there are no pull requests
	// Registries opens what is asked for a source with such a config, for one look.
	Registries func(render.ConfigSpec) (Registry, Catalog, error)
	Base       string // the branch that is followed
	Subdir     string // the folder of the source; empty for the root
	// Mode is the updates.mode that is expected of the source; empty: any.
	Mode subscribe.Mode
	// Scheduled has registries be asked only when the schedule of the source comes about, and Cache, unless it is nil, no more
	// often than each says.
	Scheduled bool
	Cache     *Cache
	// Load reads a snapshot of the source.
	Load   func(context.Context, sources.Snapshot) (render.Source, error)
	Charts Charts
	// Preview says as Markdown of at most limit bytes what going from one commit to another does to every cluster, and what that means for
	// roll-outs that are open.
	Preview func(ctx context.Context, base, head string, limit int) (string, updates.Effect, error)
	// Judge begins with a commit, and returns what says of versions of the source what going there does.
	Judge func(ctx context.Context, base string) (Judgement, error)
	// Rollouts are those that are recorded.
	Rollouts func(context.Context) ([]rollouts.Rollout, error)
	Now      func() time.Time
}

// Judgement says what going to a version of the source does.
type Judgement func(context.Context, sources.Snapshot) (updates.Effect, error)

// Outcome is what became of a branch.
type Outcome struct {
	Branch string   `json:"branch"`
	Of     []string `json:"of"` // the names of subscriptions
	Did    Did      `json:"did"`
	URL    string   `json:"url,omitempty"` // of the pull request
	Why    string   `json:"why,omitempty"`
}

// Did is what was done.
type Did string

// What may be done.
const (
	Opened    Did = "Opened"
	Edited    Did = "Edited" // it has another change
	Stays     Did = "Stays"
	Closed    Did = "Closed"    // what it proposed is not to be taken any more
	Merged    Did = "Merged"    // by updates.automerge
	Committed Did = "Committed" // to the branch that is followed
	Pushed    Did = "Pushed"    // to the branch that an automation names, without a pull request
	Waits     Did = "Waits"     // a limit, the schedule or a roll-out does not let it be done now
	Theirs    Did = "Theirs"    // somebody else's commit is on the branch
)

// Result is what a run found, and did.
type Result struct {
	Found    Found
	Outcomes []Outcome
	// Next is when there may be something to do though no branch moves; zero: at no time.
	Next time.Time

	heads map[string]files.ID // of branches, as they are now
	acted bool                // the branch that is followed moved, so that there may be more to do
}

// tries is how often a run begins again because somebody else was faster.
const tries = 3

// Run looks, and does what is to be done. After each commit to the branch that is followed it looks again: what the others do then is
// another question.
func (p *Proposer) Run(ctx context.Context) (Result, error) {
	var did []Outcome
	tried := map[int]bool{}
	for try := 1; ; {
		r, err := p.once(ctx, tried)
		if _, lost := errors.AsType[*git.RaceError](err); lost && try < tries {
			try++
			continue
		}
		if r.acted && err == nil {
			did = append(did, slices.DeleteFunc(r.Outcomes, func(o Outcome) bool { return o.Did == Waits || o.Did == Stays })...)
			continue
		}
		r.Outcomes = append(did, r.Outcomes...)
		return r, err
	}
}

// run is one look, and what is done about it.
type run struct {
	*Proposer

	now      time.Time
	base     git.Head
	snapshot sources.Snapshot // of the base
	heads    map[string]files.ID
	settings settings
	memory   *updates.Memory
	memoryAt git.Head
	merged   map[images.Name]bool // whose pull request the forge merged behind what was read of the base
	tried    map[int]bool         // pull requests that were to be merged already
	open     []string             // units whose run is open
	due      bool                 // the schedule, if there is one, lets something be begun
	waited   bool                 // what was due waits, for something that may be over soon
	judge    Judgement            // from the base; nil: nobody asked
	registry Registry             // which keeps no answers
	result   Result
}

// settings are those of the source that bound a run.
type settings struct {
	subscribe.Updates

	schedule []updates.Schedule
}

// commits reports that versions are committed, and no pull request is opened.
func (s *settings) commits() bool { return s.Mode == subscribe.ModeCommit }

// dueFor is for how long what was due, and waits, is tried again after the schedule came about.
const dueFor = time.Hour

// isFresh reports a schedule that came about a short while ago.
func (s *settings) isFresh(now time.Time) bool {
	return len(s.schedule) > 0 && updates.Due(s.schedule, now.Add(-dueFor), now)
}

func (p *Proposer) once(ctx context.Context, tried map[int]bool) (Result, error) {
	r := &run{Proposer: p, merged: map[images.Name]bool{}, tried: tried, now: p.Now().UTC().Truncate(time.Second)}
	err := r.look(ctx)
	r.result.heads = r.heads
	return r.result, err
}

// look looks, and does what is to be done.
func (r *run) look(ctx context.Context) error {
	if err := r.read(ctx); err != nil {
		return err
	}
	source, err := r.Load(ctx, r.snapshot)
	if err != nil {
		return fmt.Errorf("reading the source: %w", err)
	}
	if bad, is := source.BadConfig(); is {
		return &render.ConfigError{Diagnostic: bad}
	}
	if r.settings, err = r.settingsOf(&source.Config); err != nil {
		return err
	}
	subscribed, err := Subscribed(ctx, r.snapshot, &source, r.Charts)
	if err != nil {
		return err
	}
	if err := (&learner{r}).learn(ctx, subscribed.Subscriptions); err != nil {
		return err
	}
	r.result.Found.Source = subscribed
	if due := updates.Due(r.settings.schedule, r.memory.Looked, r.now); due || !r.Scheduled {
		if err := r.ask(ctx, subscribed, &source.Config); err != nil {
			return err
		}
		r.due = due
		err = r.act(ctx)
	} else {
		err = r.goOn(ctx)
	}
	r.result.Next = r.next()
	return err
}

// ask asks registries, and judges.
func (r *run) ask(ctx context.Context, subscribed updates.Source, config *render.ConfigSpec) error {
	registry, catalog, err := r.Registries(*config)
	if err != nil {
		return err
	}
	r.registry = registry
	looker := Looker{Registry: registry, Catalog: catalog, Memory: r.memory, Now: r.now}
	if r.Cache != nil {
		looker.Registry, looker.Catalog = r.Cache.over(registry, catalog, subscribed.Subscriptions, r.now)
	}
	r.result.Found, err = looker.Look(ctx, r.snapshot, subscribed, config.Updates)
	return err
}

// errOff says that nothing is done.
var errOff = errors.New("updates.mode of waybill.yaml is off, so that nothing is proposed; write updates: {mode: pullRequest}")

// settingsOf reads the settings of the source, which have to be those that are expected.
func (p *Proposer) settingsOf(config *render.ConfigSpec) (settings, error) {
	u := &config.Updates
	s := settings{Updates: *u}
	switch {
	case !u.Acts():
		return s, errOff
	case p.Mode != "" && u.Mode != p.Mode:
		flag := map[bool]string{true: "--commit", false: "--pull-request"}[s.commits()]
		return s, fmt.Errorf("updates.mode of waybill.yaml is %s, which waybill update %s carries out", u.Mode, flag)
	case p.Forge == nil && !s.commits():
		return s, errors.New("updates.mode of waybill.yaml is pullRequest, and no forge is named; give --forge, --forge-url and --forge-repository")
	}
	schedule, wrong := images.ReadSchedule(u)
	if len(wrong) > 0 {
		return s, &render.ConfigError{Diagnostic: wrong[0]}
	}
	for _, line := range schedule {
		s.schedule = append(s.schedule, line)
	}
	return s, nil
}

// read reads the base, and what is remembered.
func (r *run) read(ctx context.Context) error {
	var err error
	if r.heads, err = r.Repository.Heads(ctx); err != nil {
		return err
	}
	branches := []string{r.Base, updates.MemoryBranch}
	for name := range r.heads {
		if strings.HasPrefix(name, updates.BranchPrefix) {
			branches = append(branches, name)
		}
	}
	if err := r.Repository.Fetch(ctx, branches...); err != nil {
		return err
	}
	base, ok, err := r.Repository.Branch(ctx, r.Base)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%s has no branch %s; name the one that is followed with --base", r.Repository.Name(), r.Base)
	}
	r.base = base
	if r.memoryAt, _, err = r.Repository.Branch(ctx, updates.MemoryBranch); err != nil {
		return err
	}
	if r.memory, err = updates.Decode(r.memoryAt.Tree); err != nil {
		return err
	}
	if err := r.owns(r.memory); err != nil {
		return err
	}
	r.snapshot, err = r.Repository.Snapshot(ctx, base.Commit.String(), r.Subdir)
	return err
}

// owns is an error where another source of the repository has the memory, and the branches: either would close what the other one opens.
func (p *Proposer) owns(m *updates.Memory) error {
	is := strings.TrimSuffix(p.Base+":"+p.Subdir, ":")
	if was := m.Source; was != "" && was != is {
		return fmt.Errorf("branch %s of %s is that of the source %s, and this is %s: new versions are looked for in one source of a repository; "+
			"if this one took its place, write it as source into recent.json there", updates.MemoryBranch, p.Repository.Name(), was, is)
	}
	m.Source = is
	return nil
}

// isBefore reports whether a commit is another one, or in its history, for sure.
func (p *Proposer) isBefore(ctx context.Context, commit string, of files.ID) bool {
	id, err := files.ParseID(commit)
	if err != nil {
		return false
	}
	isBefore, err := p.Repository.IsAncestor(ctx, id, of)
	return id == of || isBefore && err == nil
}

// next is when there may be something to do though no branch moves.
func (r *run) next() time.Time {
	isRestless := r.Forge != nil && (len(r.memory.Closing) > 0 || r.settings.Automerge && len(r.memory.Open()) > 0)
	isStillDue := r.due && r.waited && r.settings.isFresh(r.now)
	if isRestless || isStillDue || len(r.settings.schedule) == 0 && r.result.Found.isUnanswered() {
		return r.now
	}
	return updates.Next(r.now, r.settings.schedule, r.result.Found.Source.Subscriptions)
}
