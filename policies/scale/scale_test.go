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
	isOff := true
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
		{"in its zone", []karmada.CronFederatedHPARule{rule("30 7 * * *", 3), berlin}, 7, "07:30", 0},
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
