package observe

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
)

// record records what decisions can see, if it is not recorded.
func (l *listener) record(ctx context.Context, times heartbeat.Times, now time.Time) error {
	if len(l.changes(l.recorded, times, now).statuses) == 0 {
		return nil
	}
	var done changes
	recorded, err := l.Recorder.Record(ctx, func(recorded map[string]*karmada.ClusterStatus, registered []*karmada.Cluster) (map[string]*karmada.ClusterStatus, string) {
		l.serve(registered)
		done = l.changes(recorded, times, now)
		return done.statuses, done.why
	})
	if err != nil {
		_, lookErr := l.Recorder.Target.Heads(ctx) // somebody else may have moved it
		return errors.Join(err, lookErr)
	}
	l.recorded = recorded
	if len(done.statuses) > 0 {
		if !done.soon {
			l.last = now
		}
		for name := range done.statuses {
			l.told[name].Recorded(now)
		}
		l.Log.InfoContext(ctx, "observation recorded", "clusters", slices.Sorted(maps.Keys(done.statuses)), "changed", done.why)
		l.Recorded()
	}
	return nil
}

// changes holds what agents told, and whether they beat, against what is recorded.
func (l *listener) changes(recorded map[string]*karmada.ClusterStatus, times heartbeat.Times, now time.Time) changes {
	c := changes{statuses: map[string]*karmada.ClusterStatus{}}
	var why []string
	for _, name := range slices.Sorted(maps.Keys(l.agents)) {
		lease, beat, waits := l.lease(name, times, now)
		if waits {
			continue
		}
		next, change := l.told[name].Report(recorded[name], lease, beat, now)
		if len(change.Words) > 0 && (change.Soon || now.Sub(l.last) >= roomPause) {
			c.statuses[name], c.soon = next, c.soon || change.Soon
			why = append(why, name+": "+strings.Join(change.Words, ", "))
		}
	}
	c.why = strings.Join(why, "\n")
	return c
}

// lease says whether the lease of a cluster runs, the highest sequence number of its beats, and whether
// it is to wait that the lease ran out.
func (l *listener) lease(cluster string, times heartbeat.Times, now time.Time) (v heartbeat.Verdict, beat uint64, waits bool) {
	l.Receiver.Read(func(book *heartbeat.Book) {
		if book.Last(cluster).Session != "" {
			times = heartbeat.Usual // it comes by HTTP
		}
		v, beat, waits = book.Judge(cluster, times, now), book.Highest(cluster), book.Waits(cluster, times, now)
	})
	return v, beat, waits
}
