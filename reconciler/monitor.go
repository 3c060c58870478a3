package reconciler

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/heartbeat/receive"
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
	// Receiver takes heartbeats, those by HTTP while Run runs.
	Receiver *receive.Receiver
}

// Run watches until ctx ends. It begins with a session that no other monitor ever had.
func (m *Monitor) Run(ctx context.Context, session string) error {
	m.Receiver.Begin(session)
	defer m.Receiver.End()
	w := &ward{Monitor: m, at: map[string]files.ID{}, told: map[string]*observation.Told{}}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
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

	head     files.ID                 // of the state branch, as it was read last
	agents   map[string]receive.Agent // of the clusters that are pulled to, which have a key
	recorded map[string]*karmada.ClusterStatus
	at       map[string]files.ID          // where refs were that were read, by their full names
	told     map[string]*observation.Told // by cluster
	last     time.Time                    // when nothing but room was recorded
	refused  string                       // what was said of too many clusters last
}

// turn looks once.
func (w *ward) turn(ctx context.Context) (heartbeat.Times, error) {
	times := heartbeat.Usual
	if err := w.read(ctx); err != nil {
		return times, err
	}
	times, err := heartbeat.ByGit(w.Origin, len(w.agents))
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
	w.Receiver.Look(times, now)
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
	w.recorded, w.head = state.Observed(head.Tree), head.Commit
	w.serve(registered)
	return nil
}

// serve goes by which clusters are registered. What one told whose agent has another key now is read anew.
func (w *ward) serve(registered []*karmada.Cluster) {
	w.agents = map[string]receive.Agent{}
	for _, c := range registered {
		key, err := AgentKey(c)
		switch {
		case err != nil:
			w.Log.Warn("agent not heard", "cluster", c.Name, "err", err)
		case key != nil:
			w.agents[c.Name] = receive.Agent{ID: c.Spec.ID, Key: *key}
			if fingerprint := key.Fingerprint(); w.told[c.Name] == nil || w.told[c.Name].Key() != fingerprint {
				maps.DeleteFunc(w.at, func(ref string, _ files.ID) bool { return strings.HasSuffix(ref, "/"+c.Name) })
				w.told[c.Name] = observation.NewTold(fingerprint, w.recorded[c.Name])
			}
		}
	}
	now := w.Reconciler.Now()
	w.Receiver.Agents(w.agents, now)
	w.Receiver.Read(func(book *heartbeat.Book) {
		for name := range w.agents {
			if s := w.recorded[name]; s != nil && meta.FindStatusCondition(s.Conditions, observation.ConditionHeartbeat) != nil {
				book.Expect(name, observation.Heard(s, w.told[name].Key()), now)
			}
		}
	})
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

// isBeat reports a ref at which a heartbeat of an agent may be.
func (w *ward) isBeat(ref string) bool {
	_, is := w.agents[beating(ref)]
	return is
}

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
		agent := w.agents[cluster]
		beat, err := heartbeat.Beat{}, agent.Key.Verify(signing.Git, beacon.Signed, beacon.Signature)
		if err == nil {
			beat, err = heartbeat.Parse(beacon.Message)
		}
		if err == nil {
			w.Receiver.Read(func(book *heartbeat.Book) { err = book.Hear(cluster, agent.ID, beat, now) })
		}
		if err != nil {
			w.Log.Warn("heartbeat ignored", "cluster", cluster, "ref", ref, "commit", id.String(), "err", err)
		}
	}
}

// listen reads the observations that moved. What is wrong with one is said once, and keeps no other from
// being read.
func (w *ward) listen(ctx context.Context, refs map[string]files.ID) error {
	const heads = "refs/heads/"
	moved := map[string]string{} // branches, by cluster
	for name := range w.agents {
		branch := observation.Prefix + name
		if id := refs[heads+branch]; !id.IsZero() && id != w.at[heads+branch] {
			moved[name] = branch
		}
	}
	if len(moved) == 0 {
		return nil
	}
	refused, err := fetchEach(ctx, w.Status, moved)
	if err != nil {
		return err
	}
	for name, branch := range moved {
		id, err := refs[heads+branch], refused[name]
		if err == nil {
			err = w.take(ctx, name, id)
		}
		if ctx.Err() != nil {
			return ctx.Err() //nolint:wrapcheck // the caller knows
		}
		w.at[heads+branch] = id
		if err != nil {
			w.Log.WarnContext(ctx, "observation ignored", "cluster", name, "commit", id.String(), "err", err)
			w.told[name].Refuse(fmt.Errorf("commit %.12s: %w", id.String(), err))
		}
	}
	return nil
}

// take takes a commit of what the agent of a cluster observes.
func (w *ward) take(ctx context.Context, name string, id files.ID) error {
	key := w.agents[name].Key
	head, err := SignedBy(ctx, w.Status, id, &key)
	if err != nil {
		return err
	}
	observed, err := state.ObservedOf(head.Tree, name, observation.MostTold)
	if err != nil {
		return err //nolint:wrapcheck // it names the file
	}
	sequence, err := observation.SequenceOf(head.Message)
	if err != nil {
		return err //nolint:wrapcheck // it says what
	}
	return w.told[name].Take(observed, sequence, w.Reconciler.Now()) //nolint:wrapcheck // it says what
}
