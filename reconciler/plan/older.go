package plan

import (
	"cmp"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/kubefleet"
	"github.com/waybill-dev/waybill/policies/unit"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/older"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// mostVersions is how many older commits a plan evaluates. What clusters have of others stays as it is.
const mostVersions = 8

// OlderCommits lists the source commits that a plan may have to evaluate beside its own, because clusters show them
// still, in the order of how much depends on them. A plan asks for others that it turns out to need (Plan.Missing).
func OlderCommits(in *Input) (commits []string) {
	add := func(commit string) {
		if commit != "" && commit != in.Source.Revision.Commit && len(commits) < mostVersions && !slices.Contains(commits, commit) {
			commits = append(commits, commit)
		}
	}
	list := in.State.Rollouts
	for i := range list {
		if s := list[i].Status; s.Phase != rollouts.Done || len(list[i].Clusters) > 0 {
			add(s.Base.Commit)
			add(s.Target.Commit)
		}
	}
	shown := map[string]int{} // in how many clusters, of whatever unit
	for i := range list {
		for _, c := range list[i].Clusters {
			shown[c.Shows]++
		}
	}
	most := func(a, b string) int { return cmp.Or(cmp.Compare(shown[b], shown[a]), cmp.Compare(a, b)) }
	for _, commit := range slices.SortedFunc(maps.Keys(shown), most) {
		add(commit)
	}
	return commits
}

// Stages reports whether something of a source may go out in stages, by what was recorded and by what the source says.
func Stages(s *state.State, src *render.Source) bool {
	is := &src.Config.Rollout
	return len(s.Rollouts)+len(s.UnreadableRollouts) > 0 || is.Default != "" || len(is.Rules) > 0 || unit.HoldUnstaged(is.Windows) ||
		slices.ContainsFunc(src.Objects, func(o *object.Object) bool { return kubefleet.IsStrategy(o.Ref()) || isBound(o) })
}

// isBound reports a policy that names a strategy, be that in the source or not.
func isBound(o *object.Object) bool {
	return o.Ref().Group == "policy.karmada.io" && o.Annotations()[unit.RolloutAnnotation] != ""
}

// ExpandOlder expands an older version of the source for the clusters of the input, which becomes one of its
// versions. The error is that of render.
func ExpandOlder(in *Input, commit string, then render.Source, render expand.Render) error {
	if in.Memo == nil {
		in.Memo = NewMemo()
	}
	memo := in.Memo.older.Or(commit, func() *expand.Memo { return &expand.Memo{} })
	memo.Turn()
	src := older.Source(then, in.Source)
	x, err := expand.Expand(in.expanding(src, memo), render)
	if err != nil {
		return err
	}
	setVersion(in, commit, &older.Version{Commit: commit, Config: src.Config, Expanded: &x, Of: namesOf(x.Units)})
	return nil
}

// Unreadable says that an older version of the source cannot be read.
func Unreadable(in *Input, commit string) { setVersion(in, commit, nil) }

func setVersion(in *Input, commit string, v *older.Version) {
	if in.Staging.Versions == nil {
		in.Staging.Versions = map[string]*older.Version{}
	}
	in.Staging.Versions[commit] = v
}
