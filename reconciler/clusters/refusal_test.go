package clusters_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/apiserver"
)

// looked returns a client that calls a server in memory, and has looked at objects.
func looked(t *testing.T, s *apiserver.Server, refs ...object.Ref) *clusters.Client {
	t.Helper()
	c := calling(t, s)
	wanted := map[object.Ref]bool{ref: true}
	for _, r := range refs {
		wanted[r] = true
	}
	if _, err := c.Observe(t.Context(), wanted); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestWhatWouldBeInConflictIsSaid of objects that are somebody else's: by a dry run, of the first twenty.
func TestWhatWouldBeInConflictIsSaid(t *testing.T) {
	t.Parallel()
	s := apiserver.InMemory("shop")
	fields := []string{".data.a", ".data.b"}
	asked := 0
	c := through(t, s, "", func(r *http.Request) *metav1.Status {
		if r.Method != http.MethodPatch {
			return nil
		}
		if asked++; r.URL.Query().Get("dryRun") != "All" || r.URL.Query().Get("force") == "true" {
			t.Errorf("it asks by %s", r.URL)
		}
		said := &metav1.Status{Code: http.StatusConflict, Reason: metav1.StatusReasonConflict, Details: &metav1.StatusDetails{
			Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Message: "something else", Field: ".data.z"}},
		}}
		for _, f := range fields {
			said.Details.Causes = append(said.Details.Causes, metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Message: `conflict with "kubectl edit" using v1`, Field: f})
		}
		return said
	})
	refused := func(n int, foreign bool) []apply.Action {
		return slices.Repeat([]apply.Action{{Ref: ref, Verb: apply.Refuse, Foreign: foreign, Object: with(nil), Why: "it is not ours"}}, n)
	}
	for _, tt := range []struct {
		fields []string
		want   string
	}{
		{nil, "it is not ours"},
		{[]string{".data.a"}, "kubectl edit owns .data.a; it is not ours"},
		{[]string{".data.a", ".data.b", ".data.c"}, "kubectl edit owns .data.a, kubectl edit owns .data.b, kubectl edit owns .data.c; it is not ours"},
		{[]string{".a", ".b", ".c", ".d", ".e"}, "kubectl edit owns .a, kubectl edit owns .b, kubectl edit owns .c, and 2 more; it is not ours"},
	} {
		fields = tt.fields
		one := refused(1, true)
		if c.Explain(t.Context(), one, owner); one[0].Why != tt.want {
			t.Errorf("of %v it is said %q", tt.fields, one[0].Why)
		}
	}
	asked = 0
	others := refused(3, false)
	if c.Explain(t.Context(), others, owner); asked > 0 || others[0].Why != "it is not ours" {
		t.Errorf("of what nobody else has it is said %q, by %d requests", others[0].Why, asked)
	}
	many := append(others, refused(30, true)...)
	c.Explain(t.Context(), many, owner)
	said := slices.IndexFunc(many, func(a apply.Action) bool { return a.Foreign && a.Why == "it is not ours" })
	if asked != 20 || said != 23 {
		t.Errorf("of thirty there are %d asked for, and nothing is said of number %d", asked, said)
	}
	unserved := refused(1, true)
	unserved[0].Object = &apply.Object{Ref: object.Ref{Group: "example.org", Kind: "Widget", Name: "a"}, APIVersion: "example.org/v1", Manifest: apiserver.Object{"kind": "Widget"}}
	if c.Explain(t.Context(), unserved, owner); unserved[0].Why != "it is not ours" || len(s.Writes()) > 0 {
		t.Errorf("of a kind that is not served it is said %q; %v", unserved[0].Why, s.Writes())
	}
}

// TestWhatIsCreatedAnewWaitsForWhatWasThere: for half a minute, and it is said what holds it up; nothing is created until it is gone.
func TestWhatIsCreatedAnewWaitsForWhatWasThere(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		goes  time.Duration // when it is gone
		fails int           // what the deletion comes to
		reads int           // what looking whether it is gone comes to
		ends  time.Duration // when who waits goes away; zero: never
		says  string        // empty: it is created
		after time.Duration
	}{
		"it is gone at once":         {},
		"it is gone soon":            {goes: 10*time.Second + time.Millisecond, after: 10*time.Second + 100*time.Millisecond},
		"it is not gone":             {goes: time.Hour, says: "it is being deleted, and waits for the finalizers example.com/backup; it is created anew when it is gone", after: 30 * time.Second},
		"somebody deleted it":        {fails: http.StatusNotFound, goes: time.Second + time.Millisecond, after: 1100 * time.Millisecond},
		"it may not be deleted":      {fails: http.StatusForbidden, says: "deleting it, to create it anew: "},
		"it may not be looked at":    {reads: http.StatusForbidden, goes: time.Hour, says: "orbidden"},
		"who waits for it goes away": {ends: 5 * time.Second, goes: time.Hour, says: "context canceled", after: 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := apiserver.InMemory("shop")
				o := configMap(apply.Manager, owner)
				if tt.goes > 0 {
					o["metadata"].(apiserver.Object)["finalizers"] = []any{"example.com/backup"}
				}
				s.Put(maps+"a", o)
				was := uid(s, maps+"a")
				c := looked(t, s)
				s.Before(func(r *http.Request) int {
					switch r.Method {
					case http.MethodDelete:
						return tt.fails
					case http.MethodGet:
						return tt.reads
					}
					return 0
				})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.goes > 0 {
					defer time.AfterFunc(tt.goes, func() { s.Remove(maps + "a") }).Stop()
				}
				if tt.ends > 0 {
					time.AfterFunc(tt.ends, cancel)
				}
				began := time.Now()
				a := apply.Action{Ref: ref, Verb: apply.Update, Object: with(apiserver.Object{"k": "w"}), UID: was, Renew: apply.RenewFirst}
				out := c.Apply(ctx, []apply.Action{a}, owner)[0]
				if (out.Err != nil) != (tt.says != "") || out.Err != nil && !strings.Contains(out.Err.Error(), tt.says) {
					t.Errorf("it comes to %v", out.Err)
				}
				if took := time.Since(began); took != tt.after {
					t.Errorf("it takes %s", took)
				}
				created := slices.Contains(s.Writes(), "PATCH "+maps+"a")
				if is := uid(s, maps+"a"); created != (tt.says == "") || created && is == was {
					t.Errorf("it was %s, and is %s: %v", was, is, s.Writes())
				}
			})
		})
	}
}

// TestWhatCannotBeDeletedIsSaid: that it may not be, or changes all the time. That it is gone already is no failure.
func TestWhatCannotBeDeletedIsSaid(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before func(*apiserver.Server) int
		says   string
		tries  int
	}{
		"it may not be deleted": {func(*apiserver.Server) int { return http.StatusForbidden }, "orbidden", 1},
		"it is gone already":    {func(s *apiserver.Server) int { s.Remove(maps + "a"); return 0 }, "", 1},
		"it changes all the time": {func(s *apiserver.Server) int {
			s.Put(maps+"a", configMap(apply.Manager, owner))
			return 0
		}, "somebody replaced it meanwhile", 4},
	} {
		for _, verb := range []apply.Verb{apply.Delete, apply.Release} {
			s := apiserver.InMemory("shop")
			s.Put(maps+"a", configMap(apply.Manager, owner))
			c := looked(t, s)
			tries := 0
			s.Before(func(r *http.Request) int {
				if r.Method != http.MethodDelete && r.Method != http.MethodPatch {
					return 0
				}
				tries++
				return tt.before(s)
			})
			out := does(t, c, apply.Action{Ref: ref, Verb: verb})
			if (out.Err != nil) != (tt.says != "") || out.Err != nil && !strings.Contains(out.Err.Error(), tt.says) || tries != tt.tries || out.Waits != "" {
				t.Errorf("%s, %s: after %d tries it comes to %v, and waits for %q", name, verb, tries, out.Err, out.Waits)
			}
		}
	}
}

// TestWhatLeavesOfAKindThatIsNotServed is gone where that is certain, and is not taken for gone where it is not, or where nobody looked.
func TestWhatLeavesOfAKindThatIsNotServed(t *testing.T) {
	t.Parallel()
	budget := object.Ref{Group: "policy", Kind: "PodDisruptionBudget", Namespace: "shop", Name: "b"}
	now := time.Unix(1_000_000, 0)
	for name, tt := range map[string]struct {
		looks  []object.Ref
		missed time.Duration
		says   string
	}{
		"it is not served for long":          {[]object.Ref{budget}, 30 * time.Second, ""},
		"it is not served for a moment":      {[]object.Ref{budget}, time.Second, "counts as gone after 30s"},
		"it was served when the round began": {nil, time.Hour, "does not serve"},
	} {
		s := apiserver.InMemory("shop")
		c := calling(t, s)
		c.Missed, c.Now = clusters.Missed{{Group: budget.Group, Kind: budget.Kind}: now.Add(-tt.missed)}, func() time.Time { return now }
		wanted := map[object.Ref]bool{ref: true}
		for _, r := range tt.looks {
			wanted[r] = true
		}
		if _, err := c.Observe(t.Context(), wanted); err != nil {
			t.Fatal(err)
		}
		out := does(t, c, apply.Action{Ref: budget, Verb: apply.Delete, UID: "1"})
		if (out.Err != nil) != (tt.says != "") || out.Err != nil && !strings.Contains(out.Err.Error(), tt.says) || out.Waits != "" {
			t.Errorf("%s: it comes to %v, and waits for %q", name, out.Err, out.Waits)
		}
	}
}

// TestAServerThatHasNoTimeIsAskedAgain, a few times; one that refuses is not.
func TestAServerThatHasNoTimeIsAskedAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		says, times int // what it comes to, and how often
		fails       bool
		asked       int
	}{
		"it answers":                  {0, 0, false, 1},
		"it has no time for a moment": {http.StatusServiceUnavailable, 3, false, 4},
		"it is asked too often":       {http.StatusTooManyRequests, 3, false, 4},
		"it answers too late":         {http.StatusGatewayTimeout, 3, false, 4},
		"an answer is lost":           {apiserver.Lost, 1, false, 2},
		"it has no time at all":       {http.StatusServiceUnavailable, 100, true, 6},
		"it refuses":                  {http.StatusForbidden, 100, true, 1},
		"it has an error":             {http.StatusInternalServerError, 100, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := apiserver.InMemory("shop")
				c := looked(t, s)
				asked := 0
				s.Before(func(r *http.Request) int {
					if r.Method != http.MethodPatch {
						return 0
					}
					if asked++; asked <= tt.times {
						return tt.says
					}
					return 0
				})
				out := does(t, c, apply.Action{Ref: ref, Verb: apply.Create, Object: with(nil)})
				if (out.Err != nil) != tt.fails || asked != tt.asked {
					t.Errorf("it is asked %d times, and it comes to %v", asked, out.Err)
				}
			})
		})
	}
}

// TestKindsOfAGroupThatDoesNotAnswerAreNotGone: they are not known; all others are, and do not wait for that.
func TestKindsOfAGroupThatDoesNotAnswerAreNotGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := apiserver.InMemory("shop")
		s.Put(maps+"a", configMap(apply.Manager, owner))
		s.Before(func(r *http.Request) int {
			if r.URL.Path == "/apis/batch/v1" {
				return http.StatusServiceUnavailable
			}
			return 0
		})
		c := calling(t, s)
		job := object.Ref{Group: "batch", Kind: "Job", Namespace: "shop", Name: "m"}
		facts, err := c.Observe(t.Context(), map[object.Ref]bool{ref: true, job: true})
		if err != nil || facts.Live[ref] == nil || facts.Unknown[schema.GroupKind{Kind: "ConfigMap"}] != nil || facts.Unknown[schema.GroupKind{Group: "batch", Kind: "Job"}] == nil {
			t.Errorf("there is %v, and not known are %v; %v", facts.Live, facts.Unknown, err)
		}
		if out := does(t, c, apply.Action{Ref: job, Verb: apply.Delete, UID: "1"}); out.Err == nil {
			t.Error("a Job is taken for gone")
		}
		if all, err := c.Health(t.Context(), []object.Ref{job}); err == nil {
			t.Errorf("of a Job it is said %v", all)
		}
		found, err := c.Owned(t.Context(), owner)
		if !slices.Equal(found, []object.Ref{ref}) || err == nil {
			t.Errorf("ours are %v, and of what is not known it is said %v", found, err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("a group that does not answer is waited for: %s", took)
		}
	})
}

// TestKindsAreWaitedFor: those of definitions that were applied, until they are served, for half a minute.
func TestKindsAreWaitedFor(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		kinds []schema.GroupKind
		after time.Duration // when they are served
		least time.Duration // for so long it is waited
		most  time.Duration
	}{
		"none":                 {nil, time.Hour, 0, 0},
		"one that is there":    {[]schema.GroupKind{{Group: "batch", Kind: "Job"}}, 0, 0, time.Second},
		"one that comes":       {[]schema.GroupKind{{Kind: "ConfigMap"}, {Group: "batch", Kind: "Job"}}, 5 * time.Second, 5 * time.Second, 10 * time.Second},
		"one that never comes": {[]schema.GroupKind{{Group: "batch", Kind: "Job"}, {Kind: "ConfigMap"}}, time.Hour, 20 * time.Second, 40 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := apiserver.InMemory()
				began := time.Now()
				var asked atomic.Int32
				s.Before(func(r *http.Request) int {
					asked.Add(1)
					if r.URL.Path == "/apis/batch/v1" && time.Since(began) < tt.after {
						return http.StatusNotFound
					}
					return 0
				})
				c := calling(t, s)
				c.Serve(t.Context(), tt.kinds)
				if took := time.Since(began); took < tt.least || took > tt.most {
					t.Errorf("it is waited for %s", took)
				}
				if (asked.Load() == 0) != (tt.kinds == nil) {
					t.Errorf("there are %d requests", asked.Load())
				}
			})
		})
	}
}

// TestWhatIsInNoNamespaceIsExplained: that the Namespace may be missing is said where an object has one.
func TestWhatIsInNoNamespaceIsExplained(t *testing.T) {
	t.Parallel()
	s := apiserver.InMemory("shop")
	notFound := func(r *http.Request) *metav1.Status {
		if r.Method == http.MethodPatch {
			return &metav1.Status{Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: "namespaces not found"}
		}
		return nil
	}
	c := through(t, s, "", notFound)
	out := does(t, c, apply.Action{Ref: ref, Verb: apply.Create, Object: with(nil)})
	if out.Err == nil || !strings.Contains(out.Err.Error(), "is its Namespace in the source") {
		t.Errorf("it comes to %v", out.Err)
	}
	namespace := object.Ref{Kind: "Namespace", Name: "other"}
	out = does(t, c, apply.Action{Ref: namespace, Verb: apply.Create, Object: &apply.Object{Ref: namespace, APIVersion: "v1", Manifest: apiserver.Object{"apiVersion": "v1", "kind": "Namespace", "metadata": apiserver.Object{"name": "other"}}}})
	if out.Err == nil || strings.Contains(out.Err.Error(), "is its Namespace in the source") {
		t.Errorf("of a Namespace it is said %v", out.Err)
	}
}

// TestNothingBeginsWhenItIsOver: what is not begun is not done, and says so.
func TestNothingBeginsWhenItIsOver(t *testing.T) {
	t.Parallel()
	s := apiserver.InMemory("shop")
	s.Put(maps+"a", configMap(apply.Manager, owner))
	c := looked(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, out := range c.Apply(ctx, []apply.Action{{Ref: ref, Verb: apply.Delete}, {Ref: ref, Verb: apply.Update, Object: with(nil)}}, owner) {
		if !errors.Is(out.Err, context.Canceled) {
			t.Errorf("it comes to %v", out.Err)
		}
	}
	if len(s.Writes()) > 0 {
		t.Errorf("it is written to: %v", s.Writes())
	}
}
