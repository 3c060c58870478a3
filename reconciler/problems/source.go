package problems

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/diag"
)

// ofSource are the errors of the source; the list says how many there are besides.
func ofSource(f *facts.Facts, list *List) (all []Problem) {
	if f.SourceErrors == nil {
		return nil
	}
	r := f.SourceErrors()
	list.More = r.More
	for i := range r.Errors {
		e := &r.Errors[i]
		all = append(all, Problem{
			Kind: SourceError, Name: cmp.Or(e.File, "the source"), Reason: string(e.Code), Message: e.Message, Next: e.Hint,
			File: e.File, Line: e.Line, Commit: e.Commit, Since: e.Since,
		})
	}
	return all
}

// placed returns errors of the source, and templates that find no place, each once: an error that says so of a policy came with the same
// commit as what it says it of, and is left out.
func placed(errors, templates []Problem) []Problem {
	isOf := func(e, p *Problem) bool { return e.Reason == string(diag.Unschedulable) && e.Since.Equal(p.Since) }
	for i := range templates {
		p := &templates[i]
		if n := slices.IndexFunc(errors, func(e Problem) bool { return isOf(&e, p) }); n >= 0 {
			p.Commit = errors[n].Commit
		}
	}
	left := slices.DeleteFunc(errors, func(e Problem) bool {
		return slices.ContainsFunc(templates, func(p Problem) bool { return isOf(&e, &p) })
	})
	return slices.Concat(left, templates)
}

// ofTemplates are templates that are not placed as their policies ask, and files of the state branch that cannot be read.
func ofTemplates(f *facts.Facts) (all []Problem) {
	if f.Bindings == nil {
		return nil
	}
	b := f.Bindings()
	for _, path := range b.Unreadable {
		all = append(all, Problem{
			Kind: SourceError, Name: "waybill/state:" + path, Reason: "Unreadable", Message: "what it says is not known",
			Next: "git log -p waybill/state -- " + path,
		})
	}
	for _, t := range b.Templates {
		if t.Placed() {
			continue
		}
		since := t.Scheduled.LastTransitionTime
		all = append(all, Problem{
			Kind: NotPlaced, Name: t.Ref.String(), Reason: t.Scheduled.Reason, Message: t.Scheduled.Message, Since: since.UTC(), File: t.Source,
			Next: explain(t.Ref), object: t.Ref,
		})
	}
	return all
}

// ofRollouts are roll-outs of which nothing more is released until somebody says so.
func ofRollouts(f *facts.Facts) (all []Problem) {
	if f.Rollouts == nil {
		return nil
	}
	is := f.Rollouts()
	for i := range is.Units {
		r := &is.Units[i]
		if r.Status.Phase != rollouts.Stopped {
			continue
		}
		p := Problem{
			Kind: RolloutStopped, Name: r.Unit.String(), Reason: string(r.Status.Reason), Message: r.Status.Message, Commit: r.Status.Target.Commit,
			Next: "waybill rollout status " + r.Unit.String(),
		}
		var since metav1.Time
		for name, c := range r.Clusters {
			if c.State == rollouts.Failed {
				p.Clusters = append(p.Clusters, name)
			}
			if c.State == rollouts.Failed && (since.IsZero() || c.Since.Before(&since)) {
				since = c.Since
			}
		}
		p.Since = since.UTC()
		all = append(all, sorted(p))
	}
	return all
}
