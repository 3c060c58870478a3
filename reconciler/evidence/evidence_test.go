package evidence_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/evidence"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

var web = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}

// Whose word is asked for: of work that leaves a cluster that of where it goes and of where it is, and of work that may
// have to leave that of where it is, if its policy needs a reason.
func TestOfWhatEvidenceCounts(t *testing.T) {
	target := []karmada.TargetCluster{{Name: "eu"}, {Name: "ap"}}
	leaves := []karmada.GracefulEvictionTask{{FromCluster: "us"}}
	application := &karmada.FailoverBehavior{Application: &karmada.ApplicationFailoverBehavior{}}
	keeps := &karmada.FailoverBehavior{Cluster: &karmada.ClusterFailoverBehavior{StatePreservation: &karmada.StatePreservation{}}}
	for _, tt := range []struct {
		name    string
		spec    karmada.ResourceBindingSpec
		enabled bool // failover
		want    []string
	}{
		{"it stays", karmada.ResourceBindingSpec{Clusters: target}, true, nil},
		{"it leaves a cluster", karmada.ResourceBindingSpec{Clusters: target, GracefulEvictionTasks: leaves}, false, []string{"ap", "eu", "us"}},
		{"it leaves where it fails", karmada.ResourceBindingSpec{Clusters: target, Failover: application}, true, []string{"ap", "eu"}},
		{"it would, and nothing fails over", karmada.ResourceBindingSpec{Clusters: target, Failover: application}, false, nil},
		{"it leaves clusters that fail, with what it was", karmada.ResourceBindingSpec{Clusters: target, Failover: keeps}, true, []string{"ap", "eu"}},
		{"it leaves clusters that fail, with nothing", karmada.ResourceBindingSpec{Clusters: target, Failover: &karmada.FailoverBehavior{Cluster: &karmada.ClusterFailoverBehavior{}}}, true, nil},
	} {
		all := evidence.Moving(map[object.Ref]*karmada.ResourceBinding{web: {Spec: tt.spec}}, nil, render.Failover{Enabled: tt.enabled})
		if got := slices.Sorted(slices.Values(all[web])); !slices.Equal(got, tt.want) {
			t.Errorf("%s: asked are %q, want %q", tt.name, got, tt.want)
		}
		if _, asked := all[web]; asked != (len(tt.want) > 0) {
			t.Errorf("%s: it is in the list: %v", tt.name, asked)
		}
	}
}

// Of what leaves a cluster for others that of where it goes is asked for, be it by itself or with what needs it, and that of where it is.
func TestOfWhatLeavesEvidenceCounts(t *testing.T) {
	target := []karmada.TargetCluster{{Name: "eu"}}
	needed := []karmada.BindingSnapshot{{Name: "db", Clusters: []karmada.TargetCluster{{Name: "ap"}, {Name: "sa"}}}, {Name: "job"}}
	other := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "other"}
	for _, tt := range []struct {
		name    string
		spec    karmada.ResourceBindingSpec
		leaving []state.Leaving
		want    []string
	}{
		{"it goes by itself", karmada.ResourceBindingSpec{Clusters: target}, []state.Leaving{{Object: web, Cluster: "us"}}, []string{"eu", "us"}},
		{"it goes with what needs it", karmada.ResourceBindingSpec{RequiredBy: needed}, []state.Leaving{{Object: web, Cluster: "us"}}, []string{"ap", "sa", "us"}},
		{"it does both", karmada.ResourceBindingSpec{Clusters: target, RequiredBy: needed}, []state.Leaving{{Object: web, Cluster: "us"}}, []string{"ap", "eu", "sa", "us"}},
		{"it leaves two", karmada.ResourceBindingSpec{Clusters: target}, []state.Leaving{{Object: web, Cluster: "us"}, {Object: web, Cluster: "ap"}}, []string{"ap", "eu", "eu", "us"}},
		{"it stays", karmada.ResourceBindingSpec{Clusters: target, RequiredBy: needed}, nil, nil},
		{"another one leaves", karmada.ResourceBindingSpec{Clusters: target}, []state.Leaving{{Object: other, Cluster: "us"}}, nil},
	} {
		all := evidence.Moving(map[object.Ref]*karmada.ResourceBinding{web: {Spec: tt.spec}}, tt.leaving, render.Failover{})
		if got := slices.Sorted(slices.Values(all[web])); !slices.Equal(got, tt.want) || len(all[other]) > 0 {
			t.Errorf("%s: asked are %q, and %q; want %q", tt.name, got, all[other], tt.want)
		}
	}
}

// What is known of an object in a cluster. It is gone where somebody looked, nobody says that it is there, and neither what is published
// nor the round that was applied last has it: until the next round it is there.
func TestSeen(t *testing.T) {
	is, was := files.NewBlob([]byte("is")), files.NewBlob([]byte("was"))
	head := files.Sum("commit", []byte("head"))
	healthy := func(p status.Phase) *status.Object {
		return &status.Object{Applied: status.Application{Phase: p}, Health: status.Health{State: karmada.ResourceHealthy}}
	}
	at := func(commit files.ID, reason string) status.Summary {
		return status.Summary{Commit: commit, Verdict: status.Verdict{Reason: reason}}
	}
	unknown := evict.Seen{Health: karmada.ResourceUnknown}
	for _, tt := range []struct {
		name  string
		found evidence.Found
		want  evict.Seen
	}{
		{"nothing has it", evidence.Found{Cluster: at(head, status.Applied), Head: head}, evict.Seen{Health: karmada.ResourceUnknown, UpToDate: true, Gone: true}},
		{"the last round has it", evidence.Found{Cluster: at(files.ID{}, status.Applied), Head: head, Round: was}, unknown},
		{"it is published", evidence.Found{Cluster: at(files.ID{}, status.Applied), Head: head, Published: is}, unknown},
		{"nobody looked", evidence.Found{Cluster: at(head, status.Unreachable), Head: head}, unknown},
		{"nothing was published", evidence.Found{Cluster: at(files.ID{}, status.Applied)}, evict.Seen{Health: karmada.ResourceUnknown, Gone: true}},
		{
			"it is there as it is published",
			evidence.Found{Cluster: at(head, status.Applied), Head: head, Object: healthy(status.PhaseApplied), Published: is, Applied: is},
			evict.Seen{Health: karmada.ResourceHealthy, Done: true, Current: true, UpToDate: true},
		},
		{
			"it is there as it was published before",
			evidence.Found{Cluster: at(head, status.Applied), Head: head, Object: healthy(status.PhaseApplied), Published: is, Applied: was},
			evict.Seen{Health: karmada.ResourceHealthy, Done: true, UpToDate: true},
		},
		{
			"it was refused",
			evidence.Found{Cluster: at(head, status.Applied), Head: head, Object: healthy(status.PhaseFailed), Published: is, Applied: is},
			evict.Seen{Health: karmada.ResourceHealthy, Done: true, UpToDate: true},
		},
		{"it is there, and is published no longer", evidence.Found{Cluster: at(files.ID{}, status.Applied), Head: head, Object: healthy(status.PhaseApplied), Applied: was}, evict.Seen{Health: karmada.ResourceHealthy, Done: true}},
		{"it was healthy before the cluster was cut off", evidence.Found{Cluster: at(head, status.Unreachable), Head: head, Object: healthy(status.PhaseApplied), Published: is, Applied: is}, unknown},
	} {
		if got := tt.found.Seen(); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// What is preserved of a status is all of it that the rules name, as labels, or nothing.
func TestWhatIsPreserved(t *testing.T) {
	rule := func(label, path string) karmada.StatePreservationRule {
		return karmada.StatePreservationRule{AliasLabelName: label, JSONPath: path}
	}
	for _, tt := range []struct {
		name, status string
		rules        []karmada.StatePreservationRule
		want         map[string]string
	}{
		{"a field", `{"job": {"id": "a1"}}`, []karmada.StatePreservationRule{rule("id", "{.job.id}")}, map[string]string{"id": "a1"}},
		{"a number, and a part of a text", `{"n": 7, "a": "x"}`, []karmada.StatePreservationRule{rule("n", "{.n}"), rule("a", "{.a}-y")}, map[string]string{"n": "7", "a": "x-y"}},
		{"nothing is asked for", `{"a": "x"}`, nil, nil},
		{"there is no status", ``, []karmada.StatePreservationRule{rule("a", "{.a}")}, nil},
		{"the status cannot be read", `{`, []karmada.StatePreservationRule{rule("a", "{.a}")}, nil},
		{"one of two fields is not there", `{"a": "x"}`, []karmada.StatePreservationRule{rule("a", "{.a}"), rule("b", "{.b}")}, nil},
		{"one is no path", `{"a": "x"}`, []karmada.StatePreservationRule{rule("a", "{.a}"), rule("b", "{.a")}, nil},
		{"one is no value of a label", `{"a": "x", "b": "two words"}`, []karmada.StatePreservationRule{rule("a", "{.a}"), rule("b", "{.b}")}, nil},
		{"one is too long for a label", `{"a": "0123456789012345678901234567890123456789012345678901234567890123"}`, []karmada.StatePreservationRule{rule("a", "{.a}")}, nil},
	} {
		for _, reason := range []string{status.Applied, status.Unreachable} { // what was said before it failed is what there is
			f := evidence.Found{
				Cluster: status.Summary{Verdict: status.Verdict{Reason: reason}}, Preserve: tt.rules,
				Object: &status.Object{Health: status.Health{State: karmada.ResourceHealthy, Status: json.RawMessage(tt.status)}},
			}
			if got := f.Seen().Preserved; !maps.Equal(got, tt.want) || (got == nil) != (tt.want == nil) {
				t.Errorf("%s (%s): %v, want %v", tt.name, reason, got, tt.want)
			}
		}
	}
}

// Which rules there are: those of the application before those of the cluster.
func TestTheRulesOfAPolicy(t *testing.T) {
	preserves := func(label string) *karmada.StatePreservation {
		return &karmada.StatePreservation{Rules: []karmada.StatePreservationRule{{AliasLabelName: label}}}
	}
	all := evidence.Preserve(&karmada.FailoverBehavior{
		Application: &karmada.ApplicationFailoverBehavior{StatePreservation: preserves("a")}, Cluster: &karmada.ClusterFailoverBehavior{StatePreservation: preserves("c")},
	})
	if len(all) != 2 || all[0].AliasLabelName != "a" || all[1].AliasLabelName != "c" {
		t.Errorf("the rules are %+v", all)
	}
	none := []*karmada.FailoverBehavior{nil, {}, {Application: &karmada.ApplicationFailoverBehavior{}, Cluster: &karmada.ClusterFailoverBehavior{}}}
	for _, b := range none {
		if all := evidence.Preserve(b); len(all) > 0 {
			t.Errorf("of %+v the rules are %+v", b, all)
		}
	}
}
