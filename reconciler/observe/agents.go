package observe

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
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// RefReader is a repository whose refs can be looked at all at once. *git.Repo is one.
type RefReader interface {
	published.Repository
	RemoteRefs(ctx context.Context, wanted func(ref string, id files.ID) bool) (git.RemoteRefs, error)
}

// Agents watches the clusters that are pulled to by what their agents write: it hears heartbeats
// and reads observations from the status repository, with one look for all clusters, and records
// on the state branch what decisions can see. What no agent signed whose key a Cluster has, it
// passes over and says so.
type Agents struct {
	Recorder Recorder // for nobody else
	// Status is where agents write, at an origin, as scheme://host.
	Status RefReader
	Origin string
	Log    *slog.Logger
	// Recorded is called when something was recorded.
	Recorded func()
	// Receiver takes heartbeats, those by HTTP while Run runs.
	Receiver *receive.Receiver
}

// Run watches until ctx ends. It begins with a session that no other one ever had.
func (a *Agents) Run(ctx context.Context, session string) error {
	a.Receiver.Begin(session)
	defer a.Receiver.End()
	l := &listener{Agents: a, at: map[string]files.ID{}, told: map[string]*observation.Told{}}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		times, err := l.turn(ctx)
		if err != nil && ctx.Err() == nil {
			a.Log.WarnContext(ctx, "agents not heard", "err", err)
		}
		timer.Reset(times.Monitor)
	}
}

// listener is one that runs, and what it knows.
type listener struct {
	*Agents

	head     files.ID                 // of the state branch, as it was read last
	agents   map[string]receive.Agent // of the clusters that are pulled to, which have a key
	recorded map[string]*karmada.ClusterStatus
	at       map[string]files.ID          // where refs were that were read, by their full names
	told     map[string]*observation.Told // by cluster
	last     time.Time                    // when nothing but room was recorded
	refused  string                       // what was said of too many clusters last
}

// turn looks once.
func (l *listener) turn(ctx context.Context) (heartbeat.Times, error) {
	times := heartbeat.Usual
	if err := l.read(ctx); err != nil {
		return times, err
	}
	times, err := heartbeat.ByGit(l.Origin, len(l.agents))
	if refused := text(err); refused != l.refused {
		if l.refused = refused; refused != "" {
			l.Log.ErrorContext(ctx, "heartbeats by Git are not heard", "err", err)
		}
	}
	remote, lookErr := l.Status.RemoteRefs(ctx, func(ref string, id files.ID) bool {
		return err == nil && l.isBeat(ref) && l.at[ref] != id
	})
	if lookErr != nil {
		return times, lookErr
	}
	now := l.Recorder.Now()
	l.Receiver.Look(times, now)
	l.hear(&remote, now)
	if err := l.listen(ctx, remote.Refs); err != nil {
		return times, err
	}
	return times, l.record(ctx, times, now)
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// read reads which clusters there are, and what is recorded of them, if that is not known. Whoever
// publishes asks where the state branch is.
func (l *listener) read(ctx context.Context) error {
	target := l.Recorder.Target
	if err := target.Fetch(ctx, state.Branch); err != nil {
		return err
	}
	head, ok, err := target.Branch(ctx, state.Branch)
	if err != nil || !ok || head.Commit == l.head {
		return err
	}
	registered, err := state.Clusters(head.Tree)
	if err != nil {
		return err
	}
	l.recorded, l.head = state.Observed(head.Tree), head.Commit
	l.serve(registered)
	return nil
}

// serve goes by which clusters are registered. What one told whose agent has another key now is read anew.
func (l *listener) serve(registered []*karmada.Cluster) {
	l.agents = map[string]receive.Agent{}
	for _, c := range registered {
		key, err := heartbeat.KeyOf(c)
		switch {
		case err != nil:
			l.Log.Warn("agent not heard", "cluster", c.Name, "err", err)
		case key != nil:
			l.agents[c.Name] = receive.Agent{ID: c.Spec.ID, Key: *key}
			if fingerprint := key.Fingerprint(); l.told[c.Name] == nil || l.told[c.Name].Key() != fingerprint {
				maps.DeleteFunc(l.at, func(ref string, _ files.ID) bool { return strings.HasSuffix(ref, "/"+c.Name) })
				l.told[c.Name] = observation.NewTold(fingerprint, l.recorded[c.Name])
			}
		}
	}
	now := l.Recorder.Now()
	l.Receiver.Agents(l.agents, now)
	l.Receiver.Read(func(book *heartbeat.Book) {
		for name := range l.agents {
			if s := l.recorded[name]; s != nil && meta.FindStatusCondition(s.Conditions, observation.ConditionHeartbeat) != nil {
				book.Expect(name, observation.Heard(s, l.told[name].Key()), now)
			}
		}
	})
}

// isBeat reports a ref at which a heartbeat of an agent may be.
func (l *listener) isBeat(ref string) bool {
	_, is := l.agents[beating(ref)]
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
func (l *listener) hear(b *git.RemoteRefs, now time.Time) {
	for ref, id := range b.Refs {
		is, isRead := b.Read[id]
		if !isRead || !l.isBeat(ref) || l.at[ref] == id {
			continue
		}
		l.at[ref] = id
		cluster := beating(ref)
		agent := l.agents[cluster]
		beat, err := heartbeat.Beat{}, agent.Key.Verify(signing.Git, is.Signed, is.Signature)
		if err == nil {
			beat, err = heartbeat.Parse(is.Message)
		}
		if err == nil {
			l.Receiver.Read(func(book *heartbeat.Book) { err = book.Hear(cluster, agent.ID, beat, now) })
		}
		if err != nil {
			l.Log.Warn("heartbeat ignored", "cluster", cluster, "ref", ref, "commit", id.String(), "err", err)
		}
	}
}

// listen reads the observations that moved. What is wrong with one is said once, and keeps no other from
// being read.
func (l *listener) listen(ctx context.Context, refs map[string]files.ID) error {
	const heads = "refs/heads/"
	moved := map[string]string{} // branches, by cluster
	for name := range l.agents {
		branch := observation.Prefix + name
		if id := refs[heads+branch]; !id.IsZero() && id != l.at[heads+branch] {
			moved[name] = branch
		}
	}
	if len(moved) == 0 {
		return nil
	}
	refused, err := published.FetchEach(ctx, l.Status, moved)
	if err != nil {
		return err
	}
	for name, branch := range moved {
		id, err := refs[heads+branch], refused[name]
		if err == nil {
			err = l.take(ctx, name, id)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l.at[heads+branch] = id
		if err != nil {
			l.Log.WarnContext(ctx, "observation ignored", "cluster", name, "commit", id.String(), "err", err)
			l.told[name].Refuse(fmt.Errorf("commit %.12s: %w", id.String(), err))
		}
	}
	return nil
}

// take takes a commit of what the agent of a cluster observes.
func (l *listener) take(ctx context.Context, name string, id files.ID) error {
	key := l.agents[name].Key
	head, err := published.SignedBy(ctx, l.Status, id, &key)
	if err != nil {
		return err
	}
	observed, err := state.ObservedOf(head.Tree, name, observation.MostTold)
	if err != nil {
		return err
	}
	sequence, err := observation.SequenceOf(head.Message)
	if err != nil {
		return err
	}
	return l.told[name].Take(observed, sequence, l.Recorder.Now())
}
