package applier_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/suspend"
)

// TestWhatWasAppliedIsWaitedFor: what is not ready by then is named; nothing is waited for in a dry run, nor where nothing was done. What
// fails is an error.
func TestWhatWasAppliedIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.more = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}\n"
	in, eu := s.publish("", "a")
	for _, tt := range []struct {
		name    string
		change  func(*applier.Applier)
		unready int
		failed  bool
	}{
		{"a dry run", func(a *applier.Applier) { a.DryRun, a.Wait = true, 10*time.Millisecond }, 0, false},
		{"nobody waits", func(*applier.Applier) {}, 0, false},
		{"it is not ready", func(a *applier.Applier) { a.Wait = 10 * time.Millisecond }, 1, true},
		{"and that is accepted", func(a *applier.Applier) { a.Wait, a.WaitAccepts = time.Hour, []string{health.InProgress} }, 0, false},
	} {
		a := s.applier
		tt.change(&a)
		res := a.Apply(t.Context(), in, eu)
		if res.Err != nil || len(res.Unready) != tt.unready || res.Failed() != tt.failed {
			t.Errorf("%s: not ready are %v, failed %t; %v", tt.name, res.Unready, res.Failed(), res.Err)
		}
	}
	a := s.applier
	a.Wait = time.Hour
	s.server.Before(func(r *http.Request) int {
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/secrets") {
			return http.StatusForbidden
		}
		return 0
	})
	if res := a.Apply(t.Context(), in, eu); res.Err == nil || len(res.Unready) > 0 {
		t.Errorf("where a round fails not ready are %v: %v", res.Unready, res.Err)
	}
	if _, err := a.Orphans(t.Context(), in, eu); err == nil {
		t.Error("orphans are listed although the inventory cannot be read")
	}
	s.server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if res := a.Apply(ctx, in, eu); res.Err == nil || res.Round() == nil || res.Round().Trouble.Reason != status.Unreachable {
		t.Errorf("a cluster that does not answer comes to %v", res.Err)
	}
	if _, err := a.Orphans(ctx, in, eu); err == nil {
		t.Error("orphans are listed although the cluster does not answer")
	}
	a.Access.Folder = t.TempDir()
	if res := a.Apply(t.Context(), in, eu); !errors.Is(res.Err, clusters.ErrNoCredential) || res.Cluster != "eu" {
		t.Errorf("without a credential %s comes to %v", res.Cluster, res.Err)
	}
	if _, err := a.Orphans(t.Context(), in, eu); !errors.Is(err, clusters.ErrNoCredential) {
		t.Errorf("without a credential orphans are %v", err)
	}
}

// TestWhatChangesDuringARoundIsTakenAtOnce: a Cluster that is suspended while a round is under way, which goes on to its end, for its
// branch is the same.
func TestWhatChangesDuringARoundIsTakenAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	others := strings.Fields("d e f g h i j k l m n o p q r s t u v w x y z") // so many that one may leave
	s.publish("", append(others, "a")...)
	wakes, looked, rounds := make(chan struct{}), make(chan struct{}), make(chan applier.Result)
	f := applier.Follower{
		Applier: s.applier, Resync: time.Hour, Log: slog.New(slog.DiscardHandler), Random: func() float64 { return 0 },
		Report:  func(res applier.Result) { rounds <- res },
		Observe: func(_, _ []*karmada.Cluster, _ *deschedule.Watch) { looked <- struct{}{} },
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx, wakes) }()
	next := func() (res applier.Result) {
		select {
		case res = <-rounds:
		case <-time.After(time.Minute):
			t.Fatal("there is no round")
		}
		return res
	}
	wake := func() {
		wakes <- struct{}{}
		<-looked
	}
	wake()
	if res := next(); res.Err != nil {
		t.Fatal(res.Err)
	}
	s.server.Before(func(r *http.Request) int {
		if r.Method == http.MethodPatch && r.URL.Path == configMap("b") {
			s.publish(suspend.Suspended+": the disks are replaced", append(others, "b")...)
			wake()
		}
		return 0
	})
	s.publish("", append(others, "b")...)
	wake()
	if res := next(); res.Err != nil || res.Suspension.Why != "" || s.server.Get(configMap("a")) != nil {
		t.Errorf("the round comes to %+v, %v", res.Suspension, res.Err)
	}
	if res := next(); res.Err != nil || !strings.Contains(res.Suspension.Why, "the disks are replaced") {
		t.Errorf("the next one comes to %+v, %v", res.Suspension, res.Err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestARoundThatLosesTheRaceBeginsAgain, twice and not more often, each time from what is published by then.
func TestARoundThatLosesTheRaceBeginsAgain(t *testing.T) {
	t.Parallel()
	const tries = 6 // to write the inventory, in a round
	for n := range 8 {
		s, lost := newSite(t), n/2
		s.isShared = n%2 == 0 // then the heads of branches say what is published
		in, eu := s.publish("", "a")
		tried := 0
		s.server.Before(func(r *http.Request) int {
			if r.Method == http.MethodGet || !strings.Contains(r.URL.Path, "/secrets") {
				return 0
			}
			if tried++; tried > lost*tries {
				return 0
			}
			if tried%tries == 1 {
				s.publish("", "a", fmt.Sprint("c", tried/tries+1))
			}
			return http.StatusConflict
		})
		res := s.applier.Apply(t.Context(), in, eu)
		if fails := lost == 3; errors.Is(res.Err, apply.ErrRace) != fails || fails && tried != 3*tries || !fails && res.Err != nil {
			t.Errorf("where %d rounds are lost it is tried %d times, and comes to %v", lost, tried, res.Err)
		}
		if newest := configMap(fmt.Sprint("c", lost)); lost > 0 && lost < 3 && s.server.Get(newest) == nil {
			t.Errorf("where %d rounds are lost what was published last is not there: %v", lost, s.server.Writes())
		}
	}
}
