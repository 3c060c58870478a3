package propose

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/git"
)

// Proposer proposes new versions to one branch of a repository.
type Proposer struct {
	Repository published.Repository // which is pushed to
	Forge      forge.Proposer
	Registry   Registry
	Catalog    func() Catalog // for one look
	Base       string         // the branch that pull requests are for
	Subdir     string         // the folder of the source; empty for the root
	// Load reads a snapshot of the source.
	Load   func(context.Context, sources.Snapshot) (render.Source, error)
	Charts Charts
	// Preview says as Markdown of at most limit bytes what going from one commit to another does to every cluster.
	Preview func(ctx context.Context, base, head string, limit int) (string, error)
	// Rollouts are those that are recorded.
	Rollouts func(context.Context) ([]rollouts.Rollout, error)
	Now      func() time.Time
}

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
	Opened Did = "Opened"
	Edited Did = "Edited" // it has another change
	Stays  Did = "Stays"
	Closed Did = "Closed" // what it proposed is not to be taken any more
	Waits  Did = "Waits"  // a limit or the schedule lets none be opened now
	Theirs Did = "Theirs" // somebody else's commit is on the branch
)

// Result is what a run found, and did.
type Result struct {
	Found    Found
	Outcomes []Outcome
}

// tries is how often a run begins again because somebody else was faster.
const tries = 3

// Run looks once, and proposes what is to be taken.
func (p *Proposer) Run(ctx context.Context) (Result, error) {
	for try := 1; ; try++ {
		r, err := p.once(ctx)
		if _, lost := errors.AsType[*git.RaceError](err); !lost || try == tries {
			return r, err
		}
	}
}

// run is one look, and what is done about it.
type run struct {
	*Proposer

	now      time.Time
	base     git.Head
	heads    map[string]files.ID
	settings settings
	memory   *updates.Memory
	memoryAt git.Head
	merged   map[images.Name]bool // whose pull request the forge merged behind what was read of the base
	open     []string             // units whose run is open
	result   Result
}

// settings are those of the source that bound a run.
type settings struct {
	group         string
	open, perHour int
	schedule      []updates.Schedule
}

func (p *Proposer) once(ctx context.Context) (Result, error) {
	r := &run{Proposer: p, merged: map[images.Name]bool{}, now: p.Now().UTC().Truncate(time.Second)}
	snapshot, err := r.read(ctx)
	if err != nil {
		return r.result, err
	}
	source, err := p.Load(ctx, snapshot)
	if err != nil {
		return r.result, fmt.Errorf("reading the source: %w", err)
	}
	if bad, is := source.BadConfig(); is {
		return r.result, &render.ConfigError{Diagnostic: bad}
	}
	if !source.Config.Updates.Acts() {
		return r.result, errOff
	}
	u := &source.Config.Updates
	r.settings = settings{group: u.Group, open: u.Limits.Open, perHour: u.Limits.PerHour}
	schedule, wrong := images.ReadSchedule(&source.Config.Updates)
	if len(wrong) > 0 {
		return r.result, &render.ConfigError{Diagnostic: wrong[0]}
	}
	for _, s := range schedule {
		r.settings.schedule = append(r.settings.schedule, s)
	}
	subscribed, err := Subscribed(ctx, snapshot, &source, p.Charts)
	if err != nil {
		return r.result, err
	}
	if err := r.learn(ctx, subscribed.Subscriptions); err != nil {
		return r.result, err
	}
	looker := Looker{Registry: p.Registry, Catalog: p.Catalog(), Memory: r.memory, Now: r.now}
	if r.result.Found, err = looker.Look(ctx, snapshot, subscribed, source.Config.Updates); err != nil {
		return r.result, err
	}
	return r.result, r.act(ctx)
}

// errOff says that nothing is proposed.
var errOff = errors.New("updates.mode of waybill.yaml is off, so that nothing is proposed; write updates: {mode: pullRequest}")

// read reads the base, and what is remembered.
func (r *run) read(ctx context.Context) (sources.Snapshot, error) {
	var err error
	if r.heads, err = r.Repository.Heads(ctx); err != nil {
		return nil, err
	}
	branches := []string{r.Base, updates.MemoryBranch}
	for name := range r.heads {
		if strings.HasPrefix(name, updates.BranchPrefix) {
			branches = append(branches, name)
		}
	}
	if err := r.Repository.Fetch(ctx, branches...); err != nil {
		return nil, err
	}
	base, ok, err := r.Repository.Branch(ctx, r.Base)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%s has no branch %s; name the one that pull requests are for with --base", r.Repository.Name(), r.Base)
	}
	r.base = base
	if r.memoryAt, _, err = r.Repository.Branch(ctx, updates.MemoryBranch); err != nil {
		return nil, err
	}
	if r.memory, err = updates.Decode(r.memoryAt.Tree); err != nil {
		return nil, err
	}
	return r.Repository.Snapshot(ctx, base.Commit.String(), r.Subdir)
}

// learn notes what people and roll-outs made of earlier proposals.
func (r *run) learn(ctx context.Context, all []updates.Subscription) error {
	r.memory.Learn(all, r.base.Commit.String())
	ask := askOnce(ctx, r.Forge)
	for _, n := range r.memory.Open() {
		p := r.memory.Policies[n].Proposal
		if p.PullRequest == 0 {
			continue
		}
		is, err := ask(p.PullRequest)
		if errors.Is(err, forge.ErrNotFound) || err == nil && !is.Open && is.Merged == "" {
			r.memory.KeepBack(n, p.Key, fmt.Sprintf("pull request %d was closed", p.PullRequest))
			r.memory.Propose(n, nil)
		} else if err != nil {
			return err
		} else if is.Merged != "" {
			merged := *p
			merged.Merged = is.Merged
			r.memory.Propose(n, &merged)
			r.merged[n] = !r.isBefore(ctx, is.Merged, r.base.Commit)
		}
	}
	known := slices.DeleteFunc(slices.Clone(all), func(s updates.Subscription) bool { return r.merged[s.Name()] })
	r.memory.Learn(known, r.base.Commit.String()) // what was merged and reverted since the last run
	return r.keptByRollouts(ctx, all)
}

// askOnce asks a forge for pull requests, for each once.
func askOnce(ctx context.Context, at forge.Proposer) func(number int) (forge.PullRequest, error) {
	type answer struct {
		forge.PullRequest
		err error
	}
	asked := map[int]answer{}
	return func(number int) (forge.PullRequest, error) {
		a, is := asked[number]
		if !is {
			a.PullRequest, a.err = at.PullRequest(ctx, number)
			asked[number] = a
		}
		return a.PullRequest, a.err
	}
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

// keptByRollouts keeps back what values were at the target of a roll-out that stopped or went back, if they were others at
// its base.
func (r *run) keptByRollouts(ctx context.Context, all []updates.Subscription) error {
	recorded, err := r.Rollouts(ctx)
	if err != nil {
		return err
	}
	for i := range recorded {
		st := &recorded[i].Status
		if st.Phase != rollouts.Done {
			r.open = append(r.open, recorded[i].Unit.String())
		}
		ended := st.Phase == rollouts.Stopped || st.Phase == rollouts.Returning || st.Reason == rollouts.KeptBack
		if !ended || !st.Base.IsKnown() || !st.Target.IsKnown() {
			continue
		}
		if err := r.keptByRollout(ctx, &recorded[i], all); err != nil {
			return err
		}
	}
	slices.Sort(r.open)
	return nil
}

// keptByRollout keeps back what values were at the target of one roll-out, if they were others at its base.
func (r *run) keptByRollout(ctx context.Context, of *rollouts.Rollout, all []updates.Subscription) error {
	before, err := r.valuesAt(ctx, of.Status.Base.Commit, all)
	if err != nil {
		return err
	}
	after, err := r.valuesAt(ctx, of.Status.Target.Commit, all)
	if err != nil {
		return err
	}
	for n := range all {
		name := all[n].Name()
		was, is := before[name], after[name]
		if is == was || is.Tag == "" {
			continue
		}
		key := is.Tag
		if is.Tag == was.Tag {
			key = is.Tag + "@" + is.Digest
		}
		why := fmt.Sprintf("the roll-out of %s to %.12s did not go through (%s)", of.Unit, of.Status.Target.Commit, of.Status.Phase)
		r.memory.KeepBack(name, key, why)
	}
	return nil
}

// act proposes, a branch after the other.
func (r *run) act(ctx context.Context) error {
	byBranch := map[string][]*updates.Verdict{}
	for i := range r.result.Found.Verdicts {
		v := &r.result.Found.Verdicts[i]
		if v.Takes() && !r.merged[v.Name()] { // whether it was reverted since is known the next time
			branch := v.Branch(r.Base, r.settings.group)
			byBranch[branch] = append(byBranch[branch], v)
		}
	}
	hourAgo := r.now.Add(-time.Hour)
	r.memory.Opened = slices.DeleteFunc(slices.Clone(r.memory.Opened), func(t time.Time) bool { return !t.After(hourAgo) })
	due := updates.Due(r.settings.schedule, r.memory.Looked, r.now)
	if due && len(r.settings.schedule) > 0 {
		r.memory.Looked = r.now
	}
	obsolete := r.obsolete(byBranch)
	var changes []*change
	for _, branch := range slices.Sorted(maps.Keys(byBranch)) {
		c, err := r.change(ctx, branch, byBranch[branch])
		if err != nil {
			return err
		}
		if c != nil && r.allowed(c, due) {
			changes = append(changes, c)
		}
	}
	if err := r.push(ctx, changes); err != nil {
		return err
	}
	if err := r.close(ctx, obsolete); err != nil {
		return errors.Join(err, r.remember(ctx)) // what could not be closed is closed the next time
	}
	for _, c := range changes {
		if err := r.show(ctx, c); err != nil {
			return errors.Join(err, r.remember(ctx)) // what is open already is not opened again
		}
	}
	return r.remember(ctx)
}

// allowed reports whether a change may be proposed now. One that has a pull request already always may.
func (r *run) allowed(c *change, due bool) bool {
	if c.was != nil {
		return true
	}
	open := map[string]bool{}
	for _, n := range r.memory.Open() {
		open[r.memory.Policies[n].Proposal.Branch] = true
	}
	why := ""
	switch {
	case !due:
		why = "the schedule has not come about since pull requests were opened last"
	case len(open) >= r.settings.open:
		why = fmt.Sprintf("%d pull requests are open, and updates.limits.open is %d", len(open), r.settings.open)
	case len(r.memory.Opened) >= r.settings.perHour:
		why = fmt.Sprintf("%d were opened in the last hour, and updates.limits.perHour is %d", len(r.memory.Opened), r.settings.perHour)
	}
	if why != "" {
		r.say(c, Waits, "", why)
		return false
	}
	r.memory.Opened = append(r.memory.Opened, r.now)
	c.note(r.memory)
	return true
}

// say notes what became of a branch.
func (r *run) say(c *change, did Did, url, why string) {
	o := Outcome{Branch: c.branch, Did: did, URL: url, Why: why}
	for _, v := range c.verdicts {
		o.Of = append(o.Of, v.Name().String())
	}
	r.result.Outcomes = append(r.result.Outcomes, o)
}

// obsolete are the proposals of what is not to be taken any more, by their policies; it forgets them. Their pull requests are
// closed when that is remembered: one that is closed before would be taken for one that a person closed.
func (r *run) obsolete(wanted map[string][]*updates.Verdict) map[images.Name]*updates.Proposal {
	all := map[images.Name]*updates.Proposal{}
	for _, n := range r.memory.Open() {
		p := r.memory.Policies[n].Proposal
		isWanted := slices.ContainsFunc(wanted[p.Branch], func(v *updates.Verdict) bool { return v.Name() == n })
		if isWanted || r.result.Found.rests(n) {
			continue
		}
		r.memory.Propose(n, nil)
		if len(wanted[p.Branch]) == 0 && p.PullRequest != 0 {
			all[n] = p
		}
	}
	return all
}

// close closes the pull requests of proposals, unless somebody else's commit is on their branch. It remembers again those that it
// could not close.
func (r *run) close(ctx context.Context, all map[images.Name]*updates.Proposal) error {
	var failed error
	closed := map[int]bool{}
	for _, n := range slices.SortedFunc(maps.Keys(all), images.Name.Compare) {
		p := all[n]
		if closed[p.PullRequest] {
			continue
		}
		o := Outcome{Branch: p.Branch, Of: []string{n.String()}, Did: Theirs, URL: p.URL, Why: "somebody else's commit is on the branch"}
		isOurs, err := r.isOurs(ctx, p)
		if isOurs && err == nil {
			o.Did, o.Why = Closed, p.Key+" is not to be taken any more"
			if now := r.memory.Policies[n].Proposal; now.IsOpen() {
				o.Why = "it is proposed on " + now.Branch
			}
			err = r.Forge.ClosePullRequest(ctx, p.PullRequest)
		}
		if err != nil && !errors.Is(err, forge.ErrNotFound) {
			r.memory.Propose(n, p)
			failed = errors.Join(failed, err)
			continue
		}
		closed[p.PullRequest] = true
		r.result.Outcomes = append(r.result.Outcomes, o)
	}
	return failed
}

// rests reports a subscription of which nothing is known now, or nothing is to be done: what is proposed of it stays as it is.
func (f *Found) rests(n images.Name) bool {
	i := slices.IndexFunc(f.Verdicts, func(v updates.Verdict) bool { return v.Name() == n })
	if i < 0 {
		return f.Source.Broken[n] || f.Source.Partial || f.Source.Unsure && n.Namespace == updates.ChartFolder
	}
	return slices.Contains([]updates.Why{
		updates.NotAnswered, updates.MarkerBad, updates.Suspended, updates.Unclear, updates.Uneditable,
	}, f.Verdicts[i].Why)
}
