package verify

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// A chain begins with the oldest run that is open; where none is, with the one that began last. What never went out has none.
func TestWhichRunsAChainIsOf(t *testing.T) {
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	of := func(run string, phase rollouts.Phase, hour int) rollouts.Rollout {
		return rollouts.Rollout{Status: rollouts.Status{Run: run, Phase: phase, StartTime: metav1.NewTime(noon.Add(time.Duration(hour) * time.Hour))}}
	}
	for _, tt := range []struct {
		name     string
		recorded []rollouts.Rollout
		want     []string
	}{
		{"nothing is recorded", nil, nil},
		{"none ever began", []rollouts.Rollout{of("", rollouts.Done, 0)}, nil},
		{"two are open", []rollouts.Rollout{of("a", rollouts.Updating, 0), of("b", rollouts.Stopped, 1)}, []string{"a", "b"}},
		{"one is open, and another one was over later", []rollouts.Rollout{of("b", rollouts.Done, 2), of("a", rollouts.Updating, 0), of("c", rollouts.Done, 1)}, []string{"a"}},
		{"all are over", []rollouts.Rollout{of("a", rollouts.Done, 1), of("b", rollouts.Done, 2), of("c", rollouts.Done, 0), of("", "", 3)}, []string{"b"}},
	} {
		if got := slices.Sorted(maps.Keys(runsOf(tt.recorded))); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// What a cluster had when something was planned is what was there before the first commit that was made from the state then, or from a
// later one. What others put there counts as what was there before it.
func TestWhatAClusterHadThen(t *testing.T) {
	const branch = "waybill/cluster/us"
	now, next, older := strings.Repeat("b", 40), strings.Repeat("c", 40), strings.Repeat("a", 40)
	later := map[string]bool{now: true, next: true}
	for _, tt := range []struct {
		name    string
		commits []string // what each was made from, the oldest first; "hand" is one by hand
		want    string   // the number of the commit that it had; empty for nothing
	}{
		{"it had nothing, and has nothing", nil, ""},
		{"what it has was made before", []string{older}, "0"},
		{"what it has was made from nothing, and before", []string{""}, "0"},
		{"what it has was made with it", []string{older, now}, "0"},
		{"what it has was made with it, and is the first", []string{now}, ""},
		{"something else was made since", []string{older, older, now, next}, "1"},
		{"only later ones were made", []string{older, next}, "0"},
		{"somebody put something there before", []string{older, "hand", now}, "1"},
		{"somebody put something there since", []string{older, now, "hand", next, "hand"}, "0"},
		{"somebody put something there, and nothing was made since", []string{older, "hand"}, "1"},
	} {
		repo := twin.New("fleet")
		for n, from := range tt.commits {
			message := "published\n\nSource-Commit: x\nState-Commit: " + from + "\n"
			switch from {
			case "hand":
				message = "by hand"
			case "":
				message = "published\n\nSource-Commit: x\n"
			}
			repo.Write(branch, message, twin.Tree{string(rune('0' + n)): twin.File(nil)}.Folder())
		}
		heads, err := repo.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		v := &Verifier{Published: &published.Reader{Branches: published.Branches{Target: repo}}}
		is, there, err := hadThen(t.Context(), v, heads, render.Address{Branch: branch}, later)
		got := strings.Join(slices.Collect(maps.Keys(is.Foreign)), " ")
		if err != nil || got != tt.want || there != (tt.want != "") {
			t.Errorf("%s: it had %q, %v, %v, want %q", tt.name, got, there, err, tt.want)
		}
	}
	missing := map[string]files.ID{branch: {1}}
	v := &Verifier{Published: &published.Reader{Branches: published.Branches{Target: twin.New("fleet")}}}
	if _, there, err := hadThen(t.Context(), v, missing, render.Address{Branch: branch}, later); err == nil || there {
		t.Errorf("a commit that is not there: %v, %v", there, err)
	}
}
