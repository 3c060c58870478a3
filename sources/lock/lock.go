package lock

import (
	"cmp"
	"slices"
	"strings"
)

// FileName is where a source has its lock file.
const FileName = "waybill.lock"

// Kind says how a repository of charts is asked.
type Kind string

// The kinds of repository.
const (
	Helm Kind = "helm" // an index.yaml over HTTP
	OCI  Kind = "oci"  // tags of an OCI registry
)

// Ref is a reference to a chart, as people write it.
type Ref struct {
	Kind       Kind   `json:"kind" yaml:"kind"`
	Repository string `json:"repository" yaml:"repository"` // http(s):// for Helm; oci://host/path, without the chart's name, for OCI
	Name       string `json:"name" yaml:"name"`             // of the chart
	// Constraint is a version, a range as Helm reads it (empty: the latest release),
	// or, for OCI, any tag or a manifest's digest, sha256:<hex>.
	Constraint string `json:"constraint" yaml:"constraint"`
}

// String names the reference in messages.
func (r Ref) String() string {
	s := r.Repository + "/" + r.Name
	if r.Constraint != "" {
		s += " " + r.Constraint
	}
	return s
}

// Normal is r without what makes no difference to what it refers to.
func (r Ref) Normal() Ref {
	r.Repository = strings.TrimRight(r.Repository, "/")
	r.Constraint = strings.TrimSpace(r.Constraint)
	return r
}

// Entry says what a reference stands for.
type Entry struct {
	Ref `yaml:",inline"`

	Version string `json:"version" yaml:"version"` // what the constraint was resolved to
	URL     string `json:"url" yaml:"url"`         // where the archive was: http(s)://, or oci://host/path:tag@sha256:<manifest>
	Digest  string `json:"digest" yaml:"digest"`   // of the archive: sha256:<lower-case hex>
}

// Lock is what a lock file holds. The zero value is the empty one. It is a value:
// nothing changes it once made.
type Lock struct {
	entries []Entry // sorted, one a reference, references normal
}

// Entries returns what is locked, in the order of the file. The slice is the caller's.
func (l Lock) Entries() []Entry { return slices.Clone(l.entries) }

// Lookup returns what a reference stands for. Slashes at the end of the repository
// and spaces around the constraint make no difference; anything else does.
func (l Lock) Lookup(r Ref) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(l.entries, r.Normal(), func(e Entry, r Ref) int { return compare(e.Ref, r) })
	if !ok {
		return Entry{}, false
	}
	return l.entries[i], true
}

// With returns l with the entries put in, each in place of the one with the same
// reference. Of two with one reference the later counts.
func (l Lock) With(entries ...Entry) Lock {
	all := slices.Clone(l.entries)
	for _, e := range entries {
		e.Ref = e.Normal()
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return compare(a.Ref, b.Ref) })
	var merged []Entry
	for i, e := range all {
		if i+1 == len(all) || e.Ref != all[i+1].Ref {
			merged = append(merged, e)
		}
	}
	return Lock{entries: merged}
}

func compare(a, b Ref) int {
	return cmp.Or(
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Repository, b.Repository),
		cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Constraint, b.Constraint),
	)
}
