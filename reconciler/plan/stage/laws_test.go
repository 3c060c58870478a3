package stage_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/diag"
)

// happenings are what may happen between two plans. A % stands for a cluster, a $ for a stage, a # for a version.
var happenings = []string{
	"", "healthy %", "healthy %", "healthy c1 e1 e2 p1 p2 p3", "healthy c1 e1 e2 p1 p2 p3", "failed %", "progressing %", "silent %", "mute %",
	"source #", "source #=a1", "absent #", "drops # %; source #", "same # % a1; source #",
	"approve $", "approve $", "stop", "resume", "resume", "skip %", "skip $", "return", "bypass", "bypass@trailer", "stop@other",
	"closed $ 23:00", "open $", "open $", "hold %", "-hold %", "-hold %", "suspend %", "-suspend %", "close %", "-close %",
	"unwritable %", "-unwritable %", "relabel % $", "join j1 $", "takes %", "-takes %", "unreadable a1", "unreadable ",
	"missed %", "half", "lost", "forgotten", "refused it cannot be read", "refused ", "refused ", "strategy ", "strategy three", "strategy asked", "strategy queued",
}

// walk is a world to which bytes happen, and what is known of it apart from the record.
type walk struct {
	*world

	versions int
	// ill is when a cluster was last known not to be healthy by the target that it shows.
	ill map[string]time.Time
}

func (w *walk) occur(what, arg byte) {
	event := happenings[int(what)%len(happenings)]
	if event == "join j1 $" && len(w.clusters) > 6 {
		event = "gone j1"
	}
	w.happen(event, w.clusters[int(arg)%len(w.clusters)].Name, []string{"canary", "early", "prod"}[int(arg/16)%3])
}

// happen has an event happen to a cluster or a stage, or a new version be in the source.
func (w *walk) happen(event, cluster, in string) {
	if strings.Contains(event, "#") {
		w.versions++
	}
	event = strings.NewReplacer("#", fmt.Sprintf("v%d", w.versions), "%", cluster, "$", in).Replace(event)
	for e := range strings.SplitSeq(event, ";") {
		if e = strings.TrimSpace(e); e != "" {
			w.do(e)
		}
	}
}

// FuzzDecide has anything happen to a unit, and holds each decision to the laws; in the end all is well, and the run has
// to come to an end.
func FuzzDecide(f *testing.F) {
	f.Add([]byte("\x00\x09\x00\x10\x03\x00\x10\x03\x00\x10\x03\x00"))
	f.Add([]byte("\x01\x09\x00\x30\x03\x00\x80\x0e\x00\x80\x05\x01\xff\x05\x01\x30\x11\x00"))
	f.Add([]byte("\x02\x09\x00\x30\x2c\x00\x80\x2d\x00\x80\x26\x01\xff\x25\x01\x30\x27\x03\x10\x29\x00\x10\x27\x04"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 0 && len(data) <= 400 {
			wander(t, data)
		}
	})
}

var sequences = flag.Int("sequences", 100, "how many random sequences TestSequences has happen")

// found are the seeds of sequences that broke a law once: a cluster of a stage that was skipped got the target before
// the stages in front of it; one that joined and one that caught up were released together, beyond the width; the base came
// with another commit while the run went back.
var found = []int{88, 709, 2240, 2839}

// TestSequences has random sequences happen to a unit.
func TestSequences(t *testing.T) {
	seeds := slices.Clone(found)
	for seed := range *sequences {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		data := make([]byte, 1+3*(5+random.IntN(60)))
		for n := range data {
			data[n] = byte(random.Uint32())
		}
		if wander(t, data); t.Failed() {
			t.Fatalf("of the sequence with the seed %d", seed)
		}
	}
}

// wander has bytes happen to a unit, and then all be well.
func wander(t *testing.T, data []byte) {
	t.Helper()
	names := slices.Sorted(maps.Keys(strategies))
	w := &walk{newWorld(t, strategies[names[int(data[0])%len(names)]], "canary: c1; early: e1 e2; prod: p1 p2 p3"), 0, map[string]time.Time{}}
	for n := 1; n+3 <= len(data) && !t.Failed(); n += 3 {
		pass := time.Duration(data[n]&0x7f) * 20 * time.Second
		if data[n]&0x80 != 0 {
			pass = -pass / 4
		}
		w.now = w.now.Add(pass)
		w.occur(data[n+1], data[n+2])
		w.lawful()
	}
	if !t.Failed() {
		w.end()
	}
}

// isHealthy reports that it is known of a cluster that it is healthy by the target.
func isHealthy(c stage.Cluster) bool {
	return c.IsTarget && c.Evidence.IsPresent && c.Evidence.Health == stage.Healthy
}

// lawful plans, and says which laws the decision breaks.
func (w *walk) lawful() {
	in, before := w.input(), maps.Clone(w.has)
	var recorded map[string]rollouts.Cluster
	if in.Before != nil {
		recorded = maps.Clone(in.Before.Clusters)
	}
	if again := stage.Decide(in); !reflect.DeepEqual(again, stage.Decide(in)) {
		w.t.Errorf("equal input gives other output")
	}
	if in.Before != nil && !maps.Equal(recorded, in.Before.Clusters) {
		w.t.Errorf("a decision changes what was recorded before")
	}
	for n, c := range in.Clusters {
		if !isHealthy(c) {
			w.ill[in.Clusters[n].Name] = in.Now
		}
	}
	w.plan()
	d := decision{walk: w, in: in, out: w.last, before: before}
	d.gained = map[string]bool{}
	for name, has := range w.has {
		target := w.gives(d.out.Target, name)
		d.gained[name] = before[name] != has && has == target && target != w.gives(d.out.Base, name)
	}
	for _, law := range []func() string{d.order, d.evidence, d.width, d.stopped, d.returning, d.mistakes, d.total, d.stands, d.closed, d.time} {
		if broken := law(); broken != "" {
			w.t.Errorf("%s\nfrom %s\nto   %s\nshown %v", broken, dump(in.Before), dump(d.out.After), d.out.Shown)
		}
	}
}

func dump(r *rollouts.Rollout) string {
	if r == nil {
		return "nothing"
	}
	status, err := json.Marshal(r.Status)
	if err != nil {
		panic(err)
	}
	var text strings.Builder
	text.Write(status)
	for _, name := range slices.Sorted(maps.Keys(r.Clusters)) {
		e, err := json.Marshal(r.Clusters[name])
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&text, "\n  %s in %s %s", name, r.Clusters[name].Stage, e)
	}
	return text.String()
}

// decision is one that laws are about.
type decision struct {
	*walk

	in     stage.Input
	out    stage.Output
	before map[string]string
	gained map[string]bool // clusters that have the target's bytes now, and had others
}

func (d *decision) status() rollouts.Status {
	if d.out.After == nil {
		return rollouts.Status{Phase: d.out.Phase}
	}
	return d.out.After.Status
}

// isFree reports a cluster that may get the target out of its turn: all are bypassed, it joined, or it takes over.
func (d *decision) isFree(name string) bool {
	takes := slices.ContainsFunc(d.out.Diags, func(x diag.Diagnostic) bool { return x.Code == diag.RolloutUnsoaked }) && d.member(name).Takes
	isBypassed := slices.ContainsFunc(d.status().Commands, func(c rollouts.Command) bool { return c.Verb == rollouts.Bypass && !c.Refused })
	return d.out.After == nil || takes || isBypassed || d.status().Reason == rollouts.Bypassed || d.out.After.Clusters[name].Joined || d.in.Before == nil && d.in.Strategy == nil
}

// order is I1: no cluster gets the target before every earlier stage is over, and none is over before its time.
func (d *decision) order() string {
	stages := d.status().Stages
	for name, gained := range d.gained {
		for _, st := range stages {
			if !gained || d.isFree(name) || d.wasTold(name) || st.Name == d.out.After.Clusters[name].Stage {
				break
			}
			if st.Phase != rollouts.Done {
				return fmt.Sprintf("%s gets the target while %s is %s", name, st.Name, st.Phase)
			}
		}
	}
	for _, st := range stages {
		if st.Phase == rollouts.Done && !st.Skipped && st.EndTime.Time.Equal(d.in.Now) && !st.StartTime.IsZero() {
			if why := d.tooEarly(st); why != "" {
				return fmt.Sprintf("%s is over too early: %s", st.Name, why)
			}
		}
	}
	return ""
}

// tooEarly says why a stage cannot be over that was over at this time.
func (d *decision) tooEarly(st rollouts.StageStatus) string {
	strategy := stage.InForce(d.in.Strategy, d.in.Before)
	n := slices.IndexFunc(strategy.Stages, func(s rollouts.Stage) bool { return s.Name == st.Name })
	if n < 0 || d.status().Reason == rollouts.Bypassed {
		return ""
	}
	healthy, changed := 0, 0
	for _, c := range d.in.Clusters {
		e := d.out.After.Clusters[c.Name]
		if e.Stage != st.Name || c.Leaves {
			continue
		}
		switch e.State {
		case rollouts.Healthy:
			if !isHealthy(c) {
				return c.Name + " is not healthy now"
			}
			for _, task := range strategy.Stages[n].AfterStageTasks {
				isBack := d.in.Now.Before(e.Since.Time) // the clock went back
				if ill := d.ill[c.Name]; task.Type == rollouts.WaitTask && !isBack && e.Since.After(ill) && d.in.Now.Sub(ill) < task.WaitTime.Duration {
					return fmt.Sprintf("%s was ill at %s", c.Name, ill)
				}
			}
			healthy, changed = healthy+1, changed+1
		case rollouts.Released, rollouts.Failing, rollouts.Pending:
			if !e.Joined {
				return c.Name + " is " + string(e.State)
			}
		case rollouts.Late, rollouts.Failed, rollouts.Suspended:
			changed++
		default:
		}
	}
	if changed > 0 && healthy == 0 {
		return "none is healthy"
	}
	for _, task := range strategy.Stages[n].AfterStageTasks {
		isApproved := slices.ContainsFunc(d.in.Commands, func(c rollouts.Command) bool {
			return c.Verb == rollouts.Approve && c.Stage == st.Name && (c.Run == "" || c.Run == d.status().Run)
		})
		if task.Type == rollouts.ApprovalTask && !isApproved {
			return "nobody approved it"
		}
	}
	return ""
}

// evidence is I2: what makes a cluster healthy speaks of what is published there.
func (d *decision) evidence() string {
	for _, c := range d.in.Clusters {
		was, is := rollouts.State(""), d.state1(d.out.After, c.Name)
		if d.in.Before != nil && d.in.Before.Status.Run == d.status().Run {
			was = d.state1(d.in.Before, c.Name)
		}
		if is == rollouts.Healthy && was != is && !isHealthy(c) {
			return c.Name + " is healthy, and nothing says so of the target"
		}
	}
	return ""
}

func (d *decision) state1(r *rollouts.Rollout, cluster string) rollouts.State {
	if r == nil {
		return ""
	}
	return r.Clusters[cluster].State
}

// width is I3: nothing is released beyond the width of a stage, nor while its window is closed or nothing may be.
func (d *decision) width() string {
	if d.out.After == nil {
		return ""
	}
	strategy := stage.InForce(d.in.Strategy, d.in.Before)
	size, out, gains := map[string]int{}, map[string]int{}, map[string]int{}
	for n, c := range d.in.Clusters {
		e := d.out.After.Clusters[c.Name]
		if c.Leaves || e.Stage == "" {
			continue
		}
		size[e.Stage]++
		isFinished := e.State == rollouts.Healthy || e.State == rollouts.Failed || e.State == rollouts.Skipped || e.State == rollouts.Unchanged || e.State == rollouts.Late
		if d.out.Shown[n].Choice == stage.Target && !isFinished {
			out[e.Stage]++
		}
		if d.gained[c.Name] && !d.isFree(c.Name) && !c.IsTarget && !d.wasTold(c.Name) {
			gains[e.Stage]++
		}
	}
	for name, n := range gains {
		width := 1
		for _, s := range strategy.Stages {
			if s.Name == name {
				width = max(1, s.MaxConcurrency.IntValue())
				if strings.HasSuffix(s.MaxConcurrency.StrVal, "%") {
					width = max(1, size[name]/2)
				}
			}
		}
		switch {
		case out[name] > width:
			return fmt.Sprintf("%d clusters of %s are out, and %d may be", out[name], name, width)
		case d.in.Windows[name].IsClosed:
			return fmt.Sprintf("%d clusters of %s were released outside of its window", n, name)
		case d.in.Refused != "":
			return fmt.Sprintf("%d clusters of %s were released, and none may be", n, name)
		}
	}
	return ""
}

// wasTold reports a cluster that was released by an earlier decision whose push did not come to it.
func (d *decision) wasTold(name string) bool {
	return d.in.Before != nil && d.in.Before.Status.Run == d.status().Run && !d.in.Before.Clusters[name].Released.Time.IsZero()
}

// stopped is I5: nothing gets the target while the run is stopped, but what takes over.
func (d *decision) stopped() string {
	for name, gained := range d.gained {
		takes := d.member(name).Takes
		if gained && d.out.Phase == rollouts.Stopped && !takes {
			return name + " gets the target in Stopped"
		}
	}
	return ""
}

// returning is I6: a return waits for nothing, as long as there is something to go back to.
func (d *decision) returning() string {
	isReadable := !slices.Contains(d.in.Unreadable, d.out.Base.Commit)
	for _, s := range d.out.Shown {
		if d.out.Phase == rollouts.Returning && isReadable && (s.Choice != stage.Older || d.digests[s.Commit] != d.out.Base.Digest) {
			return fmt.Sprintf("%s shows %s %s while the run goes back", s.Cluster, s.Choice, s.Commit)
		}
	}
	return ""
}

// mistakes is that a target which cannot be made stops a run, and takes nothing back: that is no evidence, so that a run in which it is so
// goes back by itself only if a cluster that has the target is not well with it.
func (d *decision) mistakes() string {
	s, was := d.status(), d.in.Before
	isUnasked := s.Phase == rollouts.Returning && (s.Reason == rollouts.TooManyFailed || s.Reason == rollouts.NoneHealthy)
	if !isUnasked || was == nil || was.Status.Run != s.Run || was.Status.Phase == rollouts.Returning {
		return ""
	}
	mistaken := ""
	for _, c := range d.in.Clusters {
		e := was.Clusters[c.Name]
		isHalf := c.WasTarget && !c.IsTarget // a plan that recorded nothing had it go back
		isMistake := e.State == rollouts.Failed && e.Reason == rollouts.NotWritable || c.Unwritable != "" && !c.IsTarget
		isWell := isHealthy(c) && (e.State == rollouts.Healthy || c.Evidence.Ref != e.Evidence) // and was not so with these bytes once before
		switch isOut := c.IsTarget || !e.Released.IsZero(); {
		case isHalf, isOut && !isMistake && !isWell:
			return ""
		case isMistake:
			mistaken = c.Name
		}
	}
	if mistaken == "" {
		return ""
	}
	return fmt.Sprintf("the target cannot be made for %s, and the run goes back, although no cluster is ill with it", mistaken)
}

// total is I7: replicas that are divided otherwise do not become fewer on the way.
func (d *decision) total() string {
	var was, will, are int32
	for n, s := range d.out.Shown {
		from, to := int32(n), int32(len(d.out.Shown)-n)
		was, will, are = was+from, will+to, are+stage.Replicas(d.out.Phase, s.Choice, from, to)
	}
	if are < min(was, will) {
		return fmt.Sprintf("%d replicas of %d, or %d", are, was, will)
	}
	return ""
}

// stands is I4: where nothing is said and nothing is published, nothing moves.
func (d *decision) stands() string {
	in := d.in
	in.Before, in.Commands = d.out.After, slices.DeleteFunc(slices.Clone(in.Commands), func(c rollouts.Command) bool { return c.Run == "" })
	base, target := stage.Versions(in)
	if d.out.Phase == rollouts.Finishing || d.out.Phase == rollouts.Returning || base != d.out.Base || target != d.out.Target || in.Before == nil {
		return ""
	}
	again := stage.Decide(in)
	if len(in.Commands) < len(d.in.Commands) && again.After != nil && d.out.After != nil {
		again.After.Status.Commands = d.out.After.Status.Commands
	}
	isNew := d.in.Before == nil
	for name, e := range d.out.After.Clusters {
		isNew = isNew || !e.Released.Time.IsZero() && !d.wasTold(name)
	}
	if !reflect.DeepEqual(again.Shown, d.out.Shown) || again.Phase != d.out.Phase || !isNew && dump(again.After) != dump(d.out.After) {
		return "asked again it decides otherwise: " + dump(again.After)
	}
	return ""
}

// closed is that what is decided follows from the record: whoever is not recorded shows the target.
func (d *decision) closed() string {
	for _, s := range d.out.Shown {
		if s.Choice == stage.Kept && s.Commit != "" || s.Choice != stage.Kept && s.Commit == "" {
			return fmt.Sprintf("%s shows %s of %q", s.Cluster, s.Choice, s.Commit)
		}
	}
	return ""
}

// time is that the times of a run do not fall.
func (d *decision) time() string {
	if d.in.Before == nil || d.out.After == nil || d.in.Before.Status.Run != d.status().Run {
		return ""
	}
	for name, e := range d.out.After.Clusters {
		was := d.in.Before.Clusters[name]
		if !e.Released.IsZero() && e.Released.Before(&was.Released) || e.State != was.State && e.State != rollouts.Failing && e.Since.Before(&was.Since) {
			return name + " goes back in time"
		}
	}
	return ""
}

// end has all be well, and the run come to its end.
func (w *walk) end() {
	for _, e := range []string{"unreadable ", "refused ", "open canary", "open early", "open prod"} {
		w.do(e)
	}
	if w.last.After != nil && w.now.Before(w.last.After.Status.StartTime.Time) {
		w.now = w.last.After.Status.StartTime.Time
	}
	for range 80 {
		for _, m := range w.clusters {
			m.Held, m.Suspended, m.Closed, m.Takes, m.Unwritable = false, false, false, false, ""
			w.say(m, "healthy", "")
		}
		if w.last.Phase == rollouts.Stopped {
			w.do("resume")
		}
		if w.last.After != nil {
			for _, st := range w.last.After.Status.Stages {
				if st.Phase != rollouts.Done && st.Phase != rollouts.Updating {
					w.do("approve " + st.Name)
					break
				}
			}
		}
		w.now = w.now.Add(10 * time.Minute)
		w.lawful()
	}
	if w.last.Phase != rollouts.Done || !w.last.Target.Is(w.in.Source) {
		w.t.Errorf("all is well, and the run does not end: %s, %s", w.state(), dump(w.last.After))
	}
	for _, m := range w.clusters {
		isSkipped := w.last.After != nil && w.last.After.Clusters[m.Name].State == rollouts.Skipped
		if want := w.gives(w.in.Source, m.Name); w.has[m.Name] != want && !isSkipped {
			w.t.Errorf("in the end %s has %q, want %q: %s", m.Name, w.has[m.Name], want, dump(w.last.After))
		}
	}
}
