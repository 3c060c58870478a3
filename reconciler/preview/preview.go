// Package preview is what a change does to the clusters, as values: what appears, moves,
// scales, changes, disappears, or is left as it is, in which clusters, and because of what.
// Objects that change alike are one Change, and equal changes in many clusters are said once.
//
// Package compare makes a Comparison of two plans, and what shows it takes nothing else: a
// terminal (package report), a comment on a pull request (package markdown), a page (package
// page), and programs, which read it as JSON (docs/preview.schema.json). Values of Secrets
// never reach it, so that whoever shows it need not look for them.
package preview

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// APIVersion and Kind say what a Comparison is where it is read by programs.
const (
	APIVersion = "waybill.dev/v1alpha1"
	Kind       = "Comparison"
)

// Comparison is what changes between two plans.
type Comparison struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Base       string `json:"base"` // the commit; empty for a directory that is in no repository
	Head       string `json:"head"`
	// Supposed is what the head was planned with and the source does not say, as on the
	// command line: "without cluster eu-1".
	Supposed []string  `json:"supposed,omitempty"`
	Totals   Totals    `json:"totals"`
	Changes  []Change  `json:"changes"`  // by rank: see Verbs
	Clusters []Cluster `json:"clusters"` // in which anything changes, in the order of names
	Regions  []Region  `json:"regions,omitempty"`
	// Services say how clusters exchange services otherwise, in the order of names.
	Services []Exchange `json:"services,omitempty"`
	// Rollouts say in which steps changes reach the clusters, of what goes out in stages. The rest is what the change does
	// when all of them are over.
	Rollouts []Rollout `json:"rollouts,omitempty"`
	// Short are resources of clusters whose capacity is other than it was, of which more is asked for than there is.
	Short []Short           `json:"short,omitempty"`
	Guard *Guard            `json:"guard,omitempty"`       // nil if it holds nothing
	Diags []diag.Diagnostic `json:"diagnostics,omitempty"` // of the head, and not of the base
	// Already are the errors and warnings of the head that the base has, too.
	Already []diag.Diagnostic `json:"already,omitempty"`
	// IsDone says that it was carried out: nothing of it waits for anybody.
	IsDone bool `json:"-"`
}

// Span is a number before and after.
type Span struct {
	Before int `json:"before"`
	After  int `json:"after"`
}

// Totals sum a comparison up.
type Totals struct {
	Objects int `json:"objects"` // that change
	// Verbs count them by what they do.
	Verbs map[Verb]int `json:"verbs"`
	// Clusters is in how many anything changes, and Of how many there are.
	Clusters int `json:"clusters"`
	Of       int `json:"of"`
	// Added, Removed and Changed count manifests over all clusters.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"`
	// Replicas is of the objects that change, over all clusters.
	Replicas Span `json:"replicas"`
}

// Verb is what objects do, in the word that matters most.
type Verb string

// The verbs. Held is left as it is because a cluster is held, Frozen for any other reason;
// Stays is left behind in clusters that are no longer registered, and is in no other.
const (
	Disappears Verb = "disappears"
	Held       Verb = "held"
	Frozen     Verb = "frozen"
	Stays      Verb = "stays"
	Moves      Verb = "moves"
	Scales     Verb = "scales"
	Changes    Verb = "changes"
	Appears    Verb = "appears"
)

// Verbs are all verbs in the order of changes: what needs most attention comes first.
func Verbs() []Verb {
	return []Verb{Disappears, Held, Frozen, Stays, Moves, Scales, Changes, Appears}
}

// Change is what some objects do alike.
type Change struct {
	Verb    Verb         `json:"verb"`
	Objects []object.Ref `json:"objects"` // in their order
	Causes  []Cause      `json:"causes,omitempty"`
	// Added are clusters that receive them, Removed those that lose them, and Detached
	// those that are no longer registered, where they stay as they are.
	Added    []string `json:"added,omitempty"`
	Removed  []string `json:"removed,omitempty"`
	Detached []string `json:"detached,omitempty"`
	// Elsewhere is in how many registered clusters they are beside Detached.
	Elsewhere int       `json:"elsewhere,omitempty"`
	Scaled    []Scale   `json:"scaled,omitempty"`
	Changed   []Content `json:"changed,omitempty"`
	Left      []Left    `json:"left,omitempty"`
	// Moves say how they leave clusters for others.
	Moves []Move `json:"moves,omitempty"`
	// Replicas is of each of them, over the clusters in which it changes; nil for kinds
	// without.
	Replicas *Span `json:"replicas,omitempty"`
}

// Cause is what a change comes from, and where that stands.
type Cause struct {
	Message string   `json:"message"`
	Pos     diag.Pos `json:"pos"`
}

// Edited is the message of a cause that is a file which somebody edited.
const Edited = "changed"

// String prints the cause with its place.
func (c Cause) String() string {
	if c.Pos.File == "" {
		return c.Message
	}
	return c.Message + " (" + c.Pos.String() + ")"
}

// Scale is a change of replicas, which is the same in some clusters.
type Scale struct {
	Clusters []string `json:"clusters"`
	From     int32    `json:"from"`
	To       int32    `json:"to"`
}

// Content is a change of manifests, which is the same in some clusters.
type Content struct {
	Clusters []string       `json:"clusters"`
	Fields   []fields.Field `json:"fields"`
}

// Left is where something of a change is not carried out, and why.
type Left struct {
	Clusters []string      `json:"clusters"`
	Code     reason.Reason `json:"-"`
	Reason   string        `json:"reason"` // Code in a sentence
	Kept     bool          `json:"kept"`   // it is there; otherwise it should be, and is not
}

// Move is how objects leave a cluster for others.
type Move struct {
	From string `json:"from"`
	How  string `json:"how"` // whether anything is waited for, and why
	// Nowhere says for how long they may be in no cluster.
	Nowhere string `json:"nowhere"`
}

// Errors counts what is an error in the head's source, and not in the base's. What is held is sound, and is
// shown.
func (c *Comparison) Errors() int { return len(Mistakes(c.Diags)) }

// Mistakes are the errors of the source.
func Mistakes(all []diag.Diagnostic) []diag.Diagnostic {
	return slices.DeleteFunc(slices.Clone(all), func(d diag.Diagnostic) bool { return !IsMistake(d) })
}

// IsMistake reports an error of the source: neither that a cluster is held nor that a run stopped is one.
func IsMistake(d diag.Diagnostic) bool {
	return d.Severity == diag.Error && d.Code != diag.Held && d.Code != diag.RolloutStopped
}

// Empty reports that the two plans are the same to every cluster.
func (c *Comparison) Empty() bool { return len(c.Changes)+len(c.Clusters)+len(c.Services) == 0 }
