package given_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/test/twin"
)

// goes has another unit go out in stages, before the first one, by the rules of a commit with such files.
func (w *world) goes(name string, phase rollouts.Phase, tree twin.Tree) {
	id := w.repo.Write("rules-of-"+name, "rules", tree.Folder())
	w.state.Rollouts = append([]rollouts.Rollout{{Unit: rollouts.Unit{Namespace: "team", Name: name}, Status: rollouts.Status{
		Run: run, Phase: phase, Base: rollouts.Version{Commit: id.String()}, Target: rollouts.Version{Commit: w.head.String()},
	}}}, w.state.Rollouts...)
}

// config is a waybill.yaml.
func config(rollout string) twin.Tree {
	return twin.Tree{"waybill.yaml": twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {rollout: {" + rollout + "}}\n"))}
}

// about is a command about another unit than the first one.
func about(name string, verb rollouts.Verb) commands.RolloutCommand {
	c := said(verb, "")
	c.Unit = "team/" + name
	return c
}

// A command counts by the rules and the signers of what was published before its run. Where these cannot be read, it does not count.
func TestByWhoseRulesACommandCounts(t *testing.T) {
	signedTree := config("commands: {signed: true}")
	for _, tt := range []struct {
		name string
		by   string
		c    commands.RolloutCommand
		edit func(w *world)
		want string // begins so
	}{
		{"of a run that is open, by those of its base", "eve", about("web", rollouts.Stop), func(*world) {}, `by "", says "who says so"`},
		{"of a run that is done, by those of what was published", "eve", about("web", rollouts.Stop), func(w *world) {
			w.state.Rollouts[0].Status.Phase = rollouts.Done
		}, `by "eve@example.com", says ""`},
		{"of a unit that never went out, by those of what was published", "eve", about("fresh", rollouts.Stop), func(*world) {}, `by "eve@example.com"`},
		{"of the second unit, by those of its base", "wendy", about("web", rollouts.Bypass), func(w *world) {
			w.goes("other", rollouts.Updating, config("bypass: never"))
		}, `by "wendy@example.com"`},
		{"of the first unit, by those of its base", "wendy", about("other", rollouts.Bypass), func(w *world) {
			w.goes("other", rollouts.Updating, config("bypass: never"))
		}, "refused: bypass team/other"},
		{
			"and nothing was published before", "wendy", about("fresh", rollouts.Stop), func(w *world) { w.state.Published.Commit = "" },
			"refused: stop team/fresh (" + commandOf(about("fresh", rollouts.Stop)) + ") does not count: what the source says of commands in  cannot be read: nothing was published before",
		},
		{"and its base is not there", "wendy", about("web", rollouts.Stop), func(w *world) {
			w.state.Rollouts[0].Status.Base.Commit = strings.Repeat("ab", 20)
		}, "refused: stop team/web (" + commandOf(about("web", rollouts.Stop)) + ") does not count: what the source says of commands in abababababab cannot be read"},
		{"and its base has rules that cannot be read", "wendy", about("other", rollouts.Stop), func(w *world) {
			w.goes("other", rollouts.Updating, config("bypass: sometimes"))
		}, "refused: stop team/other (" + commandOf(about("other", rollouts.Stop)) + ") does not count: what the source says of commands in "},
		{"and its base names no signers", "wendy", about("other", rollouts.Stop), func(w *world) {
			w.goes("other", rollouts.Updating, twin.Tree{"a": twin.File(nil)})
		}, `by "", says "who says so"`},
		{"and its base names no signers, and wants a signature", "wendy", about("other", rollouts.Stop), func(w *world) {
			w.goes("other", rollouts.Updating, signedTree)
		}, "has no .waybill/allowed_signers, which names them"},
		{"and its base has signers that cannot be read, and wants a signature", "wendy", about("other", rollouts.Stop), func(w *world) {
			w.goes("other", rollouts.Updating, twin.Tree{"waybill.yaml": signedTree["waybill.yaml"], ".waybill/allowed_signers": twin.File([]byte("wendy"))})
		}, ".waybill/allowed_signers of "},
	} {
		w := newWorld(t, "")
		tt.edit(w)
		w.writes(tt.by, tt.c)
		if got := w.one(); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func commandOf(c commands.RolloutCommand) string { return c.Path() }

// Where nothing of the source can be read, as of a plan of what is in no repository, nothing counts, and no trailer is looked for.
func TestWithoutASourceNothingCounts(t *testing.T) {
	w := newWorld(t, "")
	w.state.Published.Commit = w.base.String()
	w.writes("wendy", said(rollouts.Stop, ""))
	var none published.Repository
	if all, ignored := w.reads(none); len(all) > 0 || len(ignored) != 1 || !strings.Contains(ignored[0].What, "nothing was published before") {
		t.Errorf("there are %+v and %+v", all, ignored)
	}
}

// A bypass of all units counts only by the rules of each run that is open, and of what was published.
func TestABypassOfAllUnits(t *testing.T) {
	for _, tt := range []struct {
		name, by string
		edit     func(w *world)
		counts   bool
	}{
		{"who is a signer of all", "wendy", func(*world) {}, true},
		{"who is none of the run that is open", "eve", func(*world) {}, false},
		{"who is none of a run that is done", "eve", func(w *world) { w.state.Rollouts[0].Status.Phase = rollouts.Done }, true},
		{"who is none of another run that is open", "wendy", func(w *world) { w.goes("other", rollouts.Updating, twin.Tree{"a": twin.File(nil)}) }, false},
		{"who is none of another run that is done", "wendy", func(w *world) { w.goes("other", rollouts.Done, twin.Tree{"a": twin.File(nil)}) }, true},
		{"where it is never in another run that is done", "wendy", func(w *world) { w.goes("other", rollouts.Done, config("bypass: never")) }, true},
	} {
		w := newWorld(t, "")
		tt.edit(w)
		w.pushes(tt.by, "hurry\n\nWaybill-Rollout: bypass *")
		all, ignored := w.reads(w.repo)
		if counts := len(all) == 1; counts != tt.counts || len(all)+len(ignored) != 1 {
			t.Errorf("%s: there are %+v and %+v", tt.name, all, ignored)
		}
	}
}

// What was recorded of a command is found among what was recorded of others.
func TestWhatWasRecordedOfOthers(t *testing.T) {
	w := newWorld(t, "")
	w.state.Rollouts[0].Status.Commands = []rollouts.Command{{Verb: rollouts.Resume, Run: run, By: "zoe", Ref: "orders/another.json"}}
	w.writes("wendy", said(rollouts.Stop, ""))
	if got := w.one(); got != `by "wendy@example.com", says ""` {
		t.Errorf("it is %s", got)
	}
}
