package replicas_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/waybill-dev/waybill/reconciler/replicas"
	"github.com/waybill-dev/waybill/test/apiserver"
)

// TestTimesByWhichTwoCouldHoldALease are refused.
func TestTimesByWhichTwoCouldHoldALease(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		lease, renew, retry time.Duration
		err                 string // the flag; empty: they are fine
	}{
		{15 * time.Second, 10 * time.Second, 2 * time.Second, ""},
		{1000 * ms, 200 * ms, 100 * ms, ""},
		{1000 * ms, 200 * ms, 99 * ms, "--leader-elect-retry-period"},
		{1000 * ms, 199 * ms, 100 * ms, "--leader-elect-renew-deadline"},
		{999 * ms, 200 * ms, 100 * ms, "--leader-elect-lease-duration"},
		{12 * time.Second, 10 * time.Second, 2 * time.Second, ""},
		{12*time.Second - 1, 10 * time.Second, 2 * time.Second, "--leader-elect-lease-duration"},
	} {
		err := replicas.Times{Lease: tt.lease, Renew: tt.renew, Retry: tt.retry}.Check()
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.err+" is ")) {
			t.Errorf("%s, %s, %s: %v; want an error of %q", tt.lease, tt.renew, tt.retry, err, tt.err)
		}
	}
}

// usual are the times of a controller.
var usual = replicas.Times{Lease: 15 * time.Second, Renew: 10 * time.Second, Retry: 2 * time.Second}

// serving is a replica in a bubble, with what was told of it.
type serving struct {
	*replicas.Member

	stop    context.CancelFunc
	ended   chan error
	changes *atomic.Int64
	log     *bytes.Buffer // to be read when it ended
}

func serve(t *testing.T, s *apiserver.Server, name string, times replicas.Times) *serving {
	t.Helper()
	c, err := coordination.NewForConfig(s.Direct())
	if err != nil {
		t.Fatal(err)
	}
	out := &serving{ended: make(chan error, 1), changes: &atomic.Int64{}, log: &bytes.Buffer{}}
	out.Member = replicas.NewMember(replicas.Options{
		Leases: c.Leases("waybill"), Group: replicas.Group{Name: "waybill", Work: "w"}, Name: name, Times: times,
		Now: time.Now, Log: slog.New(slog.NewTextHandler(out.log, nil)), Change: func() { out.changes.Add(1) },
	})
	ctx, cancel := context.WithCancel(t.Context())
	out.stop = cancel
	go func() { out.ended <- out.Run(ctx) }()
	return out
}

// end stops a replica, and waits for its end.
func (s *serving) end(t *testing.T) {
	t.Helper()
	s.stop()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

// takes reports whether a cluster could be taken, which it is not.
func (s *serving) takes(cluster string) bool {
	_, leave, ok := s.Take(context.Background(), cluster)
	if ok {
		leave()
	}
	return ok
}

// owned is a cluster that a replica serves where there are two.
func owned(by string, members ...string) string {
	for n := 0; ; n++ {
		if name := fmt.Sprint("cluster-", n); replicas.Owner(name, members) == by {
			return name
		}
	}
}

// TestAMemberAloneAsksLittle: it reads and writes once a turn, tells nobody of what is as before, and its Lease says what others go by.
func TestAMemberAloneAsksLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := apiserver.InMemory("waybill")
		var asked sync.Map // how often, by method
		count := func(method string) *atomic.Int64 {
			n, _ := asked.LoadOrStore(method, &atomic.Int64{})
			return n.(*atomic.Int64)
		}
		s.Before(func(r *http.Request) int { count(r.Method).Add(1); return 0 })
		times := usual
		times.Lease = 15*time.Second + 1
		m := serve(t, s, "first", times)
		time.Sleep(time.Second)
		if !m.takes("eu") {
			t.Fatal("it does not take a cluster at once")
		}
		time.Sleep(2500 * time.Millisecond)
		asked.Clear()
		before := m.changes.Load()
		time.Sleep(time.Minute)
		for method, want := range map[string]int64{http.MethodGet: 30, http.MethodPut: 30, http.MethodPost: 0} {
			if n := count(method).Load(); n != want {
				t.Errorf("in a minute it asked %d times by %s; want %d", n, method, want)
			}
		}
		if n := m.changes.Load(); n != before {
			t.Errorf("it told of %d changes", n-before)
		}
		lease := s.Get(s.Paths(leases)[0])
		spec, notes := lease["spec"].(apiserver.Object), lease["metadata"].(apiserver.Object)["annotations"].(apiserver.Object)
		if spec["leaseDurationSeconds"] != 16.0 || spec["holderIdentity"] != "first" || notes["waybill.dev/view"] != "first" || notes["waybill.dev/work"] != "w" {
			t.Errorf("its Lease is %v, %v", spec, notes)
		}
		m.end(t)
		if all := s.Paths(leases); len(all) > 0 {
			t.Errorf("in the end there is %v", all)
		}
	})
}

// TestWhoIsRefusedIsToldToTryAgain when a cluster was left, in the turn after it.
func TestWhoIsRefusedIsToldToTryAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := serve(t, apiserver.InMemory("waybill"), "first", usual)
		time.Sleep(11 * time.Second)
		before := m.changes.Load()
		_, leave, ok := m.Take(t.Context(), "eu")
		if !ok || m.takes("eu") {
			t.Fatal("it is not taken once")
		}
		leave()
		leave()
		synctest.Wait()
		if n := m.changes.Load() - before; n != 1 {
			t.Errorf("it is told %d times", n)
		}
		time.Sleep(time.Minute)
		if n := m.changes.Load() - before; n != 1 {
			t.Errorf("a minute later it is told %d times", n)
		}
		m.end(t)
	})
}

// TestAClusterGoesToWhoJoins when it has been left, and not before; and back when that one dies and its Lease has run out.
func TestAClusterGoesToWhoJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := apiserver.InMemory("waybill")
		moves, stays := owned("second", "first", "second"), owned("first", "first", "second")
		first := serve(t, s, "first", usual)
		time.Sleep(time.Second)
		ctx, leave, ok := first.Take(t.Context(), moves)
		kept, leaveKept, alsoOK := first.Take(t.Context(), stays)
		if !ok || !alsoOK {
			t.Fatal("it does not take clusters")
		}
		var dead atomic.Bool
		s.Before(func(r *http.Request) int {
			if dead.Load() && strings.Contains(r.URL.Path, "-second") {
				return http.StatusInternalServerError
			}
			return 0
		})
		second := serve(t, s, "second", usual)
		time.Sleep(5 * time.Second)
		if ctx.Err() == nil || kept.Err() != nil {
			t.Errorf("when another one joins: what moves ends %v, what stays ends %v", ctx.Err(), kept.Err())
		}
		if second.takes(moves) || second.takes(stays) {
			t.Error("the other one takes what this one works at")
		}
		leave()
		time.Sleep(5 * time.Second)
		if !second.takes(moves) || first.takes(moves) || second.takes(stays) {
			t.Errorf("when it was left: it goes to the other one: %v", second.takes(moves))
		}
		if all := first.Members(); !slices.Equal(all, []string{"first", "second"}) {
			t.Errorf("the members are %v", all)
		}
		dead.Store(true)
		time.Sleep(12 * time.Second)
		if first.takes(moves) || second.takes(moves) {
			t.Errorf("before the Lease has run out: the first one takes it: %v, the second one: %v", first.takes(moves), second.takes(moves))
		}
		time.Sleep(8 * time.Second)
		if !first.takes(moves) {
			t.Error("when the Lease has run out: the first one does not take it")
		}
		leaveKept()
		first.end(t)
		second.end(t)
		if !strings.Contains(first.log.String(), `msg="replicas changed" replica=first replicas="[first second]"`) {
			t.Errorf("the first one says %s", first.log)
		}
		for _, want := range []string{"replica cannot renew its lease", "replica cannot give its lease back"} {
			if !strings.Contains(second.log.String(), want) || strings.Contains(first.log.String(), want) {
				t.Errorf("%q is said by the first one: %v, by the second one: %v", want, strings.Contains(first.log.String(), want), strings.Contains(second.log.String(), want))
			}
		}
	})
}

// TestALeaseEndsByWhenItsRenewalWasSent, whatever hangs, and however late the answer came.
func TestALeaseEndsByWhenItsRenewalWasSent(t *testing.T) {
	for name, tt := range map[string]struct {
		slow time.Duration // an answer to a write
		ends time.Duration // of the work, after the last renewal was sent
	}{
		"a quick server": {0, 10 * time.Second},
		"a slow one":     {2 * time.Second, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := apiserver.InMemory("waybill")
				var hangs atomic.Bool
				var last atomic.Pointer[time.Time] // when a write was sent
				s.Before(func(r *http.Request) int {
					switch {
					case hangs.Load():
						<-r.Context().Done()
					case r.Method != http.MethodGet:
						last.Store(new(time.Now()))
						time.Sleep(tt.slow)
					}
					return 0
				})
				m := serve(t, s, "first", usual)
				time.Sleep(4 * time.Second)
				ctx, leave, ok := m.Take(t.Context(), "eu")
				if !ok {
					t.Fatal("it does not take a cluster")
				}
				time.Sleep(20*time.Second + 500*time.Millisecond)
				if ctx.Err() != nil {
					t.Fatal("it is left although the Lease is renewed")
				}
				for before := last.Load(); before == last.Load(); {
					time.Sleep(100 * time.Millisecond)
				}
				time.Sleep(tt.slow + 100*time.Millisecond) // the answer is there
				hangs.Store(true)
				<-ctx.Done()
				if got := time.Since(*last.Load()); got != tt.ends {
					t.Errorf("it is left %s after the renewal was sent; want after %s", got, tt.ends)
				}
				leave()
				m.end(t)
			})
		})
	}
}

// TestWhoEndsWaitsForItsWork as long as its Lease lets it work, and gives the Lease back if that has ended.
func TestWhoEndsWaitsForItsWork(t *testing.T) {
	for name, tt := range map[string]struct {
		takes time.Duration // of the work
		ends  time.Duration
		kept  int // Leases
	}{
		"there is none":         {0, 0, 0},
		"it ends in time":       {4 * time.Second, 4 * time.Second, 0},
		"it ends at no time":    {time.Hour, 10 * time.Second, 1},
		"it ends after its own": {11 * time.Second, 10 * time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := apiserver.InMemory("waybill")
				m := serve(t, s, "first", usual)
				time.Sleep(time.Second)
				for _, cluster := range []string{"eu", "us"} {
					_, leave, ok := m.Take(t.Context(), cluster)
					if !ok {
						t.Fatalf("%s is not taken", cluster)
					}
					if tt.takes == 0 || cluster == "us" { // one is left before the other one
						leave()
						continue
					}
					time.AfterFunc(tt.takes, leave)
				}
				began := time.Now()
				m.end(t)
				if got := time.Since(began); got != tt.ends || len(s.Paths(leases)) != tt.kept {
					t.Errorf("it ends after %s, and leaves %v; want %s, and %d", got, s.Paths(leases), tt.ends, tt.kept)
				}
			})
		})
	}
}

// TestWhoLeadsIsTold of whoever else does, and not of a Lease that was given back, nor of itself.
func TestWhoLeadsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := apiserver.InMemory("waybill")
		told := make(chan string, 10)
		var leaderships [2]replicas.Leadership
		ended := make(chan error, 2)
		run := func(n int, name string) context.CancelFunc {
			c, err := coordination.NewForConfig(s.Direct())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			e := replicas.Election{
				Leases: c, Namespace: "waybill", Name: "lease", Replica: name, Times: usual, Log: slog.New(slog.DiscardHandler), Tell: func(bool) {},
				Other: func(replica string) { told <- name + " is told of " + replica },
			}
			go func() { ended <- leaderships[n].Run(ctx, e, untilDone) }()
			return cancel
		}
		stop := run(0, "first")
		time.Sleep(time.Second)
		stopSecond := run(1, "second")
		time.Sleep(time.Minute)
		if !leaderships[0].Holds() || leaderships[1].Holds() {
			t.Errorf("the first one leads: %v, the second one: %v", leaderships[0].Holds(), leaderships[1].Holds())
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		if !leaderships[1].Holds() || leaderships[0].Holds() {
			t.Error("the second one does not lead then")
		}
		stopSecond()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		close(told)
		var all []string
		for one := range told {
			all = append(all, one)
		}
		if want := []string{"second is told of first"}; !slices.Equal(all, want) {
			t.Errorf("told is %q; want %q", all, want)
		}
	})
}

// TestATermAfterOneThatWasLeft begins the work anew when it has ended, and ends with its error if it failed.
func TestATermAfterOneThatWasLeft(t *testing.T) {
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		err   error
		works int64 // that began
	}{"it ended": {nil, 2}, "it failed": {broken, 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := apiserver.InMemory("waybill")
				var away atomic.Bool
				s.Before(func(*http.Request) int {
					if away.Load() {
						return http.StatusInternalServerError
					}
					return 0
				})
				c, err := coordination.NewForConfig(s.Direct())
				if err != nil {
					t.Fatal(err)
				}
				var l replicas.Leadership
				var began, goOn, losses atomic.Int64
				l.Lost = func() { losses.Add(1) }
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				e := replicas.Election{Leases: c, Namespace: "waybill", Name: "lease", Replica: "first", Times: usual, Log: slog.New(slog.DiscardHandler), Tell: func(bool) {}}
				go func() {
					ended <- l.Run(ctx, e, func(ctx context.Context) error {
						began.Add(1)
						goOn.Add(1)
						defer goOn.Add(-1)
						<-ctx.Done()
						return tt.err
					})
				}()
				l.Leave() // what does not run yet is not left
				time.Sleep(time.Minute)
				if began.Load() != 1 || goOn.Load() != 1 {
					t.Fatalf("in the first term %d works began, and %d go on", began.Load(), goOn.Load())
				}
				away.Store(true)
				time.Sleep(time.Minute)
				if goOn.Load() != 1 || losses.Load() != 1 || l.Holds() {
					t.Errorf("while nobody can get the Lease %d works go on; it is lost %d times", goOn.Load(), losses.Load())
				}
				l.Leave()
				time.Sleep(time.Second)
				if goOn.Load() != 0 {
					t.Error("what is left goes on")
				}
				away.Store(false)
				time.Sleep(time.Minute)
				if again := tt.works - 1; began.Load() != tt.works || goOn.Load() != again || l.Holds() != (again > 0) {
					t.Errorf("by the next term %d works began, and %d go on; it leads: %v", began.Load(), goOn.Load(), l.Holds())
				}
				away.Store(true)
				time.Sleep(time.Minute)
				if want := tt.works; goOn.Load() != want-1 || losses.Load() != want {
					t.Errorf("when nobody can get the Lease again %d works go on; it is lost %d times", goOn.Load(), losses.Load())
				}
				away.Store(false)
				time.Sleep(time.Minute)
				if began.Load() != tt.works || goOn.Load() != tt.works-1 {
					t.Errorf("and then %d works began, and %d go on", began.Load(), goOn.Load())
				}
				cancel()
				if err := <-ended; !errors.Is(err, tt.err) {
					t.Errorf("it ends with %v; want %v", err, tt.err)
				}
			})
		})
	}
}
