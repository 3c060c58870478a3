package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/words"
)

// FindRollout finds what is recorded of the unit that UNIT[@RUN] names at where it is published. The last part of a unit's
// name will do where that is one unit, and the first digits of the run that is open. What is not there is an error, with
// what is.
func FindRollout(ctx context.Context, at published.Repository, named string) (*rollouts.Rollout, error) {
	if err := at.Fetch(ctx, state.Branch); err != nil {
		return nil, err
	}
	head, ok, err := at.Branch(ctx, state.Branch)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("nothing was published to %s yet, so that nothing goes out in stages", at.Name())
	}
	e, _ := head.Tree.Lookup(rollouts.Folder)
	all, unreadable := rollouts.Decode(e.Dir)
	r, err := NamedRollout(all, named)
	unit, _, _ := strings.Cut(named, "@")
	for u, why := range unreadable {
		if err != nil && (u.String() == unit || u.Name == unit) {
			return nil, fmt.Errorf("what is recorded of %s cannot be read: %w", u, why)
		}
	}
	return r, err
}

// NamedRollout finds the unit that UNIT[@RUN] names among those that are recorded. The last part of a unit's name will do where that is one
// unit, and the first digits of its run. What is not there is an error, with what is.
func NamedRollout(all []rollouts.Rollout, named string) (*rollouts.Rollout, error) {
	unit, prefix, hasRun := strings.Cut(named, "@")
	r, err := namedRollout(all, unit)
	if err != nil {
		return nil, err
	}
	if hasRun && (prefix == "" || !strings.HasPrefix(r.Status.Run, prefix)) {
		return nil, fmt.Errorf("%q is not the run of %s; that is %s", prefix, r.Unit, r.Status.Run)
	}
	return r, nil
}

// namedRollout finds a unit by its name, or by the last part of it where that is one unit.
func namedRollout(all []rollouts.Rollout, name string) (*rollouts.Rollout, error) {
	var names []string
	var found *rollouts.Rollout
	for i := range all {
		u := all[i].Unit
		if u.String() == name {
			return &all[i], nil
		}
		if u.Name == name {
			names, found = append(names, u.String()), &all[i]
		}
	}
	switch {
	case len(names) == 1:
		return found, nil
	case len(names) > 1:
		return nil, fmt.Errorf("%s may be %s; write the whole name", name, words.List(names))
	case len(all) == 0:
		return nil, fmt.Errorf("nothing goes out in stages, so that there is no %s; waybill.dev/rollout on a policy names a strategy", name)
	}
	for i := range all {
		names = append(names, all[i].Unit.String())
	}
	return nil, fmt.Errorf("%s does not go out in stages; %s", name, words.Meant(name, names, "there are "+words.List(names)))
}
