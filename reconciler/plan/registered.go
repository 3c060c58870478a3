package plan

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// registered lists the clusters as they are registered, those that are held with a
// condition. Its time is that of the source commit since which the cluster is held.
func (t *table) registered(out *carried) []*karmada.Cluster {
	set := t.in.Expanded.Law.Set.Clusters
	list := make([]*karmada.Cluster, 0, len(set))
	held := map[string]string{}
	for _, c := range out.clusters {
		if c.Held != nil {
			held[c.Name] = c.Held.Reason
		}
	}
	for i := range set {
		reason, ok := held[set[i].Spec.Name]
		if !ok {
			list = append(list, &set[i].Spec)
			continue
		}
		c := set[i].Spec
		since := metav1.NewTime(t.in.Source.Revision.When.UTC().Truncate(time.Second))
		if was, ok := t.in.State.Held[c.Name]; ok {
			since = metav1.NewTime(was.LastTransitionTime.UTC())
		}
		c.Status.Conditions = append(slices.Clone(c.Status.Conditions), metav1.Condition{
			Type: state.HeldCondition, Status: metav1.ConditionTrue, Reason: "GuardHolds", Message: reason, LastTransitionTime: since,
		})
		list = append(list, &c)
	}
	return list
}

// registrations remembers the folder of clusters that was encoded last, of which none was
// held.
type registrations struct {
	of     []*object.Object
	folder *files.Folder
}

// clusterFolder lays the clusters out as the state does.
func (t *table) clusterFolder(out *carried) *files.Folder {
	memo := &t.in.Memo.clusters
	var of []*object.Object
	for _, c := range t.in.Expanded.Law.Set.Clusters {
		of = append(of, c.Object)
	}
	anyHeld := slices.ContainsFunc(out.clusters, func(c Cluster) bool { return c.Held != nil })
	if !anyHeld && memo.folder != nil && slices.Equal(memo.of, of) {
		return memo.folder
	}
	folder, err := state.EncodeClusters(t.registered(out))
	if err != nil {
		panic("plan: a cluster that was decoded does not encode: " + err.Error())
	}
	if !anyHeld {
		memo.of, memo.folder = of, folder
	}
	return folder
}
