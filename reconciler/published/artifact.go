package published

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// Artifact is a commit of a cluster's branch that may be applied.
type Artifact struct {
	Cluster string
	Address render.Address
	Owner   string // what the source is known by there
	Commit  files.ID
	Head    files.ID // of the branch, which is newer than Commit where clusters share it
	Source  string   // the source commit
	Objects []apply.Object
	// Services is the file that says which services the cluster exchanges; nil for none.
	Services []byte
	// Replaces is the commit that the branch may replace, and NameBefore what the cluster was registered as before;
	// empty for none. A name by which another cluster is registered is none of before.
	Replaces, NameBefore string
}

// The annotations of a Cluster by which a branch may follow another history.
const (
	// ReplacesAnnotation names the commit that was applied last, or several, which the branch as it is now replaces: it was
	// deleted and made anew, rewound, or restored from a backup.
	ReplacesAnnotation = "waybill.dev/replaces"
	// FormerlyAnnotation is what a cluster was registered as before it was renamed.
	FormerlyAnnotation = "waybill.dev/formerly"
)

// ErrUnpublished is that nothing was published for a cluster: it is new, or is to hold nothing.
var ErrUnpublished = errors.New("nothing is published for it")

// Artifact reads the head of a cluster's branch. It refuses one that Waybill did not write, or
// that somebody edited, or that was published from another source or for another cluster.
func (r *Reader) Artifact(ctx context.Context, in *Desired, cluster string) (Artifact, error) {
	d, b, err := r.artifact(ctx, in, cluster)
	if err != nil {
		return Artifact{}, err
	}
	d.Objects, err = objectsOf(ctx, b.Published, r.Identities)
	return d, err
}

// WithoutObjects is Artifact for one who applies none: nothing is decrypted.
func (r *Reader) WithoutObjects(ctx context.Context, in *Desired, cluster string) (Artifact, error) {
	d, _, err := r.artifact(ctx, in, cluster)
	return d, err
}

// artifact reads an Artifact but for its objects, and what these are read from.
func (r *Reader) artifact(ctx context.Context, in *Desired, cluster string) (Artifact, Branch, error) {
	b, err := r.delivered(ctx, in, cluster)
	if err != nil {
		return Artifact{}, b, err
	}
	d := Artifact{
		Cluster: cluster, Address: in.Address(cluster), Commit: b.Head.Commit, Head: in.heads[in.Address(cluster).Branch], Source: publish.Trailer(b.Head.Message, publish.TrailerCommit),
		Owner: in.owner(cluster, SourceID(publish.Trailer(b.Head.Message, publish.TrailerRepository), publish.Trailer(b.Head.Message, publish.TrailerPath))),
	}
	if i := slices.IndexFunc(in.Clusters, func(c *karmada.Cluster) bool { return c.Name == cluster }); i >= 0 {
		d.Replaces, d.NameBefore = in.Clusters[i].Annotations[ReplacesAnnotation], in.Clusters[i].Annotations[FormerlyAnnotation]
		if in.registered(d.NameBefore) != nil { // by its inventory that one would pass for this
			d.NameBefore = ""
		}
	}
	d.Services, err = servicesOf(b.Published)
	return d, b, err
}

// servicesOf reads the file of a published tree that says which services its cluster exchanges; nil for none.
func servicesOf(p tree.Published) ([]byte, error) {
	e, _ := p.Built.Lookup(tree.ServicesFile)
	if e.Blob == nil {
		return nil, nil
	}
	data, err := e.Blob.Bytes()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", tree.ServicesFile, err)
	}
	return append([]byte{}, data...), nil // an empty file is not none
}

// delivered reads what is published for a cluster, whose newest commit may be applied.
func (r *Reader) delivered(ctx context.Context, in *Desired, cluster string) (Branch, error) {
	a := in.Address(cluster)
	none := fmt.Errorf("%w: there is no %s in %s", ErrUnpublished, a.Words(), r.Target.Name())
	if _, ok := in.heads[a.Branch]; !ok {
		return Branch{}, none
	}
	if err := r.Target.Fetch(ctx, a.Branch); err != nil {
		return Branch{}, err
	}
	b, ok, err := r.readAddress(ctx, in, a)
	if err != nil {
		return Branch{}, err
	}
	if !ok {
		return Branch{}, none
	}
	return b, r.genuine(ctx, in, cluster, b)
}

// readAddress reads the branch of a cluster, or its folder at the commit that changed it last; false
// where there is none.
func (r *Reader) readAddress(ctx context.Context, in *Desired, a render.Address) (b Branch, ok bool, err error) {
	if a.Folder == "" {
		return r.readBranch(ctx, a.Branch)
	}
	id, err := r.Head(ctx, in.heads, a)
	if err != nil || id.IsZero() {
		return Branch{}, false, err
	}
	if b.Head, ok, err = r.CommitAt(ctx, a, id); err != nil || !ok {
		return Branch{}, false, err
	}
	if b.Published, err = tree.Read(b.Head.Tree); err != nil {
		return Branch{}, false, fmt.Errorf("%s: %w", a.Words(), err)
	}
	if b.Published.Edited {
		b.Published.Edit = r.edit(ctx, a, b.Head)
	}
	return b, true, nil
}

// Follows reports whether what is published now for a cluster comes after what is being
// applied, and may be applied. A head that may not be is told of by the next round.
func (r *Reader) Follows(ctx context.Context, in *Desired, d Artifact) bool {
	if head, err := r.Head(ctx, in.heads, d.Address); err != nil || head == d.Commit {
		return false
	}
	b, err := r.delivered(ctx, in, d.Cluster)
	if err != nil || b.Head.Commit == d.Commit {
		return false
	}
	after, err := r.Target.IsAncestor(ctx, d.Commit, b.Head.Commit)
	return err == nil && after
}
