package listing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/sources/words"
)

// column is one of a list. A wide one is printed only where there is room.
type column struct {
	name string
	wide bool
}

// kind is one of the lists of get: what it is called, as kubectl's kinds are, its columns, and
// what of a plan is in it.
type kind struct {
	names   []string // the plural first; the others are the singular and short ones
	columns func(*Lists) []column
	items   func(*Lists) ([]item, error)
	global  bool // its objects are in no namespace
	status  bool // it shows what clusters say
	kept    bool // it shows what is recorded, and needs no plan
}

// kinds are the lists of get, in the order in which they are named to people. Those behind the
// first few are parts of another.
var kinds = []kind{
	{names: []string{"clusters", "cluster", "cl"}, columns: (*Lists).ofClusters, items: (*Lists).clusters, global: true},
	{names: []string{"policies", "policy"}, columns: (*Lists).ofPolicies, items: policiesOf("")},
	{names: []string{"templates", "template"}, columns: (*Lists).ofTemplates, items: (*Lists).templates},
	{names: []string{"releases", "release", "rel"}, columns: (*Lists).ofReleases, items: (*Lists).releases},
	{names: []string{"bindings", "binding", "rb", "resourcebindings", "resourcebinding"}, columns: (*Lists).ofBindings, items: (*Lists).bindings, status: true},
	{names: []string{"works", "work"}, columns: (*Lists).ofWorks, items: (*Lists).works, status: true},
	{names: []string{"rollouts", "rollout", "ro"}, columns: ofRollouts, items: rolloutItems, kept: true},
	{names: []string{"propagationpolicies", "propagationpolicy", "pp"}, columns: (*Lists).ofPolicies, items: policiesOf("PropagationPolicy")},
	{names: []string{"clusterpropagationpolicies", "clusterpropagationpolicy", "cpp"}, columns: (*Lists).ofPolicies, items: policiesOf("ClusterPropagationPolicy"), global: true},
	{names: []string{"overridepolicies", "overridepolicy", "op"}, columns: (*Lists).ofPolicies, items: policiesOf("OverridePolicy")},
	{names: []string{"clusteroverridepolicies", "clusteroverridepolicy", "cop"}, columns: (*Lists).ofPolicies, items: policiesOf("ClusterOverridePolicy"), global: true},
}

// Names returns the names of the lists that Git answers: of each its own and the others.
func Names() [][]string {
	all := make([][]string, 0, len(kinds))
	for _, k := range kinds {
		all = append(all, slices.Clone(k.names))
	}
	return all
}

// ShowsStatus reports whether a list shows what clusters say.
func ShowsStatus(word string) bool {
	k, err := kindCalled(word)
	return err == nil && k.status
}

// IsRecorded reports whether a list shows what is recorded, so that it needs no plan.
func IsRecorded(word string) bool {
	k, err := kindCalled(word)
	return err == nil && k.kept
}

// kindCalled finds a list by one of its names.
func kindCalled(word string) (*kind, error) {
	var known []string
	for i := range kinds {
		if slices.Contains(kinds[i].names, strings.ToLower(word)) {
			return &kinds[i], nil
		}
		known = append(known, kinds[i].names...)
	}
	hint := fmt.Sprintf("want %s, or --clusters for what clusters hold now", ownNames())
	if meant := words.Meant(word, known, ""); meant != "" {
		hint = meant + " " + hint
	}
	return nil, fmt.Errorf("there is no list of %q; %s", word, hint)
}

// ownNames lists the lists that are no part of another one, and flux, which prints none.
func ownNames() string {
	const own = 7
	var names []string
	for _, k := range kinds[:own] {
		names = append(names, k.names[0])
	}
	return strings.Join(names, ", ") + ", flux or argocd"
}
