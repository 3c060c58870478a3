package replicas_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/waybill-dev/waybill/reconciler/replicas"
	"github.com/waybill-dev/waybill/test/apiserver"
)

const leases = "/apis/coordination.k8s.io/v1/namespaces/waybill/leases/"

// soon is how long a test waits for what comes at once.
const soon = time.Minute

// election is one of a replica for the Lease of the tests.
func election(t *testing.T, s *apiserver.Server, replica string, times replicas.Times) replicas.Election {
	t.Helper()
	c, err := coordination.NewForConfig(s.Reach())
	if err != nil {
		t.Fatal(err)
	}
	return replicas.Election{Leases: c, Namespace: "waybill", Name: "lease", Replica: replica, Times: times, Log: slog.New(slog.DiscardHandler), Tell: func(bool) {}}
}

// holder is who has the Lease.
func holder(s *apiserver.Server) string {
	spec, _ := s.Get(leases + "lease")["spec"].(apiserver.Object)
	name, _ := spec["holderIdentity"].(string)
	return name
}

// within waits for something.
func within[T any](t *testing.T, what string, ch <-chan T) (got T) {
	t.Helper()
	select {
	case got = <-ch:
	case <-time.NewTimer(soon).C:
		t.Fatalf("%s did not come about", what)
	}
	return got
}

// until waits until something is so.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(soon); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not come about", what)
		}
	}
}

// slow are times by which a Lease that is not given back is waited for longer than any test waits.
var slow = replicas.Times{Lease: time.Hour, Renew: 50 * time.Minute, Retry: 50 * time.Millisecond}

// TestALeaseIsHandedOverWhenTheWorkHasEnded: not before that, and not only when it runs out.
func TestALeaseIsHandedOverWhenTheWorkHasEnded(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t, "waybill")
	ctx, cancel := context.WithCancel(t.Context())
	begun, stopping, finish, ended := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- election(t, s, "first", slow).Run(ctx, func(ctx context.Context) error {
			close(begun)
			<-ctx.Done()
			close(stopping)
			<-finish
			return nil
		})
	}()
	within(t, "the first term", begun)
	second := make(chan struct{})
	next, stop := context.WithCancel(t.Context())
	defer stop()
	end := make(chan error, 1)
	go func() {
		end <- election(t, s, "second", slow).Run(next, func(ctx context.Context) error {
			close(second)
			<-ctx.Done()
			return nil
		})
	}()
	cancel()
	within(t, "the end of the work", stopping)
	select {
	case <-second:
		t.Error("another one works before the first one has ended")
	case <-time.NewTimer(300 * time.Millisecond).C:
	}
	if holder(s) != "first" {
		t.Errorf("while it works the Lease is that of %q", holder(s))
	}
	close(finish)
	if err := within(t, "the end of the first", ended); err != nil {
		t.Error(err)
	}
	within(t, "the second term", second)
	stop()
	if err := within(t, "the end of the second", end); err != nil {
		t.Error(err)
	}
}

// TestWhoNeverLedEnds: it waits for the Lease of another one, works not at all, and leaves the Lease alone.
func TestWhoNeverLedEnds(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t, "waybill")
	ctx, cancel := context.WithCancel(t.Context())
	first, other, ended := election(t, s, "first", slow), election(t, s, "other", slow), make(chan error, 2)
	begun := make(chan struct{})
	go func() {
		ended <- first.Run(ctx, func(ctx context.Context) error { close(begun); <-ctx.Done(); return nil })
	}()
	within(t, "the term", begun)
	seen := make(chan string, 10)
	other.Other = func(replica string) { seen <- replica }
	waits, stop := context.WithCancel(t.Context())
	go func() {
		ended <- other.Run(waits, func(context.Context) error { t.Error("it works"); return nil })
	}()
	if who := within(t, "a look at the Lease", seen); who != "first" {
		t.Errorf("it sees %q", who)
	}
	stop()
	if err := within(t, "the end", ended); err != nil || holder(s) != "first" {
		t.Errorf("%v; then the Lease is that of %q", err, holder(s))
	}
	cancel()
	if err := within(t, "the end", ended); err != nil {
		t.Error(err)
	}
}

// TestWorkThatFailsGivesTheLeaseBack, and its error is that of the election.
func TestWorkThatFailsGivesTheLeaseBack(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t, "waybill")
	broken := errors.New("broken")
	ended := make(chan error, 1)
	go func() {
		ended <- election(t, s, "first", slow).Run(t.Context(), func(context.Context) error { return broken })
	}()
	if err := within(t, "the end", ended); !errors.Is(err, broken) || holder(s) != "" {
		t.Errorf("%v; then the Lease is that of %q", err, holder(s))
	}
}

// leading is work that goes on by a Lease.
type leading struct {
	replicas.Leadership

	terms, works atomic.Int64 // that began, and that go on
	lost         chan struct{}
	ended        chan error
}

// quick are times by which a Lease that cannot be renewed is lost soon.
var quick = replicas.Times{Lease: 2 * time.Second, Renew: time.Second, Retry: 50 * time.Millisecond}

func newLeading(ctx context.Context, t *testing.T, s *apiserver.Server, replica string, work func(context.Context) error) *leading {
	t.Helper()
	n := &leading{lost: make(chan struct{}, 10), ended: make(chan error, 1)}
	n.Lost = func() { n.lost <- struct{}{} }
	e := election(t, s, replica, quick)
	go func() {
		n.ended <- n.Run(ctx, e, func(ctx context.Context) error {
			n.terms.Add(1)
			n.works.Add(1)
			defer n.works.Add(-1)
			return work(ctx)
		})
	}()
	return n
}

func untilDone(ctx context.Context) error { <-ctx.Done(); return nil }

// TestWorkGoesOnWhileNobodyCanGetTheLease: the API server is away for longer than the Lease lasts, and comes back. What
// goes on is the work that began, and it is known that the Lease is not held meanwhile. When another one has it, the work ends.
func TestWorkGoesOnWhileNobodyCanGetTheLease(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t, "waybill")
	var away atomic.Bool
	s.Before(func(*http.Request) int {
		if away.Load() {
			return http.StatusInternalServerError
		}
		return 0
	})
	ctx, cancel := context.WithCancel(t.Context())
	n := newLeading(ctx, t, s, "first", untilDone)
	until(t, "the term", func() bool { return n.works.Load() == 1 && n.Holds() })
	away.Store(true)
	within(t, "the loss of the Lease", n.lost)
	if n.works.Load() != 1 || n.Holds() {
		t.Errorf("it works: %d; it holds the Lease: %t", n.works.Load(), n.Holds())
	}
	away.Store(false)
	until(t, "the Lease", n.Holds)
	if n.works.Load() != 1 || n.terms.Load() != 1 {
		t.Errorf("it works: %d, and began %d times", n.works.Load(), n.terms.Load())
	}

	away.Store(true)
	within(t, "the loss of the Lease", n.lost)
	now := s.Get(leases + "lease")
	now["spec"].(apiserver.Object)["holderIdentity"] = "other"
	now["spec"].(apiserver.Object)["leaseDurationSeconds"] = 3600
	now["spec"].(apiserver.Object)["renewTime"] = time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")
	s.Put(leases+"lease", now)
	away.Store(false)
	until(t, "the end of the work", func() bool { return n.works.Load() == 0 })
	s.Remove(leases + "lease")
	until(t, "another term", func() bool { return n.works.Load() == 1 && n.terms.Load() == 2 })
	cancel()
	if err := within(t, "the end", n.ended); err != nil {
		t.Error(err)
	}
}

// TestWhatGoesOnEndsBeforeTheProgramDoes: the work goes on without the Lease when all is to end, and Run waits for it.
func TestWhatGoesOnEndsBeforeTheProgramDoes(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t, "waybill")
	var away atomic.Bool
	s.Before(func(*http.Request) int {
		if away.Load() {
			return http.StatusInternalServerError
		}
		return 0
	})
	ctx, cancel := context.WithCancel(t.Context())
	finish := make(chan struct{})
	broken := errors.New("broken")
	n := newLeading(ctx, t, s, "first", func(ctx context.Context) error { <-ctx.Done(); <-finish; return broken })
	until(t, "the term", func() bool { return n.works.Load() == 1 })
	away.Store(true)
	within(t, "the loss of the Lease", n.lost)
	cancel()
	select {
	case err := <-n.ended:
		t.Errorf("it ends while the work goes on: %v", err)
	case <-time.NewTimer(200 * time.Millisecond).C:
	}
	close(finish)
	if err := within(t, "the end", n.ended); !errors.Is(err, broken) {
		t.Errorf("it ends with %v", err)
	}
}

// member is a replica that serves clusters.
func member(t *testing.T, s *apiserver.Server, name string, times replicas.Times) (m *replicas.Member, stop context.CancelFunc, ended chan error) {
	t.Helper()
	c, err := coordination.NewForConfig(s.Reach())
	if err != nil {
		t.Fatal(err)
	}
	m = replicas.NewMember(replicas.Options{
		Leases: c.Leases("waybill"), Group: replicas.Group{Name: "waybill", Work: "w"}, Name: name, Times: times,
		Now: time.Now, Log: slog.New(slog.DiscardHandler), Change: func() {},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended = make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	return m, cancel, ended
}

// TestAClusterIsHandedOverWhenItHasBeenLeft: to another replica, when this one stops. Nobody waits for its Lease to run out.
func TestAClusterIsHandedOverWhenItHasBeenLeft(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t, "waybill")
	first, stop, ended := member(t, s, "first", slow)
	take := func(m *replicas.Member) (ctx context.Context, leave func()) {
		until(t, "the cluster", func() bool {
			c, l, ok := m.Take(t.Context(), "eu")
			if ok {
				ctx, leave = c, l //nolint:fatcontext // it is taken once
			}
			return ok
		})
		return ctx, leave
	}
	_, leave := take(first)
	if _, _, ok := first.Take(t.Context(), "eu"); ok {
		t.Error("it is taken twice")
	}
	stop()
	second, stopSecond, endedSecond := member(t, s, "second", slow)
	select {
	case err := <-ended:
		t.Errorf("it ends before the cluster has been left: %v", err)
	case <-time.NewTimer(300 * time.Millisecond).C:
	}
	if _, _, ok := second.Take(t.Context(), "eu"); ok {
		t.Error("another one takes the cluster while the first one works at it")
	}
	leave()
	if err := within(t, "the end", ended); err != nil {
		t.Error(err)
	}
	for _, at := range s.Paths(leases) {
		if strings.HasSuffix(at, "-first") {
			t.Errorf("%s is still there", at)
		}
	}
	ctx, leave := take(second)
	stopSecond()
	if ctx.Err() != nil {
		t.Error("the work at the cluster ends before it is left")
	}
	leave()
	if err := within(t, "the end", endedSecond); err != nil {
		t.Error(err)
	}
}

// TestWhoCannotRenewItsLeaseLeaves: before another one may take over, although every request hangs.
func TestWhoCannotRenewItsLeaseLeaves(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t, "waybill")
	var hangs atomic.Bool
	s.Before(func(r *http.Request) int {
		if hangs.Load() {
			<-r.Context().Done()
		}
		return 0
	})
	m, stop, ended := member(t, s, "first", replicas.Times{Lease: time.Hour, Renew: time.Second, Retry: 50 * time.Millisecond})
	var served context.Context
	leave := func() {}
	until(t, "the cluster", func() bool {
		ctx, l, ok := m.Take(t.Context(), "eu")
		if ok {
			served, leave = ctx, l //nolint:fatcontext // it is taken once
		}
		return ok
	})
	hangs.Store(true)
	within(t, "the end of the work", served.Done())
	leave()
	if _, _, ok := m.Take(t.Context(), "eu"); ok {
		t.Error("it is taken again although the Lease cannot be renewed")
	}
	hangs.Store(false)
	until(t, "the cluster", func() bool {
		_, l, ok := m.Take(t.Context(), "eu")
		leave = l
		return ok
	})
	leave()
	stop()
	if err := within(t, "the end", ended); err != nil {
		t.Error(err)
	}
}

// TestALeaseThatSomebodyWroteIsReadAnew: a member whose Lease another one changed, or deleted, goes on.
func TestALeaseThatSomebodyWroteIsReadAnew(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t, "waybill")
	m, stop, ended := member(t, s, "first", replicas.Times{Lease: time.Hour, Renew: 30 * time.Minute, Retry: 50 * time.Millisecond})
	taken := func() bool {
		_, leave, ok := m.Take(t.Context(), "eu")
		if ok {
			leave()
		}
		return ok
	}
	until(t, "the cluster", taken)
	mine := s.Paths(leases)[0]
	changed := s.Get(mine)
	changed["metadata"].(apiserver.Object)["labels"].(apiserver.Object)["by"] = "hand"
	s.Put(mine, changed)
	until(t, "a renewal", func() bool {
		labels, _ := s.Get(mine)["metadata"].(apiserver.Object)["labels"].(apiserver.Object)
		return labels["by"] == nil
	})
	var served context.Context
	leave := func() {}
	until(t, "the cluster", func() bool {
		ctx, l, ok := m.Take(t.Context(), "eu")
		if ok {
			served, leave = ctx, l //nolint:fatcontext // it is taken once
		}
		return ok
	})
	s.Remove(mine)
	within(t, "the end of the work, of which others know nothing any more", served.Done())
	leave()
	until(t, "a new Lease", func() bool { return s.Get(mine) != nil })
	until(t, "the cluster", taken)
	stop()
	if err := within(t, "the end", ended); err != nil {
		t.Error(err)
	}
}

// TestALeaseThatIsRenewedIsNotAbandoned: one that has run out for long is deleted, unless its member is back.
func TestALeaseThatIsRenewedIsNotAbandoned(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t, "waybill")
	const times = 60 // as fast as time goes here
	began := time.Now()
	c, err := coordination.NewForConfig(s.Reach())
	if err != nil {
		t.Fatal(err)
	}
	group := replicas.Group{Name: "waybill", Work: "w"}
	m := replicas.NewMember(replicas.Options{
		Leases: c.Leases("waybill"), Group: group, Name: "first", Log: slog.New(slog.DiscardHandler), Change: func() {},
		Times: replicas.Times{Lease: time.Hour, Renew: 30 * time.Minute, Retry: 50 * time.Millisecond}, Now: func() time.Time { return began.Add(times * time.Since(began)) },
	})
	put := func(name string, renewal int) {
		s.Put(leases+group.Lease()+"-"+name, apiserver.Object{
			"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
			"metadata": apiserver.Object{"name": group.Lease() + "-" + name, "namespace": "waybill", "labels": apiserver.Object{"waybill.dev/replicas": group.Lease()}},
			"spec":     apiserver.Object{"holderIdentity": name, "leaseDurationSeconds": 1, "renewTime": time.Unix(int64(renewal), 0).UTC().Format("2006-01-02T15:04:05.000000Z")},
		})
	}
	put("gone", 1)
	put("back", 1)
	var renewed atomic.Int64
	s.Before(func(r *http.Request) int {
		if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "-back") {
			put("back", int(renewed.Add(1))+1)
		}
		return 0
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	until(t, "a try to delete both", func() bool { return renewed.Load() > 1 && s.Get(leases+group.Lease()+"-gone") == nil })
	if s.Get(leases+group.Lease()+"-back") == nil {
		t.Error("the Lease of a member that is back is deleted")
	}
	stop()
	if err := within(t, "the end", ended); err != nil {
		t.Error(err)
	}
}
