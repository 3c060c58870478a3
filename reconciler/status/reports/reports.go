// Package reports reads what whoever applies to clusters reports on their status branches: how the clusters are, how objects
// are in them, and what of that is evidence by which work may move. It is the one reader of status branches.
package reports

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// Reader reads status branches: in the repository of the branches, and in the one that agents write to.
type Reader struct {
	Published *published.Reader
	// Agents is where agents write; nil: where the branches are.
	Agents published.Repository
	// Shared is that agents may write where the branches are. What is said there of clusters whose agents
	// have no key then counts for moving work only if Key signed it.
	Shared bool
	// Key is who signs what is published; nil: nobody does.
	Key *signing.Public
	Now func() time.Time
	// Cache is what is remembered; it has to be there.
	Cache *Cache
}

// Cache is what status branches said when they were read last. It saves reading them again, and while the repository of agents
// is away it is what counts. Several may use it at once; it cannot be copied.
type Cache struct {
	mu      sync.Mutex
	reports map[string]reportAt // by cluster
}

// reportAt is what a status branch says at a head, which has no files here; nil for nothing that can be read. Seen is what it says of
// objects as evidence; nil until that is asked for.
type reportAt struct {
	head   git.Head
	report *status.Report
	seen   *staged.Seen
}

// last is what the status branch of a cluster said last.
func (c *Cache) last(cluster string) (reportAt, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.reports[cluster]
	return r, ok
}

func (c *Cache) keep(cluster string, r reportAt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reports == nil {
		c.reports = map[string]reportAt{}
	}
	c.reports[cluster] = r
}

// Forget forgets all reports.
func (c *Cache) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reports = nil
}

// Reports reads what the status branches of the registered clusters say of objects, in a namespace
// or, if that is empty, in all, by the names that templates have. What is older than lasting is
// left out. Of what has no namespace, the host of a virtual cluster speaks for it.
func (r *Reader) Reports(
	ctx context.Context, registered []policies.Cluster, namespace string, lasting time.Duration,
) (status.Reports, error) {
	heads, err := r.Published.Target.Heads(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking for status branches: %w", err)
	}
	all := make([]*karmada.Cluster, len(registered))
	for i := range registered {
		all[i] = &registered[i].Spec
	}
	said, err := r.branches(ctx, heads, all)
	if err != nil {
		return nil, err
	}
	words := status.Reports{}
	for _, c := range all {
		w, err := said.report(ctx, c, Query{Namespace: namespace, Closely: true})
		if err != nil {
			return nil, err
		}
		if w.report != nil && r.Now().Sub(w.report.At) <= lasting {
			words[c.Name] = w.report
		}
	}
	for _, c := range all {
		if m := virtual.Of(c); m != nil && words[c.Name] != nil && words[m.Host] != nil {
			lend(words[c.Name], words[m.Host])
		}
	}
	return words, nil
}

// branches looks where status branches are, and fetches those of clusters. What is wrong with the branch
// of one cluster is kept for that cluster.
func (r *Reader) branches(ctx context.Context, heads map[string]files.ID, of []*karmada.Cluster) (statusBranches, error) {
	h := statusBranches{
		target: r.Published.Target, told: r.Agents, heads: heads, toldAt: heads, keys: map[string]*signing.Public{}, refused: map[string]error{},
	}
	var err error
	if h.told == nil {
		h.told = r.Published.Target
	} else if h.toldAt, err = h.told.Heads(ctx); err != nil {
		return h, fmt.Errorf("reading what agents say: %w", err)
	}
	here, there := map[string]string{}, map[string]string{} // branches, by cluster
	for _, c := range of {
		key, err := heartbeat.KeyOf(c)
		switch branch := status.Prefix + c.Name; {
		case err != nil:
			h.refused[c.Name] = err
		case key != nil:
			h.keys[c.Name], there[c.Name] = key, branch
		default:
			here[c.Name] = branch
		}
	}
	for _, from := range []struct {
		published.Repository

		branches map[string]string
	}{{h.target, here}, {h.told, there}} {
		refused, err := published.FetchEach(ctx, from, from.branches)
		if err != nil {
			return h, err
		}
		maps.Copy(h.refused, refused)
	}
	return h, nil
}

// branchReport is what a status branch says, and the files that it is from; both nil if there is none that
// counts. Ignored says why one does not.
type branchReport struct {
	report  *status.Report
	files   *files.Folder
	ignored string
}

// report reads what a status branch says.
func (h *statusBranches) report(ctx context.Context, cluster *karmada.Cluster, asked Query) (branchReport, error) {
	head, ignored, err := h.head(ctx, cluster.Name)
	if err != nil || head == nil {
		return branchReport{ignored: ignored}, err
	}
	w, err := parse(*head, status.Prefix+cluster.Name, asked, virtual.Of(cluster))
	if err != nil {
		return branchReport{ignored: fmt.Sprintf("what its status branch says, %.12s, is ignored: %v", head.Commit.String(), err)}, ctx.Err()
	}
	return branchReport{report: w, files: head.Tree}, nil
}

// parse reads a status branch. Objects of a virtual cluster have the names that templates have.
func parse(h git.Head, branch string, asked Query, m *virtual.Mapping) (*status.Report, error) {
	s, err := status.Read(h.Tree)
	w := &status.Report{Summary: s, At: h.When}
	if err == nil && (asked.Closely || asked.Namespace != "") {
		w.Objects, err = status.Objects(h.Tree, func(n string) bool { return asked.Namespace == "" || n == m.Namespace(asked.Namespace) })
		w.Objects = named(w.Objects, m)
	}
	if err != nil {
		return nil, fmt.Errorf("branch %s: %w", branch, err)
	}
	if asked.Namespace != "" {
		w.Within(asked.Namespace)
	}
	return w, nil
}

// named returns what a status branch says of objects by the names that templates have.
func named(objects map[object.Ref]*status.Object, m *virtual.Mapping) map[object.Ref]*status.Object {
	if m == nil {
		return objects
	}
	out := make(map[object.Ref]*status.Object, len(objects))
	for r, o := range objects {
		out[m.Template(r)] = o
	}
	return out
}

// lend adds to what is said of a virtual cluster what its host says of objects that they share.
func lend(to, from *status.Report) {
	for r, o := range from.Objects {
		if _, known := to.Objects[r]; !known && virtual.Shared(r) {
			to.Objects[r] = o
		}
	}
}
