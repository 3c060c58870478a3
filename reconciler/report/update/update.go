// Package update says of each subscription what is newer, and why it is not taken.
package update

import (
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/policies/imagepolicy"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render/marker"
	"github.com/waybill-dev/waybill/sources/words"
)

// Update is what is newer of an image or a chart, and what becomes of it.
type Update struct {
	Name    string `json:"name"` // of the policy, or of the chart as its branch has it
	Image   string `json:"image,omitempty"`
	Chart   string `json:"chart,omitempty"`
	Range   string `json:"range,omitempty"` // of the chart, or its tag
	Current string `json:"current,omitempty"`
	Next    string `json:"next,omitempty"` // what is taken; empty for nothing
	Newest  string `json:"newest,omitempty"`
	// FirstSeen is when the newest was, and Why why it is not taken, as a code.
	FirstSeen time.Time `json:"firstSeen,omitzero"`
	Why       string    `json:"why,omitempty"`
	Message   string    `json:"message,omitempty"`
	// Unfit is how many tags are no version that is wanted.
	Unfit int `json:"unfit,omitempty"`
	// Last is the version that was merged or committed last; nil where none is remembered.
	Last   *Last    `json:"last,omitempty"`
	Values []string `json:"values,omitempty"` // where they stand, or where a chart is named, as FILE:LINE
}

// Last is a version that the source got by Waybill.
type Last struct {
	Version string `json:"version"`
	From    string `json:"from,omitempty"` // what it replaced
	Commit  string `json:"commit"`         // the first of the branch that is followed in which it was seen
	// Committed says that Waybill committed it. Otherwise it was merged, from the pull request if there was one.
	Committed   bool   `json:"committed"`
	PullRequest string `json:"pullRequest,omitempty"`
}

// String is what a table says of it; empty for nothing.
func (l *Last) String() string {
	if l == nil {
		return ""
	}
	return words.Printable(fmt.Sprintf("%s by %.12s", l.Version, l.Commit))
}

// lastOf says which version was merged or committed last; nil for none.
func lastOf(v *updates.Verdict) *Last {
	p := v.Last
	if p == nil {
		return nil
	}
	return &Last{Version: shown(v, p.To), From: shown(v, p.From), Commit: p.Merged, Committed: p.IsCommitted(), PullRequest: p.URL}
}

// Of says what becomes of a subscription.
func Of(v *updates.Verdict) Update {
	u := Update{
		Name: v.Name().String(), Image: v.Repository, Why: string(v.Why), Message: v.Message, Unfit: v.Choice.Unfit, Values: v.Places(),
		Current: shown(v, v.Current), Next: shown(v, v.Next), Last: lastOf(v),
	}
	if v.Chart != nil {
		u.Chart, u.Image, u.Range = u.Image, "", v.Chart.Range()
	}
	if u.Message == "" {
		u.Message = sentences[v.Why]
	}
	if len(v.Choice.Newer) == 0 {
		return u
	}
	n := v.Choice.Newer[0]
	u.Newest, u.FirstSeen = n.Tag, n.Since
	if v.Why != "" && v.Why != updates.UpToDate {
		return u
	}
	switch u.Why, u.Message = string(n.Why), ""; n.Why {
	case imagepolicy.TooYoung:
		u.Message = "too young until " + n.Until.UTC().Format("2006-01-02 15:04Z")
	case imagepolicy.Major:
		u.Message = "another major, and updates.major is false"
	case imagepolicy.KeptBack:
		u.Message = "kept back: " + n.Message
	}
	return u
}

// sentences say why nothing is written.
var sentences = map[updates.Why]string{
	updates.Suspended: "suspended", updates.NotAutomated: "no ImageUpdateAutomation covers the policy", updates.NoMarker: "no value has a marker of it",
	updates.Unclear:   "an ImageUpdateAutomation of its namespace has a mistake, or a part of the source cannot be read",
	updates.MarkerBad: "a marker of it is a mistake", updates.UpToDate: "",
}

// shown is a value of a subscription: a tag, and the first digits of a digest. Of a chart that a range names it is the version.
func shown(v *updates.Verdict, is marker.Image) string {
	if is.Digest == "" || v.Chart != nil && !v.Chart.Moves() {
		return is.Tag
	}
	return fmt.Sprintf("%s@%.15s", is.Tag, is.Digest)
}
