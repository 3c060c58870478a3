package publish

import (
	"fmt"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// Observation is what was observed of clusters, to be recorded on top of a head of the state
// branch.
type Observation struct {
	Head     git.Head
	Clusters []string // sorted
	Why      string   // what changed, for people
	Version  string   // of the running Waybill
	At       time.Time
}

// Update is the update that makes a folder the head of the state branch. Its trailers name the
// source, as those of the head do, and the last commit that holds a plan.
func (o *Observation) Update(root *files.Folder) git.Update {
	head, clusters := o.Head, o.Clusters
	planned := head.Commit.String()
	if Trailer(head.Message, TrailerObserved) != "" {
		planned = Trailer(head.Message, TrailerState)
	}
	const most = 3 // clusters in the subject
	subject := strings.Join(clusters[:min(most, len(clusters))], ", ")
	if more := len(clusters) - most; more > 0 {
		subject += fmt.Sprintf(" and %d more", more)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "observed: %s\n\n%s\n\n", subject, o.Why)
	for _, key := range []string{TrailerRepository, TrailerCommit, TrailerPath} {
		if value := Trailer(head.Message, key); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	fmt.Fprintf(&b, "%s: %s\n", TrailerState, planned)
	for _, name := range clusters {
		fmt.Fprintf(&b, "%s: %s\n", TrailerObserved, name)
	}
	if o.Version != "" {
		fmt.Fprintf(&b, "%s: %s\n", TrailerVersion, o.Version)
	}
	return git.Update{
		Branch: state.Branch, Old: head.Commit, Tree: root, Message: b.String(),
		Author: git.Author{Name: authorName, Email: authorEmail}, When: o.At.UTC().Truncate(time.Second),
	}
}
