package reports

import (
	"context"
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/observation"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/registration"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// Lasting is how old the word of one who is there can be at most.
const Lasting = status.Lasting + 24*time.Hour

// Query is what is asked for about clusters.
type Query struct {
	// Clusters are names; none for all.
	Clusters []string
	// Namespace has only what is in it count; empty for all.
	Namespace string
	// Closely has the objects be read, and what the clusters' branches are made from.
	Closely bool
	// Lasting is how old a word may be.
	Lasting time.Duration
}

// Fleet is how clusters are, by what Git says.
type Fleet struct {
	// Seen is the source commit that was published last.
	Seen     state.Publication
	Clusters []Cluster // in the order of their names
	// State is the head of the state branch, from which this was read.
	State git.Head
	// Addresses are where clusters are published.
	Addresses render.Addresses
}

// Cluster is how a cluster is.
type Cluster struct {
	status.ClusterHealth

	// Rendered is the source commit that the head of the branch was published from; empty if it
	// was not asked for.
	Rendered string
	// Registered is the Cluster as it was published, and Observed what was observed of it; nil
	// if nothing was.
	Registered *karmada.Cluster
	Observed   *karmada.ClusterStatus

	tree *files.Folder // what its status branch says; nil if there is none that counts
}

// ReportID identifies what its status branch says; zero if there is none that counts.
func (m *Cluster) ReportID() files.ID {
	if m.tree == nil {
		return files.ID{}
	}
	return m.tree.ID()
}

// Objects reads what is said of the objects of a namespace, by the names that templates have. What has
// no namespace is in "".
func (m *Cluster) Objects(namespace string) (map[object.Ref]*status.Object, error) {
	at := virtual.Of(m.Registered).Namespace(namespace)
	return m.objects(func(n string) bool { return n == at })
}

// Everything is Objects of every namespace.
func (m *Cluster) Everything() (map[object.Ref]*status.Object, error) {
	return m.objects(status.Everything)
}

func (m *Cluster) objects(wanted func(namespace string) bool) (map[object.Ref]*status.Object, error) {
	if m.tree == nil {
		return nil, nil
	}
	objects, err := status.Objects(m.tree, wanted)
	if err != nil {
		return nil, fmt.Errorf("branch %s%s: %w", status.Prefix, m.Cluster, err)
	}
	return named(objects, virtual.Of(m.Registered)), nil
}

// Fleet reads how clusters are: from the state branch, the heads of the clusters' branches and
// the status branches, with one look at each repository. The config is that of a
// snapshot.
func (r *Reader) Fleet(ctx context.Context, s sources.Snapshot, asked Query) (Fleet, error) {
	config, err := render.ReadConfig(s)
	if err != nil {
		return Fleet{}, err
	}
	heads, err := r.Published.Target.Heads(ctx)
	if err != nil {
		return Fleet{}, fmt.Errorf("reading what is published: %w", err)
	}
	head, err := r.Published.StateHead(ctx, heads, s.Revision(), state.Branch)
	if err != nil {
		return Fleet{}, err
	}
	f := Fleet{State: head}
	if f.Addresses, err = published.AddressesOf(head.Tree, config.Publish.Addresses()); err != nil {
		return Fleet{}, err
	}
	if err := r.Published.Target.Fetch(ctx, asked.branches(f.Addresses)...); err != nil {
		return Fleet{}, err
	}
	if f.Seen, err = state.Published(head.Tree); err != nil {
		return Fleet{}, err
	}
	registered, err := state.Clusters(head.Tree)
	if err != nil {
		return Fleet{}, err
	}
	chosen, err := asked.choose(registered)
	if err != nil {
		return Fleet{}, err
	}
	said, err := r.branches(ctx, heads, chosen)
	if err != nil {
		return Fleet{}, err
	}
	seen := state.Observed(head.Tree)
	for _, c := range chosen {
		w, err := said.report(ctx, c, asked)
		if err != nil {
			return Fleet{}, err
		}
		p := status.Published{
			Cluster: c, Held: state.HeldBy(c), Ignored: w.ignored, Lost: observation.Lost(seen[c.Name]), Refused: observation.Refused(seen[c.Name]),
		}
		if p.Head, err = r.Published.Head(ctx, heads, f.Addresses.Of(c.Name)); err != nil {
			return Fleet{}, err
		}
		m := Cluster{ClusterHealth: status.HealthOf(p, w.report, r.Now(), asked.Lasting), Registered: c, Observed: seen[c.Name], tree: w.files}
		if asked.Closely && !p.Head.IsZero() {
			b, _, err := r.Published.Target.Root(ctx, p.Head)
			if err != nil {
				return Fleet{}, err
			}
			m.Rendered = publish.Trailer(b.Message, publish.TrailerCommit)
		}
		f.Clusters = append(f.Clusters, m)
	}
	return f, nil
}

// branches are those of clusters that have to be fetched.
func (a *Query) branches(at render.Addresses) (wanted []string) {
	if at.Shared != "" {
		return []string{at.Shared}
	}
	if a.Closely {
		for _, c := range a.Clusters {
			wanted = append(wanted, at.Of(c).Branch)
		}
	}
	return wanted
}

// choose returns the clusters that are asked for.
func (a *Query) choose(registered []*karmada.Cluster) ([]*karmada.Cluster, error) {
	if len(a.Clusters) == 0 {
		return registered, nil
	}
	return registration.Named(registered, a.Clusters, "what is published")
}
