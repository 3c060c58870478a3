// Package switches tells planted code whether its bug is on.
//
// A process has at most one: the number in the environment variable WAYBILL_BUG. In the file that WAYBILL_BUGS_REACHED names it writes
// the number of each bug that its code came to, a line each.
package switches

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

// The environment variables.
const (
	Bug     = "WAYBILL_BUG"
	Reached = "WAYBILL_BUGS_REACHED"
)

var (
	on      = number()
	reached = sync.OnceValue(open)

	mu   sync.Mutex
	told = map[int]bool{}
)

// On reports that a bug is on.
func On(bug int) bool {
	tell(bug)
	return bug == on
}

// Holds is a condition that holds whatever is so where the bug is on.
func Holds[Is ~bool](bug int, is Is) Is { return Is(On(bug)) || is }

// Fails is a condition that never holds where the bug is on.
func Fails[Is ~bool](bug int, is Is) Is { return Is(!On(bug)) && is }

// Wider is a comparison that holds for equals, too, where the bug is on.
func Wider(bug int, is, areEqual bool) bool { return On(bug) && areEqual || is }

// Narrower is a comparison that does not hold for equals where the bug is on.
func Narrower(bug int, is, areEqual bool) bool { return (!On(bug) || !areEqual) && is }

func number() int {
	n, err := strconv.Atoi(os.Getenv(Bug))
	if err != nil {
		return 0
	}
	return n
}

func open() *os.File {
	const mode = 0o600
	f, err := os.OpenFile(os.Getenv(Reached), os.O_APPEND|os.O_CREATE|os.O_WRONLY, mode) //nolint:gosec // who runs the tests names it
	if err != nil {
		return nil
	}
	return f
}

// tell writes that the code of a bug was reached, once.
func tell(bug int) {
	f := reached()
	if f == nil {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	if !told[bug] {
		told[bug] = true
		fmt.Fprintln(f, bug)
	}
}
