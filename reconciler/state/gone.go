package state

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/render/object"
)

// WhyGone says why an object that nothing stands for any longer is not in a cluster's plan,
// by what releases rendered to when the state was written, and what they render to now.
func (s *State) WhyGone(now []Release, o object.Ref, cluster string) string {
	for i := range s.Releases {
		was := &s.Releases[i]
		if _, ok := slices.BinarySearchFunc(was.Objects, o, object.Ref.Compare); !ok || was.Cluster != "" && was.Cluster != cluster {
			continue
		}
		if slices.ContainsFunc(now, func(r Release) bool { return r.ID() == was.ID() }) {
			return fmt.Sprintf("%s no longer renders it", was.Release)
		}
		return fmt.Sprintf("%s, which rendered it, is no longer in the source", was.Release)
	}
	return "it is no longer in the source"
}
