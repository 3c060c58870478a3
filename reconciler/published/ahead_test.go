package published

import (
	"fmt"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/git"
)

func TestWhatIsAheadOfTheState(t *testing.T) {
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	head := func(commit, on string, later time.Duration) git.Head {
		return git.Head{Message: "x\n\nSource-Commit: " + commit + "\nState-Commit: " + on + "\n", When: at.Add(later)}
	}
	first := state.State{Commit: "s", Published: state.Publication{Commit: "a"}}
	tests := []struct {
		name  string
		state state.State
		heads []git.Head
		want  string
	}{
		{"no branch", first, nil, "[]"},
		{"written with the state", first, []git.Head{head("a", "r", 0)}, "[]"},
		{"written before, and left alone since", first, []git.Head{head("z", "q", -time.Hour)}, "[]"},
		{"on top of it", first, []git.Head{head("b", "s", time.Minute)}, "[b]"},
		{"two on top of it, by date", first, []git.Head{head("c", "s", time.Hour), head("b", "s", time.Minute)}, "[b c]"},
		{"the commit that the state names", first, []git.Head{head("a", "s", time.Minute)}, "[]"},
		{"on top of what was planned, while something was observed", state.State{Commit: "t", Planned: "s", Published: state.Publication{Commit: "a"}}, []git.Head{head("b", "s", time.Minute)}, "[b]"},
		{"on top of what was observed before it was planned", state.State{Commit: "t", Planned: "s", Published: state.Publication{Commit: "a"}}, []git.Head{head("b", "r", time.Minute)}, "[]"},
		{"on nothing, and nothing was planned", first, []git.Head{head("b", "", time.Minute)}, "[]"},
		{"of which nobody says the source", first, []git.Head{{Message: "x\n\nState-Commit: s\n"}}, "[]"},
		{"two clusters of one publication", first, []git.Head{head("b", "s", time.Minute), {Message: head("b", "s", 0).Message + "Cluster: eu\n", When: at}}, "[b]"},
		{"nobody's branch", first, []git.Head{{Message: "by hand"}}, "[]"},
		{"a state that somebody deleted", state.State{}, []git.Head{head("b", "s", time.Minute), head("a", "r", 0)}, "[a b]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := []string{}
			for _, p := range ahead(&tt.state, tt.heads) {
				got = append(got, p.Commit)
			}
			if fmt.Sprint(got) != tt.want {
				t.Errorf("ahead are %v, want %s", got, tt.want)
			}
		})
	}
}
