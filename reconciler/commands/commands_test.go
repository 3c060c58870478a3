package commands_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/git"
)

var (
	head  = strings.Repeat("ab", 20)
	other = strings.Repeat("cd", 20)
	noon  = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
)

// adds are what a pull request adds, and older is a digest of the form of before.
var adds = guard.Removals{{Clusters: []string{"eu"}, Objects: []object.Ref{{Kind: "ConfigMap", Namespace: "shop", Name: "app"}}}}

var digest = adds.Digest()

const older = "0123456789abcdef"

func TestParse(t *testing.T) {
	prune, preview := commands.Parsed{Verb: commands.ApprovePrune, Digest: digest, Head: head}, commands.Parsed{Verb: commands.Preview, Head: head}
	for body, want := range map[string]struct {
		command commands.Parsed
		is      bool
		wrong   string
	}{
		"/waybill approve-prune " + digest + " " + head:                   {prune, true, ""},
		"\r\n  /waybill  approve-prune " + digest + "  " + head + "\r\nx": {prune, true, ""},
		"/waybill preview " + head:                                        {preview, true, ""},
		"/waybill preview " + head[:12]:                                   {commands.Parsed{}, true, "whole name of the commit"},
		"/waybill preview":                                                {commands.Parsed{}, true, "/waybill preview HEAD"},
		"/waybill approve-prune " + digest:                                {commands.Parsed{}, true, "/waybill approve-prune DIGEST HEAD"},
		"/waybill approve-prune " + older + " " + head:                    {commands.Parsed{}, true, "/waybill approve-prune DIGEST HEAD"},
		"/waybill approve-prune * " + head:                                {commands.Parsed{}, true, "none of the commands"},
		"/waybill approve-prune " + digest + " " + head + " please":       {commands.Parsed{}, true, "none of the commands"},
		"/waybill approve-prune " + digest + " " + head[:12]:              {commands.Parsed{}, true, "whole name of the commit"},
		"/waybill preview " + digest + " " + head:                         {commands.Parsed{}, true, "none of the commands"},
		"/waybill destroy":                                                {commands.Parsed{}, true, "none of the commands"},
		"> /waybill preview " + head:                                      {},
		"please /waybill preview":                                         {},
		"look\n/waybill preview x":                                        {},
		"```\n/waybill preview x":                                         {},
		"/waybillpreview":                                                 {},
		"":                                                                {},
	} {
		got, is, err := commands.Parse(body)
		if got != want.command || is != want.is || (err == nil) != (want.wrong == "") || err != nil && !strings.Contains(err.Error(), want.wrong) {
			t.Errorf("%q is %+v, %v, %v", body, got, is, err)
		}
		if again, _, err := commands.Parse(got.String()); want.is && want.wrong == "" && (err != nil || again != got) {
			t.Errorf("%q is written as %q", body, got)
		}
	}
}

func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*commands.Request, *commands.Rules)
		want string // part of why; empty if it counts
	}{
		{"a maintainer", func(*commands.Request, *commands.Rules) {}, ""},
		{"an administrator", func(a *commands.Request, _ *commands.Rules) { a.May = forge.Admin }, ""},
		{"a reader", func(a *commands.Request, _ *commands.Rules) { a.May = forge.Read }, "wendy has read"},
		{"a stranger", func(a *commands.Request, _ *commands.Rules) { a.May = forge.None }, "wendy has none"},
		{"a bot", func(a *commands.Request, _ *commands.Rules) { a.Comment.Author.Bot = true }, "a bot"},
		{"Waybill", func(a *commands.Request, _ *commands.Rules) { a.Comment.Mine = true }, "a bot"},
		{"edited", func(a *commands.Request, _ *commands.Rules) { a.Comment.Edited = true }, "was edited"},
		{"closed", func(a *commands.Request, _ *commands.Rules) { a.Pull.Open = false }, "not open"},
		{"pushed since", func(a *commands.Request, _ *commands.Rules) { a.Pull.Head = other }, "the head is cdcdcdcdcdcd by now"},
		{"the author", func(a *commands.Request, _ *commands.Rules) { a.Comment.Author = a.Pull.Author }, ""},
		{"the author, who may not", func(a *commands.Request, r *commands.Rules) { a.Comment.Author, r.NotAuthor = a.Pull.Author, true }, "ask somebody else"},
		{"somebody else than the author", func(_ *commands.Request, r *commands.Rules) { r.NotAuthor = true }, ""},
	} {
		a := commands.Request{
			Parsed: commands.Parsed{Verb: commands.ApprovePrune, Digest: digest, Head: head}, May: forge.Write,
			Comment: forge.Comment{ID: 9, Author: forge.User{ID: 3, Login: "wendy"}},
			Pull:    forge.PullRequest{Number: 7, Head: head, Open: true, Author: forge.User{ID: 2, Login: "ann"}},
		}
		var rules commands.Rules
		tt.edit(&a, &rules)
		if why := rules.Judge(&a); !strings.Contains(why, tt.want) || (why == "") != (tt.want == "") {
			t.Errorf("%s: %q, want %q", tt.name, why, tt.want)
		}
	}
}

// order is an order of a comment.
func order(comment int64, verb commands.Verb) commands.Command {
	o := commands.Command{Parsed: commands.Parsed{Verb: verb, Head: head}, PullRequest: 7, Comment: comment, By: "wendy", At: noon}
	if verb == commands.ApprovePrune {
		o.Digest, o.Removals = digest, adds
	}
	return o
}

// What is written is read again, and what is no order allows nothing.
func TestBranch(t *testing.T) {
	first := commands.Change{Taken: []commands.Command{order(1, commands.ApprovePrune), order(2, commands.Preview)}}
	u, err := first.Update(git.Head{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(u.Message, "2 orders\n\napprove-prune "+digest+" "+head+", by wendy on pull request 7\n") || u.Branch != commands.Branch {
		t.Errorf("the commit is %+v", u)
	}
	second := commands.Change{Taken: []commands.Command{order(3, commands.ApprovePrune)}, Void: []commands.Command{order(1, commands.ApprovePrune)}}
	if u, err = second.Update(git.Head{Tree: u.Tree}, noon); err != nil {
		t.Fatal(err)
	}
	all, strange := commands.Decode(u.Tree)
	if d := cmp.Diff([]commands.Command{order(2, commands.Preview), order(3, commands.ApprovePrune)}, all); d != "" || len(strange) > 0 {
		t.Errorf("%s, %v", d, strange)
	}
	third := commands.Change{Merged: []commands.Command{order(3, commands.ApprovePrune)}}
	third.Merged[0].Merged = other
	if u, err = third.Update(git.Head{Tree: u.Tree}, noon); err != nil {
		t.Fatal(err)
	}
	waits := all
	if all, _ = commands.Decode(u.Tree); len(all) != 2 || all[1].Merged != other || all[1].Waits() || !waits[1].Waits() {
		t.Errorf("merged, they are %+v", all)
	}
	for age, want := range map[time.Duration]int{0: 1, commands.Lasts - 1: 1, commands.Lasts: 0, -2 * time.Hour: 0} {
		contains := func(commit string) bool { return commit == other }
		got := commands.Approved(all, noon.Add(age), contains)
		if len(got) != want {
			t.Errorf("after %s %v are approved", age, got)
		}
		if len(got) == 1 && got[0].Removals.Digest() != digest {
			t.Errorf("after %s the removals that are approved are %v", age, got[0].Removals)
		}
		if got := commands.Approved(waits, noon.Add(age), func(string) bool { return true }); len(got) > 0 {
			t.Errorf("of a pull request that is not merged %v are approved", got)
		}
		if got := commands.Approved(all, noon.Add(age), func(string) bool { return false }); len(got) > 0 {
			t.Errorf("of a source that does not contain it %v are approved", got)
		}
	}
	garbled, err := json.Marshal(func() commands.Command { o := order(5, commands.ApprovePrune); o.Merged = "main"; return o }())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"7-5.json": string(garbled), "7-1.json": "{", "7-6.json": `{"verb": "approve-prune", "pullRequest": 7, "comment": 6}`, "7-7.json": `{"verb": "preview", "pullRequest": 7, "comment": 7, "by": 5}`, "7-2.json": `{"verb": "approve-prune", "digest": "*", "pullRequest": 7, "comment": 2}`, "7-4.json": `{"verb": "approve-prune", "digest": "` + digest + `", "pullRequest": 7, "comment": 4, "removals": [{"clusters": ["us"], "objects": [{"kind": "Namespace", "name": "a"}]}]}`, "8-3.json": `{"verb": "preview", "pullRequest": 7, "comment": 3}`} {
		folder := files.NewFolder([]files.Entry{files.FileEntry(name, files.NewBlob([]byte(text)))})
		root := files.NewFolder([]files.Entry{files.DirEntry("orders", folder)})
		if all, strange := commands.Decode(root); len(all) > 0 || len(strange) != 1 {
			t.Errorf("%s is %+v", text, all)
		}
	}
}

// Commands are read in the order of their comments, which is not that of their files.
func TestTheOrderOfCommands(t *testing.T) {
	change := commands.Change{Taken: []commands.Command{order(10, commands.Preview), order(9, commands.Preview)}}
	u, err := change.Update(git.Head{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	if all, _ := commands.Decode(u.Tree); len(all) != 2 || all[0].Comment != 9 {
		t.Errorf("they are %+v", all)
	}
}

// The commit says what became of each command: of one in its subject, and of several below it.
func TestWhatTheCommitSays(t *testing.T) {
	preview, merged := order(2, commands.Preview), order(3, commands.ApprovePrune)
	merged.Merged = other
	said, approval := aimed(rollouts.Stop, "", ""), "approve-prune "+digest+" "+head
	for _, tt := range []struct {
		name   string
		change commands.Change
		want   string
	}{
		{"one is taken", commands.Change{Taken: []commands.Command{preview}}, "preview " + head + ", by wendy on pull request 7\n"},
		{"one is merged", commands.Change{Merged: []commands.Command{merged}}, "merged as " + other + ": pull request 7; " + approval + ", by wendy\n"},
		{"one is void", commands.Change{Void: []commands.Command{preview}}, "void: preview " + head + ", by wendy on pull request 7\n"},
		{"one is given", commands.Change{Given: []commands.RolloutCommand{said}}, said.String() + ", by ann@example.com (cli)\n"},
		{"one has ended", commands.Change{Ended: []commands.RolloutCommand{said}}, "ended: " + said.String() + ", by ann@example.com (cli)\n"},
		{
			"one is void and one is given",
			commands.Change{Void: []commands.Command{preview}, Given: []commands.RolloutCommand{said}},
			"2 orders\n\nvoid: preview " + head + ", by wendy on pull request 7\n" + said.String() + ", by ann@example.com (cli)\n",
		},
	} {
		u, err := tt.change.Update(git.Head{}, noon)
		if err != nil || u.Message != tt.want {
			t.Errorf("%s: it says %q, %v, want %q", tt.name, u.Message, err, tt.want)
		}
		if tt.change.Empty() {
			t.Errorf("%s: it is said to be no change", tt.name)
		}
	}
	if !new(commands.Change).Empty() {
		t.Error("what changes nothing is said to be a change")
	}
}

// Of a preview, merged or not, nothing is approved, and it waits for nothing.
func TestAPreviewApprovesNothing(t *testing.T) {
	merged := order(2, commands.Preview)
	merged.Merged = other
	for _, o := range []commands.Command{order(1, commands.Preview), merged} {
		if got := commands.Approved([]commands.Command{o}, noon, func(string) bool { return true }); len(got) > 0 || o.Waits() {
			t.Errorf("of %+v %+v are approved", o, got)
		}
	}
}

// A command about a roll-out counts by whoever may write, and by no bot, wherever it is made.
func TestJudgeComment(t *testing.T) {
	for _, tt := range []struct {
		name    string
		comment forge.Comment
		may     forge.Permission
		want    string
	}{
		{"who may write", forge.Comment{}, forge.Write, ""},
		{"who may read", forge.Comment{}, forge.Read, "it takes the permission to write"},
		{"who may write, and edited it", forge.Comment{Edited: true}, forge.Write, "was edited"},
		{"a bot that may write", forge.Comment{Author: forge.User{Bot: true}}, forge.Write, "a bot"},
		{"Waybill itself", forge.Comment{Mine: true}, forge.Admin, "a bot"},
	} {
		if why := commands.JudgeComment(&tt.comment, tt.may); !strings.Contains(why, tt.want) || (why == "") != (tt.want == "") {
			t.Errorf("%s: %q, want %q", tt.name, why, tt.want)
		}
	}
}

// What a version before stored counts until it expires.
func TestADigestOfBefore(t *testing.T) {
	o := order(1, commands.ApprovePrune)
	o.Digest, o.Removals = older, nil
	change := commands.Change{Taken: []commands.Command{o}}
	u, err := change.Update(git.Head{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	all, _ := commands.Decode(u.Tree)
	nowhere := func(string) bool { return false }
	if got := commands.Approved(all, noon, nowhere); len(got) != 1 || got[0].Digest != older || got[0].String() != "wendy on pull request 7, comment 1, at 2026-05-01T12:00:00Z" {
		t.Errorf("it is %+v", got)
	}
	if got := commands.Approved(all, noon.Add(commands.Lasts), nowhere); len(got) > 0 || all[0].Waits() {
		t.Errorf("it counts for ever: %+v", got)
	}
}
