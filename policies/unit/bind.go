package unit

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/kubefleet"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// binding is the strategy of a policy.
type binding struct {
	name     string // as it is written; empty for none
	strategy *kubefleet.Strategy
	stays    string
}

// key is what a strategy is called: the namespace is empty for a ClusterStagedUpdateStrategy.
type key struct{ namespace, name string }

// binder binds policies to strategies.
type binder struct {
	config   render.Rollout
	rules    []labels.Selector
	good     map[key]*kubefleet.Strategy
	bad      map[key]bool
	hasty    map[key]diag.Diagnostic // strategies that would wait for nothing, and what is to be said of it
	ofConfig map[string]binding      // by what waybill.yaml names
	diags    []diag.Diagnostic
}

// newBinder makes a binder, and says which names of waybill.yaml are nowhere.
func newBinder(set *policies.Set, config render.Rollout) *binder {
	b := &binder{
		config: config, good: map[key]*kubefleet.Strategy{}, bad: map[key]bool{}, hasty: map[key]diag.Diagnostic{},
		ofConfig: map[string]binding{},
	}
	for _, s := range set.Strategies {
		k := key{s.Object.Ref().Namespace, s.Object.Ref().Name}
		b.good[k] = s.Value
		if d, found := waitsForNothing(s.Object, s.Value, config.Evidence); found {
			b.hasty[k] = d
		}
	}
	for _, r := range set.BadStrategies {
		b.bad[key{r.Namespace, r.Name}] = true
	}
	for i, r := range config.Rules {
		selector, err := metav1.LabelSelectorAsSelector(&config.Rules[i].Policies)
		if err != nil { // which the config refuses
			selector = labels.Nothing()
		}
		b.rules = append(b.rules, selector)
		b.named(r.Strategy, fmt.Sprintf("spec.rollout.rules[%d].strategy", i), r.Line)
	}
	b.named(config.Default, "spec.rollout.default", config.DefaultLine)
	return b
}

// named looks a name of waybill.yaml up.
func (b *binder) named(name, field string, line int) {
	of, found := b.find(name, "")
	if b.ofConfig[name] = of; !found {
		b.unknown(diag.Pos{File: render.ConfigFile, Line: line}, field, name, "")
	}
}

// bind returns the strategy of a policy.
func (b *binder) bind(o *object.Object) binding {
	if name, ok := o.Annotations()[RolloutAnnotation]; ok {
		of, found := b.find(name, o.Ref().Namespace)
		if !found {
			b.unknown(o.FieldPos([]any{"metadata", "annotations", RolloutAnnotation}), policies.Name(o)+": "+RolloutAnnotation, name, o.Ref().Namespace)
		}
		return of
	}
	for i, r := range b.rules {
		if r.Matches(labels.Set(o.Labels())) {
			return b.ofConfig[b.config.Rules[i].Strategy]
		}
	}
	return b.ofConfig[b.config.Default]
}

// find looks a name up in a namespace, if that is not empty, and among all clusters' strategies.
func (b *binder) find(name, namespace string) (of binding, found bool) {
	if name == "" || name == render.NoStrategy {
		return binding{}, true
	}
	for _, k := range []key{{namespace, name}, {"", name}} {
		of = binding{name: name, strategy: b.good[k]}
		switch {
		case b.isHasty(k):
			of.strategy, of.stays = nil, fmt.Sprintf("its strategy %q waits for nothing after a stage, and time alone is evidence", name)
			return of, true
		case of.strategy != nil:
			if k.namespace != "" {
				of.name = k.namespace + "/" + name
			}
			return of, true
		case b.bad[k]:
			of.stays = fmt.Sprintf("its strategy %q has a mistake", name)
			return of, true
		}
	}
	return binding{name: name, stays: fmt.Sprintf("its strategy %q is not in the source", name)}, false
}

// isHasty reports a strategy that would wait for nothing, and notes it once.
func (b *binder) isHasty(k key) bool {
	d, found := b.hasty[k]
	if found && !slices.ContainsFunc(b.diags, func(o diag.Diagnostic) bool { return o.Code == d.Code && o.Pos == d.Pos }) {
		b.diags = append(b.diags, d)
	}
	return found
}

// unknown notes a name that is nowhere.
func (b *binder) unknown(pos diag.Pos, field, name, namespace string) {
	var names []string
	for k := range maps.Keys(b.good) {
		if k.namespace == "" || k.namespace == namespace {
			names = append(names, k.name)
		}
	}
	slices.Sort(names)
	kinds := kubefleet.ClusterKind
	if namespace != "" {
		kinds = fmt.Sprintf("%s of the namespace %s, and no %s", kubefleet.NamespacedKind, namespace, kinds)
	}
	b.diags = append(b.diags, diag.Diagnostic{
		Code: diag.RolloutUnknown, Severity: diag.Error, Pos: pos,
		Message: fmt.Sprintf("%s is %q, and there is no %s of this name; what it binds stays as it is", field, name, kinds),
		Hint:    hint(name, slices.Compact(names)),
	})
}

// hint says what to write instead of a name.
func hint(name string, names []string) string {
	if len(names) == 0 {
		return `add the strategy to the source, or write "none"`
	}
	return words.Meant(name, names, `there are `+words.List(names)+`; write one of them, or "none"`)
}
