package scale_test

import (
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/scale"
)

func TestInForce(t *testing.T) {
	rule := func(schedule string, replicas int32) karmada.CronFederatedHPARule {
		return karmada.CronFederatedHPARule{Name: "r", Schedule: schedule, TargetReplicas: &replicas}
	}
	isOff, isOn := true, false
	on := rule("0 10 * * *", 3)
	on.Suspend = &isOn
	off, unset, berlin, zone := rule("0 11 * * *", 9), rule("0 11 * * *", 9), rule("0 9 * * *", 7), "Europe/Berlin"
	off.Suspend, unset.TargetReplicas, berlin.TimeZone = &isOff, nil, &zone
	for _, tt := range []struct {
		name  string
		rules []karmada.CronFederatedHPARule
		want  int32  // -1 for none
		next  string // time of the next change
		wrong int
	}{
		{"none", nil, -1, "", 0},
		{"the last one to come about", []karmada.CronFederatedHPARule{rule("0 10 * * *", 3), rule("0 8 * * *", 2), rule("0 18 * * *", 1)}, 3, "18:00", 0},
		{"two at once", []karmada.CronFederatedHPARule{rule("0 10 * * *", 3), rule("0 10 * * *", 4)}, 4, "10:00", 0},
		{"suspended, and without replicas", []karmada.CronFederatedHPARule{rule("0 10 * * *", 3), off, unset}, 3, "10:00", 0},
		{"not suspended", []karmada.CronFederatedHPARule{on}, 3, "10:00", 0},
		{"in its zone, in which it is later", []karmada.CronFederatedHPARule{rule("30 7 * * *", 3), berlin}, 7, "07:30", 0},
		{"in its zone, in which it was earlier", []karmada.CronFederatedHPARule{rule("30 8 * * *", 3), berlin}, 3, "08:00", 0},
		{"one that never comes", []karmada.CronFederatedHPARule{rule("0 10 * * *", 3), rule("0 0 30 2 *", 9)}, 3, "10:00", 1},
		{"one that cannot be read", []karmada.CronFederatedHPARule{rule("0 10 * * *", 3), rule("never", 9)}, 3, "10:00", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := scale.InForce(tt.rules, time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
			got, next := int32(-1), ""
			if s.Replicas != nil {
				got = *s.Replicas
			}
			if !s.Next.IsZero() {
				next = s.Next.Format("15:04")
			}
			if got != tt.want || next != tt.next || len(s.Wrong) != tt.wrong {
				t.Errorf("%d replicas until %q, wrong are %v; want %d until %q", got, next, s.Wrong, tt.want, tt.next)
			}
		})
	}
}

func TestBoundsInForce(t *testing.T) {
	rule := func(name, schedule string, bounds ...int32) karmada.CronFederatedHPARule {
		r := karmada.CronFederatedHPARule{Name: name, Schedule: schedule}
		if bounds[0] > 0 {
			r.TargetMinReplicas = &bounds[0]
		}
		if bounds[1] > 0 {
			r.TargetMaxReplicas = &bounds[1]
		}
		return r
	}
	isOff := true
	off := rule("off", "0 11 * * *", 3, 3)
	off.Suspend = &isOff
	for _, tt := range []struct {
		name  string
		rules []karmada.CronFederatedHPARule
		want  scale.Bounds
		next  string
		said  [2]int // rules passed over, and those that cannot be read
	}{
		{"none", nil, scale.Bounds{Min: 4, Max: 20}, "", [2]int{}},
		{"the least alone", []karmada.CronFederatedHPARule{rule("a", "0 10 * * *", 8, 0)}, scale.Bounds{Min: 8, Max: 20}, "10:00", [2]int{}},
		{"each sets what it names", []karmada.CronFederatedHPARule{rule("a", "0 10 * * *", 8, 0), rule("b", "0 9 * * *", 2, 30)}, scale.Bounds{Min: 8, Max: 30}, "09:00", [2]int{}},
		{"in the order of time", []karmada.CronFederatedHPARule{rule("a", "0 11 * * *", 5, 0), rule("b", "0 10 * * *", 8, 0)}, scale.Bounds{Min: 5, Max: 20}, "10:00", [2]int{}},
		{"at once, in the order of the file", []karmada.CronFederatedHPARule{rule("a", "0 10 * * *", 5, 0), rule("b", "0 10 * * *", 8, 0)}, scale.Bounds{Min: 8, Max: 20}, "10:00", [2]int{}},
		{"a least above the most is passed over", []karmada.CronFederatedHPARule{rule("a", "0 9 * * *", 6, 0), rule("b", "0 10 * * *", 30, 0)}, scale.Bounds{Min: 6, Max: 20}, "09:00", [2]int{1, 0}},
		{"it may become right by an earlier one", []karmada.CronFederatedHPARule{rule("a", "0 9 * * *", 0, 40), rule("b", "0 10 * * *", 30, 0)}, scale.Bounds{Min: 30, Max: 40}, "09:00", [2]int{}},
		{"a least that is the most", []karmada.CronFederatedHPARule{rule("a", "0 10 * * *", 9, 9)}, scale.Bounds{Min: 9, Max: 9}, "10:00", [2]int{}},
		{"without bounds", []karmada.CronFederatedHPARule{rule("a", "0 13 * * *", 0, 0), rule("b", "0 10 * * *", 8, 0)}, scale.Bounds{Min: 8, Max: 20}, "10:00", [2]int{}},
		{"the most alone", []karmada.CronFederatedHPARule{rule("a", "0 10 * * *", 0, 8)}, scale.Bounds{Min: 4, Max: 8}, "10:00", [2]int{}},
		{"suspended", []karmada.CronFederatedHPARule{off}, scale.Bounds{Min: 4, Max: 20}, "", [2]int{}},
		{"one that cannot be read", []karmada.CronFederatedHPARule{rule("a", "never", 8, 0), rule("b", "0 12 * * *", 7, 0)}, scale.Bounds{Min: 7, Max: 20}, "12:00", [2]int{0, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := scale.BoundsInForce(scale.Bounds{Min: 4, Max: 20}, tt.rules, time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
			next := ""
			if !s.Next.IsZero() {
				next = s.Next.Format("15:04")
			}
			if said := [2]int{len(s.Passed), len(s.Wrong)}; s.Bounds != tt.want || next != tt.next || said != tt.said {
				t.Errorf("%v until %q, %v; want %v until %q, %v", s.Bounds, next, said, tt.want, tt.next, tt.said)
			}
		})
	}
}
