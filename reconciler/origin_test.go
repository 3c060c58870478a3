package reconciler_test

import (
	"testing"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/test/twin"
)

func TestTwoThatDoTheSameAreReplicas(t *testing.T) {
	named := func(name string) published.Repository { return twin.New(name) }
	work := func(source, folder, rev, target string) string {
		return reconciler.Work(&reconciler.Reconciler{Seen: reconciler.NewCache(), Source: named(source), Subdir: folder, Target: named(target)}, rev)
	}
	one := work("https://git.example/fleet", "prod", "main", "git@git.example:branches.git")
	if again := work("ssh://git@git.example/fleet.git", "prod/", "main", "https://git.example/branches"); again != one {
		t.Errorf("%q and %q do the same", one, again)
	}
	for _, other := range []string{
		work("https://git.example/other", "prod", "main", "https://git.example/branches"), work("https://git.example/fleet", "", "main", "https://git.example/branches"),
		work("https://git.example/fleet", "prod", "next", "https://git.example/branches"), work("https://git.example/fleet", "prod", "main", "https://git.example/fleet"),
	} {
		if other == one {
			t.Errorf("%q is work of two", one)
		}
	}
}
