package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/cmd/waybill/updating"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/explain"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/report/cell"
	"github.com/waybill-dev/waybill/reconciler/report/update"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

func explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "explain KIND[.GROUP]/NAME", Short: "Say why an object goes where it goes, and what differs there", Args: cobra.RangeArgs(1, 2),
		Long: `Explain shows the policy that claims an object and those that lost it, every
cluster with the reason it was passed over, weights and seats, and each override
rule with what it changed. Of images with markers, and of a chart that a range
names, it shows what is newer and why it is not taken, as whoever looked last saw it.

The table has a line for each registered cluster:
  CLUSTER  its name
  RANK     in the order in which clusters are preferred: those that have the object
           first, then by room, then by name; - for one that is no candidate
  ROOM     replicas that it could have, with those that it has; - where that plays no part
  WEIGHT   by which replicas are divided: of the policy, the room that is free, or what it has
  SEATS    replicas that it gets
  VERDICT  chosen; fits, not chosen: a spread constraint left it out; or why it is no candidate`,
		Example: "  waybill explain deployment/web -n shop\n  waybill explain deployment web -n shop\n  waybill explain clusterrole.rbac.authorization.k8s.io/reader -o json",
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
		meant, err := parseMeant(args, *namespace)
		if err != nil {
			return failure(2, err)
		}
		ref, known, err := meant.template(&p)
		if err != nil {
			return failure(2, err)
		}
		if !known {
			all, err := meant.bound(&p)
			if err != nil {
				return failure(2, err)
			}
			return failure(2, show(cmd, output, report.Folders(all)))
		}
		found, _ := explain.Template(&p, ref)
		e := report.Explain(&found)
		if e.Placement != nil && !*rounds {
			e.Placement.Divisions = nil
		}
		if e.Updates, err = newer(w, *rev, found.Decision); err != nil {
			return failure(2, err)
		}
		return failure(2, show(cmd, output, report.Explanation(&e)))
	}
	return cmd
}

// newer says what is newer of the images of a template, and of the chart of its release. What is remembered of that may be at a
// server: where it does not answer, that is told, and with --offline nothing is said of it.
func newer(w repositories, rev string, d *plan.Decision) ([]update.Update, error) {
	if w.offline {
		return nil, nil
	}
	where := []diag.Pos{d.Template.Object.Origin()}
	if d.Template.Part != nil {
		where = append(where, d.Template.Part.Release.Origin())
	}
	ctx, cancel := context.WithTimeout(w.cmd.Context(), answerTime)
	defer cancel()
	all, err := updating.About(ctx, updatePlaces(w, rev), where)
	if err != nil && w.cmd.Context().Err() == nil {
		fmt.Fprintln(w.cmd.ErrOrStderr(), "what is newer of its images and charts is not known:", err)
		return nil, nil
	}
	return all, err
}

// meant is what a person names an object by.
type meant struct {
	arg                          string
	kind, group, namespace, name string
	hasGroup                     bool
}

// parseMeant reads KIND/NAME, or KIND NAME, as kubectl takes both.
func parseMeant(args []string, namespace string) (meant, error) {
	arg := strings.Join(args, "/")
	kind, name, ok := strings.Cut(arg, "/")
	if len(args) > 1 && strings.Contains(args[0], "/") {
		return meant{}, fmt.Errorf("%q and %q are two objects; one is explained at a time", args[0], args[1])
	}
	if !ok || kind == "" || name == "" {
		return meant{}, fmt.Errorf("%q names no object; want KIND/NAME, as in deployment/web", arg)
	}
	m := meant{arg: arg, namespace: namespace, name: name}
	m.kind, m.group, m.hasGroup = strings.Cut(kind, ".")
	return m, nil
}

func (m *meant) matches(r object.Ref) bool {
	return isKind(r.Kind, m.kind) && (!m.hasGroup || r.Group == m.group) && r.Name == m.name && (m.namespace == "" || r.Namespace == m.namespace)
}

// shortNames are the kinds by kubectl's short names of them, and Flux's.
var shortNames = map[string]string{
	"cj": "CronJob", "cm": "ConfigMap", "crd": "CustomResourceDefinition", "crds": "CustomResourceDefinition", "deploy": "Deployment", "ds": "DaemonSet",
	"ep": "Endpoints", "hpa": "HorizontalPodAutoscaler", "hr": "HelmRelease", "ing": "Ingress", "ks": "Kustomization", "limits": "LimitRange",
	"netpol": "NetworkPolicy", "ns": "Namespace", "pc": "PriorityClass", "pdb": "PodDisruptionBudget", "po": "Pod", "pv": "PersistentVolume",
	"pvc": "PersistentVolumeClaim", "quota": "ResourceQuota", "rs": "ReplicaSet", "sa": "ServiceAccount", "sc": "StorageClass", "sts": "StatefulSet", "svc": "Service",
}

// isKind reports whether a person may call a kind so: by its name, its plural, or its short name.
func isKind(kind, called string) bool {
	plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: kind})
	return strings.EqualFold(kind, called) || strings.EqualFold(plural.Resource, called) || shortNames[strings.ToLower(called)] == kind
}

// one returns the one object that is meant; the zero one if there is none.
func (m *meant) one(refs []object.Ref) (object.Ref, error) {
	slices.SortFunc(refs, object.Ref.Compare)
	refs = slices.Compact(refs)
	if len(refs) == 0 {
		return object.Ref{}, nil
	}
	if len(refs) == 1 {
		return refs[0], nil
	}
	names := make([]string, 0, len(refs))
	for _, r := range refs {
		names = append(names, r.String())
	}
	return object.Ref{}, fmt.Errorf("%s may be any of %s; add -n NAMESPACE or the group", m.arg, cell.Short(names, 5))
}

// template finds the one template that is meant; false if there is none.
func (m *meant) template(p *plan.Plan) (one object.Ref, known bool, err error) {
	var refs []object.Ref
	for i := range p.Decisions {
		if d := &p.Decisions[i]; m.matches(d.Ref()) || m.matches(d.Template.Selected().Ref) {
			refs = append(refs, d.Ref())
		}
	}
	if one, err = m.one(refs); err != nil || len(refs) > 0 {
		return one, true, err
	}
	if inner, outer, ok := p.Expanded.Within(m.matches); ok {
		return one, true, fmt.Errorf("%s is rendered by %s, and goes where that goes; %q says where, and why", inner, outer, "waybill explain "+outer.Argument())
	}
	return one, false, nil
}

// bound finds the one object that is meant in the folders of clusters, where it is no template.
func (m *meant) bound(p *plan.Plan) (all []plan.Bound, err error) {
	var refs []object.Ref
	for _, c := range p.Clusters {
		for _, b := range p.Bound(c.Name) {
			if r := b.Object.Ref(); m.matches(r) {
				all, refs = append(all, b), append(refs, r)
			}
		}
	}
	if len(refs) == 0 {
		return nil, fmt.Errorf("the source has no template %s; %q lists them", m.arg, "waybill get templates")
	}
	_, err = m.one(refs)
	return all, err
}
