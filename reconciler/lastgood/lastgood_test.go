package lastgood

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
)

// source makes a source of lines: "NAME in FILE" is a ConfigMap, "NAME in FILE of CLUSTER" one
// in a cluster's own directory, "broken FILE DIGEST" a file that cannot be read, or a folder if it ends with a slash, and "twice NAME"
// or "twice NAME of CLUSTER" a ConfigMap that stands there twice, so that neither is used; "policy NAME in FILE" is a PropagationPolicy,
// and "bad NAME in FILE" one with an error.
func source(t *testing.T, commit string, lines ...string) render.Source {
	t.Helper()
	s := render.Source{Revision: sources.Revision{Commit: commit}, Bound: map[string][]*object.Object{}}
	for _, line := range lines {
		f := strings.Fields(line)
		switch f[0] {
		case "broken":
			path, isFolder := strings.CutSuffix(f[1], "/")
			s.Broken = append(s.Broken, render.Broken{Path: path, Dir: isFolder, Digest: f[2]})
			continue
		case "twice":
			b := render.Broken{Ref: object.Ref{Kind: "ConfigMap", Namespace: "a", Name: f[1]}}
			if len(f) == 4 {
				b.Cluster = f[3]
			}
			s.Broken = append(s.Broken, b)
			continue
		case "policy", "bad":
			selectors := map[string]string{"policy": "[{apiVersion: v1, kind: ConfigMap}]", "bad": "none"}[f[0]]
			d := object.Decode(f[3],
				fmt.Appendf(nil, "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\n"+
					"metadata: {name: %s, namespace: a, labels: {from: %q}}\nspec: {resourceSelectors: %s}\n", f[1], commit, selectors))
			if len(d.Objects) != 1 {
				t.Fatalf("%q is no object", line)
			}
			s.Objects = append(s.Objects, d.Objects[0])
			continue
		}
		d := object.Decode(f[2], fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: a}\ndata: {from: %s}\n", f[0], commit))
		if len(d.Objects) != 1 {
			t.Fatalf("%q is no object", line)
		}
		if len(f) == 5 {
			s.Bound[f[4]] = append(s.Bound[f[4]], d.Objects[0])
		} else {
			s.Objects = append(s.Objects, d.Objects[0])
		}
	}
	return s
}

// held lists what a source holds, with the commit that each object comes from.
func held(s render.Source) []string {
	var all []string
	s.Each(func(k render.Place, o *object.Object) {
		data, _ := o.Content()["data"].(map[string]any)
		if render.IsPolicy(k.Ref) {
			all = append(all, fmt.Sprintf("%s@%s", k.Ref.Name, o.Labels()["from"]))
			return
		}
		all = append(all, fmt.Sprintf("%s@%v", strings.TrimPrefix(k.String(), "ConfigMap/a/"), data["from"]))
	})
	slices.Sort(all)
	return all
}

// commits plays a history: every source is published, and the last one's result returned.
func commits(t *testing.T, allows bool, history ...render.Source) (render.Source, Unresolved) {
	t.Helper()
	earlier := map[string]render.Source{}
	var st state.State
	for i, s := range history {
		in := Input{Source: s, State: &st, Earlier: earlier, Allows: func(string) bool { return allows && i == len(history)-1 }}
		for _, commit := range Commits(in) {
			if _, ok := earlier[commit]; !ok {
				t.Fatalf("it asks for commit %s, which nobody published", commit)
			}
		}
		restored, unresolved := Restore(in)
		if i == len(history)-1 {
			return restored, unresolved
		}
		earlier[s.Revision.Commit] = s
		st.Published.Commit, st.LastGood = s.Revision.Commit, unresolved.Remembered()
	}
	return render.Source{}, Unresolved{}
}

func TestRestore(t *testing.T) {
	for _, tt := range []struct {
		name    string
		history [][]string
		want    string
	}{
		{"all can be read", [][]string{{"x in a"}, {"y in a"}}, "[y@2]"},
		{"nothing was published", [][]string{{"x in a", "broken b 1"}}, "[x@1]"},
		{"a file breaks", [][]string{{"x in a", "y in b"}, {"y in b", "broken a 1"}}, "[x@1 y@2]"},
		{"what can be read of it counts", [][]string{{"x in a", "y in a"}, {"y in a", "broken a 1"}}, "[x@1 y@2]"},
		{"it stays broken", [][]string{{"x in a"}, {"broken a 1"}, {"broken a 1"}, {"broken a 2"}}, "[x@1]"},
		{"it moves while broken", [][]string{{"x in a"}, {"broken a 1"}, {"broken b 1"}, {"broken c 1"}}, "[x@1]"},
		{"it moves and breaks at once", [][]string{{"x in a"}, {"broken b 1"}}, "[x@1]"},
		{"it is mended without the object", [][]string{{"x in a", "y in b"}, {"broken a 1", "y in b"}, {"y in b"}}, "[y@3]"},
		{"it is mended elsewhere", [][]string{{"x in a"}, {"broken a 1"}, {"broken b 1"}, {"x in b"}}, "[x@4]"},
		{"one of two candidates is mended", [][]string{{"x in a"}, {"broken b 1", "broken c 1"}, {"broken c 1"}}, "[x@1]"},
		{"both are", [][]string{{"x in a"}, {"broken b 1", "broken c 1"}, {"broken c 1"}, {}}, "[]"},
		{"what is broken for long hides nothing new", [][]string{{"x in a", "broken b 1"}, {"broken b 1"}}, "[]"},
		{"unless it changes", [][]string{{"x in a", "broken b 1"}, {"broken b 2"}}, "[x@1]"},
		{"nor does a folder with what is broken in it for long", [][]string{{"x in a", "broken d/k 1"}, {"broken d/ 1"}}, "[]"},
		{"unless that changes", [][]string{{"x in a", "broken d/k 1"}, {"broken d/ 2"}}, "[x@1]"},
		{"or is in another folder", [][]string{{"x in a", "broken dd/k 1"}, {"broken d/ 1"}}, "[x@1]"},
		{"or is a file, and no folder, of which the name begins alike", [][]string{{"x in a", "broken b.yaml 1"}, {"broken b 1"}}, "[x@1]"},
		{"a folder that is broken for long hides nothing new", [][]string{{"x in a", "broken d/ 1"}, {"broken d/ 1"}}, "[]"},
		{"unless it changes, too", [][]string{{"x in a", "broken d/ 1"}, {"broken d/ 2"}}, "[x@1]"},
		{"what stood in a folder that breaks stays", [][]string{{"x in d/a", "y in dd"}, {"y in dd", "broken d/ 1"}}, "[x@1 y@2]"},
		{"what moves to a cluster is not missing", [][]string{{"x in a", "y in b"}, {"x in own of eu", "broken b 1"}}, "[cluster eu/ConfigMap/a/x@2 y@1]"},
		{"a cluster's own stays", [][]string{{"x in own of eu", "x in ours of us"}, {"x in ours of us", "broken own 1"}}, "[cluster eu/ConfigMap/a/x@1 cluster us/ConfigMap/a/x@2]"},
		{"and moves while broken", [][]string{{"x in own of eu", "x in ours of us"}, {"x in ours of us", "broken own 1"}, {"x in ours of us", "broken new 1"}}, "[cluster eu/ConfigMap/a/x@1 cluster us/ConfigMap/a/x@3]"},
		{"it is twice", [][]string{{"x in a"}, {"twice x"}, {"twice x"}}, "[x@1]"},
		{"it leaves a cluster's own, and is twice", [][]string{{"x in own of eu"}, {"twice x"}, {"twice x"}}, "[cluster eu/ConfigMap/a/x@1]"},
		{"until it is mended", [][]string{{"x in own of eu"}, {"twice x"}, {"x in a"}}, "[x@3]"},
		{"it goes to a cluster's own, and is twice there", [][]string{{"x in a"}, {"twice x of eu"}}, "[x@1]"},
		{"it leaves one cluster's own for another's, and is twice", [][]string{{"x in own of eu"}, {"twice x of us"}}, "[cluster eu/ConfigMap/a/x@1]"},
		{"it goes while another of its name is twice, as before", [][]string{{"x in own of eu", "twice x"}, {"twice x"}}, "[]"},
		{"it goes while one of another name is twice", [][]string{{"x in own of eu"}, {"twice y"}}, "[]"},
		{"it is copied out of what breaks, and the copy goes", [][]string{{"x in a"}, {"x in b", "broken a 1"}, {"x in b", "broken a 1"}, {"broken a 1"}}, "[x@3]"},
		{"until that is mended", [][]string{{"x in a"}, {"x in b", "broken a 1"}, {"broken a 1"}, {}}, "[]"},
		{"it comes elsewhere while it is missing, and goes", [][]string{{"x in a"}, {"broken a 1"}, {"x in b", "broken a 1"}, {"broken a 1"}}, "[x@3]"},
		{"it was in no part that broke, and goes", [][]string{{"x in b"}, {"x in b", "broken a 1"}, {"broken a 1"}}, "[]"},
		{"what is new is not what is missing", [][]string{{"x in a"}, {"z in b", "broken c 1"}}, "[x@1 z@2]"},
		{
			"it is one of two, of which the other may be in a file",
			[][]string{{"x in a"}, {"twice x"}, {"x in a", "broken b 1"}, {"x in a", "broken b 1"}},
			"[x@1]",
		},
		{
			"it is one of two, of which the other may be in a file, and something else is twice",
			[][]string{{"x in a", "y in c"}, {"twice x", "y in c"}, {"x in a", "broken b 1", "twice y"}},
			"[x@1 y@2]",
		},
		{"until that can be read", [][]string{{"x in a"}, {"twice x"}, {"x in a", "broken b 1"}, {"x in a", "broken b 1"}, {"x in a"}}, "[x@5]"},
		{"the other is in no file", [][]string{{"x in a"}, {"twice x"}, {"x in a", "twice y"}}, "[x@3]"},
		{
			"one of two in a cluster's own",
			[][]string{{"x in own of eu"}, {"twice x of eu"}, {"x in own of eu", "broken b 1"}},
			"[cluster eu/ConfigMap/a/x@1]",
		},
		{
			"one of two, and one of its name in a cluster's own",
			[][]string{{"x in own of eu", "x in a"}, {"x in own of eu", "twice x"}, {"x in own of eu", "x in a", "broken b 1"}},
			"[cluster eu/ConfigMap/a/x@3 x@1]",
		},
		{
			"it went from one cluster's own to another's, where it was twice and is once",
			[][]string{{"x in own of eu", "y in ours of us"}, {"twice x of us", "y in ours of us"}, {"x in ours of us", "broken b 1"}, {"x in ours of us", "broken b 1"}},
			"[cluster us/ConfigMap/a/x@4 cluster us/ConfigMap/a/y@2]",
		},
		{"a policy gets an error", [][]string{{"policy p in a"}, {"bad p in a"}, {"bad p in a"}}, "[p@1]"},
		{"until it has none", [][]string{{"policy p in a"}, {"bad p in a"}, {"policy p in a"}}, "[p@3]"},
		{"another has an error then", [][]string{{"policy p in a"}, {"bad p in a"}, {"policy p in a", "bad q in b"}}, "[p@3 q@3]"},
		{"one that has had it from the first", [][]string{{"x in b"}, {"bad p in a", "x in b"}}, "[p@2 x@2]"},
		{"it has it under another name", [][]string{{"policy p in a"}, {"bad q in a"}}, "[p@1 q@2]"},
		{"something else goes while a policy has an error", [][]string{{"x in a"}, {"bad q in b"}}, "[q@2]"},
		{"a policy goes while something else is twice", [][]string{{"policy p in a"}, {"twice x"}}, "[]"},
		{"later versions count", [][]string{{"x in a"}, {"x in a"}, {"broken a 1"}}, "[x@2]"},
		{"each part has its own commit", [][]string{{"x in a", "y in b"}, {"broken a 1", "y in b"}, {"broken a 1", "broken b 1"}}, "[x@1 y@2]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var history []render.Source
			for i, lines := range tt.history {
				history = append(history, source(t, strconv.Itoa(i+1), lines...))
			}
			restored, unresolved := commits(t, false, history...)
			if got := fmt.Sprint(held(restored)); got != tt.want || unresolved.HoldReason != "" || len(restored.Bound[""]) > 0 {
				t.Errorf("the source to plan from holds %s, want %s; unsure: %q", got, tt.want, unresolved.HoldReason)
			}
		})
	}
}

func TestWhatIsMissingMayBeAllowedToGo(t *testing.T) {
	history := []render.Source{source(t, "1", "x in a", "y in b", "z in a of eu"), source(t, "2", "broken b 1")}
	kept, unresolved := commits(t, false, history...)
	if got := fmt.Sprint(held(kept)); got != "[cluster eu/ConfigMap/a/z@1 x@1 y@1]" || unresolved.Forgot || len(unresolved.Diags) != 1 {
		t.Fatalf("it holds %s, forgot: %t, says %v", got, unresolved.Forgot, unresolved.Diags)
	}
	says := unresolved.Diags[0]
	const want = "ConfigMap/a/x, cluster eu/ConfigMap/a/z: not in the source any longer, and may be in b, which cannot be read; " +
		"what is missing stays as it was"
	if says.Code != diag.MissingWhileBroken || says.Severity != diag.Warning || says.Message != want {
		t.Errorf("it says %+v", says)
	}
	for _, byComment := range []bool{false, true} {
		st := state.State{Published: state.Publication{Commit: "1"}}
		var asked []string
		in := Input{
			Source: history[1], State: &st, Earlier: map[string]render.Source{"1": history[0]}, ByComment: byComment,
			Allows: func(digest string) bool { asked = append(asked, digest); return false },
		}
		_, unresolved := Restore(in)
		if len(asked) != 1 || len(asked[0]) != 16 {
			t.Fatalf("it asks whether %q is allowed", asked)
		}
		hint := "mend what cannot be read; or let them go: " + (&guard.Allowance{ByComment: byComment}).ToForget(asked[0])
		if got := unresolved.Diags[0].Hint; got != hint {
			t.Errorf("it hints %q, want %q", got, hint)
		}
	}
	// Nobody is asked where nothing is missing.
	if _, unresolved := commits(t, true, history[0], source(t, "2", "x in a", "broken b 1", "z in a of eu")); unresolved.Forgot ||
		len(unresolved.Diags) != 0 {
		t.Errorf("where nothing is missing, forgot: %t, says %v", unresolved.Forgot, unresolved.Diags)
	}
	// What stood in the broken file itself is not missing, and stays.
	let, unresolved := commits(t, true, history...)
	if got := fmt.Sprint(held(let)); got != "[y@1]" || !unresolved.Forgot || len(unresolved.Diags) != 0 {
		t.Errorf("allowed, it holds %s, forgot: %t, says %v", got, unresolved.Forgot, unresolved.Diags)
	}
}

// What is remembered is each part that cannot be read, with the commit in which it could be read last, each object that was taken from
// there, with what may hold it, and the parts that held what stands elsewhere now.
func TestWhatIsRemembered(t *testing.T) {
	_, unresolved := commits(t, false,
		source(t, "1", "w in a", "x in a", "y in b", "z in own of eu", "broken d/ 1"),
		source(t, "2", "w in c", "broken a 1", "broken d/ 1", "y in b"),
		source(t, "3", "w in c", "broken a 2", "broken d/ 2", "twice y"),
	)
	memory := unresolved.Remembered()
	var got []string
	for name, part := range memory.Broken {
		got = append(got, fmt.Sprintf("%s is %s, since %s", name, part.Digest, part.Commit))
	}
	for name, parts := range memory.Also {
		got = append(got, fmt.Sprintf("%s was in %v", name, parts))
	}
	slices.Sort(got)
	for _, g := range memory.Objects {
		got = append(got, fmt.Sprintf("%s %s of %s, in %v", g.Cluster, g.Object, g.Commit, g.In))
	}
	want := []string{
		"ConfigMap/a/w was in [a]", "ConfigMap/a/y is , since 2", "a is 2, since 1", "d/ is 2, since ",
		" ConfigMap/a/x of 1, in [a d/]", " ConfigMap/a/y of 2, in [ConfigMap/a/y a d/]", "eu ConfigMap/a/z of 1, in [a d/]",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	// The error of a policy is told with what stands in for it.
	_, unresolved = commits(t, false, source(t, "1", "policy p in a"), source(t, "2", "bad p in a", "bad q in b"))
	if len(unresolved.Diags) != 1 || unresolved.Diags[0].Severity != diag.Error || unresolved.Diags[0].Pos.File != "a" {
		t.Errorf("it says %+v", unresolved.Diags)
	}
}

func TestWhatIsOutOfReachIsNotGuessed(t *testing.T) {
	st := state.State{Published: state.Publication{Commit: "1"}, LastGood: state.LastGood{
		Broken:  map[string]state.Part{"a": {Digest: "1", Commit: "0"}},
		Objects: []state.Good{{Object: object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "x"}, Commit: "0", In: []string{"a"}}},
	}}
	in := Input{Source: source(t, "2", "broken a 1"), State: &st, Earlier: map[string]render.Source{"1": source(t, "1", "broken a 1")}}
	if got := fmt.Sprint(Commits(in)); got != "[0 1]" {
		t.Errorf("it asks for %s", got)
	}
	_, unresolved := Restore(in)
	if unresolved.HoldReason == "" || unresolved.OutOfReach != "0" {
		t.Errorf("it is sure, out of reach is %q", unresolved.OutOfReach)
	}
	if waits, gone := unresolved.Remembered(), unresolved.RememberedOnceAllowed(); len(waits.Objects) != 1 || len(gone.Objects) != 0 {
		t.Errorf("it remembers %v, and once allowed %v", waits.Objects, gone.Objects)
	}
}

// What is out of reach is not waited for once its removal was allowed, in the cluster that had it; what can be had in others is.
func TestWhatIsOutOfReachInAClusterIsLetGoThere(t *testing.T) {
	x := object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "x"}
	st := state.State{Published: state.Publication{Commit: "1"}, LastGood: state.LastGood{
		Broken:  map[string]state.Part{"a": {Digest: "1", Commit: "0"}, "b": {Digest: "1", Commit: "1"}},
		Objects: []state.Good{{Object: x, Cluster: "eu", Commit: "0", In: []string{"a"}}, {Object: x, Cluster: "us", Commit: "1", In: []string{"b"}}},
	}}
	in := Input{
		Source: source(t, "2", "broken a 1", "broken b 1"), State: &st,
		Earlier: map[string]render.Source{"1": source(t, "1", "broken a 1", "x in b of us")},
	}
	_, unresolved := Restore(in)
	clusters := func(m state.LastGood) (names []string) {
		for _, g := range m.Objects {
			names = append(names, g.Cluster)
		}
		return names
	}
	if waits, later := clusters(unresolved.Remembered()), clusters(unresolved.RememberedOnceAllowed()); !slices.Equal(waits, []string{"eu", "us"}) || !slices.Equal(later, []string{"us"}) {
		t.Errorf("it waits for those of %v, and once allowed for those of %v", waits, later)
	}
}

// A part that cannot be read may hold a cluster that was never there, unless it is where something is that was there before. Where
// nothing was published nothing can be lost.
func TestWhatMayBeHidden(t *testing.T) {
	for name, tt := range map[string]struct {
		history [][]string
		want    bool
	}{
		"a file of its own":            {[][]string{{"x in a"}, {"x in a", "broken b 1"}}, true},
		"what is missing stood there":  {[][]string{{"x in a"}, {"broken a 1"}}, false},
		"beside what is missing":       {[][]string{{"x in a", "y in c"}, {"x in a", "broken b 1"}}, true},
		"no file":                      {[][]string{{"x in a"}, {"x in a", "twice y"}}, false},
		"nothing was published before": {[][]string{{"x in a", "broken b 1"}}, false},
		"all can be read":              {[][]string{{"x in a"}, {"x in a"}}, false},
	} {
		var history []render.Source
		for i, lines := range tt.history {
			history = append(history, source(t, strconv.Itoa(i+1), lines...))
		}
		if _, unresolved := commits(t, false, history...); unresolved.MayHideClusters != tt.want {
			t.Errorf("%s: it may hide clusters: %t", name, unresolved.MayHideClusters)
		}
	}
}

// What was published in part, ahead of the state, is what there was last, as far as it could be read then. What another version of
// Waybill published although it has an error is held.
func TestWhatWasPublishedLast(t *testing.T) {
	good := state.Good{Object: object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "x"}, Commit: "1", In: []string{"a"}}
	for name, tt := range map[string]struct {
		state   string // the commit that the state names; empty for none
		memory  state.LastGood
		ahead   []string
		earlier map[string][]string
		want    string
		holds   string // a part of why
		asks    string
	}{
		"ahead": {
			"1",
			state.LastGood{},
			[]string{"2"},
			map[string][]string{"1": {"x in a"}, "2": {"x in a", "y in a"}},
			"[x@2 y@2] a:2", "", "[1 2]",
		},
		"ahead, where it broke": {
			"1",
			state.LastGood{},
			[]string{"2"},
			map[string][]string{"1": {"x in a"}, "2": {"broken a 1"}},
			"[x@1] a:1", "", "[1 2]",
		},
		"ahead of no state": {
			"",
			state.LastGood{},
			[]string{"2"},
			map[string][]string{"2": {"x in a"}},
			"[x@2] a:2", "",
			"[2]",
		},
		"ahead, which cannot be read": {
			"1",
			state.LastGood{},
			[]string{"2"},
			map[string][]string{"1": {"x in a"}},
			"[x@1] a:2",
			"out of reach", "[1 2]",
		},
		"by another version": {
			"1",
			state.LastGood{},
			nil,
			map[string][]string{"1": {"broken a 1"}},
			"[] a:1",
			"and had it when it was published last", "[1]",
		},
		"remembered": {
			"2",
			state.LastGood{
				Broken:  map[string]state.Part{"a": {Digest: "1", Commit: "1"}},
				Objects: []state.Good{good},
			},
			nil,
			map[string][]string{"1": {"x in a"}, "2": {"broken a 1"}},
			"[x@1] a:1", "", "[1 2]",
		},
		"remembered in the older form": {
			"2",
			state.LastGood{Broken: map[string]state.Part{"a": {Commit: "1"}}},
			nil,
			map[string][]string{"1": {"x in a", "y in b"}, "2": {"broken a 1"}},
			"[x@1] a:1", "", "[1 2]",
		},
		"in the older form, out of reach": {
			"2",
			state.LastGood{Broken: map[string]state.Part{"a": {Commit: "1"}}},
			nil,
			map[string][]string{"2": {"broken a 1"}},
			"[] a:1", "out of reach", "[1 2]",
		},
		"remembered, in what broke before": {
			"2",
			state.LastGood{
				Broken:  map[string]state.Part{"a": {Digest: "1", Commit: "0"}},
				Objects: []state.Good{good},
			},
			nil,
			map[string][]string{"1": {"x in a"}, "2": {"broken a 1"}},
			"[x@1] a:0", "", "[1 2]",
		},
		"in the older form, and can be read": {
			"2",
			state.LastGood{Broken: map[string]state.Part{"a": {Commit: "1"}, "b": {Commit: "1"}}},
			nil,
			map[string][]string{"1": {"x in a", "y in b"}, "2": {"broken a 1"}},
			"[x@1] a:1", "", "[1 2]",
		},
		"missing, and nothing may be allowed": {"1", state.LastGood{}, nil, map[string][]string{"1": {"x in b"}}, "[x@1] a:1", "", "[1]"},
	} {
		in := Input{Source: source(t, "3", "broken a 9"), State: &state.State{LastGood: tt.memory}, Ahead: tt.ahead, Earlier: map[string]render.Source{}}
		in.State.Published.Commit = tt.state
		for commit, lines := range tt.earlier {
			in.Earlier[commit] = source(t, commit, lines...)
		}
		restored, unresolved := Restore(in)
		if got, asks := fmt.Sprintf("%v a:%s", held(restored),
			unresolved.Remembered().Broken["a"].Commit), fmt.Sprint(Commits(in)); got != tt.want ||
			!strings.Contains(unresolved.HoldReason, tt.holds) || (unresolved.HoldReason == "") != (tt.holds == "") || asks != tt.asks {
			t.Errorf("%s: of %s it holds %s, want %s; unsure: %q", name, asks, got, tt.want, unresolved.HoldReason)
		}
	}
}

// What is known of the whole source when that is read once more: what is taken from earlier commits, and what stands in a file that
// cannot be used, as it was; nothing of a cluster's own.
func TestInherited(t *testing.T) {
	in := Input{
		Source: source(t, "2", "broken a 1", "y in a", "z in b", "w in c of eu"), State: &state.State{},
		Earlier: map[string]render.Source{"1": source(t, "1", "x in a", "y in a", "z in b", "v in a of eu")},
	}
	in.State.Published.Commit = "1"
	list := func(all []*object.Object) string { return fmt.Sprint(held(render.Source{Objects: all})) }
	if got := list(Inherited(in)); got != "[x@1 y@1]" {
		t.Errorf("inherited are %s", got)
	}
	in.State.LastGood.Objects = []state.Good{
		{Object: object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "x"}, Commit: "1"},
		{Object: object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "v"}, Cluster: "eu", Commit: "1"},
		{Object: object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "gone"}, Commit: "0"},
	}
	if got := list(Goods(in)); got != "[x@1]" {
		t.Errorf("taken from earlier commits were %s", got)
	}
	in.Source = source(t, "2", "y in a")
	if got, asks := list(Inherited(in)), Commits(in); got != "[]" || len(asks) > 0 {
		t.Errorf("where all can be read, inherited are %s, and it asks for %v", got, asks)
	}
}
