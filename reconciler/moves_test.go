package reconciler_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/verify"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// placedIn is a placement in clusters.
func placedIn(names string) string {
	return "  placement: {clusterAffinity: {clusterNames: [" + names + "]}}\n"
}

var three = map[string]string{"ap": "", "eu": "", "us": ""}

// elsewhere is something that every cluster has, so that none loses all.
var elsewhere = twin.Tree{"beside.yaml": twin.File([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: beside, namespace: a}\n---\n" +
	"apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: beside, namespace: a}\n" +
	"spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]}\n"))}

// TestWhatMovesStaysUntilTheNewCopyIsHealthy edits a policy.
func TestWhatMovesStaysUntilTheNewCopyIsHealthy(t *testing.T) {
	m := newMovableWith(t, three, placedIn("eu"), elsewhere)
	m.say("eu", word{health: karmada.ResourceHealthy})
	m.write(three, placedIn("us"))
	m.after(time.Second)
	m.want("eu:4 us:4 move-waits")
	if b := m.last.Plan.Basis; !b.Awaits || !b.RecheckAt.Equal(m.now.Add(10*time.Minute)) {
		t.Errorf("it is looked at again: %+v", b)
	}
	began := m.now
	for _, w := range []word{
		{},                                  // it is not applied yet
		{health: karmada.ResourceUnhealthy}, // it comes up
		{health: karmada.ResourceHealthy, rolls: true},
		{health: karmada.ResourceHealthy, stale: true},
		{health: karmada.ResourceHealthy, lost: true},
	} {
		m.say("us", w)
		m.after(time.Minute)
		m.want("eu:4 us:4 move-waits")
	}
	if b := m.last.Plan.Basis; !b.RecheckAt.Equal(began.Add(10 * time.Minute)) {
		t.Errorf("it is looked at again at %s", b.RecheckAt)
	}
	m.after(time.Hour)
	m.want("eu:4 us:4 last-copy")
	m.say("us", word{health: karmada.ResourceHealthy})
	m.after(time.Second)
	m.want("us:4")
	if b := m.last.Plan.Basis; b.Awaits || !b.RecheckAt.IsZero() {
		t.Errorf("it is over, and is looked at again: %+v", b)
	}
}

// TestANewCopyThatIsNeverTellingIsGivenTheTimeout moves to a cluster that says nothing.
func TestANewCopyThatIsNeverTellingIsGivenTheTimeout(t *testing.T) {
	m := newMovableWith(t, three, placedIn("eu"), elsewhere)
	m.say("eu", word{health: karmada.ResourceHealthy})
	m.write(three, placedIn("us"))
	m.after(time.Second)
	m.after(9 * time.Minute)
	m.want("eu:4 us:4 move-waits")
	m.after(time.Minute)
	m.want("us:4")
}

// TestWhatNobodyReportsMovesAtOnce is the way of before.
func TestWhatNobodyReportsMovesAtOnce(t *testing.T) {
	m := newMovableWith(t, three, placedIn("eu"), elsewhere)
	m.say("ap", word{}) // whom it does not concern
	m.write(three, placedIn("us"))
	m.after(time.Second)
	m.want("us:4")
	if b := m.last.Plan.Basis; b.Scheduled || b.Awaits {
		t.Errorf("time matters to it, or what clusters say: %+v", b)
	}
}

// TestWhatFailedOverComesHomeInTwoSteps has the taint of a cluster go, and a rebalancer divide anew. What is failing over
// meanwhile goes by its own rules.
func TestWhatFailedOverComesHomeInTwoSteps(t *testing.T) {
	m := newMovableWith(t, three, placedIn("eu"), elsewhere)
	m.say("eu", word{health: karmada.ResourceHealthy})
	m.write(map[string]string{"ap": "", "eu": noExecute, "us": ""}, placedIn("eu, us"))
	m.after(time.Second)
	m.want("eu:4 us:4") // a failover
	m.say("us", word{health: karmada.ResourceHealthy})
	m.after(time.Second)
	m.want("us:4")
	m.write(three, placedIn("eu"))
	m.after(time.Second)
	m.want("eu:4 us:4 move-waits")
	m.say("eu", word{health: karmada.ResourceHealthy})
	m.after(time.Second)
	m.want("eu:4")
}

// TestTheRecordOfAMoveIsVerified edits what the state says of a move.
func TestTheRecordOfAMoveIsVerified(t *testing.T) {
	m := newMovableWith(t, three, placedIn("eu"), elsewhere)
	m.say("eu", word{health: karmada.ResourceHealthy})
	m.write(three, placedIn("us"))
	m.after(time.Second)
	m.write(three, "  priority: 2\n"+placedIn("us"))
	m.after(time.Minute) // the record is older than the commit
	for _, tt := range []struct{ name, from, to string }{
		{"another time", "2026-11-21T12:00:01Z", "2026-11-21T11:00:01Z"},
		{"another cluster", `"cluster": "eu"`, `"cluster": "us"`},
		{"another object", `"name": "web"`, `"name": "db"`},
		{"a cluster that there is not", `"cluster": "eu"`, `"cluster": "xx"`},
	} {
		repo := m.repo.Clone()
		h, _, err := repo.Branch(t.Context(), "waybill/state")
		if err != nil {
			t.Fatal(err)
		}
		root := twin.Of(h.Tree)
		data, err := root["leaving.json"].Blob.Bytes()
		if err != nil || !strings.Contains(string(data), tt.from) {
			t.Fatalf("the record is %s: %v", data, err)
		}
		root["leaving.json"] = twin.File([]byte(strings.ReplaceAll(string(data), tt.from, tt.to)))
		if _, err := repo.Publish(t.Context(), []git.Update{
			{Branch: "waybill/state", Old: h.Commit, Tree: root.Folder(), Message: h.Message, Author: h.Author, When: h.When},
		}); err != nil {
			t.Fatal(err)
		}
		r := *m.r
		r.Source, r.Target, r.Seen = repo, repo, nil
		v, err := verify.New(r.Planner(), r.Published(), r.Version).Verify(t.Context(), "waybill/state")
		if err != nil || !slices.Equal(v.Differences, []string{"leaving.json"}) {
			t.Errorf("%s: %v %v", tt.name, v.Differences, err)
		}
	}
}

// TestAgentsAreHeardOfWhatMoves has agents say how copies are, in a repository of their own, which is away for a while.
func TestAgentsAreHeardOfWhatMoves(t *testing.T) {
	m, told := newPulled(t, three, placedIn("eu"))
	m.more = elsewhere
	m.write(three, placedIn("eu"))
	m.after(time.Second)
	m.say("eu", word{health: karmada.ResourceHealthy})
	m.write(three, placedIn("us"))
	m.after(time.Second)
	m.want("eu:4 us:4 move-waits")
	m.say("us", word{health: karmada.ResourceUnhealthy})
	m.after(time.Minute)
	told.away = true
	m.say("us", word{health: karmada.ResourceHealthy})
	m.after(time.Hour)
	m.want("eu:4 us:4 last-copy")
	told.away = false
	m.after(time.Second)
	m.want("us:4")
}

// TestWhatMovesBetweenFoldersIsSeenToBeUpToDate has clusters share a branch, on which a commit for one is no news to
// another.
func TestWhatMovesBetweenFoldersIsSeenToBeUpToDate(t *testing.T) {
	folders := twin.Tree{"waybill.yaml": twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publish: {layout: folders}}\n"))}
	maps.Copy(folders, elsewhere)
	m := newMovableWith(t, three, placedIn("eu"), folders)
	m.saysFolder("eu")
	m.write(three, placedIn("us"))
	m.after(time.Second)
	m.saysFolder("us")
	folders["clusters.yaml"] = twin.File([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: eus, namespace: a}\n---\n" +
		"apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: eus, namespace: a}\n" +
		"spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: eus}], placement: {clusterAffinity: {clusterNames: [eu]}}}\n"))
	m.write(three, placedIn("us"))
	m.after(time.Second)
	for _, c := range m.last.Plan.Clusters {
		if _, has := c.Tree.Lookup(tree.Path(evidentWeb)); has != (c.Name == "us") {
			t.Errorf("web is in %s: %t", c.Name, has)
		}
	}
}

// saysFolder has a cluster say that web is healthy, as it is in its folder.
func (m *movable) saysFolder(cluster string) {
	m.t.Helper()
	heads, err := m.repo.Heads(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	commit, err := m.r.Published().Head(m.t.Context(), heads, render.Address{Branch: "waybill/clusters", Folder: cluster})
	if err != nil || commit.IsZero() {
		m.t.Fatalf("%s has no folder: %v", cluster, err)
	}
	m.told.Write(status.Prefix+cluster, "status", status.Summarize(status.Cluster{
		Summary: status.Summary{Name: cluster, Commit: commit, Verdict: status.Verdict{Reason: status.Applied}},
		Objects: map[object.Ref]*status.Object{evidentWeb: {
			Applied: status.Application{Phase: status.PhaseApplied, Commit: commit}, Health: status.Health{State: karmada.ResourceHealthy, Since: m.now},
		}},
	}))
}
