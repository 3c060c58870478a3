package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/words"
)

// AllowTrailer on a source commit allows the removals whose digest it names.
const AllowTrailer = "Waybill-Allow-Prune"

// AllowAll allows every removal.
const AllowAll = "*"

// Allowance is what allows removals.
type Allowance struct {
	// Named is digests of removals, with spaces between them, clusters by OfCluster among them, or
	// AllowAll. Publisher is who publishes with it, as Git knows him where that is done; it may be empty.
	Named, Publisher string
	// ByComment says that maintainers allow removals by comments on pull requests, so that no
	// trailer of a commit does: what a pull request is called may become a message.
	ByComment bool
	// Approved are the approvals that count for the source commit.
	Approved []Approval
}

// Allows reports whether removals with a digest are allowed, by name or by the source commit.
func (a *Allowance) Allows(source sources.Revision, digest string) bool {
	return a.All() || slices.Contains(strings.Fields(a.Named), digest) || a.byDigest(digest) != "" ||
		!a.ByComment && slices.Contains(sources.Trailers(source.Message, AllowTrailer), digest)
}

// byDigest says who allowed removals by a digest of the form of before; empty for nobody.
func (a *Allowance) byDigest(digest string) string {
	for _, approval := range a.Approved {
		if approval.Digest != "" && approval.Digest == digest {
			return approval.String()
		}
	}
	return ""
}

// Credit notes of held clusters who allowed their removals, which have a digest, and how. Now is the time of the plan.
func (a *Allowance) Credit(held []Held, source sources.Revision, digest string, now time.Time) {
	by := a.byDigest(digest)
	for i := range held {
		switch {
		case a.All() || slices.Contains(strings.Fields(a.Named), digest):
			held[i].Way = a.ByName(now)
		case by != "":
			held[i].By = []string{by}
		default:
			held[i].Way = "the trailer of commit " + source.Commit
		}
	}
}

// ByName says who allowed what is allowed by name, how, and that it was at a time; the zero one is not said.
func (a *Allowance) ByName(now time.Time) string {
	who := "whoever ran publish --allow-prune"
	if a.Publisher != "" {
		who = words.Printable(a.Publisher) + " by publish --allow-prune"
	}
	return who + at(now)
}

// atWord is between who allowed removals, and when.
const atWord = ", at "

func at(when time.Time) string {
	if when.IsZero() {
		return ""
	}
	return atWord + when.UTC().Format(time.RFC3339)
}

// AllowedAt is when removals were allowed, as it is said behind who allowed them; zero where it is not said.
func AllowedAt(said string) time.Time {
	i := strings.LastIndex(said, atWord)
	if i < 0 {
		return time.Time{}
	}
	when, _ := time.Parse(time.RFC3339, said[i+len(atWord):]) // zero for what is none
	return when
}

// All reports whether all removals are allowed.
func (a *Allowance) All() bool { return a.Named == AllowAll }

// clusterWord begins what allows all removals of one cluster.
const clusterWord = "cluster/"

// OfCluster allows every removal of one cluster, and of no other.
func OfCluster(name string) string { return clusterWord + name }

// AllowsCluster reports whether all removals of a cluster are allowed by its name.
func (a *Allowance) AllowsCluster(name string) bool {
	return slices.Contains(strings.Fields(a.Named), clusterWord+name)
}

// ToAllow says how to allow the removals of a digest that held clusters would lose.
func (a *Allowance) ToAllow(digest string) string {
	if a.ByComment {
		return `comment "/waybill approve-prune DIGEST HEAD" on the pull request before it is merged, as its preview says, or publish with --allow-prune`
	}
	return a.ToForget(digest)
}

// ToForget says how to allow removals of a digest that no pull request shows.
func (a *Allowance) ToForget(digest string) string {
	if a.ByComment {
		return "publish with --allow-prune"
	}
	return fmt.Sprintf("put the trailer %q on a commit, or publish with --allow-prune", AllowTrailer+": "+digest)
}

// Held is a cluster that is held.
type Held struct {
	Cluster string
	Tree    files.ID // that it is held for
	Hold    *Hold
	// By are those who allowed it by comments, and Way says who did otherwise, and how.
	By  []string
	Way string
}

// Approvers are those who allowed clusters that were held, and how, by cluster.
func Approvers(released []Held) map[string][]string {
	by := map[string][]string{}
	for _, h := range released {
		who := slices.DeleteFunc(append(slices.Clone(h.By), h.Way), func(who string) bool { return who == "" })
		if len(who) > 0 {
			by[h.Cluster] = who
		}
	}
	return by
}

// Digest identifies what held clusters would lose; empty if none is held. It does not
// depend on the source commit, so that a later commit can allow it by name.
func Digest(held []Held) string {
	if len(held) == 0 {
		return ""
	}
	h := sha256.New()
	for _, c := range held {
		fmt.Fprintf(h, "%s %s\n", c.Cluster, c.Tree)
		for _, r := range c.Hold.Removals {
			fmt.Fprintf(h, "%s\n", r.Object)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Said reports clusters that are held; a digest releases them.
func (a *Allowance) Said(held []Held, digest string) (diags []diag.Diagnostic) {
	hint := "to let it happen, " + a.ToAllow(digest)
	for _, c := range held {
		diags = append(diags, diag.Diagnostic{
			Code: diag.Held, Severity: diag.Error, Hint: hint,
			Message: fmt.Sprintf("cluster %s is held: %s%s", c.Cluster, c.Hold.Reason, c.Hold.examples()),
		})
	}
	return diags
}

// Released reports clusters that were held, and whose removals are allowed.
func Released(held []Held) (diags []diag.Diagnostic) {
	for _, c := range held {
		diags = append(diags, diag.Diagnostic{
			Code: diag.Released, Severity: diag.Warning,
			Message: fmt.Sprintf("cluster %s was held and is released%s: %s%s", c.Cluster, approvedBy(c.By), c.Hold.Reason, c.Hold.examples()),
		})
	}
	return diags
}

// approvedBy says by whom.
func approvedBy(by []string) string {
	if len(by) == 0 {
		return ""
	}
	return ", approved by " + words.List(by)
}

// examples prints the first removals with their causes.
func (h *Hold) examples() string {
	const most = 3
	rs, what := h.Removals, ": "
	if h.isEdited {
		what = "; it would lose "
	}
	var parts []string
	for _, r := range rs[:min(most, len(rs))] {
		parts = append(parts, fmt.Sprintf("%s (%s)", r.Object, r.Cause))
	}
	if len(rs) > most {
		parts = append(parts, fmt.Sprintf("and %d more", len(rs)-most))
	}
	if len(parts) == 0 {
		return ""
	}
	return what + strings.Join(parts, "; ")
}
