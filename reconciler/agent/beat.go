package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/published"
)

// Heart carries heartbeats to where they are heard.
type Heart interface {
	// Last is the highest sequence number of the last beats of clusters that can be found; zero for
	// none.
	Last(ctx context.Context, clusters []string) (uint64, error)
	// Beat sends a beat of each cluster. One that is not heard gives an error.
	Beat(ctx context.Context, beats []heartbeat.Beat) error
	// Times says how often, in a fleet of so many clusters with agents.
	Times(clusters int) (heartbeat.Times, error)
}

// beats sends heartbeats until ctx ends. What fails is tried again when the next one is due.
func (a *Agent) beats(ctx context.Context) error {
	if a.Heart == nil {
		return nil
	}
	said := "" // of the last one
	var beat heartbeat.Beat
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		began := a.Applier.Now()
		times, err := a.Heart.Times(int(a.agents.Load()))
		if err == nil && beat.UID == "" {
			beat, err = a.first(ctx)
		}
		if err == nil && !a.leadership.Holds() {
			err = a.alone(ctx)
		}
		if err == nil {
			beat.Sequence = heartbeat.Next(beat.Sequence, began)
			if all := a.each(beat); len(all) > 0 {
				err = a.Heart.Beat(ctx, all)
			}
		}
		if behind, ok := errors.AsType[*BehindError](err); ok {
			if !a.leadership.Holds() {
				a.Log.WarnContext(ctx, "standing by: another agent of the cluster is heard, and this one does not hold the Lease", "clusters", a.Clusters, "agent", a.Election.Replica)
				a.leadership.Leave()
				return nil
			}
			beat.Sequence = behind.Last // and the next one is above it
		}
		a.beaten.Store(beat.Sequence)
		said = a.say(ctx, said, err)
		timer.Reset(max(0, times.Renew-a.Applier.Now().Sub(began)))
	}
}

// each returns the beat of each cluster that the agent serves. They have the sequence number in
// common.
func (a *Agent) each(b heartbeat.Beat) []heartbeat.Beat {
	served := a.Clusters[:1] // until more is known
	if known := a.served.Load(); known != nil {
		served = *known
	}
	beats := make([]heartbeat.Beat, len(served))
	for i, cluster := range served {
		beats[i] = b
		beats[i].Cluster = cluster
	}
	return beats
}

// alone returns an error if another agent of the clusters beats: with a higher sequence number than
// the last one of this agent.
func (a *Agent) alone(ctx context.Context) error {
	heard, err := a.Heart.Last(ctx, a.Clusters)
	if err == nil && heard > a.beaten.Load() {
		err = &BehindError{heard}
	}
	return err
}

// say logs what became of a heartbeat, if it is not what was said last, and returns it.
func (a *Agent) say(ctx context.Context, last string, err error) (text string) {
	if err != nil {
		text = err.Error()
	}
	switch {
	case text == last || ctx.Err() != nil:
	case err != nil:
		a.Log.WarnContext(ctx, "no heartbeat", "clusters", a.Clusters, "err", err)
	default:
		a.Log.InfoContext(ctx, "heartbeats are heard again", "clusters", a.Clusters)
	}
	return text
}

// A BehindError says that a beat with a higher sequence number was heard.
type BehindError struct{ Last uint64 }

// Error says so.
func (e *BehindError) Error() string {
	return fmt.Sprintf("a heartbeat with the sequence number %d was heard before", e.Last)
}

// first returns the beat before the first one. Its sequence number is the last one of the clusters that can
// be found.
func (a *Agent) first(ctx context.Context) (heartbeat.Beat, error) {
	const wait = 15 * time.Second
	soon, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	c := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: a.Clusters[0]}}
	config, err := a.Applier.Access.Config(soon, c)
	if err != nil {
		return heartbeat.Beat{}, err
	}
	identity, err := clusters.Identify(soon, a.Clusters[0], config)
	if err != nil {
		return heartbeat.Beat{}, err
	}
	last, err := a.Heart.Last(ctx, a.Clusters)
	if err != nil {
		return heartbeat.Beat{}, err
	}
	return heartbeat.Beat{UID: identity.ID, Agent: a.Election.Replica, Sequence: last}, nil
}

// count notes how many clusters have agents.
func (a *Agent) count(in *published.Desired) {
	n := 0
	for _, c := range in.Clusters {
		if key, err := heartbeat.KeyOf(c); err == nil && key != nil {
			n++
		}
	}
	a.agents.Store(int64(n))
}
