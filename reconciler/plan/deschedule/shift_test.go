package deschedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	rules "github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/plan/deschedule"
	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/state"
)

// waiting is what is observed of a Deployment in a cluster: so many of its pods find no node for so long, and the others are ready.
type waiting struct {
	cluster, name              string
	pods, ready, unschedulable int32
	since                      time.Duration
}

// fleetOf is a fleet of clusters of which that is observed.
func fleetOf(names string, seen ...waiting) fleet.Fleet {
	var clusters []karmada.Cluster
	for name := range strings.FieldsSeq(names) {
		c := karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
		for _, w := range seen {
			if w.cluster != name {
				continue
			}
			if c.Status.Waybill == nil {
				c.Status.Waybill = &karmada.ObservedBesides{}
			}
			c.Status.Waybill.Unschedulable = append(c.Status.Waybill.Unschedulable, karmada.Unschedulable{
				APIVersion: "apps/v1", Kind: "Deployment", Namespace: "a", Name: w.name,
				Pods: w.pods, Ready: w.ready, Unschedulable: w.unschedulable, Since: metav1.NewTime(now.Add(-w.since)),
			})
		}
		clusters = append(clusters, c)
	}
	return fleet.New(clusters)
}

// takes places what is asked for: what is there stays as far as its cluster has room, and the rest goes to clusters that have more, in
// their order, but not to those that are full.
func takes(replicas int32, most string) deschedule.Try {
	return func(previous []karmada.TargetCluster, full []string) place.Decision {
		room := in(most)
		all, left := slices.Clone(room), replicas
		for i := range all {
			all[i].Replicas = 0
			for _, p := range previous {
				if p.Name == all[i].Name {
					all[i].Replicas = min(p.Replicas, room[i].Replicas)
				}
			}
			left -= all[i].Replicas
		}
		for i := range all {
			if more := min(room[i].Replicas-all[i].Replicas, left); !slices.Contains(full, all[i].Name) {
				all[i].Replicas += more
				left -= more
			}
		}
		if left > 0 {
			return place.Decision{Reason: place.Unschedulable, Targets: all}
		}
		return place.Decision{Reason: place.Success, Targets: all}
	}
}

func again(r recheck.Recheck) string {
	text := ""
	if r.Timed {
		text = " timed"
	}
	if !r.At.IsZero() {
		text += " in " + r.At.Sub(now).String()
	}
	return text
}

// Replicas that wait for a node for five minutes leave, and a cluster that they left takes none for an hour.
func TestWhichReplicasLeave(t *testing.T) {
	left := func(cluster string, ago time.Duration) []state.Descheduled {
		return []state.Descheduled{{Cluster: cluster, Replicas: 1, At: now.Add(-ago)}}
	}
	eu := waiting{"eu", "web", 4, 2, 2, time.Hour}
	for _, tt := range []struct {
		name     string
		clusters string // of the fleet
		seen     []waiting
		left     []state.Descheduled
		was, has string // what clusters have, and the most that each takes
		want     string
	}{
		{"some wait", "eu us", []waiting{eu}, nil, "eu:4 us:2", "us:9 eu:9", "from [eu:2 of 4] full [eu] remain [eu:2 us:2] timed in 5m0s"},
		{"all wait", "eu us", []waiting{{"eu", "web", 4, 0, 4, time.Hour}}, nil, "eu:4 us:2", "us:9 eu:9", "from [eu:4 of 4] full [eu] remain [us:2] timed in 5m0s"},
		{"another template waits", "eu us", []waiting{{"eu", "api", 4, 2, 2, time.Hour}}, nil, "eu:4 us:2", "us:9 eu:9", "none"},
		{"two templates wait", "eu us", []waiting{{"eu", "api", 4, 0, 4, time.Hour}, eu}, nil, "eu:4 us:2", "us:9 eu:9", "from [eu:2 of 4] full [eu] remain [eu:2 us:2] timed in 5m0s"},
		{"where it is not any more", "eu us", []waiting{eu}, nil, "us:6", "us:9 eu:9", "from [] full [] remain [] timed"},
		{"where fewer are than it should have", "eu us", []waiting{{"eu", "web", 3, 1, 2, time.Hour}}, nil, "eu:4 us:2", "us:9 eu:9", "from [] full [] remain [] timed"},
		{"those that wait are to be removed anyway", "eu us", []waiting{{"eu", "web", 6, 4, 2, time.Hour}}, nil, "eu:4 us:2", "us:9 eu:9", "from [] full [] remain [] timed"},
		{"those that wait were ready in the meantime", "eu us", []waiting{{"eu", "web", 4, 4, 2, time.Hour}}, nil, "eu:4 us:2", "us:9 eu:9", "from [] full [eu] remain [] timed"},
		{"not for long enough", "eu us", []waiting{{"eu", "web", 4, 2, 2, 2 * time.Minute}}, nil, "eu:4 us:2", "us:9 eu:9", "from [] full [eu] remain [] timed in 3m0s"},
		{"in two clusters, in the order of names", "ap eu us", []waiting{{"ap", "web", 2, 1, 1, time.Hour}, eu}, nil, "ap:2 eu:4 us:2", "us:9 ap:9 eu:9", "from [ap:1 of 2 eu:2 of 4] full [ap eu] remain [ap:1 eu:2 us:2] timed in 5m0s"},
		{"in two clusters, and there is room for two", "ap eu us", []waiting{{"ap", "web", 2, 1, 1, time.Hour}, eu}, nil, "ap:2 eu:4 us:2", "us:4 ap:9 eu:9", "from [ap:1 of 2 eu:1 of 4] full [ap eu] remain [ap:1 eu:3 us:2] timed in 5m0s, 1 replica of Deployment.apps/a/web in ap, eu found no node there"},
		{"in two clusters, and there is room for one", "ap eu us", []waiting{{"ap", "web", 2, 1, 1, time.Hour}, eu}, nil, "ap:2 eu:4 us:2", "us:3 ap:9 eu:9", "from [ap:1 of 2] full [ap eu] remain [ap:1 eu:4 us:2] timed in 5m0s, 2 replicas of Deployment.apps/a/web in ap, eu found no node there"},
		{"there is no room", "eu us", []waiting{eu}, nil, "eu:4 us:2", "us:2 eu:9", "from [] full [eu] remain [eu:4 us:2] timed, 2 replicas of Deployment.apps/a/web in eu found no node there"},
		{"there is room where others would have to make it", "ap eu us", []waiting{eu}, nil, "ap:3 eu:4 us:2", "us:9 ap:1 eu:9", "from [] full [eu] remain [ap:3 eu:4 us:2] timed, 2 replicas of Deployment.apps/a/web in eu found no node there"},
		{"there is room, and it would leave another cluster", "ap eu us", []waiting{eu}, nil, "ap:3 eu:4 us:2", "us:9 eu:9", "from [] full [eu] remain [ap:3 eu:4 us:2] timed, 2 replicas of Deployment.apps/a/web in eu found no node there"},

		{"some left lately", "eu us", nil, left("eu", 10*time.Minute), "eu:4 us:2", "us:9 eu:9", "from [] full [eu] remain [] timed in 50m0s"},
		{"some left lately, and others wait elsewhere", "ap eu us", []waiting{eu}, left("ap", 10*time.Minute), "ap:1 eu:4 us:2", "us:9 ap:9 eu:9", "from [eu:2 of 4] full [ap eu] remain [ap:1 eu:2 us:2] timed in 5m0s"},
		{"some left lately, and others wait there", "eu us", []waiting{eu}, left("eu", 10*time.Minute), "eu:4 us:2", "us:9 eu:9", "from [eu:2 of 4] full [eu] remain [eu:2 us:2] timed in 5m0s"},
		{"some left so lately that it is not known whether it helped", "ap eu us", []waiting{eu}, left("ap", time.Minute), "ap:1 eu:4 us:2", "us:9 ap:9 eu:9", "from [] full [ap eu] remain [] timed in 4m0s"},
		{"some left, and what is known of room is newer", "ap eu us", []waiting{eu}, left("ap", 5*time.Minute), "ap:1 eu:4 us:2", "us:9 ap:9 eu:9", "from [eu:2 of 4] full [ap eu] remain [ap:1 eu:2 us:2] timed in 5m0s"},
		{"some left an hour ago", "eu us", nil, left("eu", time.Hour), "eu:4 us:2", "us:9 eu:9", "none timed"},
		{"some left a cluster that is not registered any more", "us", nil, left("eu", time.Minute), "us:6", "us:9", "none timed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := state.NewBinding("apps/v1", web)
			b.Spec.Clusters = in(tt.was)
			state.RecordDescheduled(b, tt.left)
			item := deschedule.Item{Ref: web, Before: b}
			for _, c := range b.Spec.Clusters {
				item.Replicas += c.Replicas
			}
			d := deschedule.New(&rules.Rules{Threshold: 5 * time.Minute, Cooldown: time.Hour}, fleetOf(tt.clusters, tt.seen...), now)
			s, r, diags := d.Shift(&item, takes(item.Replicas, tt.has))
			got := "none"
			if s != nil {
				var from, remain []string
				for _, f := range s.From {
					from = append(from, fmt.Sprintf("%s:%d of %d", f.From, f.Replicas, f.Of))
					if !f.Since.Equal(now.Add(-time.Hour)) {
						t.Errorf("they wait since %s", f.Since)
					}
				}
				for _, c := range s.Remaining {
					remain = append(remain, fmt.Sprintf("%s:%d", c.Name, c.Replicas))
				}
				got = fmt.Sprintf("from %v full %v remain %v", from, s.Full, remain)
			}
			all := []string{got + again(r)}
			for _, d := range diags {
				what, _, _ := strings.Cut(d.Message, ", and no other")
				all = append(all, what)
			}
			if got := strings.Join(all, ", "); got != tt.want {
				t.Errorf("it shifts\n%s; want\n%s", got, tt.want)
			}
		})
	}
}

// Where nothing is observed, or nothing is asked, nothing moves.
func TestNothingShifts(t *testing.T) {
	eu := waiting{"eu", "web", 4, 2, 2, time.Hour}
	none := deschedule.New(nil, fleetOf("eu us", eu), now)
	item := deschedule.Item{Ref: web, Replicas: 6}
	if s, r, diags := none.Shift(&item, takes(6, "us:9")); none != nil || s != nil || diags != nil || r != (recheck.Recheck{}) {
		t.Errorf("without rules it shifts %s", summary(s))
	}
	b := state.NewBinding("apps/v1", web)
	if none.Bind(b, &item, nil); state.DescheduledFrom(b) != nil {
		t.Errorf("without rules it remembers %v", state.DescheduledFrom(b))
	}
	d := deschedule.New(&rules.Rules{Threshold: time.Minute}, fleetOf("eu us", eu), now)
	if s, _, _ := d.Shift(&item, takes(6, "us:9")); s.Moves() || s == nil {
		t.Errorf("a template that is new shifts %s", summary(s))
	}
	var still *deschedule.Shift
	stays := &deschedule.Shift{Full: []string{"eu"}, Remaining: in("us:2")}
	if still.Moves() || stays.Moves() || still.To(in("us:3")) != nil || stays.To(in("us:3")) != stays {
		t.Error("a shift of nothing moves")
	}
}

// What is divided afresh forgets what left; else what left is remembered as long as it counts, and what leaves now beside it.
func TestWhatIsRemembered(t *testing.T) {
	eu := waiting{"eu", "web", 4, 2, 2, time.Hour}
	ap := state.Descheduled{Cluster: "ap", Replicas: 1, At: now.Add(-10 * time.Minute)}
	b := state.NewBinding("apps/v1", web)
	b.Spec.Clusters = in("ap:1 eu:4 us:2")
	state.RecordDescheduled(b, []state.Descheduled{ap, {Cluster: "us", Replicas: 1, At: now.Add(-2 * time.Hour)}})
	d := deschedule.New(&rules.Rules{Threshold: 5 * time.Minute, Cooldown: time.Hour}, fleetOf("ap eu us", eu), now)
	item := deschedule.Item{Ref: web, Before: b, Replicas: 7}
	s, _, _ := d.Shift(&item, takes(7, "us:9 ap:1 eu:9"))
	for _, tt := range []struct {
		name    string
		isFresh bool
		shift   *deschedule.Shift
		want    []state.Descheduled
		again   string
	}{
		{"what leaves now", false, s, []state.Descheduled{ap, {Cluster: "eu", Replicas: 2, At: now}}, " timed"},
		{"nothing leaves now", false, nil, []state.Descheduled{ap}, " timed"},
		{"it is divided afresh", true, nil, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			item.IsFresh = tt.isFresh
			after := state.NewBinding("apps/v1", web)
			if r := d.Bind(after, &item, tt.shift); again(r) != tt.again {
				t.Errorf("it looks again%s; want%s", again(r), tt.again)
			}
			if got := state.DescheduledFrom(after); !slices.Equal(got, tt.want) {
				t.Errorf("it remembers %v; want %v", got, tt.want)
			}
		})
	}
}

// Where replicas went is what clusters have more than remained there.
func TestWhereReplicasWent(t *testing.T) {
	s := &deschedule.Shift{From: []deschedule.Departure{{From: "eu", Replicas: 2}, {From: "za", Replicas: 1}}, Remaining: in("ap:1 eu:2 us:2")}
	to := s.To(in("ap:2 eu:2 sa:1 us:3"))
	for _, f := range to.From {
		if !slices.Equal(f.Destination, in("ap:1 sa:1 us:1")) {
			t.Errorf("those of %s went to %v", f.From, f.Destination)
		}
	}
}
