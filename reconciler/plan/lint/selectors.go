package lint

import (
	"fmt"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// selector is a resource selector of a policy that is to select something.
type selector struct {
	policy    any // *policies.Propagation or *policies.Override
	object    *object.Object
	says      karmada.ResourceSelector // its namespace is that of its policy, if that is of one
	at        int
	selectors policies.Selectors // just this one
	used      bool
}

// key is by what a selector is found: a name, or none.
type key struct{ apiVersion, kind, name string }

// selectors reports policies that select nothing, and selectors that select nothing where others of
// their policy do.
func (f *finder) selectors() {
	all, index := f.allSelectors()
	for _, t := range f.templates {
		f.actOnEverything(t)
		for _, s := range subjects(t) {
			for _, name := range []string{s.Ref.Name, ""} {
				for _, k := range []key{{s.APIVersion, s.Ref.Kind, name}, {karmada.Wildcard, karmada.Wildcard, name}} {
					for _, one := range index[k] {
						f.consider(one, t)
					}
				}
			}
		}
	}
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].policy == all[0].policy {
			n++
		}
		f.unused(all[:n])
		all = all[n:]
	}
}

// subjects are what selectors see of a template: those of policies that place it, and of overrides, where they see something else.
func subjects(t *schedule.Decision) []policies.Subject {
	if t.Template.MadeOf == nil {
		return []policies.Subject{t.Template.Subject}
	}
	return []policies.Subject{t.Template.Subject, t.Template.Selected()}
}

// consider notes whether a selector selects a template, unless nothing can come of it any more.
func (f *finder) consider(one *selector, t *schedule.Decision) {
	p, overrides := one.policy.(*policies.Override)
	isSettled := one.used && (!overrides || f.acting[p].isSettled())
	subject := t.Template.Subject
	if !overrides {
		subject = t.Template.Selected()
	}
	if isSettled || one.selectors.Match(subject) == policies.NoMatch {
		return
	}
	one.used, f.selects[one.policy] = true, true
	if overrides {
		f.act(p, t)
	}
}

// unused reports those selectors of a policy that select nothing.
func (f *finder) unused(of []*selector) {
	one := of[0]
	if !f.selects[one.policy] {
		hint, _ := f.hint(one)
		f.report(diag.Diagnostic{
			Code: diag.SelectsNothing, Severity: diag.Warning, Pos: one.object.FieldPos([]any{"spec", "resourceSelectors"}),
			Message: policies.Name(one.object) + " selects no object of the source that a policy may place", Hint: hint,
		})
		return
	}
	const most = 5 // that are told one by one
	var rest []string
	told, severity := 0, diag.Notice
	first := -1
	for _, one := range of {
		if one.used {
			continue
		}
		hint, isMistake := f.hint(one)
		if isMistake && told < most {
			told++
			f.report(diag.Diagnostic{
				Code: diag.SelectorSelectsNothing, Severity: diag.Warning, Pos: one.object.FieldPos([]any{"spec", "resourceSelectors", one.at}),
				Message: fmt.Sprintf("%s selects no %s", policies.Name(one.object), one), Hint: hint,
			})
			continue
		}
		if isMistake {
			severity = diag.Warning
		}
		if rest = append(rest, one.String()); first < 0 {
			first = one.at
		}
	}
	if len(rest) > 0 {
		f.report(diag.Diagnostic{
			Code: diag.SelectorSelectsNothing, Severity: severity, Pos: one.object.FieldPos([]any{"spec", "resourceSelectors", first}),
			Message: fmt.Sprintf("%s selects nothing by %d of its %d selectors: %s", policies.Name(one.object), len(rest), len(of), words.List(rest)),
			Hint:    "the source has no such object that a policy may place",
		})
	}
}

// allSelectors lists the selectors of all policies, and finds them by what they select.
func (f *finder) allSelectors() (all []*selector, index map[key][]*selector) {
	index = map[key][]*selector{}
	add := func(policy any, o *object.Object, says []karmada.ResourceSelector, compiled policies.Selectors) {
		for i, r := range says {
			one := &selector{policy: policy, object: o, says: r, at: i, selectors: compiled.Only(i)}
			all = append(all, one)
			k := key{r.APIVersion, r.Kind, r.Name}
			index[k] = append(index[k], one)
		}
	}
	for _, p := range f.policies.Set.Propagation {
		add(p, p.Object, p.Spec.ResourceSelectors, p.Selectors)
	}
	for _, p := range f.policies.Set.Override {
		add(p, p.Object, p.Spec.ResourceSelectors, p.Selectors)
		f.acting[p] = newActing(p)
		if len(p.Spec.ResourceSelectors) == 0 {
			f.everything = append(f.everything, p)
		}
	}
	return all, index
}

// String says what it is to select: "Deployment.apps/v1 web in shop".
func (s *selector) String() string {
	text := s.says.Kind + " of " + s.says.APIVersion
	if s.says.Name != "" {
		text += " called " + s.says.Name
	}
	if s.says.Namespace != "" {
		text += " in " + s.says.Namespace
	}
	if s.says.Name == "" && s.says.LabelSelector != nil {
		text += " with its labels"
	}
	return text
}

// hint says what of a selector is probably wrong: its kind, its apiVersion, its name or its
// namespace, whichever the source does not have. A selector that is for all of a kind is no
// mistake because the source has none of it yet.
func (f *finder) hint(s *selector) (hint string, isMistake bool) {
	if paths := s.object.Annotations()[karmada.PathsAnnotation]; paths != "" {
		return fmt.Sprintf("check %s, %q, and what its selectors name there", karmada.PathsAnnotation, paths), true
	}
	if s.says.Wild() {
		return "nothing that it may select stands there; see docs/policies.md", true
	}
	if f.hints == 0 {
		return "check its apiVersion, kind, namespace, name and labels", true
	}
	f.hints--
	var kinds, versions, names []string
	for _, t := range f.templates {
		subject := t.Template.Selected()
		if _, overrides := s.policy.(*policies.Override); overrides {
			subject = t.Template.Subject
		}
		if s.says.Namespace != "" && s.says.Namespace != subject.Ref.Namespace {
			continue
		}
		kinds = append(kinds, subject.Ref.Kind)
		if subject.Ref.Kind != s.says.Kind {
			continue
		}
		versions = append(versions, subject.APIVersion)
		if subject.APIVersion == s.says.APIVersion {
			names = append(names, subject.Ref.Name)
		}
	}
	switch {
	case len(versions) == 0:
		kinds = distinct(kinds)
		n := words.Nearest(s.says.Kind, kinds)
		const typing = 2 // errors in a kind; others are called nearly alike and are not meant
		if n == "" || words.Distance(s.says.Kind, n) > typing {
			return "the source has no " + s.says.Kind + " that a policy may place" + in(s.says.Namespace), s.says.Name != "" || s.says.LabelSelector != nil
		}
		return words.Meant(s.says.Kind, kinds, ""), true
	case len(names) == 0:
		return "the source has it as " + words.List(distinct(versions)), true
	case s.says.Name != "":
		return words.Meant(s.says.Name, distinct(names), "the source has "+words.List(distinct(names))), true
	}
	return "check its labels", true
}

func in(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in the namespace " + namespace
}
