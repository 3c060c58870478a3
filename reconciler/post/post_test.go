package post_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/post"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/forge/forgetest"
)

func TestJudge(t *testing.T) {
	mistake := []diag.Diagnostic{{Severity: diag.Error, Code: diag.BadConfig}}
	for _, tt := range []struct {
		name  string
		c     preview.Comparison
		state forge.State
		line  string
	}{
		{"nothing", preview.Comparison{}, forge.Success, "no cluster changes"},
		{"something", preview.Comparison{Totals: preview.Totals{Objects: 2}, Clusters: make([]preview.Cluster, 1)}, forge.Success, "2 objects in 1 cluster"},
		{"held", preview.Comparison{Totals: preview.Totals{Objects: 1}, Clusters: []preview.Cluster{{Held: "it would lose all"}, {}}}, forge.Failure, "1 object in 2 clusters; 1 cluster would be held"},
		{"a mistake", preview.Comparison{Diags: mistake}, forge.Failure, "the source has 1 error; no cluster changes as far as is known"},
	} {
		if state, line := post.Judge(&tt.c); state != tt.state || line != tt.line {
			t.Errorf("%s: %s, %s; want %s, %s", tt.name, state, line, tt.state, tt.line)
		}
	}
}

// show shows a verdict, and returns why it is not shown, and what the pull request says.
func show(t *testing.T, f *forgetest.Fake, c post.Change, text string) (not string, comments []string, err error) {
	t.Helper()
	shown, err := post.Show(t.Context(), f, c, post.Verdict{State: forge.Success, Line: text, Text: text})
	f.Fail = nil
	all, failed := f.Comments(t.Context(), forgetest.Number)
	if failed != nil {
		t.Fatal(failed)
	}
	for _, c := range all {
		_, said, _ := strings.Cut(c.Body, "\n")
		comments = append(comments, said)
	}
	return shown.Not, comments, err
}

func TestShow(t *testing.T) {
	f := forgetest.NewFake()
	first := f.Pull().Head
	for _, tt := range []struct {
		name string
		c    post.Change
		push bool
		says string // what the status and the comment say then
		not  string
	}{
		{name: "by its number", c: post.Change{Commit: first, Number: forgetest.Number}, says: "by its number"},
		{name: "by its head", c: post.Change{Commit: first}, says: "by its head"},
		{name: "another head", c: post.Change{Commit: first, Number: forgetest.Number}, push: true, says: "by its head", not: "another head by now"},
		{name: "no head", c: post.Change{Commit: first}, says: "by its head", not: "no open pull request has the head"},
	} {
		if tt.push {
			f.Push()
		}
		not, comments, err := show(t, f, tt.c, tt.name)
		if err != nil || len(comments) != 1 || comments[0] != tt.says || !strings.Contains(not, tt.not) || (not == "") != (tt.not == "") {
			t.Errorf("%s: %q, %v, %v", tt.name, not, comments, err)
		}
		if s := f.Shown(first, post.Context); s.Description != tt.name {
			t.Errorf("%s: the status says %+v", tt.name, s)
		}
	}
	head := f.Pull().Head
	if _, comments, err := show(t, f, post.Change{Commit: head, Source: "apps/prod"}, "of a folder"); err != nil || len(comments) != 2 {
		t.Errorf("two sources have the comments %v, %v", comments, err)
	}
	if s := f.Shown(head, "waybill/preview (apps/prod)"); s.State != forge.Success {
		t.Errorf("the status of a folder is %+v", s)
	}
}

// For a fork the token may only read, which is no failure. Elsewhere it is one.
func TestShowForAFork(t *testing.T) {
	for _, fork := range []bool{true, false} {
		for _, method := range []string{"SetStatus", "Comment"} {
			f := forgetest.NewFake()
			f.SetFork(fork)
			f.Fail = func(m string) error {
				if m == method {
					return &forge.Error{Kind: forge.GitHub, Status: http.StatusForbidden}
				}
				return nil
			}
			not, comments, err := show(t, f, post.Change{Commit: f.Pull().Head}, "x")
			if len(comments) > 0 || fork != (err == nil) || fork != strings.Contains(not, "from a fork") {
				t.Errorf("%s, of a fork: %v: %q, %v, %v", method, fork, not, comments, err)
			}
		}
	}
}

// What lets the removals happen is said as an order that can be given as it stands.
func TestTheOrderThatIsSaidIsOne(t *testing.T) {
	const head = "0123456789abcdef0123456789abcdef01234567"
	c := preview.Comparison{
		Head: head, Totals: preview.Totals{Objects: 1}, Clusters: make([]preview.Cluster, 1),
		Guard: &preview.Guard{Digest: "00112233aabbccdd00112233aabbccdd00112233", Holds: []preview.Hold{{Clusters: []string{"eu"}, Reason: "it would lose all it holds"}}},
	}
	for line := range strings.Lines(post.Of(&c).Text) {
		if command, is, err := commands.Parse(line); is {
			if err != nil || command.Verb != commands.ApprovePrune || command.Digest != c.Guard.Digest || command.Head != head {
				t.Errorf("%s is %+v, %v", line, command, err)
			}
			return
		}
	}
	t.Errorf("no order is said:\n%s", post.Of(&c).Text)
}
