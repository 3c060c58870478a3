// Package serve answers over HTTP what the controller is doing: /healthz, /readyz
// and Prometheus metrics at /metrics. It holds the last synchronisation and decides
// nothing.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/heartbeat/receive"
	"github.com/waybill-dev/waybill/reconciler/observation"
	"github.com/waybill-dev/waybill/render/diag"
)

// The time limits of a connection, and what open ones get when the server stops.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	idleTimeout   = time.Minute
	closeGrace    = 5 * time.Second
	maxHeader     = 32 << 10 // bytes
)

// Server keeps the state of a loop for those who ask.
type Server struct {
	registry *prometheus.Registry
	metrics  metrics

	receiver *receive.Receiver // nil: heartbeats are not taken

	mu     sync.Mutex
	ready  bool // a synchronisation succeeded
	reason string
}

type metrics struct {
	syncs    *prometheus.CounterVec
	duration prometheus.Histogram
	branches prometheus.Counter
	diags    *prometheus.GaugeVec
	clusters *prometheus.GaugeVec
	held     *prometheus.GaugeVec
	placed   prometheus.Gauge
	last     prometheus.Gauge
	applies  *prometheus.CounterVec
	behind   *prometheus.GaugeVec
	expires  *prometheus.GaugeVec
	rotated  *prometheus.CounterVec
	answers  *prometheus.GaugeVec
	nodes    *prometheus.GaugeVec
	ready    *prometheus.GaugeVec
	leads    prometheus.Gauge
	waited   prometheus.Histogram
	took     prometheus.Histogram

	rollouts rolloutMetrics
}

// New returns a server that is not ready yet.
func New() *Server {
	s := &Server{registry: prometheus.NewRegistry(), reason: "no synchronisation has succeeded yet"}
	s.metrics = metrics{
		syncs:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waybill_syncs_total", Help: "Turns of the loop, by result: published, unchanged or failed."}, []string{"result"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "waybill_sync_duration_seconds", Help: "Time from seeing a change to having published it.", Buckets: prometheus.ExponentialBuckets(0.05, 2, 12)}),
		branches: prometheus.NewCounter(prometheus.CounterOpts{Name: "waybill_branches_published_total", Help: "Branches that advanced."}),
		diags:    prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "waybill_diagnostics", Help: "Diagnostics of the last plan, by severity."}, []string{"severity"}),
		clusters: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "waybill_clusters", Help: "Registered clusters of the last plan, by whether the guard holds them."}, []string{"held"}),
		held:     prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "waybill_cluster_held", Help: "1 for each cluster that the guard holds by the last plan; the log says why."}, []string{"cluster"}),
		placed:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "waybill_placed_manifests", Help: "Manifests of the last plan over all clusters."}),
		last:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "waybill_last_success_timestamp_seconds", Help: "When a turn last ended without an error."}),
	}
	s.metrics.applies = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waybill_applies_total", Help: "Rounds at clusters, by result: applied, unchanged, refused (in part, or held) or failed."}, []string{"result"})
	s.metrics.behind = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "waybill_cluster_behind", Help: "1 for each cluster that is not as its branch, by the last round; the log says why."}, []string{"cluster"})
	s.metrics.expires = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "waybill_cluster_credential_expiry_timestamp_seconds", Help: "When the credential for a cluster ends to be valid, if it says so."}, []string{"cluster"})
	s.metrics.rotated = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waybill_cluster_credential_rotations_total", Help: "How often the credential for a cluster was another one than before."}, []string{"cluster"})
	s.metrics.answers = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "waybill_cluster_ready", Help: "1 for each observed cluster whose API server says that it is ready, 0 for the others."}, []string{"cluster"})
	s.metrics.nodes = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "waybill_cluster_nodes", Help: "Nodes of each observed cluster, as they were seen last."}, []string{"cluster"})
	s.metrics.ready = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "waybill_cluster_ready_nodes", Help: "Nodes of each observed cluster that are ready, as they were seen last."}, []string{"cluster"})
	s.metrics.leads = prometheus.NewGauge(prometheus.GaugeOpts{Name: "waybill_leader", Help: "1 if this replica leads: it plans and publishes."})
	s.metrics.waited = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "waybill_apply_wait_seconds", Help: "Time that a round waits because many others are under way.", Buckets: prometheus.ExponentialBuckets(0.05, 3, 9)})
	s.metrics.took = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "waybill_apply_duration_seconds", Help: "Time that a round at a cluster takes.", Buckets: prometheus.ExponentialBuckets(0.05, 2, 14)})
	s.metrics.rollouts = newRolloutMetrics()
	m := s.metrics
	s.registry.MustRegister(m.rollouts.phase, m.rollouts.behind, m.rollouts.started)
	s.registry.MustRegister(m.syncs, m.duration, m.branches, m.diags, m.clusters, m.held, m.placed, m.last, m.applies, m.behind, m.expires, m.rotated, m.answers, m.nodes, m.ready, m.leads, m.waited, m.took,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return s
}

// Record takes one turn of the loop in.
func (s *Server) Record(t reconciler.Sync) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.metrics
	if t.Err != nil {
		m.syncs.WithLabelValues("failed").Inc()
		s.reason = "the last synchronisation failed; see the log"
		return
	}
	s.ready, s.reason = true, ""
	m.last.Set(float64(t.At.Add(t.Took).Unix()))
	if t.UpToDate {
		m.syncs.WithLabelValues("unchanged").Inc()
		return
	}
	m.syncs.WithLabelValues("published").Inc()
	m.duration.Observe(t.Took.Seconds())
	m.branches.Add(float64(len(t.Result.Updates)))
	counts := map[diag.Severity]int{}
	for _, d := range t.Result.Diags {
		counts[d.Severity]++
	}
	for _, severity := range []diag.Severity{diag.Notice, diag.Warning, diag.Error} {
		m.diags.WithLabelValues(severity.String()).Set(float64(counts[severity]))
	}
	held := 0
	m.held.Reset()
	for _, c := range t.Result.Plan.Clusters {
		if c.Held != nil {
			held++
			m.held.WithLabelValues(c.Name).Set(1)
		}
	}
	m.clusters.WithLabelValues("true").Set(float64(held))
	m.clusters.WithLabelValues("false").Set(float64(len(t.Result.Plan.Clusters) - held))
	m.placed.Set(float64(t.Result.Plan.Stats.Placed))
	m.rollouts.record(t.Result.Plan.Rollouts)
}

// RecordApply takes a round at a cluster in. It may be called by several at once.
func (s *Server) RecordApply(a applier.Result) {
	if a.Suspension.Why != "" { // whether it is behind is not looked at
		s.metrics.applies.WithLabelValues("suspended").Inc()
		return
	}
	result, behind := "unchanged", 0.0
	switch {
	case a.Err != nil:
		result, behind = "failed", 1
	case a.Failed():
		result, behind = "refused", 1
	case len(a.Report.Outcomes) > 0:
		result = "applied"
	}
	s.metrics.applies.WithLabelValues(result).Inc()
	if a.Took > 0 { // a cluster that does not answer has no round
		s.metrics.waited.Observe(a.Waited.Seconds())
		s.metrics.took.Observe(a.Took.Seconds())
	}
	s.metrics.behind.WithLabelValues(a.Cluster).Set(behind)
	if a.Rotated() {
		s.metrics.rotated.WithLabelValues(a.Cluster).Inc()
	}
	if until := a.Credential.Until; !until.IsZero() {
		s.metrics.expires.WithLabelValues(a.Cluster).Set(float64(until.Unix()))
	} else if a.Err == nil { // the credential is one that does not say so
		s.metrics.expires.DeleteLabelValues(a.Cluster)
	}
}

// RecordLookAt takes in what was seen of a cluster. Nodes that could not be looked at are as they
// were.
func (s *Server) RecordLookAt(cluster string, f observation.Facts) {
	s.metrics.answers.WithLabelValues(cluster).Set(map[bool]float64{true: 1}[f.Health == observation.Healthy])
	if f.Room != nil {
		s.metrics.nodes.WithLabelValues(cluster).Set(float64(f.Room.Nodes.TotalNum))
		s.metrics.ready.WithLabelValues(cluster).Set(float64(f.Room.Nodes.ReadyNum))
	}
}

// ForgetLooks takes back what RecordLookAt said of a cluster.
func (s *Server) ForgetLooks(cluster string) {
	for _, m := range []*prometheus.GaugeVec{s.metrics.answers, s.metrics.nodes, s.metrics.ready} {
		m.DeleteLabelValues(cluster)
	}
}

// RecordLook takes in whether a replica that does not lead sees what is published.
func (s *Server) RecordLook(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.ready, s.reason = true, ""
	}
}

// RecordLead takes in whether this replica leads.
func (s *Server) RecordLead(leads bool) {
	s.metrics.leads.Set(map[bool]float64{true: 1}[leads])
}

// ForgetCluster takes back what RecordApply said of a cluster.
func (s *Server) ForgetCluster(name string) {
	s.metrics.behind.DeleteLabelValues(name)
	s.metrics.expires.DeleteLabelValues(name)
	s.metrics.rotated.DeleteLabelValues(name)
}

// Handler serves /healthz, /readyz and /metrics.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		ready, reason := s.ready, s.reason
		s.mu.Unlock()
		if !ready {
			http.Error(w, reason, http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	if s.receiver != nil {
		mux.HandleFunc("POST /heartbeats/{cluster}", s.hear)
	}
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{}))
	return mux
}

// Serve answers on l until ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	srv := serverOf(s.Handler())
	if s.receiver != nil {
		all := &connections{receiver: s.receiver}
		all.limit(srv)
	}
	return serve(ctx, l, srv)
}

// Serve has a handler answer on l until ctx ends, whoever asks and however slowly.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	return serve(ctx, l, serverOf(h))
}

func serverOf(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader}
}

func serve(ctx context.Context, l net.Listener, srv *http.Server) error {
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeGrace)
		defer cancel()
		_ = srv.Shutdown(grace)
	})
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	}
	return nil
}
