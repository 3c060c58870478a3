package status_test

import (
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/status"
)

// TestTwoAnswersAreWritten holds that a status branch says what Karmada says of an object, whether
// it is done, and since when each is so.
func TestTwoAnswersAreWritten(t *testing.T) {
	const healthy, unhealthy = karmada.ResourceHealthy, karmada.ResourceUnhealthy
	l := settled(began)
	at := func(d time.Duration) time.Time { return began.Add(d) }
	rolls := inProgress("1 of 2")
	rolls.Karmada = healthy
	for _, step := range []struct {
		at               time.Duration
		rolls            bool
		byKarmada, done  karmada.ResourceHealth
		since, doneSince time.Duration
	}{
		{time.Minute, true, healthy, unhealthy, 0, time.Minute},
		{2 * time.Minute, false, unhealthy, unhealthy, 2 * time.Minute, time.Minute},
		{3 * time.Minute, true, healthy, unhealthy, 3 * time.Minute, time.Minute},
	} {
		h := inProgress("2 of 2")
		if step.rolls {
			h = rolls
		}
		l.Saw(web, h, at(step.at))
		due := l.Due()
		root := l.Layout()
		l.Wrote(due)
		objects, err := status.Objects(root, status.Everything)
		if err != nil {
			t.Fatal(err)
		}
		got := objects[web].Health
		state, since := got.ByKarmada()
		if state != step.byKarmada || !since.Equal(at(step.since)) {
			t.Errorf("after %s Karmada says %s since %s, want %s since %s", step.at, state, since, step.byKarmada, at(step.since))
		}
		if got.State != step.done || !got.Since.Equal(at(step.doneSince)) {
			t.Errorf("after %s it is %s since %s, want %s since %s", step.at, got.State, got.Since, step.done, at(step.doneSince))
		}
	}
}
