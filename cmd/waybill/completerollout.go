package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// rolloutArguments completes the arguments of a command of rollout: a unit, and behind it a stage or a cluster. Of those that
// are recorded it suggests what the command would do something about.
func rolloutArguments(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	_, rest, err := sourceIn(cmd, args)
	takes := len(strings.Fields(cmd.Use)) - 1
	if err != nil || len(rest) >= takes {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	verb := rollouts.Verb(cmd.Name())
	if len(rest) == 0 {
		return first(1, func(w repositories) []string {
			return unitsFor(recordedRollouts(w), verb, takes > 1, strings.Contains(word, "@"))
		})(cmd, args, word)
	}
	return first(takes, func(w repositories) []string {
		r, err := commands.NamedRollout(recordedRollouts(w), rest[0])
		if err != nil {
			return nil
		}
		return aimsFor(r, verb)
	})(cmd, args, word)
}

// unitsFor are the units that a verb would do something about, or all of them for a verb that only asks; with their runs if so.
func unitsFor(all []rollouts.Rollout, verb rollouts.Verb, hasAim, withRun bool) (names []string) {
	for n := range all {
		r := &all[n]
		_, err := commands.Foresee(r, &commands.RolloutCommand{Verb: verb})
		switch isQuestion := verb == statusVerb; {
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

// unitsIn are the names of units, or of those in a namespace as get takes them beside -n.
func unitsIn(all []rollouts.Rollout, namespace string) (names []string) {
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
		if _, err := commands.Foresee(r, &commands.RolloutCommand{Verb: verb, Stage: st.Name}); err == nil {
			names = append(names, st.Name)
		}
	}
	if verb != rollouts.Skip {
		return names
	}
	for _, cluster := range slices.Sorted(maps.Keys(r.Clusters)) {
		if _, err := commands.Foresee(r, &commands.RolloutCommand{Verb: verb, Cluster: cluster}); err == nil {
			names = append(names, cluster)
		}
	}
	return names
}

// recordedRollouts are those that the state branch records, as far as they can be read.
func recordedRollouts(w repositories) []rollouts.Rollout {
	r, _, err := w.report("")
	if err != nil || r.Target == nil {
		return nil
	}
	head, ok, err := r.Target.Branch(w.cmd.Context(), state.Branch)
	if err != nil || !ok {
		return nil
	}
	all, _ := state.Rollouts(head.Tree)
	return all
}
