package render

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Failover says whether work leaves clusters that have a taint of effect NoExecute, or in
// which it is not healthy, and how.
type Failover struct {
	Enabled bool `json:"enabled"`
	// GracefulEvictionTimeout is how long the old copy stays at most until the new ones are
	// healthy. With 0s nothing is waited for: work leaves at once, and is not paced.
	GracefulEvictionTimeout metav1.Duration `json:"gracefulEvictionTimeout"`
	// EvictionRate is how many templates leave clusters in a second, after the first three.
	EvictionRate float64        `json:"evictionRate"`
	LastCopy     string         `json:"lastCopy"` // LastCopyKeep or LastCopyDelete
	Limits       FailoverLimits `json:"limits"`
}

// What becomes of a copy that should leave, while there is no other.
const (
	LastCopyKeep   = "keep"
	LastCopyDelete = "delete"
)

// FailoverLimits bound what moves. Nothing moves while UnhealthyThreshold percent of the
// clusters, or more, are not ready; in a fleet of more than LargeFleet clusters that is
// LargeFleetUnhealthyThreshold. At most one cluster in OneIn, rounded up, is left at a time.
type FailoverLimits struct {
	UnhealthyThreshold           int `json:"unhealthyThreshold"`
	LargeFleet                   int `json:"largeFleet"`
	LargeFleetUnhealthyThreshold int `json:"largeFleetUnhealthyThreshold"`
	OneIn                        int `json:"oneIn"`
}

// defaultFailover is off. On, it has Karmada's timings.
func defaultFailover() Failover {
	return Failover{
		GracefulEvictionTimeout: metav1.Duration{Duration: 10 * time.Minute}, EvictionRate: 0.5, LastCopy: LastCopyKeep,
		Limits: FailoverLimits{UnhealthyThreshold: 55, LargeFleet: 10, LargeFleetUnhealthyThreshold: 30, OneIn: 3},
	}
}

// check names the first field with a problem.
func (f *Failover) check() (field, problem string) {
	l := f.Limits
	switch {
	case f.GracefulEvictionTimeout.Duration < 0:
		return "gracefulEvictionTimeout", fmt.Sprintf("is %s; want 0s or more", f.GracefulEvictionTimeout.Duration)
	case f.EvictionRate <= 0:
		return "evictionRate", fmt.Sprintf("is %v; want more than 0 in a second", f.EvictionRate)
	case f.LastCopy != LastCopyKeep && f.LastCopy != LastCopyDelete:
		return "lastCopy", fmt.Sprintf("is %q; want one of %s, %s", f.LastCopy, LastCopyKeep, LastCopyDelete)
	case min(l.UnhealthyThreshold, l.LargeFleetUnhealthyThreshold) < 0 || max(l.UnhealthyThreshold, l.LargeFleetUnhealthyThreshold) > 100:
		return "limits", fmt.Sprintf("has thresholds of %d and %d percent; want 0 to 100", l.UnhealthyThreshold, l.LargeFleetUnhealthyThreshold)
	case l.OneIn < 1:
		return "limits.oneIn", fmt.Sprintf("is %d; want 1 or more: one cluster in so many", l.OneIn)
	}
	return "", ""
}
