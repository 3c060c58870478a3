package reports

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/evidence"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// Moves is of what it is asked whether it moves: the decisions of the state, by how the source fails over, and what is
// published for the clusters whose reports count.
type Moves struct {
	Bindings   map[object.Ref]*karmada.ResourceBinding
	Leaving    []state.Leaving // what leaves clusters for others
	Failover   render.Failover
	Registered func() ([]*karmada.Cluster, error) // asked if anything moves
	Published  map[string]tree.Published          // by cluster
	Addresses  render.Addresses                   // at which clusters are published
}

// Evidence reads what the status branches of heads, and those that agents write, say of what
// moves; nil if nothing does. While the repository of the agents is away, what was heard last counts: an old copy
// must not go because nobody can say that the new ones are not healthy.
func (r *Reader) Evidence(ctx context.Context, heads map[string]files.ID, of Moves) (evict.Evidence, error) {
	moving := evidence.Moving(of.Bindings, of.Leaving, of.Failover)
	if len(moving) == 0 {
		return nil, nil
	}
	return r.EvidenceOf(ctx, heads, of, moving)
}

// EvidenceOf reads what they say of objects, in the clusters that are named for each.
func (r *Reader) EvidenceOf(
	ctx context.Context, heads map[string]files.ID, of Moves, moving map[object.Ref][]string,
) (evict.Evidence, error) {
	all := evict.Evidence{}
	for ref := range moving {
		all[ref] = map[string]evict.Seen{}
	}
	if r.isSilent(heads) {
		return all, nil
	}
	registered, err := of.Registered()
	if err != nil {
		return nil, err
	}
	mappings := mappingsOf(registered)
	said, err := r.hear(ctx, heads, registered)
	if err != nil {
		return nil, err
	}
	trees := appliedTrees{from: r.Published.Target, trees: map[appliedAt]*files.Folder{}}
	for ref, clusters := range moving {
		for _, cluster := range clusters {
			is, err := said.report(ctx, cluster, mappings[cluster])
			if err != nil {
				return nil, err
			}
			w := is.report
			if w == nil {
				continue
			}
			path := tree.Path(mappings[cluster].Ref(ref))
			f := evidence.Found{Cluster: w.Summary, Object: w.Objects[ref], Published: fileOf(of.Published[cluster].Built, path)}
			if f.Head, err = r.Published.Head(ctx, heads, of.Addresses.Of(cluster)); err != nil {
				return nil, err
			}
			f.Preserve = preserved(of.Bindings[ref])
			if err := trees.lookUp(ctx, cluster, &f, path); err != nil {
				return nil, err
			}
			all[ref][cluster] = f.Seen()
		}
	}
	return all, nil
}

// preserved are the rules of a binding, or nil, by which labels hold what is to be preserved of a status.
func preserved(b *karmada.ResourceBinding) []karmada.StatePreservationRule {
	if b == nil {
		return nil
	}
	return evidence.Preserve(b.Spec.Failover)
}

// heard is what clusters say. While the repository of the agents is away it is what was heard last.
type heard struct {
	reader *Reader
	said   statusBranches
	isAway bool
}

func (r *Reader) hear(ctx context.Context, heads map[string]files.ID, of []*karmada.Cluster) (heard, error) {
	said, err := r.branches(ctx, heads, of)
	isAway := err != nil && r.Agents != nil && ctx.Err() == nil
	if isAway {
		err = nil
	}
	return heard{r, said, isAway}, err
}

// report is what is said of a cluster; its report is nil for nothing that counts.
func (h *heard) report(ctx context.Context, cluster string, m *virtual.Mapping) (reportAt, error) {
	if h.isAway {
		was, _ := h.reader.Cache.last(cluster)
		return was, nil
	}
	return h.reader.evidenceOf(ctx, &h.said, cluster, m)
}

// isSilent reports that no cluster says anything.
func (r *Reader) isSilent(heads map[string]files.ID) bool {
	for branch := range heads {
		if _, isStatus := status.ClusterOf(branch); isStatus {
			return false
		}
	}
	return r.Agents == nil
}

// evidenceOf reads what is said of a cluster; its report is nil for nothing, or nothing new enough.
func (r *Reader) evidenceOf(ctx context.Context, said *statusBranches, cluster string, m *virtual.Mapping) (reportAt, error) {
	was, known := r.Cache.last(cluster)
	h, err := &was.head, error(nil)
	if !known || !said.isStill(cluster, was.head.Commit) {
		h, _, err = said.head(ctx, cluster)
	}
	if err != nil || h == nil || r.Now().Sub(h.When) > Lasting || !r.isEvidence(h, said.keys[cluster]) {
		return reportAt{}, err
	}
	if known && was.head.Commit == h.Commit {
		return was, nil
	}
	return r.reportAt(*h, cluster, m), nil
}

// isStill reports a commit that is the head of the status branch of a cluster, and that no key of an agent has to have signed.
func (h *statusBranches) isStill(cluster string, commit files.ID) bool {
	return h.keys[cluster] == nil && h.refused[cluster] == nil && h.heads[status.Prefix+cluster] == commit
}

// Applied reads what the status branches of clusters say of what was applied: which commit, and by which of the state. It
// leaves out those that are no evidence, and those that cannot be read.
func (r *Reader) Applied(ctx context.Context, heads map[string]files.ID, of []*karmada.Cluster) (map[string]status.Summary, error) {
	said, err := r.branches(ctx, heads, of)
	if err != nil {
		return nil, err
	}
	all := map[string]status.Summary{}
	for _, c := range of {
		head, _, err := said.head(ctx, c.Name)
		if err != nil {
			return nil, err
		}
		if head == nil || !r.isEvidence(head, said.keys[c.Name]) {
			continue
		}
		if s, err := status.Read(head.Tree); err == nil {
			all[c.Name] = s
		}
	}
	return all, nil
}

// isEvidence reports the head of a status branch, by which work may leave other clusters. Where agents may
// write it, of whatever cluster, that is one which the cluster's agent signed, or who publishes.
func (r *Reader) isEvidence(h *git.Head, agent *signing.Public) bool {
	return !r.Shared || agent != nil || r.Key != nil && r.Key.Verify(signing.Git, h.Signed, h.Signature) == nil
}

// reportAt reads what a status branch says at its head, and remembers that. One that cannot be read says nothing: it stops no plan.
func (r *Reader) reportAt(h git.Head, cluster string, m *virtual.Mapping) reportAt {
	w, _ := parse(h, status.Prefix+cluster, Query{Closely: true}, m)
	h.Tree = nil
	is := reportAt{head: h, report: w}
	r.Cache.keep(cluster, is)
	return is
}

// appliedTrees reads what the commits that clusters applied have for them, each once.
type appliedTrees struct {
	from  published.Repository
	trees map[appliedAt]*files.Folder
	// isMissing reports that a commit was not there since it was set back last.
	isMissing bool
}

// appliedAt is a commit, and a cluster that applied it.
type appliedAt struct {
	cluster string
	commit  files.ID
}

// lookUp finds what a cluster applied of the object at a path.
func (a *appliedTrees) lookUp(ctx context.Context, cluster string, f *evidence.Found, path string) (err error) {
	if f.Object != nil {
		if f.Applied, err = a.fileAt(ctx, appliedAt{cluster, f.Object.Applied.Commit}, path); err != nil {
			return err
		}
	}
	f.Round, err = a.fileAt(ctx, appliedAt{cluster, f.Cluster.Commit}, path)
	return err
}

// fileAt returns the file at a path in what a commit has for a cluster; nil if it has none, or
// there is no such commit any longer.
func (a *appliedTrees) fileAt(ctx context.Context, at appliedAt, path string) (*files.Blob, error) {
	if at.commit.IsZero() {
		return nil, nil
	}
	root, known := a.trees[at]
	if !known {
		var err error
		if root, err = filesFor(ctx, a.from, at); err != nil && !errors.Is(err, git.ErrMissing) {
			return nil, fmt.Errorf("reading %s as it was applied: %w", path, err)
		}
		a.trees[at], a.isMissing = root, a.isMissing || err != nil
	}
	return fileOf(root, path), nil
}

// filesFor returns what a commit has for a cluster: its files or, where clusters share the branch, those
// of a folder. The layout may have been another one then.
func filesFor(ctx context.Context, from published.Repository, at appliedAt) (*files.Folder, error) {
	_, entries, err := from.Root(ctx, at.commit)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(entries, func(e files.Entry) bool { return e.Name == tree.MetadataFile }) {
		h, err := from.Commit(ctx, at.commit)
		return h.Tree, err
	}
	h, _, err := from.Within(ctx, at.commit, at.cluster)
	return h.Tree, err
}

func fileOf(root *files.Folder, path string) *files.Blob {
	if root == nil {
		return nil
	}
	e, _ := root.Lookup(path)
	return e.Blob
}

// mappingsOf returns the mappings of clusters, by name; nil for one with an API server of its own.
func mappingsOf(clusters []*karmada.Cluster) map[string]*virtual.Mapping {
	all := make(map[string]*virtual.Mapping, len(clusters))
	for _, c := range clusters {
		all[c.Name] = virtual.Of(c)
	}
	return all
}
