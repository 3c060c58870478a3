package stage_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// TestBreaks breaks each law of a record against the one before it once: somebody edits what a plan recorded.
func TestBreaks(t *testing.T) {
	cluster := func(name string, edit func(*rollouts.Cluster)) func(*stage.Input, *rollouts.Rollout) {
		return func(_ *stage.Input, r *rollouts.Rollout) {
			c := r.Clusters[name]
			edit(&c)
			r.Clusters[name] = c
		}
	}
	status := func(edit func(*rollouts.Status)) func(*stage.Input, *rollouts.Rollout) {
		return func(_ *stage.Input, r *rollouts.Rollout) { edit(&r.Status) }
	}
	released := func(in *stage.Input, r *rollouts.Rollout, name string) {
		cluster(name, func(c *rollouts.Cluster) {
			c.State, c.Shows, c.Released = rollouts.Released, r.Status.Target.Commit, metav1.NewTime(in.Now)
		})(in, r)
	}
	const begins, goesOn, restarts = "10:00", "10:01", "10:02"
	for _, tt := range []struct {
		name, plan string
		edit       func(*stage.Input, *rollouts.Rollout)
		want       []string
	}{
		{"a run that begins, as it is", begins, nil, nil},
		{"a run that goes on, as it is", goesOn, nil, nil},
		{"another run", begins, status(func(s *rollouts.Status) { s.Run = strings.Repeat("0", 32) }), []string{
			"the run 00000000000000000000000000000000 is not the one from its base to its target at its time",
		}},
		{"another time of the plan", begins, func(in *stage.Input, _ *rollouts.Rollout) { in.Now = in.Now.Add(time.Hour) }, []string{
			"the run began at another time than its plan", "c1 was released at another time than its plan",
		}},
		{"a plan of which the time is not known", begins, func(in *stage.Input, _ *rollouts.Rollout) { in.Now = time.Time{} }, nil},
		{"another target", goesOn, status(func(s *rollouts.Status) { s.Target.Commit = "c3" }), []string{
			"the target of the run is another one than before",
			"c1 was released, and shows b2 instead of the target, c3",
			"p1 was released, and shows b2 instead of the target, c3",
			"p2 was released, and shows b2 instead of the target, c3",
		}},
		{"other signers", goesOn, status(func(s *rollouts.Status) { s.Rules = "c3" }), []string{
			"the commit whose rules and signers count is another one than before",
		}},
		{"one that was released shows the base", goesOn, cluster("p1", func(c *rollouts.Cluster) { c.Shows = "a1" }), []string{
			"p1 was released, and shows a1 instead of the target, b2",
		}},
		{"one was released before its plan", goesOn, cluster("p1", func(c *rollouts.Cluster) { c.Released = metav1.NewTime(clock(begins)) }), []string{
			"p1 was released at another time than its plan",
		}},
		{"one was released once more", goesOn, cluster("c1", func(c *rollouts.Cluster) { c.Released = metav1.NewTime(clock("09:59")) }), []string{
			"c1 was released at another time than its plan",
		}},
		{"one shows the target, and was not released", goesOn, cluster("p3", func(c *rollouts.Cluster) { c.Shows = "b2" }), []string{
			"p3 shows b2, and was not released since it showed a1",
		}},
		{"one shows something else than before, and the run begins", begins, cluster("p3", func(c *rollouts.Cluster) { c.Shows = "c3" }), []string{
			"p3 shows c3, and was not released since it showed a1",
		}},
		{"a later stage is released before the first is over", goesOn, func(in *stage.Input, r *rollouts.Rollout) {
			released(in, r, "p3")
			r.Status.Stages[0].Phase = rollouts.Soaking
		}, []string{
			"p1 was released before the stage canary was over", "p2 was released before the stage canary was over",
			"p3 was released before the stage canary was over",
		}},
		{"a later stage is released when the run begins", begins, func(in *stage.Input, r *rollouts.Rollout) { released(in, r, "p3") }, []string{
			"p3 was released before the stage canary was over",
		}},
		{"one of it takes what another one lost", begins, func(in *stage.Input, r *rollouts.Rollout) {
			released(in, r, "p3")
			i := slices.IndexFunc(in.Clusters, func(c stage.Cluster) bool { return c.Name == "p3" })
			in.Clusters[i].Takes = true
		}, nil},
		{"one of it had the target already", begins, func(in *stage.Input, r *rollouts.Rollout) {
			released(in, r, "p3")
			i := slices.IndexFunc(in.Clusters, func(c stage.Cluster) bool { return c.Name == "p3" })
			in.Clusters[i].IsTarget, in.Clusters[i].IsBase = true, false
		}, nil},
		{"one in which nothing changes is skipped", goesOn, func(in *stage.Input, r *rollouts.Rollout) {
			for _, is := range []struct {
				of    *rollouts.Rollout
				state rollouts.State
			}{{in.Before, rollouts.Unchanged}, {r, rollouts.Skipped}} {
				c := is.of.Clusters["p3"]
				c.State, c.Shows = is.state, r.Status.Target.Commit
				is.of.Clusters["p3"] = c
			}
		}, nil},
		{"what was released did not come, and another run begins", restarts, cluster("p1", func(c *rollouts.Cluster) { c.Shows = "" }), nil},
		{"one shows what it had before it was released, and another run begins", restarts, cluster("p1", func(c *rollouts.Cluster) { c.Shows = "a1" }), nil},
		{"one that was released shows something else, and another run begins", restarts, cluster("p1", func(c *rollouts.Cluster) { c.Shows = "c3" }), []string{
			"p1 shows c3, and was not released since it showed b2",
		}},
		{"nothing says what one shows that was not released, and another run begins", restarts, cluster("p3", func(c *rollouts.Cluster) { c.Shows = "" }), []string{
			"p3 shows no version, and was not released since it showed a1",
		}},
	} {
		w := newWorld(t, strategies["simple"], four)
		w.now = clock(begins)
		w.do("source b2")
		in := w.input()
		if w.plan(); tt.plan != begins {
			w.now = clock(goesOn)
			w.do("healthy c1")
			in = w.input()
			w.plan()
		}
		if tt.plan == restarts {
			w.now = clock(restarts)
			w.do("source c3")
			in = w.input()
			w.plan()
		}
		if tt.edit != nil {
			tt.edit(&in, w.in.Before)
		}
		if got := stage.Breaks(in, w.in.Before); !slices.Equal(got, tt.want) {
			t.Errorf("%s: it breaks\n\t%s\nwant\n\t%s", tt.name, strings.Join(got, "\n\t"), strings.Join(tt.want, "\n\t"))
		}
	}
}

// A newer version that a run goes to instead, where the base is not known, has commands count by the first one's rules, and one that
// begins over something that was published by that.
func TestNoVersionBringsItsOwnRules(t *testing.T) {
	w := newWorld(t, strategies["simple"], four)
	ruledBy := func(event, want string) {
		t.Helper()
		w.do(event)
		w.in.PublishedCommit = w.last.Source.Commit
		w.plan()
		if got := w.in.Before.Status.RuledBy(); got != want {
			t.Errorf("%s: commands count by the rules of %s, want %s", event, got, want)
		}
	}
	ruledBy("source b2", "a1")
	ruledBy("source c3", "a1")
	w.has = map[string]string{}
	w.do("lost")
	w.last = stage.Output{}
	ruledBy("source d4", "d4") // nothing else says anything
	ruledBy("source e5", "d4")
	ruledBy("source f6", "d4")
	w.do("lost")
	ruledBy("source g7", "f6")
	ruledBy("source h8", "f6")
}

// TestAnotherCommitOfTheTarget has one that was skipped where nothing changes show the commit that published the target of the run last,
// and no other one.
func TestAnotherCommitOfTheTarget(t *testing.T) {
	w := newWorld(t, strategies["simple"], four)
	w.happen(heard("10:00 drops b2 p2; hold p2; same b2 p3 a1; source b2", "10:01 healthy c1", "10:02 skip p3; healthy p1", "10:03 source b3=b2"))
	w.now = clock("10:04")
	w.do("source c4")
	in, was := w.input(), *w.in.Before
	w.plan()
	if got := stage.Breaks(in, w.in.Before); len(got) > 0 || w.in.Before.Status.Base.Commit != "b3" {
		t.Errorf("from %s it breaks %q; the record before is %+v", w.in.Before.Status.Base.Commit, got, was.Clusters)
	}
	w.in.Before.Clusters["p3"] = rollouts.Cluster{Stage: "prod", Shows: "a1", State: rollouts.Pending}
	if got := stage.Breaks(in, w.in.Before); len(got) != 1 {
		t.Errorf("it breaks %q", got)
	}
}
