package walk

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/said"
)

// way is what kind of walk it is.
type way struct {
	isStaged bool // with strategies
	isCalm   bool // in which nothing breaks on the way
}

// wayOf draws what kind of walk one is: one of three has no strategies, and in one of three others things break.
func wayOf(seed uint64) way {
	n := rand.New(rand.NewPCG(seed, 5)).IntN(9)
	return way{n >= 3, n >= 5}
}

// deedOf is an op by its kind.
func deedOf(kind string) func(*world, *rand.Rand) string {
	if deed := deeds[kind]; deed != nil {
		return deed
	}
	return stageDeeds[kind]
}

// drawStaged draws a walk with strategies.
func drawStaged(seed uint64, count int, isCalm bool) []step {
	r := rand.New(rand.NewPCG(seed, 6))
	kinds := calmDeeds
	if !isCalm {
		kinds = slices.Concat(slices.Sorted(maps.Keys(deeds)), slices.Sorted(maps.Keys(stageDeeds)), calmDeeds)
	}
	var walk []step
	st := step{seed: r.Uint64(), move: r.IntN(4) == 0}
	for _, kind := range []string{
		"add cluster", "add cluster", "add cluster", "add cluster", "add cluster", "add object", "add object", "add object", "add object",
		"add policy", "add policy", "add override", "add strategy", "add strategy", "bind", "bind",
	} {
		st.ops = append(st.ops, op{kind, r.Uint64()})
	}
	walk = append(walk, st)
	for range count - 1 {
		st := step{seed: r.Uint64()}
		if !isCalm {
			st.allow, st.edit, st.refuse = r.IntN(8) == 0, r.IntN(12) == 0, r.IntN(15) == 0
		}
		for range max(0, r.IntN(5)-2) {
			kind, _ := pick(r, kinds)
			st.ops = append(st.ops, op{kind, r.Uint64()})
		}
		if !isCalm && r.IntN(4) == 0 {
			st.ops = append(st.ops, op{"mend all", r.Uint64()})
		}
		st.waits, _ = pick(r, []time.Duration{0, 0, 30 * time.Second, time.Minute, time.Minute, 5 * time.Minute, 31 * time.Minute, 2 * time.Hour})
		st.events = drawEvents(r)
		walk = append(walk, st)
	}
	return walk
}

// drawEvents draws what happens beside the source: most clusters report most of the time.
func drawEvents(r *rand.Rand) (events []op) {
	kinds := []string{}
	if r.IntN(5) > 0 {
		kinds = append(kinds, "all report")
	}
	for range max(0, r.IntN(4)-1) {
		kind, _ := pick(r, []string{"report", "fail", "fail", "progress", "refuse", "silence", "command", "command", "command"})
		kinds = append(kinds, kind)
	}
	for _, kind := range kinds {
		events = append(events, op{kind, r.Uint64()})
	}
	return events
}

// heard is what the walk had a cluster report last.
type heard struct {
	files    map[string]files.ID // by object
	unwell   map[string]string
	isSilent bool
	after    int // publications
}

// happen has time pass, and things happen beside the source. It returns them as commands of a scenario.
func (w *walker) happen(ctx context.Context, st step) (commands []string) {
	if st.waits > 0 {
		w.now = w.now.Add(st.waits)
		commands = append(commands, "wait "+st.waits.String())
	}
	for _, e := range st.events {
		commands = append(commands, w.event(ctx, e.kind, rand.New(rand.NewPCG(e.seed, 7)))...)
	}
	for _, c := range commands {
		fmt.Fprintf(&w.trace, "  %s\n", c)
	}
	return commands
}

// event has something happen.
func (w *walker) event(ctx context.Context, kind string, r *rand.Rand) []string {
	roots, err := w.roots(ctx)
	if err != nil {
		return nil
	}
	all := slices.Sorted(maps.Keys(roots))
	cluster, ok := pick(r, all)
	switch {
	case !ok:
		return nil
	case kind == "all report":
		for _, c := range all {
			w.report(ctx, c, nil)
		}
		return []string{"apply " + strings.Join(all, " ")}
	case kind == "command":
		return w.command(ctx, r)
	case kind == "silence":
		said.Silent(w.repo, cluster, w.address(cluster), w.now)
		w.stages.heard[cluster] = &heard{isSilent: true, after: w.stages.publications}
		return []string{"silence " + cluster}
	case kind == "report":
		w.report(ctx, cluster, nil)
		return []string{"apply " + cluster}
	}
	how := map[string]string{"fail": "failed", "progress": "progressing", "refuse": "refused"}[kind]
	object, ok := pick(r, slices.Sorted(maps.Keys(filesOf(roots[cluster]))))
	if !ok {
		return nil
	}
	parts := strings.Split(object, "/")
	name := parts[0] + "/" + parts[len(parts)-1]
	w.report(ctx, cluster, map[string]string{name: how})
	return []string{fmt.Sprintf("apply %s %s=%s", cluster, name, how)}
}

// address is where a cluster is published.
func (w *walker) address(cluster string) render.Address {
	if w.folders {
		return render.Address{Branch: shared, Folder: cluster}
	}
	return render.Address{Branch: prefix + cluster}
}

// report has a cluster report what is published for it; objects are healthy but those of unwell.
func (w *walker) report(ctx context.Context, cluster string, unwell map[string]string) {
	if err := said.Applied(ctx, w.repo, &said.Word{Cluster: cluster, At: w.address(cluster), Unwell: unwell, Now: w.now}); err != nil {
		panic(err) // the cluster has a branch
	}
	roots, _ := w.roots(ctx)
	w.stages.heard[cluster] = &heard{files: filesOf(roots[cluster]), unwell: unwell, after: w.stages.publications}
}

// command has somebody command something of a run: what helps it more often than not.
func (w *walker) command(ctx context.Context, r *rand.Rand) []string {
	records, err := w.records(ctx)
	of, ok := pick(r, records)
	if err != nil || !ok || of.Status.Run == "" {
		return nil
	}
	verb, _ := pick(r, []string{"approve", "approve", "approve", "resume", "resume", "stop", "skip", "skip", "return", "bypass"})
	aim := ""
	if stages := of.Status.Stages; verb == "approve" || verb == "skip" && r.IntN(3) == 0 {
		n := slices.IndexFunc(stages, func(s rollouts.StageStatus) bool { return s.Phase != rollouts.Done })
		if n < 0 {
			return nil
		}
		aim = stages[n].Name
	} else if verb == "skip" {
		if aim, ok = pick(r, slices.Sorted(maps.Keys(of.Clusters))); !ok {
			return nil
		}
	}
	return w.say(ctx, verb, &of, aim)
}

// say has somebody command something of a run.
func (w *walker) say(ctx context.Context, verb string, of *rollouts.Rollout, aim string) []string {
	args := slices.DeleteFunc([]string{"nobody", verb, of.Unit.String(), aim}, func(a string) bool { return a == "" })
	if err := said.Command(ctx, w.repo, args, nil, w.now); err != nil {
		return nil
	}
	commanded := func(aim string) { w.stages.commanded[strings.Join([]string{of.Status.Run, verb, aim}, " ")] = true }
	commanded(aim)
	for name, is := range of.Clusters { // of a stage, which a cluster may leave
		if is.Stage == aim {
			commanded(name)
		}
	}
	return []string{"command " + strings.Join(args, " ")}
}

// records are what the state branch records of what goes out in stages.
func (w *walker) records(ctx context.Context) ([]rollouts.Rollout, error) {
	head, ok, err := w.repo.Branch(ctx, state.Branch)
	if err != nil || !ok {
		return nil, err
	}
	e, _ := head.Tree.Lookup(rollouts.Folder)
	all, unreadable := rollouts.Decode(e.Dir)
	if len(unreadable) > 0 {
		return nil, fmt.Errorf("what is recorded cannot be read: %v", unreadable)
	}
	slices.SortFunc(all, func(a, b rollouts.Rollout) int { return cmp.Compare(a.Unit.String(), b.Unit.String()) })
	return all, nil
}
