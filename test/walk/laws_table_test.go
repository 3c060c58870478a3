package walk

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// TestTheLawsBite holds branches on which something is wrong against a source of a policy, a
// ConfigMap and a Deployment of which 840 replicas are divided over two clusters.
func TestTheLawsBite(t *testing.T) {
	w := world{units: []*unit{{kind: "file", path: "all.yaml", docs: []*doc{
		{kind: "Cluster", name: "c1"},
		{kind: "Cluster", name: "c2"},
		{kind: "ConfigMap", name: "o1", version: 1},
		{kind: "Deployment", name: "o2", version: 1, replicas: 840},
		{kind: "Policy", name: "p1", selects: []string{"o1", "o2"}, clusters: []string{"c1", "c2"}, weights: []int{1, 1}},
	}}}}
	w.commit()
	want := evaluate(w.meant())
	sound := func() held {
		h := held{}
		for _, c := range []string{"c1", "c2"} {
			h[c] = map[string]cell{"ConfigMap/shop/o1": {version: "v1"}, "Deployment/shop/o2": {"v1", 420, ""}}
		}
		return h
	}
	if wrong := slices.Concat(lost(want, sound(), sound()), nowhere(want, sound(), sound()), short(want, sound(), sound()), other(want, sound(), true)); wrong != nil {
		t.Errorf("what is sound breaks laws: %v", wrong)
	}
	for _, tt := range []struct {
		name    string
		happens func(held)
		broken  string // the laws, of lost, nowhere, short and other
	}{
		{"an object leaves a cluster", func(h held) { delete(h["c1"], "ConfigMap/shop/o1") }, "lost other"},
		{"a workload leaves all clusters", func(h held) { delete(h["c1"], "Deployment/shop/o2"); delete(h["c2"], "Deployment/shop/o2") }, "nowhere short other"},
		{"replicas are missing", func(h held) { h["c1"]["Deployment/shop/o2"] = cell{"v1", 419, ""} }, "short other"},
		{"replicas move", func(h held) {
			h["c1"]["Deployment/shop/o2"], h["c2"]["Deployment/shop/o2"] = cell{"v1", 400, ""}, cell{"v1", 440, ""}
		}, "other"},
		{"an object is old", func(h held) { h["c1"]["ConfigMap/shop/o1"] = cell{version: "v0"} }, "other"},
		{"an object is too many", func(h held) { h["c1"]["ConfigMap/shop/o3"] = cell{version: "v1"} }, "other"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			after := sound()
			tt.happens(after)
			var broken []string
			for _, law := range []struct {
				name  string
				wrong []string
			}{
				{"lost", lost(want, sound(), after)},
				{"nowhere", nowhere(want, sound(), after)},
				{"short", short(want, sound(), after)},
				{"other", other(want, after, true)},
			} {
				if law.wrong != nil {
					broken = append(broken, law.name)
				}
			}
			if got := strings.Join(broken, " "); got != tt.broken {
				t.Errorf("it breaks %q, want %q", got, tt.broken)
			}
		})
	}
}

func TestAWalkIsAFunctionOfItsSeed(t *testing.T) {
	var one, two counts
	run(t, draw(3, 20), 3, &one)
	run(t, draw(3, 20), 3, &two)
	if one != two || one.Steps == 0 {
		t.Errorf("one walk counts %+v, and the same again %+v", one, two)
	}
}

// TestReplicasNeedNotComeToWhoJoined holds clusters that joined since replicas were divided, or were there, against that.
func TestReplicasNeedNotComeToWhoJoined(t *testing.T) {
	const ref = "Deployment/shop/o1"
	older, wants := cell{"v1", 840, ""}, cell{"v2", 420, ""}
	for _, tt := range []struct {
		name          string
		isThere       bool // when they were divided
		before, after map[string]cell
		wants         bool
	}{
		{"it joined with a version before", false, map[string]cell{ref: older}, map[string]cell{ref: older}, false},
		{"it joined, and loses a version before", false, map[string]cell{ref: older}, nil, false},
		{"it joined, and gets them", false, nil, map[string]cell{ref: wants}, true},
		{"it was there, and has a version before", true, map[string]cell{ref: older}, map[string]cell{ref: older}, true},
		{"it was there, and loses a version before", true, map[string]cell{ref: older}, nil, true},
		{"it was there, and has nothing", true, nil, nil, false},
	} {
		s := newStages()
		j := judgement{w: &walker{stages: s}, before: held{"c1": tt.before}, after: held{"c1": tt.after}}
		is := j.divided("c1", &unitMeaning{
			cells: map[string]map[string]cell{"c1": {ref: wants}}, asked: map[string]int{ref: 840},
			shared: map[string]map[string]bool{ref: {"c1": tt.isThere}},
		})
		if _, isWanted := is.cells["c1"][ref]; isWanted != tt.wants {
			t.Errorf("%s: the version wants them there: %t, want %t", tt.name, isWanted, tt.wants)
		}
	}
}

// TestWhatIsThereIsNotHeldBack holds clusters that are released, and that the guard holds, against the width of a stage.
func TestWhatIsThereIsNotHeldBack(t *testing.T) {
	const ref = "ConfigMap/shop/o1"
	for version, isHeld := range map[string]bool{"v1": true, "v2": false} {
		j := judgement{
			w: &walker{stages: newStages()}, before: held{"c1": {ref: cell{version: version}}}, heldBack: map[string]bool{"c1": true},
			refs: map[string]bool{ref: true}, target: unitMeaning{cells: map[string]map[string]cell{"c1": {ref: cell{version: "v2"}}}},
		}
		j.is.Clusters = map[string]rollouts.Cluster{"c1": {State: rollouts.Released, Released: metav1.NewTime(began)}}
		if is := j.isHeldBackNow("c1"); is != isHeld {
			t.Errorf("c1 with %s is held back from v2: %t, want %t", version, is, isHeld)
		}
	}
}

// TestWhatGoesLastIsOfOneVersion holds a cluster that was released, and that has still what the target sends to another one, against the
// target: until every stage is over that is no other version.
func TestWhatGoesLastIsOfOneVersion(t *testing.T) {
	stays, goes := cell{version: "v2"}, cell{version: "v1"}
	has := held{"c1": {"ConfigMap/shop/o1": stays, "ConfigMap/shop/o2": goes}}
	j := judgement{
		w: &walker{stages: newStages()}, before: has, after: has,
		refs: map[string]bool{"ConfigMap/shop/o1": true, "ConfigMap/shop/o2": true},
	}
	target := unitMeaning{cells: map[string]map[string]cell{"c1": {"ConfigMap/shop/o1": stays}, "c2": {"ConfigMap/shop/o2": stays}}}
	for phase, is := range map[rollouts.Phase]bool{rollouts.Updating: true, rollouts.Stopped: true, rollouts.Finishing: false, rollouts.Done: false} {
		if j.is.Status.Phase = phase; j.has(has, "c1", &target) != is {
			t.Errorf("in phase %s c1 has the target: %t, want %t", phase, !is, is)
		}
	}
	delete(target.cells, "c2")
	if j.is.Status.Phase = rollouts.Updating; j.has(has, "c1", &target) {
		t.Error("what the target sends nowhere does not go last, and is there all the same")
	}
}

// TestWhatIsLeftOverStays holds a cluster in which the guard kept an object whose policy went, and that comes to the unit with the target,
// against the base, in which nobody claims it: it is of that version as long as it stays as it was.
func TestWhatIsLeftOverStays(t *testing.T) {
	const ref = "ConfigMap/shop/o1"
	left, other := held{"c1": {ref: {version: "v1"}}}, held{"c1": {ref: {version: "v2"}}}
	claimed := unitMeaning{refs: map[string]bool{ref: true}}
	for _, tt := range []struct {
		name          string
		base, target  unitMeaning
		before, after held
		is            bool
	}{
		{"left over", unitMeaning{}, claimed, left, left, true},
		{"changed", unitMeaning{}, claimed, left, other, false},
		{"new there", unitMeaning{}, claimed, held{}, left, false},
		{"of the base, which sends it elsewhere", claimed, claimed, left, left, false},
		{"of no version", unitMeaning{}, unitMeaning{}, left, left, false},
	} {
		tt.base.cells = map[string]map[string]cell{}
		j := judgement{w: &walker{stages: newStages()}, base: tt.base, target: tt.target, before: tt.before, after: tt.after, refs: map[string]bool{ref: true}}
		if is := j.has(tt.after, "c1", &tt.base); is != tt.is {
			t.Errorf("%s: c1 has the base: %t, want %t", tt.name, is, tt.is)
		}
	}
}

// TestWhatARunTakesAwayMayBeNowhere holds what two units want against what the versions want to which their runs go: of the first one an
// object goes to c1, and of the second one none goes anywhere.
func TestWhatARunTakesAwayMayBeNowhere(t *testing.T) {
	objects := snapshot{{kind: "Cluster", name: "c1"}, {kind: "Cluster", name: "c2"}, {kind: "ConfigMap", name: "o1"}, {kind: "ConfigMap", name: "o2"}}
	goes := func(policy, object, cluster string) *doc {
		return &doc{kind: "Policy", name: policy, selects: []string{object}, clusters: []string{cluster}}
	}
	w := walker{stages: newStages()}
	w.stages.commit("older", append(slices.Clone(objects), goes("p1", "o1", "c1")))
	head := append(slices.Clone(objects), goes("p1", "o1", "c2"), goes("p2", "o2", "c2"))
	w.stages.commit("newer", head)
	for _, policy := range []string{"p1", "p2"} {
		r := rollouts.Rollout{Unit: rollouts.Unit{Name: policy}}
		r.Status.Base.Commit, r.Status.Target.Commit, r.Status.Phase = "newer", "older", rollouts.Updating
		w.stages.records = append(w.stages.records, r)
	}
	there, anywhere := w.wantedTwice(evaluate(head))
	if len(there.cells["c2"]) > 0 {
		t.Errorf("what is to go to c2 does by both versions: %v", there.cells)
	}
	if _, ok := anywhere.cells["c2"]["ConfigMap/shop/o1"]; !ok || len(anywhere.cells["c2"]) != 1 {
		t.Errorf("o1 alone is somewhere by both versions, and is said to be %v", anywhere.cells)
	}
}

// TestWhatASkippedClusterHasNot holds a run whose target divides 840 replicas over two clusters, one of which was skipped, against how many
// there have to be: all of them while it is open, or once that has its share.
func TestWhatASkippedClusterHasNot(t *testing.T) {
	const ref = "Deployment/shop/o1"
	w := walker{stages: newStages()}
	head := snapshot{
		{kind: "Cluster", name: "c1"},
		{kind: "Cluster", name: "c2"},
		{kind: "Deployment", name: "o1", replicas: 840},
		{kind: "Policy", name: "p1", selects: []string{"o1"}, clusters: []string{"c1", "c2"}, weights: []int{1, 1}},
	}
	w.stages.commit("b", head)
	for _, tt := range []struct {
		name  string
		phase rollouts.Phase
		state rollouts.State
		has   held
		asked bool
	}{
		{"the run is open", rollouts.Updating, rollouts.Skipped, nil, true},
		{"all stages are over", rollouts.Finishing, rollouts.Skipped, nil, false},
		{"it is over", rollouts.Done, rollouts.Skipped, nil, false},
		{"it is over, and the cluster has some", rollouts.Done, rollouts.Skipped, held{"c2": {ref: {"v1", 420, ""}}}, true},
		{"it is over, and the cluster is late", rollouts.Done, rollouts.Late, nil, false},
		{"it is over, and the cluster failed", rollouts.Done, rollouts.Failed, nil, true},
	} {
		r := rollouts.Rollout{Unit: rollouts.Unit{Name: "p1"}, Clusters: map[string]rollouts.Cluster{"c2": {State: tt.state}}}
		r.Status.Base.Commit, r.Status.Target.Commit, r.Status.Phase = "b", "b", tt.phase
		w.stages.records = []rollouts.Rollout{r}
		if least := w.least(map[string]int{ref: 840}, tt.has); (least[ref] == 840) != tt.asked {
			t.Errorf("%s: %v have to be there; want all: %t", tt.name, least, tt.asked)
		}
	}
}

// TestReplicasStayAwayFromWhoLeft holds a cluster that left the fleet and came back since replicas were divided against that: they went to
// others, and are divided among the clusters that were there all the time.
func TestReplicasStayAwayFromWhoLeft(t *testing.T) {
	s := newStages()
	both := snapshot{
		{kind: "Cluster", name: "c1"},
		{kind: "Cluster", name: "c2"},
		{kind: "Deployment", name: "o1", replicas: 840},
		{kind: "Policy", name: "p1", selects: []string{"o1"}, clusters: []string{"c1", "c2"}, weights: []int{1, 1}},
	}
	s.commit("a", both)
	s.commit("b", both[1:])
	s.commit("c", both)
	for _, commit := range []string{"a", "b", "c"} {
		if is := s.unit(commit, "p1", both).shared["Deployment/shop/o1"]; is["c1"] || !is["c2"] {
			t.Errorf("by commit %s they are divided among %v, want c2 alone", commit, is)
		}
	}
}
