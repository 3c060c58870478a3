package serve

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/progress"
)

// rolloutMetrics are those of what goes out in stages.
type rolloutMetrics struct {
	phase   *prometheus.GaugeVec
	behind  *prometheus.GaugeVec
	started *prometheus.GaugeVec
}

func newRolloutMetrics() rolloutMetrics {
	return rolloutMetrics{
		phase:   prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "waybill_rollout_phase", Help: "1 for each unit that goes out in stages, with the phase that it is in."}, []string{"unit", "phase"}),
		behind:  prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "waybill_rollout_clusters_behind", Help: "Clusters that do not show the newest version of a unit."}, []string{"unit"}),
		started: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "waybill_rollout_start_timestamp_seconds", Help: "When the open run of a unit began."}, []string{"unit"}),
	}
}

// record takes in how far units are by a plan.
func (m *rolloutMetrics) record(all []stage.Output) {
	m.phase.Reset()
	m.behind.Reset()
	m.started.Reset()
	for n := range all {
		if all[n].After == nil {
			continue
		}
		p := progress.Of(all[n].After)
		unit := p.Unit.String()
		m.phase.WithLabelValues(unit, string(p.Phase)).Set(1)
		m.behind.WithLabelValues(unit).Set(float64(p.Behind()))
		if p.IsOpen() && !p.Since.IsZero() {
			m.started.WithLabelValues(unit).Set(float64(p.Since.Unix()))
		}
	}
}
