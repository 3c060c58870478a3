package commands_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

const run = "8f3a1c2d8f3a1c2d8f3a1c2d8f3a1c2d"

func TestParseRolloutComment(t *testing.T) {
	for body, want := range map[string]struct {
		said  commands.Spoken
		is    bool
		wrong string
	}{
		"/waybill rollout approve team/web@" + run + " early":     {commands.Spoken{Verb: rollouts.Approve, Unit: "team/web", Run: run, Of: "early"}, true, ""},
		"\n/waybill  rollout stop _cluster/web@" + run + "\r\nso": {commands.Spoken{Verb: rollouts.Stop, Unit: "_cluster/web", Run: run}, true, ""},
		"/waybill rollout skip _group/web@" + run + " e2":         {commands.Spoken{Verb: rollouts.Skip, Unit: "_group/web", Run: run, Of: "e2"}, true, ""},
		"/waybill rollout stop team/web":                          {wrong: "it names no run", is: true},
		"/waybill rollout stop team/web@8f3a1c2d":                 {wrong: `"8f3a1c2d" is no run`, is: true},
		"/waybill rollout stop team/web@":                         {wrong: `"" is no run`, is: true},
		"/waybill rollout stop web@" + run:                        {wrong: `"web" is no unit`, is: true},
		"/waybill rollout bypass *@" + run:                        {wrong: "a comment is about one unit", is: true},
		"/waybill rollout halt team/web@" + run:                   {wrong: `"halt" is none of the verbs approve, stop, resume, skip, return, bypass`, is: true},
		"/waybill rollout approve team/web@" + run:                {wrong: "name the stage", is: true},
		"/waybill rollout return team/web@" + run + " early":      {wrong: "return is about the whole run", is: true},
		"/waybill rollout approve team/web@" + run + " a b":       {wrong: "want VERB UNIT", is: true},
		"/waybill rollout bypass web@" + run:                      {wrong: `"web" is no unit`, is: true},
		"/waybill rollout skip team/web@" + run:                   {wrong: "name a stage or a cluster", is: true},
		"/waybill":                                                {},
		"/other rollout stop team/web@" + run:                     {},
		"/waybill rollout":                                        {wrong: "want VERB UNIT", is: true},
		"/waybill rollouts stop team/web@" + run:                  {},
		"> /waybill rollout stop team/web@" + run:                 {},
		"please\n/waybill rollout stop team/web@" + run:           {},
		"/waybill preview " + head:                                {},
	} {
		said, is, err := commands.ParseRolloutComment(body)
		if said != want.said || is != want.is || (err == nil) != (want.wrong == "") || err != nil && !strings.Contains(err.Error(), want.wrong) {
			t.Errorf("%q is %+v, %v, %v", body, said, is, err)
		}
		if _, isOther, _ := commands.Parse(body); is && isOther {
			t.Errorf("%q is about a pull request, too", body)
		}
	}
}

func TestParseRolloutTrailers(t *testing.T) {
	all, wrong := commands.ParseRolloutTrailers("web 1.5\n\nWaybill-Rollout: bypass *\nwaybill-rollout: approve team/web@" + run + " early\nWaybill-Rollout: stop *\nWaybill-Rollout: approve\n")
	want := []commands.Spoken{{Verb: rollouts.Bypass, Unit: "*"}, {Verb: rollouts.Approve, Unit: "team/web", Run: run, Of: "early"}}
	if d := cmp.Diff(want, all); d != "" {
		t.Error(d)
	}
	if len(wrong) != 2 || !strings.HasPrefix(wrong[0], `"stop *": "*" is no unit`) || !strings.HasPrefix(wrong[1], `"approve": want VERB`) {
		t.Errorf("wrong are %q", wrong)
	}
	if all, wrong = commands.ParseRolloutTrailers("Waybill-Rollout: bypass *"); len(all)+len(wrong) > 0 {
		t.Errorf("a subject commands %v", all)
	}
}

// aimed is a command of the CLI.
func aimed(verb rollouts.Verb, stage, cluster string) commands.RolloutCommand {
	return commands.RolloutCommand{Verb: verb, Unit: "team/web", Run: run, Stage: stage, Cluster: cluster, By: "ann@example.com", Via: commands.ViaCLI, At: noon}
}

// What is written is read again beside other commands, and what is garbage is named and counts for nothing.
func TestRolloutFiles(t *testing.T) {
	said := aimed(rollouts.Approve, "early", "")
	comment := said
	comment.Via, comment.PullRequest, comment.Comment, comment.At = commands.ViaComment, 7, 12, noon.Add(-time.Minute)
	change := commands.Change{Taken: []commands.Command{order(2, commands.Preview)}, Given: []commands.RolloutCommand{said, comment}}
	u, err := change.Update(git.Head{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	all, strange := commands.DecodeRollouts(u.Tree)
	if d := cmp.Diff([]commands.RolloutCommand{comment, said}, all); d != "" || len(strange) > 0 {
		t.Errorf("%s, %v", d, strange)
	}
	if others, none := commands.Decode(u.Tree); len(others) != 1 || len(none) > 0 {
		t.Errorf("beside it there are %+v and %v", others, none)
	}
	if all[0].Path() != "orders/rollout-7-12.json" || !strings.HasPrefix(all[1].Path(), "orders/cli-20260501T120000Z-") {
		t.Errorf("the files are %s and %s", all[0].Path(), all[1].Path())
	}
	if !strings.Contains(u.Message, "rollout approve team/web@"+run+" early, by ann@example.com (cli)\n") {
		t.Errorf("the commit says %s", u.Message)
	}
	next := commands.Change{Ended: []commands.RolloutCommand{said}}
	if u, err = next.Update(git.Head{Tree: u.Tree}, noon); err != nil {
		t.Fatal(err)
	}
	if all, _ = commands.DecodeRollouts(u.Tree); len(all) != 1 || all[0].Comment != 12 {
		t.Errorf("what has ended is there: %+v", all)
	}
	if others, _ := commands.Decode(u.Tree); len(others) != 1 {
		t.Errorf("of the others there are %+v", others)
	}
	for age, want := range map[time.Duration]bool{0: true, commands.Lasts - 1: true, commands.Lasts: false, -2 * time.Hour: false} {
		if said.Counts(noon.Add(age)) != want {
			t.Errorf("after %s it counts: %v", age, !want)
		}
	}
}

func TestGarbageIsNoCommand(t *testing.T) {
	const text = `{"verb": "approve", "unit": "team/web", "run": "` + run + `", "stage": "early", "by": "ann", "via": "comment", "at": "2026-05-01T12:00:00Z", "pullRequest": 7, "comment": 12}`
	for name, tt := range map[string]struct{ file, text, why string }{
		"sound":             {"rollout-7-12.json", text, ""},
		"about a cluster":   {"rollout-7-12.json", strings.Replace(text, `"approve", "unit": "team/web", "run": "`+run+`", "stage": "early"`, `"skip", "unit": "team/web", "run": "`+run+`", "cluster": "c1"`, 1), ""},
		"16 KB":             {"rollout-7-12.json", text + strings.Repeat(" ", 16<<10-len(text)), ""},
		"at no time":        {"rollout-7-12.json", strings.Replace(text, `"at": "2026-05-01T12:00:00Z", `, "", 1), "by whom, when"},
		"another name":      {"rollout-7-13.json", text, "its name is not that of what it says"},
		"as by the CLI":     {"cli-20260501T120000Z-0123456789ab.json", strings.Replace(text, `"comment", "at"`, `"cli", "at"`, 1), "in which way"},
		"no JSON":           {"rollout-7-12.json", "{", "no JSON"},
		"unknown field":     {"rollout-7-12.json", strings.Replace(text, `"by"`, `"force": true, "by"`, 1), "force"},
		"unknown verb":      {"rollout-7-12.json", strings.Replace(text, "approve", "release", 1), "its verb, unit or run is none"},
		"part of a run":     {"rollout-7-12.json", strings.Replace(text, run, run[:8], 1), "its verb, unit or run is none"},
		"every unit":        {"rollout-7-12.json", strings.Replace(text, "team/web", "*", 1), "its verb, unit or run is none"},
		"nobody":            {"rollout-7-12.json", strings.Replace(text, `"ann"`, `""`, 1), "by whom"},
		"no stage":          {"rollout-7-12.json", strings.Replace(text, `"stage": "early", `, "", 1), "about no stage"},
		"two things":        {"rollout-7-12.json", strings.Replace(text, `"stage"`, `"cluster": "c1", "stage"`, 1), "more than one thing"},
		"a run as a whole":  {"rollout-7-12.json", strings.Replace(text, `"approve"`, `"stop"`, 1), "whole run"},
		"larger than 16 KB": {"rollout-7-12.json", text + strings.Repeat(" ", 16<<10), "larger"},
	} {
		in := files.NewFolder([]files.Entry{files.FileEntry(tt.file, files.NewBlob([]byte(tt.text)))})
		all, strange := commands.DecodeRollouts(files.NewFolder([]files.Entry{files.DirEntry("orders", in)}))
		if tt.why == "" {
			if len(all) != 1 || len(strange) > 0 {
				t.Errorf("%s: %+v, %q", name, all, strange)
			}
			continue
		}
		if len(all) > 0 || len(strange) != 1 || !strings.HasPrefix(strange[0], "orders/"+tt.file+": ") || !strings.Contains(strange[0], tt.why) {
			t.Errorf("%s: %+v, %q", name, all, strange)
		}
	}
	link := twin.Tree{"orders/rollout-7-12.json": twin.Link(text), "rollout-7-12.json": twin.File([]byte(text))}
	if all, strange := commands.DecodeRollouts(link.Folder()); len(all) > 0 || len(strange) != 1 || strange[0] != "orders/rollout-7-12.json: it is no file" {
		t.Errorf("a link, and a file elsewhere: %+v, %q", all, strange)
	}
}

// A stage of the run goes before a cluster of that name, and an approval is always of a stage.
func TestWhatACommandIsAbout(t *testing.T) {
	stages := []rollouts.StageStatus{{Name: "canary"}, {Name: "prod"}}
	for _, tt := range []struct {
		name           string
		said           commands.Spoken
		stage, cluster string
	}{
		{"a stage is skipped", commands.Spoken{Verb: rollouts.Skip, Of: "prod"}, "prod", ""},
		{"a cluster is skipped", commands.Spoken{Verb: rollouts.Skip, Of: "c1"}, "", "c1"},
		{"a stage is approved", commands.Spoken{Verb: rollouts.Approve, Of: "canary"}, "canary", ""},
		{"what is no stage is approved", commands.Spoken{Verb: rollouts.Approve, Of: "c1"}, "c1", ""},
	} {
		if stage, cluster := tt.said.Aim(stages); stage != tt.stage || cluster != tt.cluster {
			t.Errorf("%s: it is about the stage %q and the cluster %q", tt.name, stage, cluster)
		}
	}
}

func TestRolloutRules(t *testing.T) {
	unsigned := errors.New("it is not signed")
	authors := []git.Author{{Name: "Ann", Email: "42+ann-login@users.noreply.example"}, {Name: "Ben", Email: "ben@example.com"}, {Name: "Renovate[bot]", Email: "bot@example.org"}}
	rules := func(signed, notAuthor bool, bypass string) render.Rollout {
		return render.Rollout{Commands: render.RolloutCommands{Signed: signed, NotAuthor: notAuthor}, Bypass: bypass}
	}
	free, signed, notAuthor := rules(false, false, "allowed"), rules(true, false, "allowed"), rules(false, true, "allowed")
	never, signedBypass := rules(false, false, "never"), rules(false, false, "signed")
	for _, tt := range []struct {
		name           string
		base, now      render.Rollout
		verb           rollouts.Verb
		via, by, signs string
		isAuthor       bool
		cannot         error
		want           string // part of why; empty if it counts
	}{
		{name: "by the CLI, unsigned", base: free, now: free, verb: rollouts.Approve, via: "cli"},
		{name: "unsigned, where the base wants a signature", base: signed, now: free, verb: rollouts.Stop, via: "cli", want: "it takes a signature"},
		{name: "unsigned, where the source wants one by now", base: free, now: signed, verb: rollouts.Stop, via: "cli", want: "it takes a signature"},
		{name: "signed", base: signed, now: signed, verb: rollouts.Approve, via: "cli", signs: "wendy@example.com"},
		{name: "a trailer, unsigned", base: free, now: free, verb: rollouts.Stop, via: "trailer", want: "it takes a signature"},
		{name: "a trailer, signed", base: free, now: free, verb: rollouts.Stop, via: "trailer", signs: "ann"},
		{name: "a bypass", base: free, now: free, verb: rollouts.Bypass, via: "cli"},
		{name: "a bypass that is to be signed", base: free, now: signedBypass, verb: rollouts.Bypass, via: "cli", want: "it takes a signature"},
		{name: "a bypass that is never", base: signedBypass, now: never, verb: rollouts.Bypass, via: "trailer", signs: "ann", want: "is never"},
		{name: "a bypass that was to be signed", base: signedBypass, now: free, verb: rollouts.Bypass, via: "cli", want: "it takes a signature"},
		{name: "a bypass that is signed", base: signedBypass, now: free, verb: rollouts.Bypass, via: "cli", signs: "ann"},
		{name: "a bypass that was never", base: never, now: free, verb: rollouts.Bypass, via: "cli", want: "is never"},
		{name: "a bypass that was never, and is to be signed", base: never, now: signedBypass, verb: rollouts.Bypass, via: "cli", signs: "ann", want: "is never"},
		{name: "a stop where a bypass is to be signed", base: signedBypass, now: signedBypass, verb: rollouts.Stop, via: "cli"},
		{name: "a stop where a bypass is never", base: never, now: never, verb: rollouts.Stop, via: "cli"},
		{name: "by nobody known", base: notAuthor, now: free, verb: rollouts.Approve, via: "cli", want: "who gave it is not known"},
		{name: "by an author", base: notAuthor, now: free, verb: rollouts.Approve, via: "cli", signs: "ben@example.com", want: "wrote a commit of what is approved"},
		{name: "by an author, among others", base: notAuthor, now: free, verb: rollouts.Approve, via: "cli", signs: "zoe,*@example.com", want: "wrote a commit"},
		{name: "by an author, after a comma and a space", base: notAuthor, now: free, verb: rollouts.Approve, via: "cli", signs: "zoe, ben@example.com", want: "wrote a commit"},
		{name: "by somebody else, and a comma", base: notAuthor, now: free, verb: rollouts.Approve, via: "cli", signs: "zoe,"},
		{name: "by an author whose name reads like a pattern", base: notAuthor, now: free, verb: rollouts.Approve, via: "comment", by: "renovate[bot]", want: "wrote a commit"},
		{name: "by a name that is no pattern", base: notAuthor, now: free, verb: rollouts.Approve, via: "cli", signs: "[ben"},
		{name: "by an author, of an OpenPGP key", base: notAuthor, now: free, verb: rollouts.Approve, via: "cli", signs: "Someone <ben@example.com>", want: "wrote a commit"},
		{name: "by somebody else", base: notAuthor, now: notAuthor, verb: rollouts.Approve, via: "cli", signs: "wendy@example.com"},
		{name: "an author stops it", base: notAuthor, now: notAuthor, verb: rollouts.Stop, via: "cli", signs: "ben@example.com"},
		{name: "a comment by somebody else", base: notAuthor, now: free, verb: rollouts.Approve, via: "comment", by: "wendy"},
		{name: "a comment by who opened the pull request", base: notAuthor, now: free, verb: rollouts.Approve, via: "comment", by: "zoe", isAuthor: true, want: "opened the pull request"},
		{name: "a comment by who wrote a commit", base: notAuthor, now: free, verb: rollouts.Approve, via: "comment", by: "Ann-Login", want: "wrote a commit"},
		{name: "authors that cannot be read", base: notAuthor, now: free, verb: rollouts.Approve, via: "comment", by: "wendy", cannot: errors.New("gone"), want: "cannot be read: gone"},
	} {
		giver := commands.Giver{Signer: tt.signs, Unsigned: unsigned, IsAuthor: tt.isAuthor, Authors: func() ([]git.Author, error) { return authors, tt.cannot }}
		err := commands.StrictestRules(tt.base, tt.now).Judge(&rollouts.Command{Verb: tt.verb, Via: tt.via, By: tt.by}, &giver)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// A command that would do nothing is foreseen.
func TestForesee(t *testing.T) {
	approval := []rollouts.StageTask{{Type: rollouts.ApprovalTask}}
	in := func(phase rollouts.Phase, canary, prod rollouts.Phase) *rollouts.Rollout {
		return &rollouts.Rollout{
			Unit:     rollouts.Unit{Namespace: "team", Name: "web"},
			Strategy: rollouts.Strategy{Stages: []rollouts.Stage{{Name: "canary", AfterStageTasks: approval}, {Name: "prod", BeforeStageTasks: approval}}},
			Status: rollouts.Status{
				Run: run, Phase: phase, Base: rollouts.Version{Commit: head}, Target: rollouts.Version{Commit: other}, Message: "canary: c1 to become healthy",
				Stages: []rollouts.StageStatus{{Name: "canary", Phase: canary}, {Name: "prod", Phase: prod}},
			},
			Clusters: map[string]rollouts.Cluster{
				"c1": {Stage: "canary", State: rollouts.Healthy, Released: metav1.NewTime(noon)}, "p1": {Stage: "prod", State: rollouts.Pending}, "p2": {Stage: "prod", State: rollouts.Skipped},
			},
		}
	}
	updating, soaking := in(rollouts.Updating, rollouts.Updating, rollouts.Waiting), in(rollouts.Soaking, rollouts.Soaking, rollouts.Waiting)
	waiting, done := in(rollouts.Waiting, rollouts.Done, rollouts.Waiting), in(rollouts.Done, rollouts.Done, rollouts.Done)
	stopped, kept, returning := in(rollouts.Stopped, rollouts.Updating, rollouts.Waiting), in(rollouts.Stopped, rollouts.Updating, rollouts.Waiting), in(rollouts.Returning, rollouts.Updating, rollouts.Waiting)
	kept.Status.Reason = rollouts.KeptBack
	approvedAlready := in(rollouts.Soaking, rollouts.Soaking, rollouts.Waiting)
	approvedAlready.Status.Stages[0].After = []rollouts.Task{{Type: rollouts.ApprovalTask, DoneTime: metav1.NewTime(noon)}}
	approvedBefore := in(rollouts.Waiting, rollouts.Done, rollouts.Waiting)
	approvedBefore.Status.Stages[1].Before = []rollouts.Task{{Type: rollouts.ApprovalTask, DoneTime: metav1.NewTime(noon)}}
	soaked := in(rollouts.Approving, rollouts.Approving, rollouts.Waiting)
	soaked.Strategy.Stages[0].AfterStageTasks = []rollouts.StageTask{{Type: rollouts.WaitTask}, approval[0]}
	soaked.Status.Stages[0].After = []rollouts.Task{{Type: rollouts.WaitTask, DoneTime: metav1.NewTime(noon)}, {Type: rollouts.ApprovalTask}}
	onlySoaks := in(rollouts.Soaking, rollouts.Soaking, rollouts.Waiting)
	onlySoaks.Strategy.Stages[0].AfterStageTasks = []rollouts.StageTask{{Type: rollouts.WaitTask}}
	last := in(rollouts.Soaking, rollouts.Done, rollouts.Soaking)
	last.Strategy.Stages[1].AfterStageTasks = approval
	over, gone := in(rollouts.Updating, rollouts.Done, rollouts.Done), in(rollouts.Waiting, rollouts.Done, rollouts.Waiting)
	gone.Strategy.Stages = gone.Strategy.Stages[:1]
	finishing, first := in(rollouts.Finishing, rollouts.Done, rollouts.Done), in(rollouts.Updating, rollouts.Updating, rollouts.Waiting)
	first.Status.Base = rollouts.Version{}
	first.Clusters["c2"] = rollouts.Cluster{Stage: "canary", State: rollouts.Pending}
	for _, tt := range []struct {
		name  string
		of    *rollouts.Rollout
		c     commands.RolloutCommand
		says  string
		wrong string
	}{
		{"too early", updating, aimed(rollouts.Approve, "canary", ""), "", "canary is not soaking yet: canary: c1 to become healthy"},
		{"after the stage", soaking, aimed(rollouts.Approve, "canary", ""), "when canary has soaked, prod follows, 2 clusters", ""},
		{"twice", approvedAlready, aimed(rollouts.Approve, "canary", ""), "", "waits for no approval"},
		{"another stage", soaking, aimed(rollouts.Approve, "prod", ""), "", "it is canary that is at work"},
		{"before the stage", waiting, aimed(rollouts.Approve, "prod", ""), "prod may begin", ""},
		{"before the stage, twice", approvedBefore, aimed(rollouts.Approve, "prod", ""), "", "prod waits for no approval"},
		{"after the stage, which has soaked", soaked, aimed(rollouts.Approve, "canary", ""), "when canary has soaked, prod follows", ""},
		{"of a stage that only soaks", onlySoaks, aimed(rollouts.Approve, "canary", ""), "", "canary waits for no approval"},
		{"after the last stage", last, aimed(rollouts.Approve, "prod", ""), "when prod has soaked, the run ends", ""},
		{"when every stage is over", over, aimed(rollouts.Approve, "prod", ""), "", "no stage waits for an approval"},
		{"of a stage that the strategy has no more", gone, aimed(rollouts.Approve, "prod", ""), "", "the strategy has no stage prod"},
		{"of a stopped run", stopped, aimed(rollouts.Approve, "canary", ""), "", "the run is Stopped"},
		{"of no run", done, aimed(rollouts.Stop, "", ""), "", "no run of team/web is open: it is done with cdcdcdcdcdcd"},
		{"stop", updating, aimed(rollouts.Stop, "", ""), "1 cluster got it before, and not yet: 1", ""},
		{"stop, twice", stopped, aimed(rollouts.Stop, "", ""), "", "the run is Stopped, and releases nothing"},
		{"resume", stopped, aimed(rollouts.Resume, "", ""), "what failed so far is forgiven", ""},
		{"resume what was kept back", kept, aimed(rollouts.Resume, "", ""), "cdcdcdcdcdcd is tried again", ""},
		{"resume what goes on", updating, aimed(rollouts.Resume, "", ""), "", "and not Stopped"},
		{"skip a cluster", updating, aimed(rollouts.Skip, "", "p1"), "nobody waits for p1", ""},
		{"skip it twice", updating, aimed(rollouts.Skip, "", "p2"), "", "p2 is skipped already"},
		{"skip none", updating, aimed(rollouts.Skip, "", "nosuch"), "", "nosuch is no cluster of the run"},
		{"skip a stage", waiting, aimed(rollouts.Skip, "prod", ""), "prod ends; what did not get the change keeps what it has until the next run: 1 cluster", ""},
		{"skip a stage while another one has clusters that wait", first, aimed(rollouts.Skip, "canary", ""), "until the next run: 1 cluster", ""},
		{"skip what is over", waiting, aimed(rollouts.Skip, "canary", ""), "", "canary is over already"},
		{"return", stopped, aimed(rollouts.Return, "", ""), "gets abababababab again at once, in 1 cluster", ""},
		{"return, twice", kept, aimed(rollouts.Return, "", ""), "", "went back to abababababab already"},
		{"return to what is not known", first, aimed(rollouts.Return, "", ""), "", "the version before is not known"},
		{"approve while it goes back", returning, aimed(rollouts.Approve, "canary", ""), "", "no stage waits for an approval"},
		{"stop while it goes back", returning, aimed(rollouts.Stop, "", ""), "", "the run is Returning, and releases nothing"},
		{"resume while it goes back", returning, aimed(rollouts.Resume, "", ""), "", "and not Stopped"},
		{"bypass what is over", finishing, aimed(rollouts.Bypass, "", ""), "", "every stage is over already"},
		{"while it goes back", returning, aimed(rollouts.Bypass, "", ""), "", "goes back to abababababab already"},
		{"bypass", updating, aimed(rollouts.Bypass, "", ""), "cdcdcdcdcdcd reaches 1 more cluster at once", ""},
	} {
		says, err := commands.Foresee(tt.of, &tt.c)
		if (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) || !strings.Contains(says, tt.says) {
			t.Errorf("%s: %q, %v", tt.name, says, err)
		}
	}
}
