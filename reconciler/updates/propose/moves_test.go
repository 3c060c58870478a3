package propose_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/reconciler/updates/propose"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/registry"
)

// moving is a catalog of one chart, whose tag stands for a manifest with a digest.
type moving struct {
	*catalog

	digest string
}

func (s *moving) At(ctx context.Context, ref lock.Ref, version string) (lock.Entry, registry.Image, error) {
	e, said, err := s.catalog.At(ctx, ref, "1.0.0")
	e.Version = "1.4.2"
	e.URL = ref.Repository + "/" + ref.Name + ":" + version + "@" + s.digest
	e.Digest = digest(map[bool]string{true: "a", false: "b"}[s.digest == digest("c")])
	return e, said, err
}

// followed is a world with a chart of the tag latest, and a function that moves it.
func followed(t *testing.T, settings string) (w *world, of *moving, moves func(letter string)) {
	t.Helper()
	latest := api
	latest.Constraint = "latest"
	w = charted(t, settings, latest)
	of = &moving{w.catalog, digest("c")}
	w.proposer.Registries = func(render.ConfigSpec) (propose.Registry, propose.Catalog, error) { return w.registry, of, nil }
	moves = func(letter string) {
		w.registry.digests["ghcr.io/acme/charts/api:latest"], of.digest = digest(letter), digest(letter)
	}
	moves("c")
	return w, of, moves
}

// A tag that moves of a chart is a change of its digest: as old as it has to be, once, and not again when it was sent back.
func TestAChartOfATagThatMoves(t *testing.T) {
	w, of, moves := followed(t, ", minimumAge: 1h")
	r := w.runs()
	v := r.Found.Verdicts[0]
	if v.Why != updates.UpToDate || len(w.registry.asked)+len(w.catalog.asked) > 0 {
		t.Fatalf("where nothing moved it is %s, and lists were asked for: %v %v", v.Why, w.registry.asked, w.catalog.asked)
	}
	branch, name := "waybill/update/"+v.Name().String(), v.Name()
	moves("d")
	if v := w.runs().Found.Verdicts[0]; v.Takes() || len(v.Choice.Newer) != 1 || v.Choice.Newer[0].Tag != "latest@"+digest("d") {
		t.Errorf("where it moved just now it is %+v", v)
	}
	w.now = w.now.Add(time.Hour)
	w.runs("Opened " + branch)
	want := strings.NewReplacer(
		"version: 1.0.0", "version: 1.4.2", "api:1.0.0@"+digest("c"), "api:latest@"+digest("d"), "digest: "+digest("a"), "digest: "+digest("b"),
	).Replace(w.source[lock.FileName])
	if got := w.changes(branch); len(got) != 1 || got[lock.FileName] != want || want == w.source[lock.FileName] {
		t.Errorf("the branch changes %v, want %s", got, want)
	}
	if d := w.forge.drafts[0]; !strings.Contains(d.Body, "`latest` (`"+digest("c")[:19]+"`) to `latest` (`"+digest("d")[:19]+"`), of the tag `latest`, locked in `waybill.lock`") {
		t.Errorf("the pull request says %s", d.Body)
	}
	w.runs("Stays " + branch)
	moves("c")
	w.runs("Closed " + branch) // back at what is locked
	moves("d")
	w.runs("Opened " + branch) // it is not young again
	w.forge.all[1].Open = false
	w.runs()
	if r := w.memory().Policies[name]; r.KeptBack["latest@"+digest("d")] == "" {
		t.Errorf("closed unmerged, remembered is %+v", r)
	}
	moves("e")
	w.runs()
	w.now = w.now.Add(time.Hour)
	of.digest = digest("f") // it moves between two requests: the second one counts, and is young
	if v := w.runs().Found.Verdicts[0]; v.Takes() || v.Choice.Newer[0].Tag != "latest@"+digest("f") {
		t.Errorf("where it moves meanwhile it is %+v", v)
	}
}

// What was merged of a tag that moves and reverted is kept back.
func TestAChartOfATagThatIsReverted(t *testing.T) {
	w, _, moves := followed(t, "")
	before := w.source[lock.FileName]
	moves("d")
	r := w.runsAnyway()
	name := r.Found.Verdicts[0].Name()
	w.source[lock.FileName] = w.changes("waybill/update/" + name.String())[lock.FileName]
	merged := w.commit().String()
	w.forge.all[0].Open, w.forge.all[0].Merged = false, merged
	if v := w.runs().Found.Verdicts[0]; v.Why != updates.UpToDate || w.memory().Policies[name].Proposal.Merged != merged {
		t.Fatalf("merged, it is %+v", v)
	}
	w.source[lock.FileName] = before
	w.commit()
	if v := w.runs().Found.Verdicts[0]; v.Takes() || w.memory().Policies[name].KeptBack["latest@"+digest("d")] == "" {
		t.Errorf("reverted, it is %+v", v)
	}
}

// The manifest that a tag stands for now has to be signed by who is asked for, and nothing is taken from a registry that is away.
func TestAChartOfATagThatIsSigned(t *testing.T) {
	w, _, moves := followed(t, "")
	w.charts.Uses[0].Verifications = []*flux.Verification{{By: "OCIRepository shop/api", Keys: map[string]string{"cosign.pub": publicKey(t)}}}
	moves("d")
	w.registry.unkept = &registry.Error{Class: registry.Unverified, Of: "it", Err: context.Canceled}
	if v := w.runs().Found.Verdicts[0]; v.Why != updates.Unverified || len(w.registry.verified) != 1 || w.registry.verified[0] != "ghcr.io/acme/charts/api@"+digest("d") {
		t.Errorf("without a signature it is %+v, of %v", v, w.registry.verified)
	}
	w.registry.unkept, w.registry.fails = nil, context.DeadlineExceeded
	if v := w.runs().Found.Verdicts[0]; v.Why != updates.NotAnswered {
		t.Errorf("where the registry is away it is %+v", v)
	}
	w.registry.fails = nil
	if r := w.runsAnyway(); !r.Found.Takes() {
		t.Errorf("signed, it is %+v", r.Found.Verdicts[0])
	}
}

// Which references of a lock file are subscriptions.
func TestSubscribes(t *testing.T) {
	for constraint, want := range map[string]bool{
		"": true, "1.x": true, "1.4": true, "latest": true, "main-2": true, "1.4.2": false, "v1.4.2": false, digest("a"): false, " 1.4.2 ": false,
	} {
		if got := updates.Subscribes(lock.Ref{Kind: lock.OCI, Repository: "oci://ghcr.io/acme", Name: "api", Constraint: constraint}); got != want {
			t.Errorf("of a registry %q is one: %t", constraint, got)
		}
	}
	if updates.Subscribes(lock.Ref{Kind: lock.Helm, Repository: "https://charts.example", Name: "api", Constraint: "latest"}) {
		t.Error("a Helm repository has no tags")
	}
}

// A controller asks what the tag of a chart stands for once in an interval, whatever moves meanwhile, and again where it got no answer.
func TestATagIsAskedForOnceInAnInterval(t *testing.T) {
	w, of, moves := followed(t, "")
	by := &failing{registries: w.registry, left: 1}
	w.proposer.Registries = func(render.ConfigSpec) (propose.Registry, propose.Catalog, error) { return by, of, nil }
	k := w.loop()
	looks := func(span time.Duration, want int) {
		t.Helper()
		before := by.left
		w.looks(k, span)
		if asked := before - by.left; asked != want {
			t.Errorf("at %s it was asked %d times, want %d", w.now.Format(time.TimeOnly), asked, want)
		}
	}
	looks(time.Minute, 1) // which is not answered
	looks(time.Minute, 1)
	moves("d")
	for _, text := range []string{"a: b\n", "a: c\n"} {
		w.source["other.yaml"] = text
		w.commit()
		looks(time.Minute, 0)
	}
	if len(w.forge.all) > 0 {
		t.Error("what moved within the interval is proposed")
	}
	looks((&updates.Subscription{Chart: &updates.Chart{}}).Interval()-4*time.Minute, 0)
	w.looks(k, 5*time.Minute)
	if len(w.forge.all) != 1 {
		t.Errorf("after it there are %d pull requests", len(w.forge.all))
	}
}
