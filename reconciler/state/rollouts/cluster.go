package rollouts

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Cluster is how far a cluster is in a run.
type Cluster struct {
	// Stage is the one that it is in; it is the name of the file.
	Stage string `json:"-"`
	// Shows is the source commit whose version of the unit the cluster has, or is to have; empty where it
	// is not known.
	Shows string `json:"shows,omitempty"`
	// Outdated reports that its branch had another version when it was registered again: what it shows is written there, whatever
	// there is.
	Outdated bool  `json:"outdated,omitempty"`
	State    State `json:"state"`
	// Reason is why it failed, or why it does not go back, and Message says it to people.
	Reason  Reason `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Released is when it was, and Since when it came to its state.
	Released metav1.Time `json:"released,omitzero"`
	Since    metav1.Time `json:"since,omitzero"`
	// Deadline is by when a released cluster has to be healthy, or be heard of; Rests is since when that is
	// put off, because nothing is applied there.
	Deadline metav1.Time `json:"deadline,omitzero"`
	Rests    metav1.Time `json:"rests,omitzero"`
	// Evidence is what its state follows from; of one that was released, and of which nothing was heard since, the report
	// that there was then, which does not count.
	Evidence string `json:"evidence,omitempty"`
	// LeastSettle is for how long it has to be Failing at least until it counts as failed, because of how that is known.
	LeastSettle metav1.Duration `json:"leastSettle,omitzero"`
	// WasUnhealthy reports that it was unhealthy before it was released: its failure counts for nothing.
	WasUnhealthy bool `json:"wasUnhealthy,omitempty"`
	// FailedBefore reports that it failed by a version of a run that this one replaced: it is released first.
	FailedBefore bool `json:"failedBefore,omitempty"`
	// Joined reports that it came after its stage was released: its failure counts for nothing.
	Joined bool `json:"joined,omitempty"`
	// Forgiven reports that somebody resumed the run after it had failed.
	Forgiven bool `json:"forgiven,omitempty"`
}

// State is how far a cluster is.
type State string

// The states. Released and Failing clusters are waited for.
const (
	Pending   State = "Pending"   // its turn has not come
	Unchanged State = "Unchanged" // the target is, there, what it has
	Released  State = "Released"  // it gets the target, and is not healthy yet
	Healthy   State = "Healthy"
	Failing   State = "Failing" // something failed, and that may pass
	Failed    State = "Failed"
	Late      State = "Late"      // it does not answer
	Suspended State = "Suspended" // it takes nothing now
	Skipped   State = "Skipped"   // somebody had it skipped
	Leaving   State = "Leaving"   // the target does not want it: it loses the unit last
)
