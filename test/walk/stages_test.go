package walk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// stages is what a walk knows of what goes out in stages: what it committed, had reported and commanded, and what came of it.
type stages struct {
	commits      map[string]snapshot // what commits of the source mean
	head         string
	heard        map[string]*heard // by cluster
	commanded    map[string]bool   // "RUN VERB AIM"
	publications int
	tracks       map[string]*track // "RUN CLUSTER"
	began        map[string]held   // by run: what clusters had when it began, but for those that left the fleet since
	records      []rollouts.Rollout
	before       []rollouts.Rollout // the records before the publication that is judged
	order        map[string]int     // of commits
	moved        map[string]int     // by object: the first commit by which it is of the unit that has it now
	// shared are the clusters that there were when an object came to be divided as it is by a commit, by commit and object, and that did not
	// leave since: "replicas stay with the clusters that have them", and one that joins later has none.
	shared      map[string]map[string]map[string]bool
	isGoingBack bool
	due         time.Time // when the last plan is to be made again
	targets     bool      // all units of the last plan are what the source says
}

func newStages() *stages {
	return &stages{
		commits: map[string]snapshot{}, heard: map[string]*heard{}, commanded: map[string]bool{}, tracks: map[string]*track{},
		began: map[string]held{}, order: map[string]int{}, moved: map[string]int{}, targets: true,
		shared: map[string]map[string]map[string]bool{},
	}
}

// track is how a cluster is since it was released in a run, as the walk had it reported.
type track struct {
	after     int       // publications: what was reported before says nothing
	since     time.Time // all of it is healthy, seen at publications; zero for not
	longest   time.Duration
	isHealthy bool   // it was once
	stage     string // in which it was when it was released
}

// looked is how all is before a publication.
type looked struct {
	held    held
	files   map[string]map[string]files.ID
	records []rollouts.Rollout
	fleet   snapshot
	again   *twin.Repo // another repository, in which a process that remembers nothing publishes the same
}

// filesOf are the files of objects, by object.
func filesOf(root *files.Folder) map[string]files.ID {
	all := map[string]files.ID{}
	if root == nil {
		return all
	}
	for path, e := range root.All() {
		var m twin.Manifest
		if data, err := e.Blob.Bytes(); err == nil && strings.HasPrefix(path, "manifests/") && yaml.Unmarshal(data, &m) == nil {
			all[m.String()] = e.ID
		}
	}
	return all
}

// look looks at all there is before a publication, and notes what clusters say of what they were released with.
func (w *walker) look(ctx context.Context, before held) (*looked, error) {
	if w.stages == nil {
		return nil, nil
	}
	w.stages.before = w.stages.records
	l := &looked{held: before, files: map[string]map[string]files.ID{}, records: w.stages.records, fleet: w.stages.commits[w.stages.head]}
	roots, err := w.roots(ctx)
	if err != nil {
		return nil, err
	}
	for cluster, root := range roots {
		l.files[cluster] = filesOf(root)
	}
	for i := range l.records {
		r := &l.records[i]
		for cluster := range r.Clusters {
			if t := w.stages.tracks[r.Status.Run+" "+cluster]; t != nil {
				t.hear(w.stages.heard[cluster], l.files[cluster], w.stages.refs(r, l.fleet), w.now)
			}
		}
	}
	if w.remembers {
		l.again = w.repo.Clone()
	}
	return l, nil
}

// hear notes what a cluster says of objects that are published there.
func (t *track) hear(h *heard, published map[string]files.ID, refs map[string]bool, now time.Time) {
	if h == nil || h.isSilent || h.after < t.after {
		return
	}
	for ref := range refs {
		if published[ref] != h.files[ref] {
			return
		}
	}
	for ref := range refs {
		parts := strings.Split(ref, "/")
		if _, there := published[ref]; there && h.unwell[parts[0]+"/"+parts[len(parts)-1]] != "" {
			t.since = time.Time{}
			return
		}
	}
	if t.isHealthy = true; t.since.IsZero() {
		t.since = now
	}
	t.longest = max(t.longest, now.Sub(t.since))
}

// policy is the policy of a unit.
func policy(r *rollouts.Rollout) string { return r.Unit.Name }

// refs are the objects of a unit by what a run goes from and to, and by what the source says: without those that
// another unit has in one of these, or had when it was published: "it stays with the first until that run ends", and that is so in the
// plan that ends it, too. Which version of it clusters have then is of that one.
func (s *stages) refs(r *rollouts.Rollout, fleet snapshot) map[string]bool {
	refs, commits, of := map[string]bool{}, []string{r.Status.Base.Commit, r.Status.Target.Commit}, []snapshot{fleet}
	for _, e := range r.Clusters {
		commits = append(commits, e.Shows)
	}
	for _, commit := range commits {
		of = append(of, s.commits[commit])
	}
	for _, is := range of {
		u := is.unit(policy(r), fleet)
		maps.Copy(refs, u.refs)
	}
	for _, is := range of {
		for _, d := range is {
			if by := is.claims(d); d.isObject() && by != policy(r) && by != "" {
				delete(refs, d.ref())
			}
		}
	}
	for _, commit := range commits {
		n, known := s.order[commit]
		maps.DeleteFunc(refs, func(ref string, _ bool) bool { return known && n < s.moved[ref] })
	}
	for _, other := range slices.Concat(s.before, s.records) {
		if other.Unit == r.Unit || other.Status.Phase == rollouts.Done {
			continue
		}
		for _, commit := range []string{other.Status.Base.Commit, other.Status.Target.Commit} {
			for ref := range s.commits[commit].unit(policy(&other), fleet).refs { // it stays with that one until its run is over
				delete(refs, ref)
			}
		}
		for _, ref := range other.Stays {
			delete(refs, ref.Kind+"/"+ref.Namespace+"/"+ref.Name)
		}
	}
	return refs
}

// everOf are the objects that a unit had by any commit: a run may have replaced the one that brought what a cluster still has.
func (s *stages) everOf(r *rollouts.Rollout) map[string]bool {
	refs := map[string]bool{}
	for _, is := range s.commits {
		maps.Copy(refs, is.unit(policy(r), is).refs)
	}
	return refs
}

// goneOut notes what a publication did to what goes out in stages, and returns the first law that is broken. IsWhole says that all of
// its push arrived.
func (w *walker) goneOut(ctx context.Context, l *looked, res *reconciler.Result, after held, isWhole bool) (kind, law string) {
	if w.stages == nil {
		return "", ""
	}
	records, err := w.records(ctx)
	if err != nil {
		return "reading", err.Error()
	}
	s := w.stages
	s.publications++
	s.due, s.records, s.isGoingBack, s.targets = res.Plan.Basis.RecheckAt, records, false, true
	all := slices.Concat(l.records, records)
	for i := range res.Plan.Rollouts {
		o := &res.Plan.Rollouts[i]
		s.targets = s.targets && o.Target.Is(o.Source)
		if o.After != nil { // also where the server refused the record
			all = append(all, *o.After)
		}
	}
	for i := range all {
		is := &all[i].Status
		s.isGoingBack = s.isGoingBack || is.Phase == rollouts.Returning || is.Reason == rollouts.KeptBack
	}
	s.begin(l)
	s.stay(records)
	now := w.judged(l, res, after, isWhole)
	w.trackAll(l, now)
	branches := map[string]bool{}
	for _, u := range res.Updates {
		if branches[u.Branch] {
			return "one commit", u.Branch + " gets two commits in one plan"
		}
		branches[u.Branch] = true
	}
	if l.again != nil {
		if law := w.sameWithout(ctx, l.again); law != "" {
			return "memo", law
		}
	}
	for i := range now {
		if broken := now[i].laws(); broken != nil {
			return broken[0].kind, fmt.Sprintf("%s: %s", records[i].Unit, broken[0].text)
		}
	}
	return "", ""
}

// commit notes a commit of the source, which objects move to another unit by it, and which are divided otherwise.
func (s *stages) commit(id string, is snapshot) {
	was, shared, clusters := s.commits[s.head], maps.Clone(s.shared[s.head]), map[string]bool{}
	for cluster := range evaluate(is).cells {
		clusters[cluster] = true
	}
	if shared == nil {
		shared = map[string]map[string]bool{}
	}
	for _, d := range is {
		if ref := d.ref(); d.isObject() && is.division(ref) != was.division(ref) {
			shared[ref] = clusters
		}
	}
	s.shared[id] = shared
	for _, shared := range s.shared { // replicas went to others when one left, and need not come back with it
		for _, in := range shared {
			maps.DeleteFunc(in, func(cluster string, _ bool) bool { return !clusters[cluster] })
		}
	}
	s.commits[id], s.order[id], s.head = is, len(s.order)+1, id
	for _, d := range is {
		if from, to := was.claims(d), is.claims(d); d.isObject() && from != "" && to != "" && from != to {
			s.moved[d.ref()] = s.order[id]
		}
	}
}

// stay notes which objects are of another unit still than that which has them by the newest commit.
func (s *stages) stay(records []rollouts.Rollout) {
	for i := range records {
		for _, ref := range records[i].Stays {
			s.moved[ref.Kind+"/"+ref.Namespace+"/"+ref.Name] = s.order[s.head] + 1
		}
	}
}

// begin notes what clusters had when runs began. What a run made of its base is of no matter where the next one goes from that, too.
func (s *stages) begin(l *looked) {
	was := map[string]rollouts.Rollout{}
	for _, r := range l.records {
		was[r.Unit.String()] = r
	}
	fleet := evaluate(s.commits[s.head])
	for _, r := range s.records {
		before := was[r.Unit.String()]
		if s.began[r.Status.Run] != nil {
			continue
		}
		had := s.began[before.Status.Run]
		if had == nil || before.Status.Base.Commit != r.Status.Base.Commit {
			had = maps.Clone(l.held)
		}
		s.began[r.Status.Run] = had
	}
	for _, had := range s.began {
		maps.DeleteFunc(had, func(cluster string, _ map[string]cell) bool { return fleet.cells[cluster] == nil })
	}
}

// trackAll begins to follow clusters that were released. Of one that had the target before it counts what it reported of that.
func (w *walker) trackAll(l *looked, now []judgement) {
	was := map[string]rollouts.Rollout{}
	for _, r := range l.records {
		was[r.Unit.String()] = r
	}
	for i, r := range w.stages.records {
		before := was[r.Unit.String()]
		if r.Status.Run != before.Status.Run {
			w.counts.Runs++
		}
		if r.Status.Phase != before.Status.Phase {
			switch r.Status.Phase {
			case rollouts.Stopped:
				w.counts.Stopped++
			case rollouts.Returning:
				w.counts.Returned++
			default:
			}
		}
		for cluster, e := range r.Clusters {
			key := r.Status.Run + " " + cluster
			if e.Released.IsZero() {
				delete(w.stages.tracks, key)
			} else if w.stages.tracks[key] == nil {
				w.counts.Released++
				w.stages.tracks[key] = now[i].begun(cluster, e.Stage)
			}
		}
		fmt.Fprintf(&w.trace, "    %s %s %s from %.7s to %.7s: %s\n", r.Unit, r.Status.Phase, r.Status.Reason, r.Status.Base.Commit, r.Status.Target.Commit, shortly(&r))
	}
}

// shortly is how clusters are in a run.
func shortly(r *rollouts.Rollout) string {
	var all []string
	for _, cluster := range slices.Sorted(maps.Keys(r.Clusters)) {
		e := r.Clusters[cluster]
		text := fmt.Sprintf("%s %s in %s with %.7s", cluster, e.State, e.Stage, e.Shows)
		if e.Message != "" {
			text += " (" + e.Message + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// sameWithout says how branches differ from those that a process publishes that remembers nothing; empty if they do not.
func (w *walker) sameWithout(ctx context.Context, other *twin.Repo) string {
	fresh := &walker{repo: other, now: w.now}
	r := fresh.over(other)
	r.Allow = w.r.Allow
	_, _ = r.Publish(ctx, "main") // as it went for the one that remembers
	is, err := w.repo.Heads(ctx)
	then, err2 := other.Heads(ctx)
	if err := errors.Join(err, err2); err != nil {
		return err.Error()
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		one, _, err := w.repo.Branch(ctx, name)
		two, ok, err2 := other.Branch(ctx, name)
		if err := errors.Join(err, err2); err != nil || !ok || one.Tree.ID() != two.Tree.ID() {
			return fmt.Sprintf("%s has another tree without memory (%v)", name, err)
		}
	}
	if len(is) != len(then) {
		return fmt.Sprintf("there are %d branches, and %d without memory", len(is), len(then))
	}
	return ""
}

// isGoing says that a unit went back, or does: what the source wants may leave.
func (w *walker) isGoingBack() bool { return w.stages != nil && w.stages.isGoingBack }

// isOpen says that something is not, or need not be, what the source says.
func (w *walker) isOpen() bool {
	return w.stages != nil && (!w.stages.targets || slices.ContainsFunc(w.stages.records, func(r rollouts.Rollout) bool {
		return r.Status.Phase != rollouts.Done || len(r.Clusters) > 0
	}))
}

// isOpenStill says that something of what goes out is not at its end. A cluster that was skipped "keeps its version until the next run"
// (the table of states): of a unit of which the source has nothing any more there is none.
func (w *walker) isOpenStill() bool {
	return !w.stages.targets || slices.ContainsFunc(w.stages.records, func(r rollouts.Rollout) bool {
		return r.Status.Phase != rollouts.Done || len(r.Clusters) > 0 && !w.isLeftBehind(&r)
	})
}

// isLeftBehind says that all that a unit still has is in clusters that were skipped when the source removed it.
func (w *walker) isLeftBehind(r *rollouts.Rollout) bool {
	head := w.stages.commits[w.stages.head]
	isSkipped := !slices.ContainsFunc(slices.Collect(maps.Values(r.Clusters)), func(e rollouts.Cluster) bool { return e.State != rollouts.Skipped })
	return isSkipped && len(head.unit(policy(r), head).refs) == 0
}

// least returns how many replicas of what is divided there have to be: as many as the source asks for, or the versions between
// which a run is, whichever asks for less. Once all its stages are nobody has the share of a cluster that was skipped or is silent, and has less:
// how large it is depends on who was there when it was divided.
func (w *walker) least(asked map[string]int, is held) map[string]int {
	if w.stages == nil {
		return asked
	}
	s, least := w.stages, maps.Clone(asked)
	for i := range s.records {
		r := &s.records[i]
		for _, commit := range []string{r.Status.Base.Commit, r.Status.Target.Commit} {
			u := s.commits[commit].unit(policy(r), s.commits[s.head])
			for ref := range s.refs(r, s.commits[s.head]) {
				if n, divided := u.asked[ref]; divided && u.refs[ref] && n < least[ref] {
					least[ref] = n
				} else if !divided || !u.refs[ref] {
					delete(least, ref)
				}
			}
		}
	}
	for i := range s.records {
		r := &s.records[i]
		target := s.commits[r.Status.Target.Commit].unit(policy(r), s.commits[s.head])
		isOver := r.Status.Phase == rollouts.Done || r.Status.Phase == rollouts.Finishing
		for cluster, e := range r.Clusters {
			if !isOver || e.State != rollouts.Skipped && e.State != rollouts.Late {
				continue
			}
			refs := s.refs(r, s.commits[s.head])
			for _, stays := range r.Stays {
				refs[stays.Kind+"/"+stays.Namespace+"/"+stays.Name] = true
			}
			for ref := range refs {
				if got, has := is[cluster][ref]; !has || got.replicas < target.cells[cluster][ref].replicas {
					delete(least, ref)
				}
			}
		}
	}
	return least
}

// wantedTwice is what the source wants in clusters, and what it wants anywhere, as far as the version to which a run goes does, too: one
// for which a newer version waits is carried to its end first, also where the newer one wants again what it takes away ("the run ends with
// the commit it began with").
func (w *walker) wantedTwice(want wants) (there, anywhere wants) {
	if w.stages == nil {
		return want, want
	}
	there, anywhere = want.clone(), want.clone()
	head := w.stages.commits[w.stages.head]
	for i := range w.stages.records {
		r := &w.stages.records[i]
		means, refs := w.stages.commits[r.Status.Target.Commit].unit(policy(r), head), w.stages.refs(r, head)
		target := held(means.cells)
		if r.Status.Phase != rollouts.Done { // also what came to the unit by the target
			maps.Copy(refs, means.refs)
		}
		for cluster := range want.cells {
			maps.DeleteFunc(there.cells[cluster], func(ref string, _ cell) bool {
				_, isWanted := target[cluster][ref]
				return refs[ref] && !isWanted
			})
			if e := r.Clusters[cluster]; w.stages.began[r.Status.Run][cluster] == nil && e.Released.IsZero() && e.Shows != "" {
				// it joined, or came back, and "gets at once what its stage shows"
				shows := w.stages.commits[e.Shows].unit(policy(r), head).cells[cluster]
				maps.DeleteFunc(there.cells[cluster], func(ref string, _ cell) bool {
					_, isShown := shows[ref]
					return refs[ref] && !isShown
				})
			}
			isSkipped := r.Clusters[cluster].State == rollouts.Skipped // somebody wants it to come to the cluster by the next run only
			maps.DeleteFunc(anywhere.cells[cluster], func(ref string, _ cell) bool {
				return refs[ref] && (isSkipped || len(target.has(ref)) == 0)
			})
		}
	}
	return there, anywhere
}

// goesOn publishes as long as that the last step is published lets a run go on.
func (w *walker) goesOn(ctx context.Context) (kind, law string) {
	for range 6 {
		if w.stages == nil || w.stages.due.IsZero() || w.stages.due.After(w.now.Add(time.Second)) {
			return "", ""
		}
		moved, kind, law := w.publishAgain(ctx)
		if kind != "" || !moved {
			return kind, law
		}
	}
	return "", ""
}

// publishAgain publishes the same, and holds what comes of it against the laws of stages.
func (w *walker) publishAgain(ctx context.Context) (moved bool, kind, law string) {
	before, err := w.held(ctx)
	if err != nil {
		return false, "reading", err.Error()
	}
	l, err := w.look(ctx, before)
	if err != nil {
		return false, "reading", err.Error()
	}
	res, err := w.r.Publish(ctx, "main")
	if err != nil {
		return false, "publishing", err.Error()
	}
	after, err := w.held(ctx)
	if err != nil {
		return false, "reading", err.Error()
	}
	if kind, law := w.goneOut(ctx, l, &res, after, true); kind != "" {
		return false, kind, law
	}
	allow := w.r.Allow
	w.r.Allow = ""
	kind, law = w.verify(ctx)
	w.r.Allow = allow
	return len(res.Updates) > 0, kind, law
}

// end has everything be well: nothing is broken, all clusters are healthy, and somebody approves. Then all goes out.
func (w *walker) end(ctx context.Context, n int) (kind, law string) {
	fmt.Fprintf(&w.trace, "the end\n")
	mendAll(&w.world, nil)
	w.world.release()
	for _, d := range w.world.docs((*doc).isObject) {
		d.version++ // what was skipped goes out with the next run
	}
	w.commit(n)
	if !w.remembers {
		w.r = w.over(w.repo)
	}
	w.r.Allow = guard.AllowAll
	w.folders = w.world.folders
	for range 60 {
		roots, err := w.roots(ctx)
		if err != nil {
			return "reading", err.Error()
		}
		for cluster := range roots {
			w.report(ctx, cluster, nil)
		}
		for i := range w.stages.records {
			w.help(ctx, &w.stages.records[i])
		}
		w.now = w.now.Add(31 * time.Minute)
		moved, kind, law := w.publishAgain(ctx)
		if kind != "" {
			return kind, law
		}
		if !moved && !w.isOpenStill() {
			return w.ended(ctx)
		}
	}
	return "stuck", "all is well, and it does not come to its end"
}

// help has somebody do what a run waits for. One that stops again after somebody had it go on, and for whose end a newer version waits,
// goes back, so that this one follows, or, if it has nowhere to go back to, comes to its end without the stage in which it stops.
func (w *walker) help(ctx context.Context, r *rollouts.Rollout) {
	n := slices.IndexFunc(r.Status.Stages, func(s rollouts.StageStatus) bool { return s.Phase != rollouts.Done })
	isStoppedAgain := r.Status.Phase == rollouts.Stopped && w.stages.commanded[r.Status.Run+" resume "] && !w.stages.targets
	switch {
	case isStoppedAgain && r.Status.Base.IsKnown() && !w.stages.commanded[r.Status.Run+" return "]:
		w.say(ctx, "return", r, "")
	case isStoppedAgain && n >= 0 && !w.stages.commanded[r.Status.Run+" skip "+r.Status.Stages[n].Name]:
		w.say(ctx, "skip", r, r.Status.Stages[n].Name)
	case r.Status.Phase == rollouts.Stopped:
		w.say(ctx, "resume", r, "")
	case r.Status.Reason == rollouts.ApprovalMissing && n >= 0:
		w.say(ctx, "approve", r, r.Status.Stages[n].Name)
	}
}

// ended holds the branches against what the source means.
func (w *walker) ended(ctx context.Context) (kind, law string) {
	w.counts.Ended++
	is, err := w.held(ctx)
	if err != nil {
		return "reading", err.Error()
	}
	want := evaluate(w.world.meant())
	is = registered(is, want)
	for i := range w.stages.records {
		if r := &w.stages.records[i]; w.isLeftBehind(r) {
			without(is, slices.Collect(maps.Keys(r.Clusters)), w.stages.everOf(r), want)
		}
	}
	if wrong := other(want, is, false); wrong != nil {
		return "meaning at the end", strings.Join(wrong, "; ")
	}
	return "", ""
}

// without leaves out what clusters have of objects that are wanted nowhere.
func without(is held, clusters []string, refs map[string]bool, want wants) {
	for _, cluster := range clusters {
		is[cluster] = maps.Clone(is[cluster])
		maps.DeleteFunc(is[cluster], func(ref string, _ cell) bool { return refs[ref] && len(held(want.cells).has(ref)) == 0 })
	}
}

// isUnsoaked says that something of a unit was released before its turn, because another cluster lost it.
func isUnsoaked(res *reconciler.Result, of rollouts.Unit) bool {
	return slices.ContainsFunc(res.Diags, func(d diag.Diagnostic) bool {
		return d.Code == diag.RolloutUnsoaked && strings.HasPrefix(d.Message, of.String()+":")
	})
}
