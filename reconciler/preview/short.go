package preview

import (
	"fmt"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// Short is a resource of which a cluster has other than before, and less than what is in it asks for. What is placed stays there all
// the same: nothing is scheduled anew because of it.
type Short struct {
	Cluster  string `json:"cluster"`
	Resource string `json:"resource"` // cpu, memory, pods, ...
	Asked    string `json:"asked"`    // quantity that is asked for in the cluster
	Has      string `json:"has"`      // quantity that its nodes have together
	// By are the objects of the plan that ask for it, those that ask for most first.
	By []Load `json:"by,omitempty"`
}

// Load is what the replicas of an object ask for in a cluster.
type Load struct {
	Object   object.Ref `json:"object"`
	Replicas int32      `json:"replicas"`
	Asked    string     `json:"asked"` // quantity, of all of them
}

// String says it in a line, with the objects that ask for most.
func (s *Short) String() string {
	line := fmt.Sprintf("what is in %s no longer fits: %s", s.Cluster, s.amounts())
	const most = 3
	var by []string
	for _, l := range s.By[:min(most, len(s.By))] {
		by = append(by, fmt.Sprintf("%s %s (%s)", l.Object, l.Asked, words.Count(int(l.Replicas), "replica")))
	}
	if n := len(s.By) - most; n > 0 {
		by = append(by, words.Count(n, "other object"))
	}
	if len(by) > 0 {
		line += "; requested by " + words.List(by)
	}
	return line + "; nothing is scheduled anew because of it"
}

// Shortages are the lines of Short.
func (c *Comparison) Shortages() (lines []string) {
	for i := range c.Short {
		lines = append(lines, c.Short[i].String())
	}
	return lines
}

func (s *Short) amounts() string {
	return fmt.Sprintf("%s %s requested, %s allocatable", s.Asked, s.Resource, s.Has)
}

// short says which clusters have less than is asked for.
func (v *Verdict) short(all []Short) {
	var names []string
	for _, s := range all {
		if len(names) == 0 || names[len(names)-1] != s.Cluster {
			names = append(names, s.Cluster)
		}
	}
	v.and()
	v.say("what is in ")
	v.quoteList(names, "cluster")
	v.say(" no longer fits")
	if len(names) == 1 {
		v.say(": ")
		v.quote(all[0].amounts())
	}
}
