package publish_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// What a commit allows: removals of one cluster allow none of another that shares the commit. The older form is for all, and what
// somebody writes into the text above the trailers is nothing.
func TestWhatACommitAllows(t *testing.T) {
	for _, tt := range []struct {
		name, message string
		eu, us        bool // what was held there is allowed
		all           plan.Released
	}{
		{"nothing", "x\n\nCluster: eu\n", false, false, plan.Released{}},
		{"what eu was held for", "x\n\nCluster: eu\nCluster: us\nRemovals-Allowed-In: eu\n", true, false, plan.Released{Held: true}},
		{"what both were", "x\n\nRemovals-Allowed-In: eu\nRemovals-Allowed-In: us\n", true, true, plan.Released{Held: true}},
		{"what is missing", "x\n\nRemovals-Allowed: of what is missing\n", false, false, plan.Released{Missing: true}},
		{"the older form", "x\n\nRemovals-Allowed: of held clusters\n", true, true, plan.Released{Held: true}},
		{"both", "x\n\nRemovals-Allowed: of held clusters, of what is missing\n", true, true, plan.Released{Held: true, Missing: true}},
		{"a cluster with a longer name", "x\n\nRemovals-Allowed-In: eu-1\n", false, false, plan.Released{Held: true}},
		{"a text of a source commit", "Removals-Allowed: of held clusters\n\nRemovals-Allowed-In: eu\n\nCluster: eu\n", false, false, plan.Released{}},
	} {
		if eu, us := publish.Releases(tt.message, "eu"), publish.Releases(tt.message, "us"); eu != tt.eu || us != tt.us {
			t.Errorf("%s: of eu %v, of us %v", tt.name, eu, us)
		}
		if r := publish.ReadReleased(tt.message); r.Held != tt.all.Held || r.Missing != tt.all.Missing {
			t.Errorf("%s: it is %+v", tt.name, r)
		}
	}
}

// Where a cluster was published before, by the trailer that names it.
func TestWhereAClusterWasPublishedBefore(t *testing.T) {
	id := files.Sum("commit", []byte("before"))
	line := func(cluster, from, more string) string {
		return "Continued-From: " + cluster + " " + from + " " + id.String() + more + "\n"
	}
	for _, tt := range []struct {
		name, message string
		want          publish.Continued
		ok            bool
	}{
		{"nowhere", "x\n\nCluster: eu\n", publish.Continued{}, false},
		{"another cluster elsewhere", "x\n\n" + line("us", "waybill/cluster/us", ""), publish.Continued{}, false},
		{"a branch of its own", "x\n\n" + line("us", "waybill/cluster/us", "") + line("eu", "waybill/cluster/eu", ""), publish.Continued{From: render.Address{Branch: "waybill/cluster/eu"}, Commit: id}, true},
		{"a folder, as it was", "x\n\n" + line("eu", "waybill/clusters:eu", " as-it-was"), publish.Continued{From: render.Address{Branch: "waybill/clusters", Folder: "eu"}, Commit: id, AsItWas: true}, true},
		{"a word of a later version", "x\n\n" + line("eu", "waybill/cluster/eu", " other"), publish.Continued{From: render.Address{Branch: "waybill/cluster/eu"}, Commit: id}, true},
		{"no commit", "x\n\nContinued-From: eu waybill/cluster/eu\n", publish.Continued{}, false},
	} {
		got, ok := publish.ParseContinued(tt.message, "eu")
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%s: it is %+v, %v, want %+v", tt.name, got, ok, tt.want)
		}
	}
	if _, ok := publish.ParseContinued("x\n\nContinued-From: eu waybill/cluster/eu garbage\n", "eu"); ok {
		t.Error("garbage is a commit")
	}
}

// An observation is on top of the head that it was made over, names the last commit that holds a plan, however many observations
// are between, and the source as that does.
func TestAnObservationNamesThePlanBelow(t *testing.T) {
	planned, observed := files.Sum("commit", []byte("planned")), files.Sum("commit", []byte("observed"))
	const trailers = "Source-Repository: https://git.example/fleet\nSource-Commit: c1\nSource-Path: prod\n"
	for _, tt := range []struct {
		name string
		head git.Head
	}{
		{"over a plan", git.Head{Commit: planned, Message: "x\n\n" + trailers + "State-Commit: " + files.Sum("commit", nil).String() + "\n"}},
		{"over another observation", git.Head{Commit: observed, Message: "observed: eu\n\n" + trailers + "State-Commit: " + planned.String() + "\nObserved: eu\n"}},
	} {
		o := publish.Observation{Head: tt.head, Clusters: []string{"a", "b", "c", "d", "e"}, Why: "they are ready", Version: "v1", At: time.Date(2026, 11, 24, 12, 0, 0, 5, time.FixedZone("", 3600))}
		u := o.Update(files.NewFolder(nil))
		if u.Old != tt.head.Commit || u.Branch != "waybill/state" || !u.When.Equal(time.Date(2026, 11, 24, 11, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: the update is %+v", tt.name, u)
		}
		for key, want := range map[string]string{
			"Source-Repository": "https://git.example/fleet", "Source-Commit": "c1", "Source-Path": "prod", "State-Commit": planned.String(), "Waybill-Version": "v1",
		} {
			if got := publish.Trailer(u.Message, key); got != want {
				t.Errorf("%s: %s is %q, want %q", tt.name, key, got, want)
			}
		}
		if all := sources.Trailers(u.Message, "Observed"); len(all) != 5 {
			t.Errorf("%s: observed are %q", tt.name, all)
		}
		if !strings.HasPrefix(u.Message, "observed: a, b, c and 2 more\n\nthey are ready\n") {
			t.Errorf("%s: it says %q", tt.name, u.Message)
		}
	}
}

// The state branch is written where something else is to be said of it: that it goes on after a restore. It names who had a unit go to
// every cluster at once, and nobody who was refused that.
func TestWhenTheStateIsWritten(t *testing.T) {
	content, err := state.Encode(state.Content{}, nil, &state.Memo{})
	if err != nil {
		t.Fatal(err)
	}
	lost := files.Sum("commit", []byte("lost"))
	command := func(by, ref string, refused bool) rollouts.Command {
		return rollouts.Command{Verb: rollouts.Bypass, By: by, Ref: ref, Refused: refused}
	}
	p := plan.Plan{State: content, Config: render.DefaultConfig(), Rollouts: []stage.Output{{After: &rollouts.Rollout{
		Unit: rollouts.Unit{Namespace: "team", Name: "web"}, Status: rollouts.Status{
			Phase: rollouts.Finishing, Reason: rollouts.Bypassed, Commands: []rollouts.Command{command("wendy", "orders/1", false), command("eve", "orders/2", true)},
		},
	}}}}
	p.Revision.Commit, p.Revision.When = "c1", time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	root, err := publish.StateOf(&p)
	if err != nil {
		t.Fatal(err)
	}
	was, err := state.Decode(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	if all, _, err := publish.Changes(&p, publish.Base{State: &was}, publish.Heads{}, ""); err != nil || len(all) > 0 {
		t.Errorf("nothing changed, and %d branches are written, %v", len(all), err)
	}
	later := p.Revision.When.Add(time.Hour)
	restored := map[string]ancestry.Continuation{state.Branch: {After: []files.ID{lost}, When: later}}
	all, _, err := publish.Changes(&p, publish.Base{State: &was, Continued: restored}, publish.Heads{}, "")
	if err != nil || len(all) != 1 || all[0].Branch != state.Branch || !slices.Contains(all[0].After, lost) || !all[0].When.Equal(later) {
		t.Fatalf("after a restore it is written %+v, %v", all, err)
	}
	if said := sources.Trailers(all[0].Message, publish.TrailerBypassed); !slices.Equal(said, []string{"team/web by wendy (orders/1)"}) {
		t.Errorf("it names %q", said)
	}
}
