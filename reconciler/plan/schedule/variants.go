package schedule

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/render/diag"
)

// countVariants gives each cluster the replicas that the release has there, where they are
// not divided. A cluster for which it cannot be rendered keeps those that it had.
func (p *placer) countVariants(it *item, placed, previous []Target) []Target {
	part := it.template.Part
	if part == nil || !it.size.IsWorkload() {
		return placed
	}
	asked := make([]int32, len(part.Variants))
	for n, v := range part.Variants {
		asked[n] = it.size.Replicas
		if size := p.in.size(v); size.Err == nil {
			asked[n] = size.Replicas
		}
	}
	other := slices.IndexFunc(asked, func(n int32) bool { return n != it.size.Replicas })
	switch {
	case it.isDivided() && other >= 0:
		p.diags = append(p.diags, replicasDiffer(it, asked[other]))
		return placed
	case it.isDivided(), len(part.Failed) == 0 && other < 0:
		return placed // every cluster has them already
	}
	placed = slices.Clone(placed)
	find := p.in.Policies.Finder()
	for i, c := range placed {
		if at, known := find(c.Name); known {
			if n, ok := part.Of(at); ok {
				placed[i].Replicas = asked[n]
				continue
			}
		}
		for _, was := range previous {
			if was.Name == c.Name {
				placed[i].Replicas = was.Replicas
			}
		}
	}
	return placed
}

// replicasDiffer says that the total to divide is not the same everywhere.
func replicasDiffer(it *item, other int32) diag.Diagnostic {
	release := it.template.Part.Release
	return diag.Diagnostic{
		Code: diag.ReplicasDiffer, Severity: diag.Warning, Pos: release.Origin(),
		Message: fmt.Sprintf("%s renders %s with %d replicas in one cluster and %d in another; %s divides %d",
			release.Ref(), it.ref(), it.size.Replicas, other, it.policy, it.size.Replicas),
		Hint: "say the same number everywhere, and let the policy's weights tell clusters apart",
	}
}
