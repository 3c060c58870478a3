package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// unlisted is what clusters have that no kustomization lists.
type unlisted struct {
	all   []state.Unlisted
	stays map[object.Ref]groups.Set // by object, in which clusters
	// leaves is the same of what may go: its removal is allowed.
	leaves map[object.Ref]groups.Set
	diags  []diag.Diagnostic
}

// findUnlisted finds what clusters have of what is not listed, and adds its rows.
func (t *table) findUnlisted() {
	if t.in.Replay != nil {
		t.unlisted.all = t.in.Replay.State.Unlisted
		return
	}
	if len(t.in.Unlisted) == 0 {
		return
	}
	stays, listed := map[object.Ref]groups.Set{}, t.listed()
	for _, u := range t.in.Unlisted {
		have := t.have(u.Object)
		in := groups.Where(len(t.group), func(i int) bool {
			name := t.cluster(i)
			isListed := listed[render.Place{Ref: u.Object}] || listed[render.Place{Cluster: name, Ref: u.Object}]
			return (u.Cluster == "" || u.Cluster == name) && have.In(i) != nil && !isListed
		})
		if !in.IsEmpty() {
			stays[u.Object] = in.Or(stays[u.Object])
			t.unlisted.all = append(t.unlisted.all, u)
		}
	}
	if len(stays) > 0 {
		t.settleUnlisted(stays)
	}
}

// settleUnlisted keeps what is not listed, unless its removal is allowed.
func (t *table) settleUnlisted(stays map[object.Ref]groups.Set) {
	refs := slices.SortedFunc(maps.Keys(stays), object.Ref.Compare)
	t.addRows(refs)
	h, names := sha256.New(), make([]string, len(refs))
	for n, r := range refs {
		names[n] = r.String()
		for i := range stays[r].All() {
			fmt.Fprintf(h, "%s %s\n", t.cluster(i), r)
		}
	}
	digest := hex.EncodeToString(h.Sum(nil)[:8])
	if t.in.Allow.Allows(t.in.Source.Revision, digest) {
		t.unlisted = unlisted{leaves: stays, diags: []diag.Diagnostic{{
			Code: diag.Released, Severity: diag.Warning, Message: "what no kustomization lists goes, as it is allowed: " + words.List(names),
		}}}
		return
	}
	t.unlisted.stays = stays
	t.unlisted.diags = []diag.Diagnostic{{
		Code: diag.UnlistedStays, Severity: diag.Warning,
		Message: "what an earlier version of Waybill delivered and no kustomization lists stays as it was published: " + words.List(names),
		Hint:    "list it; or let it go: delete its file, or " + t.in.Allow.ToForget(digest),
	}}
}

// listed is what the source and its releases hold now, for all clusters and for each.
func (t *table) listed() map[render.Place]bool {
	all := map[render.Place]bool{}
	for i := range t.decided.Decisions {
		all[render.Place{Ref: t.decided.Decisions[i].Template.Ref()}] = true
	}
	for cluster, objs := range t.in.Expanded.Bound {
		for _, o := range objs {
			all[render.Place{Cluster: cluster, Ref: o.Ref()}] = true
		}
	}
	return all
}

// mayLeave reports that an object may leave a cluster without the guard being asked: because that
// failed, or what needs it does, or because its removal is allowed.
func (t *table) mayLeave(r object.Ref, cluster string) bool {
	i, ok := t.in.Expanded.Policies.Position(cluster)
	return t.moved(r, cluster) || ok && t.unlisted.leaves[r].Has(i)
}
