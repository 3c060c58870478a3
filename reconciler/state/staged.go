package state

import (
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/files"
)

// While a unit goes out in stages, the bindings of its objects list the clusters whose turn has not come: nearly all of the
// fleet at first, and fewer with each step. Which these are the record of the roll-out says as well. A binding with
// stagedAnnotation does not list them: its object waits in each cluster of spec.clusters that was not released by the record,
// and is not listed with another reason. So a step writes the record, and no binding.

// stagedAnnotation says of a binding that its object waits for its stage in clusters that are not listed, and whether it
// is there.
const stagedAnnotation = "waybill.dev/waits-for-stage"

// The values of stagedAnnotation.
const (
	isKept   = "kept"
	isMissed = "missed"
)

// stages knows of units which clusters were not released, and makes bindings shorter, or whole, by that.
type stages struct {
	records map[rollouts.Unit]*rollouts.Rollout
	told    map[listOf][]string
	known   map[madeOf][]karmada.AggregatedStatusItem
}

// listOf is the list of clusters of a decision, by where it is: many bindings of a unit have the same.
type listOf struct {
	unit rollouts.Unit
	sent *karmada.TargetCluster
	n    int
}

// madeOf is what the list of a binding is made of, when it is made shorter, or whole.
type madeOf struct {
	listOf

	listed *karmada.AggregatedStatusItem
	n      int
	is     string // the value of the annotation
}

func newStages(recorded []rollouts.Rollout) *stages {
	s := &stages{map[rollouts.Unit]*rollouts.Rollout{}, map[listOf][]string{}, map[madeOf][]karmada.AggregatedStatusItem{}}
	for i := range recorded {
		s.records[recorded[i].Unit] = &recorded[i]
	}
	return s
}

// shorten has bindings not list what the records of units tell, and reports whether there are any. Those that are as in an
// earlier state, which may be nil, are taken from there.
func shorten(bindings []*karmada.ResourceBinding, recorded []rollouts.Rollout, earlier *State) (isAny bool) {
	s := newStages(recorded)
	for i, b := range bindings {
		short := s.shorter(b)
		if short == b {
			continue
		}
		bindings[i], isAny = short, true
		if earlier == nil {
			continue
		}
		if r := TemplateRef(b); earlier.Bindings[r] == b && isAlike(earlier.written[r], short) {
			bindings[i] = earlier.written[r]
		}
	}
	return isAny
}

// isAlike reports that two bindings, of which one may be nil, were shortened alike.
func isAlike(a, b *karmada.ResourceBinding) bool {
	return a != nil && a.Annotations[stagedAnnotation] == b.Annotations[stagedAnnotation] &&
		slices.Equal(a.Status.AggregatedStatus, b.Status.AggregatedStatus)
}

// shorter returns a binding as it is written: without the clusters that the record of its unit tells. It is the same binding where that
// says something else, or nothing.
func (s *stages) shorter(b *karmada.ResourceBinding) *karmada.ResourceBinding {
	listed := b.Status.AggregatedStatus
	n := slices.IndexFunc(listed, isStaged)
	unit, ok := unitOf(b)
	if n < 0 || !ok || s.records[unit] == nil {
		return b
	}
	is := isMissed
	if listed[n].Applied {
		is = isKept
	}
	short := s.made(unit, b, is, withoutTold)
	if len(short) == len(listed) {
		return b
	}
	out := *b
	out.Annotations = maps.Clone(b.Annotations)
	out.Annotations[stagedAnnotation] = is
	out.Status.AggregatedStatus = short
	return &out
}

// longer returns a binding as it is meant, of one that is written.
func (s *stages) longer(b *karmada.ResourceBinding) *karmada.ResourceBinding {
	is := b.Annotations[stagedAnnotation]
	if is == "" {
		return b
	}
	unit, _ := unitOf(b)
	out := *b
	out.Annotations = maps.Clone(b.Annotations)
	delete(out.Annotations, stagedAnnotation)
	out.Status.AggregatedStatus = s.made(unit, b, is, withTold)
	return &out
}

// lengthen has bindings say what they mean. Those of an earlier state, which may be nil, that were written the same, beside
// the same record, are taken from there.
func lengthen(s, earlier *State) {
	of, same := newStages(s.Rollouts), map[rollouts.Unit]bool{}
	for r, b := range s.Bindings {
		if b.Annotations[stagedAnnotation] == "" {
			continue
		}
		unit, _ := unitOf(b)
		isSame, known := same[unit]
		if !known {
			isSame = earlier != nil && RecordIn(s.root, unit) == RecordIn(earlier.root, unit)
			same[unit] = isSame
		}
		if isSame && earlier.written[r] == b {
			s.Bindings[r] = earlier.Bindings[r]
		} else {
			s.Bindings[r] = of.longer(b)
		}
	}
}

// RecordIn identifies the files of the record of a unit in the state branch's folder; zero for none.
func RecordIn(root *files.Folder, u rollouts.Unit) [2]files.ID {
	path := rollouts.Folder + "/" + u.String()
	file, _ := root.Lookup(path + ".yaml")
	stages, _ := root.Lookup(path)
	return [2]files.ID{file.ID, stages.ID}
}

// made returns the list of a binding that is made of its lists, once for all that have the same.
func (s *stages) made(unit rollouts.Unit, b *karmada.ResourceBinding, is string, by making) []karmada.AggregatedStatusItem {
	of := madeOf{listOf: listOf{unit: unit, n: len(b.Spec.Clusters)}, n: len(b.Status.AggregatedStatus), is: is}
	if len(b.Spec.Clusters) > 0 {
		of.sent = &b.Spec.Clusters[0]
	}
	if of.n > 0 {
		of.listed = &b.Status.AggregatedStatus[0]
	}
	all, known := s.known[of]
	if !known {
		told, isTold := s.told[of.listOf]
		if !isTold {
			told = s.tell(unit, b.Spec.Clusters)
			s.told[of.listOf] = told
		}
		all = by(told, b.Status.AggregatedStatus, is)
		s.known[of] = all
	}
	return all
}

// making makes a list of one, and of the clusters that a record tells, by the value of the annotation.
type making func(told []string, listed []karmada.AggregatedStatusItem, is string) []karmada.AggregatedStatusItem

// tell lists the clusters of a decision that were not released, by the record of a unit, in the order of names. Where that
// cannot be read none was.
func (s *stages) tell(unit rollouts.Unit, sent []karmada.TargetCluster) (names []string) {
	record := s.records[unit]
	for _, c := range sent {
		if record != nil {
			if is, known := record.Clusters[c.Name]; !known || !is.Released.IsZero() || is.State == rollouts.Unchanged {
				continue
			}
		}
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return names
}

// withoutTold returns a list without the clusters that are told; as it is where withTold would not make it of that again.
func withoutTold(told []string, listed []karmada.AggregatedStatusItem, is string) []karmada.AggregatedStatusItem {
	var short []karmada.AggregatedStatusItem
	for n, item := range listed {
		isTold := len(told) > 0 && told[0] == item.ClusterName
		switch {
		case n > 0 && item.ClusterName <= listed[n-1].ClusterName:
			return listed // it is in another order
		case isTold && item == stagedItem(item.ClusterName, is):
		default:
			short = append(short, item)
		}
		if isTold {
			told = told[1:]
		}
	}
	if len(told) > 0 { // a cluster that is told is not listed
		return listed
	}
	return short
}

// withTold returns a list with the clusters that are told, in the order of names. What is listed counts.
func withTold(told []string, listed []karmada.AggregatedStatusItem, is string) []karmada.AggregatedStatusItem {
	all := make([]karmada.AggregatedStatusItem, 0, len(told)+len(listed))
	for _, name := range told {
		for len(listed) > 0 && listed[0].ClusterName < name {
			all, listed = append(all, listed[0]), listed[1:]
		}
		if len(listed) == 0 || listed[0].ClusterName != name {
			all = append(all, stagedItem(name, is))
		}
	}
	return append(all, listed...)
}

// unitOf is the unit of the policy that a binding records; false for none.
func unitOf(b *karmada.ResourceBinding) (rollouts.Unit, bool) {
	namespace, name, ok := PolicyRef(b)
	return rollouts.Unit{Namespace: namespace, Name: name}, ok
}

// isStaged reports a cluster in which an object waits for its stage, as Encode lists it.
func isStaged(item karmada.AggregatedStatusItem) bool {
	return item == stagedItem(item.ClusterName, isKept) || item == stagedItem(item.ClusterName, isMissed)
}

// stagedItem is how such a cluster is listed.
func stagedItem(cluster, is string) karmada.AggregatedStatusItem {
	return karmada.AggregatedStatusItem{
		ClusterName: cluster, Applied: is == isKept, AppliedMessage: reason.WaitsForStage.Message(), Reason: string(reason.WaitsForStage),
	}
}
