package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// TestWatchesSayOfADip that it was, however short it was and whatever comes after it; and of what they cannot know that they do not.
func TestWatchesSayOfADip(t *testing.T) {
	const api = "eu-1 shop/api"
	for _, tt := range []struct {
		name  string
		lines string // that the watches of a cluster say, one watch after the other
		now   map[string]int
		want  string // empty: all is well
	}{
		{"it grows", "ADDED shop/api 4\nMODIFIED shop/api 4\nMODIFIED shop/api 8", map[string]int{api: 8}, ""},
		{"a dip to the default of an API server", "ADDED shop/api 4\nMODIFIED shop/api 1\nMODIFIED shop/api 4\nMODIFIED shop/api 8", map[string]int{api: 8}, "shop/api of eu-1 had 4 replicas, and then 1"},
		{"a dip that is above the first", "ADDED shop/api 4\nMODIFIED shop/api 8\nMODIFIED shop/api 7\nMODIFIED shop/api 8", map[string]int{api: 8}, "shop/api of eu-1 had 8 replicas, and then 7"},
		{"a dip that stays", "ADDED shop/api 4\nMODIFIED shop/api 2", map[string]int{api: 2}, "shop/api of eu-1 had 4 replicas, and then 2"},
		{"a dip while nobody watched", "ADDED shop/api 4\n---\nADDED shop/api 3\nMODIFIED shop/api 4", map[string]int{api: 4}, "shop/api of eu-1 had 4 replicas, and then 3"},
		{"it is made anew", "ADDED shop/api 4\nDELETED shop/api 4\nADDED shop/api 4", map[string]int{api: 4}, "shop/api of eu-1 had 4 replicas, and then 0"},
		{"another one has fewer", "ADDED shop/api 4\nADDED shop/front 2\nADDED till/api 1", map[string]int{api: 4, "eu-1 shop/front": 2, "eu-1 till/api": 1}, ""},
		{"a watch that ended early", "ADDED shop/api 4", map[string]int{api: 8}, "the watches saw map[eu-1 shop/api:4] at last, and there are map[eu-1 shop/api:8]"},
		{"a watch that saw nothing", "", map[string]int{api: 4}, "the watches saw map[] at last, and there are map[eu-1 shop/api:4]"},
		{"what is no line of a watch", "error: the server is away", map[string]int{}, `eu-1: the watch says "error: the server is away"`},
		{"what is no number", "ADDED shop/api none", map[string]int{}, `eu-1: the watch says "ADDED shop/api none"`},
	} {
		r := &replicas{all: map[string]*course{}}
		for said := range strings.SplitSeq(tt.lines, "---\n") {
			r.follow("eu-1", exec.CommandContext(t.Context(), "printf", "%s", said))
		}
		var told strings.Builder
		err := r.told(func(format string, args ...any) { fmt.Fprintf(&told, format+"\n", args...) }, tt.now)
		switch {
		case tt.want == "" && err != nil, tt.want != "" && (err == nil || err.Error() != tt.want):
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		case !strings.Contains(told.String(), "LOWEST"):
			t.Errorf("%s: it prints %q", tt.name, told.String())
		}
	}
}

// TestWatchesPrintTheLowest of each Deployment.
func TestWatchesPrintTheLowest(t *testing.T) {
	r := &replicas{all: map[string]*course{}}
	for _, line := range []string{"ADDED shop/api 4", "MODIFIED shop/api 1", "MODIFIED shop/api 8"} {
		r.take("eu-1", line)
	}
	var told strings.Builder
	_ = r.told(func(format string, args ...any) { fmt.Fprintf(&told, format+"\n", args...) }, nil) // TestWatchesSayOfADip
	if got := strings.Fields(told.String()); strings.Join(got, " ") != "CLUSTER DEPLOYMENT FIRST LOWEST NOW eu-1 shop/api 4 1 8" {
		t.Errorf("it prints %q", got)
	}
}
