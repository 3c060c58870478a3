package stage

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// counted returns a record in which what is known of clusters counts. Of one that shows the target only
// that counts which speaks of the target's bytes; of a unit without a strategy nothing does.
func counted(v *view, r run) run {
	if p := r.Status.Phase; p == rollouts.Finishing || p == rollouts.Returning || v.strategy.IsNone() {
		return r
	}
	for n := range v.Clusters {
		c := &v.Clusters[n]
		e := r.clusters[n]
		switch {
		case !r.known[n] || e.State == rollouts.Skipped || e.State == rollouts.Leaving || e.State == rollouts.Unchanged:
		case isReleased(&e):
			e = judged(v, rested(v, e, c), c)
			if !isMissed(r.Status.Phase, &e, c) {
				e = past(v, e, c)
			}
			r.set(n, e)
		default:
			r.set(n, before(v, e, c, &r.Status))
		}
	}
	return r
}

// before is what is known of a cluster whose turn has not come: whether it answers and takes anything,
// and whether it is unhealthy already, be it by the base or by a version that came after it.
func before(v *view, e rollouts.Cluster, c *Cluster, s *rollouts.Status) rollouts.Cluster {
	switch ev := &c.Evidence; {
	case ev.IsPresent && ev.Health == Failed && e.Shows != s.Base.Commit && s.Phase != rollouts.Done:
		e.FailedBefore, e.WasUnhealthy = true, false
	case ev.IsPresent && ev.Health == Failed:
		e.WasUnhealthy = true
	case ev.IsPresent && ev.Health == Healthy:
		e.WasUnhealthy, e.FailedBefore = false, false
	}
	switch {
	case e.State == rollouts.Failed && c.Unwritable != "":
		return e
	case c.Suspended || c.Closed:
		return entered(v, e, rollouts.Suspended)
	case c.Evidence.Health == Silent:
		return entered(v, e, rollouts.Late)
	}
	return entered(v, e, rollouts.Pending)
}

// isApplied reports that what a released cluster is to have can come to it.
func (c *Cluster) isApplied() bool {
	return !c.Closed && (c.IsTarget || !c.Suspended && !c.Held)
}

// rested puts off the deadline of a cluster by as long as nothing is applied there.
func rested(v *view, e rollouts.Cluster, c *Cluster) rollouts.Cluster {
	switch {
	case !c.isApplied() && e.Rests.IsZero():
		e.Rests = v.now
	case c.isApplied() && !e.Rests.IsZero():
		if !e.Deadline.IsZero() {
			e.Deadline = metav1.NewTime(e.Deadline.Add(v.now.Sub(e.Rests.Time)))
		}
		e.Rests = metav1.Time{}
	}
	return e
}

// answers reports that it is known now how the unit is in a cluster, whatever it has of it.
func (c *Cluster) answers() bool {
	h := c.Evidence.Health
	return h != Silent && h != Unknown && h != Unasked
}

// isThere reports that the target is there, or that all that is known is that it was when its health was told.
func (c *Cluster) isThere() bool { return c.IsTarget || c.isTakenBack() }

// isTakenBack reports that a plan that recorded nothing had the cluster go back to the base.
func (c *Cluster) isTakenBack() bool { return c.WasTarget && c.IsBase && !c.IsTarget }

// isHealthyNow reports that it is known now that what is published in a cluster is the target, and healthy.
func (c *Cluster) isHealthyNow() bool {
	return c.IsTarget && c.Evidence.IsPresent && c.Evidence.Health == Healthy
}

// judged is a released cluster in the state that evidence gives it.
func judged(v *view, e rollouts.Cluster, c *Cluster) rollouts.Cluster {
	ev := &c.Evidence
	e.WasUnhealthy = e.WasUnhealthy || ev.IsPresent && ev.WasUnhealthy
	if (e.State == rollouts.Healthy || e.State == rollouts.Failing) && !c.isThere() { // what it was said of is gone
		e = entered(v, e, rollouts.Released)
		e.Evidence, e.Deadline = ev.Ref, v.after(v.stage(e.Stage).ProgressDeadline)
	}
	isOld := isUnheard(&e) && ev.Ref != "" && ev.Ref == e.Evidence // the cluster had the same bytes once before
	switch isPresent := c.isThere() && ev.IsPresent && !isOld; {
	case c.Unwritable != "" && !c.IsTarget:
		return failed(v, e, rollouts.NotWritable, c.Unwritable)
	case ev.Health == Unasked:
	case !isPresent || ev.Health == Silent || ev.Health == Unknown:
		return unheard(v, e, c)
	case ev.Health == Healthy:
		if e.State != rollouts.Healthy {
			e = entered(v, e, rollouts.Healthy)
			e.Evidence = ev.Ref
		}
		e.Forgiven, e.Deadline = false, metav1.Time{}
	case ev.Health == Failed:
		return failing(v, e, ev)
	case ev.Health == Progressing && e.State != rollouts.Failed && e.State != rollouts.Released:
		if e.State != rollouts.Failing {
			e.Deadline = v.after(v.stage(e.Stage).ProgressDeadline)
		}
		e = entered(v, e, rollouts.Released)
		e.Evidence, e.Message = ev.Ref, ev.Message
	}
	return e
}

// isUnheard reports a released cluster that has said nothing of the target yet. The evidence of its record is what it had said before.
func isUnheard(e *rollouts.Cluster) bool {
	return e.State == rollouts.Released || e.State == rollouts.Failed && e.Reason == rollouts.PastDeadline
}

// unheard is a released cluster that says nothing of the target: one that was healthy has to be heard of again, and one that was
// late and answers has to be healthy in time.
func unheard(v *view, e rollouts.Cluster, c *Cluster) rollouts.Cluster {
	switch {
	case e.State == rollouts.Healthy && e.Deadline.IsZero():
		e.Deadline = v.after(v.stage(e.Stage).ProgressDeadline)
	case e.State == rollouts.Late && c.answers():
		e = entered(v, e, rollouts.Released)
		e.Deadline = v.after(v.stage(e.Stage).ProgressDeadline)
	}
	return e
}

// failing is a cluster in which an object failed. It counts as failed when that has lasted for a while: since
// whoever says so says that it does, but not since before the release, nor by a clock that is ahead.
func failing(v *view, e rollouts.Cluster, ev *Evidence) rollouts.Cluster {
	if e.State == rollouts.Failed {
		return e
	}
	if e.State != rollouts.Failing {
		since := ev.Since.UTC().Truncate(time.Second)
		if ev.Since.IsZero() || since.After(v.now.Time) {
			since = v.now.Time
		}
		if since.Before(e.Released.Time) {
			since = e.Released.Time
		}
		if e.State == rollouts.Healthy || e.State == rollouts.Late {
			e.Deadline = v.after(v.stage(e.Stage).ProgressDeadline)
		}
		e = entered(v, e, rollouts.Failing)
		e.Since, e.Evidence, e.Message = metav1.NewTime(since), ev.Ref, ev.Message
	}
	e.LeastSettle.Duration = max(e.LeastSettle.Duration, ev.LeastSettle)
	if v.isOver(settled(v, &e)) {
		e = failed(v, e, rollouts.Unhealthy, ev.Message)
		e.Evidence = ev.Ref
	}
	return e
}

// settled is when a failing cluster counts as failed.
func settled(v *view, e *rollouts.Cluster) metav1.Time {
	return metav1.NewTime(e.Since.Add(max(v.stage(e.Stage).Settle.Duration, e.LeastSettle.Duration)))
}

// failed is a cluster that counts as failed, for a reason. One that failed before stays as it is.
func failed(v *view, e rollouts.Cluster, why rollouts.Reason, message string) rollouts.Cluster {
	if e.State != rollouts.Failed {
		e = entered(v, e, rollouts.Failed)
		e.Reason, e.Message = why, message
	}
	return e
}

// past is a released cluster after its deadline: one that is not healthy by then has failed; one that was, and
// does not answer any more, is waited for by nobody. One that answers, but does not have what is published, has failed, too.
func past(v *view, e rollouts.Cluster, c *Cluster) rollouts.Cluster {
	if e.Deadline.IsZero() || !e.Rests.IsZero() || !v.isOver(e.Deadline) {
		return e
	}
	switch {
	case isAwaited(&e), e.State == rollouts.Healthy && c.answers():
		return failed(v, e, rollouts.PastDeadline, c.Evidence.Message)
	case e.State == rollouts.Healthy:
		return entered(v, e, rollouts.Late)
	}
	return e
}
