package reason

import (
	"os"
	"regexp"
	"testing"
)

// Codes are stored: they keep their form, and each has one sentence, by which it is found again.
func TestEveryReasonHasACodeAndASentence(t *testing.T) {
	source, err := os.ReadFile("reason.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^\t[A-Z]\w+ +Reason += "(\w+)"$`).FindAllSubmatch(source, -1)
	for _, m := range declared {
		if r := Reason(m[1]); r.Message() == "" {
			t.Errorf("%s has no sentence", r)
		}
	}
	if len(declared) != len(messages) {
		t.Errorf("%d reasons are declared, and %d have sentences", len(declared), len(messages))
	}
	code := regexp.MustCompile("^[A-Z][A-Za-z]+$")
	for r, message := range messages {
		if !code.MatchString(string(r)) {
			t.Errorf("%q is no code", r)
		}
		if message == "" || r.Message() != message || Of(message) != r {
			t.Errorf("%s says %q, which is read as %q", r, r.Message(), Of(message))
		}
	}
	if r := Of("something else"); r != "" {
		t.Errorf("a sentence of nobody is read as %s", r)
	}
}

func TestWhatReasonsDo(t *testing.T) {
	for _, tt := range []struct {
		reason                   Reason
		follows, aside, outlasts bool
	}{
		{Nowhere, true, false, false},
		{Twice, true, false, false},
		{Short, true, false, false},
		{Held, false, false, false},
		{Needed, false, false, false},
		{NotGone, false, true, false},
		{Unlisted, false, true, false},
		{WaitsForStage, false, true, false},
		{WaitsToGoOut, false, true, false},
		{Together, true, false, false},
		{Lost, false, false, true},
		{HoldsData, false, false, true},
		{LastCopy, false, false, true},
		{Moving, false, false, false},
	} {
		if r := tt.reason; r.Follows() != tt.follows || r.IsAside() != tt.aside || r.Outlasts() != tt.outlasts {
			t.Errorf("%s follows: %t, is aside: %t, outlasts: %t", r, r.Follows(), r.IsAside(), r.Outlasts())
		}
	}
}
