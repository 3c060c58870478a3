package preview_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/render/object"
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

// A few images are what changes, each with what it was, and more than three of them, or one that comes anew, are changed objects.
func TestAVerdictOfImages(t *testing.T) {
	const path = "spec.template.spec.containers[0].image"
	image := func(from, to any) fields.Field {
		return fields.Field{Path: path, Op: fields.Replace, From: from, To: to}
	}
	a, b, c, d := image("r.io/a:1", "r.io/a:2"), image("r.io/b:1", "r.io/b:2"), image("r.io/c:1", "r.io/c:2"), image("r.io/d:1", "r.io/d:2")
	hidden := image("r.io/a:1", "r.io/a:2")
	hidden.Hidden = true
	for _, tt := range []struct {
		name   string
		fields []fields.Field
		want   string
	}{
		{"one", []fields.Field{a}, "image a 1 -> 2 in 2 clusters"},
		{"three", []fields.Field{c, a, b}, "image a 1 -> 2, b 1 -> 2, c 1 -> 2 in 2 clusters"},
		{"four", []fields.Field{a, b, c, d}, "changes shop/web (Deployment) in 2 clusters: " + path + " r.io/a:1 -> r.io/a:2"},
		{"one of two registries", []fields.Field{b, a, image("q.io/b:1", "q.io/b:2")}, "image b 1 -> 2 (2 registries), a 1 -> 2 in 2 clusters"},
		{"another one in its place", []fields.Field{image("r.io/old:1", "r.io/a:2")}, "image a old:1 -> 2 in 2 clusters"},
		{"one that is new", []fields.Field{image(nil, "r.io/a:2")}, "changes shop/web (Deployment) in 2 clusters: " + path},
		{"one that is gone", []fields.Field{image("r.io/a:2", nil)}, "changes shop/web (Deployment) in 2 clusters: " + path},
		{"one that is hidden", []fields.Field{hidden}, "changes shop/web (Deployment) in 2 clusters: " + path},
		{"and a label", []fields.Field{a, {Path: "metadata.labels.a", Op: fields.Add, To: "b"}}, "changes shop/web (Deployment) in 2 clusters: "},
		{"and what is routine", []fields.Field{{Path: "metadata.labels.chart", Op: fields.Add, To: "b", Routine: true}, a}, "image a 1 -> 2 in 2 clusters"},
	} {
		change := preview.Change{
			Verb: preview.Changes, Objects: []object.Ref{{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}},
			Changed: []preview.Content{{Clusters: []string{"us"}, Fields: tt.fields}, {Clusters: []string{"eu", "us"}, Fields: tt.fields[:1]}},
		}
		v := (&preview.Comparison{Changes: []preview.Change{change}}).Verdict()
		if is := v.String(); !strings.HasPrefix(is, tt.want) {
			t.Errorf("%s: it is %q, want %q", tt.name, is, tt.want)
		}
	}
}
