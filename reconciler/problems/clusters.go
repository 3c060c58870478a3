package problems

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/object"
)

// explain is the command that says why an object is where it is.
func explain(r object.Ref) string {
	command := "waybill explain " + strings.ToLower(r.Kind) + "/" + r.Name
	if r.Namespace != "" {
		command += " -n " + r.Namespace
	}
	return command
}

// sorted is a problem whose clusters are in the order of their names, each once.
func sorted(p Problem) Problem {
	slices.Sort(p.Clusters)
	p.Clusters = slices.Compact(p.Clusters)
	return p
}

// earlier is the earlier of two times, of which the zero one is not known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// ofClusters are clusters that do not take their branch, or of which nothing was heard. Those that say the same are one.
func ofClusters(f *facts.Facts) []Problem {
	type alike struct{ state, message string }
	groups := map[alike]*Problem{}
	var found []alike
	for i := range f.Fleet.Clusters {
		m := &f.Fleet.Clusters[i]
		kind, is := ClusterFailing, failingOf(m)
		switch is.Reason {
		case status.Errored, status.Unreachable, status.NoCredential:
		case status.Unknown:
			kind = Silent
		default:
			continue
		}
		key := alike{is.Reason, is.Message}
		if kind == Silent && m.Report != nil {
			key.message = "nobody said anything of it for too long"
		}
		p := groups[key]
		if p == nil {
			found = append(found, key)
			p = &Problem{Kind: kind, Name: is.Reason, Reason: is.Reason, Message: key.message, Next: "waybill status " + m.Cluster}
			groups[key] = p
		}
		p.Clusters = append(p.Clusters, m.Cluster)
		if m.Report != nil {
			since := m.Report.Since
			if kind == Silent {
				since = m.Report.At
			}
			p.Since = earlier(p.Since, since.UTC())
		}
	}
	return listed(groups, found)
}

// failingOf is how a cluster is, and why: that a publication holds it hides nothing of what whoever applies says.
func failingOf(m *reports.Cluster) status.Verdict {
	if m.State != status.Held || m.Report == nil {
		return status.Verdict{Reason: m.State, Message: m.Message}
	}
	return m.Report.Verdict
}

// listed are groups in the order in which they were found.
func listed[K comparable](groups map[K]*Problem, found []K) (all []Problem) {
	for _, k := range found {
		p := *groups[k]
		if len(p.Clusters) == 1 && p.Kind != NotApplied && p.Kind != Unhealthy && p.Kind != Drifting {
			p.Name = p.Clusters[0]
		}
		all = append(all, sorted(p))
	}
	return all
}

// isHeld reports a template that stays in a cluster because the guard holds what would go.
func isHeld(t facts.Target) bool { return t.Kept && t.Left == reason.Held.Message() }

// losesOf lists by clusters what they would lose if what is held of them happened.
func losesOf(f *facts.Facts) map[string][]string {
	loses := map[string][]string{}
	for _, t := range f.Templates() {
		for _, c := range t.Targets {
			if isHeld(c) {
				loses[c.Cluster] = append(loses[c.Cluster], t.Ref.String())
			}
		}
	}
	return loses
}

// HoldOf says what of a cluster waits for somebody; false for nothing. The command that lets it happen is for this cluster alone.
func HoldOf(f *facts.Facts, m *reports.Cluster) (Problem, bool) {
	p := hold(f, m)
	if p.Message == "" {
		return p, false
	}
	if p.Next == allowing {
		p.Next += "=" + m.Cluster
	}
	p.Name, p.Clusters = m.Cluster, []string{m.Cluster}
	for _, t := range f.Templates() {
		if c, ok := t.Target(m.Cluster); ok && isHeld(c) {
			p.Loses = append(p.Loses, t.Ref.String())
		}
	}
	return p, true
}

// hold is that removals of a cluster wait, by its publication or by whoever applies; its message is empty where none do.
func hold(f *facts.Facts, m *reports.Cluster) Problem {
	p := Problem{Kind: Held, Name: "held clusters", Reason: status.Held, Message: state.HeldBy(m.Registered), Since: heldSince(m)}
	switch {
	case p.Message != "":
		p.Commit, p.Next = f.Fleet.Seen.Commit, allowing
	case m.State == status.Held:
		p.Message, p.Next = m.Message, "waybill status "+m.Cluster
	}
	return p
}

// ofHolds are clusters whose removals wait: of the publication, or of whoever applies. Those that would lose the same are one.
func ofHolds(f *facts.Facts) []Problem {
	loses := losesOf(f)
	groups := map[string]*Problem{}
	var found []string
	for i := range f.Fleet.Clusters {
		m := &f.Fleet.Clusters[i]
		is := hold(f, m)
		if is.Message == "" {
			continue
		}
		is.Loses = loses[m.Cluster]
		key := is.Message + "\x00" + strings.Join(is.Loses, "\x00")
		if groups[key] == nil {
			found = append(found, key)
			groups[key] = &is
		}
		p := groups[key]
		p.Clusters, p.Since = append(p.Clusters, m.Cluster), earlier(p.Since, is.Since)
	}
	all := listed(groups, found)
	for i := range all {
		if p := &all[i]; p.Next == allowing {
			p.Next += "=" + strings.Join(p.Clusters, ",")
		}
	}
	return all
}

// allowing is the command that lets happen what is held of all clusters.
const allowing = "waybill publish --allow-prune"

// heldSince is since when a cluster is held; zero where that is not known.
func heldSince(m *reports.Cluster) time.Time {
	for _, c := range m.Registered.Status.Conditions {
		if c.Type == state.HeldCondition && c.Status == metav1.ConditionTrue {
			return c.LastTransitionTime.UTC()
		}
	}
	if m.Report != nil {
		return m.Report.Since.UTC()
	}
	return time.Time{}
}

// objectKey is what is one problem: an object in a state, for a reason, since a commit.
type objectKey struct {
	kind   Kind
	ref    object.Ref
	reason string
	commit string
}

// ofObjects are objects that are not applied, not healthy, or changed again and again.
func ofObjects(in *Input) []Problem {
	groups := map[objectKey]*Problem{}
	var found []objectKey
	for i := range in.Facts.Fleet.Clusters {
		m := &in.Facts.Fleet.Clusters[i]
		if m.Report == nil || m.State == status.Unknown || !isAnyUnwell(&m.Report.Counts) {
			continue
		}
		for r, o := range in.Objects(m) {
			is := judge(o)
			if is.kind == "" {
				continue
			}
			key := objectKey{is.kind, r, is.why, o.Applied.Source}
			p := groups[key]
			if p == nil {
				found = append(found, key)
				p = &Problem{
					Kind: is.kind, Name: r.String(), Reason: is.why, Message: is.message, Commit: o.Applied.Source, Next: explain(r), object: r,
				}
				groups[key] = p
			}
			p.Clusters, p.Since = append(p.Clusters, m.Cluster), earlier(p.Since, is.since.UTC())
			p.Message = min(cmp.Or(p.Message, is.message), cmp.Or(is.message, p.Message)) // of those that say why, the same one at each look
		}
	}
	all := listed(groups, found)
	of := map[object.Ref]int{}
	for _, t := range in.Facts.Templates() {
		of[t.Ref] = len(t.Targets)
	}
	for i := range all {
		all[i].Of = of[all[i].object]
	}
	return all
}

func isAnyUnwell(c *status.Counts) bool { return c.Failed+c.Pending+c.Unhealthy+c.Drifting > 0 }

// wrong is what is wrong with an object in a cluster; the kind is empty for nothing.
type wrong struct {
	kind         Kind
	why, message string
	since        time.Time
}

// judge says what is wrong with an object. That somebody suspended it is nothing.
func judge(o *status.Object) wrong {
	switch {
	case o.Applied.Phase == status.PhaseFailed || o.Applied.Phase == status.PhasePending:
		return wrong{NotApplied, string(o.Applied.Phase), o.Applied.Message, o.Applied.Since}
	case o.Applied.Phase == status.PhaseApplied && o.Health.State == karmada.ResourceUnhealthy && o.Health.Reason != health.Suspended:
		said := slices.DeleteFunc([]string{o.Health.PodWords(), o.Health.Message}, func(s string) bool { return s == "" })
		return wrong{Unhealthy, o.Health.Why(), strings.Join(said, "; "), o.Health.Since}
	case o.Applied.Phase == status.PhaseApplied && o.Applied.Corrected > 0:
		return wrong{Drifting, "Drifting", fmt.Sprintf("somebody changes it: it was put right %d times", o.Applied.Corrected), o.Applied.Since}
	}
	return wrong{}
}
