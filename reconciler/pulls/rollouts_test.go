package pulls_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/pulls"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/forge/forgetest"
	"github.com/waybill-dev/waybill/test/twin"
)

// stages is a source with a cluster and a unit, whose stage somebody has to approve before it begins.
const stages = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull}
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata: {name: careful}
spec:
  stages:
  - {name: all, labelSelector: {}, beforeStageTasks: [{type: Approval}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: team, annotations: {waybill.dev/rollout: careful}}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: team}
data: {v: one}
`

// goesOut is a change that was merged and waits for an approval, and the pull request that became it.
type goesOut struct {
	repo    *twin.Repo
	fake    *forgetest.Fake
	handler *pulls.CommandHandler
	now     time.Time
}

func newGoesOut(t *testing.T, waybill string) *goesOut {
	t.Helper()
	g := &goesOut{repo: twin.New("fleet"), fake: forgetest.NewFake(), now: forgetest.Epoch.Add(time.Minute)}
	tree := twin.Tree{"all.yaml": twin.File([]byte(strings.Replace(stages, ", annotations: {waybill.dev/rollout: careful}", "", 1)))}
	if waybill != "" {
		tree["waybill.yaml"] = twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {rollout: {" + waybill + "}}\n"))
	}
	g.repo.Write("main", "one", tree.Folder())
	g.publishes(t)
	tree["all.yaml"] = twin.File([]byte(stages))
	g.repo.Write("main", "in stages", tree.Folder())
	g.publishes(t)
	tree["all.yaml"] = twin.File([]byte(strings.Replace(stages, "v: one", "v: two", 1)))
	g.fake.Merge(g.repo.Write("main", "two", tree.Folder()).String())
	g.publishes(t)
	if r := g.rollout(t); r.Status.Reason != rollouts.ApprovalMissing || g.shows(t) != "one" {
		t.Fatalf("it does not wait for an approval: %+v", r.Status)
	}
	g.handler = &pulls.CommandHandler{
		Forge: g.fake, Target: g.repo, Source: g.repo, Now: func() time.Time { return g.now }, Log: slog.New(slog.DiscardHandler), Changed: func() {},
		Adds: func(context.Context, forge.PullRequest) (guard.Removals, string, error) {
			return nil, "nothing is asked of it", nil
		},
	}
	return g
}

func (g *goesOut) publishes(t *testing.T) reconciler.Result {
	t.Helper()
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: g.repo, Target: g.repo, Cache: cache.Memory(), Now: func() time.Time { return g.now }}
	res, err := r.Publish(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// rollout is what is recorded of the unit.
func (g *goesOut) rollout(t *testing.T) rollouts.Rollout {
	t.Helper()
	head, _, err := g.repo.Branch(t.Context(), state.Branch)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := head.Tree.Lookup(rollouts.Folder)
	all, _ := rollouts.Decode(e.Dir)
	if len(all) != 1 {
		t.Fatalf("there are %+v", all)
	}
	return all[0]
}

// shows is what the cluster has.
func (g *goesOut) shows(t *testing.T) string {
	t.Helper()
	head, _, err := g.repo.Branch(t.Context(), "waybill/cluster/eu")
	if err != nil {
		t.Fatal(err)
	}
	all, err := twin.Manifests(head.Tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.Kind == "ConfigMap" {
			return m.Data["v"]
		}
	}
	return ""
}

// given are the commands on the branch.
func (g *goesOut) given(t *testing.T) []commands.RolloutCommand {
	t.Helper()
	head, _, err := g.repo.Branch(t.Context(), commands.Branch)
	if err != nil {
		t.Fatal(err)
	}
	all, strange := commands.DecodeRollouts(head.Tree)
	if len(strange) > 0 {
		t.Errorf("%v are no commands", strange)
	}
	return all
}

func (g *goesOut) looks(t *testing.T) {
	t.Helper()
	if err := g.handler.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// answer is what is said on the head of the pull request.
func (g *goesOut) answer() forge.Status { return g.fake.Shown(g.fake.Pull().Head, pulls.OrderContext) }

func (g *goesOut) approval(t *testing.T) string {
	t.Helper()
	return "/waybill rollout approve team/web@" + g.rollout(t).Status.Run + " all"
}

// A comment on the pull request that was merged as what goes out approves a stage, and acts once.
func TestACommentApprovesAStage(t *testing.T) {
	g := newGoesOut(t, "")
	g.fake.SayAs(forgetest.Writer, g.approval(t))
	g.looks(t)
	g.looks(t)
	if all := g.given(t); len(all) != 1 || all[0].By != "wendy" || all[0].Via != commands.ViaComment || all[0].Stage != "all" || all[0].PullRequest != forgetest.Number {
		t.Fatalf("there are %+v", all)
	}
	if s := g.answer(); s.State != forge.Success || !strings.Contains(s.Description, "approve team/web@") || !strings.HasSuffix(s.Description, "all, by wendy") {
		t.Errorf("the answer is %+v", s)
	}
	g.publishes(t)
	r := g.rollout(t)
	if c := r.Status.Commands; g.shows(t) != "two" || len(c) != 1 || c[0].By != "wendy" || c[0].Refused || c[0].Ref != g.given(t)[0].Path() {
		t.Errorf("the cluster has %s, and the record %+v", g.shows(t), c)
	}
	g.now = g.now.Add(commands.Lasts)
	g.looks(t)
	if all := g.given(t); len(all) > 0 {
		t.Errorf("after a week there are %+v", all)
	}
}

// What does not count is not written, and nothing is released by it.
func TestACommentThatApprovesNothing(t *testing.T) {
	for _, tt := range []struct {
		name, waybill string
		says          func(g *goesOut, approval string)
		answer        string // part of it; empty for none
	}{
		{"a reader's", "", func(g *goesOut, a string) { g.fake.SayAs(forgetest.Reader, a) }, ""},
		{"a stranger's", "", func(g *goesOut, a string) { g.fake.SayAs(forgetest.Stranger, a) }, ""},
		{"a bot's", "", func(g *goesOut, a string) { g.fake.SayAs(forgetest.Waybill, a) }, ""},
		{"an edited one", "", func(g *goesOut, a string) {
			if err := g.fake.EditComment(t.Context(), forgetest.Number, g.fake.SayAs(forgetest.Writer, "x").ID, a); err != nil {
				panic(err)
			}
		}, "refused: the comment was edited"},
		{"about another run", "", func(g *goesOut, a string) {
			g.fake.SayAs(forgetest.Writer, "/waybill rollout approve team/web@"+strings.Repeat("0", 32)+" all")
		}, "refused: it is about the run 00000000000000000000000000000000"},
		{"about another unit", "", func(g *goesOut, a string) {
			g.fake.SayAs(forgetest.Writer, strings.Replace(a, "team/web", "team/other", 1))
		}, "refused: team/other does not go out in stages"},
		{"about another stage", "", func(g *goesOut, a string) { g.fake.SayAs(forgetest.Writer, strings.Replace(a, " all", " prod", 1)) }, "refused: it is all that is at work"},
		{"without its run", "", func(g *goesOut, a string) {
			g.fake.SayAs(forgetest.Writer, "/waybill rollout approve team/web all")
		}, "refused: it names no run"},
		{"on a pull request that was closed", "", func(g *goesOut, a string) {
			g.fake.Merge("")
			g.fake.SayAs(forgetest.Writer, a)
		}, ""},
		{"on one that was merged as something else", "", func(g *goesOut, a string) {
			g.fake.Merge(strings.Repeat("5", 40))
			g.fake.SayAs(forgetest.Writer, a)
		}, ""},
	} {
		g := newGoesOut(t, tt.waybill)
		tt.says(g, g.approval(t))
		g.looks(t)
		if all := g.given(t); len(all) > 0 {
			t.Errorf("%s: there are %+v", tt.name, all)
		}
		if s := g.answer(); !strings.Contains(s.Description, tt.answer) || (s.State == "") != (tt.answer == "") {
			t.Errorf("%s: the answer is %+v", tt.name, s)
		}
		if g.publishes(t); g.shows(t) != "one" {
			t.Errorf("%s: it is released", tt.name)
		}
	}
}

// Whoever opened the pull request does not approve it where the commit before says so, whatever the change says.
func TestAnAuthorDoesNotApprove(t *testing.T) {
	g := newGoesOut(t, "commands: {notAuthor: true}")
	g.fake.SayAs(forgetest.Author, g.approval(t))
	g.looks(t)
	res := g.publishes(t)
	if all := g.given(t); len(all) != 1 || !all[0].IsAuthor || g.shows(t) != "one" {
		t.Errorf("the cluster has %s, and there are %+v", g.shows(t), all)
	}
	var all strings.Builder
	for _, d := range res.Diags {
		all.WriteString(d.String() + "\n")
	}
	said := all.String()
	if !strings.Contains(said, "whoever opened the pull request may not approve it; ask somebody else") || !strings.Contains(said, "[rollout-command-refused]") {
		t.Errorf("it says\n%s", said)
	}
	g.fake.SayAs(forgetest.Writer, g.approval(t))
	g.looks(t)
	if g.publishes(t); g.shows(t) != "two" {
		t.Error("somebody else's approval does not count")
	}
}

// Whoever opened the pull request does not approve it where the forge's commands are taken by such rules; the author stops it, and others
// approve it.
func TestAnAuthorDoesNotApproveByTheRulesOfComments(t *testing.T) {
	g := newGoesOut(t, "")
	g.handler.Rules.NotAuthor = true
	g.fake.SayAs(forgetest.Author, g.approval(t))
	g.looks(t)
	if s := g.answer(); len(g.given(t)) > 0 || s.State != forge.Failure || !strings.Contains(s.Description, "whoever made the change may not approve it") {
		t.Errorf("there are %+v, and the answer is %+v", g.given(t), s)
	}
	stop, _, _ := strings.Cut(strings.Replace(g.approval(t), "approve", "stop", 1), "@")
	g.fake.SayAs(forgetest.Author, stop+"@"+g.rollout(t).Status.Run)
	g.fake.SayAs(forgetest.Writer, g.approval(t))
	g.looks(t)
	if all := g.given(t); len(all) != 2 {
		t.Errorf("there are %+v, and the answer is %+v", all, g.answer())
	}
}

// A comment on an open pull request counts for the run that it names.
func TestACommentOnAnOpenPullRequest(t *testing.T) {
	g := newGoesOut(t, "")
	g.fake.Merge("")
	g.fake.Reopen()
	g.fake.SayAs(forgetest.Author, g.approval(t))
	g.looks(t)
	if g.publishes(t); g.shows(t) != "two" {
		t.Error("it is not released")
	}
}

// What the forge does not answer is asked at the next look, and releases nothing.
func TestAForgeThatFailsReleasesNothing(t *testing.T) {
	for _, method := range []string{"PullRequestsMergedAs", "Comments", "Permission"} {
		g := newGoesOut(t, "")
		g.now = g.now.Add(time.Hour) // by then what the forge says of a merge is kept
		g.fake.SayAs(forgetest.Writer, g.approval(t))
		g.fake.Fail = func(m string) error {
			if m == method {
				return errors.New("the forge is away")
			}
			return nil
		}
		if err := g.handler.Look(t.Context()); err == nil {
			t.Errorf("%s: it is not said", method)
		}
		if g.publishes(t); g.shows(t) != "one" || len(g.given(t)) > 0 {
			t.Errorf("%s: the cluster has %s, and there are %+v", method, g.shows(t), g.given(t))
		}
		g.fake.Fail = nil
		g.looks(t)
		if g.publishes(t); g.shows(t) != "two" {
			t.Errorf("%s: the command is lost", method)
		}
	}
}

// A command about a change is none once that is merged, though what goes out is commanded there: it is not even refused.
func TestACommandAboutAChangeThatIsMerged(t *testing.T) {
	g := newGoesOut(t, "")
	for _, said := range []string{
		"/waybill approve-prune " + strings.Repeat("a", 40) + " " + g.fake.Pull().Head,
		"/waybill preview " + g.fake.Pull().Head, "/waybill approve-all",
	} {
		g.fake.SayAs(forgetest.Writer, said)
		g.looks(t)
		head, _, err := g.repo.Branch(t.Context(), commands.Branch)
		if s := g.answer(); err != nil || s.State != "" || head.Tree != nil {
			t.Errorf("%s is answered %+v; %v", said, s, err)
		}
	}
	g.fake.SayAs(forgetest.Writer, strings.Replace(g.approval(t), "web", "mail", 1))
	g.looks(t)
	if s := g.answer(); s.State != forge.Failure || !strings.Contains(s.Description, "team/mail does not go out in stages") {
		t.Errorf("of what does not go out it says %+v", s)
	}
}
