package reconciler

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/sources"
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
}

// Member is how a cluster is.
type Member struct {
	status.Standing

	// Rendered is the source commit that the head of the branch was published from; empty if it
	// was not asked for.
	Rendered string
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
	prefix := config.Publish.BranchPrefix
	head, err := r.stateHead(ctx, heads, s.Revision(), asked.branches(prefix)...)
	if err != nil {
		return Fleet{}, err
	}
	f := Fleet{}
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
		w, ignored, err := said.word(ctx, c, asked)
		if err != nil {
			return Fleet{}, err
		}
		p := status.Published{Cluster: c, Head: heads[prefix+c.Name], Held: heldBy(c), Ignored: ignored, Lost: lost(seen[c.Name])}
		m := Member{Standing: status.Stand(p, w, r.Now(), asked.Lasting)}
		if asked.Closely && !p.Head.IsZero() {
			b, err := r.Target.Commit(ctx, p.Head)
			if err != nil {
				return Fleet{}, err //nolint:wrapcheck // it names the commit
			}
			m.Rendered = publish.Trailer(b.Message, publish.TrailerCommit)
		}
		f.Clusters = append(f.Clusters, m)
	}
	return f, nil
}

// branches are those that have to be fetched, besides those of the status.
func (a *Asked) branches(prefix string) []string {
	wanted := []string{state.Branch}
	if a.Closely {
		for _, c := range a.Clusters {
			wanted = append(wanted, prefix+c)
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

// word reads what a status branch says; nil if there is none that counts.
func (h *hearsay) word(ctx context.Context, cluster *karmada.Cluster, asked Asked) (w *status.Word, ignored string, err error) {
	head, ignored, err := h.head(ctx, cluster.Name)
	if err != nil || head == nil {
		return nil, ignored, err
	}
	w, err = wordOf(*head, status.Prefix+cluster.Name, asked, virtual.Of(cluster))
	return w, "", err
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
