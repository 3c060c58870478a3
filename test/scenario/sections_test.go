package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan"
	published "github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// section prints a golden section of a publication.
func section(t *testing.T, name string, repo *twin.Repo, res *outcome) string {
	t.Helper()
	var b strings.Builder
	switch name {
	case "@diagnostics":
		for _, d := range res.Diags {
			fmt.Fprintln(&b, d)
		}
	case "@decisions":
		for _, d := range res.Plan.Decisions {
			b.WriteString(decision(d))
		}
	case "@held":
		for _, c := range res.Plan.Clusters {
			if c.Held == nil {
				continue
			}
			fmt.Fprintf(&b, "%s: %s\n", c.Name, c.Held.Reason)
			for _, r := range c.Held.Removals {
				fmt.Fprintf(&b, "  %s: %s\n", r.Object, r.Cause)
			}
		}
	case "@rollouts":
		return res.units()
	case "@images":
		return images(t, repo, res)
	case "@trees":
		return trees(t, repo, res)
	case "@branches":
		return branches(t, repo, res)
	case "@recheck":
		if at := res.Plan.Basis.RecheckAt; !at.IsZero() {
			fmt.Fprintf(&b, "after %s\n", at.Sub(res.Plan.Basis.Time))
		}
	case "@message":
		return message(t, repo)
	case "@trailers":
		return trailers(res)
	case "@publish":
		fmt.Fprintf(&b, "exit status %d\n", res.exitStatus())
		if res.err != nil {
			fmt.Fprintf(&b, "error: %s\n", res.err)
		}
		for _, name := range res.moved() {
			fmt.Fprintln(&b, name)
		}
	default:
		name = strings.TrimPrefix(name, "@")
		if branch, path, ok := strings.Cut(name, ":"); ok {
			return onBranch(t, repo, branch, path)
		}
		return file(t, &res.Plan, name)
	}
	return b.String()
}

// message returns what the last commit of the state says, but for its trailers.
func message(t *testing.T, repo *twin.Repo) string {
	t.Helper()
	h, _, err := repo.Branch(t.Context(), state.Branch)
	if err != nil {
		t.Fatal(err)
	}
	paragraphs := strings.Split(h.Message, "\n\n")
	return strings.Join(paragraphs[1:len(paragraphs)-1], "\n\n") + "\n"
}

// trailers lists what the commits of the publication say of clusters. Where commits are, is cut off.
func trailers(res *outcome) string {
	var b strings.Builder
	for _, u := range res.Updates {
		for _, key := range []string{published.TrailerCluster, published.TrailerContinued, published.TrailerFailedOver, published.TrailerBypassed} {
			for _, value := range sources.Trailers(u.Message, key) {
				if f := strings.Fields(value); key == published.TrailerContinued {
					value = strings.Join(slices.Delete(f, 2, 3), " ") // without the commit
				}
				fmt.Fprintf(&b, "%s: %s: %s\n", u.Branch, key, value)
			}
		}
	}
	return b.String()
}

// onBranch returns a file of a branch, or says that there is none.
func onBranch(t *testing.T, repo *twin.Repo, branch, path string) string {
	t.Helper()
	h, _, err := repo.Branch(t.Context(), branch)
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := twin.Of(h.Tree)[path]; ok {
		data, err := e.Blob.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	return none
}

// none stands for a file that is not there.
const none = "(none)\n"

// branches prints the objects at the clusters' addresses, one a line.
func branches(t *testing.T, repo *twin.Repo, res *outcome) string {
	t.Helper()
	var b strings.Builder
	for _, is := range contents(t, repo, res) {
		fmt.Fprintf(&b, "%s\n", is.cluster)
		for _, o := range is.objects {
			fmt.Fprintf(&b, "  %s", o)
			if n := o.Spec.Replicas; n != nil {
				fmt.Fprintf(&b, " replicas %d", *n)
			}
			if n := o.Spec.MaxReplicas; n > 0 {
				fmt.Fprintf(&b, " %d..%d", o.Spec.MinReplicas, n)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// treesOf are the trees of the branches of clusters, by branch.
func treesOf(t *testing.T, repo *twin.Repo) map[string]files.ID {
	t.Helper()
	heads, err := repo.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]files.ID{}
	for name := range heads {
		if !strings.HasPrefix(name, "waybill/cluster/") {
			continue
		}
		h, _, err := repo.Branch(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimPrefix(name, "waybill/cluster/")] = h.Tree.ID()
	}
	return all
}

// trees says which clusters' branches have the tree that they had before the publication.
func trees(t *testing.T, repo *twin.Repo, res *outcome) string {
	t.Helper()
	is := treesOf(t, repo)
	var b strings.Builder
	for _, cluster := range slices.Sorted(maps.Keys(is)) {
		how := "as it was"
		if is[cluster] != res.before[cluster] {
			how = "another"
		}
		fmt.Fprintf(&b, "%s: %s\n", cluster, how)
	}
	return b.String()
}

// held is what is published for a cluster.
type held struct {
	cluster string
	objects []twin.Manifest
}

// contents reads the objects at the clusters' addresses.
func contents(t *testing.T, repo *twin.Repo, res *outcome) (all []held) {
	t.Helper()
	heads, err := repo.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	add := func(cluster string, root *files.Folder) {
		objects, err := twin.Manifests(root)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, held{cluster, objects})
	}
	at := res.Plan.Config.Publish.Addresses()
	for _, name := range slices.Sorted(maps.Keys(heads)) {
		if !at.Has(name) {
			continue
		}
		h, err := repo.Commit(t.Context(), heads[name])
		if err != nil {
			t.Fatal(err)
		}
		if cluster, ok := at.Cluster(name); ok {
			add(cluster, h.Tree)
			continue
		}
		for _, e := range h.Tree.Entries() {
			if e.Dir != nil {
				add(e.Name, e.Dir)
			}
		}
	}
	return all
}

// decision prints a decision on a line.
func decision(d plan.Decision) string {
	var where []string
	for _, c := range d.Targets {
		w := c.Name
		if c.Replicas > 0 {
			w += fmt.Sprintf(":%d", c.Replicas)
		}
		where = append(where, w)
	}
	line := fmt.Sprintf("%s %s [%s]", d.Template.Ref(), d.Outcome, strings.Join(where, " "))
	if d.Policy != nil {
		line += " by " + d.Policy.String()
	}
	needed := make([]string, 0, len(d.RequiredBy))
	for _, r := range d.RequiredBy {
		needed = append(needed, " for "+r.Name)
	}
	line += strings.Join(needed, "")
	if d.Reason != "" && d.Reason != "Success" {
		line += " (" + d.Reason + ": " + d.Message + ")"
	}
	return line + "\n"
}

// file returns a file of a cluster, or says that there is none.
func file(t *testing.T, p *plan.Plan, name string) string {
	t.Helper()
	cluster, path, _ := strings.Cut(name, "/")
	for _, c := range p.Clusters {
		if c.Name != cluster {
			continue
		}
		if path == "" {
			var list strings.Builder
			for at := range c.Tree.All() {
				list.WriteString(at + "\n")
			}
			return list.String()
		}
		if e, ok := c.Tree.Lookup(path); ok && e.Blob != nil {
			data, err := e.Blob.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
	}
	return none
}

// everything prints all that a publication came to, to compare runs.
func everything(t *testing.T, repo *twin.Repo, res *outcome) string {
	t.Helper()
	var b strings.Builder
	for _, c := range res.Plan.Clusters {
		fmt.Fprintf(&b, "%s %s %v\n", c.Name, c.Tree.ID(), c.Held)
	}
	fmt.Fprintln(&b, res.Plan.State.ID(), res.Plan.Basis.FleetDigest, res.Plan.Removals, res.err)
	for _, d := range res.Diags {
		fmt.Fprintln(&b, d)
	}
	heads, err := repo.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(heads)) {
		fmt.Fprintln(&b, name, heads[name])
	}
	return b.String()
}
