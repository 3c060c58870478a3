package reconciler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/observation"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// Beaconer is a repository whose refs can be looked at all at once. *git.Repo is one.
type Beaconer interface {
	Repository
	Beacons(ctx context.Context, wanted func(ref string, id files.ID) bool) (git.Beacons, error)
}

// Monitor watches the clusters that are pulled to by what their agents write: it hears heartbeats
// and reads observations from the status repository, with one look for all clusters, and records
// on the state branch what decisions can see. What no agent signed whose key a Cluster has, it
// passes over and says so.
type Monitor struct {
	Reconciler *Reconciler // for nobody else
	// Status is where agents write, at an origin, as scheme://host.
	Status Beaconer
	Origin string
	Log    *slog.Logger
	// Recorded is called when something was recorded.
	Recorded func()
	// Knocks are heartbeats that come by HTTP; nil: none do.
	Knocks <-chan Knock
}

// Knock is a heartbeat that came by HTTP.
type Knock struct {
	Cluster string
	Sealed  []byte
	// Answer is told what became of it. It takes one without waiting.
	Answer chan<- Answer
}

// Answer is what became of a heartbeat that came by HTTP.
type Answer struct {
	Taken bool   `json:"taken"`
	Why   string `json:"why,omitempty"` // it is not
	// Session is what heartbeats have to name, and Last the last sequence number that was heard.
	// Only who signed as the cluster's agent is told them.
	Session string `json:"session,omitempty"`
	Last    uint64 `json:"last,omitempty"`
}

// Run watches until ctx ends. It begins with a session that no other monitor ever had.
func (m *Monitor) Run(ctx context.Context, session string) error {
	w := &ward{Monitor: m, session: session, at: map[string]files.ID{}, told: map[string]*karmada.ClusterStatus{}}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case k := <-m.Knocks:
			k.Answer <- w.knock(k)
			continue
		case <-timer.C:
		}
		times, err := w.turn(ctx)
		if err != nil && ctx.Err() == nil {
			m.Log.WarnContext(ctx, "agents not heard", "err", err)
		}
		timer.Reset(times.Monitor)
	}
}

// ward is what a monitor knows.
type ward struct {
	*Monitor

	session  string
	head     files.ID // of the state branch, as it was read last
	members  map[string]*member
	recorded map[string]*karmada.ClusterStatus
	book     heartbeat.Book
	at       map[string]files.ID               // where refs were that were read, by their full names
	told     map[string]*karmada.ClusterStatus // by agents
	last     time.Time                         // when nothing but room was recorded
	refused  string                            // what was said of too many clusters last
}

// member is a cluster that is pulled to and whose agent has a key.
type member struct {
	id  string // may be empty
	key signing.Public
}

// turn looks once.
func (w *ward) turn(ctx context.Context) (heartbeat.Times, error) {
	times := heartbeat.Usual
	if err := w.read(ctx); err != nil {
		return times, err
	}
	times, err := heartbeat.ByGit(w.Origin, len(w.members))
	if refused := text(err); refused != w.refused {
		if w.refused = refused; refused != "" {
			w.Log.ErrorContext(ctx, "heartbeats by Git are not heard", "err", err)
		}
	}
	beacons, lookErr := w.Status.Beacons(ctx, func(ref string, id files.ID) bool {
		return err == nil && w.isBeat(ref) && w.at[ref] != id
	})
	if lookErr != nil {
		return times, lookErr //nolint:wrapcheck // it says what
	}
	now := w.Reconciler.Now()
	w.book.Looked(times, now)
	w.hear(&beacons, now)
	if err := w.listen(ctx, beacons.Refs); err != nil {
		return times, err
	}
	return times, w.record(ctx, times, now)
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// read reads which clusters there are, and what is recorded of them, if that is not known. Whoever
// publishes asks where the state branch is.
func (w *ward) read(ctx context.Context) error {
	target := w.Reconciler.Target
	if err := target.Fetch(ctx, state.Branch); err != nil {
		return err //nolint:wrapcheck // it names the branch
	}
	head, ok, err := target.Branch(ctx, state.Branch)
	if err != nil || !ok || head.Commit == w.head {
		return err //nolint:wrapcheck // it names the branch
	}
	registered, err := state.Clusters(head.Tree)
	if err != nil {
		return err //nolint:wrapcheck // it names the file
	}
	w.members, w.recorded, w.head = w.membersOf(registered), state.Observed(head.Tree), head.Commit
	w.book.Forget(func(cluster string) bool { return w.members[cluster] != nil })
	for name := range w.members {
		if s := w.recorded[name]; s != nil && meta.FindStatusCondition(s.Conditions, observation.ConditionHeartbeat) != nil {
			w.book.Expect(name, w.Reconciler.Now())
		}
	}
	return nil
}

// membersOf returns the clusters whose agents have keys. One whose key is another one now is read
// anew.
func (w *ward) membersOf(registered []*karmada.Cluster) map[string]*member {
	members := map[string]*member{}
	for _, c := range registered {
		key, err := AgentKey(c)
		switch {
		case err != nil:
			w.Log.Warn("agent not heard", "cluster", c.Name, "err", err)
		case key != nil:
			members[c.Name] = &member{id: c.Spec.ID, key: *key}
			if was := w.members[c.Name]; was != nil && was.key.String() != key.String() {
				maps.DeleteFunc(w.at, func(ref string, _ files.ID) bool { return strings.HasSuffix(ref, "/"+c.Name) })
				delete(w.told, c.Name)
			}
		}
	}
	return members
}

// AgentKey returns the key of a cluster's agent; nil for a cluster that is not pulled to, or whose
// agent has none.
func AgentKey(c *karmada.Cluster) (*signing.Public, error) {
	text := c.Annotations[heartbeat.AgentKey]
	if c.Spec.SyncMode != karmada.Pull || text == "" {
		return nil, nil
	}
	key, err := signing.ParsePublic(text)
	if err != nil {
		return nil, fmt.Errorf("the annotation %s of the Cluster %s: %w", heartbeat.AgentKey, c.Name, err)
	}
	return &key, nil
}

// isBeat reports a ref at which a heartbeat of a member may be.
func (w *ward) isBeat(ref string) bool { return w.members[beating(ref)] != nil }

// beating is the cluster whose heartbeats are at a ref; empty for none.
func beating(ref string) string {
	for _, prefix := range []string{heartbeat.Refs, heartbeat.Branches} {
		if cluster, ok := strings.CutPrefix(ref, prefix); ok {
			return cluster
		}
	}
	return ""
}

// hear hears the heartbeats that moved.
func (w *ward) hear(b *git.Beacons, now time.Time) {
	for ref, id := range b.Refs {
		beacon, isRead := b.Read[id]
		if !isRead || !w.isBeat(ref) || w.at[ref] == id {
			continue
		}
		w.at[ref] = id
		cluster := beating(ref)
		m := w.members[cluster]
		beat, err := heartbeat.Beat{}, m.key.Verify(signing.Git, beacon.Signed, beacon.Signature)
		if err == nil {
			beat, err = heartbeat.Parse(beacon.Message)
		}
		if err == nil {
			err = w.book.Hear(cluster, m.id, beat, now)
		}
		if err != nil {
			w.Log.Warn("heartbeat ignored", "cluster", cluster, "ref", ref, "commit", id.String(), "err", err)
		}
	}
}

// knock hears a heartbeat that came by HTTP.
func (w *ward) knock(k Knock) Answer {
	m := w.members[k.Cluster]
	if m == nil {
		return Answer{Why: "no cluster of this name is pulled to by an agent with a key"}
	}
	beat, err := heartbeat.Open(k.Sealed, m.key)
	if err != nil {
		w.Log.Warn("heartbeat ignored", "cluster", k.Cluster, "by", "http", "err", err)
		return Answer{Why: err.Error()}
	}
	a := Answer{Session: w.session, Last: w.book.Last(k.Cluster).Sequence}
	if beat.Session != w.session {
		a.Why = "it does not name this session"
		return a
	}
	if err := w.book.Hear(k.Cluster, m.id, beat, w.Reconciler.Now()); err != nil {
		w.Log.Warn("heartbeat ignored", "cluster", k.Cluster, "by", "http", "err", err)
		a.Why = err.Error()
		return a
	}
	a.Taken, a.Last = true, beat.Sequence
	return a
}

// listen reads the observations that moved.
func (w *ward) listen(ctx context.Context, refs map[string]files.ID) error {
	const heads = "refs/heads/"
	var moved []string // clusters
	var branches []string
	for name := range w.members {
		branch := observation.Prefix + name
		if id := refs[heads+branch]; !id.IsZero() && id != w.at[heads+branch] {
			moved, branches = append(moved, name), append(branches, branch)
		}
	}
	if len(moved) == 0 {
		return nil
	}
	if err := w.Status.Fetch(ctx, branches...); err != nil {
		return err //nolint:wrapcheck // it names the branches
	}
	for i, name := range moved {
		id := refs[heads+branches[i]]
		head, err := w.Status.Commit(ctx, id)
		if err != nil {
			return err //nolint:wrapcheck // it names the commit
		}
		w.at[heads+branches[i]] = id
		if err := w.members[name].key.Verify(signing.Git, head.Signed, head.Signature); err != nil {
			w.Log.WarnContext(ctx, "observation ignored", "cluster", name, "commit", id.String(), "err", err)
			continue
		}
		w.told[name] = state.Observed(head.Tree)[name]
	}
	return nil
}

// record records what decisions can see, if it is not recorded.
func (w *ward) record(ctx context.Context, times heartbeat.Times, now time.Time) error {
	if len(w.changes(w.recorded, times, now).statuses) == 0 {
		return nil
	}
	var done changes
	recorded, err := w.Reconciler.Record(ctx, func(recorded map[string]*karmada.ClusterStatus, registered []*karmada.Cluster) (map[string]*karmada.ClusterStatus, string) {
		if recorded == nil {
			recorded = map[string]*karmada.ClusterStatus{}
		}
		w.members = w.membersOf(registered)
		done = w.changes(recorded, times, now)
		return done.statuses, done.why
	})
	if err != nil {
		_, lookErr := w.Reconciler.Target.Heads(ctx) // somebody else may have moved it
		return errors.Join(err, lookErr)
	}
	w.recorded = recorded
	if len(done.statuses) > 0 {
		if !done.soon {
			w.last = now
		}
		w.Log.InfoContext(ctx, "observation recorded", "clusters", slices.Sorted(maps.Keys(done.statuses)), "changed", done.why)
		w.Recorded()
	}
	return nil
}

// changes holds what agents told, and whether they beat, against what is recorded.
func (w *ward) changes(recorded map[string]*karmada.ClusterStatus, times heartbeat.Times, now time.Time) changes {
	c := changes{statuses: map[string]*karmada.ClusterStatus{}}
	var why []string
	for _, name := range slices.Sorted(maps.Keys(w.members)) {
		of := times
		if w.book.Last(name).Session != "" {
			of = heartbeat.Usual // it comes by HTTP
		}
		if w.book.Waits(name, of, now) {
			continue
		}
		next, change := observation.Reported(recorded[name], w.told[name], w.book.Judge(name, of, now), now)
		if len(change.Words) > 0 && (change.Soon || now.Sub(w.last) >= roomPause) {
			c.statuses[name], c.soon = next, c.soon || change.Soon
			why = append(why, name+": "+strings.Join(change.Words, ", "))
		}
	}
	c.why = strings.Join(why, "\n")
	return c
}
