package apply

import (
	"context"
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render/object"
)

// TestAHookTakesNothingOfOthers: a hook is deleted and created anew where it runs again, which is done to nothing that is somebody's.
func TestAHookTakesNothingOfOthers(t *testing.T) {
	hook := manifest("batch/v1 Job shop/migrate", nil, "argocd.argoproj.io/hook=PreSync")
	overwrites := manifest("batch/v1 Job shop/migrate", nil, "argocd.argoproj.io/hook=PreSync", conflictAnnotation+"=overwrite")
	unfit := hook
	unfit.Unfit = "it is encrypted"
	for name, tt := range map[string]struct {
		object  Object
		live    *metav1.PartialObjectMetadata
		unknown error
		want    Verb
	}{
		"nothing is there":                       {hook, nil, nil, Create},
		"ours":                                   {hook, live("u1"), nil, Recreate},
		"another source's":                       {hook, live("u1", owner("git.example.com/another")), nil, Refuse},
		"another source's, and it may overwrite": {overwrites, live("u1", owner("git.example.com/another")), nil, Refuse},
		"nobody's, and it may overwrite":         {overwrites, live("u1", theirs), nil, Recreate},
		"nobody's that we know":                  {hook, live("u1", theirs), nil, Refuse},
		"it cannot be applied":                   {unfit, live("u1"), nil, Refuse},
		"it is not known":                        {hook, nil, errors.New("403"), Refuse},
		"ours, and being deleted":                {hook, live("u1", deleting), nil, Recreate},
	} {
		in := Input{Commit: blob("commit"), Objects: []Object{tt.object}, Inventory: inventory.Inventory{Identity: inventory.Identity{Owner: source}}, Facts: Facts{
			Live: map[object.Ref]*metav1.PartialObjectMetadata{}, Unknown: map[schema.GroupKind]error{},
		}}
		if tt.live != nil {
			in.Facts.Live[hook.Ref] = tt.live
		}
		if tt.unknown != nil {
			in.Facts.Unknown[hook.Kind()] = tt.unknown
		}
		p := Make(in)
		all := append(p.Actions(), p.Refused...)
		if len(all) != 1 || all[0].Verb != tt.want || tt.want == Recreate && (all[0].UID != "u1" || all[0].Renew != RenewFirst) {
			t.Errorf("%s: it comes to %+v", name, all)
		}
	}
}

// TestWhoseFieldsBecomeOurs where an object is adopted: those of who delivers manifests, and not those of controllers.
func TestWhoseFieldsBecomeOurs(t *testing.T) {
	for manager, want := range map[string]bool{
		"kubectl": true, "kubectl-client-side-apply": true, "kubectl-edit": true, "helm": true, "argocd-controller": true, "kustomize-controller": true,
		"karmada-agent": true, "before-first-apply": true, "kube-controller-manager": false, "deployment-controller": false, "": false, "my-kubectl": false,
	} {
		e := fields(manager, metav1.ManagedFieldsOperationUpdate, "{}")
		if got := Delivers(e); got != want {
			t.Errorf("%q: %t", manager, got)
		}
		if e.Subresource = "status"; Delivers(e) {
			t.Errorf("%q becomes ours of a status", manager)
		}
	}
}

// TestWhatDrifts from what a round left: what is gone, what is another one, and what has other fields of ours. What is not ours does not,
// nor what a round is about to change.
func TestWhatDrifts(t *testing.T) {
	left := inventory.Entry{Content: blob("a"), UID: "u1", Fields: Digest(live("u1"))}
	leaving, begun := left, left
	leaving.Leaving, begun.Content = true, inventory.Entry{}.Content
	other := func(o *metav1.PartialObjectMetadata) {
		o.ManagedFields = []metav1.ManagedFieldsEntry{fields(Manager, metav1.ManagedFieldsOperationApply, `{"f:other":{}}`)}
	}
	for name, tt := range map[string]struct {
		entry inventory.Entry
		known bool
		live  *metav1.PartialObjectMetadata
		want  bool
	}{
		"as it was left":                  {left, true, live("u1"), false},
		"gone":                            {left, true, nil, true},
		"what was in our way is gone":     {inventory.Entry{}, false, nil, true},
		"another one":                     {left, true, live("u2"), true},
		"other fields":                    {left, true, live("u1", other), true},
		"what was in our way is there":    {inventory.Entry{}, false, live("u2", theirs), false},
		"what leaves":                     {leaving, true, live("u1", other), false},
		"what a round is about to change": {begun, true, live("u1", other), false},
	} {
		if got := Drifted(tt.entry, tt.known, tt.live); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestWhatWeApplied is what has our source as its owner, and fields that we applied: not those of an edit, nor of a status.
func TestWhatWeApplied(t *testing.T) {
	status := fields(Manager, metav1.ManagedFieldsOperationApply, "{}")
	status.Subresource = "status"
	for name, tt := range map[string]struct {
		live *metav1.PartialObjectMetadata
		want bool
	}{
		"applied":                  {live("u1"), true},
		"of another source":        {live("u1", owner("git.example.com/another")), false},
		"of nobody":                {live("u1", owner("")), false},
		"applied by somebody else": {live("u1", theirs, owner(source)), false},
		"edited by a tool of our name": {live("u1", func(o *metav1.PartialObjectMetadata) {
			o.ManagedFields = []metav1.ManagedFieldsEntry{fields(Manager, metav1.ManagedFieldsOperationUpdate, "{}")}
		}), false},
		"its status alone": {live("u1", func(o *metav1.PartialObjectMetadata) { o.ManagedFields = []metav1.ManagedFieldsEntry{status} }), false},
	} {
		if got := Owned(tt.live, source); got != tt.want || (Digest(tt.live) != 0) != (tt.want || name == "of another source" || name == "of nobody") {
			t.Errorf("%s: %t, with the digest %d", name, got, Digest(tt.live))
		}
	}
}

// TestWhatIsNotAsItShouldBe after a round.
func TestWhatIsNotAsItShouldBe(t *testing.T) {
	for name, tt := range map[string]struct {
		report Report
		want   bool
	}{
		"all is done":            {Report{Outcomes: []Outcome{{}}}, false},
		"one failed":             {Report{Outcomes: []Outcome{{}, {Err: errors.New("403")}}}, true},
		"one waits":              {Report{Outcomes: []Outcome{{Waits: "a finalizer"}}}, false},
		"a hook failed":          {Report{Stopped: "a hook failed"}, true},
		"one is refused":         {Report{Plan: Plan{Refused: []Action{{}}}}, true},
		"the guard holds it":     {Report{Plan: Plan{Hold: &Hold{}}}, true},
		"there is nothing to do": {Report{}, false},
	} {
		if got := tt.report.Failed(); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// raced is a cluster to which somebody else applies at some of our writes of the inventory.
type raced struct {
	*model

	at     []int // of our writes
	writes int
}

func (r *raced) Store(ctx context.Context, before Stored, now inventory.Inventory) (Stored, error) {
	if r.writes++; slices.Contains(r.at, r.writes) {
		theirs := r.stored.Inventory
		theirs.Entries = map[object.Ref]inventory.Entry{}
		for name := range r.things {
			theirs.Entries[name] = inventory.Entry{Content: blob("theirs"), UID: r.things[name].uid}
		}
		r.stored = Stored{Inventory: theirs}
		return Stored{}, ErrRace
	}
	return r.model.Store(ctx, before, now)
}

// TestWhatTwoAppliedIsInDoubt: whoever loses the race for the inventory has what it touched be applied again; what it did not touch is as
// the other one left it.
func TestWhatTwoAppliedIsInDoubt(t *testing.T) {
	for _, at := range [][]int{{2}, {2, 3}, {2, 3, 4}} {
		m := &raced{model: newModel(), at: at}
		other := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "other"}
		m.things[other] = thing{uid: "o"}
		branch := branchOf(1)
		r := Round{
			Cluster: m, Name: "eu-1", Owner: source, Commit: blob("commit"), Source: "s", Objects: branch,
			Admit: func(context.Context, inventory.Inventory) (Options, error) { return Options{}, nil },
		}
		if _, err := r.Do(t.Context()); !errors.Is(err, ErrRace) {
			t.Errorf("with races at %v it comes to %v", at, err)
		}
		all := m.stored.Inventory.Entries
		if !all[branch[0].Ref].Content.IsZero() || all[other].Content != blob("theirs") {
			t.Errorf("with races at %v there is %+v", at, all)
		}
	}
}

// TestWhatIsToStayIsReleased when it leaves the branch: an object whose manifest said so, which the inventory remembers, and namespaces
// that a cluster cannot be without. Nothing says of it at any time that its deletion began.
func TestWhatIsToStayIsReleased(t *testing.T) {
	for name, want := range map[string]Verb{"default": Release, "kube-public": Release, "kube": Delete, "shop": Delete, "defaults": Delete} {
		r := object.Ref{Kind: "Namespace", Name: name}
		p := Make(Input{Commit: blob("commit"), Inventory: inventory.Inventory{Identity: inventory.Identity{Owner: source}, Settled: true, Entries: map[object.Ref]inventory.Entry{r: {UID: "u"}}}, Options: Options{Allowed: true}})
		if all := p.Actions(); len(all) != 1 || all[0].Verb != want || slices.Contains(p.leaving, r) != (want == Delete) {
			t.Errorf("the Namespace %s: %+v, and leaving are %v", name, all, p.leaving)
		}
	}
	kept, goes := manifest("v1 ConfigMap shop/kept", nil, PreserveAnnotation+"=true"), manifest("v1 ConfigMap shop/goes", nil)
	m := newModel()
	for n := range 2 { // the first round at a cluster deletes nothing
		if err := m.round(t, []Object{kept, goes}, blob("first")); err != nil {
			t.Fatal(n, err)
		}
	}
	if all := m.stored.Inventory.Entries; !all[kept.Ref].Keeps || all[goes.Ref].Keeps {
		t.Errorf("the inventory has %+v", all)
	}
	goes.Manifest["value"], goes.Content = "second", blob("second") // and nothing is to be done about the other one
	if err := m.round(t, []Object{kept, goes}, blob("second")); err != nil {
		t.Fatal(err)
	}
	report, err := m.report(t, nil, blob("third"), false)
	if err != nil {
		t.Fatal(err)
	}
	verbs := map[string]Verb{}
	for _, o := range report.Outcomes {
		verbs[o.Ref.Name] = o.Verb
	}
	if verbs["kept"] != Release || verbs["goes"] != Delete || slices.Contains(report.Plan.leaving, kept.Ref) {
		t.Errorf("what leaves comes to %v, and leaving are %v", verbs, report.Plan.leaving)
	}
	if len(m.stored.Inventory.Entries) > 0 {
		t.Errorf("then the inventory has %+v", m.stored.Inventory.Entries)
	}
}

// TestATokenIsLeftToTheCluster: what a cluster writes into the Secret of a service account is not taken away.
func TestATokenIsLeftToTheCluster(t *testing.T) {
	for kind, want := range map[string]bool{"kubernetes.io/service-account-token": true, "Opaque": false} {
		o := manifest("v1 Secret shop/token", nil)
		o.Manifest["type"], o.Manifest["data"] = kind, map[string]any{"token": "eA=="}
		is := live("u1", func(o *metav1.PartialObjectMetadata) {
			o.ManagedFields = []metav1.ManagedFieldsEntry{fields(Manager, metav1.ManagedFieldsOperationApply, `{"f:type":{}}`)}
		})
		p := Make(Input{Objects: []Object{o}, Inventory: inventory.Inventory{Identity: inventory.Identity{Owner: source}}, Facts: Facts{Live: map[object.Ref]*metav1.PartialObjectMetadata{o.Ref: is}}})
		all := p.Actions()
		if len(all) != 1 || (len(all[0].Left) == 1 && all[0].Left[0][0] == "data") != want {
			t.Errorf("%s: %+v", kind, all)
		}
	}
}
