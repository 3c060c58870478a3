package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/render/object"
)

func explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "explain KIND[.GROUP]/NAME", Short: "Say why an object goes where it goes, and what differs there", Args: cobra.ExactArgs(1),
		Long: `Explain shows the policy that claims an object and those that lost it, every
cluster with the reason it was passed over, weights and seats, and each override
rule with what it changed.

The table has a line for each registered cluster:
  CLUSTER  its name
  RANK     in the order in which clusters are preferred: those that have the object
           first, then by room, then by name; - for one that is no candidate
  ROOM     replicas that it could have, with those that it has; - where that plays no part
  WEIGHT   by which replicas are divided: of the policy, the room that is free, or what it has
  SEATS    replicas that it gets
  VERDICT  chosen; fits, not chosen: a spread constraint left it out; or why it is no candidate`,
		Example: "  waybill explain deployment/web -n shop\n  waybill explain clusterrole.rbac.authorization.k8s.io/reader -o json",
	}
	rev := cmd.Flags().String("rev", "", "a commit, branch or tag, instead of the directory as it stands")
	namespace := cmd.Flags().StringP("namespace", "n", "", "namespace of the object")
	rounds := cmd.Flags().Bool("rounds", false, "show how the replicas were shared out, seat by seat")
	where := reportFlags(cmd)
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w, err := where(sourcePath(cmd))
		if err != nil {
			return failure(2, err)
		}
		p, err := w.build(*rev, plan.Branch)
		if err != nil {
			return failure(2, err)
		}
		ref, err := lookUp(&p, args[0], *namespace, sourcePath(cmd))
		if err != nil {
			return failure(2, err)
		}
		found, _ := p.Explain(ref)
		e := report.Explain(&found)
		if e.Placement != nil && !*rounds {
			e.Placement.Divisions = nil
		}
		return failure(2, show(cmd, output, report.Explanation(&e)))
	}
	return cmd
}

// lookUp finds the one object of the source at path that a person means.
func lookUp(p *plan.Plan, arg, namespace, path string) (object.Ref, error) {
	kind, name, ok := strings.Cut(arg, "/")
	if !ok || kind == "" || name == "" {
		return object.Ref{}, fmt.Errorf("%q names no object; want KIND/NAME, as in deployment/web", arg)
	}
	kind, group, hasGroup := strings.Cut(kind, ".")
	matches := func(r object.Ref) bool {
		sameKind := strings.EqualFold(r.Kind, kind) || strings.EqualFold(r.Kind+"s", kind)
		return sameKind && (!hasGroup || r.Group == group) && r.Name == name && (namespace == "" || r.Namespace == namespace)
	}
	var refs []object.Ref
	for i := range p.Decisions {
		if r := p.Decisions[i].Ref(); matches(r) {
			refs = append(refs, r)
		}
	}
	switch len(refs) {
	case 1:
		return refs[0], nil
	case 0:
		if inner, outer, ok := p.Within(matches); ok {
			return object.Ref{}, fmt.Errorf("%s is rendered by %s, and goes where that goes; %q says where, and why", inner, outer, "waybill explain "+outer.Argument())
		}
		return object.Ref{}, fmt.Errorf("the source has no template %s; %q lists them", arg, "waybill render "+path)
	}
	names := make([]string, 0, len(refs))
	for _, r := range refs {
		names = append(names, r.String())
	}
	return object.Ref{}, fmt.Errorf("%s may be any of %s; add -n NAMESPACE or the group", arg, report.Short(names, 5))
}
