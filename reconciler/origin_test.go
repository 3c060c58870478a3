package reconciler

import (
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/git"
)

func TestARepositoryIsOnePlaceHoweverItsURLIsSpelled(t *testing.T) {
	for _, spelling := range []string{
		"https://github.com/acme/fleet", "https://github.com/acme/fleet.git", "https://user@github.com/acme/fleet/",
		"ssh://git@github.com:22/acme/fleet.git", "git@github.com:acme/fleet.git",
	} {
		if got := place(spelling); got != "github.com/acme/fleet" {
			t.Errorf("%s is at %q", spelling, got)
		}
	}
	if place("http://git:3000/x") == place("http://git:4000/x") || place("/srv/a") == place("/srv/b") || place("https://a.example/x") == place("https://b.example/x") {
		t.Error("two places are one")
	}
}

func TestLastPublished(t *testing.T) {
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	head := func(commit, previous string, later time.Duration) git.Head {
		message := "x\n\nSource-Commit: " + commit + "\nState-Commit: s\n"
		if previous != "" {
			message += "Previous-Commit: " + previous + "\n"
		}
		return git.Head{Message: message, When: at.Add(later)}
	}
	tests := []struct {
		name  string
		heads []git.Head
		want  string
	}{
		{"nothing but the state", nil, "a"},
		{"a cluster branch went further", []git.Head{head("b", "a", time.Minute)}, "b"},
		{"two publications in one second", []git.Head{head("c", "b", 0), head("b", "a", 0)}, "c"},
		{"the same, listed the other way", []git.Head{head("b", "a", 0), head("c", "b", 0)}, "c"},
		{"an older commit was published again", []git.Head{head("b", "a", time.Hour), head("z", "b", -time.Hour)}, "z"},
		{"published again without a change", []git.Head{head("b", "b", time.Hour)}, "b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := state.State{Commit: "s", SourceCommit: "a"}
			if got := lastPublished(s, tt.heads); got != tt.want {
				t.Errorf("the last one is %s, want %s", got, tt.want)
			}
			if got := lastPublished(state.State{Commit: "somebody's"}, tt.heads); len(tt.heads) > 0 && got != tt.want {
				t.Errorf("without a state of ours the last one is %s, want %s", got, tt.want)
			}
		})
	}
}
