package sources_test

import (
	"testing"

	"github.com/waybill-dev/waybill/sources"
)

func TestARepositoryIsOnePlaceHoweverItsURLIsSpelled(t *testing.T) {
	for _, spelling := range []string{
		"https://github.com/acme/fleet", "https://github.com/acme/fleet.git", "https://user@github.com/acme/fleet/",
		"ssh://git@github.com:22/acme/fleet.git", "git@github.com:acme/fleet.git",
	} {
		if got := sources.Place(spelling); got != "github.com/acme/fleet" {
			t.Errorf("%s is at %q", spelling, got)
		}
	}
	if sources.Place("http://git:3000/x") == sources.Place("http://git:4000/x") || sources.Place("/srv/a") == sources.Place("/srv/b") || sources.Place("https://a.example/x") == sources.Place("https://b.example/x") {
		t.Error("two places are one")
	}
}
