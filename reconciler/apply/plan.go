package apply

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/applying"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Object is a manifest of a cluster's branch.
type Object struct {
	Ref        object.Ref
	APIVersion string
	Content    files.ID // of its file
	Manifest   map[string]any
	// Private reports one that may hold values of Secrets: what a server says of it is not
	// repeated.
	Private bool
	// Unfit says why the object cannot be applied, whatever the cluster holds.
	Unfit string
}

// Kind is the object's group and kind.
func (o *Object) Kind() schema.GroupKind { return kindOf(o.Ref) }

func kindOf(r object.Ref) schema.GroupKind { return schema.GroupKind{Group: r.Group, Kind: r.Kind} }

// Facts are what a cluster answered.
type Facts struct {
	// Live is the metadata of the objects that were asked for and are there.
	Live map[object.Ref]*metav1.PartialObjectMetadata
	// Unknown are kinds of which it is not known what is there, with the reason. A kind that
	// the cluster does not serve has no objects, and is not unknown.
	Unknown map[schema.GroupKind]error
	// Reconciled reports a live object that Flux applies, too, and that is not suspended:
	// the Kustomization that lists it.
	Reconciled map[object.Ref]string
	// Unreconciled says why it is not known which of the objects with Flux's labels Flux applies; nil: it is.
	Unreconciled error
}

// Input is what there is to plan from.
type Input struct {
	Commit    files.ID // of the branch
	Source    string   // the source commit that the branch was published from
	Objects   []Object // of the commit
	Inventory inventory.Inventory
	Formerly  []string // what the source was known by before it moved
	Facts     Facts
	Options   Options
	Now       time.Time
}

// Options are what a person, or the source's config, decides.
type Options struct {
	Guard render.Guard
	// Allowed says that removals which the guard would hold were allowed.
	Allowed bool
	// FailedOver are the paths of objects that left because the cluster, or what is there, failed:
	// the guard does not count them.
	FailedOver map[string]bool
	// Adopt takes over what is there and is nobody's, if a person has seen the list of it: the
	// digests of lists that were seen.
	Adopt []string
	// Ignore names fields that others decide once an object is there.
	Ignore []applying.IgnoreDifference
	// Retry runs hooks again that failed for this commit.
	Retry bool
}

// Verb is what becomes of an object.
type Verb string

// The verbs.
const (
	Create  Verb = "create"  // it is not there
	Update  Verb = "update"  // its content is another one
	Correct Verb = "correct" // somebody changed it
	// Recreate is what became of an Update or Correct that the server refused, where
	// Action.Renew lets the object be deleted and created anew.
	Recreate Verb = "recreate"
	Adopt    Verb = "adopt"   // it is there, and becomes ours
	Delete   Verb = "delete"  // it left the branch
	Release  Verb = "release" // it left the branch, and stays in the cluster as nobody's
	Refuse   Verb = "refuse"  // nothing is done about it, as Why says
)

// Action is what is to be done about one object.
type Action struct {
	Ref  object.Ref
	Verb Verb
	// Why says why an object is refused.
	Why string
	// Foreign says of a refused object that it is there and not ours, so that what is
	// refused can be told field by field.
	Foreign bool
	// Object is nil for what leaves.
	Object *Object
	// UID is that of the live object which is ours; for what is deleted, that of the
	// inventory. Empty where it is not known, or where nothing is there.
	UID string
	// Take says from whom fields may be taken that others own.
	Take Take
	// Renew says when the object may be deleted, to be created anew.
	Renew Renewal
	// Left are fields of the manifest that are left out: the cluster decides them.
	Left [][]string
	// Filled are fields that the manifest lacks, to be sent as they are live.
	Filled [][]string
	// Back is how the replicas of a workload go back to its manifest; nil where they do not.
	Back *Back
	// Version is the resource version that the live object must have still; empty for any.
	Version string
	// Live is the metadata of what is to be adopted.
	Live *metav1.PartialObjectMetadata
	// Hook is the phase that an object runs in, and Run what its annotation says of that;
	// empty for what is no hook. Succeeded and Failed say after what it is deleted.
	Hook              Phase
	Run               string
	Succeeded, Failed bool
	// Earlier says of a hook that it was begun for another commit, and may still run.
	Earlier bool
}

// Take says from whom fields are taken by force.
type Take int

// From nobody, from those who edited the object, or from everybody.
const (
	TakeNothing Take = iota
	TakeEdits
	TakeAll
)

// Plan is what is to be done.
type Plan struct {
	// First are the stages of what leaves before anything is applied.
	First []Stage
	// Apply are stages: one is begun when the one before it has ended, and CRDs are served.
	Apply []Stage
	// Prune are the stages of what leaves, in the reverse order.
	Prune []Stage
	// Post are hooks that run after both.
	Post []Stage
	// Refused are those of which nothing is done.
	Refused []Action
	// Same is how many objects are as they should be.
	Same int
	// Hold says why nothing may be done at all; nil if it may.
	Hold *Hold
	// Adoption is what would be taken over with Options.Adopt.
	Adoption Adoption
	// Again is when time alone gives a round something to do; zero for never.
	Again time.Time

	// sync is how far the commit came already; nil for a branch without hooks and waves.
	sync *inventory.Sync
	// onFail are hooks that run if a hook fails.
	onFail  []Stage
	wants   []inventory.Want
	leaving []object.Ref
	// renamed are entries, by UID, of objects that are wanted by another name.
	renamed map[object.Ref]string
}

// Stages are all of them, in the order in which they are begun.
func (p *Plan) Stages() []Stage { return slices.Concat(p.First, p.Apply, p.Prune, p.Post) }

// Actions are all that is to be done.
func (p *Plan) Actions() []Action {
	var all []Action
	for _, s := range p.Stages() {
		all = append(all, s.Actions...)
	}
	return all
}

// Requests is how many objects need one.
func (p *Plan) Requests() int { return len(p.Actions()) }

// Make plans.
func Make(in Input) Plan {
	m := &maker{in: &in, scaled: scaleTargets(in.Objects)}
	m.plan.Adoption = m.adoption()
	var apply, prune []Action
	for i := range in.Objects {
		if IsHook(&in.Objects[i]) {
			m.hooks = append(m.hooks, hookOf(&in.Objects[i]))
			continue
		}
		a, same := m.object(&in.Objects[i])
		w := inventory.Want{Ref: a.Ref, Changes: !same && a.Verb != Refuse, Keeps: preserved(in.Objects[i].Manifest)}
		_, known := in.Inventory.Entries[a.Ref]
		switch {
		case same:
			m.plan.Same++
		case a.Verb == Refuse:
			m.plan.Refused = append(m.plan.Refused, a)
		default:
			apply = append(apply, a)
		}
		if known || w.Changes {
			m.plan.wants = append(m.plan.wants, w) // what was refused is not ours
		}
	}
	if in.Inventory.Settled {
		prune = m.absent()
	}
	if m.plan.Hold != nil {
		return m.plan
	}
	first, prune := goesFirst(apply, prune)
	m.plan.First = stagesOf(staged(first), "")
	if m.ordered() {
		m.order(apply)
	} else {
		m.plan.Apply = stagesOf(staged(apply), "")
	}
	m.wantHooks()
	m.plan.Prune = stagesOf(staged(prune), "")
	slices.Reverse(m.plan.Prune)
	for _, stage := range m.plan.Prune {
		slices.Reverse(stage.Actions)
	}
	return m.plan
}

type maker struct {
	in     *Input
	scaled map[object.Ref]bool
	hooks  []hook
	sync   inventory.Sync // as far as the commit came
	// resumed says that the commit was begun by an earlier round, and retried that a phase
	// which failed in it is to be done again.
	resumed, retried bool
	plan             Plan
}

// object decides about an object of the branch; same says that nothing is to be done.
func (m *maker) object(o *Object) (a Action, same bool) {
	a = Action{Ref: o.Ref, Object: o}
	entry := m.in.Inventory.Entries[o.Ref]
	live := m.in.Facts.Live[o.Ref]
	if err := m.in.Facts.Unknown[o.Kind()]; err != nil {
		return refused(a, "what the cluster has of its kind is not known: "+err.Error()), false
	}
	switch {
	case o.Unfit != "":
		return refused(a, o.Unfit), false
	case live == nil:
		a.Verb = Create
		return a, false
	case live.DeletionTimestamp != nil:
		return refused(a, "it is being deleted"+finalizers(live)+"; it is created anew when it is gone"), false
	}
	a.UID = string(live.UID)
	a.Left, a.Filled = m.toCluster(o, live, nil)
	a.Back = backOf(m.in, o, live, nil)
	m.plan.looksAgain(a.Back, m.in.Now)
	ours, theirs := m.owned(entry, live)
	switch {
	case theirs != "":
		return refused(a, theirs), false
	case ours && entry.Content == o.Content && entry.Fields == Digest(live) && entry.UID == a.UID && !isDue(m.in, o, live):
		return a, true
	case ours:
		a.Verb, a.Take, a.Renew = Update, TakeEdits, renewal(o)
		if entry.Content == o.Content {
			a.Verb = Correct
		}
		if overwrites(o) {
			a.Take = TakeAll
		}
		return a, false
	}
	return m.contact(a, live), false
}

// owned reports whether a live object is ours, or says who else owns it.
func (m *maker) owned(entry inventory.Entry, live *metav1.PartialObjectMetadata) (ours bool, theirs string) {
	owner := live.Annotations[OwnerAnnotation]
	switch {
	case entry.UID != "" && entry.UID == string(live.UID):
		return true, ""
	case Owned(live, m.in.Inventory.Owner):
		return true, ""
	case slices.Contains(m.in.Formerly, owner):
		return Owned(live, owner), ""
	case owner != "" && owner != m.in.Inventory.Owner:
		return false, fmt.Sprintf("the source %s owns it, by its annotation %s; two sources cannot own one object: take it out of one of them, or say in publish.formerly that this one was called so", owner, OwnerAnnotation)
	}
	return false, ""
}

// leftBranch lists the entries that are not on the branch. Those of objects that are there by another name, as a Project
// of OpenShift is its Namespace, are renamed, unless it is not known yet that they are ours by that name.
func leftBranch(in *Input, wants []inventory.Want) (absent []object.Ref, renamed map[object.Ref]string) {
	onBranch, uids := make([]inventory.Want, 0, len(in.Objects)), map[string]object.Ref{}
	for i := range in.Objects {
		r := in.Objects[i].Ref
		onBranch = append(onBranch, inventory.Want{Ref: r})
		if live := in.Facts.Live[r]; live != nil && live.UID != "" {
			uids[string(live.UID)] = r
		}
	}
	renamed = map[object.Ref]string{}
	absent = slices.DeleteFunc(in.Inventory.Absent(onBranch), func(r object.Ref) bool {
		uid := in.Inventory.Entries[r].UID
		as, is := uids[uid]
		if is && slices.ContainsFunc(wants, func(w inventory.Want) bool { return w.Ref == as }) {
			renamed[r] = uid
		}
		return is
	})
	return absent, renamed
}

// absent decides about entries that are not on the branch, unless the guard holds them.
func (m *maker) absent() []Action {
	var absent []object.Ref
	absent, m.plan.renamed = leftBranch(m.in, m.plan.wants)
	if m.plan.Hold = m.hold(absent); m.plan.Hold != nil {
		return nil
	}
	isUnder := underWhatStays(absent, m.in.Inventory)
	var actions []Action
	for _, r := range absent {
		e := m.in.Inventory.Entries[r]
		a := Action{Ref: r, Verb: Delete, UID: e.UID}
		if err := m.in.Facts.Unknown[kindOf(r)]; err != nil {
			m.plan.Refused = append(m.plan.Refused, refused(a, "it left the branch, and what the cluster has of its kind is not known: "+err.Error()))
			continue
		}
		if stays(r, e) || isUnder(r) {
			a.Verb = Release
		} else {
			m.plan.leaving = append(m.plan.leaving, r)
		}
		actions = append(actions, a)
	}
	return actions
}

// underWhatStays reports what others are deleted with of which one stays when it leaves the branch: its Namespace, and the
// CustomResourceDefinitions of its group, which their names end with.
func underWhatStays(absent []object.Ref, i inventory.Inventory) func(object.Ref) bool {
	namespaces, definitions := map[string]bool{}, map[string]bool{}
	for _, r := range absent {
		if stays(r, i.Entries[r]) {
			namespaces[r.Namespace], definitions[r.Group] = r.Namespace != "", r.Group != ""
		}
	}
	return func(r object.Ref) bool {
		switch kindOf(r) {
		case schema.GroupKind{Kind: "Namespace"}:
			return namespaces[r.Name]
		case schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
			_, group, _ := strings.Cut(r.Name, ".")
			return definitions[group]
		}
		return false
	}
}

// stays reports an entry whose object stays in the cluster: its manifest said so, or it is a
// Namespace that a cluster, or its inventories, cannot be without.
func stays(r object.Ref, e inventory.Entry) bool {
	return e.Keeps || r.Group == "" && r.Kind == "Namespace" &&
		(r.Name == "default" || r.Name == inventory.Namespace || strings.HasPrefix(r.Name, "kube-"))
}

func refused(a Action, why string) Action {
	a.Verb, a.Why = Refuse, why
	return a
}
