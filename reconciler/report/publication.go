package report

import (
	"fmt"
	"io"
	"strconv"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/report/cell"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/words"
)

// published is what publish prints for programs.
type published struct {
	Commit   string   `json:"commit"`
	Branches []branch `json:"branches"`
	Held     []string `json:"held,omitempty"`
	Removals string   `json:"removals,omitempty"`
	// Rollouts are the runs that are open, and Again is when to publish again although nothing changes.
	Rollouts []step            `json:"rollouts,omitempty"`
	Again    string            `json:"again,omitempty"`
	Diags    []diag.Diagnostic `json:"diagnostics,omitempty"`
}

type branch struct {
	Name string `json:"name"`
	// Folders are those that change, of a branch that clusters share.
	Folders []string `json:"folders,omitempty"`
	From    string   `json:"from,omitempty"`
	To      string   `json:"to,omitempty"`
}

// Publication is what publish prints. Its diagnostics are for programs only; people read
// them by themselves.
func Publication(res *reconciler.Result) Report {
	out := published{Commit: res.Plan.Revision.Commit, Branches: []branch{}, Removals: res.Plan.Removals, Diags: res.Diags}
	for i, u := range res.Updates {
		b := branch{Name: u.Branch}
		if u.Branch == res.Plan.Config.Publish.Addresses().Shared {
			b.Folders = sources.Trailers(u.Message, publish.TrailerCluster)
		}
		if !u.Old.IsZero() {
			b.From = u.Old.String()
		}
		if i < len(res.Heads) {
			b.To = res.Heads[i].String()
		}
		out.Branches = append(out.Branches, b)
	}
	for _, c := range res.Plan.Clusters {
		if c.Held != nil {
			out.Held = append(out.Held, c.Name)
		}
	}
	out.Rollouts, out.Again = steps(res.Plan.Rollouts), again(res.Plan.Basis)
	if len(out.Branches) == 0 {
		return Report{value: out, text: func(w io.Writer) error {
			defer out.writeSteps(w)
			n, commit := len(res.Plan.Clusters)-len(out.Held), cell.Commit(out.Commit)
			if n == 1 {
				_, err := fmt.Fprintf(w, "nothing to publish: 1 cluster is as %s wants it\n", commit)
				return err
			}
			_, err := fmt.Fprintf(w, "nothing to publish: %s are as %s wants them\n", words.Count(n, "cluster"), commit)
			return err
		}}
	}
	r := table(out, []string{"BRANCH", "FROM", "TO", "OBJECTS"}, branchRows(out.Branches, res))
	rows := r.text
	r.text = func(w io.Writer) error {
		defer out.writeSteps(w)
		return rows(w)
	}
	return r
}

func branchRows(branches []branch, res *reconciler.Result) (rows [][]string) {
	objects, at := map[string]string{}, res.Plan.Config.Publish.Addresses()
	for _, c := range res.Plan.Clusters {
		objects[at.Of(c.Name).String()] = strconv.Itoa(c.Objects)
	}
	for _, b := range branches {
		names := []string{b.Name}
		if len(b.Folders) > 0 {
			names = nil
		}
		for _, cluster := range b.Folders {
			names = append(names, at.Of(cluster).String())
		}
		for _, name := range names {
			rows = append(rows, []string{name, cell.Dash(cell.Commit(b.From)), cell.Dash(cell.Commit(b.To)), objects[name]})
		}
	}
	return rows
}
