package agent_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/agent"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/replicas"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
	"github.com/waybill-dev/waybill/test/apiserver"
	"github.com/waybill-dev/waybill/test/twin"
)

const (
	settings = "/api/v1/namespaces/shop/configmaps/settings"
	lease    = "/apis/coordination.k8s.io/v1/namespaces/waybill-system/leases/agent"
)

// heart is where heartbeats go.
type heart struct {
	mu    sync.Mutex
	beats []heartbeat.Beat
	last  uint64       // of a beat of another agent
	fleet int          // how many clusters have agents, as it was told last
	fails func() error // nil: no beat does
	// silent is why nobody says which beat was the last, and unknown why nobody says how often.
	silent, unknown error
}

// Last implements agent.Heart.
func (h *heart) Last(context.Context, []string) (uint64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := h.last
	for _, b := range h.beats {
		last = max(last, b.Sequence) // it hears its own, too
	}
	return last, h.silent
}

// Beat implements agent.Heart.
func (h *heart) Beat(_ context.Context, beats []heartbeat.Beat) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.beats = append(h.beats, beats...)
	if h.fails != nil {
		return h.fails()
	}
	return nil
}

// Times implements agent.Heart.
func (h *heart) Times(clusters int) (heartbeat.Times, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fleet = clusters
	t := heartbeat.Usual
	t.Renew = 20 * time.Millisecond
	return t, h.unknown
}

// all are the beats until now.
func (h *heart) all() []heartbeat.Beat {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.beats)
}

// from are those of an agent.
func (h *heart) from(replica string) int {
	n := 0
	for _, b := range h.all() {
		if b.Agent == replica {
			n++
		}
	}
	return n
}

// site is what is published for clusters, and an API server that all of them are on.
type site struct {
	*testing.T

	server           *apiserver.Server
	source           *twin.Repo
	branches, status string // repositories
	key              signing.Key
	heart            *heart
	away             atomic.Bool // nobody can renew a Lease
}

func newSite(t *testing.T) *site {
	t.Helper()
	key, _, err := signing.NewKey(rand.Reader, "agent")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, server: apiserver.New(t, "waybill-system", "shop"), source: twin.New("source"), branches: t.TempDir(), status: t.TempDir(), key: key, heart: &heart{}}
	s.server.Before(func(r *http.Request) int {
		if s.away.Load() && strings.Contains(r.URL.Path, "/leases/") {
			return http.StatusInternalServerError
		}
		return 0
	})
	s.git(s.branches, "init", "-q", "--bare", ".")
	s.git(s.status, "init", "-q", "--bare", ".")
	return s
}

func (s *site) git(dir string, args ...string) string {
	s.Helper()
	out, err := exec.CommandContext(s.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		s.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// tip is the commit at a ref.
func (s *site) tip(dir, ref string) files.ID {
	s.Helper()
	id, err := files.ParseID(s.git(dir, "rev-parse", ref))
	if err != nil {
		s.Fatal(err)
	}
	return id
}

func (s *site) open(location string, sign git.Signer) *git.Repo {
	s.Helper()
	repo, err := git.Open(s.Context(), git.Options{Location: location, Sign: sign})
	if err != nil {
		s.Fatal(err)
	}
	return repo
}

// publish publishes clusters by their syncModes, as "Pull", or "Pull on eu" for a virtual one, all of which are to have a ConfigMap with a value.
func (s *site) publish(value string, modes map[string]string) {
	s.Helper()
	source := twin.Tree{
		"settings.yaml": twin.File(fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {k: %s}\n", value)),
		"policy.yaml":   twin.File([]byte("apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: shop}\nspec:\n  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]\n  placement: {}\n")),
	}
	for name, mode := range modes {
		mode, host, isVirtual := strings.Cut(mode, " on ")
		annotations := fmt.Sprintf("waybill.dev/agent-key: %q", s.key.Public().String())
		if isVirtual {
			annotations += ", waybill.dev/virtual-of: " + host
		}
		source[name+".yaml"] = twin.File(fmt.Appendf(nil, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: %s, annotations: {%s}}\nspec: {syncMode: %s}\n", name, annotations, mode))
	}
	s.source.Write("main", "next", source.Folder())
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: s.source, Target: s.open(s.branches, nil), Version: "test", Now: time.Now}
	if _, err := r.Publish(s.Context(), "main"); err != nil {
		s.Fatal(err)
	}
}

// messages are the lines of a log.
type messages struct {
	slog.Handler

	mu  sync.Mutex
	all []string
}

// Enabled implements slog.Handler.
func (*messages) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (m *messages) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += " " + a.String()
		return true
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, line)
	return nil
}

func (m *messages) has(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.all, func(line string) bool { return strings.Contains(line, text) })
}

// count is how many lines have a text.
func (m *messages) count(text string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, line := range m.all {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// running is an agent that runs.
type running struct {
	said  *messages
	stop  context.CancelFunc
	ended chan error
}

// run has an agent of clusters run until the test ends, unless it is stopped.
func (s *site) run(replica string, of ...string) *running {
	s.Helper()
	return s.runAs(replica, func(*agent.Agent) {}, of...)
}

// runAs is run with an agent that is changed before.
func (s *site) runAs(replica string, change func(*agent.Agent), of ...string) *running {
	s.Helper()
	c, err := coordination.NewForConfig(s.server.Reach())
	if err != nil {
		s.Fatal(err)
	}
	r := &running{said: &messages{Handler: slog.DiscardHandler}, ended: make(chan error, 1)}
	public := s.key.Public()
	log := slog.New(r.said)
	a := &agent.Agent{
		Clusters: of, Status: s.open(s.status, s.key.SignCommit), Key: &public, Heart: s.heart, Interval: 20 * time.Millisecond, Resync: time.Hour, Log: log,
		Random: func() float64 { return 0 }, Applied: func(applier.Result) {}, Looked: func(error) {},
		Election: replicas.Election{
			Leases: c, Namespace: "waybill-system", Name: "agent", Replica: replica, Log: log, Tell: func(bool) {},
			Times: replicas.Times{Lease: 3 * time.Second, Renew: time.Second, Retry: 50 * time.Millisecond},
		},
		Applier: applier.Applier{
			Published: &published.Reader{Branches: published.At(s.open(s.branches, nil))}, Now: time.Now,
			Access: clusters.Access{Folder: s.server.Kubeconfigs(s, of...)},
		},
	}
	change(a)
	ctx, stop := context.WithCancel(s.Context())
	r.stop = stop
	go func() { r.ended <- a.Run(ctx) }()
	s.Cleanup(func() { r.end(s.T) })
	return r
}

// end stops an agent, and waits for its end.
func (r *running) end(t *testing.T) {
	t.Helper()
	r.stop()
	select {
	case err := <-r.ended:
		if err != nil {
			t.Error(err)
		}
		r.ended <- nil // for whoever asks again
	case <-time.NewTimer(soon).C:
		t.Error("the agent does not end")
	}
}

// soon is how long a test waits for what comes at once.
const soon = 20 * time.Second

// until waits until something is so.
func (s *site) until(what string, is func() bool) {
	s.Helper()
	for end := time.Now().Add(soon); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("%s did not come about", what)
		}
	}
}

// has is the value that the cluster has.
func (s *site) has() string {
	data, _ := s.server.Get(settings)["data"].(apiserver.Object)
	value, _ := data["k"].(string)
	return value
}

// touched lists what was written to the cluster besides Leases.
func (s *site) touched() []string {
	return slices.DeleteFunc(s.server.Writes(), func(w string) bool { return strings.Contains(w, "/leases") })
}

// TestAnAgentServesItsCluster: it applies what is published, says so, and beats; and goes on with what is published next.
func TestAnAgentServesItsCluster(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish("one", map[string]string{"eu": "Pull"})
	s.run("agent-0", "eu")
	s.until("the first value", func() bool { return s.has() == "one" })
	s.until("a beat", func() bool { return len(s.heart.all()) > 2 })
	before := uint64(0)
	for _, b := range s.heart.all() {
		if b.Cluster != "eu" || b.UID != apiserver.UID || b.Agent != "agent-0" || b.Sequence <= before {
			t.Errorf("after %d a beat is %+v", before, b)
		}
		before = b.Sequence
	}
	s.publish("two", map[string]string{"eu": "Pull", "us": "Pull"})
	s.until("the second value", func() bool { return s.has() == "two" })
	s.until("a status", func() bool { return s.git(s.status, "for-each-ref", "refs/heads/waybill/status/eu") != "" })
	s.heart.mu.Lock()
	defer s.heart.mu.Unlock()
	if s.heart.fleet != 2 {
		t.Errorf("it beats as in a fleet of %d", s.heart.fleet)
	}
}

// TestAnAgentTellsWhatItSees of its cluster, in the name of the key that the Cluster has.
func TestAnAgentTellsWhatItSees(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.server.Before(func(r *http.Request) int {
		if r.URL.Path == "/readyz" {
			return http.StatusServiceUnavailable // this is seen at once
		}
		return 0
	})
	s.publish("one", map[string]string{"eu": "Pull"})
	s.run("agent-0", "eu")
	const ref = "refs/heads/waybill/observed/eu"
	s.until("what is observed", func() bool { return s.git(s.status, "for-each-ref", ref) != "" })
	public := s.key.Public()
	head, err := published.SignedBy(t.Context(), s.open(s.status, nil), s.tip(s.status, ref), &public)
	if err != nil {
		t.Fatal(err)
	}
	if is := state.Observed(head.Tree)["eu"]; is == nil || !meta.IsStatusConditionFalse(is.Conditions, karmada.ConditionReady) {
		t.Errorf("of a cluster that is not ready it tells %+v", is)
	}
}

// TestAnAgentThatTellsNobody applies all the same, and nothing is written but to its cluster.
func TestAnAgentThatTellsNobody(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish("one", map[string]string{"eu": "Pull"})
	s.runAs("agent-0", func(a *agent.Agent) { a.Status, a.Key, a.Heart = nil, nil, nil }, "eu")
	s.until("the first value", func() bool { return s.has() == "one" })
	s.publish("two", map[string]string{"eu": "Pull"})
	s.until("the second value", func() bool { return s.has() == "two" })
	if refs := s.git(s.status, "for-each-ref"); refs != "" || len(s.heart.all()) > 0 {
		t.Errorf("it writes %s, and sends %d beats", refs, len(s.heart.all()))
	}
}

// TestABeatThatIsNotHeard is said once, however often it is tried, and so it is when they are heard again. Without the last sequence number,
// or without how often, none is sent.
func TestABeatThatIsNotHeard(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.heart.unknown = errors.New("too many clusters")
	s.publish("one", map[string]string{"eu": "Pull"})
	a := s.run("agent-0", "eu")
	change := func(to func(h *heart)) {
		s.heart.mu.Lock()
		defer s.heart.mu.Unlock()
		to(s.heart)
	}
	stays := func(what string, sent bool) {
		t.Helper()
		s.until(what, func() bool { return a.said.has(what) })
		before := len(s.heart.all())
		time.Sleep(150 * time.Millisecond)
		if is := len(s.heart.all()) > before; is != sent || a.said.count(what) != 1 {
			t.Errorf("%s: beats are sent: %t; it is said %d times", what, is, a.said.count(what))
		}
	}
	stays("too many clusters", false)
	change(func(h *heart) { h.unknown, h.silent = nil, errors.New("nobody knows") })
	stays("nobody knows", false)
	change(func(h *heart) { h.silent, h.fails = nil, func() error { return errors.New("refused for now") } })
	stays("refused for now", true)
	change(func(h *heart) { h.fails = nil })
	stays("heartbeats are heard again", true)
}

// TestAnAgentLeavesAClusterToWhoPushes: nothing is written there, and no beat of it is sent, until it is pulled to.
func TestAnAgentLeavesAClusterToWhoPushes(t *testing.T) {
	t.Parallel()
	for name, modes := range map[string]map[string]string{"pushed to": {"eu": "Push"}, "not registered": {"us": "Pull"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.publish("one", modes)
			a := s.run("agent-0", "eu")
			s.until("a look", func() bool { return a.said.has("nothing is applied") || len(s.touched()) > 0 })
			time.Sleep(100 * time.Millisecond) // a beat may be on its way
			beats := len(s.heart.all())
			time.Sleep(200 * time.Millisecond)
			if wrote := s.touched(); len(wrote) > 0 || len(s.heart.all()) > beats {
				t.Errorf("it writes %v, and sends %d beats", wrote, len(s.heart.all())-beats)
			}
			s.publish("one", map[string]string{"eu": "Pull"})
			s.until("the value", func() bool { return s.has() == "one" })
			s.until("beats", func() bool { return len(s.heart.all()) > beats })
		})
	}
}

// TestAnAgentLeavesAClusterThatIsPushedToFromNowOn: what somebody changes there is not put right by it any more.
func TestAnAgentLeavesAClusterThatIsPushedToFromNowOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish("one", map[string]string{"eu": "Pull"})
	a := s.run("agent-0", "eu")
	s.until("the value", func() bool { return s.has() == "one" })
	edit := func() {
		o := s.server.Get(settings)
		o["data"] = apiserver.Object{"k": "edited"}
		o["metadata"].(apiserver.Object)["managedFields"] = nil
		s.server.Put(settings, o)
	}
	edit()
	s.until("the value again", func() bool { return s.has() == "one" })
	s.publish("one", map[string]string{"eu": "Push"})
	s.until("a look", func() bool { return a.said.has("nothing is applied") })
	time.Sleep(300 * time.Millisecond) // a round may be under way
	edit()
	time.Sleep(1500 * time.Millisecond)
	if s.has() != "edited" {
		t.Errorf("the agent puts %q there", s.has())
	}
}

// TestOneOfTwoAgentsWorks: the other one goes on when it ends.
func TestOneOfTwoAgentsWorks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish("one", map[string]string{"eu": "Pull"})
	first := s.run("first", "eu")
	s.until("the value", func() bool { return s.has() == "one" && s.heart.from("first") > 0 })
	second := s.run("second", "eu")
	s.until("a look at the Lease", func() bool { return second.said.has("standing by") })
	if n := s.heart.from("second"); n > 0 {
		t.Errorf("the second one sends %d beats", n)
	}
	first.end(t)
	s.publish("two", map[string]string{"eu": "Pull"})
	s.until("the next value", func() bool { return s.has() == "two" && s.heart.from("second") > 0 })
}

// TestAnAgentLooksWhenItIsWoken, and tells of each look and each round.
func TestAnAgentLooksWhenItIsWoken(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish("one", map[string]string{"eu": "Pull"})
	wake := make(chan struct{})
	var looks, failures, rounds atomic.Int64
	s.runAs("agent-0", func(a *agent.Agent) {
		a.Interval, a.Wake = time.Hour, wake
		a.Looked = func(err error) {
			looks.Add(1)
			if err != nil {
				failures.Add(1)
			}
		}
		a.Applied = func(r applier.Result) {
			if r.Cluster == "eu" && r.Err == nil {
				rounds.Add(1)
			}
		}
	}, "eu")
	s.until("the first value", func() bool { return s.has() == "one" && rounds.Load() > 0 })
	s.publish("two", map[string]string{"eu": "Pull"})
	time.Sleep(200 * time.Millisecond)
	if before := looks.Load(); s.has() != "one" || failures.Load() > 0 {
		t.Errorf("it has %q after %d looks, though nobody woke it; %d failed", s.has(), before, failures.Load())
	}
	select {
	case wake <- struct{}{}:
	case <-time.After(soon):
		t.Fatal("nobody can wake it")
	}
	s.until("the second value", func() bool { return s.has() == "two" && rounds.Load() > 1 })
}

// TestABeatThatIsBehindIsFollowedByOneAbove: somebody heard a higher one before.
func TestABeatThatIsBehindIsFollowedByOneAbove(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	above := uint64(time.Now().Add(time.Hour).UnixMilli())
	behind := true
	s.heart.fails = func() error {
		if !behind {
			return nil
		}
		behind = false
		return &agent.BehindError{Last: above}
	}
	s.publish("one", map[string]string{"eu": "Pull"})
	s.run("agent-0", "eu")
	s.until("the next beats", func() bool { return len(s.heart.all()) > 2 })
	if all := s.heart.all(); all[0].Sequence > above || all[1].Sequence != above+1 || all[2].Sequence != above+2 {
		t.Errorf("after %d the beats are %+v", above, all[:3])
	}
}

// TestAnAgentWithoutTheLeaseGivesWayToWhoIsHeard: its API server does not let it renew, and another agent beats.
func TestAnAgentWithoutTheLeaseGivesWayToWhoIsHeard(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish("one", map[string]string{"eu": "Pull"})
	a := s.run("agent-0", "eu")
	s.until("the value", func() bool { return s.has() == "one" && len(s.heart.all()) > 0 })
	s.away.Store(true)
	s.until("the loss of the Lease", func() bool { return a.said.has("cannot be renewed") })
	beats := len(s.heart.all())
	s.until("more beats", func() bool { return len(s.heart.all()) > beats }) // for nobody else is heard
	s.heart.mu.Lock()
	s.heart.last = 1 << 62
	s.heart.mu.Unlock()
	s.until("the end", func() bool { return a.said.has("another agent of the cluster is heard") })
	beats = len(s.heart.all())
	s.publish("two", map[string]string{"eu": "Pull"})
	time.Sleep(300 * time.Millisecond)
	if len(s.heart.all()) > beats || s.has() != "one" {
		t.Errorf("it sends %d beats more, and applies %q", len(s.heart.all())-beats, s.has())
	}
	s.away.Store(false)
	s.until("the next value", func() bool { return s.has() == "two" })
}

// TestAnAgentGoesOnFromTheLastBeatThatIsKnown: an agent whose clock is behind that of the one before is heard from the first beat on.
func TestAnAgentGoesOnFromTheLastBeatThatIsKnown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.heart.last = uint64(time.Now().Add(time.Hour).UnixMilli())
	s.publish("one", map[string]string{"eu": "Pull"})
	s.run("agent-0", "eu")
	s.until("beats", func() bool { return len(s.heart.all()) > 1 })
	if first := s.heart.all()[0]; first.Sequence != s.heart.last+1 {
		t.Errorf("after %d the first beat is %+v", s.heart.last, first)
	}
}

// TestAnAgentServesClustersOfOneServer: it knows one API server, so that a cluster that is on another one than the first that it
// serves has nothing applied, and no beat.
func TestAnAgentServesClustersOfOneServer(t *testing.T) {
	t.Parallel()
	modes := map[string]string{"eu": "Pull", "eu-a": "Pull on eu", "us": "Pull"}
	for _, tt := range []struct{ of, beat []string }{
		{[]string{"eu", "eu-a", "us"}, []string{"eu", "eu-a"}},
		{[]string{"eu-a", "us", "eu"}, []string{"eu", "eu-a"}},
		{[]string{"us", "eu-a", "eu"}, []string{"us"}},
	} {
		t.Run(strings.Join(tt.of, " "), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.publish("one", modes)
			a := s.run("agent-0", tt.of...)
			s.until("a look", func() bool { return a.said.has("is not on the API server of the others") })
			before := len(s.heart.all())
			s.until("beats", func() bool { return len(s.heart.all()) > before+6 })
			beat := map[string]bool{}
			for _, b := range s.heart.all()[before+3:] { // those before may have been on their way
				beat[b.Cluster] = true
			}
			if got := slices.Sorted(maps.Keys(beat)); !slices.Equal(got, tt.beat) {
				t.Errorf("beats are of %q, want %q", got, tt.beat)
			}
		})
	}
}
