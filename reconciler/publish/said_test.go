package publish_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/deschedule"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestAWholeMessage is that of a plan of which there is all to be said: what moves, and why, what it depends on, and who allowed it.
func TestAWholeMessage(t *testing.T) {
	p, was := fleetOf(t, render.DefaultConfig(), plan.Cluster{Name: "eu", Tree: holding("one", settings), Objects: 1})
	p.Revision.Commit, p.Revision.Path = "0123456789abcdef", "prod"
	p.Basis = plan.Basis{FleetDigest: "d1", RandomKey: "k1", Time: at, Scheduled: true}
	p.Released = plan.Released{Held: true, By: map[string][]string{"eu": {"wendy"}, "us": {"otto"}}}
	made := object.Decode("a.yaml", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\n")).Objects[0]
	p.Decisions = []plan.Decision{{
		Template: template.New(made, &template.Memo{}),
		Moves:    &failover.Moves{Begun: []evict.Task{{FromCluster: "ap", Message: "it failed"}}},
		Shift: &deschedule.Shift{From: []deschedule.Departure{{
			From: "eu", Replicas: 1, Of: 3, Since: at, Destination: []karmada.TargetCluster{{Name: "us", Replicas: 1}},
		}}},
	}}
	p.Moves = []plan.Move{{Object: settings, From: "us", To: []string{"eu"}, Stays: reason.Needed}}
	said := func(by, says, ref string, verb rollouts.Verb, refused bool) rollouts.Command {
		return rollouts.Command{Verb: verb, By: by, Says: says, Ref: ref, Refused: refused}
	}
	rollout := func(name string, phase rollouts.Phase, why rollouts.Reason, commands ...rollouts.Command) stage.Output {
		r := &rollouts.Rollout{Unit: rollouts.Unit{Namespace: "team", Name: name}}
		r.Status.Phase, r.Status.Reason, r.Status.Commands = phase, why, commands
		return stage.Output{After: r}
	}
	other := rollouts.Verb("other")
	p.Rollouts = []stage.Output{
		{},
		rollout("goes", rollouts.Phase("Rolling"), rollouts.Bypassed, said("wendy", "", "r", rollouts.Bypass, false)),
		rollout("ends", rollouts.Finishing, "", said("wendy", "", "r", rollouts.Bypass, false)),
		rollout("nobody", rollouts.Finishing, rollouts.Bypassed, said("wendy", "", "r", other, false)),
		rollout("twice", rollouts.Finishing, rollouts.Bypassed, said("first", "", "r1", rollouts.Bypass, false),
			said("otto", "", "r2", rollouts.Bypass, false), said("eve", "", "r3", rollouts.Bypass, true),
			said("max", "", "r4", other, false)),
		rollout("says", rollouts.Finishing, rollouts.Bypassed, said("", "anna", "r5", rollouts.Bypass, false)),
	}
	was.Commit = "5747e"
	all, _, err := publish.Changes(p, publish.Base{State: was, Ahead: []string{"c2", "c3"}}, publish.Heads{}, "v1")
	if err != nil || len(all) != 2 {
		t.Fatalf("it writes %+v, %v", all, err)
	}
	const text = `0123456789ab: a change

Failover:
- ConfigMap/shop/settings leaves ap: it failed

Moves:
- ConfigMap/shop/settings goes from us to eu: the old copy stays until what leaves with it may go

Descheduled:
- ConfigMap/shop/settings has 1 of 3 replicas leave eu for us (1): no node was found there since 2026-11-24T12:00:00Z

Source-Repository: https://git.example/fleet
Source-Commit: 0123456789abcdef
Source-Path: prod
Fleet-Digest: d1
State-Commit: 5747e
Published-Ahead: c2 c3
%sRollout-Bypassed: team/nobody
Rollout-Bypassed: team/twice by otto (r2)
Rollout-Bypassed: team/says by who says to be anna (r5)
Random-Key: k1
Plan-Time: 2026-11-24T12:00:00Z
Waybill-Version: v1
%s`
	allowed := "Removals-Allowed: of held clusters\nRemovals-Allowed-By: otto\nRemovals-Allowed-By: wendy\n"
	want := []string{fmt.Sprintf(text, "", "Cluster: eu\nRemovals-Allowed-By: wendy\n"), fmt.Sprintf(text, allowed, "")}
	for i := range all {
		if diff := cmp.Diff(want[i], all[i].Message); diff != "" {
			t.Errorf("that of %s (-want +got):\n%s", all[i].Branch, diff)
		}
	}
}

// TestManyMoves are told by twenty, and by how many more there are.
func TestManyMoves(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "", 20: "", 21: "- and 1 more\n\n", 23: "- and 3 more\n\n"} {
		p, was := fleetOf(t, render.DefaultConfig(), plan.Cluster{Name: "eu", Tree: holding("one", settings), Objects: 1})
		for i := range n {
			r := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: fmt.Sprintf("c%02d", i)}
			p.Moves = append(p.Moves, plan.Move{Object: r, From: "us", Began: true})
		}
		all, _, err := publish.Changes(p, publish.Base{State: was}, publish.Heads{}, "")
		if err != nil || len(all) != 2 {
			t.Fatalf("it writes %+v, %v", all, err)
		}
		m := all[0].Message
		_, more, isMore := strings.Cut(m, "- and ")
		if strings.Count(m, " has left us\n") != min(n, 20) || strings.Contains(m, "Moves:\n") != (n > 0) || isMore != (want != "") ||
			!strings.HasPrefix("- and "+more, want) {
			t.Errorf("of %d it says\n%s", n, m)
		}
	}
}

// TestTheStateIsWrittenWhereItSaysAnother thing than before: where it differs, or where what was published ahead of it is to be known.
func TestTheStateIsWrittenWhereItSaysAnother(t *testing.T) {
	p, was := fleetOf(t, render.DefaultConfig())
	for name, tt := range map[string]struct {
		change func(*plan.Plan, *publish.Base)
		writes bool
	}{
		"nothing":                  {func(*plan.Plan, *publish.Base) {}, false},
		"something is ahead of it": {func(_ *plan.Plan, b *publish.Base) { b.Ahead = []string{"c0"} }, true},
		"it says something else":   {func(p *plan.Plan, _ *publish.Base) { p.State = holding("other", settings) }, true},
	} {
		next, base := *p, publish.Base{State: was}
		tt.change(&next, &base)
		all, _, err := publish.Changes(&next, base, publish.Heads{}, "")
		if err != nil || (len(all) == 1) != tt.writes || len(all) > 1 {
			t.Errorf("%s: it writes %+v, %v", name, all, err)
		}
	}
}

// TestAnObservationOfLittle names neither a version nor a folder that there is not, and at most three clusters in its title.
func TestAnObservationOfLittle(t *testing.T) {
	head := git.Head{Commit: id("planned"), Message: "x\n\nSource-Repository: r\nSource-Commit: c1\n"}
	for n, title := range map[int]string{1: "a", 3: "a, b, c", 4: "a, b, c and 1 more"} {
		o := publish.Observation{Head: head, Clusters: []string{"a", "b", "c", "d"}[:n], Why: "why", At: at.Add(time.Millisecond)}
		want := "observed: " + title + "\n\nwhy\n\nSource-Repository: r\nSource-Commit: c1\nState-Commit: " + head.Commit.String() + "\n"
		var wantSb144 strings.Builder
		for _, c := range o.Clusters {
			wantSb144.WriteString("Observed: " + c + "\n")
		}
		want += wantSb144.String()
		u := o.Update(files.NewFolder(nil))
		if diff := cmp.Diff(want, u.Message); diff != "" || !u.When.Equal(at) || u.Author.Name != "Waybill" {
			t.Errorf("of %d, by %+v at %s: %s", n, u.Author, u.When, diff)
		}
	}
}

// TestWhichBranchesLoseReplicas: those of clusters in which a divided workload gets fewer; not where everybody gets fewer by a smaller
// number in Git, where something else of it changes, or where it comes.
func TestWhichBranchesLoseReplicas(t *testing.T) {
	weighed := func(eu, us int) string { return source + "---\n" + fmt.Sprintf(divided, eu, us) }
	split, _, _ := strings.Cut(divided, "    replicaScheduling:")
	_, workload, _ := strings.Cut(divided, "---\n")
	duplicated := source + "---\n" + split + "    clusterAffinity: {clusterNames: [eu-1, us-1]}\n---\n" + workload
	fewer := func(text string) string { return strings.Replace(text, "replicas: 4", "replicas: 2", 1) }
	build := func(text string) (plan.Plan, map[string]tree.Published) {
		t.Helper()
		src, err := render.Load(t.Context(), twin.Texts{"all.yaml": text}, render.With{})
		if err != nil {
			t.Fatal(err)
		}
		p := plan.Build(plan.Input{Source: src, Medium: plan.Branch, Published: map[string]tree.Published{}})
		has := map[string]tree.Published{}
		for _, c := range p.Clusters {
			has[c.Name] = tree.Published{Built: c.Tree}
		}
		return p, has
	}
	for _, tt := range []struct{ name, before, after, want string }{
		{"one gives a replica to another one", weighed(3, 1), weighed(2, 2), "eu-1 1, us-1 0"},
		{"the other one gives it", weighed(2, 2), weighed(3, 1), "eu-1 0, us-1 1"},
		{"Git says fewer of what is divided", weighed(1, 1), fewer(weighed(1, 1)), "eu-1 1, us-1 1"},
		{"Git says more of what is divided", fewer(weighed(1, 1)), weighed(1, 1), "eu-1 0, us-1 0"},
		{"Git says fewer of what is the same everywhere", duplicated, fewer(duplicated), "eu-1 0, us-1 0"},
		{"another image", weighed(1, 1), strings.Replace(weighed(1, 1), "web:1", "web:2", 1), "eu-1 0, us-1 0"},
		{"it comes", source, weighed(1, 1), "eu-1 0, us-1 0"},
		{"it goes", weighed(1, 1), source, "eu-1 1, us-1 1"},
	} {
		_, has := build(tt.before)
		p, _ := build(tt.after)
		root, err := publish.StateOf(&p)
		if err != nil {
			t.Fatal(err)
		}
		was, err := state.Decode(root, nil)
		if err != nil {
			t.Fatal(err)
		}
		all, _, err := publish.Changes(&p, publish.Base{Published: has, State: &was}, publish.Heads{}, "")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range all {
			if cluster, ok := strings.CutPrefix(all[i].Branch, "waybill/cluster/"); ok {
				got = append(got, fmt.Sprint(cluster, " ", all[i].Stage))
			}
		}
		if is := strings.Join(got, ", "); is != tt.want {
			t.Errorf("%s: the stages are %s, want %s", tt.name, is, tt.want)
		}
	}
}
