// Package suspend decides whether a cluster may be applied to now: whether somebody suspended it,
// and whether a sync window of the source is in the way. It is pure: the time is an argument.
//
// Sync windows are Argo CD's. While a window that denies is open, nothing is applied; where
// there are windows that allow, nothing is unless one of them is open. Nothing means nothing:
// what somebody changes in the cluster is not put right either, for whoever closes a window
// wants no surprise.
package suspend

import (
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/window"
	"github.com/waybill-dev/waybill/render/applying"
)

const (
	// Suspended is the annotation of a Cluster that nothing is applied to; it says why.
	Suspended = "waybill.dev/suspended"
	// RequestedAt is the annotation of a Cluster that somebody wants to be applied to again,
	// with the hooks that failed; it says when.
	RequestedAt = "waybill.dev/requestedAt"
)

// Suspension says why nothing is applied to a cluster. The zero value is none.
type Suspension struct {
	Why string
	// Until is when it ends; zero if somebody has to end it, or if it is not known.
	Until time.Time
}

// Windows are the sync windows of a source.
type Windows []span

type span struct {
	applying.SyncWindow

	window window.Window
}

// Parse reads the sync windows of a config.
func Parse(list []applying.SyncWindow) (Windows, error) {
	var all Windows
	for i, w := range list {
		s, err := window.Parse(w.Schedule, w.TimeZone)
		if err != nil {
			return nil, fmt.Errorf("spec.apply.syncWindows[%d]: %w", i, err)
		}
		all = append(all, span{w, window.Window{Deny: w.Kind == applying.WindowDeny, Schedule: s, Duration: w.Duration.Duration}})
	}
	return all, nil
}

// Of decides about a cluster with some annotations.
func Of(cluster string, annotations map[string]string, all Windows, now time.Time) Suspension {
	if why, ok := annotations[Suspended]; ok {
		return Suspension{Why: "it is suspended: " + why + "; waybill cluster resume ends that"}
	}
	of := windowsOf(cluster, all)
	why := of.closed(now)
	if why == "" {
		return Suspension{}
	}
	return Suspension{Why: why, Until: of.windows().Opens(now)}
}

// windowsOf are those of a cluster.
func windowsOf(cluster string, all Windows) Windows {
	return slices.DeleteFunc(slices.Clone(all), func(s span) bool { return !s.matches(cluster) })
}

// Manual are those that are in the way of a person who applies to a cluster: not one that denies
// and lets people in, and none that allows if all of those do.
func (w Windows) Manual(cluster string) Windows {
	w = windowsOf(cluster, w)
	locked := slices.ContainsFunc(w, func(s span) bool { return s.Kind == applying.WindowAllow && !s.ManualSync })
	return slices.DeleteFunc(slices.Clone(w), func(s span) bool {
		return s.Kind == applying.WindowDeny && s.ManualSync || s.Kind == applying.WindowAllow && !locked
	})
}

func (s *span) matches(cluster string) bool {
	return slices.ContainsFunc(s.Clusters, func(pattern string) bool {
		ok, _ := path.Match(pattern, cluster)
		return ok
	})
}

// windows are those whose arithmetic decides.
func (w Windows) windows() window.Windows {
	all := make(window.Windows, len(w))
	for i := range w {
		all[i] = w[i].window
	}
	return all
}

// closed says why nothing is applied at a time; empty if it is.
func (w Windows) closed(now time.Time) string {
	by, closed := w.windows().Closed(now)
	switch {
	case !closed:
		return ""
	case by < 0:
		return "no sync window is open that allows it"
	}
	return fmt.Sprintf("a sync window denies it (%s for %s)", w[by].Schedule, w[by].Duration.Duration)
}
