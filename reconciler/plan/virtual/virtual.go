// Package virtual settles what virtual clusters of one API server share. It is one pass over the rows of
// a plan, before the roll-out: what has no namespace goes to the host, and what cannot be told is
// blocked. Of a virtual cluster with a problem it is not known what it is to hold; that all of it stays
// is decided by the roll-out, of whose table it is a stopped cluster.
package virtual

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/match"
	mapped "github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// Input is what there is to settle.
type Input struct {
	Policies  *index.Policies
	Decisions []schedule.Decision // in the order of refs
	Rows      []manifest.Row      // likewise
	// Namespaces is the config's mode: whether Namespaces are sent along.
	Namespaces string
}

// Stopped are the virtual clusters of which it cannot be told what they are to hold.
func Stopped(p *index.Policies) map[int]reason.Reason {
	var all map[int]reason.Reason
	for i := range p.Fleet.Clusters() {
		if p.Virtual.Wrong(i) {
			if all == nil {
				all = map[int]reason.Reason{}
			}
			all[i] = reason.NotMapped
		}
	}
	return all
}

// Settle returns rows in which virtual clusters are settled. The rows that it is given stay as they are.
func Settle(in Input) ([]manifest.Row, []diag.Diagnostic) {
	v := in.Policies.Virtual
	if v == nil {
		return in.Rows, nil
	}
	clusters := in.Policies.Fleet.Clusters()
	used := manifest.UsedNamespaces(in.Rows, len(clusters))
	diags := in.lacking(used)
	clashes := v.Clashes(used)
	for _, c := range clashes {
		diags = append(diags, in.clash(c))
	}
	rows := slices.Clone(in.Rows)
	for n := range rows {
		row := &rows[n]
		row.Wants = slices.Clone(row.Wants)
		for _, c := range clashes {
			for _, claim := range []mapped.Claim{c.A, c.B} {
				if v.At(claim.Cluster) != nil && isIn(row.Ref, claim.Namespace) {
					stop(row, claim.Cluster, reason.Clashes)
				}
			}
		}
		for i, w := range row.Wants {
			if v.Wrong(int(w.Cluster)) {
				row.Wants[i].Blob = manifest.Unwritten
			}
		}
		if mapped.Shared(row.Ref) {
			diags = append(diags, in.share(row)...)
		}
	}
	return rows, diags
}

// isIn reports an object in a namespace, or that namespace itself.
func isIn(r object.Ref, namespace string) bool {
	return r.Namespace == namespace || r == (object.Ref{Kind: "Namespace", Name: namespace})
}

// stop blocks what is wanted in a cluster, which is then not known.
func stop(row *manifest.Row, cluster int, why reason.Reason) {
	for i, w := range row.Wants {
		if int(w.Cluster) == cluster {
			row.Wants[i].Blob = manifest.Unwritten
			row.Block(cluster, why)
		}
	}
}

// wants reports whether something is wanted in a cluster of an object.
func (in *Input) wants(r object.Ref, cluster int) bool {
	n, ok := slices.BinarySearchFunc(in.Rows, r, func(row manifest.Row, r object.Ref) int { return row.Ref.Compare(r) })
	if !ok {
		return false
	}
	_, wanted := in.Rows[n].Wanted(cluster)
	return wanted
}

// lacking warns of namespaces of virtual clusters that no Namespace is sent for.
func (in *Input) lacking(used map[string][]bool) (diags []diag.Diagnostic) {
	if in.Namespaces == render.NamespacesNone {
		return nil
	}
	v, clusters := in.Policies.Virtual, in.Policies.Fleet.Clusters()
	for _, namespace := range slices.Sorted(maps.Keys(used)) {
		r := object.Ref{Kind: "Namespace", Name: namespace}
		if namespace == "" || match.ClustersOwn(r) && namespace != "default" {
			continue
		}
		var lack []string
		first := 0
		for i, uses := range used[namespace] {
			if uses && v.At(i) != nil && !v.Wrong(i) && !in.wants(r, i) {
				if len(lack) == 0 {
					first = i
				}
				lack = append(lack, clusters[i].Name)
			}
		}
		if len(lack) > 0 {
			diags = append(diags, diag.Diagnostic{
				Code: diag.NamespaceMissing, Severity: diag.Warning,
				Message: fmt.Sprintf("the namespace %s is used in %s, where no Namespace is sent for it; on the API server it is %s",
					namespace, words.List(lack), v.At(first).Namespace(namespace)),
				Hint: fmt.Sprintf("put a Namespace %s into the source: virtual clusters get it under their name", namespace),
			})
		}
	}
	return diags
}

// clash says what two clusters would put into one namespace. A host that has it of its own
// keeps it: it is there by its own name.
func (in *Input) clash(c mapped.Clash) diag.Diagnostic {
	v, clusters := in.Policies.Virtual, in.Policies.Fleet.Clusters()
	say := c.B
	if v.At(c.B.Cluster) == nil {
		say = c.A
	}
	return diag.Diagnostic{
		Code: diag.NamespaceClash, Severity: diag.Error, Pos: in.Policies.ClusterPos(clusters[say.Cluster].Name, karmada.SuffixAnnotation),
		Message: fmt.Sprintf("the namespace %s of the cluster %s and the namespace %s of the cluster %s would both be %s on the API server of %s",
			c.A.Namespace, clusters[c.A.Cluster].Name, c.B.Namespace, clusters[c.B.Cluster].Name, c.Namespace, clusters[v.Host(say.Cluster)].Name),
		Hint: "rename one of the namespaces, or give a virtual cluster another " + karmada.SuffixAnnotation,
	}
}

// share gives what virtual clusters want of an object without a namespace to their host, if all
// of them, and the host, want the same.
func (in *Input) share(row *manifest.Row) (diags []diag.Diagnostic) {
	v, clusters := in.Policies.Virtual, in.Policies.Fleet.Clusters()
	want := map[int]manifest.Want{} // by host, the first
	lost := false
	for _, one := range row.Wants {
		cluster := int(one.Cluster)
		host := v.Host(cluster)
		if host == mapped.Nowhere {
			lost = true
			continue
		}
		if why := in.blockOf(row, cluster); why != "" && host != cluster {
			row.Block(host, why)
		}
		first, known := want[host]
		if !known {
			want[host] = one
			continue
		}
		if first.Blob != one.Blob && first.Blob != manifest.Unwritten && one.Blob != manifest.Unwritten {
			row.Block(host, reason.NotShared)
			diags = append(diags, in.notShared(row.Ref, clusters[first.Cluster], clusters[cluster], clusters[host]))
		}
		if one.Blob == manifest.Unwritten || row.Blocked(host) != "" {
			first.Blob = manifest.Unwritten
		}
		want[host] = first
	}
	row.Wants = row.Wants[:0]
	for _, host := range slices.Sorted(maps.Keys(want)) {
		row.Wants = append(row.Wants, manifest.Want{Cluster: int32(host), Blob: want[host].Blob}) //nolint:gosec // an index
	}
	for i := range clusters {
		if _, wanted := want[i]; lost && v.At(i) == nil && !wanted {
			row.Block(i, reason.NotMapped) // it may be the one that a virtual cluster needs it in
		}
	}
	return diags
}

// blockOf is what is in the way of a row in a cluster; empty for nothing.
func (in *Input) blockOf(row *manifest.Row, cluster int) reason.Reason {
	why := row.Blocked(cluster)
	if why == "" && in.Policies.Virtual.Wrong(cluster) {
		return reason.NotMapped
	}
	return why
}

func (in *Input) notShared(r object.Ref, one, other, host *fleet.Cluster) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: diag.NotShared, Severity: diag.Error,
		Message: fmt.Sprintf("%s has no namespace, so that there is one of it on the API server of %s, and %s and %s want it in two forms; it stays as it was published", r, host.Name, one.Name, other.Name),
		Hint:    "take the override out that tells them apart, give each its own name, or use a kind with a namespace, as a RoleBinding is",
	}
	if decided := schedule.Find(in.Decisions, r); decided != nil {
		d.Pos = decided.Template.Object.Origin()
	}
	return d
}
