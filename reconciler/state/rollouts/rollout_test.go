package rollouts

import (
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Versions are the same by what a unit is in them, and not by their commits; what is not known is nothing.
func TestWhichVersionsAreTheSame(t *testing.T) {
	one := Version{Commit: "c1", Digest: "d1"}
	for name, tt := range map[string]struct {
		a, b Version
		want bool
	}{
		"the same commit":      {one, one, true},
		"the same digest":      {one, Version{Commit: "c2", Digest: "d1"}, true},
		"another digest":       {one, Version{Commit: "c1", Digest: "d2"}, false},
		"neither has it":       {Version{Commit: "c1", Absent: true, Digest: "d1"}, Version{Commit: "c2", Absent: true}, true},
		"one does not have it": {one, Version{Commit: "c1", Digest: "d1", Absent: true}, false},
		"one is not known":     {one, Version{Digest: "d1"}, false},
		"none is known":        {Version{}, Version{}, false},
	} {
		if tt.a.Is(tt.b) != tt.want || tt.b.Is(tt.a) != tt.want {
			t.Errorf("%s: %+v is %+v: %t", name, tt.a, tt.b, !tt.want)
		}
	}
}

// A change does not name the rules for itself, as long as there is an earlier commit that says them.
func TestByWhoseRulesCommandsCount(t *testing.T) {
	s := Status{Base: Version{Commit: "base"}, Rules: "before", Target: Version{Commit: "target"}}
	for _, want := range []string{"base", "before", "target"} {
		if is := s.RuledBy(); is != want {
			t.Errorf("%+v is ruled by %s, want %s", s, is, want)
		}
		if s.Base.Commit == "" {
			s.Rules = ""
		}
		s.Base.Commit = ""
	}
	for _, s := range []Status{{Phase: Stopped}, {Phase: Done, Reason: KeptBack}} {
		if s.IsKeptBack() {
			t.Errorf("%+v is kept back", s)
		}
	}
	if s := (Status{Phase: Stopped, Reason: KeptBack}); !s.IsKeptBack() {
		t.Errorf("%+v is not kept back", s)
	}
}

// A task of time lasts as long as the strategy says, and longer where what is known of clusters is slow to tell.
func TestWhenATaskEnds(t *testing.T) {
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	stage := Stage{AfterStageTasks: []StageTask{{Type: ApprovalTask, WaitTime: metav1.Duration{Duration: time.Hour}}, {Type: WaitTask, WaitTime: metav1.Duration{Duration: 10 * time.Minute}}}}
	for least, want := range map[time.Duration]time.Duration{0: 10 * time.Minute, 5 * time.Minute: 10 * time.Minute, 15 * time.Minute: 15 * time.Minute} {
		task := Task{Type: WaitTask, Since: metav1.NewTime(noon), LeastWait: metav1.Duration{Duration: least}}
		if ends := task.Ends(&stage); !ends.Time.Equal(noon.Add(want)) {
			t.Errorf("of at least %s it ends at %s, want after %s", least, ends, want)
		}
	}
}

// People read the clusters of a unit by their stages; those that it leaves are in none.
func TestADocumentHasClustersByTheirStages(t *testing.T) {
	r := Rollout{Unit: Unit{Namespace: "shop", Name: "web"}, Clusters: map[string]Cluster{"eu": {Stage: "canary", State: Healthy}, "us": {Stage: "prod"}, "ap": {Stage: "prod"}, "za": {State: Leaving}}}
	all := r.Document().Clusters
	if !slices.Equal(slices.Sorted(maps.Keys(all)), []string{"_leaving", "canary", "prod"}) || len(all["prod"]) != 2 || all["canary"]["eu"].State != Healthy || all["_leaving"]["za"].State != Leaving {
		t.Errorf("the document has %+v", all)
	}
	if head := r.Head(); head.Clusters != nil || head.Metadata.Name != "web" || head.Metadata.Namespace != "shop" {
		t.Errorf("without clusters it is %+v", head)
	}
	if is := By("careful") + ", " + By("none"); is != "by careful, without a strategy" || !(&Strategy{Name: "none"}).IsNone() || (&Strategy{Name: "careful"}).IsNone() {
		t.Errorf("it goes out %s", is)
	}
}
