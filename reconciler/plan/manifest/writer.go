package manifest

import (
	"slices"

	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/links"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/seal"
)

// Input is what there is to write out.
type Input struct {
	Policies  *index.Policies
	Decisions []schedule.Decision // in the order of refs
	Bound     map[string][]*object.Object
	Failures  []expand.Failure
	Config    render.ConfigSpec
	// OnBranch reports manifests for a branch, which everybody may see who can read it.
	OnBranch bool
	Random   flux.Random // what seals are keyed with
	Before   Before
	Memo     *Memo
	// Later are objects that are written once others are: of these it is said where they are wanted, and Rewrite writes them.
	Later map[object.Ref]bool
}

// Before is what was published last.
type Before struct {
	// Had tells the clusters, by index, that had an object.
	Had func(object.Ref) func(cluster int) bool
	// Sent reports whether a policy sent an object to a cluster.
	Sent func(r object.Ref, cluster string) bool
	// Own lists, by the cluster's index, the Namespaces on its branch that every cluster has
	// of its own.
	Own func(cluster int) []object.Ref
	// Leaving lists the clusters that a template leaves, or left and is in still, because they failed or
	// it failed there.
	Leaving func(*schedule.Decision) []string
	// HoldsData reports whether data would be deleted with an object that a cluster, by index, had.
	HoldsData func(r object.Ref, cluster int) bool
}

// Result is what should be.
type Result struct {
	Rows  []Row // in the order of refs: of every template, and of what else is wanted
	Blobs Blobs
	Keyed bool // a seal is keyed with the random key
	Diags []diag.Diagnostic
}

// Row returns the row of an object; nil for none.
func (r *Result) Row(of object.Ref) *Row {
	i, ok := r.rowAt(of)
	if !ok {
		return nil
	}
	return &r.Rows[i]
}

// rowAt is where the row of an object is, or would be.
func (r *Result) rowAt(of object.Ref) (int, bool) {
	return slices.BinarySearchFunc(r.Rows, of, func(row Row, of object.Ref) int { return row.Ref.Compare(of) })
}

// Rewrite writes decisions of an input, which are in the order of refs, in the place of what was written of them, or was to be
// written later.
func (r *Result) Rewrite(in Input, decisions []schedule.Decision) {
	if len(decisions) == 0 {
		return
	}
	in.Decisions, in.Later, in.Failures = decisions, nil, nil
	again := WriteAlone(in)
	for _, d := range again.Diags {
		if !slices.Contains(r.Diags, d) {
			r.Diags = append(r.Diags, d)
		}
	}
	r.Keyed = r.Keyed || again.Keyed
	for i := range again.Rows {
		is, row := &again.Rows[i], r.Row(again.Rows[i].Ref)
		for n := range row.Wants {
			want := &row.Wants[n]
			w, ok := is.Wanted(int(want.Cluster))
			if !ok {
				continue
			}
			if want.Blob = w.Blob; w.Blob >= 0 {
				want.Blob = r.Blobs.Add(again.Blobs.At(w.Blob))
			}
		}
		row.Blocks = row.Blocks.Without(row.Clusters().And(is.Clusters()))
		row.block(is.Blocks)
	}
}

// Keep has an object stay as it was published in every cluster: it cannot be told what it should be.
func (r *Result) Keep(in *Input, of object.Ref) {
	i, ok := r.rowAt(of)
	if !ok {
		r.Rows = slices.Insert(r.Rows, i, Row{Ref: of})
	}
	row := &r.Rows[i]
	for n := range row.Wants {
		row.Wants[n].Blob = Unwritten
	}
	had := groups.Where(len(in.Policies.Fleet.Clusters()), in.Before.Had(of))
	row.BlockIn(row.Clusters().Or(had), reason.NotRead)
}

// writer collects rows.
type writer struct {
	in     *Input
	rows   []Row
	byRef  map[object.Ref]int
	blobs  Blobs
	paths  map[string]object.Ref // what has a path on branches
	drafts drafts
	novel  []novel
	// written is room for what a decision comes to in clusters: the next one takes it again.
	written []inCluster
	// secrets are encrypted to the recipients of clusters, which are by index; empty for none.
	secrets    seal.Secrets
	recipients []string
	keyed      bool // a seal is
	virtual    virtuals
	diags      []diag.Diagnostic
	site       links.Site // to which workloads lead; empty for none
}

func (w *writer) report(ds ...diag.Diagnostic) { w.diags = append(w.diags, ds...) }

// row returns the row of an object; it is valid until the next row is made.
func (w *writer) row(r object.Ref) *Row {
	i, ok := w.byRef[r]
	if !ok {
		i = len(w.rows)
		w.byRef[r] = i
		w.rows = append(w.rows, Row{Ref: r})
	}
	return &w.rows[i]
}

// noRules are the override rules of what no policy touches.
var noRules override.Rules

const keptHint = "there it stays as it was last published"
