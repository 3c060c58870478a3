package walk

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// rings are what clusters may be labelled with, by which stages select them; one has no label.
var rings = []string{"a", "a", "b", "b", "c", ""}

// strategy says in which stages changes go out.
type strategy struct {
	stages           []stage
	onFailure, newer string
}

// stage is a stage of a strategy.
type stage struct {
	name, ring, width       string
	failures, wait          int // wait is in minutes
	approveBefore, approved bool
}

func (s *strategy) text(name string) string {
	var b strings.Builder
	notes := []string{fmt.Sprintf("waybill.dev/on-failure: %s, waybill.dev/newer: %s", s.onFailure, s.newer)}
	for _, st := range s.stages {
		notes = append(notes, fmt.Sprintf("waybill.dev/max-failures.%s: %q", st.name, strconv.Itoa(st.failures)))
	}
	fmt.Fprintf(&b, "apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterStagedUpdateStrategy\nmetadata: {name: %s, annotations: {%s}}\nspec:\n  stages:\n", name, strings.Join(notes, ", "))
	for _, st := range s.stages {
		fmt.Fprintf(&b, "  - {name: %s, labelSelector: {matchLabels: {ring: %s}}, maxConcurrency: %s", st.name, st.ring, st.width)
		if st.approveBefore {
			b.WriteString(", beforeStageTasks: [{type: Approval}]")
		}
		var after []string
		if st.wait > 0 {
			after = append(after, fmt.Sprintf("{type: TimedWait, waitTime: %dm}", st.wait))
		}
		if st.approved {
			after = append(after, "{type: Approval}")
		}
		if len(after) > 0 {
			fmt.Fprintf(&b, ", afterStageTasks: [%s]", strings.Join(after, ", "))
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// drawn is a strategy of two or three stages.
func drawn(r *rand.Rand) strategy {
	var s strategy
	s.onFailure, _ = pick(r, []string{"Stop", "Stop", "Return"})
	s.newer, _ = pick(r, []string{"Restart", "Restart", "Wait"})
	for i := range 2 + r.IntN(2) {
		st := stage{name: fmt.Sprint("s", i+1), ring: string(rune('a' + i)), approveBefore: r.IntN(8) == 0, approved: r.IntN(8) == 0}
		st.width, _ = pick(r, []string{"1", "1", "2", "50%", "100%"})
		st.wait, _ = pick(r, []int{0, 0, 5, 30})
		st.failures, _ = pick(r, []int{0, 0, 1})
		s.stages = append(s.stages, st)
	}
	return s
}

// stageDeeds are the kinds of op that only walks with strategies have.
var stageDeeds = map[string]func(*world, *rand.Rand) string{
	"add strategy":    addStrategy,
	"edit strategy":   editStrategy,
	"remove strategy": func(w *world, r *rand.Rand) string { return removeOne(w, r, "Strategy") },
	"bind":            bind,
	"unbind":          unbind,
	"relabel":         relabel,
	"edit override":   editOverride,
}

// calmDeeds are the kinds of op by which nothing breaks, each as often as it is drawn.
var calmDeeds = []string{
	"add cluster", "remove cluster", "relabel", "relabel", "add object", "remove object", "edit object", "edit object", "edit object",
	"edit object", "edit object", "scale object", "scale object", "add policy", "remove policy", "edit policy", "edit policy", "select elsewhere",
	"add override", "edit override", "edit override", "remove override", "add strategy", "edit strategy", "remove strategy", "bind", "bind", "unbind",
}

func addStrategy(w *world, r *rand.Rand) string {
	name, ok := w.free("by", 2, "Strategy")
	if !ok {
		return ""
	}
	return "add strategy " + name + " to " + w.put(r, &doc{kind: "Strategy", name: name, by: drawn(r)})
}

func editStrategy(w *world, r *rand.Rand) string {
	d, ok := w.kind(r, "Strategy")
	if !ok {
		return ""
	}
	d.by = drawn(r)
	return "edit strategy " + d.name
}

func bind(w *world, r *rand.Rand) string {
	d, ok := w.kind(r, "Policy")
	s, ok2 := w.kind(r, "Strategy")
	if !ok || !ok2 {
		return ""
	}
	d.bound = s.name
	return fmt.Sprintf("bind policy %s to strategy %s", d.name, s.name)
}

func unbind(w *world, r *rand.Rand) string {
	d, ok := w.kind(r, "Policy")
	if !ok {
		return ""
	}
	d.bound = ""
	return "unbind policy " + d.name
}

func relabel(w *world, r *rand.Rand) string {
	d, ok := w.kind(r, "Cluster")
	if !ok {
		return ""
	}
	d.ring, _ = pick(r, rings)
	return fmt.Sprintf("label cluster %s with ring %q", d.name, d.ring)
}

func editOverride(w *world, r *rand.Rand) string {
	d, ok := w.kind(r, "Override")
	if !ok {
		return ""
	}
	d.value++
	return fmt.Sprintf("override %s writes v%d", d.name, d.value)
}

// release unbinds policies from strategies that are nowhere.
func (w *world) release() {
	for _, p := range w.docs(func(d *doc) bool { return d.kind == "Policy" }) {
		if len(w.docs(func(d *doc) bool { return d.kind == "Strategy" && d.name == p.bound })) == 0 {
			p.bound = ""
		}
	}
}

// snapshot is what a commit of the source means.
type snapshot []*doc

// unit is what a policy means by a commit on the clusters of another one: what clusters should hold, which objects it has, and a
// text that is another one whenever its bytes may be.
func (s snapshot) unit(policy string, fleet snapshot) unitMeaning {
	u := unitMeaning{cells: map[string]map[string]cell{}, refs: map[string]bool{}}
	isCluster := func(d *doc) bool { return d.kind == "Cluster" }
	docs := slices.DeleteFunc(slices.Clone(s), isCluster)
	for _, d := range fleet {
		if isCluster(d) {
			docs = append(docs, d)
		}
	}
	i := slices.IndexFunc(s, func(d *doc) bool { return d.kind == "Policy" && d.name == policy })
	if i < 0 {
		return u
	}
	p := *s[i]
	p.bound = ""
	texts := []string{p.text()}
	for _, d := range s {
		if d.isObject() && d.scope == "" && s.claims(d) == policy {
			u.refs[d.ref()] = true
			texts = append(texts, d.text())
		}
	}
	for _, d := range s {
		if d.kind == "Override" && u.has(d.object) {
			texts = append(texts, d.text())
		}
	}
	slices.Sort(texts)
	u.text = strings.Join(texts, "---\n")
	all := evaluate(docs)
	for cluster, cells := range all.cells {
		u.cells[cluster] = map[string]cell{}
		for ref, c := range cells {
			if u.refs[ref] {
				u.cells[cluster][ref] = c
			}
		}
	}
	u.asked = all.asked
	return u
}

// division says how an object is divided; empty for one that is not there.
func (s snapshot) division(ref string) string {
	for _, d := range s {
		if !d.isObject() || d.ref() != ref {
			continue
		}
		by := s.claims(d)
		for _, p := range s {
			if p.kind == "Policy" && p.name == by {
				return fmt.Sprint(d.replicas, p.clusters, p.weights)
			}
		}
	}
	return ""
}

// unit is what a policy means by a commit, with which clusters there were when its objects were divided so.
func (s *stages) unit(commit, policy string, fleet snapshot) unitMeaning {
	u := s.commits[commit].unit(policy, fleet)
	u.shared = s.shared[commit]
	return u
}

// claims names the policy of an object; empty for none.
func (s snapshot) claims(o *doc) string {
	name := ""
	for _, p := range s {
		if p.kind == "Policy" && slices.Contains(p.selects, o.name) && (name == "" || p.name < name) {
			name = p.name
		}
	}
	return name
}

// unitMeaning is what a commit means of a unit.
type unitMeaning struct {
	text  string
	refs  map[string]bool
	cells map[string]map[string]cell // by cluster and object
	asked map[string]int             // replicas of what is divided, of all units
	// shared are the clusters that there were when objects came to be divided so, by object.
	shared map[string]map[string]bool
}

func (u *unitMeaning) has(object string) bool {
	for ref := range u.refs {
		if strings.HasSuffix(ref, "/"+object) {
			return true
		}
	}
	return false
}
