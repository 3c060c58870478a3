package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// Removals are objects that clusters lose: of each group, each of its clusters every one of its objects.
type Removals []Group

// Group is objects that some clusters lose alike.
type Group struct {
	Clusters []string     `json:"clusters"`
	Objects  []object.Ref `json:"objects"`
}

// Digest identifies the pairs of a cluster and an object, whatever groups they are in: 40 hexadecimal
// digits; empty for none.
func (rs Removals) Digest() string {
	var pairs []string
	for _, g := range rs {
		for _, cluster := range g.Clusters {
			for _, r := range g.Objects {
				pairs = append(pairs, fmt.Sprintf("%q %q %q %q %q\n", cluster, r.Group, r.Kind, r.Namespace, r.Name))
			}
		}
	}
	if len(pairs) == 0 {
		return ""
	}
	slices.Sort(pairs)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(pairs), "")))
	return hex.EncodeToString(sum[:20])
}

// names reports whether an object of a cluster is among them.
func (rs Removals) names(cluster string, r object.Ref) bool {
	return slices.ContainsFunc(rs, func(g Group) bool { return slices.Contains(g.Clusters, cluster) && slices.Contains(g.Objects, r) })
}

// Approval is what a maintainer allowed by a comment on a pull request.
type Approval struct {
	By          string // login at the forge
	PullRequest int
	Comment     int64     // on it; 0 where that is not known
	At          time.Time // when it was taken; zero where that is not known
	// Removals are those that the pull request adds, which is merged.
	Removals Removals
	// Digest is of all that held clusters would lose, as Digest has it: what comments of an earlier
	// version allowed. Empty where Removals say it.
	Digest string
}

// String says who allowed it where.
func (a *Approval) String() string {
	said := fmt.Sprintf("%s on pull request %d", words.Printable(a.By), a.PullRequest)
	if a.Comment != 0 {
		said += fmt.Sprintf(", comment %d", a.Comment)
	}
	return said + at(a.At)
}

// Approves reports whether a comment allowed that a cluster loses an object.
func (a *Allowance) Approves(r object.Ref, cluster string) bool {
	return slices.ContainsFunc(a.Approved, func(by Approval) bool { return by.Removals.names(cluster, r) })
}

// Approvers lists who allowed that a cluster loses something by its name.
func (a *Allowance) Approvers(cluster string) (by []string) {
	for _, approval := range a.Approved {
		if slices.ContainsFunc(approval.Removals, func(g Group) bool { return slices.Contains(g.Clusters, cluster) }) {
			by = append(by, approval.String())
		}
	}
	return by
}
