package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
)

func getCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "get clusters|policies|bindings|works|flux", Short: "List what a source registers and where it goes", Args: cobra.ExactArgs(1),
		ValidArgs: []string{"clusters", "policies", "bindings", "works", "flux"},
	}
	path := cmd.Flags().StringP("source", "C", ".", "directory of the source")
	rev := cmd.Flags().String("rev", "", "a commit, branch or tag, instead of the directory as it stands")
	namespace := cmd.Flags().StringP("namespace", "n", "", "only what is in this namespace")
	flux := addFluxFlags(cmd)
	where := reportFlags(cmd)
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w, err := where(*path)
		if err != nil {
			return failure(2, err)
		}
		p, in, err := w.build(*rev, plan.Branch)
		if err != nil {
			return failure(2, err)
		}
		g := getter{plan: &p, in: &in, namespace: *namespace, format: *output, w: cmd.OutOrStdout()}
		f := fluxPrinter{fluxFlags: *flux, plan: &p, in: &in, trees: tree.NewBuilder(), w: cmd.OutOrStdout(), notes: cmd.ErrOrStderr()}
		list, ok := map[string]func() error{
			"clusters": g.clusters, "policies": g.policies, "bindings": g.bindings, "works": g.works, "flux": f.print,
		}[args[0]]
		if !ok {
			return failure(2, fmt.Errorf("there is no list of %q; want clusters, policies, bindings, works or flux", args[0]))
		}
		return failure(2, list())
	}
	return cmd
}

type getter struct {
	plan      *plan.Plan
	in        *plan.Input
	namespace string
	format    format
	w         io.Writer
}

func (g *getter) show(items any, head []string, rows [][]string) error {
	return emit(g.w, g.format, items, func(w io.Writer) error { return columns(w, head, rows) })
}

func (g *getter) wants(namespace string) bool { return g.namespace == "" || g.namespace == namespace }

func (g *getter) clusters() error {
	set, _, _ := policies.Load(g.in.Source.Objects, nil)
	objects := map[string]int{}
	for _, c := range g.plan.Clusters {
		objects[c.Name] = c.Objects
	}
	var rows [][]string
	items := []karmada.Cluster{}
	for _, c := range set.Clusters {
		s := c.Spec.Spec
		items = append(items, c.Spec)
		rows = append(rows, []string{c.Spec.Name, string(s.SyncMode), dash(s.Provider), dash(s.Region), dash(strings.Join(s.Zones, ",")), strconv.Itoa(len(s.Taints)), strconv.Itoa(objects[c.Spec.Name])})
	}
	return g.show(items, []string{"NAME", "MODE", "PROVIDER", "REGION", "ZONES", "TAINTS", "OBJECTS"}, rows)
}

func (g *getter) policies() error {
	set, _, _ := policies.Load(g.in.Source.Objects, nil)
	claims := map[*object.Object]int{}
	for _, d := range g.plan.Decisions {
		if d.Policy != nil {
			claims[d.Policy.Object]++
		}
	}
	var rows [][]string
	items := []map[string]any{}
	for _, p := range set.Propagation {
		if r := p.Object.Ref(); g.wants(r.Namespace) {
			items = append(items, object.WithoutApplied(p.Object.Content()))
			rows = append(rows, []string{r.Kind, dash(r.Namespace), r.Name, strconv.Itoa(int(p.Spec.ExplicitPriority())), strconv.Itoa(claims[p.Object]), p.Object.Pos().String()})
		}
	}
	for _, p := range set.Override {
		if r := p.Object.Ref(); g.wants(r.Namespace) {
			items = append(items, override.Shown(p))
			rows = append(rows, []string{r.Kind, dash(r.Namespace), r.Name, "-", "-", p.Object.Pos().String()})
		}
	}
	return g.show(items, []string{"KIND", "NAMESPACE", "NAME", "PRIORITY", "CLAIMS", "WHERE"}, rows)
}

func (g *getter) bindings() error {
	var rows [][]string
	items := []*karmada.ResourceBinding{}
	for _, d := range g.plan.Decisions {
		b := d.Binding
		if b == nil || !g.wants(b.Namespace) {
			continue
		}
		items = append(items, b)
		var names []string
		for _, t := range d.Targets {
			name := t.Name
			if t.Replicas > 0 {
				name += ":" + strconv.Itoa(int(t.Replicas))
			}
			names = append(names, name)
		}
		rows = append(rows, []string{dash(b.Namespace), b.Name, strconv.Itoa(int(b.Spec.Replicas)), dash(d.Reason), dash(short(names, 4))})
	}
	return g.show(items, []string{"NAMESPACE", "NAME", "REPLICAS", "SCHEDULED", "CLUSTERS"}, rows)
}

// work is one manifest in one cluster.
type work struct {
	Cluster string     `json:"cluster"`
	Object  object.Ref `json:"object"`
	Path    string     `json:"path"`
}

func (g *getter) works() error {
	items := []work{}
	var rows [][]string
	for _, c := range g.plan.Clusters {
		for path, e := range c.Tree.All() {
			if !strings.HasPrefix(path, "manifests/") {
				continue
			}
			data, err := e.Blob.Bytes()
			if err != nil {
				return err
			}
			for _, o := range object.Decode(path, data).Objects {
				if g.wants(o.Ref().Namespace) {
					items = append(items, work{c.Name, o.Ref(), path})
					rows = append(rows, []string{c.Name, o.Ref().String(), path})
				}
			}
		}
	}
	return g.show(items, []string{"CLUSTER", "OBJECT", "PATH"}, rows)
}
