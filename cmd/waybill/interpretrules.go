package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// ofFiles are the rules of -f, and what is wrong with their scripts.
func (f *interpretFlags) ofFiles(in io.Reader) (*health.Judge, []string, error) {
	var r ruleFiles
	for _, name := range f.files {
		data, err := readInput(in, name)
		if err != nil {
			return nil, nil, err
		}
		err = eachDocument(data, func(doc []byte) error { return r.add(name, doc) })
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	kinds := interpret.New(r.custom...)
	for _, e := range kinds.Wrong() {
		r.wrong = append(r.wrong, fmt.Sprintf("%s: %s, line %d of the script: %s", e.Customization, e.Field, e.Line, e.Message))
	}
	return &health.Judge{Kinds: kinds, Own: r.own}, r.wrong, nil
}

// ruleFiles are the rules in files.
type ruleFiles struct {
	custom []*karmada.ResourceInterpreterCustomization
	own    *argocd.Rules
	wrong  []string
}

// add reads a document of a file.
func (r *ruleFiles) add(name string, doc []byte) error {
	var c karmada.ResourceInterpreterCustomization
	if err := yaml.Unmarshal(doc, &c); err != nil {
		return err
	}
	switch c.Kind {
	case "ResourceInterpreterCustomization":
		c.Name += " (" + name + ")"
		r.custom = append(r.custom, &c)
		return nil
	case "ConfigMap":
		var m corev1.ConfigMap
		if err := yaml.Unmarshal(doc, &m); err != nil {
			return err
		}
		scripts, mistakes := argocd.Read(m.Namespace+"/"+m.Name+" ("+name+")", m.Data)
		r.own = scripts.Rules()
		for _, e := range mistakes {
			r.wrong = append(r.wrong, fmt.Sprintf("%s: %s", name, e))
		}
		return nil
	}
	return fmt.Errorf("kind %q is no ResourceInterpreterCustomization, and no ConfigMap", c.Kind)
}

// sourceRules are the rules of a source.
type sourceRules struct {
	judge *health.Judge
	files []string          // that its customizations are written in
	wrong []diag.Diagnostic // what is wrong with scripts
}

// ofSource are the rules of the source as whoever applies it is given them, but for what charts
// render to.
func ofSource(cmd *cobra.Command) (rules sourceRules, err error) {
	w := repositories{cmd: cmd, path: sourcePath(cmd), offline: true}
	r, s, err := w.alone("")
	if err != nil {
		return rules, err
	}
	obs, err := r.Look(cmd.Context(), s, plan.Branch)
	if err != nil {
		return rules, err
	}
	obs.Input.Source = obs.Source
	p := plan.Build(obs.Input)
	custom, err := state.Interpreters(p.State)
	if err != nil {
		return rules, err
	}
	at := map[string]string{} // files, by object
	for _, objs := range append(slices.Collect(maps.Values(obs.Source.Bound)), obs.Source.Objects) {
		for _, o := range objs {
			at[written(o.Ref())] = o.Origin().File
		}
	}
	for _, c := range custom {
		file := at[written(object.Ref{Group: "config.karmada.io", Kind: c.Kind, Name: c.Name})]
		rules.files = append(rules.files, filepath.Join(w.path, file))
		c.Name += " (" + file + ")"
	}
	rules.judge = &health.Judge{Kinds: interpret.New(custom...), Prefer: health.Prefer(p.Config.Health.Prefer)}
	scripts, err := state.HealthScripts(p.State)
	if err != nil {
		return rules, err
	}
	if scripts != nil {
		scripts.ConfigMap += fmt.Sprintf(" (%s)", at["/ConfigMap "+scripts.ConfigMap])
		rules.judge.Own = scripts.Rules()
	}
	for _, d := range p.Diags {
		if d.Code == diag.BadScript || d.Code == diag.NoHealthScripts || d.Code == diag.BadConfig {
			rules.wrong = append(rules.wrong, d)
		}
	}
	slices.Sort(rules.files)
	rules.files = slices.Compact(rules.files)
	return rules, nil
}

// written is an object in words that are its own.
func written(r object.Ref) string { return r.Group + "/" + r.Kind + " " + r.Namespace + "/" + r.Name }
