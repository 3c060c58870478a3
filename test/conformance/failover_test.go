package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
)

// instant is what Karmada had some seconds after a change.
type instant struct {
	step    int // of the case: repo2.yaml is the change of step 2
	seconds int
	want    string // the file that says so, or objects, as in "alpha Deployment/div"
}

// failovers are the cases, with the instants at which Karmada was looked at. Copies were told
// to be healthy some seconds after they were made.
var failovers = []struct {
	name     string
	healthy  int             // seconds
	never    map[string]bool // clusters where they are not
	timeout  time.Duration
	instants []instant
}{
	{name: "taint-00", healthy: 6, instants: []instant{{2, 0, "expected2.json"}, {2, 15, "expected2.json"}}},
	{name: "taint-02", healthy: 6, instants: []instant{{2, 0, "expected2.json"}, {2, 15, "expected2.json"}}},
	{name: "taint-04", healthy: 6, instants: []instant{{2, 15, "expected2.json"}}},
	{name: "taint-06", healthy: 6, instants: []instant{{2, 0, "expected2.json"}, {2, 15, "expected2.json"}}},
	{name: "taint-08", healthy: 6, instants: []instant{{2, 10, "expected2.json"}, {2, 31, "expected2-end.json"}, {2, 60, "expected2-end.json"}}},
	{name: "taint-10", healthy: 6, instants: []instant{{2, 0, "expected2.json"}, {2, 15, "expected2.json"}}},
	{name: "taint-12", healthy: 6, instants: []instant{
		{2, 0, "alpha Deployment/div"}, {2, 5, "alpha Deployment/div"}, {2, 5, "alpha Deployment/dup"}, {2, 5, "bravo Deployment/div"}, {2, 9, "expected2.json"}, {3, 15, "expected3.json"},
	}},
	{name: "taint-14", healthy: 6, instants: []instant{{2, 15, "expected2.json"}}},
	{name: "taint-16", healthy: 6, instants: []instant{{2, 2, "bravo Deployment/agg"}, {2, 20, "expected2.json"}, {3, 15, "expected3.json"}}},
	{name: "taint-18", healthy: 10, instants: []instant{{2, 5, "bravo Deployment/gracefully"}, {2, 5, "alpha Deployment/gracefully"}, {2, 25, "expected2.json"}}},
	{name: "taint-20", healthy: 6, instants: []instant{{2, 0, "expected2.json"}, {2, 15, "expected2.json"}}},
	{name: "taint-22", healthy: 10, instants: []instant{{2, 0, "expected2-early.json"}, {2, 8, "expected2-early.json"}, {2, 15, "expected2.json"}}},
	{name: "taint-24", healthy: 6, never: map[string]bool{"alpha": true, "charlie": true}, timeout: 40 * time.Second, instants: []instant{
		{2, 1, "expected2-before-timeout.json"}, {2, 39, "expected2-before-timeout.json"}, {2, 41, "expected2.json"}, {2, 60, "expected2.json"},
	}},
}

// TestFailover holds failover against Karmada at each instant, by a clock of its own, a second
// at a time, with clusters that say what became of what they were sent.
func TestFailover(t *testing.T) {
	for _, tt := range failovers {
		t.Run(tt.name, func(t *testing.T) {
			f := run{t: t, dir: filepath.Join("testdata", tt.name), made: map[string]time.Time{}, now: time.Unix(1_000_000, 0).UTC(), healthy: tt.healthy, never: tt.never}
			f.config = func(c *render.Failover) {
				c.LastCopy = render.LastCopyDelete // as Karmada
				if tt.timeout > 0 {
					c.GracefulEvictionTimeout = metav1.Duration{Duration: tt.timeout}
				}
			}
			f.change(1)
			f.until(10)
			f.holds("expected1.json")
			for _, at := range tt.instants {
				f.change(at.step)
				f.until(at.seconds)
				f.holds(at.want)
			}
		})
	}
}

// TestTheEndOfFailover holds the end against Karmada's where nothing is waited for, and nobody
// says anything.
func TestTheEndOfFailover(t *testing.T) {
	for _, tt := range failovers {
		if tt.name == "taint-08" {
			continue // it is about time
		}
		t.Run(tt.name, func(t *testing.T) {
			f := run{t: t, dir: filepath.Join("testdata", tt.name), now: time.Unix(1_000_000, 0).UTC(), silent: true}
			f.config = func(c *render.Failover) {
				c.LastCopy, c.GracefulEvictionTimeout = render.LastCopyDelete, metav1.Duration{}
			}
			for step := 1; ; step++ {
				if _, err := os.Stat(filepath.Join(f.dir, fmt.Sprintf("repo%d.yaml", step))); err != nil {
					return
				}
				f.change(step)
				f.plan()
				f.holds(fmt.Sprintf("expected%d.json", step))
			}
		})
	}
}

// run is a case on its way.
type run struct {
	t       *testing.T
	dir     string
	config  func(*render.Failover)
	step    int
	changed time.Time // when the step began
	now     time.Time
	in      plan.Input
	last    plan.Plan
	healthy int
	never   map[string]bool
	silent  bool                 // clusters say nothing
	made    map[string]time.Time // copies, by cluster and path
}

// change goes on to a step.
func (f *run) change(step int) {
	f.t.Helper()
	if step == f.step {
		return
	}
	before := f.in
	f.in = input(f.t, filepath.Join(f.dir, fmt.Sprintf("repo%d.yaml", step)))
	c := &f.in.Source.Config.Failover
	c.Enabled = true
	f.config(c)
	f.in.Memo = plan.NewMemo()
	f.in.State, f.in.Published = before.State, before.Published
	f.step, f.changed = step, f.now
}

// until plans second by second until some seconds after the change.
func (f *run) until(seconds int) {
	f.t.Helper()
	for end := f.changed.Add(time.Duration(seconds) * time.Second); ; f.now = f.now.Add(time.Second) {
		f.plan()
		if !f.now.Before(end) {
			return
		}
	}
}

// plan plans and publishes until the clusters have what they should have, and holds that this
// is a fixed point: the first plan sends more replicas, and the second knows that they are there.
func (f *run) plan() {
	f.t.Helper()
	for n := range 3 {
		f.in.Now, f.in.Evidence = f.now, f.evidence()
		p := plan.Build(f.in)
		if n == 2 && f.last.State.ID() != p.State.ID() {
			f.t.Errorf("after %s it is no fixed point: planned again it decides otherwise", f.now.Sub(f.changed))
		}
		f.last = p
		after(f.t, &f.in, &p)
		f.note()
	}
}

// note notes which copies there are.
func (f *run) note() {
	have := map[string]bool{}
	for _, c := range f.last.Clusters {
		for path := range c.Tree.All() {
			key := c.Name + " " + path
			have[key] = true
			if _, ok := f.made[key]; !ok && !f.silent {
				f.made[key] = f.now
			}
		}
	}
	for key := range f.made {
		if !have[key] {
			delete(f.made, key)
		}
	}
}

// evidence is what clusters say.
func (f *run) evidence() evict.Evidence {
	if f.silent {
		return nil
	}
	all := evict.Evidence{}
	for _, d := range f.last.Decisions {
		of := map[string]evict.Seen{}
		for _, c := range f.last.Clusters {
			at, there := f.made[c.Name+" "+tree.Path(d.Ref())]
			s := evict.Seen{Health: karmada.ResourceUnhealthy, Since: at, Current: there, Gone: !there}
			if there && !f.never[c.Name] && !f.now.Before(at.Add(time.Duration(f.healthy)*time.Second)) {
				s.Health, s.Done = karmada.ResourceHealthy, true
			}
			of[c.Name] = s
		}
		all[d.Ref()] = of
	}
	return all
}

// holds compares the last plan with a file, or that a cluster has an object.
func (f *run) holds(want string) {
	f.t.Helper()
	if strings.HasSuffix(want, ".json") {
		compare(f.t, filepath.Join(f.dir, want), f.last)
		return
	}
	cluster, name, _ := strings.Cut(want, " ")
	kind, name, _ := strings.Cut(name, "/")
	r := object.Ref{Group: "apps", Kind: kind, Namespace: "web", Name: name}
	for _, c := range f.last.Clusters {
		if _, has := c.Tree.Lookup(tree.Path(r)); has && c.Name == cluster {
			return
		}
	}
	f.t.Errorf("%s after the change %s is not in %s", f.now.Sub(f.changed), r, cluster)
}
