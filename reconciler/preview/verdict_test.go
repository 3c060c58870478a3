package preview_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/preview"
)

// A verdict names a cause where all that it speaks of has that one, and no cause for several.
func TestAVerdictNamesTheOneCause(t *testing.T) {
	scaled := func(name, cause string) preview.Change {
		c := appears(name, cause, "policy.yaml", "eu")
		c.Verb, c.Added, c.Scaled = preview.Scales, nil, []preview.Scale{{Clusters: []string{"eu"}, From: 1, To: 2}}
		return c
	}
	for _, tt := range []struct {
		name    string
		changes []preview.Change
		want    string // what ends it
	}{
		{"one cause", []preview.Change{scaled("a", "the policy"), scaled("b", "the policy")}, ", because the policy (policy.yaml:1)"},
		{"two causes", []preview.Change{scaled("a", "the policy"), scaled("b", "the fleet")}, " in 1 cluster"},
		{"one object", []preview.Change{scaled("a", "the policy")}, " in 1 cluster"},
	} {
		c := preview.Comparison{Changes: tt.changes}
		if v := c.Verdict(); v.Level != preview.Safe || !strings.HasSuffix(v.String(), tt.want) {
			t.Errorf("%s: it is %s, %s", tt.name, v.Level, v.String())
		}
	}
}

// What a verdict calls dangerous is what takes something away, at once or when somebody approves it; what only moves needs care.
func TestHowMuchCareAChangeNeeds(t *testing.T) {
	of := func(verb preview.Verb) preview.Change {
		c := appears("a", "the policy", "policy.yaml", "eu")
		c.Verb = verb
		return c
	}
	for verb, want := range map[preview.Verb]preview.Level{
		preview.Disappears: preview.Dangerous, preview.Moves: preview.Careful, preview.Frozen: preview.Careful, preview.Stays: preview.Careful,
		preview.Scales: preview.Safe, preview.Changes: preview.Safe, preview.Appears: preview.Safe,
	} {
		c := preview.Comparison{Changes: []preview.Change{of(verb)}}
		if v := c.Verdict(); v.Level != want {
			t.Errorf("%s is %s, want %s: %s", verb, v.Level, want, v.String())
		}
	}
	held := preview.Comparison{Changes: []preview.Change{of(preview.Appears)}, Guard: &preview.Guard{Holds: []preview.Hold{{Clusters: []string{"eu"}}}}}
	if v := held.Verdict(); v.Level != preview.Dangerous {
		t.Errorf("what is held until somebody approves it is %s: %s", v.Level, v.String())
	}
}

// What cannot move says where it stays, and where it does not get to; what is left as it is in its place says no more than that.
func TestAVerdictOfWhatIsFrozen(t *testing.T) {
	frozen := appears("a", "the policy", "policy.yaml", "eu")
	frozen.Verb, frozen.Added = preview.Frozen, nil
	frozen.Left = []preview.Left{{Clusters: []string{"us"}, Reason: "an override fails"}, {Clusters: []string{"eu"}, Reason: "it would be nowhere", Kept: true}}
	stays := frozen
	stays.Left = frozen.Left[1:]
	for _, tt := range []struct {
		change preview.Change
		want   string
	}{
		{frozen, " as it is, in eu and not in us: an override fails"},
		{stays, " as it is: it would be nowhere"},
	} {
		c := preview.Comparison{Changes: []preview.Change{tt.change}}
		if v := c.Verdict(); !strings.HasSuffix(v.String(), tt.want) {
			t.Errorf("it is %s, want %s", v.String(), tt.want)
		}
	}
}
