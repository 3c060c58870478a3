package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

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
