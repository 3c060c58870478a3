package listing

import (
	"strings"

	"github.com/waybill-dev/waybill/reconciler/plan"
)

// TemplateNames are those of the templates of a plan, as kubectl writes them: deployment/web.
func TemplateNames(p *plan.Plan) (names []string) {
	for i := range p.Decisions {
		r := p.Decisions[i].Ref()
		names = append(names, strings.ToLower(r.Kind)+"/"+r.Name)
	}
	return names
}

// Namespaces are those of the templates of a plan, each as often as it has one.
func Namespaces(p *plan.Plan) (names []string) {
	for i := range p.Decisions {
		if n := p.Decisions[i].Ref().Namespace; n != "" {
			names = append(names, n)
		}
	}
	return names
}
