package render

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Moves says how long an old copy stays where an object leaves a cluster for another one.
type Moves struct {
	// Wait is how long it stays from the publication of the new copy, where no cluster of the object says how its
	// copies are. With 0s it leaves at once.
	Wait metav1.Duration `json:"wait"`
	// Timeout is how long it stays at most until the new copies are healthy, where a cluster says how they are.
	// With 0s nobody is asked.
	Timeout metav1.Duration `json:"timeout"`
}

func defaultMoves() Moves { return Moves{Timeout: metav1.Duration{Duration: 10 * time.Minute}} }

// check names the first field with a problem.
func (m *Moves) check() (field, problem string) {
	switch {
	case m.Wait.Duration < 0:
		return "wait", fmt.Sprintf("is %s; want 0s or more", m.Wait.Duration)
	case m.Timeout.Duration < 0:
		return "timeout", fmt.Sprintf("is %s; want 0s or more", m.Timeout.Duration)
	}
	return "", ""
}
