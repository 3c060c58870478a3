// Package index is the policy index: all that the policies of a source say, ready to be asked: the clusters
// there are, which policy claims a template, which rules override it, and what its kind
// means.
package index

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Policies is what the policies of a source say.
type Policies struct {
	Set         policies.Set
	Fleet       fleet.Fleet
	FleetDigest string // identifies the clusters
	Virtual     *virtual.Fleet
	// Marks are to be remembered of the clusters' taints, where work fails over; Stamped says
	// that the time of the plan is in them.
	Marks             fleet.Marks
	Stamped           bool
	Claims            *match.Index
	Skips             match.Skips // what is never propagated
	Overrides         *override.Index
	Interpreter       *interpret.Interpreter
	InterpreterDigest string // identifies the customizations of the interpreter

	positions map[string]int // of clusters, by name
	lost      map[string]bool
	matched   map[string][]string
	numbers   map[*override.Rule]uint32
}

// Memo remembers what policies decoded to, and the fleet.
type Memo struct {
	decoded cache.Generation[*object.Object, policies.Decoded]
	joined  joined
}

// joined is a fleet, its digest, and what it was made of.
type joined struct {
	fleet    fleet.Fleet
	digest   string
	of       []*object.Object
	observed []*karmada.ClusterStatus
	taints   [][]corev1.Taint // of clusters, where work fails over
}

// Turn begins the next plan.
func (m *Memo) Turn() { m.decoded.Turn() }

// Decoded implements policies.Cache.
func (m *Memo) Decoded(o *object.Object) (policies.Decoded, bool) { return m.decoded.Get(o) }

// Keep implements policies.Cache.
func (m *Memo) Keep(o *object.Object, d policies.Decoded) { m.decoded.Put(o, d) }

// Of makes the index of a set of policies, and of the namespaces that the config skips.
func Of(set policies.Set, skipNamespaces []string, m *Memo) *Policies {
	l := &Policies{
		Set:    set,
		Claims: match.New(set.Propagation).WithOwners(services.Owners(set.Exposures)),
		Skips:  match.NewSkips(skipNamespaces), Overrides: override.New(set.Override),
		Interpreter: set.Interpreter, InterpreterDigest: interpreterDigest(&set),
		positions: map[string]int{}, lost: map[string]bool{}, matched: map[string][]string{}, numbers: map[*override.Rule]uint32{},
	}
	m.join(l)
	l.Virtual = virtual.New(l.Fleet)
	for i, c := range l.Fleet.Clusters() {
		l.positions[c.Name] = i
	}
	return l
}

// join makes the fleet of an index, which is known if the objects, what was observed, and the
// taints that last are the same.
func (m *Memo) join(l *Policies) {
	s := &l.Set
	of := make([]*object.Object, 0, len(s.Clusters)+len(s.Taints))
	observed := make([]*karmada.ClusterStatus, 0, len(s.Clusters))
	clusters := make([]karmada.Cluster, 0, len(s.Clusters))
	for _, c := range s.Clusters {
		of, observed, clusters = append(of, c.Object), append(observed, c.Observed), append(clusters, fleet.Observed(c.Spec, c.Observed))
		if c.IsLost() {
			l.lost[c.Spec.Name] = true
		}
	}
	taints := make([]*karmada.ClusterTaintPolicy, 0, len(s.Taints))
	for _, t := range s.Taints {
		of, taints = append(of, t.Object), append(taints, t.Value)
	}
	var lasting [][]corev1.Taint
	if s.Failover.Enabled {
		clusters, l.Marks, l.Stamped = fleet.Lasting(clusters, taints, sources(s.Clusters), s.Failover.Marks, s.Failover.Now)
		for i := range clusters {
			lasting = append(lasting, clusters[i].Spec.Taints)
		}
	}
	same := m.joined.of != nil && slices.Equal(m.joined.of, of) && slices.Equal(m.joined.observed, observed) &&
		equality.Semantic.DeepEqual(m.joined.taints, lasting)
	if !same {
		if !s.Failover.Enabled {
			clusters = fleet.Tainted(clusters, taints)
		}
		m.joined = joined{fleet: fleet.New(clusters), digest: digest(clusters), of: of, observed: observed, taints: lasting}
	}
	l.Fleet, l.FleetDigest = m.joined.fleet, m.joined.digest
}

// sources tells of conditions whether they were observed.
func sources(clusters []policies.Cluster) fleet.Sources {
	return func(cluster int, conditionType string) bool { return clusters[cluster].IsObserved(conditionType) }
}

func digest(clusters []karmada.Cluster) string {
	data, err := json.Marshal(clusters)
	if err != nil {
		panic("index: clusters that were decoded from JSON do not encode: " + err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// interpreterDigest identifies the customizations in force.
func interpreterDigest(set *policies.Set) string {
	var all strings.Builder
	for _, c := range set.Customizations {
		all.WriteString(files.Sum("blob", c.Object.YAML()).String())
	}
	return all.String()
}

// Position returns the position of a cluster in the fleet; false if it is not registered.
func (l *Policies) Position(cluster string) (int, bool) {
	i, ok := l.positions[cluster]
	return i, ok
}

// Lost reports that a cluster was observed not to be ready, and not yet to be ready again.
func (l *Policies) Lost(cluster string) bool { return l.lost[cluster] }

// Finder returns Position for clusters that mostly come in the order of the fleet.
func (l *Policies) Finder() func(cluster string) (int, bool) {
	clusters, next := l.Fleet.Clusters(), 0
	return func(cluster string) (int, bool) {
		i, ok := next, next < len(clusters) && clusters[next].Name == cluster
		if !ok {
			i, ok = l.Position(cluster)
		}
		next = i + 1
		return i, ok
	}
}

// Matching says for each cluster, by its index, which of some rules match it: a byte a
// rule, 1 where it does. Many templates have the same rules, and are answered alike.
func (l *Policies) Matching(rules []*override.Rule) []string {
	id := make([]byte, 0, 4*len(rules))
	for _, r := range rules {
		n, ok := l.numbers[r]
		if !ok {
			n = uint32(len(l.numbers)) //nolint:gosec // a plan has far fewer rules
			l.numbers[r] = n
		}
		id = binary.LittleEndian.AppendUint32(id, n)
	}
	if known, ok := l.matched[string(id)]; ok {
		return known
	}
	clusters := l.Fleet.Clusters()
	keys, same := make([]string, len(clusters)), map[string]string{}
	key := make([]byte, len(rules))
	for i, c := range clusters {
		for n, r := range rules {
			key[n] = 0
			if r.Clusters.Matches(c) {
				key[n] = 1
			}
		}
		if _, ok := same[string(key)]; !ok {
			same[string(key)] = string(key)
		}
		keys[i] = same[string(key)]
	}
	l.matched[string(id)] = keys
	return keys
}

// ClusterPos is where an annotation of a cluster's registration stands.
func (l *Policies) ClusterPos(cluster, annotation string) diag.Pos {
	for _, c := range l.Set.Clusters {
		if c.Spec.Name == cluster {
			return c.Object.FieldPos([]any{"metadata", "annotations", annotation})
		}
	}
	return diag.Pos{}
}
