package stage_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// world is a fleet with one unit, on which decisions are carried out as branches would be. What a cluster
// has is a word: the digest of the version that is published there, or nothing.
type world struct {
	t        testing.TB
	now      time.Time
	in       stage.Input // what does not follow from the rest
	clusters []*member
	has      map[string]string
	// drops and same are of a digest: which clusters it does not want, and in which it is what another one is.
	drops map[string]string
	same  map[string]string
	// digests are those of commits.
	digests map[string]string
	run     string // of the record
	last    stage.Output
	refs    int
	isLost  bool // of the next push the record is lost
	// known is what the record knows that clusters have, and plans counts plans.
	known  map[string]string
	plans  int
	missed string
}

// member is what is so of a cluster, whatever is published.
type member struct {
	stage.Cluster

	says, of string // what is said of it, and of what
	since    time.Time
	// saidAt and pushedAt say after how many plans something was said of it, or published there, last.
	saidAt, pushedAt int
	// isPosted reports that what is said of it is what Flux posts, which does not tell every change.
	isPosted bool
}

func clock(text string) time.Time {
	for _, layout := range []string{"15:04:05", "15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.AddDate(2026, 2, 1)
		}
	}
	panic("no time: " + text)
}

// newWorld is a world in which a1 runs in clusters, as "canary: c1 c2; early: e1" lists them.
func newWorld(tb testing.TB, s *rollouts.Strategy, stages string) *world {
	tb.Helper()
	w := &world{t: tb, now: clock("09:00"), has: map[string]string{}, drops: map[string]string{}, same: map[string]string{}, digests: map[string]string{}}
	w.in = stage.Input{Unit: rollouts.Unit{Namespace: "team", Name: "web"}, Strategy: s, Windows: map[string]stage.Window{}}
	for text := range strings.SplitSeq(stages, ";") {
		name, names, _ := strings.Cut(text, ":")
		for c := range strings.FieldsSeq(names) {
			w.clusters = append(w.clusters, &member{Cluster: stage.Cluster{Name: c, Stage: strings.TrimSpace(name)}})
			w.has[c] = "a1"
		}
	}
	w.source("a1")
	w.in.Published = w.in.Source
	w.plan()
	return w
}

func (w *world) source(text string) {
	commit, digest, isSame := strings.Cut(text, "=")
	if !isSame {
		digest = commit
	}
	w.digests[commit] = digest
	w.in.Source = rollouts.Version{Commit: commit, Digest: digest}
}

// gives is what a version gives a cluster.
func (w *world) gives(v rollouts.Version, cluster string) string {
	switch {
	case v.Absent || slices.Contains(strings.Fields(w.drops[v.Digest]), cluster):
		return ""
	case w.same[v.Digest+" "+cluster] != "":
		return w.same[v.Digest+" "+cluster]
	}
	return v.Digest
}

func (w *world) member(name string) *member {
	for _, m := range w.clusters {
		if m.Name == name {
			return m
		}
	}
	w.t.Fatalf("no cluster %s", name)
	return nil
}

// input is what is known now.
func (w *world) input() stage.Input {
	in := w.in
	in.Now = w.now
	base, target := stage.Versions(in)
	in.Clusters = nil
	for _, m := range w.clusters {
		c, has := m.Cluster, w.has[m.Name]
		c.Has, c.IsTarget, c.IsBase = has != "", has == w.gives(target, m.Name), base.IsKnown() && has == w.gives(base, m.Name)
		c.Leaves = base.IsKnown() && w.gives(base, m.Name) != "" && !target.Absent && w.gives(target, m.Name) == ""
		c.Evidence = stage.Evidence{Health: stage.Health(m.says), IsPresent: m.of == has, Since: m.since}
		if known := w.known[m.Name]; known != has {
			c.WasTarget, c.Evidence.IsOld = known == w.gives(target, m.Name), m.saidAt < m.pushedAt
		}
		c.Evidence.IsPresent = c.Evidence.IsPresent || c.WasTarget && m.of == w.known[m.Name]
		if m.isPosted {
			c.Evidence.LeastWait, c.Evidence.LeastSettle = 20*time.Minute, 2*time.Minute
		}
		c.Evidence.Ref = fmt.Sprintf("waybill/status/%s@%s-%s-%d", m.Name, m.of, m.says, m.since.Unix())
		in.Clusters = append(in.Clusters, c)
	}
	return in
}

// plan decides once, carries that out, and returns the clusters that changed, by what they have now.
func (w *world) plan() (changed map[string]string) {
	in := w.input()
	out := stage.Decide(in)
	before := maps.Clone(w.has)
	for _, s := range out.Shown {
		m, digest := w.member(s.Cluster), w.digests[s.Commit]
		isBlocked := m.Suspended || m.Held || s.Choice == stage.Target && m.Unwritable != "" || slices.Contains(strings.Fields(w.missed), s.Cluster)
		if s.Choice == stage.Kept || isBlocked {
			continue
		}
		isTarget := digest == out.Target.Digest
		w.has[s.Cluster] = w.gives(rollouts.Version{Commit: s.Commit, Digest: digest, Absent: isTarget && out.Target.Absent || !isTarget && out.Base.Absent}, s.Cluster)
	}
	w.plans++
	changed = map[string]string{}
	for name, has := range w.has {
		if before[name] != has {
			changed[name], w.member(name).pushedAt = has, w.plans
		}
	}
	w.in.Before, w.last, w.missed = out.After, out, ""
	if w.isLost {
		w.in.Before, w.isLost = in.Before, false
	} else {
		w.known = maps.Clone(w.has)
	}
	w.in.Commands = slices.DeleteFunc(w.in.Commands, func(c rollouts.Command) bool { return c.Run == "" })
	if w.in.Published = in.Source; w.in.Before != nil {
		w.run = w.in.Before.Status.Run
	}
	return changed
}

// settle plans until nothing happens any more at this time, and returns what changed, as "b2: c1 c2".
func (w *world) settle() string {
	all := map[string][]string{}
	for range 5 {
		changed := w.plan()
		for name, has := range changed {
			all[has] = append(all[has], name)
		}
		if at := w.last.Recheck.At; at.IsZero() || at.After(w.now.Add(time.Second)) {
			break
		}
	}
	var texts []string
	for _, has := range slices.Sorted(maps.Keys(all)) {
		slices.Sort(all[has])
		texts = append(texts, has+": "+strings.Join(all[has], " "))
	}
	return strings.Join(texts, "; ")
}

// state is how far the run is: the phase, the stage that is not over, and why.
func (w *world) state() string {
	words := []string{string(w.last.Phase)}
	if w.last.After == nil {
		return words[0] + " forgotten"
	}
	s := w.last.After.Status
	if s.Phase == rollouts.Done {
		words = append(words, s.Target.Digest)
	}
	for _, st := range s.Stages {
		if st.Phase != rollouts.Done {
			words = append(words, st.Name)
			break
		}
	}
	return strings.Join(append(words, string(s.Reason)), " ")
}

// says reports whether a state is so: "Updating early e1:Healthy", and which commit clusters show: "e1=a1".
func (w *world) says(want string) error {
	var state []string
	for word := range strings.FieldsSeq(want) {
		if name, is, isShown := strings.Cut(word, "="); isShown {
			if got := w.last.After.Clusters[name].Shows; got != is {
				return fmt.Errorf("%s shows %q, want %s", name, got, is)
			}
			continue
		}
		name, is, isCluster := strings.Cut(word, ":")
		if !isCluster {
			state = append(state, word)
			continue
		}
		var got rollouts.State
		if w.last.After != nil {
			got = w.last.After.Clusters[name].State
		}
		if string(got) != is {
			return fmt.Errorf("%s is %q, want %s", name, got, is)
		}
	}
	if got := strings.Join(strings.Fields(w.state()), " "); len(state) > 0 && got != strings.Join(state, " ") {
		return fmt.Errorf("the state is %q, want %q", got, strings.Join(state, " "))
	}
	return nil
}

// do has something happen: "source b2", "healthy c1 c2", "approve canary".
func (w *world) do(event string) {
	verb, rest, _ := strings.Cut(event, " ")
	verb, at, _ := strings.Cut(verb, "@")
	words := strings.Fields(rest)
	switch verb {
	case "source":
		w.source(rest)
	case "absent":
		w.source(rest)
		w.in.Source.Absent = true
	case "drops":
		w.drops[words[0]] = strings.Join(words[1:], " ")
	case "same":
		w.same[words[0]+" "+words[1]] = words[2]
	case "healthy", "failed", "progressing", "silent", "mute":
		for _, name := range words {
			w.say(w.member(name), verb, at)
		}
	case "elsewhere": // it says that it has something else than what is published
		w.member(rest).of = "x9"
	case "approve", "stop", "resume", "skip", "return", "bypass":
		w.command(verb, at, rest)
	case "strategy":
		if w.in.Strategy = strategies[rest]; rest == atOnce.Name {
			w.in.Strategy = atOnce
		}
	case "lost":
		w.in.Before, w.in.Published, w.known = nil, rollouts.Version{}, maps.Clone(w.has)
	case "forgotten":
		w.in.Before, w.known = nil, maps.Clone(w.has)
	case "half":
		w.isLost = true
	case "missed":
		w.missed = rest
	case "refused":
		w.in.Refused = rest
	case "unreadable":
		w.in.Unreadable = words
	case "closed":
		w.in.Windows[words[0]] = stage.Window{IsClosed: true, Edge: clock(words[1])}
	case "open":
		delete(w.in.Windows, rest)
	case "join":
		w.clusters = append(w.clusters, &member{Cluster: stage.Cluster{Name: words[0], Stage: words[1]}})
	case "edited": // somebody else did
		w.has[rest] = "x9"
	case "gone":
		w.clusters = slices.DeleteFunc(w.clusters, func(m *member) bool { return m.Name == rest })
		delete(w.has, rest)
	case "relabel":
		w.member(words[0]).Stage = words[1]
	case "takes":
		w.has[words[0]] = ""
		w.member(words[0]).Takes = true
	default:
		w.set(verb, words)
	}
}

// set has something be so in clusters, as "hold p1", or not any more, as "-hold p1".
func (w *world) set(what string, names []string) {
	what, isOver := strings.CutPrefix(what, "-")
	for _, name := range names {
		switch m := w.member(name); what {
		case "hold":
			m.Held = !isOver
		case "takes":
			m.Takes = !isOver
		case "suspend":
			m.Suspended = !isOver
		case "close":
			m.Closed = !isOver
		case "posted":
			m.isPosted = !isOver
		case "unwatched":
			m.Unwatched = !isOver
		case "unwritable":
			m.Unwritable = ""
			if !isOver {
				m.Unwritable = "an override fails"
			}
		default:
			w.t.Fatalf("%s is nothing that happens", what)
		}
	}
}

func (w *world) say(m *member, health, since string) {
	says := strings.ToUpper(health[:1]) + health[1:]
	if health == "mute" {
		says = ""
	}
	if m.says != says || m.of != w.has[m.Name] || m.saidAt < m.pushedAt {
		m.since = w.now
	}
	m.saidAt = w.plans
	if m.says, m.of = says, w.has[m.Name]; since != "" {
		m.since = clock(since)
	}
}

// command gives one to the run that is recorded, or to another one.
func (w *world) command(verb, run, about string) {
	w.refs++
	c := rollouts.Command{Verb: rollouts.Verb(verb), Run: w.run, By: "anna", Via: "cli", Ref: fmt.Sprintf("orders/%d", w.refs), At: metav1.NewTime(w.now)}
	switch run {
	case "other":
		c.Run = strings.Repeat("0", 32)
	case "trailer":
		c.Run = ""
	}
	if c.Stage = about; slices.ContainsFunc(w.clusters, func(m *member) bool { return m.Name == about }) {
		c.Stage, c.Cluster = "", about
	}
	w.in.Commands = append(w.in.Commands, c)
}

// row is what happens at a time, what branches come to of it, and what the state says then.
type row struct{ time, arrives, advance, says string }

// play has rows happen one after the other.
func (w *world) play(rows []row) {
	w.t.Helper()
	for _, r := range rows {
		w.now = clock(r.time)
		for event := range strings.SplitSeq(r.arrives, ";") {
			if event = strings.TrimSpace(event); event != "" {
				w.do(event)
			}
		}
		if got := w.settle(); got != r.advance {
			w.t.Errorf("%s %s: branches come to %q, want %q (%s: %s)", r.time, r.arrives, got, r.advance, w.state(), w.message())
		}
		if err := w.says(r.says); err != nil {
			w.t.Errorf("%s %s: %v (%s)", r.time, r.arrives, err, w.message())
		}
	}
}

func (w *world) message() string {
	if w.last.After == nil {
		return ""
	}
	return w.last.After.Status.Message
}

func minutes(n int) metav1.Duration { return metav1.Duration{Duration: time.Duration(n) * time.Minute} }

// part is a stage of so many clusters at once, with tasks: "30m" waits, "approval" asks, "first" asks before.
func part(name, width, failures, tasks string) rollouts.Stage {
	s := rollouts.Stage{Name: name, MaxConcurrency: intstr.Parse(width), MaxFailures: intstr.Parse(failures), ProgressDeadline: minutes(20), Settle: minutes(1)}
	for task := range strings.FieldsSeq(tasks) {
		switch task {
		case "first":
			s.BeforeStageTasks = append(s.BeforeStageTasks, rollouts.StageTask{Type: rollouts.ApprovalTask})
		case "approval":
			s.AfterStageTasks = append(s.AfterStageTasks, rollouts.StageTask{Type: rollouts.ApprovalTask})
		default:
			d, err := time.ParseDuration(task)
			if err != nil {
				panic(err)
			}
			s.AfterStageTasks = append(s.AfterStageTasks, rollouts.StageTask{Type: rollouts.WaitTask, WaitTime: metav1.Duration{Duration: d}})
		}
	}
	return s
}

var strategies = map[string]*rollouts.Strategy{
	"":        nil,
	"careful": {Name: "careful", Stages: []rollouts.Stage{part("canary", "2", "0", "30m"), part("early", "50%", "0", ""), part("prod", "2", "1", "")}},
	"returns": {Name: "returns", OnFailure: rollouts.ReturnOnFailure, Stages: []rollouts.Stage{
		part("canary", "2", "0", "30m"), part("early", "50%", "0", ""), part("prod", "2", "1", ""),
	}},
	"tolerant": {Name: "tolerant", Stages: []rollouts.Stage{part("canary", "2", "1", "30m"), part("early", "50%", "0", ""), part("prod", "2", "1", "")}},
	"simple":   {Name: "simple", Stages: []rollouts.Stage{part("canary", "1", "0", ""), part("prod", "2", "0", "")}},
	"queued":   {Name: "queued", Newer: rollouts.WaitForNewer, Stages: []rollouts.Stage{part("canary", "1", "0", ""), part("prod", "2", "0", "")}},
	"asked":    {Name: "asked", Stages: []rollouts.Stage{part("canary", "2", "0", "10m approval"), part("prod", "2", "0", "first")}},
	"half":     {Name: "half", Stages: []rollouts.Stage{part("all", "50%", "39%", "")}},
	"tenth":    {Name: "tenth", Stages: []rollouts.Stage{part("all", "10%", "0", "")}},
	"three":    {Name: "three", Stages: []rollouts.Stage{part("canary", "1", "0", ""), part("early", "1", "0", ""), part("prod", "2", "0", "")}},
}
