package pulls_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/pulls"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/forge/forgetest"
	"github.com/waybill-dev/waybill/test/twin"
)

// late is a forge that tells a while after a merge as which commit that was.
type late struct {
	*forgetest.Fake

	knows bool
	asked int
}

func (l *late) PullRequestsMergedAs(ctx context.Context, commit string) ([]forge.PullRequest, error) {
	if l.asked++; !l.knows {
		return nil, nil
	}
	return l.Fake.PullRequestsMergedAs(ctx, commit)
}

// A forge may tell later what was merged: it is asked until it does or ten minutes are over, and then what was commented counts.
func TestAForgeThatTellsLateIsAskedAgain(t *testing.T) {
	g := newGoesOut(t, "commands: {notAuthor: true}")
	f := &late{Fake: g.fake}
	g.handler.Forge = f
	g.fake.SayAs(forgetest.Author, g.approval(t))
	g.looks(t)
	if all := g.given(t); len(all) > 0 || f.asked != 1 {
		t.Fatalf("before it tells there are %+v, and it is asked %d times", all, f.asked)
	}
	f.knows = true
	g.looks(t)
	if all := g.given(t); len(all) != 1 || !all[0].IsAuthor || f.asked != 2 {
		t.Errorf("once it tells there are %+v, and it is asked %d times", all, f.asked)
	}
	g.looks(t)
	if f.asked != 2 {
		t.Errorf("what it told it is asked again")
	}
	never := newGoesOut(t, "")
	f = &late{Fake: never.fake}
	never.handler.Forge = f
	never.now = never.now.Add(time.Hour)
	never.looks(t)
	never.looks(t)
	if f.asked != 1 {
		t.Errorf("an hour after the merge it is asked %d times", f.asked)
	}
}

// merged is a forge with a second pull request, which was merged as another commit.
type merged struct {
	*forgetest.Fake

	other    forge.PullRequest
	comments []forge.Comment
}

func (m *merged) PullRequestsMergedAs(ctx context.Context, commit string) ([]forge.PullRequest, error) {
	if commit == m.other.Merged {
		return []forge.PullRequest{m.other}, nil
	}
	return m.Fake.PullRequestsMergedAs(ctx, commit)
}

func (m *merged) Comments(ctx context.Context, number int) ([]forge.Comment, error) {
	if number == m.other.Number {
		return m.comments, nil
	}
	return m.Fake.Comments(ctx, number)
}

// A comment on a pull request that was merged commands what it was merged as, and nothing that another one became.
func TestACommentCommandsWhatItsPullRequestBecame(t *testing.T) {
	const unit = `---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: NAME, namespace: team, annotations: {waybill.dev/rollout: careful}}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: NAME}], placement: {}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: NAME, namespace: team}
data: {v: one}
`
	fleet, _, _ := strings.Cut(stages, "---\napiVersion: policy.karmada.io/v1alpha1")
	web, db := strings.ReplaceAll(unit, "NAME", "web"), strings.ReplaceAll(unit, "NAME", "db")
	g := &goesOut{repo: twin.New("fleet"), fake: forgetest.NewFake(), now: forgetest.Epoch.Add(time.Minute)}
	publishes := func(text string) string {
		t.Helper()
		id := g.repo.Write("main", "a change", twin.Tree{"all.yaml": twin.File([]byte(text))}.Folder())
		g.publishes(t)
		return id.String()
	}
	publishes(strings.ReplaceAll(fleet+web+db, ", annotations: {waybill.dev/rollout: careful}", ""))
	publishes(fleet + web + db)
	web = strings.Replace(web, "v: one", "v: two", 1)
	g.fake.Merge(publishes(fleet + web + db))
	f := &merged{Fake: g.fake, other: forge.PullRequest{Number: 8, Head: strings.Repeat("8", 40), Base: "main", Author: forgetest.Author}}
	f.other.Merged = publishes(fleet + web + strings.Replace(db, "v: one", "v: two", 1))
	g.handler = &pulls.CommandHandler{Forge: f, Target: g.repo, Source: g.repo, Now: func() time.Time { return g.now }, Log: slog.New(slog.DiscardHandler), Changed: func() {}}
	runs := map[string]string{}
	head, _, err := g.repo.Branch(t.Context(), state.Branch)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := head.Tree.Lookup(rollouts.Folder)
	all, _ := rollouts.Decode(e.Dir)
	for i := range all {
		runs[all[i].Unit.Name] = all[i].Status.Run
	}
	say := func(id int64, of string) {
		f.comments = append(f.comments, forge.Comment{ID: id, Author: forgetest.Writer, Body: "/waybill rollout approve team/" + of + "@" + runs[of] + " all", Created: g.now})
	}
	say(901, "web")
	say(902, "db")
	g.looks(t)
	if given := g.given(t); len(given) != 1 || given[0].Unit != "team/db" || given[0].Comment != 902 {
		t.Errorf("there are %+v", given)
	}
	g.fake.SayAs(forgetest.Writer, "/waybill rollout approve team/web@"+runs["web"]+" all")
	g.looks(t)
	given := g.given(t)
	if len(given) != 2 || given[1].Unit+given[0].Unit != "team/webteam/db" && given[0].Unit+given[1].Unit != "team/webteam/db" {
		t.Errorf("there are %+v", given)
	}
}
