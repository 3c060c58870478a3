package reconciler_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/evidence/commitstatus"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/test/twin"
)

// synced is a fleet that Flux syncs: a cluster in the stage canary, and two in prod.
const synced = `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata: {name: careful}
spec:
  stages:
  - {name: canary, labelSelector: {matchLabels: {ring: canary}}, afterStageTasks: [{type: TimedWait, waitTime: 5m}]}
  - {name: prod, labelSelector: {matchLabels: {ring: prod}}, afterStageTasks: [{type: TimedWait, waitTime: 5m}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: team, annotations: {waybill.dev/rollout: careful}}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: web}], placement: {}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: other, namespace: team}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: other}], placement: {}}
`

// poster is a forge at which Flux sets commit statuses.
type poster struct {
	t     *testing.T
	repo  *twin.Repo
	now   time.Time
	seen  *reconciler.Cache
	shown map[string][]forge.Status // by commit
	asked map[string]int            // how often, by commit
	down  error
	slow  time.Duration // how long an answer takes
	res   reconciler.Result
	tree  twin.Tree
}

func cluster(name, ring string) string {
	return "---\napiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: " + name + ", labels: {ring: " + ring + "}}\nspec: {syncMode: Pull}\n"
}

func newPoster(t *testing.T, config string) *poster {
	t.Helper()
	p := &poster{
		t: t, repo: twin.New("fleet"), now: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC), seen: reconciler.NewCache(),
		shown: map[string][]forge.Status{}, asked: map[string]int{}, tree: twin.Tree{},
	}
	text := synced + cluster("c1", "canary") + cluster("p1", "prod") + cluster("p2", "prod")
	p.tree["fleet.yaml"] = twin.File([]byte(strings.Replace(text, ", annotations: {waybill.dev/rollout: careful}", "", 1)))
	p.tree["waybill.yaml"] = twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {rollout: {" + config + "}}\n"))
	p.change("other", "one")
	p.change("web", "one")
	p.publish()
	p.tree["fleet.yaml"] = twin.File([]byte(text))
	p.repo.Write("main", "in stages", p.tree.Folder())
	p.publish()
	return p
}

// Statuses implements posts.Lister.
func (p *poster) Statuses(_ context.Context, commit string) ([]forge.Status, error) {
	p.asked[commit]++
	p.now = p.now.Add(p.slow)
	return p.shown[commit], p.down
}

// change writes a version of a ConfigMap to the source.
func (p *poster) change(name, version string) {
	p.tree[name+".yaml"] = twin.File([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: team}\ndata: {v: " + version + "}\n"))
	p.repo.Write("main", name+" "+version, p.tree.Folder())
}

// publish publishes what the source says now.
func (p *poster) publish() {
	p.t.Helper()
	r := &reconciler.Reconciler{
		Seen: p.seen, Source: p.repo, Target: p.repo, Cache: cache.Memory(), Now: func() time.Time { return p.now }, Statuses: p,
	}
	res, err := r.Publish(p.t.Context(), "main")
	if err != nil {
		p.t.Fatal(err)
	}
	p.res = res
}

// in publishes some time later.
func (p *poster) in(d time.Duration) {
	p.t.Helper()
	p.now = p.now.Add(d)
	p.publish()
}

// head is the head of a cluster's branch.
func (p *poster) head(cluster string) string {
	h, _, err := p.repo.Branch(p.t.Context(), "waybill/cluster/"+cluster)
	if err != nil {
		p.t.Fatal(err)
	}
	return h.Commit.String()
}

// post sets a status of the cluster's root Kustomization at a commit.
func (p *poster) post(cluster, commit string, s forge.State, by string) {
	context := commitstatus.FluxContext(cluster, "waybill-"+cluster)
	p.shown[commit] = append(p.shown[commit], forge.Status{Commit: commit, Context: context, State: s, Creator: forge.User{Login: by}, Time: p.now})
}

// has says which version of web each cluster has.
func (p *poster) has() string {
	p.t.Helper()
	var all []string
	for _, cluster := range []string{"c1", "p1", "p2"} {
		h, _, err := p.repo.Branch(p.t.Context(), "waybill/cluster/"+cluster)
		if err != nil {
			p.t.Fatal(err)
		}
		list, err := twin.Manifests(h.Tree)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, m := range list {
			if m.Kind == "ConfigMap" && m.Metadata.Name == "web" {
				all = append(all, cluster+"="+m.Data["v"])
			}
		}
	}
	return strings.Join(all, " ")
}

// wants fails the test if clusters have other versions, or the run is in another phase.
func (p *poster) wants(when, has string, phase rollouts.Phase) {
	p.t.Helper()
	if got := p.has(); got != has {
		p.t.Errorf("%s: clusters have %s; want %s", when, got, has)
	}
	if got := p.rollout().Status; got.Phase != phase {
		p.t.Errorf("%s: the run is %s (%s); want %s", when, got.Phase, got.Message, phase)
	}
}

func (p *poster) rollout() rollouts.Rollout {
	p.t.Helper()
	all := p.rollouts()
	if len(all) != 1 {
		p.t.Fatalf("there are %+v", all)
	}
	return all[0]
}

func (p *poster) rollouts() []rollouts.Rollout {
	p.t.Helper()
	h, _, err := p.repo.Branch(p.t.Context(), state.Branch)
	if err != nil {
		p.t.Fatal(err)
	}
	all, _ := state.Rollouts(h.Tree)
	return all
}

// says reports whether a diagnostic of the last plan is of a code.
func (p *poster) says(code diag.Code) bool {
	return slices.ContainsFunc(p.res.Diags, func(d diag.Diagnostic) bool { return d.Code == code })
}

const byFlux = "evidence: [commitStatus], commitStatus: {creators: [Flux-Bot]}"

// A roll-out goes on when Flux says at the forge that the cluster has it, and not before; for a time that is no shorter than that
// after which Flux looks again.
func TestCommitStatusesAreEvidence(t *testing.T) {
	p := newPoster(t, byFlux)
	before := p.head("c1")
	p.post("c1", before, forge.Success, "flux-bot") // of the version before
	p.change("web", "two")
	p.in(time.Minute)
	p.wants("at the start", "c1=two p1=one p2=one", rollouts.Updating)
	if p.says(diag.RolloutNoEvidence) {
		t.Error("it is said that nothing speaks for the clusters")
	}
	released := p.head("c1")
	if again := p.res.Plan.Basis.RecheckAt; !again.Equal(p.now.Add(time.Minute)) {
		t.Errorf("it looks again at %s; want a minute after %s", again, p.now)
	}
	p.in(time.Minute)
	p.wants("nobody said anything", "c1=two p1=one p2=one", rollouts.Updating)
	p.post("c1", released, forge.Success, "mallory")
	p.in(time.Minute)
	p.wants("somebody else says it", "c1=two p1=one p2=one", rollouts.Updating)
	if !p.says(diag.RolloutStatusIgnored) {
		t.Errorf("it is not said that a status does not count: %v", p.res.Diags)
	}
	p.post("c1", released, forge.Pending, "flux-bot")
	p.in(time.Minute)
	p.wants("Flux is at it", "c1=two p1=one p2=one", rollouts.Updating)
	p.change("other", "two") // which every cluster gets at once
	p.in(30 * time.Second)
	if p.head("c1") == released {
		t.Fatal("the branch did not advance")
	}
	p.post("c1", released, forge.Success, "flux-bot")
	p.in(time.Minute)
	p.wants("Flux has it", "c1=two p1=one p2=one", rollouts.Soaking)
	if e := p.rollout().Clusters["c1"]; !strings.Contains(e.Evidence, "waybill/flux/c1/waybill-c1 success by flux-bot at "+released[:12]) {
		t.Errorf("the record has %q", e.Evidence)
	}
	p.in(commitstatus.LeastWait - time.Second)
	p.wants("before Flux has to have looked again", "c1=two p1=one p2=one", rollouts.Soaking)
	p.in(time.Second)
	p.wants("when it has", "c1=two p1=two p2=one", rollouts.Updating)

	asked := maps.Clone(p.asked)
	p.in(time.Minute)
	if p.asked[p.head("c1")] != asked[p.head("c1")] {
		t.Error("the forge is asked about a cluster whose stage is over")
	}
	if c := p.rollout().Clusters["c1"]; c.State != rollouts.Healthy || !c.Deadline.IsZero() {
		t.Errorf("what is recorded of it does not stay: %+v", c)
	}
	for _, cluster := range []string{"p1", "p2"} {
		p.post(cluster, p.head(cluster), forge.Success, "flux-bot")
		p.in(time.Minute)
	}
	p.in(commitstatus.LeastWait)
	p.in(time.Minute)
	p.wants("at the end", "c1=two p1=two p2=two", rollouts.Done)
}

// Two units go out at once: what is said of a commit counts for the one that it has as it is published now, and not for the other, which
// came later.
func TestACommitStatusIsOfWhatItsCommitHas(t *testing.T) {
	p := newPoster(t, byFlux+", default: careful")
	p.change("web", "two")
	p.in(time.Minute)
	first := p.head("c1")
	p.change("other", "two")
	p.in(time.Minute)
	if p.head("c1") == first {
		t.Fatal("the second unit was not released")
	}
	p.post("c1", first, forge.Success, "flux-bot")
	p.in(time.Minute)
	for _, r := range p.rollouts() {
		want := map[string]rollouts.State{"team/web": rollouts.Healthy, "team/other": rollouts.Released}[r.Unit.String()]
		if got := r.Clusters["c1"].State; got != want {
			t.Errorf("%s is %s; want %s", r.Unit, got, want)
		}
	}
}

// A failure stops a run if the commit before had none.
func TestACommitStatusThatFailed(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before forge.State
		want   rollouts.Phase
		state  rollouts.State
	}{
		{"it was well before", forge.Success, rollouts.Stopped, rollouts.Failed},
		{"nobody said anything before", "", rollouts.Stopped, rollouts.Failed},
		{"it failed before", forge.Failure, rollouts.Updating, rollouts.Failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPoster(t, byFlux)
			if tt.before != "" {
				p.post("c1", p.head("c1"), tt.before, "flux-bot")
			}
			p.change("web", "two")
			p.in(time.Minute)
			p.post("c1", p.head("c1"), forge.Failure, "flux-bot")
			p.in(time.Minute)
			if c := p.rollout().Clusters["c1"]; c.State != rollouts.Failing || !strings.Contains(c.Message, "waybill/flux/c1/waybill-c1") {
				t.Errorf("at first it is %+v", c)
			}
			p.in(time.Minute)
			p.wants("before Flux has to have tried again", "c1=two p1=one p2=one", rollouts.Updating)
			if c := p.rollout().Clusters["c1"]; c.State != rollouts.Failing || c.LeastSettle.Duration != commitstatus.LeastSettle {
				t.Errorf("before Flux has to have tried again it is %+v", c)
			}
			p.in(commitstatus.LeastSettle - time.Minute)
			p.wants("after that", "c1=two p1=one p2=one", tt.want)
			if c := p.rollout().Clusters["c1"]; c.State != tt.state {
				t.Errorf("it is %+v", c)
			}
			p.post("c1", p.head("c1"), forge.Success, "flux-bot") // it comes up after all
			p.in(time.Minute)
			if c := p.rollout().Clusters["c1"]; c.State != rollouts.Healthy {
				t.Errorf("when it has come up it is %+v", c)
			}
		})
	}
}

// Before a failure counts Flux has tried again, and the forge is asked again, however long its answers take.
func TestAFailureThatPasses(t *testing.T) {
	p := newPoster(t, byFlux)
	p.change("web", "two")
	p.in(time.Minute)
	p.slow = 2 * time.Second
	p.post("c1", p.head("c1"), forge.Failure, "flux-bot")
	p.in(time.Minute)
	if c := p.rollout().Clusters["c1"]; c.State != rollouts.Failing {
		t.Errorf("at first it is %+v", c)
	}
	p.post("c1", p.head("c1"), forge.Success, "flux-bot")
	p.now = p.res.Plan.Basis.RecheckAt
	p.publish()
	p.wants("when it has passed", "c1=two p1=one p2=one", rollouts.Soaking)
}

// Nothing is released on what a forge did not say, which is asked once a minute at most.
func TestAForgeThatDoesNotSay(t *testing.T) {
	p := newPoster(t, byFlux)
	p.change("web", "two")
	p.in(time.Minute)
	p.post("c1", p.head("c1"), forge.Success, "flux-bot")
	p.down = errors.New("500 Internal Server Error")
	p.in(time.Minute)
	p.wants("it is down", "c1=two p1=one p2=one", rollouts.Updating)
	if !p.says(diag.RolloutNotAsked) {
		t.Errorf("it is not said: %v", p.res.Diags)
	}
	p.down = nil
	p.in(time.Minute)
	p.wants("it is there again", "c1=two p1=one p2=one", rollouts.Soaking)
	asked := p.asked[p.head("c1")]
	p.in(10 * time.Second)
	p.in(10 * time.Second)
	if p.asked[p.head("c1")] != asked {
		t.Errorf("in 20 seconds it was asked %d times more", p.asked[p.head("c1")]-asked)
	}
}

// Where time alone is evidence, what is published counts as healthy, and stages wait for their tasks.
func TestTimeAlone(t *testing.T) {
	p := newPoster(t, "evidence: [status, timed]")
	p.change("web", "two")
	p.in(time.Minute)
	p.wants("at the start", "c1=two p1=one p2=one", rollouts.Updating)
	if again := p.res.Plan.Basis.RecheckAt; !again.Equal(p.now.Add(time.Second)) {
		t.Errorf("it looks again at %s; want a second after %s", again, p.now)
	}
	p.in(time.Second)
	p.wants("it was published", "c1=two p1=one p2=one", rollouts.Soaking)
	p.in(5*time.Minute - time.Second)
	p.wants("for almost five minutes", "c1=two p1=one p2=one", rollouts.Soaking)
	p.in(time.Second)
	p.wants("for five", "c1=two p1=two p2=one", rollouts.Updating)
	p.in(time.Second)
	p.wants("one after the other", "c1=two p1=two p2=two", rollouts.Updating)
	if len(p.asked) > 0 {
		t.Errorf("commit statuses do not count, and the forge is asked about %d commits", len(p.asked))
	}
}
