package reconciler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestWhereaboutsMoveWithAllThatSaysHowClustersAre, and with nothing that agents keep besides.
func TestWhereaboutsMoveWithAllThatSaysHowClustersAre(t *testing.T) {
	source, target, told := newFlaky("source"), newFlaky("target"), newFlaky("told")
	text := 0
	write := func(repo *flaky, branch string) func() {
		return func() {
			text++
			repo.Write(branch, strconv.Itoa(text), twin.Tree{}.Folder())
		}
	}
	write(source, "main")()
	r := &reconciler.Reconciler{Source: source, Target: target, Agents: told}
	where := func() string {
		t.Helper()
		at, err := r.Whereabouts(t.Context(), "main")
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, tt := range []struct {
		what string
		do   func()
		want bool
	}{
		{"nothing", func() {}, false},
		{"the branch that is followed", write(source, "main"), true},
		{"another branch of the source", write(source, "feature"), false},
		{"what is remembered of new versions", write(source, render.UpdatesBranch), true},
		{"a cluster's branch", write(target, "waybill/cluster/eu"), true},
		{"the state", write(target, "waybill/state"), true},
		{"what an agent says", write(told, "waybill/status/eu"), true},
		{"what it says again", write(told, "waybill/status/eu"), true},
		{"what an agent writes that is no status", write(told, "waybill/observed/eu"), false},
		{"a branch that goes", func() { target.Delete("waybill/cluster/eu") }, true},
	} {
		before := where()
		tt.do()
		if moved := where() != before; moved != tt.want {
			t.Errorf("after %s: it moved: %v; want %v", tt.what, moved, tt.want)
		}
	}
	main, err := source.Resolve(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	if at, err := r.Whereabouts(t.Context(), main.String()); err != nil || at != where() {
		t.Errorf("the commit that the branch is at is elsewhere: %v", err)
	}
	if _, err := r.Whereabouts(t.Context(), "nowhere"); err == nil || !strings.Contains(err.Error(), "looking at the source") {
		t.Errorf("a branch that there is not: %v", err)
	}
	before := where()
	asked := 0
	both := &reconciler.Reconciler{Source: source, Target: source}
	source.heads = func() error { asked++; return nil }
	if _, err := both.Whereabouts(t.Context(), "main"); err != nil || asked != 1 {
		t.Errorf("a repository that is both is asked %d times: %v", asked, err)
	}
	for name, repo := range map[string]*flaky{"looking at the source": source, "looking at what is published": target} {
		repo.heads = func() error { return errors.New("away") }
		if _, err := r.Whereabouts(t.Context(), "main"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
		repo.heads = nil
	}
	if where() != before {
		t.Error("that they were away moved something")
	}
}

// TestWhatAPlanAwaitsIsAReasonToPlan, and nothing else is that moves beside it, nor that agents cannot be asked.
func TestWhatAPlanAwaitsIsAReasonToPlan(t *testing.T) {
	healthy := word{health: karmada.ResourceHealthy}
	// What agents say in a repository of their own is asked for from the turn on that follows a plan which awaits it, and no more from
	// the one on that follows a plan which does not: both turns plan.
	for name, turns := range map[string][]int{"statuses where the branches are": {0, 6, 8}, "agents of their own": {0, 1, 6, 8, 9}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var m *movable
				told := &agents{}
				if clusters := map[string]string{"eu": "", "us": ""}; len(turns) > 3 {
					m, told = newPulled(t, clusters, aggregated)
				} else {
					m = newMovable(t, clusters, aggregated)
				}
				m.say("eu", healthy)
				m.write(map[string]string{"eu": noExecute, "us": ""}, aggregated)
				did := map[int]func(){
					2: func() { m.repo.Write("feature", "a branch", twin.Tree{}.Folder()) },
					3: func() { m.told.Write("waybill/observed/eu", "an observation", twin.Tree{}.Folder()) },
					4: func() { told.away = true },
					5: func() { told.away = false },
					6: func() { m.say("us", word{health: karmada.ResourceUnhealthy}) },
					8: func() { m.say("us", healthy) },
				}
				var plans []int
				turn := 0
				ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
				defer cancel()
				l := &reconciler.Loop{
					Reconciler: m.r, Rev: "main", Interval: time.Second, Now: func() time.Time { return m.now }, Log: slog.New(slog.DiscardHandler),
					Report: func(s reconciler.Sync) {
						if s.Err != nil {
							t.Error(s.Err)
						}
						if !s.UpToDate {
							plans = append(plans, turn)
							m.last = s.Result
						}
						if turn++; did[turn] != nil {
							did[turn]()
						}
					},
				}
				if err := l.Run(ctx); err != nil {
					t.Error(err)
				}
				m.want("us:4")
				if !slices.Equal(plans, turns) {
					t.Errorf("it planned in the turns %v; want %v", plans, turns)
				}
			})
		})
	}
}

// TestALoopHearsWhatClustersAreAskedFor: after a restore clusters are asked what they applied, and what they say is heard though
// nothing else moved.
func TestALoopHearsWhatClustersAreAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFolders(t)
		f.write("waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publish: {layout: branches}}\n")
		r := f.reconciler()
		f.by(r, "first")
		backup := f.repo.Clone()
		lost := f.by(r, "second")
		by := f.branch(state.Branch).Commit
		f.repo.Restore(backup)
		r = f.reconciler()
		r.Restored = true
		turns := 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		l := &reconciler.Loop{
			Reconciler: r, Rev: "main", Interval: time.Second, Now: r.Now, Log: slog.New(slog.DiscardHandler),
			Report: func(s reconciler.Sync) {
				if s.Err != nil {
					t.Error(s.Err)
				}
				if turns++; turns == 2 {
					f.tells(lost, by)
				}
			},
		}
		if err := l.Run(ctx); err != nil {
			t.Error(err)
		}
		if err := f.admits(lost); err != nil {
			t.Errorf("eu says what it applied, and does not go on: %v", err)
		}
	})
}

// TestWhatWaybillPublishedIsNoSource, whoever names it; a file of that name that says something else is one.
func TestWhatWaybillPublishedIsNoSource(t *testing.T) {
	marker := tree.Shared()
	for name, tt := range map[string]struct {
		files  twin.Tree
		medium plan.Medium
		is     bool
	}{
		"a source":                   {twin.Tree{}, plan.Branch, false},
		"a cluster's branch":         {twin.Tree{tree.MetadataFile: twin.File([]byte("{}\n"))}, plan.Branch, true},
		"one that clusters share":    {twin.Tree{tree.SharedFile: files.FileEntry("", marker)}, plan.Branch, true},
		"something of its name":      {twin.Tree{tree.SharedFile: twin.File([]byte("# mine\n"))}, plan.Branch, false},
		"a link of its name":         {twin.Tree{tree.SharedFile: twin.Link("fleet.yaml")}, plan.Branch, false},
		"who plans for no branch":    {twin.Tree{tree.MetadataFile: twin.File([]byte("{}\n"))}, plan.Folder, false},
		"one below another folder":   {twin.Tree{"old/" + tree.MetadataFile: twin.File([]byte("{}\n"))}, plan.Branch, false},
		"the metadata besides files": {twin.Tree{tree.MetadataFile: twin.File([]byte("{}\n")), tree.SharedFile: twin.File([]byte("x"))}, plan.Branch, true},
	} {
		t.Run(name, func(t *testing.T) {
			repo := twin.New("fleet")
			tt.files["fleet.yaml"] = twin.File([]byte(fleet))
			repo.Write("main", "first", tt.files.Folder())
			r := &reconciler.Reconciler{Source: repo, Cache: cache.Memory(), Now: time.Now}
			s, err := repo.Snapshot(t.Context(), "main", "")
			if err != nil {
				t.Fatal(err)
			}
			_, err = reconciler.Plan(t.Context(), r, s, tt.medium)
			if says := err != nil && strings.Contains(err.Error(), "is what Waybill published, and no source"); says != tt.is {
				t.Errorf("that it is no source is said: %v (%v); want %v", says, err, tt.is)
			}
			if tt.medium != plan.Branch {
				return
			}
			r.Target = twin.New("branches")
			_, err = r.DryRun(t.Context(), "main")
			if says := err != nil && strings.Contains(err.Error(), "main is what Waybill published"); says != tt.is {
				t.Errorf("a publisher says it: %v (%v); want %v", says, err, tt.is)
			}
		})
	}
}

// TestAPlanForAReport has the diagnostics of publishing, and is of nothing published where that is of another source.
func TestAPlanForAReport(t *testing.T) {
	repo, other := newFlaky("fleet"), newFlaky("other")
	repo.Write("main", "first", twin.Tree{"fleet.yaml": twin.File([]byte(fleet))}.Folder())
	other.Write("main", "first", twin.Tree{"fleet.yaml": twin.File([]byte(strings.Replace(fleet, "{k: v}", "{k: other}", 1)))}.Folder())
	target := newFlaky("branches")
	if _, err := (&reconciler.Reconciler{Source: repo, Target: target, Cache: cache.Memory(), Now: time.Now}).Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	s, err := repo.Snapshot(t.Context(), "main", "")
	if err != nil {
		t.Fatal(err)
	}
	report := func(source *flaky, medium plan.Medium) (plan.Plan, error) {
		return reconciler.Plan(t.Context(), &reconciler.Reconciler{Source: source, Target: target, Cache: cache.Memory(), Now: time.Now}, s, medium)
	}
	if p, err := report(repo, plan.Branch); err != nil || len(p.Clusters) != 1 {
		t.Errorf("of its own source: %v", err)
	}
	if _, err := report(other, plan.Branch); err != nil {
		t.Errorf("of another source: %v", err)
	}
	head, _, err := target.Branch(t.Context(), "waybill/cluster/eu")
	if err != nil {
		t.Fatal(err)
	}
	root := twin.Of(head.Tree)
	root["NOTES.md"] = twin.File([]byte("somebody's\n"))
	target.Write("waybill/cluster/eu", head.Message, root.Folder())
	for medium, want := range map[plan.Medium]bool{plan.Branch: true, plan.Folder: false} {
		p, err := report(repo, medium)
		if err != nil {
			t.Fatal(err)
		}
		if says := slices.ContainsFunc(p.Diags, func(d diag.Diagnostic) bool { return d.Code == diag.ForeignFiles }); says != want {
			t.Errorf("that the branch has files of others is said of medium %d: %v; want %v", medium, says, want)
		}
	}
	target.heads = func() error { return errors.New("away") }
	if _, err := report(repo, plan.Branch); err == nil || !strings.Contains(err.Error(), "reading what is published: away") {
		t.Errorf("the target is away: %v", err)
	}
}

// TestWhoPushesIsTold how many branches it is, and when that is over, also where it failed; where nothing is to be pushed nobody is.
func TestWhoPushesIsTold(t *testing.T) {
	repo, target := twin.New("fleet"), newFlaky("branches")
	repo.Write("main", "first", twin.Tree{"fleet.yaml": twin.File([]byte(fleet))}.Folder())
	var told []string
	r := &reconciler.Reconciler{
		Source: repo, Target: target, Cache: cache.Memory(), Now: time.Now,
		Pushing: func(_ context.Context, branches int) func() {
			told = append(told, fmt.Sprint("begins ", branches))
			return func() { told = append(told, "ends") }
		},
	}
	target.publish = func(context.Context) error { return errors.New("away") }
	res, err := r.Publish(t.Context(), "main")
	if err == nil || len(res.Updates) > 0 || len(res.Heads) > 0 {
		t.Errorf("what could not be pushed is %v (%v)", res.Updates, err)
	}
	target.publish = nil
	if res, err := r.Publish(t.Context(), "main"); err != nil || len(res.Updates) != 2 || len(res.Heads) != 2 {
		t.Errorf("pushed is %v (%v)", res.Updates, err)
	}
	if _, err := r.Publish(t.Context(), "main"); err != nil {
		t.Error(err)
	}
	if want := []string{"begins 2", "ends", "begins 2", "ends"}; !slices.Equal(told, want) {
		t.Errorf("told is %q; want %q", told, want)
	}
}

// TestABrokenConfigPublishesNothing: what its defaults would do is not what anybody asked for.
func TestABrokenConfigPublishesNothing(t *testing.T) {
	repo := twin.New("fleet")
	repo.Write("main", "first", twin.Tree{
		"fleet.yaml": twin.File([]byte(fleet)), "waybill.yaml": twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publsh: {}}\n")),
	}.Folder())
	r := &reconciler.Reconciler{Source: repo, Target: repo, Cache: cache.Memory(), Now: time.Now}
	_, err := r.Publish(t.Context(), "main")
	if _, is := errors.AsType[*render.ConfigError](err); !is {
		t.Errorf("error %v", err)
	}
	if heads, _ := repo.Heads(t.Context()); len(heads) != 1 {
		t.Errorf("there are %v", heads)
	}
}
