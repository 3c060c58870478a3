package plan

import (
	"slices"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/render/object"
)

// Explanation is everything that decided where one template goes and what it is
// there.
type Explanation struct {
	Object    object.Ref `json:"object"`
	Where     string     `json:"where"` // file and line
	Outcome   string     `json:"outcome"`
	Message   string     `json:"message,omitempty"`
	Release   string     `json:"release,omitempty"` // that renders it
	Policy    string     `json:"policy,omitempty"`
	PolicyPos string     `json:"policyWhere,omitempty"`
	Losers    []Loser    `json:"losers,omitempty"`
	Replicas  int32      `json:"replicas,omitempty"`
	// Answers say which layer of interpreters answers for the kind: a customization,
	// the scripts for kinds of other projects, or the built-in kinds.
	Answers    []Answer                  `json:"answers,omitempty"`
	Placement  *place.Report             `json:"placement,omitempty"`
	RequiredBy []karmada.BindingSnapshot `json:"requiredBy,omitempty"`
	Clusters   []Written                 `json:"clusters"`
}

// Answer is who answers an operation on the template.
type Answer struct {
	Operation karmada.InterpreterOperation `json:"operation"`
	By        string                       `json:"by"`
}

// answers lists who answers the operations that a plan asks for.
func (b *builder) answers(t *template) []Answer {
	var all []Answer
	for _, op := range []karmada.InterpreterOperation{
		karmada.InterpreterOperationInterpretReplica, karmada.InterpreterOperationInterpretComponent,
		karmada.InterpreterOperationReviseReplica, karmada.InterpreterOperationInterpretDependency,
	} {
		if by := b.interpret.Answered(t.content, op); by != "" {
			all = append(all, Answer{op, by})
		}
	}
	return all
}

// Loser is a policy that selects the template and lost it to another.
type Loser struct {
	Policy string `json:"policy"`
	Why    string `json:"why"`
}

// Written is what the template is in one cluster.
type Written struct {
	Cluster  string    `json:"cluster"`
	Replicas int32     `json:"replicas,omitempty"`
	Changes  []Applied `json:"changes,omitempty"`
	Error    string    `json:"error,omitempty"`
}

// Applied is an override rule and what it changed.
type Applied struct {
	Rule    string            `json:"rule"`
	Where   string            `json:"where"`
	Changes []override.Change `json:"changes,omitempty"`
}

// Explain tells how Build decides about one template; false if the source has no
// such template.
func Explain(in Input, r object.Ref) (Explanation, bool) {
	b := newBuilder(&in)
	b.decide()
	t, ok := b.byRef[r]
	if !ok {
		return Explanation{}, false
	}
	e := Explanation{Object: r, Where: t.object.Pos().String(), Outcome: t.decision.Outcome.String(), Message: t.decision.Message, RequiredBy: t.requiredBy, Replicas: t.replicas, Answers: b.answers(t)}
	if t.part != nil {
		e.Release = t.part.release.object.Ref().String()
		b.explainClaim(t.part.release, &e)
	} else {
		b.explainClaim(t, &e)
	}
	if t.policy != nil {
		if s := b.scheduler(t.policy); s != nil {
			report := s.Explain(b.request(t))
			e.Placement = &report
		}
	}
	rules := b.overrides.Rules(t.subject)
	for _, target := range t.decision.Targets {
		e.Clusters = append(e.Clusters, b.explainCluster(t, target, rules))
	}
	return e, true
}

// String names an outcome.
func (o Outcome) String() string {
	return [...]string{"unclaimed", "skipped", "placed", "kept"}[o]
}

func (b *builder) explainClaim(t *template, e *Explanation) {
	candidates := b.claims.Candidates(t.subject)
	if len(candidates) == 0 {
		return
	}
	winner := candidates[0]
	e.Policy, e.PolicyPos = winner.Policy.String(), winner.Policy.Object.Pos().String()
	for _, c := range candidates[1:] {
		e.Losers = append(e.Losers, Loser{c.Policy.String(), match.Why(c, winner)})
	}
}

// explainCluster applies the rules one by one and records what each changed.
func (b *builder) explainCluster(t *template, c target, rules override.Rules) Written {
	w := Written{Cluster: c.Name, Replicas: c.Replicas}
	v := t.in(c.Name)
	if v == nil {
		w.Error = "its release cannot be rendered for the cluster; it stays as it was last published"
		return w
	}
	k := class{replicas: c.Replicas, completions: -1, rules: b.out.matching(rules.List, b.out.index[c.Name])}
	if n, ok := completions(t)[c.Name]; ok {
		k.completions = n
	}
	content, err := b.out.revise(t, *v, k)
	if err != nil {
		w.Error = err.Error()
		return w
	}
	rules.Claimed = t.policy != nil
	_, steps, err := rules.Apply(content, k.rules)
	if err != nil {
		w.Error = err.Error()
	}
	for _, step := range steps {
		r := step.Rule
		w.Changes = append(w.Changes, Applied{r.String(), r.Policy.Object.FieldPos([]any{"spec", "overrideRules", r.Index}).String(), step.Changes})
	}
	return w
}

// Find returns the refs of the templates of in that a user may mean by a kind, in
// any case and with or without its group, a name and a namespace.
func Find(in Input, matches func(object.Ref) bool) []object.Ref {
	b := newBuilder(&in)
	var refs []object.Ref
	for _, t := range b.templates {
		if matches(t.object.Ref()) {
			refs = append(refs, t.object.Ref())
		}
	}
	slices.SortFunc(refs, object.Ref.Compare)
	return refs
}
