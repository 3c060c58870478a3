// Package writer writes status branches: what became of a cluster's branch in the cluster, by the word of whoever applies it.
package writer

import (
	"log/slog"
	"time"

	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
)

const (
	// pushEvery is the least time between two pushes of status branches. Git hosts ask for no
	// more than six a minute.
	pushEvery = 10 * time.Second
	// pushTime is how long a push of status branches may take.
	pushTime = 5 * time.Minute
	// closeTime is how long the last push may take, when the process is told to stop.
	closeTime = 20 * time.Second
	// mostWait is the longest wait after pushes that failed, unless Every is longer.
	mostWait = 20 * time.Second
)

// Writer writes what becomes of branches in clusters to the status branches. Whoever applies
// says what happened, and waits for nothing: what cannot be written is written later, together with
// what happened since. One push writes what is due of all clusters.
type Writer struct {
	Target published.Repository
	Now    func() time.Time
	Log    *slog.Logger
	// Clusters are the only ones of which it writes; empty: it writes of all.
	Clusters []string
	// Every is the least time between two pushes.
	Every time.Duration

	events chan event
	gone   chan struct{} // closed when nobody takes events any more
}

// New returns a writer. Run has it take events.
func New(target published.Repository, now func() time.Time, log *slog.Logger) *Writer {
	const pending = 1024
	return &Writer{Target: target, Now: now, Log: log, Every: pushEvery, events: make(chan event, pending), gone: make(chan struct{})}
}

// event is what happened at a cluster: a round ended, or an object was seen, or nobody applies
// there any more.
type event struct {
	cluster string
	at      time.Time
	round   *status.Round
	ref     object.Ref
	health  health.Health
	refused *[]status.Refusal
}

// Ended says that a round at a cluster ended. A nil writer writes nothing.
func (w *Writer) Ended(cluster string, round *status.Round) {
	if w != nil {
		w.add(event{cluster: cluster, round: round})
	}
}

// Saw says how an object is.
func (w *Writer) Saw(cluster string, r object.Ref, h health.Health) {
	w.add(event{cluster: cluster, ref: r, health: h})
}

// Refused says which endpoints of others a cluster does not take. Before its first round nothing comes of that.
func (w *Writer) Refused(cluster string, all []status.Refusal) {
	w.add(event{cluster: cluster, refused: &all})
}

// Forget says that nobody applies to a cluster here any more. What its branch says stays.
func (w *Writer) Forget(cluster string) {
	if w != nil {
		w.add(event{cluster: cluster})
	}
}

func (w *Writer) add(e event) {
	e.at = w.Now()
	select {
	case w.events <- e:
	case <-w.gone:
	}
}
