package reconciler_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/verify"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/test/twin"
)

var evidentWeb = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "web"}

// movable is a fleet in memory whose clusters say what became of web.
type movable struct {
	t    *testing.T
	repo *twin.Repo
	told *twin.Repo // where clusters say what became of web
	key  string     // the public key of their agents; empty: they are pushed to
	more twin.Tree  // of the source
	r    *reconciler.Reconciler
	now  time.Time
	last reconciler.Result
}

// newMovable returns one that publishes a source: clusters with taints, by name, and what the
// policy of web says.
func newMovable(t *testing.T, taints map[string]string, policy string) *movable {
	t.Helper()
	return newMovableWith(t, taints, policy, nil)
}

// newMovableWith is newMovable of a source with more files.
func newMovableWith(t *testing.T, taints map[string]string, policy string, more twin.Tree) *movable {
	t.Helper()
	m := &movable{t: t, more: more, repo: twin.New("movable"), now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	m.told = m.repo
	m.r = &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: m.repo, Target: m.repo, Version: "test", Now: func() time.Time { return m.now }}
	m.write(taints, policy)
	m.publish()
	return m
}

func (m *movable) write(taints map[string]string, policy string) {
	source := twin.Tree{
		"waybill.yaml": twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {failover: {enabled: true}}\n")),
		"web.yaml":     twin.File([]byte("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: a}\nspec: {replicas: 4, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}\n")),
		"policy.yaml":  twin.File([]byte("apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: a}\nspec:\n  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n" + policy)),
	}
	room := map[string]int{"ap": 10, "eu": 30, "us": 20}
	for name, taint := range taints {
		meta, mode := "name: "+name, karmada.Push
		if m.key != "" {
			meta, mode = meta+", annotations: {waybill.dev/agent-key: "+m.key+"}", karmada.Pull
		}
		source[name+".yaml"] = twin.File(fmt.Appendf(nil, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {%s}\nspec: {syncMode: %s, taints: [%s]}\nstatus: {resourceSummary: {allocatable: {pods: %d}}}\n", meta, mode, taint, room[name]))
	}
	maps.Copy(source, m.more)
	m.repo.Write("main", "next", source.Folder())
}

// publish publishes, and holds that every branch verifies and that nothing moves again.
func (m *movable) publish() {
	m.t.Helper()
	res, err := m.r.Publish(m.t.Context(), "main")
	if err != nil {
		m.t.Fatal(err)
	}
	m.last = res
	again, err := m.r.Publish(m.t.Context(), "main")
	if err != nil || len(again.Updates) > 0 {
		m.t.Fatalf("published again, %d branches move: %v", len(again.Updates), err)
	}
	heads, err := m.repo.Heads(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	for name := range heads {
		if strings.HasPrefix(name, "waybill/cluster/") || name == "waybill/state" {
			v, err := verify.New(m.r.Planner(), m.r.Published(), m.r.Version).Verify(m.t.Context(), name)
			if err != nil || !v.Same {
				m.t.Errorf("%s does not verify: %v %v", name, v.Differences, err)
			}
		}
	}
}

// after publishes some time later.
func (m *movable) after(d time.Duration) {
	m.t.Helper()
	m.now = m.now.Add(d)
	m.publish()
}

// word is what a cluster says of web.
type word struct {
	health karmada.ResourceHealth // empty: it is not there
	rolls  bool                   // Karmada calls it healthy, and it is not done
	since  time.Duration          // ago
	status string
	stale  bool // what is applied is an earlier commit
	lost   bool // the cluster does not answer
}

// say has a cluster say what became of web on its branch.
func (m *movable) say(cluster string, w word) {
	m.t.Helper()
	h, ok, err := m.repo.Branch(m.t.Context(), "waybill/cluster/"+cluster)
	if err != nil || !ok {
		m.t.Fatalf("cluster %s has no branch: %v", cluster, err)
	}
	commit := h.Commit
	if w.stale {
		commit = h.Parent
	}
	c := status.Cluster{Summary: status.Summary{Name: cluster, Commit: h.Commit, Verdict: status.Verdict{Reason: status.Applied}}, Objects: map[object.Ref]*status.Object{}}
	if w.lost {
		c.Verdict.Reason = status.Unreachable
	}
	if w.health != "" {
		o := &status.Object{
			Applied: status.Application{Phase: status.PhaseApplied, Commit: commit},
			Health:  status.Health{State: w.health, Since: m.now.Add(-w.since), Status: json.RawMessage(w.status)},
		}
		if c.Objects[evidentWeb] = o; w.rolls {
			o.Health.State, o.Health.Karmada = karmada.ResourceUnhealthy, w.health
		}
	}
	m.told.Now = m.now
	m.told.Write(status.Prefix+cluster, "status", status.Summarize(c))
}

// where says in which clusters' branches web is, with its replicas, and what is said of it.
func (m *movable) where() string {
	m.t.Helper()
	var all []string
	for _, c := range m.last.Plan.Clusters {
		h, ok, err := m.repo.Branch(m.t.Context(), "waybill/cluster/"+c.Name)
		if err != nil {
			m.t.Fatal(err)
		}
		if !ok {
			continue
		}
		objects, err := twin.Manifests(h.Tree)
		if err != nil {
			m.t.Fatal(err)
		}
		for _, o := range objects {
			if o.Spec.Replicas == nil {
				continue
			}
			all = append(all, fmt.Sprintf("%s:%d", c.Name, *o.Spec.Replicas))
		}
	}
	slices.Sort(all)
	for _, d := range m.last.Diags {
		all = append(all, string(d.Code))
	}
	return strings.Join(all, " ")
}

func (m *movable) want(want string) {
	m.t.Helper()
	if got := m.where(); got != want {
		m.t.Errorf("%s: web is in %q, want %q", m.now.Format(time.TimeOnly), got, want)
	}
}

const (
	aggregated = "  placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}}\n"
	weighted   = "  placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}\n"
	noExecute  = "{key: maintenance, effect: NoExecute}"
)

// TestACopyStaysUntilTheOthersAreHealthyWithWhatWasAdded evicts from one of three clusters.
func TestACopyStaysUntilTheOthersAreHealthyWithWhatWasAdded(t *testing.T) {
	m := newMovable(t, map[string]string{"ap": "", "eu": "", "us": ""}, weighted)
	for _, c := range []string{"ap", "eu", "us"} {
		m.say(c, word{health: karmada.ResourceHealthy})
	}
	m.want("ap:2 eu:1 us:1")
	m.write(map[string]string{"ap": "", "eu": noExecute, "us": ""}, weighted)
	m.after(time.Second)
	m.want("ap:2 eu:1 us:2")
	m.after(time.Second) // us was healthy with what it had before
	m.want("ap:2 eu:1 us:2")
	m.say("us", word{health: karmada.ResourceHealthy, stale: true})
	m.after(time.Second)
	m.want("ap:2 eu:1 us:2")
	m.say("us", word{health: karmada.ResourceUnhealthy})
	m.after(time.Minute)
	m.want("ap:2 eu:1 us:2")
	m.say("us", word{health: karmada.ResourceHealthy, rolls: true})
	m.after(time.Minute)
	m.want("ap:2 eu:1 us:2")
	m.say("us", word{health: karmada.ResourceHealthy})
	m.after(time.Second)
	m.want("ap:2 us:2")
	h, _, err := m.repo.Branch(t.Context(), "waybill/cluster/eu")
	if err != nil {
		t.Fatal(err)
	}
	if left := sources.Trailers(h.Message, publish.TrailerFailedOver); !slices.Equal(left, []string{tree.Path(evidentWeb)}) {
		t.Errorf("the commit by which it leaves says that %v failed over", left)
	}
}

// TestTheLastCopyStays evicts from the only cluster that has a healthy copy.
func TestTheLastCopyStays(t *testing.T) {
	m := newMovable(t, map[string]string{"eu": "", "us": ""}, aggregated)
	m.want("eu:4")
	m.write(map[string]string{"eu": noExecute, "us": ""}, aggregated)
	m.after(time.Second)
	m.want("eu:4 us:4")
	m.say("us", word{health: karmada.ResourceUnhealthy})
	m.after(time.Hour)
	m.want("eu:4 us:4 last-copy")
	m.say("us", word{health: karmada.ResourceHealthy, lost: true}) // it was, and does not answer
	m.after(time.Hour)
	m.want("eu:4 us:4 last-copy")
	m.say("us", word{health: karmada.ResourceHealthy})
	m.after(time.Second)
	m.want("us:4")
}

// TestAClusterThatIsBrokenIsHeard: what goes to it is as it was last good, and what it says of that counts.
func TestAClusterThatIsBrokenIsHeard(t *testing.T) {
	const head = "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: us"
	for name, tt := range map[string]struct{ text, said string }{
		"it has an error":       {head + "}\nspec: {syncMode: Carrier}\n", " unsupported-value"},
		"it cannot be read":     {head + "\n", " malformed"},
		"nothing is the matter": {},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMovable(t, map[string]string{"eu": "", "us": ""}, aggregated)
			m.say("eu", word{health: karmada.ResourceHealthy})
			m.write(map[string]string{"eu": noExecute, "us": ""}, aggregated)
			m.after(time.Second)
			m.want("eu:4 us:4")
			if tt.text != "" {
				m.more = twin.Tree{"us.yaml": twin.File([]byte(tt.text))}
				m.write(map[string]string{"eu": noExecute, "us": ""}, aggregated)
			}
			m.after(time.Second)
			m.want("eu:4 us:4" + tt.said)
			m.say("us", word{health: karmada.ResourceHealthy})
			m.after(time.Second)
			m.want("us:4" + tt.said)
		})
	}
}

// TestDirectlyTheNewCopyWaitsForTheOldOneToBeGone purges directly.
func TestDirectlyTheNewCopyWaitsForTheOldOneToBeGone(t *testing.T) {
	const directly = aggregated + "  failover: {cluster: {purgeMode: Directly}}\n"
	m := newMovable(t, map[string]string{"eu": "", "us": ""}, directly)
	m.say("eu", word{health: karmada.ResourceHealthy})
	m.write(map[string]string{"eu": noExecute, "us": ""}, directly)
	m.after(time.Second)
	m.want("")
	m.say("eu", word{health: karmada.ResourceHealthy, stale: true}) // it is still there
	m.after(time.Second)
	m.want("")
	m.say("eu", word{lost: true})
	m.after(time.Second)
	m.want("")
	m.say("eu", word{})
	m.after(time.Second)
	m.want("us:4")
}

// TestWhatFailsMoves fails over an application by its health.
func TestWhatFailsMoves(t *testing.T) {
	const failover = aggregated + "  propagateDeps: true\n  failover: {application: {decisionConditions: {tolerationSeconds: 60}}}\n"
	m := newMovable(t, map[string]string{"eu": "", "us": "", "ap": ""}, failover)
	m.after(time.Second)
	m.want("eu:4 health-unknown")
	m.say("eu", word{health: karmada.ResourceHealthy, rolls: true, since: time.Hour}) // Karmada does not move it
	m.after(time.Second)
	m.want("eu:4")
	m.say("eu", word{health: karmada.ResourceUnhealthy, since: 30 * time.Second})
	m.after(time.Second)
	m.want("eu:4")
	if at := m.last.Plan.Basis.RecheckAt; !at.Equal(m.now.Add(29 * time.Second)) {
		t.Errorf("it is looked at again at %s", at)
	}
	m.after(29 * time.Second)
	m.want("eu:4 us:4")
	if !strings.Contains(m.last.Updates[0].Message, "Deployment.apps/a/web leaves eu for us: it is not healthy there for 60 seconds") {
		t.Errorf("the commit says %s", m.last.Updates[0].Message)
	}
	m.say("us", word{health: karmada.ResourceUnhealthy, since: time.Hour}) // it fails everywhere: one move at a time
	m.after(10 * time.Minute)
	m.want("eu:4 us:4 last-copy")
	m.say("us", word{health: karmada.ResourceHealthy})
	m.after(time.Second)
	m.want("us:4")
	m.after(time.Hour) // it does not go back
	m.want("us:4")
}

// TestWhatFailsStaysUntilWhatIsAddedIsHealthy fails over where the other copies are healthy
// already, with what they had.
func TestWhatFailsStaysUntilWhatIsAddedIsHealthy(t *testing.T) {
	const failover = weighted + "  propagateDeps: true\n  failover: {application: {decisionConditions: {tolerationSeconds: 60}}}\n"
	m := newMovable(t, map[string]string{"eu": "", "us": "", "ap": ""}, failover)
	m.want("ap:2 eu:1 us:1")
	m.say("ap", word{health: karmada.ResourceHealthy})
	m.say("us", word{health: karmada.ResourceHealthy})
	m.say("eu", word{health: karmada.ResourceUnhealthy, since: time.Hour})
	m.after(time.Second)
	m.want("ap:2 eu:1 us:2")
	m.say("us", word{health: karmada.ResourceHealthy})
	m.after(time.Second)
	m.want("ap:2 us:2")
}

// TestWhatFailsStaysWhereItsPolicySaysSo fails over with purgeMode Never.
func TestWhatFailsStaysWhereItsPolicySaysSo(t *testing.T) {
	const never = aggregated + "  propagateDeps: true\n  failover: {application: {decisionConditions: {tolerationSeconds: 60}, purgeMode: Never}}\n"
	m := newMovable(t, map[string]string{"eu": "", "us": ""}, never)
	m.say("eu", word{health: karmada.ResourceUnhealthy, since: time.Hour})
	m.after(time.Second)
	m.want("eu:4 us:4")
	m.say("us", word{health: karmada.ResourceHealthy})
	m.after(time.Hour)
	m.want("eu:4 us:4")
	m.write(map[string]string{"eu": "", "us": ""}, strings.Replace(never, "Never", "Gracefully", 1))
	m.after(time.Second)
	m.want("us:4")
}

// TestStateIsPreserved labels the new copy with what the status of the old one said.
func TestStateIsPreserved(t *testing.T) {
	const preserving = aggregated + "  propagateDeps: true\n  failover: {application: {decisionConditions: {tolerationSeconds: 60}, purgeMode: Directly," +
		" statePreservation: {rules: [{aliasLabelName: example.com/checkpoint, jsonPath: '{.checkpoint.id}'}]}}}\n"
	m := newMovable(t, map[string]string{"eu": "", "us": ""}, preserving)
	m.say("eu", word{health: karmada.ResourceUnhealthy, since: time.Hour, status: `{"replicas": 4}`})
	m.after(time.Second)
	m.want("eu:4 status-not-read")
	m.say("eu", word{health: karmada.ResourceUnhealthy, since: time.Hour, status: `{"checkpoint": {"id": "c-17"}}`})
	m.after(time.Second)
	m.want("")
	m.say("eu", word{})
	m.after(time.Second)
	m.want("us:4")
	h, _, err := m.repo.Branch(t.Context(), "waybill/cluster/us")
	if err != nil {
		t.Fatal(err)
	}
	for path, e := range twin.Of(h.Tree) {
		if !strings.Contains(path, "/deployment") {
			continue
		}
		if data, err := e.Blob.Bytes(); err != nil || !strings.Contains(string(data), "example.com/checkpoint: c-17") {
			t.Errorf("%s has no label: %s %v", path, data, err)
		}
	}
}
