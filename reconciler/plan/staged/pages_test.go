package staged_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/plan/units"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

var update = flag.Bool("update", false, "rewrite what pages of testdata show")

// Each page of testdata plays what happens to a fleet, and shows after each line what clusters have then, what waits there, and what
// is recorded. Each plan that is made again wants the same.
func TestPages(t *testing.T) {
	pages, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(pages) == 0 {
		t.Fatal("there are no pages", err)
	}
	for _, page := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t)
			var b strings.Builder
			for line := range strings.Lines(string(data)) {
				switch line = strings.TrimSpace(line); {
				case strings.HasPrefix(line, "#"):
					fmt.Fprintln(&b, line)
				case strings.HasPrefix(line, "$ "):
					fmt.Fprintln(&b, line)
					for event := range strings.SplitSeq(line[2:], ";") {
						w.do(strings.Fields(event), &b)
					}
				}
			}
			if *update {
				if err := os.WriteFile(page, []byte(b.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(string(data), b.String()); d != "" && !*update {
				t.Error(d)
			}
		})
	}
}

// do has something happen: what a commit has, which is the source, what clusters say, what is so of them, and what the unit web is told.
func (w *world) do(words []string, b *strings.Builder) {
	w.t.Helper()
	verb, rest := words[0], words[1:]
	switch verb {
	case "clusters":
		for _, name := range rest {
			stageOf, name, _ := strings.Cut(name, "/")
			w.join(name, stageOf)
		}
	case "joins":
		w.join(rest[0], rest[1])
		w.members[len(w.members)-1].IsNew = true
	case "unit":
		w.units = append(w.units, w.unit(rest[0], rest[1]))
		slices.SortFunc(w.units, func(a, b *part) int { return a.Compare(b.Unit.Unit.Unit) })
	case "commit":
		w.commit(rest[0], rest[1:])
	case "source":
		w.source = rest[0]
	case "later":
		d, err := time.ParseDuration(rest[0])
		if err != nil {
			w.t.Fatal(err)
		}
		w.now = w.now.Add(d)
	case "evidence":
		w.evidence = rest
	case "plan":
		w.plan(true)
		w.print(b)
	case "half": // the record of the plan is not pushed
		w.plan(false)
		w.print(b)
	case "end":
		w.atTheEnd = true
		w.plan(false)
		w.atTheEnd = false
		fmt.Fprint(b, w.wanted(&w.result, w.input().Blobs))
	case "settle":
		w.settle(b)
	case "deliver": // clusters report that all is well until the run is over
		w.deliver(b)
	case "edit":
		w.members[w.index(rest[0])].has[refOf(rest[1])] = rest[2]
	case "lose":
		delete(w.members[w.index(rest[0])].has, refOf(rest[1]))
	case "unreadable":
		w.unreadable[rest[0]] = true
	case "readable":
		delete(w.unreadable, rest[0])
	default:
		w.ofUnits(verb, rest)
	}
}

func (w *world) join(name, stageOf string) {
	w.members = append(w.members, &member{Cluster: staged.Cluster{Name: name}, has: map[object.Ref]string{}, known: map[object.Ref]string{}})
	for _, u := range w.units {
		u.Stages = append(u.Stages, stageOf)
	}
	w.stages = append(w.stages, stageOf)
}

// settle plans until nothing happens any more now.
func (w *world) settle(b *strings.Builder) {
	for range 6 {
		w.plan(true)
		if at := w.result.Recheck.At; at.IsZero() || at.After(w.now.Add(time.Second)) {
			break
		}
	}
	w.print(b)
}

func (w *world) deliver(b *strings.Builder) {
	for range 12 {
		w.plan(true)
		for _, m := range w.members {
			w.say(m, stage.Healthy)
		}
		w.now = w.now.Add(2 * time.Minute)
		if !slices.ContainsFunc(w.result.Outputs, func(out stage.Output) bool { return out.Phase != rollouts.Done || out.Before == nil }) {
			break
		}
	}
	w.print(b)
}

// ofUnits has something be so of the unit web.
func (w *world) ofUnits(verb string, rest []string) {
	u := &w.units[len(w.units)-1].Unit
	switch verb {
	case "refused":
		u.Refused = strings.Join(rest, " ")
	case "unknown":
		u.Unknown = len(rest) == 0
	case "forgets":
		u.Before, u.Unreadable = nil, true
	case "remembers":
		u.Unreadable = false
	case "stays":
		u.Stays = nil
		for _, name := range rest {
			u.Stays, w.units[len(w.units)-1].refs[refOf(name)] = append(u.Stays, refOf(name)), true
		}
	case "wrong":
		u.Wrong = []diag.Diagnostic{{Code: diag.RolloutStatusIgnored, Message: strings.Join(rest, " ")}}
	case "closed":
		u.Windows = map[string]stage.Window{rest[0]: {IsClosed: true}}
	case "open":
		u.Windows = nil
	case "turns":
		u.Turns = nil
		for _, name := range rest {
			u.Turns = append(u.Turns, w.index(name))
		}
	case "order":
		w.command(rest[0], strings.Join(rest[1:], ""))
	default:
		w.ofClusters(verb, rest)
	}
}

func (w *world) ofClusters(verb string, names []string) {
	what, isOver := strings.CutPrefix(verb, "-")
	for _, name := range names {
		m := w.members[w.index(name)]
		switch what {
		case "healthy", "failed", "progressing":
			w.say(m, stage.Health(strings.ToUpper(what[:1])+what[1:]))
		case "mute":
			m.Seen = nil
		case "held":
			m.Held, w.turned[name] = !isOver, true
		case "lost":
			m.IsLost = !isOver
		case "shut":
			m.Closed = !isOver
		case "virtual":
			m.Virtual = &virtual.Mapping{Cluster: name, Host: "host", Suffix: "-" + name}
		case "unwatched":
			m.Unwatched = !isOver
		default:
			w.t.Fatalf("%s is nothing that happens", verb)
		}
	}
}

// unit is one that goes out by a strategy.
func (w *world) unit(name, strategy string) *part {
	s := &rollouts.Strategy{Name: strategy, OnFailure: rollouts.StopOnFailure}
	if strategy == "returns" {
		s.OnFailure = rollouts.ReturnOnFailure
	}
	for _, name := range []string{"canary", "prod"} {
		is := rollouts.Stage{
			Name: name, MaxConcurrency: intstr.FromInt32(5), MaxFailures: intstr.FromInt32(0),
			ProgressDeadline: metav1.Duration{Duration: 10 * time.Minute}, Settle: metav1.Duration{Duration: time.Minute},
		}
		if strategy == render.NoStrategy {
			is = rollouts.Stage{Name: name, MaxConcurrency: intstr.FromString("100%"), MaxFailures: intstr.FromString("100%")}
		}
		s.Stages = append(s.Stages, is)
	}
	p := &part{refs: map[object.Ref]bool{}}
	p.Unit = staged.Unit{Unit: units.Unit{Unit: unitOf(name)}, Strategy: s, Stages: slices.Clone(w.stages)}
	if strategy == "unbound" {
		p.Strategy = nil
	}
	return p
}

// print shows the units, what clusters have, and what waits there.
func (w *world) print(b *strings.Builder) {
	for i := range w.result.Outputs {
		out := &w.result.Outputs[i]
		fmt.Fprintf(b, "%s %s: %s to %s", out.Unit.Name, out.Phase, named(out.Base), named(out.Target))
		if out.After != nil {
			printRecord(out.After, b)
		}
		fmt.Fprintln(b)
	}
	fmt.Fprint(b, w.wanted(&w.result, nil))
	if at := w.result.Recheck.At; !at.IsZero() {
		fmt.Fprintln(b, "again in", at.Sub(w.at))
	}
	if !w.again.At.IsZero() {
		fmt.Fprintln(b, "again for what was carried out")
	}
	for _, d := range w.result.Diags {
		fmt.Fprintf(b, "%s: %s\n", d.Code, d.Message)
	}
}

func named(v rollouts.Version) string {
	switch {
	case v.Commit == "":
		return "?"
	case v.Absent:
		return v.Commit + " (absent)"
	}
	return v.Commit
}

func printRecord(r *rollouts.Rollout, b *strings.Builder) {
	if r.Status.Reason != "" {
		fmt.Fprintf(b, " (%s)", r.Status.Reason)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Clusters)) {
		c := r.Clusters[name]
		fmt.Fprintf(b, " %s:%s/%s", name, c.State, c.Shows)
		if c.Reason != "" {
			fmt.Fprintf(b, "(%s)", c.Reason)
		}
	}
	for _, ref := range r.Stays {
		fmt.Fprint(b, " stays:", ref.Name)
	}
	for _, ref := range r.Leaves {
		fmt.Fprint(b, " leaves:", ref.Name)
	}
	for _, d := range r.Divided {
		fmt.Fprintf(b, " divided:%s/%s%v", d.Commit, d.Object.Name, d.Clusters)
	}
}

// wanted shows of each cluster what it has, or of blobs what it is to have, and what is in the way there.
func (w *world) wanted(r *staged.Result, blobs *manifest.Blobs) string {
	var b strings.Builder
	for i, m := range w.members {
		fmt.Fprintf(&b, "  %s", m.Name)
		if m.Held {
			b.WriteString(" (held)")
		}
		for n := range r.Rows {
			row := &r.Rows[n]
			is := m.has[row.Ref]
			if blobs != nil {
				want, _ := row.Wanted(i)
				stand, isStanding := row.Standing(i)
				is = fmt.Sprint(want.Blob, stand, isStanding)
				if blob := want.Blob; len(row.Wants) > 0 && blob >= 0 {
					is = text(blobs.At(blob))
				}
			}
			why := row.Blocked(i)
			if is == "" && why == "" {
				continue
			}
			fmt.Fprintf(&b, " %s=%s", row.Ref.Name, is)
			if why != "" {
				fmt.Fprintf(&b, "(%s)", why)
			}
			if of := r.Of[row.Ref]; of > 0 {
				fmt.Fprintf(&b, "#%d", of)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
