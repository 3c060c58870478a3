package apply

import (
	"context"
	"errors"
	"slices"
	"strings"
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
	data := manifest("v1 PersistentVolumeClaim shop/migrate", nil, "argocd.argoproj.io/hook=PreSync", conflictAnnotation+"=overwrite")
	run := func(of string) func(*metav1.PartialObjectMetadata) {
		return func(l *metav1.PartialObjectMetadata) { l.Annotations[RunAnnotation] = of }
	}
	unfit := hook
	unfit.Unfit = "it is encrypted"
	for name, tt := range map[string]struct {
		object  Object
		live    *metav1.PartialObjectMetadata
		unknown error
		want    Verb
		earlier bool
	}{
		"nothing is there":                                       {hook, nil, nil, Create, false},
		"ours, and runs for an earlier commit":                   {hook, live("u1", run(runOf(blob("before"), PreSync))), nil, Recreate, true},
		"ours, runs for an earlier commit, and is being deleted": {hook, live("u1", run(runOf(blob("before"), PreSync)), deleting), nil, Recreate, false},
		"nobody's, with data, and it may overwrite":              {data, live("u1", theirs), nil, Adopt, false},
		"ours, with data":                                        {data, live("u1"), nil, Update, false},
		"ours":                                                   {hook, live("u1"), nil, Recreate, false},
		"another source's":                                       {hook, live("u1", owner("git.example.com/another")), nil, Refuse, false},
		"another source's, and it may overwrite":                 {overwrites, live("u1", owner("git.example.com/another")), nil, Refuse, false},
		"nobody's, and it may overwrite":                         {overwrites, live("u1", theirs), nil, Recreate, false},
		"nobody's that we know":                                  {hook, live("u1", theirs), nil, Refuse, false},
		"it cannot be applied":                                   {unfit, live("u1"), nil, Refuse, false},
		"it is not known":                                        {hook, nil, errors.New("403"), Refuse, false},
		"ours, and being deleted":                                {hook, live("u1", deleting), nil, Recreate, false},
	} {
		in := Input{Commit: blob("commit"), Objects: []Object{tt.object}, Inventory: inventory.Inventory{Identity: inventory.Identity{Owner: source}}, Facts: Facts{
			Live: map[object.Ref]*metav1.PartialObjectMetadata{}, Unknown: map[schema.GroupKind]error{},
		}}
		if tt.live != nil {
			in.Facts.Live[tt.object.Ref] = tt.live
		}
		if tt.unknown != nil {
			in.Facts.Unknown[hook.Kind()] = tt.unknown
		}
		p := Make(in)
		all := append(p.Actions(), p.Refused...)
		if len(all) != 1 || all[0].Verb != tt.want || tt.want == Recreate && (all[0].UID != "u1" || all[0].Renew != RenewFirst) {
			t.Errorf("%s: it comes to %+v", name, all)
			continue
		}
		take := map[Verb]Take{Adopt: TakeAll, Update: TakeEdits}[tt.want]
		if all[0].Earlier != tt.earlier || all[0].Take != take {
			t.Errorf("%s: earlier is %t, and fields are taken from %d, want %t and %d", name, all[0].Earlier, all[0].Take, tt.earlier, take)
		}
	}
}

// TestWhatIsThereAlready and is not ours stays as it is, and it is told who wrote or applies it, unless its manifest takes it over.
func TestWhatIsThereAlready(t *testing.T) {
	plain, overwrites := manifest("v1 ConfigMap shop/web", nil), manifest("v1 ConfigMap shop/web", nil, conflictAnnotation+"=overwrite")
	const there = "it is there already, and not from here"
	marked := func(marks ...string) func(*metav1.PartialObjectMetadata) {
		return func(l *metav1.PartialObjectMetadata) {
			l.Annotations = map[string]string{}
			for i := 0; i < len(marks); i += 2 {
				l.Annotations[marks[i]] = marks[i+1]
			}
			l.Labels = l.Annotations
		}
	}
	several := func(l *metav1.PartialObjectMetadata) {
		for _, name := range []string{"kubectl-edit", "argocd-controller", "helm"} {
			l.ManagedFields = append(l.ManagedFields, fields(name, metav1.ManagedFieldsOperationUpdate, "{}"))
		}
	}
	work := marked("work.karmada.io/namespace", "karmada-es-eu", "work.karmada.io/name", "web-1")
	flux := marked("kustomize.toolkit.fluxcd.io/namespace", "flux-system", fluxLabel, "apps")
	for name, tt := range map[string]struct {
		object Object
		live   *metav1.PartialObjectMetadata
		flux   string // what of Flux applies it
		want   string // why it is refused; empty: it is taken over
	}{
		"somebody wrote it":                   {plain, live("u1", theirs), "", there + " (helm wrote it)"},
		"several wrote it":                    {plain, live("u1", theirs, several), "", there + " (argocd-controller, helm, kubectl-edit wrote it)"},
		"Argo CD's":                           {plain, live("u1", theirs, marked("argocd.argoproj.io/tracking-id", "app:x")), "", there},
		"Flux applies it":                     {plain, live("u1", theirs, flux), "Kustomization a/b", there},
		"Flux applies it, and is overwritten": {overwrites, live("u1", theirs, flux), "Kustomization a/b", "Kustomization a/b applies it, too; suspend that first"},
		"Flux's, and is overwritten":          {overwrites, live("u1", theirs, flux), "", "(Flux Kustomization flux-system/apps)"},
		"Karmada's, and is overwritten":       {overwrites, live("u1", theirs, work), "", "(Karmada Work karmada-es-eu/web-1)"},
		"somebody's, and is overwritten":      {overwrites, live("u1", theirs), "", ""},
	} {
		in := Input{Objects: []Object{tt.object}, Inventory: inventory.Inventory{Identity: inventory.Identity{Owner: source}}, Facts: Facts{
			Live: map[object.Ref]*metav1.PartialObjectMetadata{plain.Ref: tt.live}, Reconciled: map[object.Ref]string{plain.Ref: tt.flux},
		}}
		p := Make(in)
		if tt.want == "" {
			if all := p.Actions(); len(all) != 1 || all[0].Verb != Adopt {
				t.Errorf("%s: it comes to %+v", name, all)
			}
			continue
		}
		if len(p.Refused) != 1 || !strings.Contains(p.Refused[0].Why, tt.want) || p.Refused[0].Foreign != strings.HasPrefix(tt.want, there) {
			t.Errorf("%s: refused is %+v, want %q", name, p.Refused, tt.want)
		}
	}
}

// TestWhatCanBeAdopted is what is there and nobody's: not what is ours, goes, or cannot be applied. Where there is nothing, there is no list to agree to.
func TestWhatCanBeAdopted(t *testing.T) {
	var in Input
	in.Inventory.Owner, in.Facts.Live = source, map[object.Ref]*metav1.PartialObjectMetadata{}
	for name, is := range map[string]*metav1.PartialObjectMetadata{"nobodys": live("u1", theirs), "goes": live("u2", theirs, deleting), "unfit": live("u3", theirs), "ours": live("u4")} {
		o := manifest("v1 ConfigMap shop/"+name, nil)
		if name == "unfit" {
			o.Unfit = "it is encrypted"
		}
		in.Objects, in.Facts.Live[o.Ref] = append(in.Objects, o), is
	}
	a := Make(in).Adoption
	if len(a.Objects) != 1 || a.Objects[0].Object.Name != "nobodys" || a.Objects[0].UID != "u1" || !slices.Equal(a.Objects[0].Managers, []string{"helm"}) {
		t.Errorf("it is %+v", a)
	}
	in.Facts.Live[a.Objects[0].Object] = live("u1")
	if a = Make(in).Adoption; len(a.Objects) > 0 || a.Digest != "" {
		t.Errorf("of nothing it is %+v", a)
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
		live  *metav1.PartialObjectMetadata
		want  bool
	}{
		"as it was left":                  {left, live("u1"), false},
		"gone":                            {left, nil, true},
		"what was in our way is gone":     {inventory.Entry{}, nil, true},
		"another one":                     {left, live("u2"), true},
		"other fields":                    {left, live("u1", other), true},
		"what was in our way is there":    {inventory.Entry{}, live("u2", theirs), false},
		"what leaves":                     {leaving, live("u1", other), false},
		"what a round is about to change": {begun, live("u1", other), false},
	} {
		if got := Drifted(tt.entry, tt.live); got != tt.want {
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
		r.put(theirs)
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

// TestWhatStaysKeepsWhatItIsDeletedWith: its Namespace, and the definitions of its group, are released with it; others are deleted.
func TestWhatStaysKeepsWhatItIsDeletedWith(t *testing.T) {
	shop := object.Ref{Kind: "Namespace", Name: "shop"}
	definition := object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "widgets.example.com"}
	for name, tt := range map[string]struct {
		left       object.Ref
		keeps      bool
		shop, kind Verb
	}{
		"in the Namespace":            {object.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}, true, Release, Delete},
		"in the Namespace, and goes":  {object.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}, false, Delete, Delete},
		"in another Namespace":        {object.Ref{Kind: "PersistentVolumeClaim", Namespace: "blog", Name: "data"}, true, Delete, Delete},
		"of the kind":                 {object.Ref{Group: "example.com", Kind: "Widget", Name: "w"}, true, Delete, Release},
		"of the kind, and goes":       {object.Ref{Group: "example.com", Kind: "Widget", Name: "w"}, false, Delete, Delete},
		"of a kind of another group":  {object.Ref{Group: "example.org", Kind: "Widget", Name: "w"}, true, Delete, Delete},
		"a definition of that name":   {object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "a.b"}, true, Delete, Delete},
		"of the kind, in a Namespace": {object.Ref{Group: "example.com", Kind: "Widget", Namespace: "shop", Name: "w"}, true, Release, Release},
	} {
		p := Make(Input{
			Commit: blob("commit"), Options: Options{Allowed: true},
			Inventory: inventory.Inventory{Identity: inventory.Identity{Owner: source}, Settled: true, Entries: map[object.Ref]inventory.Entry{
				shop: {UID: "n"}, definition: {UID: "d"}, tt.left: {UID: "u", Keeps: tt.keeps},
			}},
		})
		got := map[object.Ref]Verb{}
		for _, a := range p.Actions() {
			got[a.Ref] = a.Verb
		}
		if got[shop] != tt.shop || got[definition] != tt.kind {
			t.Errorf("with something that stays %s, the Namespace is to be %v, and the definition %v", name, got[shop], got[definition])
		}
	}
}

// TestWhatIsToStayIsReleased when it leaves the branch: an object whose manifest said so, which the inventory remembers, and namespaces
// that a cluster, or its inventories, cannot be without. Nothing says of it at any time that its deletion began.
func TestWhatIsToStayIsReleased(t *testing.T) {
	for name, want := range map[string]Verb{
		"default": Release, "kube-public": Release, "waybill-system": Release, "kube": Delete, "shop": Delete, "defaults": Delete,
		"example.com/default": Delete, "ConfigMap default": Delete, "waybill-systems": Delete, "ConfigMap waybill-system": Delete,
	} {
		r := object.Ref{Kind: "Namespace", Name: name}
		if kind, short, ok := strings.Cut(name, " "); ok {
			r.Kind, r.Name = kind, short
		}
		if group, short, ok := strings.Cut(name, "/"); ok {
			r.Group, r.Name = group, short
		}
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
