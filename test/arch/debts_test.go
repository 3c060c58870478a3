package arch

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write test/arch/debts.txt anew; no rule may owe more in all than before")

const debtsFile = "debts.txt"

// debt is what breaks a rule at a place: a rule and where, as in "columns reconciler/plan".
type debt struct{ rule, place string }

// rules find what breaks them, and how much of it. A rule that nothing breaks owes nothing.
var rules = []struct {
	name, says string
	find       func(*testing.T) map[string]int
}{
	{"methods", "a type has at most 20 methods", methods},
	{"spread", "a type has methods in at most four files", spread},
	{"lines", "a package has at most 3,000 lines without its tests; more is counted by the hundred", lines},
	{"columns", "a line has at most 140 characters, but for URLs and what is said to people", columns},
	{"nolint", "a nolint is of linters that .golangci.yml enables", nolints},
	{"named", "what a package comment names is there", named},
	{"messages", "nothing compares or cuts a message that people read", messages},
	{"words", "what is declared is called by the field's words (docs/architecture.md)", metaphors},
}

// TestDebts holds the rules for all that is new. What broke them before stands in debts.txt, where
// no number rises, and each that falls is written down.
func TestDebts(t *testing.T) {
	was, now := owed(t), map[debt]int{}
	for _, r := range rules {
		for place, n := range r.find(t) {
			now[debt{r.name, place}] = n
		}
	}
	for _, r := range rules {
		if before, after := inAll(was, r.name), inAll(now, r.name); *update && len(was) > 0 && after > before {
			t.Errorf("%s: %d before, and %d now; debts.txt is not written", r.says, before, after)
		}
	}
	if *update {
		if !t.Failed() {
			write(t, now)
		}
		return
	}
	for _, d := range slices.SortedFunc(maps.Keys(now), compare) {
		if now[d] > was[d] {
			t.Errorf("%s: %s has %d, and may have %d: %s", d.place, d.rule, now[d], was[d], says(d.rule))
		}
	}
	for _, d := range slices.SortedFunc(maps.Keys(was), compare) {
		if now[d] < was[d] {
			t.Errorf("%s: %s fell from %d to %d; write it down with go test ./test/arch -run Debts -update", d.place, d.rule, was[d], now[d])
		}
	}
}

func says(rule string) string {
	for _, r := range rules {
		if r.name == rule {
			return r.says
		}
	}
	return ""
}

func inAll(all map[debt]int, rule string) (n int) {
	for d, m := range all {
		if d.rule == rule {
			n += m
		}
	}
	return n
}

func compare(a, b debt) int {
	return cmp.Or(cmp.Compare(a.rule, b.rule), cmp.Compare(a.place, b.place))
}

// owed reads debts.txt: a rule, a place and a number a line.
func owed(t *testing.T) map[debt]int {
	t.Helper()
	data, err := os.ReadFile(debtsFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	all := map[debt]int{}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(f) != 3 {
			t.Fatalf("debts.txt: %q is not a rule, a place and a number", line)
		}
		n, err := strconv.Atoi(f[2])
		if err != nil || says(f[0]) == "" {
			t.Fatalf("debts.txt: %q is of no rule, or has no number", line)
		}
		all[debt{f[0], f[1]}] = n
	}
	return all
}

func write(t *testing.T, now map[debt]int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# What is older than the rules of test/arch and breaks them. Numbers only fall.\n# After a conflict, and where one fell: go test ./test/arch -run Debts -update\n")
	for _, d := range slices.SortedFunc(maps.Keys(now), compare) {
		fmt.Fprintln(&b, d.rule, d.place, now[d])
	}
	if err := os.WriteFile(debtsFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
