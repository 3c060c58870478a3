package status_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// named is a commit as these tests call it.
func named(id files.ID) string {
	switch id {
	case one:
		return "one"
	case two:
		return "two"
	case files.ID{}:
		return "none"
	}
	return id.String()
}

// minutes is a time after all began.
func minutes(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return fmt.Sprintf("%gm", t.Sub(began).Minutes())
}

// said is what a status says of each object, a line each: what is applied and since when, and how healthy it is and since when.
func said(t *testing.T, root *files.Folder) string {
	t.Helper()
	objects, err := status.Objects(root, status.Everything)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, r := range slices.SortedFunc(maps.Keys(objects), object.Ref.Compare) {
		o := objects[r]
		fmt.Fprintf(&b, "%s %s %s of %q since %s", r.Name, o.Applied.Phase, named(o.Applied.Commit), strings.TrimPrefix(o.Applied.Source, "source of "), minutes(o.Applied.Since))
		if o.Applied.Corrected > 0 {
			fmt.Fprintf(&b, " put right %d times", o.Applied.Corrected)
		}
		if o.Applied.Message != "" {
			fmt.Fprintf(&b, ": %s", o.Applied.Message)
		}
		fmt.Fprintf(&b, "; %s (%s) since %s", o.Health.State, o.Health.Reason, minutes(o.Health.Since))
		if o.Health.Message != "" {
			fmt.Fprintf(&b, ": %s", o.Health.Message)
		}
		b.WriteString("\n")
	}
	return strings.NewReplacer(one.String()[:4], "one", two.String()[:4], "two").Replace(b.String())
}

// withContent has the branch have an object as it was at another commit, or as the inventory does not know it.
func withContent(r *status.Round, ref object.Ref, content, known string, source string) *status.Round {
	for i := range r.Objects {
		if r.Objects[i].Ref == ref {
			r.Objects[i].Content = files.Sum("blob", []byte(content))
		}
	}
	r.Report.Inventory.Entries[ref] = inventory.Entry{Source: source, Content: files.Sum("blob", []byte(known))}
	return r
}

// hooked makes an object of a round a hook.
func hooked(r *status.Round, i int) *status.Round {
	delete(r.Report.Inventory.Entries, r.Objects[i].Ref) // no inventory has a hook
	r.Objects[i].Manifest = map[string]any{"metadata": map[string]any{"annotations": map[string]any{"argocd.argoproj.io/hook": "PreSync"}}}
	return r
}

// leaves has an object be in the inventory, and not in the commit, and says what came of its deletion.
func leaves(r *status.Round, ref object.Ref, waits string, err error, refused string) *status.Round {
	r.Report.Inventory.Entries[ref] = inventory.Entry{Source: "source of " + one.String()[:4]}
	switch {
	case refused != "":
		r.Report.Plan.Refused = append(r.Report.Plan.Refused, apply.Action{Ref: ref, Why: refused})
	case waits != "" || err != nil:
		r.Report.Outcomes = append(r.Report.Outcomes, apply.Outcome{Action: apply.Action{Ref: ref, Verb: apply.Delete}, Waits: waits, Err: err})
	}
	return r
}

// TestWhatRoundsSayOfObjects follows an object, or two, over rounds that are a minute apart.
func TestWhatRoundsSayOfObjects(t *testing.T) {
	const wellSince0 = "; Healthy () since 0m\n"
	broken := errors.New("the server said no")
	cut := func(r *status.Round) *status.Round { // it did not come to its end
		r.Trouble = status.Verdict{Reason: status.Errored, Message: "cut off"}
		return r
	}
	sees := func(r *status.Round, ref object.Ref, h *health.Health) *status.Round {
		if delete(r.Health, ref); h != nil {
			r.Health[ref] = *h
		}
		return r
	}
	blind := func(r *status.Round) *status.Round { // nobody looked
		r.Health = nil
		return r
	}
	sick := inProgress("0 of 1")
	for _, tt := range []struct {
		name   string
		rounds []*status.Round
		want   string
	}{
		{"it is made", []*status.Round{round(one, fact{ref: web, verb: apply.Create})}, `web Applied one of "one" since 0m` + wellSince0},
		{
			"it is updated",
			[]*status.Round{round(one, fact{ref: web, verb: apply.Create}), round(two, fact{ref: web, verb: apply.Update})},
			`web Applied two of "two" since 1m` + wellSince0,
		},
		{
			"somebody changes it",
			[]*status.Round{round(one, fact{ref: web, verb: apply.Create}), round(one, fact{ref: web, verb: apply.Correct})},
			`web Applied one of "one" since 0m put right 1 times` + wellSince0,
		},
		{
			"somebody changes it, and deletes it",
			[]*status.Round{round(one, fact{ref: web, verb: apply.Create}), round(one, fact{ref: web, verb: apply.Correct}), round(one, fact{ref: web, verb: apply.Create})},
			`web Applied one of "one" since 0m put right 2 times` + wellSince0,
		},
		{
			"somebody changed it once",
			[]*status.Round{round(one, fact{ref: web, verb: apply.Create}), round(one, fact{ref: web, verb: apply.Correct}), round(one, fact{ref: web})},
			`web Applied one of "one" since 0m` + wellSince0,
		},
		{
			"somebody changed it before it was updated",
			[]*status.Round{round(one, fact{ref: web, verb: apply.Create}), round(one, fact{ref: web, verb: apply.Correct}), round(two, fact{ref: web, verb: apply.Update})},
			`web Applied two of "two" since 2m` + wellSince0,
		},
		{
			"it is put right after it had failed",
			[]*status.Round{round(one, fact{ref: web, err: broken}), round(one, fact{ref: web, verb: apply.Correct})},
			`web Applied one of "one" since 1m; Healthy () since 0m` + "\n",
		},
		{
			"it is as it should be when it is first looked at",
			[]*status.Round{round(one, fact{ref: web})},
			`web Applied one of "one" since 0m` + wellSince0,
		},
		{
			"it is in two commits, and applied from the first",
			[]*status.Round{
				round(one, fact{ref: web, verb: apply.Create}),
				withContent(round(two, fact{ref: web}), web, "same", "same", "source of "+one.String()[:4]),
			},
			`web Applied one of "one" since 0m` + wellSince0,
		},
		{
			"another one applied it meanwhile, from the second",
			[]*status.Round{
				round(one, fact{ref: web, verb: apply.Create}),
				withContent(round(two, fact{ref: web}), web, "same", "same", "source of "+two.String()[:4]),
			},
			`web Applied two of "two" since 1m` + wellSince0,
		},
		{
			"the server does not take it",
			[]*status.Round{round(one, fact{ref: web, verb: apply.Create}), round(two, fact{ref: web, verb: apply.Update, err: broken})},
			`web Failed one of "one" since 1m: the server said no` + wellSince0,
		},
		{
			"and then it does",
			[]*status.Round{round(one, fact{ref: web, err: broken}), round(one, fact{ref: web, verb: apply.Create})},
			`web Applied one of "one" since 1m` + wellSince0,
		},
		{
			"the plan refuses it",
			[]*status.Round{round(one, fact{ref: web, verb: apply.Create}), round(two, fact{ref: web, refuse: "it is another source's"})},
			`web Failed one of "one" since 1m: it is another source's` + wellSince0,
		},
		{
			"it is refused again, for another reason",
			[]*status.Round{round(one, fact{ref: web, refuse: "it is another source's"}), round(one, fact{ref: web, refuse: "it is somebody's"})},
			`web Failed none of "" since 0m: it is somebody's` + wellSince0,
		},
		{
			"it is not its turn",
			[]*status.Round{
				round(one, fact{ref: web, verb: apply.Create}), round(one, fact{ref: web, verb: apply.Correct}),
				withContent(round(two, fact{ref: web}), web, "new", "old", "source of "+one.String()[:4]),
			},
			`web Pending one of "one" since 2m put right 1 times: it is not its turn yet` + wellSince0,
		},
		{
			"it leaves",
			[]*status.Round{round(one, fact{ref: web, verb: apply.Create}, fact{ref: conf, verb: apply.Create}), round(one, fact{ref: web, verb: apply.Correct}, fact{ref: conf}), leaves(round(two, fact{ref: conf}), web, "its finalizers", nil, "")},
			`conf Applied two of "two" since 2m` + wellSince0 + `web Leaving one of "one" since 2m: its finalizers; Unknown (Unknown) since 2m: it was not seen yet` + "\n",
		},
		{
			"it leaves, and may not",
			[]*status.Round{round(one, fact{ref: web, verb: apply.Create}), sees(leaves(round(two), web, "", broken, ""), web, &sick)},
			`web Leaving one of "one" since 1m: the server said no; Unhealthy (InProgress) since 1m: 0 of 1` + "\n",
		},
		{
			"it leaves, and somebody else has it",
			[]*status.Round{round(one, fact{ref: web, verb: apply.Create}), sees(leaves(round(two), web, "", nil, "it is somebody's"), web, &sick)},
			`web Leaving one of "one" since 1m: it is somebody's; Unhealthy (InProgress) since 1m: 0 of 1` + "\n",
		},
		{
			"it is gone",
			[]*status.Round{round(one, fact{ref: web, verb: apply.Create}, fact{ref: conf, verb: apply.Create}), round(two, fact{ref: conf})},
			`conf Applied two of "two" since 1m` + wellSince0,
		},
		{"a hook ran", []*status.Round{hooked(round(one, fact{ref: web, verb: apply.Create}), 0)}, ""},
		{"a hook is not run", []*status.Round{hooked(round(one, fact{ref: web}), 0)}, ""},
		{
			"a hook failed",
			[]*status.Round{hooked(round(one, fact{ref: web, verb: apply.Create, err: broken}), 0)},
			`web Failed none of "" since 0m: the server said no` + wellSince0,
		},
		{
			"a hook failed, and ran", []*status.Round{hooked(round(one, fact{ref: web, verb: apply.Create, err: broken}), 0), hooked(round(one, fact{ref: web, verb: apply.Create}), 0)}, "",
		},
		{
			"what is no hook beside one",
			[]*status.Round{hooked(round(one, fact{ref: web, verb: apply.Create}, fact{ref: conf, verb: apply.Create}), 0)},
			`conf Applied one of "one" since 0m` + wellSince0,
		},
		{
			"a round is cut off after it",
			[]*status.Round{
				round(one, fact{ref: web, verb: apply.Create}, fact{ref: conf, verb: apply.Create}),
				cut(leaves(round(two, fact{ref: web, verb: apply.Update}, fact{ref: conf}), token, "its finalizers", nil, "")),
			},
			`conf Applied one of "one" since 0m; Healthy () since 0m` + "\n" + `web Applied two of "two" since 1m` + wellSince0,
		},
		{
			"a round is cut off, and sees that it is not healthy",
			[]*status.Round{round(one, fact{ref: web, verb: apply.Create}), cut(sees(round(two, fact{ref: web}), web, &sick))},
			`web Applied one of "one" since 0m; Unhealthy (InProgress) since 1m: 0 of 1` + "\n",
		},
		{
			"nobody looks",
			[]*status.Round{round(one, fact{ref: web, verb: apply.Create}), blind(round(one, fact{ref: web}))},
			`web Applied one of "one" since 0m` + wellSince0,
		},
		{
			"nobody looks at what is new",
			[]*status.Round{blind(round(one, fact{ref: web, verb: apply.Create}, fact{ref: conf, verb: apply.Create}))},
			`conf Applied one of "one" since 0m; Healthy () since 0m` + "\n" + `web Applied one of "one" since 0m; Unknown (Unknown) since 0m: it was not seen yet` + "\n",
		},
		{
			"whoever looks does not find it",
			[]*status.Round{round(one, fact{ref: web, verb: apply.Create}), sees(round(one, fact{ref: web}), web, nil)},
			`web Applied one of "one" since 0m; Unknown (Unknown) since 1m: it was not seen yet` + "\n",
		},
		{
			"a kind without health was not applied",
			[]*status.Round{round(one, fact{ref: conf, verb: apply.Create, err: broken})},
			`conf Failed none of "" since 0m: the server said no; Unknown (Unknown) since 0m: it was not seen yet` + "\n",
		},
		{
			"it is refused for another reason, and nobody looks",
			[]*status.Round{round(one, fact{ref: web, refuse: "it is another source's"}), blind(round(one, fact{ref: web, refuse: "it is somebody's"}))},
			`web Failed none of "" since 0m: it is somebody's` + wellSince0,
		},
		{
			"one of two is gone, and nobody looks",
			[]*status.Round{round(one, fact{ref: web, verb: apply.Create}, fact{ref: api, verb: apply.Create}), blind(withContent(round(one, fact{ref: api}), api, "", "", "source of "+one.String()[:4]))},
			`api Applied one of "one" since 0m` + wellSince0,
		},
		{
			"it is as it should be, by an inventory that names no source",
			[]*status.Round{withContent(round(one, fact{ref: web}), web, "same", "same", "")},
			`web Applied one of "" since 0m` + wellSince0,
		},
		{
			"nobody knows whether it is done, for the reason for which it was not",
			[]*status.Round{
				sees(round(one, fact{ref: web, verb: apply.Create}), web, &sick), sees(round(one, fact{ref: web}), web, &health.Health{State: karmada.ResourceUnknown, Reason: health.InProgress}),
			},
			`web Applied one of "one" since 0m; Unknown (InProgress) since 1m` + "\n",
		},
		{
			"it goes on being sick in other words",
			[]*status.Round{sees(round(one, fact{ref: web, verb: apply.Create}), web, &sick), sees(round(one, fact{ref: web}), web, func() *health.Health { h := inProgress("1 of 2"); return &h }())},
			`web Applied one of "one" since 0m; Unhealthy (InProgress) since 0m: 1 of 2` + "\n",
		},
		{
			"it is done, and says what failed on the way",
			[]*status.Round{sees(round(one, fact{ref: web, verb: apply.Create}), web, &health.Health{State: karmada.ResourceHealthy, By: "x", Message: "y", Failed: "a script failed"})},
			`web Applied one of "one" since 0m; Healthy () since 0m: a script failed` + "\n",
		},
	} {
		l := status.NewLedger("eu-1")
		for i, r := range tt.rounds {
			l.Ended(r, began.Add(time.Duration(i)*time.Minute+400*time.Millisecond))
			l.Layout()
		}
		root := l.Layout()
		if diff := cmp.Diff(tt.want, said(t, root)); diff != "" {
			t.Errorf("%s (-want +is):\n%s", tt.name, diff)
		}
		again, err := status.Reopen(root, began)
		if err != nil {
			t.Fatal(err)
		}
		l.Anew()
		if is := again.Layout(); is.ID() != root.ID() || l.Layout().ID() != root.ID() {
			t.Errorf("%s: read again it is\n%s", tt.name, said(t, is))
		}
	}
}

// TestWhatRoundsSayOfACluster: which commit is applied, how that went, since when, and until when its credential holds.
func TestWhatRoundsSayOfACluster(t *testing.T) {
	held := round(two, fact{ref: web})
	held.Report.Plan.Hold = &apply.Hold{Reason: "it would lose all"}
	refused := &status.Round{Refused: one, RefusedState: two, Trouble: status.Verdict{Reason: status.Errored, Message: "the head does not come after it"}}
	lost := &status.Round{Trouble: status.Verdict{Reason: status.Unreachable, Message: "timeout"}}
	stopped := round(two, fact{ref: web})
	stopped.Report.Stopped = "the hook failed"
	failing := round(two, fact{ref: web, err: errors.New("no")})
	ends := round(one, fact{ref: web})
	ends.Expires = began.Add(time.Hour)
	for _, tt := range []struct {
		name   string
		rounds []*status.Round
		want   string
	}{
		{"all is applied", []*status.Round{round(one, fact{ref: web})}, "one of one by waybill/cluster/eu-1: Applied since 0m, Applied True, Healthy True (Healthy)"},
		{"it goes on", []*status.Round{round(one, fact{ref: web}), round(two, fact{ref: web})}, "two of two by waybill/cluster/eu-1: Applied since 0m, Applied True, Healthy True (Healthy)"},
		{"an object fails", []*status.Round{round(one, fact{ref: web}), failing}, "two of two by waybill/cluster/eu-1: Failing since 1m, not every object is as the branch has it, Applied False, Healthy True (Healthy)"},
		{"it is stopped", []*status.Round{stopped}, "two of two by waybill/cluster/eu-1: Failing since 0m, the hook failed, Applied False, Healthy True (Healthy)"},
		{"it is held", []*status.Round{round(one, fact{ref: web}), held}, "one of one by waybill/cluster/eu-1: Held since 1m, it would lose all, Applied False, Healthy True (Healthy)"},
		{"its head is refused", []*status.Round{refused}, "one of  by : Error since 0m, the head does not come after it, after two, Applied False, Healthy True (Healthy)"},
		{"its head was refused", []*status.Round{refused, round(one, fact{ref: web})}, "one of one by waybill/cluster/eu-1: Applied since 1m, Applied True, Healthy True (Healthy)"},
		{"it is lost", []*status.Round{round(one, fact{ref: web}), lost, lost}, "one of one by waybill/cluster/eu-1: Unreachable since 1m, timeout, Applied False, Healthy Unknown (Unreachable)"},
		{"nobody may reach it", []*status.Round{{Trouble: status.Verdict{Reason: status.NoCredential}}}, "none of  by : NoCredential since 0m, Applied False, Healthy Unknown (NoCredential)"},
		{"it is suspended", []*status.Round{{Trouble: status.Verdict{Reason: status.Suspended}}}, "none of  by : Suspended since 0m, Applied False, Healthy Unknown (Suspended)"},
		{"it is back", []*status.Round{round(one, fact{ref: web}), lost, round(one, fact{ref: web})}, "one of one by waybill/cluster/eu-1: Applied since 2m, Applied True, Healthy True (Healthy)"},
		{"its credential ends", []*status.Round{ends}, "one of one by waybill/cluster/eu-1: Applied since 0m, until 60m, Applied True, Healthy True (Healthy)"},
		{"it ended, and there is another one", []*status.Round{ends, round(one, fact{ref: web})}, "one of one by waybill/cluster/eu-1: Applied since 0m, Applied True, Healthy True (Healthy)"},
		{"an object is not healthy", []*status.Round{sickly(round(one, fact{ref: web}))}, "one of one by waybill/cluster/eu-1: Applied since 0m, Applied True, Healthy False (Unhealthy)"},
		{"an object was not seen", []*status.Round{unseen(round(one, fact{ref: web}))}, "one of one by waybill/cluster/eu-1: Applied since 0m, Applied True, Healthy Unknown (Unknown)"},
		{"one is not healthy, and one was not seen", []*status.Round{sickly(unseen(round(one, fact{ref: web}, fact{ref: api})))}, "one of one by waybill/cluster/eu-1: Applied since 0m, Applied True, Healthy False (Unhealthy)"},
	} {
		l := status.NewLedger("eu-1")
		for i, r := range tt.rounds {
			l.Ended(r, began.Add(time.Duration(i)*time.Minute+400*time.Millisecond))
		}
		root := l.Layout()
		s, err := status.Read(root)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%s of %s by %s: %s since %s", named(s.Commit), strings.NewReplacer("source of ", "", one.String()[:4], "one", two.String()[:4], "two").Replace(s.Source), s.Branch, s.Verdict.Reason, minutes(s.Since))
		if s.Verdict.Message != "" {
			got += ", " + s.Verdict.Message
		}
		if !s.State.IsZero() {
			got += ", after " + named(s.State)
		}
		if !s.Expires.IsZero() {
			got += ", until " + minutes(s.Expires)
		}
		got += conditions(t, root)
		if got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

var api = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "api"}

func sickly(r *status.Round) *status.Round { r.Health[web] = inProgress("0 of 1"); return r }

func unseen(r *status.Round) *status.Round {
	delete(r.Health, r.Objects[len(r.Objects)-1].Ref)
	return r
}

// conditions are those that the file of a cluster has, for whoever reads it without Waybill.
func conditions(t *testing.T, root *files.Folder) string {
	t.Helper()
	var all strings.Builder
	content, err := object.DecodeCanonical([]byte(text(t, root, "status.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	below, _ := content["status"].(map[string]any)
	list, _ := below["conditions"].([]any)
	for _, c := range list {
		fields, _ := c.(map[string]any)
		fmt.Fprintf(&all, ", %s %s", fields["type"], fields["status"])
		if fields["type"] == "Healthy" {
			fmt.Fprintf(&all, " (%s)", fields["reason"])
		}
	}
	return all.String()
}

// TestNumbersAreThoseOfObjects of a status, each of which is applied and healthy in another way.
func TestNumbersAreThoseOfObjects(t *testing.T) {
	ref := func(name string) object.Ref {
		return object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name}
	}
	l := status.NewLedger("eu-1")
	facts := func(verb apply.Verb) []fact {
		return []fact{{ref: ref("a"), verb: verb}, {ref: ref("b"), verb: apply.Create}, {ref: ref("c"), err: errors.New("no")}, {ref: ref("d"), refuse: "no"}}
	}
	l.Ended(round(one, facts(apply.Create)...), began)
	next := round(one, facts(apply.Correct)...)
	for _, name := range []string{"e", "f", "g"} {
		leaves(next, ref(name), "its finalizers", nil, "")
	}
	next.Objects = append(next.Objects, apply.Object{Ref: ref("h"), APIVersion: "apps/v1", Content: two})
	next.Health[ref("b")], next.Health[ref("e")] = inProgress(""), inProgress("")
	next.Health[ref("c")] = inProgress("")
	l.Ended(next, began.Add(time.Minute))
	s, err := status.Read(l.Layout())
	if want := (status.Counts{Objects: 8, Applied: 2, Failed: 2, Pending: 1, Leaving: 3, Drifting: 2, Healthy: 2, Unhealthy: 3, Unknown: 3}); err != nil || s.Counts != want {
		t.Errorf("it is %+v, want %+v, %v", s.Counts, want, err)
	}
}

// TestWhatIsWrittenOfANamespace is that of all its objects now, also where only a number moved, or one of two objects went; what has no
// namespace is told beside.
func TestWhatIsWrittenOfANamespace(t *testing.T) {
	role := object.Ref{Group: "apps", Kind: "ClusterThing", Name: "all"}
	l := status.NewLedger("eu-1")
	l.Ended(round(one, fact{ref: web, verb: apply.Create}, fact{ref: conf, verb: apply.Create}, fact{ref: role, verb: apply.Create}), began)
	first := l.Layout()
	l.Wrote(began)
	if got := said(t, first); strings.Count(got, "\n") != 3 || !strings.Contains(text(t, first, "works/_cluster.yaml"), "name: cluster-scoped") {
		t.Errorf("it says\n%s", got)
	}
	if objects, err := status.Objects(first, func(namespace string) bool { return namespace == "" }); err != nil || len(objects) != 1 || objects[role] == nil {
		t.Errorf("without a namespace are %v, %v", objects, err)
	}
	if objects, err := status.Objects(first, func(namespace string) bool { return namespace == "shop" }); err != nil || len(objects) != 2 || objects[web] == nil {
		t.Errorf("in shop are %v, %v", objects, err)
	}
	h := healthy()
	h.Status = []byte(`{"availableReplicas":3}`)
	l.Saw(web, h, began.Add(time.Minute))
	l.Saw(token, h, began.Add(time.Minute)) // which nobody applied
	second := l.Layout()
	objects, err := status.Objects(second, status.Everything)
	if err != nil || len(objects) != 3 || string(objects[web].Health.Status) != `{"availableReplicas":3}` {
		t.Errorf("after a number moved it says %+v, %v", objects, err)
	}
	blob := func(root *files.Folder, path string) *files.Blob { e, _ := root.Lookup(path); return e.Blob }
	if blob(first, "works/_cluster.yaml") != blob(second, "works/_cluster.yaml") {
		t.Error("what did not change is written anew")
	}
	l.Anew()
	if third := l.Layout(); blob(second, "works/_cluster.yaml") == blob(third, "works/_cluster.yaml") || third.ID() != second.ID() {
		t.Error("what may be gone is not written anew")
	}
	l.Ended(round(one, fact{ref: conf}, fact{ref: role}), began.Add(2*time.Minute))
	wantDue(t, l, 2*time.Minute+time.Second, "an object went")
	if got := said(t, l.Layout()); strings.Contains(got, "web") || strings.Count(got, "\n") != 2 {
		t.Errorf("after one went it says\n%s", got)
	}
	l.Wrote(began.Add(2*time.Minute + time.Second))
	never(t, l, began.Add(2*time.Minute+time.Second), "that it went is written")
	l.Ended(round(one), began.Add(3*time.Minute))
	root := l.Layout()
	if _, ok := root.Lookup("works"); ok || said(t, root) != "" {
		t.Errorf("where there is nothing, it says\n%s", said(t, root))
	}
}

// TestWhatGoesWhileItIsWrittenIsWrittenNext: an object that went while a status that has it was being written is told to be gone.
func TestWhatGoesWhileItIsWrittenIsWrittenNext(t *testing.T) {
	l := settled(began)
	l.Ended(round(one, fact{ref: web}, fact{ref: conf}, fact{ref: api, verb: apply.Create}), began.Add(time.Hour))
	l.Layout()
	l.Ended(round(one, fact{ref: web}, fact{ref: conf}), began.Add(time.Hour+time.Second))
	l.Wrote(began.Add(time.Hour + 2*time.Second))
	wantDue(t, l, time.Hour+12*time.Second, "it was written, and is gone")
	l.Layout()
	l.Wrote(began.Add(time.Hour + 12*time.Second))
	never(t, l, began.Add(time.Hour+12*time.Second), "all is written")
}

// TestAReopenedLedgerHasWhatIsWritten: whoever applies starts anew, and what it sees as it is written is not due, whatever that is.
func TestAReopenedLedgerHasWhatIsWritten(t *testing.T) {
	l := settled(began)
	again, err := status.Reopen(l.Layout(), began)
	if err != nil {
		t.Fatal(err)
	}
	again.Ended(round(one, fact{ref: web}, fact{ref: conf}), began.Add(time.Hour))
	never(t, again, began, "all is as it is written")
	again.Saw(web, inProgress("0 of 1"), began.Add(2*time.Hour))
	wantDue(t, again, 2*time.Hour+time.Second, "it is not healthy")
	for name, root := range map[string]*files.Folder{
		"nothing":               files.NewFolder(nil),
		"a folder in its place": files.NewFolder([]files.Entry{files.DirEntry("status.yaml", files.NewFolder(nil))}),
		"another text":          files.NewFolder([]files.Entry{files.FileEntry("status.yaml", files.NewBlob([]byte("a: [")))}),
		"another text of objects": files.NewFolder([]files.Entry{
			files.FileEntry("status.yaml", files.NewBlob([]byte(text(t, l.Layout(), "status.yaml")))),
			files.DirEntry("works", files.NewFolder([]files.Entry{files.FileEntry("shop.yaml", files.NewBlob([]byte("a: [")))})),
		}),
		"what cannot be had": files.NewFolder([]files.Entry{files.FileEntry("status.yaml", files.StoredBlob(one, func(files.ID) ([]byte, error) { return nil, errors.New("lost") }))}),
	} {
		if _, err := status.Reopen(root, began); err == nil {
			t.Errorf("%s is read as a status", name)
		}
	}
	root := files.NewFolder([]files.Entry{
		files.FileEntry("status.yaml", files.NewBlob([]byte(text(t, l.Layout(), "status.yaml")))),
		files.DirEntry("works", files.NewFolder([]files.Entry{files.FileEntry("README", files.NewBlob([]byte("a: ["))), files.DirEntry("shop.yaml", files.NewFolder(nil))})),
	})
	if _, err := status.Reopen(root, began); err != nil {
		t.Errorf("files of others: %v", err)
	}
	if _, err := status.Reopen(files.NewFolder(append(l.Layout().Entries()[:1:1], files.FileEntry("works", files.NewBlob(nil)))), began); err != nil {
		t.Errorf("a file in the place of works: %v", err)
	}
}

// TestWhatDoesNotFlap is written soon: what gets well in a step of its own, and what fails after it was looked at often. What goes and
// comes is written once a minute.
func TestWhatDoesNotFlap(t *testing.T) {
	lost := &status.Round{Trouble: status.Verdict{Reason: status.Unreachable}}
	noCredential := &status.Round{Trouble: status.Verdict{Reason: status.NoCredential}}
	empty := func() *status.Round { return round(one) }
	well := func() *status.Round { return round(one, fact{ref: web}) }
	drifts := func() *status.Round { return round(one, fact{ref: web, verb: apply.Correct}) }
	fails := func() *status.Round { return round(one, fact{ref: web, err: errors.New("no")}) }
	for _, tt := range []struct {
		name    string
		cluster bool            // it is that which is looked at, and has no object
		seen    []*status.Round // ten seconds apart
		flaps   bool
	}{
		{"a cluster is lost", true, []*status.Round{lost}, false},
		{"a cluster is lost after it was looked at often", true, []*status.Round{empty(), empty(), lost}, false},
		{"a cluster is back", true, []*status.Round{lost, empty()}, false},
		{"a cluster comes and goes", true, []*status.Round{lost, empty(), lost}, true},
		{"a cluster is lost in two ways", true, []*status.Round{lost, noCredential}, true},
		{"an object fails after it was looked at often", false, []*status.Round{well(), well(), fails()}, false},
		{"an object is put right", false, []*status.Round{drifts(), well()}, false},
		{"an object is changed again and again", false, []*status.Round{drifts(), well(), drifts()}, true},
		{"an object fails, and does not", false, []*status.Round{fails(), well()}, false},
		{"an object fails now and then", false, []*status.Round{fails(), well(), fails()}, true},
	} {
		l := status.NewLedger("eu-1")
		first := round(one, fact{ref: web, verb: apply.Create})
		if tt.cluster {
			first = round(one)
		}
		l.Ended(first, began)
		at := began.Add(time.Hour)
		for _, r := range tt.seen {
			l.Layout()
			l.Wrote(at)
			at = at.Add(10 * time.Second)
			l.Ended(r, at)
		}
		if due := l.Due(); tt.cluster && tt.flaps != due.After(at.Add(time.Second)) {
			t.Errorf("%s: it is due %s after the last round", tt.name, due.Sub(at))
		}
		objects, err := status.Objects(l.Layout(), status.Everything)
		if err != nil || !tt.cluster && (objects[web].Flaps > 0) != tt.flaps {
			t.Errorf("%s: %+v, %v", tt.name, objects[web], err)
		}
	}
}

// TestTheFirstOfSeveralChangesIsDue, be it that it became another one meanwhile.
func TestTheFirstOfSeveralChangesIsDue(t *testing.T) {
	l := settled(began)
	at := began.Add(time.Hour)
	facts := []fact{{ref: web}, {ref: conf}}
	for n := range 8 {
		facts = append(facts, fact{ref: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: strconv.Itoa(n)}, verb: apply.Create})
		l.Ended(round(one, facts...), at.Add(time.Duration(n)*10*time.Second))
	}
	for range 20 {
		wantDue(t, l, time.Hour+time.Second, "eight objects changed")
	}
	l = settled(began)
	l.Saw(web, inProgress(""), at)
	failed := inProgress("")
	failed.Reason = health.Failed
	l.Saw(web, failed, at.Add(500*time.Millisecond))
	wantDue(t, l, time.Hour+time.Second, "it changed twice")
}

// TestRulesAreThoseThatLooked: a round in which nobody looked goes by none, so that what flips by new ones is counted in the next.
func TestRulesAreThoseThatLooked(t *testing.T) {
	l := status.NewLedger("eu-1")
	l.Ended(&status.Round{Trouble: status.Verdict{Reason: status.Unreachable}}, began)
	if got := text(t, l.Layout(), "status.yaml"); strings.Contains(got, "rules:") {
		t.Errorf("it says\n%s", got)
	}
	svc := object.Ref{Kind: "Service", Namespace: "shop", Name: "web"}
	l.Ended(round(one, fact{ref: svc, verb: apply.Create}), began)
	var entries []files.Entry
	for _, e := range l.Layout().Entries() {
		if e.Name == "status.yaml" {
			e = files.FileEntry(e.Name, files.NewBlob([]byte(strings.Replace(text(t, l.Layout(), e.Name), "  rules: "+health.Edition+"\n", "", 1))))
		}
		entries = append(entries, e)
	}
	again, err := status.Reopen(files.NewFolder(entries), began)
	if err != nil {
		t.Fatal(err)
	}
	sick := round(one, fact{ref: svc})
	sick.Health[svc] = inProgress("")
	again.Ended(sick, began.Add(time.Minute))
	if s, err := status.Read(again.Layout()); err != nil || !maps.Equal(s.Flipped, map[string]int{"Service": 1}) {
		t.Errorf("flipped are %v, %v", s.Flipped, err)
	}
}

// TestASecretIsPrivateByItsKind: of one that another version applied, of which only the kind is known, nothing is written that may hold it.
func TestASecretIsPrivateByItsKind(t *testing.T) {
	l := status.NewLedger("eu-1")
	l.Ended(round(one, fact{ref: token, verb: apply.Create}), began)
	again, err := status.Reopen(l.Layout(), began)
	if err != nil {
		t.Fatal(err)
	}
	again.Saw(token, inProgress("hunter2 is wrong"), began.Add(time.Minute))
	if got := text(t, again.Layout(), "works/shop.yaml"); strings.Contains(got, "hunter2") || !strings.Contains(got, "Unhealthy") {
		t.Errorf("it says\n%s", got)
	}
}

// TestWhatAWorkSays is true of each of its objects: the first that is not applied is named.
func TestWhatAWorkSays(t *testing.T) {
	no := errors.New("no")
	for _, tt := range []struct {
		name  string
		facts []fact
		want  string
	}{
		{"all are applied", []fact{{ref: api, verb: apply.Create}, {ref: web, verb: apply.Create}}, "True AppliedSuccessful the objects are applied"},
		{"the first is not", []fact{{ref: api, err: no}, {ref: web, verb: apply.Create}}, "False AppliedFailed Deployment.apps/shop/api is not applied"},
		{"the last is not", []fact{{ref: api, verb: apply.Create}, {ref: web, err: no}}, "False AppliedFailed Deployment.apps/shop/web is not applied"},
		{"none is", []fact{{ref: api, err: no}, {ref: web, err: no}}, "False AppliedFailed Deployment.apps/shop/api is not applied"},
	} {
		l := status.NewLedger("eu-1")
		r := round(one, tt.facts...)
		h := healthy()
		h.Status = []byte("{")
		r.Health[web] = h
		l.Ended(r, began)
		root := l.Layout()
		content, err := object.DecodeCanonical([]byte(text(t, root, "works/shop.yaml")))
		if err != nil {
			t.Fatal(err)
		}
		below, _ := content["status"].(map[string]any)
		list, _ := below["conditions"].([]any)
		c, _ := list[0].(map[string]any)
		if got := fmt.Sprintf("%s %s %s", c["status"], c["reason"], c["message"]); got != tt.want || len(list) != 1 {
			t.Errorf("%s: %s", tt.name, got)
		}
		objects, err := status.Objects(root, status.Everything)
		if err != nil || objects[web].Health.Status != nil || objects[api].Health.Status != nil || objects[web].Resource != "deployments" {
			t.Errorf("%s: %+v, %v", tt.name, objects[web], err)
		}
		r.Resources = nil // the cluster does not say any more
		l.Ended(r, began.Add(time.Minute))
		if objects, err := status.Objects(l.Layout(), status.Everything); err != nil || objects[web].Resource != "deployments" {
			t.Errorf("%s: later it is %+v, %v", tt.name, objects[web], err)
		}
	}
}

// TestACredentialThatEndsIsWritten when another moment is known, and the earliest of several changes counts.
func TestACredentialThatEndsIsWritten(t *testing.T) {
	l := settled(began)
	ends := func(at time.Time, more ...fact) *status.Round {
		r := round(one, append([]fact{{ref: web}, {ref: conf}}, more...)...)
		r.Expires = at
		return r
	}
	l.Ended(ends(began.Add(24*time.Hour)), began.Add(time.Hour))
	wantDue(t, l, time.Hour+time.Second, "it is known when it ends")
	l.Ended(ends(began.Add(48*time.Hour), fact{ref: api, verb: apply.Create}), began.Add(time.Hour+500*time.Millisecond))
	wantDue(t, l, time.Hour+time.Second, "an object changes as well")
	l.Layout()
	l.Wrote(began.Add(time.Hour + time.Second))
	l.Ended(ends(began.Add(48*time.Hour), fact{ref: api}), began.Add(2*time.Hour))
	never(t, l, began.Add(time.Hour+time.Second), "it ends as it is written")
	l.Ended(ends(time.Time{}, fact{ref: api}), began.Add(3*time.Hour))
	wantDue(t, l, 3*time.Hour+time.Second, "it does not end any more")
}

// TestFlapsAreCountedAnew when an object is applied anew.
func TestFlapsAreCountedAnew(t *testing.T) {
	l := settled(began)
	flaps := func() int {
		t.Helper()
		objects, err := status.Objects(l.Layout(), status.Everything)
		if err != nil {
			t.Fatal(err)
		}
		return objects[web].Flaps
	}
	for n := range 5 {
		h := healthy()
		if n%2 == 0 {
			h = inProgress("")
		}
		l.Saw(web, h, began.Add(time.Hour+time.Duration(n)*time.Second))
	}
	if flaps() == 0 {
		t.Error("it does not flap")
	}
	l.Ended(round(two, fact{ref: web, verb: apply.Update}, fact{ref: conf}), began.Add(2*time.Hour))
	if n := flaps(); n != 0 {
		t.Errorf("applied anew it flapped %d times", n)
	}
}

// TestWhatPodsSayInWords is for people: how many, why, and in which container; the commonest reason is that of the object.
func TestWhatPodsSayInWords(t *testing.T) {
	for _, tt := range []struct {
		pods       []health.Pods
		words, why string
	}{
		{nil, "", "InProgress"},
		{[]health.Pods{{Reason: "CrashLoopBackOff", Container: "web", Count: 2}, {Reason: "Unschedulable", Count: 1}}, "2 pods CrashLoopBackOff in web, 1 pod Unschedulable", "CrashLoopBackOff"},
	} {
		h := status.Health{Reason: "InProgress", Pods: tt.pods}
		if got := h.PodWords(); got != tt.words || h.Why() != tt.why {
			t.Errorf("%v: %q because %q, want %q because %q", tt.pods, got, h.Why(), tt.words, tt.why)
		}
	}
}

// TestWhatABranchWas is read from its head, and where somebody wrote something else there, it is one commit of that day.
func TestWhatABranchWas(t *testing.T) {
	since := began.Add(-time.Hour)
	for _, tt := range []struct {
		trailers string
		want     status.Past
	}{
		{"", status.Past{Head: one, Commits: 1, Since: began}},
		{"Status-Commits: 7\nStatus-Since: 2026-11-21T11:00:00Z\n", status.Past{Head: one, Commits: 7, Since: since}},
		{"Status-Commits: many\nStatus-Since: long ago\n", status.Past{Head: one, Commits: 1, Since: began}},
		{"Status-Commits: 0\n", status.Past{Head: one, Commits: 1, Since: began}},
		{"Status-Commits: -3\n", status.Past{Head: one, Commits: 1, Since: began}},
		{"Status-Commits: 3\nStatus-Commits: 7\n", status.Past{Head: one, Commits: 7, Since: began}},
	} {
		if got := status.PastOf(git.Head{Commit: one, When: began, Message: "x\n\n" + tt.trailers}); got != tt.want {
			t.Errorf("%q: %+v, want %+v", tt.trailers, got, tt.want)
		}
	}
	at := began.Add(400 * time.Millisecond).In(time.FixedZone("there", 3600))
	u := (status.Past{}).Then("branch", "subject", files.NewFolder(nil), at)
	if !u.When.Equal(began) || u.When.Location() != time.UTC || !strings.Contains(u.Message, "Status-Since: 2026-11-21T12:00:00Z\n") {
		t.Errorf("it is of %v: %s", u.When, u.Message)
	}
	if u := (status.Past{Since: began, Commits: 3}).Next("eu-1", files.NewFolder(nil), began); !u.Anew || !strings.HasPrefix(u.Message, "eu-1: status\n") {
		t.Errorf("without a head, of what is no status, it is %+v", u)
	}
}
