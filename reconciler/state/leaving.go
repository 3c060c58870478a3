package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/render/object"
)

// Leaving is an object in a cluster that it leaves for others because it was so decided, and where it stays until
// these have it. What leaves because it fails is recorded on its binding, as Karmada records it.
type Leaving struct {
	Object  object.Ref `json:"object"`
	Cluster string     `json:"cluster"`
	// Since is when the last of the new copies was published.
	Since metav1.Time `json:"since"`
	// Allowed says that the guard would have held the removal when the move began, and that it was allowed.
	Allowed bool `json:"allowed,omitempty"`
}

// Compare orders them by object, then by cluster.
func (l Leaving) Compare(o Leaving) int {
	if c := l.Object.Compare(o.Object); c != 0 {
		return c
	}
	return strings.Compare(l.Cluster, o.Cluster)
}

// FindLeaving returns the record of an object in a cluster among some; nil if there is none.
func FindLeaving(all []Leaving, r object.Ref, cluster string) *Leaving {
	i := slices.IndexFunc(all, func(l Leaving) bool { return l.Object == r && l.Cluster == cluster })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// decodeLeaving reads what leaves clusters. An entry that does not say all has been edited, and what it stood for may
// be the last copy.
func decodeLeaving(data []byte) (all []Leaving, err error) {
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	for i, l := range all {
		if l.Object.Kind == "" || l.Object.Name == "" || l.Cluster == "" || l.Since.IsZero() {
			return nil, fmt.Errorf("entry %d lacks object, cluster or since", i+1)
		}
		if i > 0 && all[i-1].Compare(l) >= 0 {
			return nil, errors.New("its entries are not in the order of objects and clusters, each once")
		}
	}
	return all, nil
}
