package reports_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/signing"
	"github.com/waybill-dev/waybill/test/twin"
)

var (
	noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	web  = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
)

func newKey(t *testing.T) signing.Key {
	t.Helper()
	key, _, err := signing.NewKey(rand.Reader, "")
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// fleet is clusters with branches of their own, and what is said of them.
type fleet struct {
	*testing.T

	repo, told *twin.Repo // told is where agents write; the same one at first
	reader     *reports.Reader
	clusters   []*karmada.Cluster
	published  map[string]tree.Published
}

func newFleet(t *testing.T, clusters ...*karmada.Cluster) *fleet {
	t.Helper()
	repo := twin.New("fleet")
	f := &fleet{T: t, repo: repo, told: repo, clusters: clusters, published: map[string]tree.Published{}}
	f.reader = &reports.Reader{
		Published: &published.Reader{Branches: published.At(repo)}, Now: func() time.Time { return noon }, Cache: &reports.Cache{},
	}
	return f
}

func cluster(name string, annotations map[string]string) *karmada.Cluster {
	return &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}, Spec: karmada.ClusterSpec{SyncMode: karmada.Push}}
}

// pulled is a cluster whose agent has a key.
func pulled(name string, key signing.Key) *karmada.Cluster {
	public := key.Public()
	c := cluster(name, map[string]string{"waybill.dev/agent-key": public.String()})
	c.Spec.SyncMode = karmada.Pull
	return c
}

// publish has the branch of a cluster hold web with a content, or without one nothing, and returns the commit.
func (f *fleet) publish(cluster, content string) files.ID {
	f.Helper()
	built := twin.Tree{"kustomization.yaml": twin.File(nil)}
	if content != "" {
		built[tree.Path(web)] = twin.File([]byte(content))
	}
	f.published[cluster] = tree.Published{Built: built.Folder()}
	built[tree.MetadataFile] = twin.File([]byte("of " + cluster))
	return f.repo.Write("waybill/cluster/"+cluster, "published", built.Folder())
}

// say writes the status branch of a cluster some time ago, signed by a key, if there is one. The zero object is none.
func (f *fleet) say(cluster string, s status.Summary, of status.Object, ago time.Duration, by *signing.Key) {
	f.Helper()
	s.Name = cluster
	c := status.Cluster{Summary: s, Objects: map[object.Ref]*status.Object{}}
	if of.Applied.Phase != "" {
		c.Objects[web] = &of
	}
	f.told.Now, f.told.Sign = noon.Add(-ago), nil
	if by != nil {
		f.told.Sign = by.SignCommit
	}
	f.told.Write(status.Prefix+cluster, "status", status.Summarize(c))
	f.told.Sign = nil
}

// seen is what is known of web in eu, while web moves from us to eu; false for nothing.
func (f *fleet) seen() (evict.Seen, bool) {
	f.Helper()
	s, ok, err := f.asked()
	if err != nil {
		f.Fatal(err)
	}
	return s, ok
}

func (f *fleet) asked() (evict.Seen, bool, error) {
	f.Helper()
	heads, err := f.repo.Heads(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	binding := &karmada.ResourceBinding{Spec: karmada.ResourceBindingSpec{
		Clusters: []karmada.TargetCluster{{Name: "eu"}}, GracefulEvictionTasks: []karmada.GracefulEvictionTask{{FromCluster: "us"}},
	}}
	all, err := f.reader.Evidence(f.Context(), heads, reports.Moves{
		Bindings: map[object.Ref]*karmada.ResourceBinding{web: binding}, Published: f.published, Registered: func() ([]*karmada.Cluster, error) { return f.clusters, nil },
	})
	s, ok := all[web]["eu"]
	return s, ok, err
}

// healthy is web as a cluster says it applied it from a commit, and is done.
func healthy(from files.ID) status.Object {
	return status.Object{
		Applied: status.Application{Phase: status.PhaseApplied, Commit: from}, Health: status.Health{State: karmada.ResourceHealthy, Since: noon},
	}
}

// An old copy goes when the new one is done, as it is published. Whose word counts for that: where agents may write where the
// branches are, only that of who publishes, or of the cluster's own agent.
func TestWhoseWordMovesWork(t *testing.T) {
	agent, publisher, other := newKey(t), newKey(t), newKey(t)
	for _, tt := range []struct {
		name   string
		pulled bool // by an agent with a key
		shared bool // agents write where the branches are
		key    bool // who publishes signs
		by     *signing.Key
		ago    time.Duration
		counts bool
	}{
		{"who pushes, where nobody else writes", false, false, false, nil, 0, true},
		{"who pushes, by the last day", false, false, false, nil, reports.Lasting, true},
		{"who pushes, and was not heard since", false, false, false, nil, reports.Lasting + time.Second, false},
		{"nobody signs, and agents write there", false, true, false, nil, 0, false},
		{"who publishes did not sign it", false, true, true, nil, 0, false},
		{"another one signed it", false, true, true, &other, 0, false},
		{"an agent of whatever cluster signed it", false, true, true, &agent, 0, false},
		{"who publishes signed it", false, true, true, &publisher, 0, true},
		{"the agent signed it", true, true, true, &agent, 0, true},
		{"the agent signed it, and nothing else is", true, true, false, &agent, 0, true},
		{"its agent did not sign it", true, true, true, nil, 0, false},
		{"another one signed it for the agent", true, true, true, &other, 0, false},
		{"who publishes signed it for the agent", true, true, true, &publisher, 0, false},
		{"the agent signed it long ago", true, true, true, &agent, reports.Lasting + time.Second, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eu := cluster("eu", nil)
			if tt.pulled {
				eu = pulled("eu", agent)
			}
			f := newFleet(t, eu, cluster("us", nil))
			f.reader.Shared = tt.shared
			if public := publisher.Public(); tt.key {
				f.reader.Key = &public
			}
			head := f.publish("eu", "new")
			f.say("eu", status.Summary{Commit: head, Verdict: status.Verdict{Reason: status.Applied}}, healthy(head), tt.ago, tt.by)
			s, ok := f.seen()
			if ok != tt.counts || s.Done != tt.counts || s.Current != tt.counts {
				t.Errorf("what is known is %+v, %v", s, ok)
			}
			// so does what is said of the commit that was applied
			heads, err := f.repo.Heads(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			applied, err := f.reader.Applied(t.Context(), heads, f.clusters)
			if err != nil {
				t.Fatal(err)
			}
			if want := tt.counts || tt.ago > reports.Lasting; (applied["eu"].Commit == head) != want { // a commit does not age
				t.Errorf("what was applied is %+v", applied)
			}
		})
	}
}

// What was heard without a signature, or was signed by the key before, counts no more once the agent has got another key.
func TestWhatWasHeardBeforeAnAgentHadItsKey(t *testing.T) {
	before, now := newKey(t), newKey(t)
	for _, tt := range []struct {
		name string
		was  *karmada.Cluster
		by   *signing.Key
	}{
		{"nobody signed it", cluster("eu", nil), nil},
		{"the key before signed it", pulled("eu", before), &before},
	} {
		f := newFleet(t, tt.was, cluster("us", nil))
		head := f.publish("eu", "new")
		said := status.Summary{Commit: head, Verdict: status.Verdict{Reason: status.Applied}}
		f.say("eu", said, healthy(head), time.Minute, tt.by)
		if s, _ := f.seen(); !s.Done {
			t.Fatalf("%s: what is known is %+v", tt.name, s)
		}
		f.clusters[0] = pulled("eu", now)
		if s, ok := f.seen(); ok {
			t.Errorf("%s: its agent has another key now, and what is known is %+v", tt.name, s)
		}
		f.say("eu", said, healthy(head), 0, &now)
		if s, _ := f.seen(); !s.Done {
			t.Errorf("%s: its agent signs, and what is known is %+v", tt.name, s)
		}
	}
}

// What of a word counts: the object as the cluster's branch has it now.
func TestWhatIsKnownOfWorkThatMoves(t *testing.T) {
	applied := status.Verdict{Reason: status.Applied}
	f := newFleet(t, cluster("eu", nil), cluster("us", nil))
	without := f.publish("eu", "")
	old := f.publish("eu", "old")
	now := f.publish("eu", "new")
	lost := files.Sum("commit", []byte("that a restored repository does not have"))
	failed := healthy(now)
	failed.Applied.Phase = status.PhaseFailed
	sick := healthy(now)
	sick.Health.State = karmada.ResourceUnhealthy
	rolls := healthy(now)
	rolls.Health.State, rolls.Health.Karmada = karmada.ResourceUnhealthy, karmada.ResourceHealthy
	for _, tt := range []struct {
		name     string
		summary  status.Summary
		web      status.Object
		isOnHead bool
		want     evict.Seen // but for times
	}{
		{"it is there as it is published", status.Summary{Commit: now, Verdict: applied}, healthy(now), true, evict.Seen{Health: karmada.ResourceHealthy, Done: true, Current: true}},
		{"it is there as it was published before", status.Summary{Commit: now, Verdict: applied}, healthy(old), true, evict.Seen{Health: karmada.ResourceHealthy, Done: true}},
		{"it is from a commit that is lost", status.Summary{Commit: now, Verdict: applied}, healthy(lost), true, evict.Seen{Health: karmada.ResourceHealthy, Done: true}},
		{"it was refused", status.Summary{Commit: now, Verdict: applied}, failed, true, evict.Seen{Health: karmada.ResourceHealthy, Done: true}},
		{"it is not healthy", status.Summary{Commit: now, Verdict: applied}, sick, true, evict.Seen{Health: karmada.ResourceUnhealthy, Current: true}},
		{"Karmada calls it healthy, and it rolls out yet", status.Summary{Commit: now, Verdict: applied}, rolls, true, evict.Seen{Health: karmada.ResourceHealthy, Current: true}},
		{"the cluster does not answer", status.Summary{Commit: now, Verdict: status.Verdict{Reason: status.Unreachable}}, healthy(now), true, evict.Seen{Health: karmada.ResourceUnknown}},
		{"it is neither published nor said to be there", status.Summary{Commit: without, Verdict: applied}, status.Object{}, false, evict.Seen{Health: karmada.ResourceUnknown, Gone: true}},
		{"the round that went before had it", status.Summary{Commit: now, Verdict: applied}, status.Object{}, false, evict.Seen{Health: karmada.ResourceUnknown}},
		{"it is published, and not there yet", status.Summary{Commit: without, Verdict: applied}, status.Object{}, true, evict.Seen{Health: karmada.ResourceUnknown}},
		{"nobody looked whether it is there", status.Summary{Commit: without, Verdict: status.Verdict{Reason: status.Suspended}}, status.Object{}, false, evict.Seen{Health: karmada.ResourceUnknown}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f.T = t
			if f.publish("eu", "new"); !tt.isOnHead {
				f.publish("eu", "")
			}
			f.say("eu", tt.summary, tt.web, 0, nil)
			s, ok := f.seen()
			s.Since = time.Time{}
			if !ok || fmt.Sprint(s) != fmt.Sprint(tt.want) {
				t.Errorf("what is known is %+v, %v, want %+v", s, ok, tt.want)
			}
		})
	}
}

// What is said of an object counts for the file that was applied, and the refusal for the file that was tried. Of one whose turn has not
// come nothing is applied, whatever was before.
func TestForWhichFileAWordCounts(t *testing.T) {
	f := newFleet(t, cluster("eu", nil))
	old := f.publish("eu", "old")
	now := f.publish("eu", "new")
	in := func(phase status.Phase, from files.ID) status.Object {
		o := healthy(from)
		o.Applied.Phase, o.Applied.Message = phase, "denied"
		return o
	}
	was, is := files.NewBlob([]byte("old")).ID(), files.NewBlob([]byte("new")).ID()
	for _, tt := range []struct {
		name string
		web  status.Object
		want staged.Object // but for health and times
	}{
		{"it is applied", in(status.PhaseApplied, now), staged.Object{Applied: is}},
		{"it is applied as it was before", in(status.PhaseApplied, old), staged.Object{Applied: was}},
		{"it was refused", in(status.PhaseFailed, old), staged.Object{Applied: was, Tried: is, Refused: "denied"}},
		{"its turn has not come", in(status.PhasePending, now), staged.Object{}},
		{"it leaves", in(status.PhaseLeaving, old), staged.Object{Applied: was}},
	} {
		got := f.seenOnceSaid(now, tt.web)
		if got.Applied != tt.want.Applied || got.Tried != tt.want.Tried || got.Refused != tt.want.Refused || got.Health != stage.Healthy {
			t.Errorf("%s: it is %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// What an object is said to be, its new version is at the earliest since that was applied. A refusal is as old as itself.
func TestSinceWhenANewVersionIsHealthy(t *testing.T) {
	f := newFleet(t, cluster("eu", nil))
	now := f.publish("eu", "new")
	const before, after = 2 * time.Hour, time.Hour
	for _, tt := range []struct {
		name             string
		phase            status.Phase
		healthy, applied time.Duration // ago
		want             time.Duration
	}{
		{"it was healthy before it came", status.PhaseApplied, before, after, after},
		{"it became healthy afterwards", status.PhaseApplied, after, before, after},
		{"it was refused", status.PhaseFailed, before, after, after},
		{"it was refused before it became healthy", status.PhaseFailed, after, before, before},
	} {
		o := healthy(now)
		o.Applied.Phase, o.Applied.Since, o.Health.Since = tt.phase, noon.Add(-tt.applied), noon.Add(-tt.healthy)
		if got := f.seenOnceSaid(now, o).Since; !got.Equal(noon.Add(-tt.want)) {
			t.Errorf("%s: it is so since %s, want %s", tt.name, noon.Sub(got), tt.want)
		}
	}
}

// seenOnceSaid is what is seen of web in eu, once eu says that it applied a commit, and what web is.
func (f *fleet) seenOnceSaid(commit files.ID, of status.Object) staged.Object {
	f.Helper()
	f.say("eu", status.Summary{Commit: commit, Verdict: status.Verdict{Reason: status.Applied}}, of, 0, nil)
	heads, err := f.repo.Heads(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	all, err := f.reader.Seen(f.Context(), heads, func() ([]*karmada.Cluster, error) { return f.clusters, nil })
	if err != nil || all["eu"] == nil {
		f.Fatalf("what is seen is %v, %v", all, err)
	}
	return all["eu"].Objects[web]
}

// Where clusters share a branch, a commit has for each its folder only: what another cluster has is nothing of it.
func TestWorkThatMovesBetweenFolders(t *testing.T) {
	f := newFleet(t, cluster("eu", nil), cluster("us", nil))
	path := tree.Path(web)
	commit := f.repo.Write("waybill/clusters", "published", twin.Tree{
		"us/" + tree.MetadataFile: twin.File([]byte("of us")), "us/" + path: twin.File([]byte("new")), "eu/" + tree.MetadataFile: twin.File([]byte("of eu")),
	}.Folder())
	f.published["eu"] = tree.Published{Built: twin.Tree{}.Folder()}
	f.published["us"] = tree.Published{Built: twin.Tree{path: twin.File([]byte("new"))}.Folder()}
	for _, name := range []string{"us", "eu"} {
		f.say(name, status.Summary{Commit: commit, Verdict: status.Verdict{Reason: status.Applied}}, status.Object{}, 0, nil)
	}
	if s, ok := f.seen(); !ok || !s.Gone {
		t.Errorf("eu has no folder with it, and what is known of it there is %+v, %v", s, ok)
	}
	f.published["eu"] = f.published["us"]
	f.say("eu", status.Summary{Commit: commit, Verdict: status.Verdict{Reason: status.Applied}}, healthy(commit), 0, nil)
	if s, _ := f.seen(); s.Current {
		t.Errorf("what us has counts as applied in eu: %+v", s)
	}
}

// A word counts until there is another one, be that one that cannot be read.
func TestANewWordTakesThePlaceOfTheLast(t *testing.T) {
	f := newFleet(t, cluster("eu", nil), cluster("us", nil))
	head := f.publish("eu", "new")
	verdict := status.Summary{Commit: head, Verdict: status.Verdict{Reason: status.Applied}}
	f.say("eu", verdict, healthy(head), time.Hour, nil)
	if s, _ := f.seen(); !s.Done {
		t.Fatalf("what is known is %+v", s)
	}
	sick := healthy(head)
	sick.Health.State = karmada.ResourceUnhealthy
	f.say("eu", verdict, sick, time.Minute, nil)
	if s, _ := f.seen(); s.Done {
		t.Error("it is sick by now, and what was said before counts")
	}
	f.say("eu", verdict, healthy(head), time.Minute, nil)
	f.seen()
	f.repo.Write(status.Prefix+"eu", "by hand", twin.Tree{"README": twin.File(nil)}.Folder())
	if s, ok := f.seen(); ok {
		t.Errorf("its word cannot be read, and what is known is %+v", s)
	}
}

// away is a repository that cannot be asked where branches are.
type away struct{ *twin.Repo }

// Heads implements published.Repository.
func (away) Heads(context.Context) (map[string]files.ID, error) {
	return nil, errors.New("connection refused")
}

// While the repository that agents write to is away, what was heard last counts: an old copy stays as long as nobody can say
// that the new one is done, and a new one that was done is no reason to go back.
func TestTheRepositoryOfAgentsIsAway(t *testing.T) {
	agent := newKey(t)
	f := newFleet(t, pulled("eu", agent), cluster("us", nil))
	f.told = twin.New("told")
	head := f.publish("eu", "new")
	f.reader.Agents = away{f.told}
	if s, ok := f.seen(); ok {
		t.Errorf("nobody was heard yet, and what is known is %+v", s)
	}
	f.reader.Agents = f.told
	f.say("eu", status.Summary{Commit: head, Verdict: status.Verdict{Reason: status.Applied}}, healthy(head), 0, &agent)
	f.repo.Write(status.Prefix+"eu", "status", twin.Tree{}.Folder()) // where its agent does not write
	if s, _ := f.seen(); !s.Done {
		t.Fatalf("what is known is %+v", s)
	}
	f.reader.Agents = away{f.told}
	if s, _ := f.seen(); !s.Done {
		t.Errorf("what was heard last does not count: %+v", s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	heads, err := f.repo.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	binding := &karmada.ResourceBinding{Spec: karmada.ResourceBindingSpec{GracefulEvictionTasks: []karmada.GracefulEvictionTask{{FromCluster: "eu"}}}}
	if _, err := f.reader.Evidence(ctx, heads, reports.Moves{
		Bindings: map[object.Ref]*karmada.ResourceBinding{web: binding}, Registered: func() ([]*karmada.Cluster, error) { return f.clusters, nil },
	}); err == nil {
		t.Error("who stops takes that for an answer")
	}
}

// A cluster whose agent's key cannot be read has no word: nobody can say whose it is.
func TestAKeyThatCannotBeRead(t *testing.T) {
	eu := cluster("eu", map[string]string{"waybill.dev/agent-key": "ssh-ed25519 garbage"})
	eu.Spec.SyncMode = karmada.Pull
	f := newFleet(t, eu, cluster("us", nil))
	head := f.publish("eu", "new")
	f.say("eu", status.Summary{Commit: head, Verdict: status.Verdict{Reason: status.Applied}}, healthy(head), 0, nil)
	if s, ok := f.seen(); ok {
		t.Errorf("what is known is %+v", s)
	}
}

// What two read at once at different heads is each told of its own: nothing that one head says is remembered of the other.
func TestWhatIsSeenAtOnce(t *testing.T) {
	f := newFleet(t, cluster("eu", nil))
	commits := []files.ID{f.publish("eu", "old"), f.publish("eu", "new")}
	var heads []map[string]files.ID
	for _, c := range commits {
		f.say("eu", status.Summary{Commit: c, Verdict: status.Verdict{Reason: status.Applied}}, healthy(c), 0, nil)
		at, err := f.repo.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		heads = append(heads, at)
	}
	look := func(n int) bool {
		all, err := f.reader.Seen(t.Context(), heads[n], func() ([]*karmada.Cluster, error) { return f.clusters, nil })
		if err != nil || all["eu"] == nil {
			t.Errorf("what is seen is %v, %v", all, err)
			return false
		}
		said := heads[n][status.Prefix+"eu"].String()[:12]
		is := all["eu"]
		if is.Commit != commits[n] || !strings.HasSuffix(is.Ref, said) {
			t.Errorf("at %s it is %s of %s, want of %s", said, is.Ref, is.Commit, commits[n])
			return false
		}
		return true
	}
	look(0)
	isIn := false
	f.reader.Now = func() time.Time { // the new head is read while who reads the old one looks at the clock
		if !isIn {
			isIn = true
			look(1)
		}
		return noon
	}
	look(0)
	f.reader.Now = func() time.Time { return noon }
	var both sync.WaitGroup
	for n := range heads {
		both.Go(func() {
			for range 10_000 {
				if !look(n) {
					return
				}
			}
		})
	}
	both.Wait()
}
