package ancestry

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/sources/files"
)

func id(name string) files.ID {
	if name == "" {
		return files.ID{}
	}
	return files.Sum("commit", []byte(name))
}

func names(ids []files.ID, of ...string) (all []string) {
	for _, i := range ids {
		for _, n := range of {
			if id(n) == i {
				all = append(all, n)
			}
		}
	}
	return all
}

// history is commits, each before the next one: "a b c, a x" has c come after b and a, and x after a. What is in parentheses is
// not at hand.
type history string

func (h history) Follows(_ string, head, commit files.ID) (bool, error) {
	if head == commit {
		return true, nil
	}
	for line := range strings.SplitSeq(string(h), ",") {
		before := false
		for name := range strings.FieldsSeq(line) {
			name = strings.Trim(name, "()")
			if before && id(name) == head {
				return true, nil
			}
			before = before || id(name) == commit
		}
	}
	return false, nil
}

func (h history) AtHand(commit, _ files.ID) (bool, error) {
	for name := range strings.FieldsSeq(strings.ReplaceAll(string(h), ",", " ")) {
		if id(strings.Trim(name, "()")) == commit {
			return !strings.HasPrefix(name, "("), nil
		}
	}
	return false, nil
}

func TestContinue(t *testing.T) {
	for _, tt := range []struct {
		name, commits     string
		head, was         string
		applied           string
		folder            bool
		after, substitute string
	}{
		{name: "a branch that moved on", commits: "a b c", head: "c", applied: "b"},
		{name: "a branch that was set back, whose commits are here", commits: "a b c", head: "a", was: "c", applied: "b", after: "c"},
		{name: "a branch that was deleted", commits: "a b c", was: "c", after: "c"},
		{name: "a branch that was deleted, of which a cluster says what it applied", commits: "a b", applied: "b", after: "b"},
		{name: "its commits are gone", commits: "a (b) (c)", head: "a", was: "c", applied: "b", substitute: "c b"},
		{name: "its commits are gone, and clusters share it", commits: "a (b) (c)", head: "a", was: "c", applied: "b", folder: true, substitute: "b"},
		{name: "a part is gone", commits: "a (b) c", head: "a", was: "c", applied: "b", after: "c"},
		{name: "two that come after each other", commits: "a b c d", head: "a", applied: "b d c", after: "d"},
		{name: "two of other histories", commits: "a b, a x", head: "a", applied: "b x", after: "b x"},
		{name: "one is said twice", commits: "a", head: "a", applied: "gone, gone", substitute: "gone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := Branch{Of: "eu", Head: id(tt.head), Was: id(tt.was), Folder: tt.folder}
			for name := range strings.FieldsSeq(strings.ReplaceAll(tt.applied, ",", " ")) {
				b.Applied = append(b.Applied, id(name))
			}
			c, err := Continue(b, history(tt.commits))
			if err != nil {
				t.Fatal(err)
			}
			all := []string{"a", "b", "c", "d", "x", "gone"}
			if d := cmp.Diff([]string{tt.after, tt.substitute}, []string{strings.Join(names(c.After, all...), " "), strings.Join(names(c.Replaces, all...), " ")}); d != "" {
				t.Error(d)
			}
			if c.IsZero() != (tt.after+tt.substitute == "") {
				t.Errorf("it goes on as always: %t", c.IsZero())
			}
		})
	}
}

func TestTrailers(t *testing.T) {
	message := "subject\n\nSource-Commit: x\n" + Line("eu", id("a")) + "\n" + Line("waybill/state", id("b")) + "\n"
	for _, tt := range []struct {
		of, commit string
		want       bool
	}{
		{"eu", "a", true}, {"waybill/state", "b", true}, {"us", "a", false}, {"eu", "b", false}, {"waybill/state", "a", false},
	} {
		if got := Replaces(message, tt.of, id(tt.commit)); got != tt.want {
			t.Errorf("%s %s: %t", tt.of, tt.commit, got)
		}
	}
	if got := Named(fmt.Sprintf("%s, main %s", id("a"), id("b"))); cmp.Diff([]files.ID{id("a"), id("b")}, got) != "" {
		t.Errorf("named are %v", got)
	}
}

func TestStepsOfTheState(t *testing.T) {
	for _, tt := range []struct {
		step Step
		want bool
	}{
		{Step{Follows: true}, true},
		{Step{Follows: true, Signed: true}, true},
		{Step{Back: true}, false},
		{Step{Back: true, Signed: true}, false},
		{Step{}, true}, // it was made anew, by whoever may push
		{Step{Signed: true}, false},
	} {
		if got := tt.step.Allowed(); got != tt.want {
			t.Errorf("%+v: %t", tt.step, got)
		}
	}
}
