package manifest

import (
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
)

// Explain applies the override rules to a template in one of its clusters, one by one. The
// error says why it cannot be written there.
func Explain(l *index.Policies, d *schedule.Decision, c schedule.Target) ([]override.Applied, error) {
	i, ok := l.Position(c.Name)
	if !ok {
		return nil, nil
	}
	v := d.Template.In(i)
	if v == nil {
		return nil, nil
	}
	rules := l.Overrides.Rules(d.Template.Subject)
	k := class{replicas: c.Replicas, completions: shareOf(completions(d), c.Name), rules: l.Matching(rules.List)[i]}
	k.share, k.scaled, k.backends = d.Shares[c.Name], d.Scaled[c.Name], d.Backends[c.Name].Names
	content, err := revise(l.Interpreter.About(v.Object), d, *v, k)
	if err != nil {
		return nil, err
	}
	rules.Claimed = d.Policy != nil
	return rules.Trace(v.Object, content, k.rules)
}
