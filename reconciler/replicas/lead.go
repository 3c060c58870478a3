package replicas

import (
	"context"
	"fmt"
	"log/slog"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Election is for one Lease, whose holder is the leader.
type Election struct {
	Leases          coordination.LeasesGetter
	Namespace, Name string // of the Lease
	Replica         string
	Times           Times
	Log             *slog.Logger
	// Tell is told whether this replica leads.
	Tell func(leads bool)
	// Other is told who leads instead; nil: nobody is.
	Other func(replica string)
}

// Run works while this replica is the leader, as often as it becomes that, until ctx ends or the
// work fails. The Lease is given back after the work has ended.
func (e Election) Run(ctx context.Context, work func(context.Context) error) error {
	for ctx.Err() == nil {
		if err := e.term(ctx, work); err != nil {
			return err
		}
	}
	return nil
}

// term waits until this replica leads, and works until it does not any more.
func (e Election) term(ctx context.Context, work func(context.Context) error) error {
	hold, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	// whoever takes it out says whether the work begins
	begin, ended := make(chan struct{}, 1), make(chan error, 1)
	begin <- struct{}{}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: e.Namespace, Name: e.Name},
			Client:     e.Leases,
			LockConfig: resourcelock.ResourceLockConfig{Identity: e.Replica},
		},
		LeaseDuration: e.Times.Lease, RenewDeadline: e.Times.Renew, RetryPeriod: e.Times.Retry,
		Name: e.Name, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(lead context.Context) {
				select {
				case <-begin:
				default:
					return
				}
				lead, stop := context.WithCancel(lead)
				defer stop()
				defer context.AfterFunc(ctx, stop)()
				e.Log.InfoContext(ctx, "leading", "replica", e.Replica, "lease", e.Namespace+"/"+e.Name)
				e.Tell(true)
				err := work(lead)
				e.Tell(false)
				e.Log.InfoContext(ctx, "not leading any more", "replica", e.Replica, "lease", e.Namespace+"/"+e.Name)
				ended <- err
				release()
			},
			OnStoppedLeading: func() {},
			OnNewLeader: func(replica string) {
				if e.Other != nil && replica != e.Replica {
					e.Other(replica)
				}
			},
		},
	})
	if err != nil {
		return fmt.Errorf("electing a leader: %w", err)
	}
	defer context.AfterFunc(ctx, func() {
		select {
		case <-begin:
			ended <- nil
			release()
		default: // it ends first
		}
	})()
	elector.Run(hold)
	select {
	case <-begin:
		return nil
	default:
		return <-ended
	}
}
