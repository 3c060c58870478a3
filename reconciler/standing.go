package reconciler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/observation"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// WordLasts is how old the word of one who is there can be at most.
const WordLasts = status.Lasting + 24*time.Hour

// Asked is what is asked for about clusters.
type Asked struct {
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
	Clusters []Member // in the order of their names
	// State is the head of the state branch, from which this was read.
	State git.Head
	// Addresses are where clusters are published.
	Addresses render.Addresses
}

// Member is how a cluster is.
type Member struct {
	status.Standing

	// Rendered is the source commit that the head of the branch was published from; empty if it
	// was not asked for.
	Rendered string
	// Registered is the Cluster as it was published, and Observed what was observed of it; nil
	// if nothing was.
	Registered *karmada.Cluster
	Observed   *karmada.ClusterStatus

	told *files.Folder // what its status branch says; nil if there is none that counts
}

// Told identifies what its status branch says; zero if there is none that counts.
func (m *Member) Told() files.ID {
	if m.told == nil {
		return files.ID{}
	}
	return m.told.ID()
}

// Objects reads what is said of the objects of a namespace, by the names that templates have. What has
// no namespace is in "".
func (m *Member) Objects(namespace string) (map[object.Ref]*status.Object, error) {
	at := virtual.Of(m.Registered).Namespace(namespace)
	return m.objects(func(n string) bool { return n == at })
}

// Everything is Objects of every namespace.
func (m *Member) Everything() (map[object.Ref]*status.Object, error) {
	return m.objects(status.Everything)
}

func (m *Member) objects(wanted func(namespace string) bool) (map[object.Ref]*status.Object, error) {
	if m.told == nil {
		return nil, nil
	}
	objects, err := status.Objects(m.told, wanted)
	if err != nil {
		return nil, fmt.Errorf("branch %s%s: %w", status.Prefix, m.Cluster, err)
	}
	return named(objects, virtual.Of(m.Registered)), nil
}

// Whereabouts tells where everything is that says how clusters are: the followed branch, the branches
// of what is published, and those that agents write. Equal ones mean that nothing moved. It asks each
// repository once, and reads nothing.
func (r *Reconciler) Whereabouts(ctx context.Context, rev string) (string, error) {
	at, err := r.look(ctx, rev)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, at.source)
	for _, heads := range []map[string]files.ID{at.target, r.lookTold(ctx, nil)} {
		for _, branch := range slices.Sorted(maps.Keys(heads)) {
			fmt.Fprintln(h, branch, heads[branch])
		}
		fmt.Fprintln(h)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Fleet reads how clusters are: from the state branch, the heads of the clusters' branches and
// the status branches, with one look at each repository. The config is that of a
// snapshot.
func (r *Reconciler) Fleet(ctx context.Context, s sources.Snapshot, asked Asked) (Fleet, error) {
	config, err := configOf(s)
	if err != nil {
		return Fleet{}, err
	}
	heads, err := r.Target.Heads(ctx)
	if err != nil {
		return Fleet{}, fmt.Errorf("reading what is published: %w", err)
	}
	head, err := r.stateHead(ctx, heads, s.Revision(), state.Branch)
	if err != nil {
		return Fleet{}, err
	}
	f := Fleet{State: head}
	if f.Addresses, err = publishedAt(head.Tree, config.Publish.Addresses()); err != nil {
		return Fleet{}, err
	}
	if err := r.Target.Fetch(ctx, asked.branches(f.Addresses)...); err != nil {
		return Fleet{}, err //nolint:wrapcheck // it names the branches
	}
	if f.Seen, err = state.Published(head.Tree); err != nil {
		return Fleet{}, err //nolint:wrapcheck // it names the file
	}
	registered, err := state.Clusters(head.Tree)
	if err != nil {
		return Fleet{}, err //nolint:wrapcheck // it names the file
	}
	chosen, err := asked.choose(registered)
	if err != nil {
		return Fleet{}, err
	}
	said, err := r.hearsay(ctx, heads, chosen)
	if err != nil {
		return Fleet{}, err
	}
	seen := state.Observed(head.Tree)
	for _, c := range chosen {
		w, err := said.word(ctx, c, asked)
		if err != nil {
			return Fleet{}, err
		}
		p := status.Published{Cluster: c, Held: heldBy(c), Ignored: w.ignored, Lost: lost(seen[c.Name]), Refused: observation.Refused(seen[c.Name])}
		if p.Head, err = r.headOf(ctx, heads, f.Addresses.Of(c.Name)); err != nil {
			return Fleet{}, err
		}
		m := Member{Standing: status.Stand(p, w.word, r.Now(), asked.Lasting), Registered: c, Observed: seen[c.Name], told: w.files}
		if asked.Closely && !p.Head.IsZero() {
			b, _, err := r.Target.Root(ctx, p.Head)
			if err != nil {
				return Fleet{}, err //nolint:wrapcheck // it names the commit
			}
			m.Rendered = publish.Trailer(b.Message, publish.TrailerCommit)
		}
		f.Clusters = append(f.Clusters, m)
	}
	return f, nil
}

// branches are those of clusters that have to be fetched.
func (a *Asked) branches(at render.Addresses) (wanted []string) {
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
func (a *Asked) choose(registered []*karmada.Cluster) ([]*karmada.Cluster, error) {
	if len(a.Clusters) == 0 {
		return registered, nil
	}
	return Named(registered, a.Clusters, "what is published")
}

// told is what a status branch says, and the files that it is from; both nil if there is none that
// counts. Ignored says why one does not.
type told struct {
	word    *status.Word
	files   *files.Folder
	ignored string
}

// word reads what a status branch says.
func (h *hearsay) word(ctx context.Context, cluster *karmada.Cluster, asked Asked) (told, error) {
	head, ignored, err := h.head(ctx, cluster.Name)
	if err != nil || head == nil {
		return told{ignored: ignored}, err
	}
	w, err := wordOf(*head, status.Prefix+cluster.Name, asked, virtual.Of(cluster))
	if err != nil {
		return told{ignored: fmt.Sprintf("what its status branch says, %.12s, is ignored: %v", head.Commit.String(), err)}, ctx.Err()
	}
	return told{word: w, files: head.Tree}, nil
}

// wordOf reads a status branch. Objects of a virtual cluster have the names that templates have.
func wordOf(h git.Head, branch string, asked Asked, m *virtual.Mapping) (*status.Word, error) {
	s, err := status.Read(h.Tree)
	w := &status.Word{Summary: s, At: h.When}
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

// heldBy says why the publication holds a cluster; empty if it does not.
func heldBy(c *karmada.Cluster) string {
	for _, condition := range c.Status.Conditions {
		if condition.Type == state.HeldCondition && condition.Status == metav1.ConditionTrue {
			return condition.Message
		}
	}
	return ""
}
