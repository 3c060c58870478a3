package commands

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
)

// StatusVerb is the word that asks how far a run is, and commands nothing.
const StatusVerb = "status"

// Recorded are the roll-outs that the state branch records, and why others cannot be read; none where nothing was published.
func Recorded(ctx context.Context, at published.Repository) (all []rollouts.Rollout, unreadable map[rollouts.Unit]error, err error) {
	head, ok, err := at.Branch(ctx, state.Branch)
	if err != nil || !ok {
		return nil, nil, err
	}
	all, unreadable = state.Rollouts(head.Tree)
	return all, unreadable, nil
}

// Suggest lists what may stand next in a command of a verb that takes so many arguments, behind those that there are: units, with their
// runs where the word has one, or stages and clusters. Of these it lists what the command would do something about.
func Suggest(all []rollouts.Rollout, verb rollouts.Verb, takes int, args []string, word string) []string {
	if len(args) == 0 {
		return unitsFor(all, verb, takes > 1, strings.Contains(word, "@"))
	}
	r, err := NamedRollout(all, args[0])
	if err != nil {
		return nil
	}
	return aimsFor(r, verb)
}

// unitsFor are the units that a verb would do something about, or all of them for a verb that only asks; with their runs if so.
func unitsFor(all []rollouts.Rollout, verb rollouts.Verb, hasAim, withRun bool) (names []string) {
	for n := range all {
		r := &all[n]
		_, err := Foresee(r, &RolloutCommand{Verb: verb})
		switch isQuestion := verb == StatusVerb; {
		case isQuestion && !withRun:
			names = append(names, r.Unit.String())
		case isQuestion && r.Status.Run == "", !isQuestion && !hasAim && err != nil, !isQuestion && hasAim && len(aimsFor(r, verb)) == 0:
		case withRun:
			names = append(names, r.Unit.String()+"@"+r.Status.Run)
		default:
			names = append(names, r.Unit.String())
		}
	}
	return names
}

// UnitsIn are the names of units, or of those in a namespace as get takes them beside -n.
func UnitsIn(all []rollouts.Rollout, namespace string) (names []string) {
	for n := range all {
		switch u := all[n].Unit; {
		case namespace == "":
			names = append(names, u.String())
		case u.Namespace == namespace:
			names = append(names, u.Name)
		}
	}
	return names
}

// aimsFor are the stages and the clusters of a run that a verb would do something about.
func aimsFor(r *rollouts.Rollout, verb rollouts.Verb) (names []string) {
	for _, st := range r.Status.Stages {
		if _, err := Foresee(r, &RolloutCommand{Verb: verb, Stage: st.Name}); err == nil {
			names = append(names, st.Name)
		}
	}
	if verb != rollouts.Skip {
		return names
	}
	for _, cluster := range slices.Sorted(maps.Keys(r.Clusters)) {
		if _, err := Foresee(r, &RolloutCommand{Verb: verb, Cluster: cluster}); err == nil {
			names = append(names, cluster)
		}
	}
	return names
}

// Countable is an error about a command of the command line that the rules of a source would not let count.
func Countable(config render.Rollout, verb rollouts.Verb, isSigned bool) error {
	rules, bypasses := StrictestRules(config), verb == rollouts.Bypass
	switch {
	case bypasses && rules.Bypass == render.BypassNever:
		return fmt.Errorf("spec.rollout.bypass of %s is %s", render.ConfigFile, render.BypassNever)
	case !isSigned && (rules.Signed || bypasses && rules.Bypass == render.BypassSigned):
		return fmt.Errorf("%s takes only signed commands; sign it with --signing-key FILE", render.ConfigFile)
	case !isSigned && rules.NotAuthor && verb == rollouts.Approve:
		return fmt.Errorf("%s lets no author approve, so that an approval has to say who gave it; sign it with --signing-key FILE", render.ConfigFile)
	}
	return nil
}
