package render

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Descheduler says whether replicas that find no node in a cluster are moved to others, as
// Karmada's descheduler moves them.
type Descheduler struct {
	Enabled bool `json:"enabled"`
	// UnschedulableThreshold is how long a replica waits for a node before it is moved.
	UnschedulableThreshold metav1.Duration `json:"unschedulableThreshold"`
	// Cooldown is how long a cluster that replicas of a template left takes no others of it.
	Cooldown metav1.Duration `json:"cooldown"`
}

// defaultDescheduler is off. On, it has Karmada's threshold.
func defaultDescheduler() Descheduler {
	return Descheduler{UnschedulableThreshold: metav1.Duration{Duration: 5 * time.Minute}, Cooldown: metav1.Duration{Duration: time.Hour}}
}

// check names the first field with a problem.
func (d *Descheduler) check() (field, problem string) {
	switch {
	case d.UnschedulableThreshold.Duration <= 0:
		return "unschedulableThreshold", fmt.Sprintf("is %s; want more than 0s", d.UnschedulableThreshold.Duration)
	case d.Cooldown.Duration < 0:
		return "cooldown", fmt.Sprintf("is %s; want 0s or more", d.Cooldown.Duration)
	}
	return "", ""
}
