package state

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Memo remembers the folder of clusters that was encoded last, of which none was held or had a
// remedy in force. It
// changes speed only; nil remembers nothing.
type Memo struct {
	of     []*object.Object
	folder *files.Folder
}

// clusters lays the clusters of content out; nil if there are none.
func (c *Content) clusters(earlier *State, m *Memo) (*files.Folder, error) {
	if m == nil || len(c.Held)+len(c.Remedies) > 0 {
		return c.encodeClusters(earlier)
	}
	of := make([]*object.Object, len(c.Clusters))
	for i := range c.Clusters {
		of[i] = c.Clusters[i].Object
	}
	if m.folder != nil && slices.Equal(m.of, of) {
		return m.folder, nil
	}
	folder, err := c.encodeClusters(earlier)
	m.of, m.folder = of, folder
	return folder, err
}

func (c *Content) encodeClusters(earlier *State) (*files.Folder, error) {
	var entries []files.Entry
	for i := range c.Clusters {
		cl := &c.Clusters[i].Spec
		if reason, ok := c.Held[cl.Name]; ok {
			cl = held(cl, reason, c.since(cl.Name, earlier))
		}
		if actions := c.Remedies[cl.Name]; len(actions) > 0 {
			remedied := *cl
			remedied.Status.RemedyActions = actions
			cl = &remedied
		}
		data, err := encode(cl)
		if err != nil {
			return nil, fmt.Errorf("encoding cluster %s: %w", cl.Name, err)
		}
		entries = append(entries, files.FileEntry(cl.Name+".yaml", files.NewBlob(data)))
	}
	if len(entries) == 0 {
		return nil, nil
	}
	return files.NewFolder(entries), nil
}

// since is the time of the source commit since which a cluster is held.
func (c *Content) since(cluster string, earlier *State) metav1.Time {
	if earlier != nil {
		if was, ok := earlier.Held[cluster]; ok {
			return metav1.NewTime(was.LastTransitionTime.UTC())
		}
	}
	return metav1.NewTime(c.When.UTC().Truncate(time.Second))
}

// held returns a cluster with the condition that says why it is held.
func held(c *karmada.Cluster, reason string, since metav1.Time) *karmada.Cluster {
	out := *c
	out.Status.Conditions = append(slices.Clone(c.Status.Conditions), metav1.Condition{
		Type: HeldCondition, Status: metav1.ConditionTrue, Reason: "GuardHolds", Message: reason, LastTransitionTime: since,
	})
	return &out
}
