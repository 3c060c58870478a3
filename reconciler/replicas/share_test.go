package replicas_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/replicas"
)

func clusters(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("cluster-%04d", i)
	}
	return all
}

func names(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("waybill-7d4b9c-%d", i)
	}
	return all
}

// Whoever comes gets clusters, whoever goes loses clusters, and nothing else moves.
func TestOnlyWhatMustMoveMoves(t *testing.T) {
	const many = 1000
	for n := 1; n <= 7; n++ {
		before, after := names(n), names(n+1)
		moved, has := 0, map[string]int{}
		for _, c := range clusters(many) {
			from, to := replicas.Owner(c, before), replicas.Owner(c, after)
			has[to]++
			if from == to {
				continue
			}
			if moved++; to != after[n] {
				t.Errorf("%d come to be %d, and %s moves from %s to %s", n, n+1, c, from, to)
			}
		}
		if fair := many / (n + 1); moved < fair*3/4 || moved > fair*5/4 {
			t.Errorf("%d come to be %d, and %d of %d clusters move", n, n+1, moved, many)
		}
		for m, got := range has {
			if fair := many / (n + 1); got < fair*3/4 || got > fair*5/4 {
				t.Errorf("of %d, %s has %d of %d clusters", n+1, m, got, many)
			}
		}
	}
}

func TestTheOwnerDependsOnNoOrder(t *testing.T) {
	members := names(5)
	turned := slices.Clone(members)
	slices.Reverse(turned)
	for _, c := range clusters(100) {
		if a, b := replicas.Owner(c, members), replicas.Owner(c, turned); a != b {
			t.Errorf("%s is %s's and %s's", c, a, b)
		}
	}
	if got := replicas.Owner("c", nil); got != "" {
		t.Errorf("without members it is %q's", got)
	}
}
