package manifest

import (
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/reconciler/plan/claim"
	"github.com/waybill-dev/waybill/reconciler/plan/law"
)

// Applied is an override rule and what it changed.
type Applied struct {
	Rule    string            `json:"rule"`
	Where   string            `json:"where"`
	Changes []override.Change `json:"changes,omitempty"`
}

// Explain applies the override rules to a template in one of its clusters, one by one. The
// error says why it cannot be written there.
func Explain(l *law.Law, d *claim.Decision, c claim.Target) ([]Applied, error) {
	v := d.Template.In(c.Name)
	i, ok := l.Index(c.Name)
	if v == nil || !ok {
		return nil, nil
	}
	rules := l.Overrides.Rules(d.Template.Subject)
	k := class{replicas: c.Replicas, completions: shareOf(completions(d), c.Name), rules: l.Matching(rules.List)[i]}
	content, err := revise(l.Asking(v.Object), d, *v, k)
	if err != nil {
		return nil, err
	}
	rules.Claimed, rules.Explain = d.Policy != nil, true
	_, steps, err := rules.Apply(content, k.rules)
	var all []Applied
	for _, step := range steps {
		r := step.Rule
		if v.Object.Private() {
			step.Changes = override.Withheld(step.Changes)
		}
		all = append(all, Applied{r.String(), r.Policy.Object.FieldPos([]any{"spec", "overrideRules", r.Index}).String(), step.Changes})
	}
	if err != nil && v.Object.Private() {
		err = errPrivate
	}
	return all, err //nolint:wrapcheck // it names the rule
}
