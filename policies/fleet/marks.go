package fleet

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Mark is what is remembered of a taint, which its key and effect name: when it was first seen,
// and whether a policy added it. What a policy added stays until one takes it away.
type Mark struct {
	Key       string             `json:"key"`
	Effect    corev1.TaintEffect `json:"effect"`
	Value     string             `json:"value,omitempty"`     // of one that a policy added
	TimeAdded *metav1.Time       `json:"timeAdded,omitempty"` // of one that drives work out
	Policy    bool               `json:"policy,omitempty"`
	// Observed says that a policy added it by a condition that was observed, and none by conditions
	// that the registration says.
	Observed bool `json:"observed,omitempty"`
}

// Marks are the marks of clusters, by name, each in the order of keys and effects.
type Marks map[string][]Mark

// Observed reports whether a taint of a cluster follows from what was observed of it.
func (m Marks) Observed(cluster string, t corev1.Taint) bool {
	return slices.ContainsFunc(m[cluster], func(m Mark) bool { return m.Observed && m.is(t) })
}

func (m Mark) is(t corev1.Taint) bool { return m.Key == t.Key && m.Effect == t.Effect }

// Sources tells whether a condition of a cluster, by its index, was observed: otherwise the registration
// says it.
type Sources func(cluster int, conditionType string) bool

// Lasting returns clusters with the taints that work goes by where it fails over: those of
// the registrations, those by the condition Ready (Karmada section C.3), and those of policies
// (section C.4), which stay once they are added. A taint that drives work out and does not say
// since when says when it was first seen: that is now, unless it is remembered. Lasting also
// returns what is to be remembered, and whether now is in it. The input is not changed.
func Lasting(clusters []karmada.Cluster, policies []*karmada.ClusterTaintPolicy, observed Sources, remembered Marks, now time.Time) (out []karmada.Cluster, next Marks, stamped bool) {
	out = slices.Clone(clusters)
	for i := range out {
		c := &out[i]
		if t, ok := byReadiness(c.Status.Conditions); ok {
			c.Spec.Taints = with(c.Spec.Taints, []karmada.PolicyTaint{t})
		}
		for _, m := range remembered[c.Name] {
			if m.Policy {
				c.Spec.Taints = with(c.Spec.Taints, []karmada.PolicyTaint{{Key: m.Key, Value: m.Value, Effect: m.Effect}})
			}
		}
	}
	why := map[int]reasons{}
	out = tainted(out, policies, func(cluster int, p *karmada.ClusterTaintPolicy) {
		isObserved := slices.ContainsFunc(p.Spec.AddOnConditions, func(d karmada.MatchCondition) bool { return observed(cluster, d.ConditionType) })
		why[cluster] = why[cluster].with(p.Spec.Taints, isObserved)
	})
	next = Marks{}
	for i := range out {
		taints, marks, isNew := mark(out[i].Spec.Taints, clusters[i].Spec.Taints, remembered[out[i].Name], now)
		why[i].note(marks, remembered[out[i].Name])
		out[i].Spec.Taints, stamped = taints, stamped || isNew
		if len(marks) > 0 {
			next[out[i].Name] = marks
		}
	}
	return out, next, stamped
}

// reasons are the taints of a cluster that policies add now: whether only by what was observed.
type reasons map[karmada.PolicyTaint]bool

func (r reasons) with(taints []karmada.PolicyTaint, observed bool) reasons {
	if r == nil {
		r = reasons{}
	}
	for _, t := range taints {
		key := karmada.PolicyTaint{Key: t.Key, Effect: t.Effect}
		before, known := r[key]
		r[key] = observed && (before || !known)
	}
	return r
}

// note notes in marks which taints follow from what was observed: of one that no policy adds now, what
// is remembered holds.
func (r reasons) note(marks, remembered []Mark) {
	for i := range marks {
		m := &marks[i]
		if observed, added := r[karmada.PolicyTaint{Key: m.Key, Effect: m.Effect}]; added {
			m.Observed = m.Policy && observed
			continue
		}
		m.Observed = m.Policy && slices.ContainsFunc(remembered, func(o Mark) bool { return o.Observed && o.Key == m.Key && o.Effect == m.Effect })
	}
}

// mark returns the taints of a cluster with the time since which they drive work out, and what
// to remember of those that the registration, with its own taints, does not say.
func mark(taints, own []corev1.Taint, remembered []Mark, now time.Time) (marked []corev1.Taint, marks []Mark, stamped bool) {
	marked = slices.Clone(taints)
	for i := range marked {
		t := &marked[i]
		m := Mark{Key: t.Key, Effect: t.Effect, Policy: !hasTaint(own, t) && !isByReadiness(t)}
		if m.Policy {
			m.Value = t.Value
		}
		if t.Effect == corev1.TaintEffectNoExecute && t.TimeAdded == nil {
			at := metav1.NewTime(now.UTC())
			if n := slices.IndexFunc(remembered, func(m Mark) bool { return m.is(*t) && m.TimeAdded != nil }); n >= 0 {
				at = metav1.NewTime(remembered[n].TimeAdded.UTC())
			} else {
				stamped = true
			}
			t.TimeAdded, m.TimeAdded = &at, &at
		}
		if m.Policy || m.TimeAdded != nil {
			marks = append(marks, m)
		}
	}
	slices.SortFunc(marks, func(a, b Mark) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Effect, b.Effect)) })
	return marked, marks, stamped
}

// isByReadiness reports a taint that comes and goes with the condition Ready.
func isByReadiness(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule && (t.Key == karmada.TaintNotReady || t.Key == karmada.TaintUnreachable)
}

func hasTaint(taints []corev1.Taint, t *corev1.Taint) bool {
	return slices.ContainsFunc(taints, func(o corev1.Taint) bool { return o.MatchTaint(t) })
}

// Tolerates reports whether a toleration is for a taint, as Kubernetes has it. The API module's
// own method wants a logger, for the operators Lt and Gt, which Karmada refuses.
func Tolerates(l corev1.Toleration, t *corev1.Taint) bool {
	if l.Effect != "" && l.Effect != t.Effect || l.Key != "" && l.Key != t.Key {
		return false
	}
	switch l.Operator {
	case corev1.TolerationOpExists:
		return true
	case "", corev1.TolerationOpEqual:
		return l.Value == t.Value
	default:
		return false
	}
}
