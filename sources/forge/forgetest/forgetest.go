// Package forgetest holds forges to what they promise: Run is one suite for every client, and
// Fake a forge in memory that passes it. GitHub, GitLab and Gitea serve a Fake by the API of each, as
// their documentation describes it, and refuse every request that is not as it should be.
package forgetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/forge"
)

// T is what of a test the suite uses.
type T interface {
	Helper()
	Context() context.Context
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// World is a repository with an open pull request, and what people do there.
type World struct {
	Forge                            forge.Forge
	Number                           int    // of the pull request
	Head                             string // its head
	Base                             string // the branch that it is for
	Author, Writer, Reader, Stranger forge.User
	// Say has somebody comment, Edit edits a comment, Push gives the pull request another head,
	// Merge merges it, and returns what its base stands at then, Shown returns the status that is shown, and Labels are those of
	// the pull request.
	Say    func(t T, as forge.User, body string)
	Edit   func(t T, comment int64, body string)
	Push   func(t T) (head string)
	Merge  func(t T) (commit string)
	Shown  func(t T, commit, about string) forge.Status
	Labels func(t T) []string
}

// patience is how long the suite waits for what a forge does a moment later.
const patience = 20 * time.Second

// Run holds a forge to its promises. Open is called once a test.
func Run(t *testing.T, open func(t *testing.T) World) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, World){
		"PullRequest": pullRequest, "Merged": merged, "Merge": merge, "Label": label, "Head": head, "Comments": comments, "ManyComments": manyComments,
		"Say": say, "SayAgain": sayAgain, "SayAtOnce": sayAtOnce, "SayBesideOthers": sayBesideOthers, "SayTwice": sayTwice,
		"Status": status, "Statuses": statuses, "Permission": permission,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// must fails a test by an error.
func must[V any](t *testing.T) func(V, error) V {
	t.Helper()
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !holds() {
		if ctx.Err() != nil {
			t.Fatalf("never: %s", what)
		}
	}
}

func pullRequest(t *testing.T, w World) {
	t.Helper()
	p := must[forge.PullRequest](t)(w.Forge.PullRequest(t.Context(), w.Number))
	if p.Number != w.Number || p.Head != w.Head || p.Base != w.Base || p.Author.Login != w.Author.Login || !p.Open || p.Fork || p.Branch != "change" || p.Member || p.URL == "" || p.Title != "a change" {
		t.Errorf("the pull request is %+v", p)
	}
	if _, err := w.Forge.PullRequest(t.Context(), w.Number+999); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("a pull request that is not there: %v", err)
	}
}

// merged requires that a forge says as which commit a pull request was merged, and nothing before: some
// have a commit of a trial.
func merged(t *testing.T, w World) {
	t.Helper()
	if p := must[forge.PullRequest](t)(w.Forge.PullRequest(t.Context(), w.Number)); p.Merged != "" {
		t.Errorf("an open pull request is %+v", p)
	}
	asCommit := func(commit string) []forge.PullRequest {
		return must[[]forge.PullRequest](t)(w.Forge.PullRequestsMergedAs(t.Context(), commit))
	}
	if found := asCommit(w.Head); len(found) > 0 {
		t.Errorf("the head of an open pull request was merged by %+v", found)
	}
	want := w.Merge(t)
	eventually(t, "it is merged", func() bool {
		p := must[forge.PullRequest](t)(w.Forge.PullRequest(t.Context(), w.Number))
		return !p.Open && p.Head == w.Head && p.Merged == want
	})
	eventually(t, "the forge says what was merged as the commit", func() bool {
		found := asCommit(want)
		if len(found) != 1 {
			return false
		}
		p := found[0]
		return p.Number == w.Number && p.Merged == want && !p.Open && p.Author.Login == w.Author.Login
	})
	for _, other := range []string{strings.Repeat("1", 40), w.Head} {
		if found := asCommit(other); len(found) > 0 && other != want {
			t.Errorf("%s was merged by %+v", other, found)
		}
	}
}

// merge requires that a forge merges a pull request at the head that is named, and at no other.
func merge(t *testing.T, w World) {
	t.Helper()
	m, merges := w.Forge.(forge.Merger)
	if !merges {
		t.Fatalf("%T merges nothing", w.Forge)
	}
	is := func() forge.PullRequest {
		return must[forge.PullRequest](t)(w.Forge.PullRequest(t.Context(), w.Number))
	}
	next := w.Push(t)
	eventually(t, "the pull request has its new head", func() bool { return is().Head == next })
	if err := m.MergePullRequest(t.Context(), w.Number, w.Head); err == nil || !is().Open {
		t.Fatalf("it was merged at a head that it had before: %v", err)
	}
	eventually(t, "it is merged", func() bool { // some look first whether it can be
		return m.MergePullRequest(t.Context(), w.Number, next) == nil
	})
	eventually(t, "it says so", func() bool { return !is().Open && is().Merged != "" })
	if err := m.MergePullRequest(t.Context(), w.Number, next); err == nil {
		t.Error("it was merged twice")
	}
	if err := m.MergePullRequest(t.Context(), w.Number+999, next); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("a pull request that is not there was merged: %v", err)
	}
}

// label requires that a label comes and goes, be it there already or not, and that another one stays.
func label(t *testing.T, w World) {
	t.Helper()
	l, labels := w.Forge.(forge.Labeler)
	if !labels {
		t.Fatalf("%T labels nothing", w.Forge)
	}
	for _, step := range []struct {
		name string
		has  bool
		want []string
	}{
		{"waybill-one", false, nil},
		{"waybill-one", true, []string{"waybill-one"}},
		{"waybill-one", true, []string{"waybill-one"}},
		{"waybill two", true, []string{"waybill two", "waybill-one"}},
		{"waybill-one", false, []string{"waybill two"}},
		{"waybill-one", false, []string{"waybill two"}},
		{"waybill-one", true, []string{"waybill two", "waybill-one"}},
	} {
		set := map[bool]func(context.Context, int, string) error{true: l.AddLabel, false: l.RemoveLabel}[step.has]
		if err := set(t.Context(), w.Number, step.name); err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(slices.Values(w.Labels(t))); !slices.Equal(got, step.want) {
			t.Fatalf("after %q is %t the labels are %q, want %q", step.name, step.has, got, step.want)
		}
	}
	if err := l.AddLabel(t.Context(), w.Number+999, "waybill-one"); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("a pull request that is not there has a label: %v", err)
	}
}

func head(t *testing.T, w World) {
	t.Helper()
	numbers := func(commit string) (found []int) {
		for _, p := range must[[]forge.PullRequest](t)(w.Forge.PullRequestsOf(t.Context(), commit)) {
			found = append(found, p.Number)
		}
		return found
	}
	if found := numbers(w.Head); len(found) != 1 || found[0] != w.Number {
		t.Errorf("the head is that of %v", found)
	}
	if found := numbers(strings.Repeat("1", 40)); len(found) != 0 {
		t.Errorf("a commit that is nowhere is the head of %v", found)
	}
	open := func(since time.Time) (found []int) {
		for _, p := range must[[]forge.PullRequest](t)(w.Forge.OpenPullRequests(t.Context(), since)) {
			found = append(found, p.Number)
		}
		return found
	}
	updated := must[forge.PullRequest](t)(w.Forge.PullRequest(t.Context(), w.Number)).Updated
	if found := open(updated); len(found) != 1 || found[0] != w.Number {
		t.Errorf("what changed at %s is %v", updated, found)
	}
	if found := open(updated.Add(time.Hour)); len(found) != 0 {
		t.Errorf("what changed later than anything is %v", found)
	}
	w.Say(t, w.Reader, "a comment changes it")
	eventually(t, "a comment changes the pull request", func() bool { return len(open(updated)) == 1 })
	next := w.Push(t)
	eventually(t, "the pull request has its new head", func() bool { return len(numbers(next)) == 1 })
	if found := numbers(w.Head); len(found) != 0 {
		t.Errorf("what was the head is that of %v", found)
	}
}

func comments(t *testing.T, w World) {
	t.Helper()
	w.Say(t, w.Author, "first\n\n`code` & <b>bold</b> ünïcode 🛶")
	w.Say(t, w.Reader, "/waybill preview")
	body := "third"
	own := must[forge.Comment](t)(w.Forge.Comment(t.Context(), w.Number, body))
	all := must[[]forge.Comment](t)(w.Forge.Comments(t.Context(), w.Number))
	if len(all) != 3 {
		t.Fatalf("there are %d comments: %+v", len(all), all)
	}
	for i, want := range []struct {
		login, body string
		mine        bool
	}{{w.Author.Login, "first\n\n`code` & <b>bold</b> ünïcode 🛶", false}, {w.Reader.Login, "/waybill preview", false}, {all[2].Author.Login, "third", true}} {
		c := all[i]
		if c.Author.Login != want.login || c.Author.ID == 0 || c.Body != want.body || c.Mine != want.mine || c.Edited || c.Created.IsZero() {
			t.Errorf("comment %d is %+v", i, c)
		}
	}
	if all[2].ID != own.ID || !own.Mine {
		t.Errorf("the own comment is %+v and %+v", own, all[2])
	}
	eventually(t, "an edited comment is said to be one", func() bool { // forges tell by the second
		body += "."
		w.Edit(t, own.ID, body)
		return must[[]forge.Comment](t)(w.Forge.Comments(t.Context(), w.Number))[2].Edited
	})
	if err := w.Forge.DeleteComment(t.Context(), w.Number, own.ID); err != nil {
		t.Fatal(err)
	}
	if all := must[[]forge.Comment](t)(w.Forge.Comments(t.Context(), w.Number)); len(all) != 2 {
		t.Errorf("after one was deleted there are %+v", all)
	}
	if err := w.Forge.EditComment(t.Context(), w.Number, own.ID, "x"); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("a comment that is gone was edited: %v", err)
	}
	if err := w.Forge.DeleteComment(t.Context(), w.Number, own.ID); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("a comment that is gone was deleted: %v", err)
	}
	if all, err := w.Forge.Comments(t.Context(), w.Number+999); err == nil { // Gitea answers this with 500
		t.Errorf("no pull request has the comments %+v", all)
	}
}

// manyComments is more than a page of comments.
func manyComments(t *testing.T, w World) {
	t.Helper()
	const many = 103
	for range many {
		w.Say(t, w.Reader, "me too")
	}
	if all := must[[]forge.Comment](t)(w.Forge.Comments(t.Context(), w.Number)); len(all) != many {
		t.Errorf("of %d comments there are %d", many, len(all))
	}
}

func status(t *testing.T, w World) {
	t.Helper()
	const about, other = "waybill/preview", "waybill/published"
	set := func(about string, s forge.State, text string) {
		t.Helper()
		err := w.Forge.SetStatus(t.Context(), forge.Status{Commit: w.Head, Context: about, State: s, Description: text, URL: "https://waybill.example/change"})
		if err != nil {
			t.Fatal(err)
		}
	}
	shows := func(about string, s forge.State, text string) {
		t.Helper()
		if got := w.Shown(t, w.Head, about); got.State != s || got.Description != text {
			t.Errorf("%s shows %+v, want %s: %s", about, got, s, text)
		}
	}
	set(about, forge.Pending, "it is planned")
	set(about, forge.Pending, "it is planned") // which changes nothing
	shows(about, forge.Pending, "it is planned")
	set(other, forge.Success, "published")
	set(about, forge.Success, "no cluster changes")
	shows(about, forge.Success, "no cluster changes")
	shows(other, forge.Success, "published")
	set(about, forge.Failure, strings.Repeat("ü\n", 200))
	if got := w.Shown(t, w.Head, about); got.State != forge.Failure || len([]rune(got.Description)) > 140 || strings.Contains(got.Description, "\n") {
		t.Errorf("a long text is shown as %+v", got)
	}
	if err := w.Forge.SetStatus(t.Context(), forge.Status{Commit: strings.Repeat("1", 40), Context: about, State: forge.Success}); err == nil {
		t.Errorf("a commit that is nowhere has a status")
	}
}

// statuses requires of each context the newest, however many there are, and an error where there is no commit.
func statuses(t *testing.T, w World) {
	t.Helper()
	list := func() []forge.Status {
		t.Helper()
		return must[[]forge.Status](t)(w.Forge.Statuses(t.Context(), w.Head))
	}
	if all := list(); len(all) != 0 {
		t.Errorf("before one was set there are %+v", all)
	}
	const many = 103 // more than a page
	for i := range many {
		for _, state := range []forge.State{forge.Pending, forge.Success, forge.Failure}[:1+i%3] {
			s := forge.Status{Commit: w.Head, Context: fmt.Sprintf("check/%03d", i), State: state, Description: string(state), URL: "https://waybill.example/change"}
			if err := w.Forge.SetStatus(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	all := list()
	if len(all) != many {
		t.Fatalf("of %d contexts there are %d statuses", many, len(all))
	}
	for i, s := range all {
		state := []forge.State{forge.Pending, forge.Success, forge.Failure}[i%3]
		want := forge.Status{
			Commit: w.Head, Context: fmt.Sprintf("check/%03d", i), State: state, Description: string(state), URL: "https://waybill.example/change",
			Creator: all[0].Creator, Time: s.Time,
		}
		if s != want || s.Creator.Login == "" || s.Creator.ID == 0 || s.Time.IsZero() {
			t.Errorf("status %d is %+v, want %+v", i, s, want)
		}
	}
	if _, err := w.Forge.Statuses(t.Context(), strings.Repeat("1", 40)); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("the statuses of a commit that is nowhere: %v", err)
	}
}

func permission(t *testing.T, w World) {
	t.Helper()
	for _, tt := range []struct {
		user forge.User
		want forge.Permission
	}{{w.Author, forge.Write}, {w.Writer, forge.Write}, {w.Reader, forge.Read}, {w.Stranger, forge.None}, {forge.User{ID: 1 << 30, Login: "nobody-of-that-name"}, forge.None}} {
		if got := must[forge.Permission](t)(w.Forge.Permission(t.Context(), tt.user)); got != tt.want {
			t.Errorf("%s may %s, want %s", tt.user.Login, got, tt.want)
		}
	}
}
