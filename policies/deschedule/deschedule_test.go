package deschedule_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

var begun = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestWhatMoves(t *testing.T) {
	for ref, want := range map[object.Ref]bool{
		{Group: "apps", Kind: "Deployment"}: true, {Group: "apps", Kind: "StatefulSet"}: false, {Group: "extensions", Kind: "Deployment"}: false, {Kind: "Pod"}: false,
	} {
		if got := deschedule.Moves(ref); got != want {
			t.Errorf("replicas of %v move: %t", ref, got)
		}
	}
}

func TestShrink(t *testing.T) {
	for _, tt := range []struct {
		name                               string
		desired, pods, ready, waiting, age int32 // age in minutes
		want                               int32
		due                                int32 // minutes from now; 0: none
	}{
		{"nothing waits", 5, 5, 5, 0, 9, 5, 0},
		{"some wait", 5, 5, 2, 3, 9, 2, 0},
		{"some wait, and others are not ready", 5, 5, 1, 2, 9, 3, 0},
		{"all wait", 5, 5, 0, 5, 9, 0, 0},
		{"just as long as the limit", 5, 5, 2, 3, 5, 2, 0},
		{"not for long enough", 5, 5, 2, 3, 3, 5, 2},
		{"what a rollout has too many of waits", 4, 5, 4, 1, 9, 4, 0},
		{"of a rollout more than it has too many waits", 4, 5, 3, 2, 9, 3, 0},
		{"more are ready than would be left", 4, 6, 4, 4, 9, 4, 0},
		{"the cluster removes those that wait already", 2, 5, 2, 3, 9, 2, 0},
		{"the cluster does not have all of them yet", 5, 4, 1, 3, 9, 5, 0},
		{"some of those that wait are removed already", 4, 6, 1, 3, 9, 3, 0},
		{"it should have none", 0, 3, 0, 3, 9, 0, 0},
		{"more are ready than are there", 3, 3, 9, 1, 9, 3, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := begun.Add(time.Duration(tt.age) * time.Minute)
			seen := karmada.Unschedulable{Pods: tt.pods, Ready: tt.ready, Unschedulable: tt.waiting, Since: metav1.NewTime(begun)}
			got, due := deschedule.Shrink(tt.desired, seen, now, 5*time.Minute)
			want := time.Time{}
			if tt.due > 0 {
				want = now.Add(time.Duration(tt.due) * time.Minute)
			}
			if got != tt.want || !due.Equal(want) {
				t.Errorf("%d stay, due %v; want %d, %v", got, due, tt.want, want)
			}
		})
	}
}

// FuzzShrink holds the laws of the package: between what is ready and was asked for, and what was
// there, and nothing is taken away twice for the same observation.
func FuzzShrink(f *testing.F) {
	f.Add(int16(5), int16(5), int16(2), int16(3), uint8(9))
	f.Add(int16(4), int16(6), int16(4), int16(4), uint8(9))
	f.Add(int16(9), int16(2), int16(0), int16(2), uint8(1))
	f.Fuzz(func(t *testing.T, desired, pods, ready, waiting int16, minutes uint8) {
		if min(desired, pods, ready, waiting) < 0 || int(ready)+int(waiting) > int(pods) {
			return // no cluster has that
		}
		seen := karmada.Unschedulable{Pods: int32(pods), Ready: int32(ready), Unschedulable: int32(waiting), Since: metav1.NewTime(begun)}
		now := begun.Add(time.Duration(minutes) * time.Minute)
		stay, due := deschedule.Shrink(int32(desired), seen, now, 5*time.Minute)
		if stay > int32(desired) || stay < min(int32(ready), int32(desired)) {
			t.Errorf("of %d replicas %d stay, and %d are ready", desired, stay, ready)
		}
		if !due.IsZero() && (stay != int32(desired) || !due.After(now)) {
			t.Errorf("%d of %d stay although it is due in %s", stay, desired, due.Sub(now))
		}
		if int32(desired)-stay > int32(waiting) {
			t.Errorf("%d leave, and %d wait", int32(desired)-stay, waiting)
		}
		if again, _ := deschedule.Shrink(stay, seen, now, 0); due.IsZero() && again != stay {
			t.Errorf("of %d that stay %d stay", stay, again)
		}
	})
}
