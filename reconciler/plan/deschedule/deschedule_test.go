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
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
)

var (
	now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	web = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "web"}
)

// in are clusters with replicas, such as "eu:3 us:2".
func in(text string) (all []karmada.TargetCluster) {
	for word := range strings.FieldsSeq(text) {
		var c karmada.TargetCluster
		name, n, _ := strings.Cut(word, ":")
		c.Name = name
		if _, err := fmt.Sscan(n, &c.Replicas); err != nil {
			panic(err)
		}
		all = append(all, c)
	}
	return all
}

// observed is a fleet of eu and us, with so many replicas that wait in eu, for so long.
func observed(waiting int32, since time.Duration, conditions ...metav1.Condition) fleet.Fleet {
	eu := karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}
	eu.Status.Conditions = conditions
	if waiting > 0 {
		eu.Status.Waybill = &karmada.ObservedBesides{Unschedulable: []karmada.Unschedulable{{
			APIVersion: "apps/v1", Kind: "Deployment", Namespace: "a", Name: "web", Pods: 4, Ready: 4 - waiting, Unschedulable: waiting, Since: metav1.NewTime(now.Add(-since)),
		}}}
	}
	return fleet.New([]karmada.Cluster{eu, {ObjectMeta: metav1.ObjectMeta{Name: "us"}}})
}

// room places all that is asked for: us has room for so many replicas in all.
func room(replicas, has int32) deschedule.Try {
	return func(previous []karmada.TargetCluster, _ []string) place.Decision {
		var kept int32
		all := slices.Clone(previous)
		for _, c := range all {
			kept += c.Replicas
		}
		for i := range all {
			if all[i].Name == "us" {
				all[i].Replicas += replicas - kept
				if all[i].Replicas > has {
					return place.Decision{Reason: place.Unschedulable}
				}
			}
		}
		return place.Decision{Reason: place.Success, Targets: all}
	}
}

func summary(s *deschedule.Shift) string {
	if s == nil {
		return "none"
	}
	var from []string
	for _, f := range s.From {
		from = append(from, fmt.Sprintf("%s:%d", f.From, f.Replicas))
	}
	return fmt.Sprintf("from %v full %v", from, s.Full)
}

func TestShift(t *testing.T) {
	notReady := metav1.Condition{Type: karmada.ConditionReady, Status: metav1.ConditionFalse}
	lately := func(ago time.Duration) *karmada.ResourceBinding {
		b := state.NewBinding("apps/v1", web)
		state.RecordDescheduled(b, []state.Descheduled{{Cluster: "eu", Replicas: 1, At: now.Add(-ago)}})
		return b
	}
	for _, tt := range []struct {
		name    string
		fleet   fleet.Fleet
		binding *karmada.ResourceBinding
		item    deschedule.Item
		room    int32
		want    string
		said    int
	}{
		{"none waits", observed(0, 0), nil, deschedule.Item{}, 10, "none", 0},
		{"some wait", observed(2, time.Hour), nil, deschedule.Item{}, 10, "from [eu:2] full [eu]", 0},
		{"not for long enough", observed(2, time.Minute), nil, deschedule.Item{}, 10, "from [] full [eu]", 0},
		{"there is room for one", observed(2, time.Hour), nil, deschedule.Item{}, 3, "from [eu:1] full [eu]", 1},
		{"there is room for none", observed(2, time.Hour), nil, deschedule.Item{}, 2, "from [] full [eu]", 1},
		{"the cluster is not ready", observed(2, time.Hour, notReady), nil, deschedule.Item{}, 10, "none", 0},
		{"it is divided afresh", observed(2, time.Hour), nil, deschedule.Item{IsFresh: true}, 10, "from [] full [eu]", 0},
		{"it leaves for other reasons", observed(2, time.Hour), nil, deschedule.Item{IsMoving: true}, 10, "from [] full [eu]", 0},
		{"its number changes", observed(2, time.Hour), nil, deschedule.Item{Replicas: 7}, 10, "from [] full [eu]", 0},
		{"some left lately", observed(0, 0), lately(time.Minute), deschedule.Item{}, 10, "from [] full [eu]", 0},
		{"some left before the threshold, and within the cooldown", observed(0, 0), lately(30 * time.Minute), deschedule.Item{}, 10, "from [] full [eu]", 0},
		{"some left long ago", observed(0, 0), lately(3 * time.Hour), deschedule.Item{}, 10, "none", 0},
		{"some left so lately that it is not known whether it helped", observed(2, time.Hour), lately(time.Minute), deschedule.Item{}, 10, "from [] full [eu]", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.binding == nil {
				tt.binding = state.NewBinding("apps/v1", web)
			}
			tt.binding.Spec.Clusters = in("eu:4 us:2")
			tt.item.Ref, tt.item.Before = web, tt.binding
			if tt.item.Replicas == 0 {
				tt.item.Replicas = 6
			}
			d := deschedule.New(&rules.Rules{Threshold: 5 * time.Minute, Cooldown: time.Hour}, tt.fleet, now)
			s, _, diags := d.Shift(&tt.item, room(6, tt.room))
			if got := summary(s); got != tt.want || len(diags) != tt.said {
				t.Errorf("it shifts %s and says %v; want %s and %d sentences", got, diags, tt.want, tt.said)
			}
		})
	}
}

// A shift says where its replicas went once that is known, and the binding remembers what left.
func TestAShiftIsRecorded(t *testing.T) {
	before := state.NewBinding("apps/v1", web)
	before.Spec.Clusters = in("eu:4 us:2")
	item := deschedule.Item{Ref: web, Before: before, Replicas: 6}
	d := deschedule.New(&rules.Rules{Threshold: 5 * time.Minute, Cooldown: time.Hour}, observed(2, time.Hour), now)
	s, again, _ := d.Shift(&item, room(6, 10))
	if !again.At.Equal(now.Add(5 * time.Minute)) {
		t.Errorf("it looks again at %s", again.At)
	}
	to := s.To(in("eu:2 us:4"))
	if got := to.From[0].Destination; !slices.Equal(got, in("us:2")) || s.From[0].Destination != nil {
		t.Errorf("it went to %v, and the shift before says %v", got, s.From[0].Destination)
	}
	after := state.NewBinding("apps/v1", web)
	d.Bind(after, &item, to)
	if left := state.DescheduledFrom(after); len(left) != 1 || left[0] != (state.Descheduled{Cluster: "eu", Replicas: 2, At: now}) {
		t.Errorf("the binding remembers %v", left)
	}
}
