package rollouts

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/render/object"
)

// APIVersion and Kind are those of a unit's file.
const (
	APIVersion = "waybill.dev/v1alpha1"
	Kind       = "Rollout"
)

// The folders of units that are in no namespace.
const (
	clusterFolder = "_cluster"
	groupFolder   = "_group"
)

// Unit names what moves together: all templates that one policy claims, or those of all policies of a
// roll-out group.
type Unit struct {
	Namespace string // of a PropagationPolicy; empty for a ClusterPropagationPolicy and for a group
	Name      string
	IsGroup   bool
}

// Folder is the one of its file below rollouts/: a namespace, or what no namespace is called.
func (u Unit) Folder() string {
	switch {
	case u.IsGroup:
		return groupFolder
	case u.Namespace == "":
		return clusterFolder
	}
	return u.Namespace
}

// String is the unit as commands name it.
func (u Unit) String() string { return u.Folder() + "/" + u.Name }

// Version is a unit as it is in a commit of the source. The zero value is one that is not known.
type Version struct {
	Commit string `json:"commit"`
	// Digest is that of the unit in the commit. Versions with equal digests are equal, and so are those without
	// the unit.
	Digest string `json:"digest,omitempty"`
	// Absent reports that the unit is not in that commit.
	Absent bool `json:"absent,omitempty"`
}

// IsKnown reports a version that is known.
func (v Version) IsKnown() bool { return v.Commit != "" }

// Is reports that both are known and the same, whichever commits they are read from.
func (v Version) Is(o Version) bool {
	return v.IsKnown() && o.IsKnown() && v.Absent == o.Absent && (v.Absent || v.Digest == o.Digest)
}

// Rollout is what is recorded of a unit.
type Rollout struct {
	Unit Unit
	// Strategy is a copy of the one that is in force: a run outlives an unbinding.
	Strategy Strategy
	Status   Status
	// Stays are objects that another unit claims now, and that go out with this one until the runs of both are over.
	Stays []object.Ref
	// Leaves are objects that clusters lose by the run and that its base does not have, either: those of a version that it replaced.
	Leaves []object.Ref
	// Clusters are those of the unit while a run is open, by name; afterwards those that do not show the
	// target yet.
	Clusters map[string]Cluster
	// Divided is how the replicas are divided of versions that clusters show, or may go back to, and that the source is not, as far
	// as no binding says so: in the order of commits and objects.
	Divided []Division
}

// Status is how far a run is, or how the last one ended.
type Status struct {
	// Run identifies the run, by 32 hex digits; empty before the first one.
	Run   string `json:"run,omitempty"`
	Phase Phase  `json:"phase"`
	// Reason is why it is in that phase, and Message says it to people.
	Reason  Reason `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Base is the last version that finished, also after runs that a newer one replaced.
	Base   Version `json:"base"`
	Target Version `json:"target"`
	// Rules is the source commit by whose rules and signers commands count, where the base is not known, and it is not that of
	// the target: the one that was published before the run, or the first that a run went to before which nothing was.
	Rules string `json:"rules,omitempty"`
	// StartTime is when the run began.
	StartTime metav1.Time `json:"startTime,omitzero"`
	// Restarts counts the runs that a newer one replaced since the last that finished.
	Restarts int `json:"restarts,omitempty"`
	// Stages are those of the run, in their order.
	Stages []StageStatus `json:"stages,omitempty"`
	// Commands are those that were acted on, or refused, and may be given again.
	Commands []Command `json:"commands,omitempty"`
}

// IsKeptBack reports a run that went back in every cluster, and whose target is not tried again.
func (s *Status) IsKeptBack() bool { return s.Phase == Stopped && s.Reason == KeptBack }

// RuledBy is the source commit by whose rules and signers commands about the run count: a change names neither for itself.
func (s *Status) RuledBy() string { return cmp.Or(s.Base.Commit, s.Rules, s.Target.Commit) }

// Phase is how far a run, or a stage of it, is.
type Phase string

// The phases. All but Done are open; a stage has Waiting, Updating, Soaking, Approving or Done.
const (
	Waiting   Phase = "Waiting"   // nothing of it was released yet
	Updating  Phase = "Updating"  // clusters are released
	Soaking   Phase = "Soaking"   // all were released; they have to be healthy for a while
	Approving Phase = "Approving" // somebody has to approve what comes next
	Stopped   Phase = "Stopped"   // nothing is released until somebody says so, or the source changes
	Returning Phase = "Returning" // every cluster goes back to the base
	Finishing Phase = "Finishing" // every stage is over: the clusters that the unit leaves lose it
	Done      Phase = "Done"
)

// Reason is why a run is in its phase, or a cluster in its state, as a code.
type Reason string

// The reasons.
const (
	ApprovalMissing   Reason = "ApprovalMissing"   // before a stage, or after it
	WindowClosed      Reason = "WindowClosed"      // no release is allowed at this time
	ClustersSuspended Reason = "ClustersSuspended" // none of those that are left takes anything now
	ClusterHeld       Reason = "ClusterHeld"       // the guard holds one that was released
	NoneAnswers       Reason = "NoneAnswers"       // no cluster of the stage says anything
	SourceRefused     Reason = "SourceRefused"     // something of the source allows no release
	NotHealthy        Reason = "NotHealthy"        // a cluster that was healthy is not, or does not say so
	TimedWait         Reason = "TimedWait"
	TooManyFailed     Reason = "TooManyFailed"
	NoneHealthy       Reason = "NoneHealthy" // no cluster of a stage was healthy in time
	Commanded         Reason = "Commanded"   // somebody said so
	KeptBack          Reason = "KeptBack"    // it was returned, and the same digest is not tried again
	Reverted          Reason = "Reverted"    // the source says the base again
	Bypassed          Reason = "Bypassed"
	NotPublished      Reason = "NotPublished" // branches do not have it yet
	Unhealthy         Reason = "Unhealthy"    // something of the unit failed
	PastDeadline      Reason = "PastDeadline" // it was not healthy in time
	NotWritable       Reason = "NotWritable"  // what it should get cannot be made
)

// StageStatus is how far a stage is.
type StageStatus struct {
	Name  string `json:"name"`
	Phase Phase  `json:"phase"`
	// StartTime is when clusters could be released first, and EndTime when it was over.
	StartTime metav1.Time `json:"startTime,omitzero"`
	EndTime   metav1.Time `json:"endTime,omitzero"`
	// Deadline is when the run stops if no cluster of the stage is healthy.
	Deadline metav1.Time `json:"deadline,omitzero"`
	// Skipped reports that somebody had it skipped.
	Skipped bool `json:"skipped,omitempty"`
	// Before and After are its tasks that began.
	Before []Task `json:"beforeStageTasks,omitempty"`
	After  []Task `json:"afterStageTasks,omitempty"`
}

// Task is how far a task of a stage is.
type Task struct {
	Type TaskType `json:"type"`
	// Since is when it began, again if a cluster was not healthy in between, and DoneTime when it was over.
	Since    metav1.Time `json:"since,omitzero"`
	DoneTime metav1.Time `json:"doneTime,omitzero"`
	// LeastWait is for how long a task of time lasts at least, because of how it is known that clusters are healthy.
	LeastWait metav1.Duration `json:"leastWait,omitzero"`
}

// Ends is when a task of time that began is over in a stage, if its clusters stay healthy.
func (t *Task) Ends(s *Stage) metav1.Time {
	wait := t.LeastWait.Duration
	for _, of := range s.AfterStageTasks {
		if of.Type == t.Type {
			wait = max(wait, of.WaitTime.Duration)
		}
	}
	return metav1.NewTime(t.Since.Add(wait))
}

// Command is what somebody said about a run.
type Command struct {
	Verb Verb `json:"verb"`
	// Run is the one that it is about. It is empty for a trailer of a commit that was planned for the first
	// time: that is about the run that is open then.
	Run string `json:"run,omitempty"`
	// Stage or Cluster is what it is about, if the verb has one.
	Stage   string `json:"stage,omitempty"`
	Cluster string `json:"cluster,omitempty"`
	// By is who said it, as a signature or the forge tells; Says is who gave one that nobody signed says to be. Via is
	// how (cli, trailer, comment), Ref where it stands, by which it is known again, and At when.
	By   string      `json:"by,omitempty"`
	Says string      `json:"says,omitempty"`
	Via  string      `json:"via,omitempty"`
	Ref  string      `json:"ref"`
	At   metav1.Time `json:"at,omitzero"`
	// Refused reports that it came for another run, or too early or late, and did nothing.
	Refused bool `json:"refused,omitempty"`
}

// Verb is what a command asks for.
type Verb string

// The verbs.
const (
	Approve Verb = "approve" // a stage
	Stop    Verb = "stop"
	Resume  Verb = "resume"
	Skip    Verb = "skip" // a stage or a cluster
	Return  Verb = "return"
	Bypass  Verb = "bypass"
)
