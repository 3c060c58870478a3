package evict_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// after is a time some seconds after noon.
func after(seconds float64) time.Time {
	return noon.Add(time.Duration(seconds * float64(time.Second)))
}

// taint drives work out since some seconds after noon.
func taint(key string, seconds float64) corev1.Taint {
	at := metav1.NewTime(after(seconds))
	return corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute, TimeAdded: &at}
}

// tolerates returns a toleration of a key: for some seconds, or for ever if these are negative.
func tolerates(key string, seconds int64) corev1.Toleration {
	l := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists}
	if seconds >= 0 {
		l.TolerationSeconds = &seconds
	}
	return l
}

func TestByTaints(t *testing.T) {
	below := int64(-5)
	for _, tt := range []struct {
		name        string
		taints      []corev1.Taint
		tolerations []corev1.Toleration
		want        float64 // seconds after noon; negative: never
	}{
		{"no taint", nil, nil, -1},
		{"a taint that keeps out drives nothing out", []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}, nil, -1},
		{"not tolerated", []corev1.Taint{taint("a", 3)}, nil, 3},
		{"tolerated", []corev1.Taint{taint("a", 3)}, []corev1.Toleration{tolerates("a", -1)}, -1},
		{"tolerated for a while, from when it was added", []corev1.Taint{taint("a", 3)}, []corev1.Toleration{tolerates("a", 60)}, 63},
		{"negative seconds are none", []corev1.Taint{taint("a", 3)}, []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists, TolerationSeconds: &below}}, 3},
		{"the first toleration that matches holds", []corev1.Taint{taint("a", 0)}, []corev1.Toleration{tolerates("b", 1), tolerates("a", 30), tolerates("a", -1)}, 30},
		{"all taints have to be tolerated", []corev1.Taint{taint("a", 0), taint("b", 7)}, []corev1.Toleration{tolerates("a", -1)}, 7},
		{"the earliest decides, which is the first", []corev1.Taint{taint("a", 3), taint("b", 7)}, nil, 3},
		{"the earliest decides", []corev1.Taint{taint("a", 0), taint("b", 7)}, []corev1.Toleration{tolerates("a", 60), tolerates("b", 15)}, 22},
		{"for ever does not lift the limit of another", []corev1.Taint{taint("a", 0), taint("b", 0)}, []corev1.Toleration{tolerates("a", -1), tolerates("b", 20)}, 20},
		{"another effect is not tolerated", []corev1.Taint{taint("a", 0)}, []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			due := evict.ByTaints(tt.taints, tt.tolerations)
			if due.Never() != (tt.want < 0) || !due.Never() && !due.At.Equal(after(tt.want)) {
				t.Errorf("it is due at %s for %q; want %v seconds after noon", due.At, due.Why, tt.want)
			}
			if !due.Never() && (due.Now(due.At.Add(-1)) || !due.Now(due.At)) {
				t.Error("it is not due from that time on")
			}
		})
	}
}

// TestATaintThatDoesNotSaySinceWhen holds that it drives out at once, or as long after the beginning of time as it is tolerated.
func TestATaintThatDoesNotSaySinceWhen(t *testing.T) {
	since := corev1.Taint{Key: "a", Effect: corev1.TaintEffectNoExecute}
	for tolerated, tolerations := range map[time.Duration][]corev1.Toleration{0: nil, time.Minute: {tolerates("a", 60)}} {
		if due := evict.ByTaints([]corev1.Taint{since}, tolerations); due.Never() || !due.At.Equal(time.Time{}.Add(tolerated)) {
			t.Errorf("tolerated for %s it is due at %s", tolerated, due.At)
		}
	}
}

// TestWhatLeavesForGain: what fails, and what follows from what was observed, leave only for a copy elsewhere.
func TestWhatLeavesForGain(t *testing.T) {
	seconds := int32(60)
	a := &karmada.ApplicationFailoverBehavior{DecisionConditions: karmada.DecisionConditions{TolerationSeconds: &seconds}}
	taints := evict.ByTaints([]corev1.Taint{taint("a", 0)}, nil)
	for name, tt := range map[string]struct {
		due            evict.Due
		forGain, never bool
	}{
		"by a taint":                         {taints, false, false},
		"by a taint that was observed":       {taints.Observed(), true, false},
		"by no taint":                        {evict.Due{}.Observed(), false, true},
		"because it fails":                   {evict.ByHealth(evict.Seen{Health: karmada.ResourceUnhealthy, Since: noon}, a, nil), true, false},
		"with something else":                {evict.Along("with it"), false, false},
		"with something else, so as it does": {evict.Along("with it").Observed(), true, false},
		"where its policy names no time":     {evict.ByHealth(evict.Seen{Health: karmada.ResourceUnhealthy, Since: noon}, &karmada.ApplicationFailoverBehavior{}, nil), false, true},
	} {
		if tt.due.ForGain() != tt.forGain || tt.due.Never() != tt.never || tt.due.Now(after(60)) == tt.never {
			t.Errorf("what leaves %s does for gain: %t, never: %t", name, tt.due.ForGain(), tt.due.Never())
		}
	}
}

func TestPace(t *testing.T) {
	rules := evict.Rules{Timeout: time.Minute, Rate: 0.5}
	full := time.Time{}
	for _, tt := range []struct {
		at   float64
		want int // of five that want to leave
		next float64
	}{{0, 3, 2}, {0, 0, 2}, {1, 0, 2}, {2, 1, 4}, {3, 0, 4}, {6, 2, 8}, {100, 3, 102}} {
		p, left := rules.Pace(full), 0
		for range 5 {
			if p.Take(after(tt.at)) {
				left++
			}
		}
		if left != tt.want || !p.Next().Equal(after(tt.next)) {
			t.Errorf("at %v seconds %d leave, and the next at %s; want %d and %s", tt.at, left, p.Next(), tt.want, after(tt.next))
		}
		full = p.Full
	}
	for why, rules := range map[string]evict.Rules{"without a timeout": {Rate: 0.5}, "without a rate": {Timeout: time.Minute}} {
		unpaced := rules.Pace(after(1000))
		for range 100 {
			if !unpaced.Take(noon) || !unpaced.Next().IsZero() {
				t.Fatalf("%s the next may leave at %s", why, unpaced.Next())
			}
		}
		if want := rules.Pace(after(1000)); unpaced != want {
			t.Errorf("%s there is remembered %+v, want %+v", why, unpaced, want)
		}
	}
}

func TestLimits(t *testing.T) {
	l := evict.Limits{Unhealthy: 55, Large: 10, LargeUnhealthy: 30, OneIn: 3}
	for _, tt := range []struct {
		unready, fleet int
		frozen         bool
		atOnce         int
	}{
		{0, 0, false, 0},
		{0, 1, false, 1},
		{1, 1, true, 1},
		{1, 2, false, 1},
		{2, 3, true, 1},
		{2, 4, false, 2},
		{5, 10, false, 4},
		{6, 10, true, 4},
		{3, 11, false, 4},
		{4, 11, true, 4},
		{5, 20, false, 7},
		{6, 20, true, 7},
		{299, 1000, false, 334},
		{300, 1000, true, 334},
	} {
		if _, frozen := l.Frozen(tt.unready, tt.fleet); frozen != tt.frozen || l.AtOnce(tt.fleet) != tt.atOnce {
			t.Errorf("with %d of %d not ready it is frozen: %v, and %d may be left at a time; want %v and %d", tt.unready, tt.fleet, frozen, l.AtOnce(tt.fleet), tt.frozen, tt.atOnce)
		}
	}
}

func TestEnds(t *testing.T) {
	healthy, unhealthy, silent := evict.Copy{Told: true, Healthy: true}, evict.Copy{Told: true}, evict.Copy{}
	short := int32(30)
	gracefully := evict.Task{PurgeMode: karmada.PurgeModeGracefully}
	directly := evict.Task{PurgeMode: karmada.PurgeModeDirectly}
	own := evict.Task{PurgeMode: karmada.PurgeModeGracefully, GracePeriodSeconds: &short}
	suppressed := true
	never := evict.Task{PurgeMode: karmada.PurgeModeNever, SuppressDeletion: &suppressed}
	allowed := evict.Task{PurgeMode: karmada.PurgeModeGracefully, SuppressDeletion: new(bool)}
	of := func(copies ...evict.Copy) evict.Copies { return evict.Copies{Placed: true, New: copies} }
	gone := func(c evict.Copies) evict.Copies { c.Old.Gone = true; return c }
	over, last, waits, gap := evict.End{Over: true}, evict.End{Last: true}, evict.End{Next: after(600)}, evict.End{Gap: true, Next: after(600)}
	for _, tt := range []struct {
		name   string
		task   evict.Task
		copies evict.Copies
		at     float64
		want   evict.End
	}{
		{"all new ones are healthy", gracefully, of(healthy, healthy), 1, over},
		{"one is healthy that says nothing now", gracefully, of(healthy, evict.Copy{Healthy: true}), 1, waits},
		{"deletion need not be suppressed", allowed, of(healthy), 1, over},
		{"one is not", gracefully, of(healthy, unhealthy), 1, waits},
		{"of one nothing is known", gracefully, of(healthy, silent), 599, waits},
		{"nothing is known, and the timeout decides", gracefully, of(silent), 600, over},
		{"one is healthy at the timeout", gracefully, of(healthy, unhealthy), 600, over},
		{"none is healthy at the timeout", gracefully, of(unhealthy, unhealthy), 600, last},
		{"none could be placed", gracefully, evict.Copies{New: []evict.Copy{healthy}}, 1, waits},
		{"none could be placed at the timeout", gracefully, evict.Copies{New: []evict.Copy{healthy}}, 600, last},
		{"it is nowhere at the timeout", gracefully, of(), 600, last},
		{"it has its own grace", own, of(silent), 30, over},
		{"directly, the old one is there", directly, of(silent), 1, gap},
		{"directly, a healthy copy is no reason while the old one is there", directly, of(healthy), 1, gap},
		{"directly, the old one is gone", directly, gone(of(silent)), 1, waits},
		{"directly, and the new one is healthy", directly, gone(of(healthy)), 1, over},
		{"directly, at the timeout", directly, of(unhealthy), 600, over},
		{"never", never, of(healthy), 9999, evict.End{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := metav1.NewTime(noon)
			tt.task.CreationTimestamp = &at
			rules := evict.Rules{Timeout: 10 * time.Minute, KeepLast: true}
			if got := rules.Ends(&tt.task, tt.copies, after(tt.at)); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if rules.KeepLast = false; tt.want == last {
				if got := rules.Ends(&tt.task, tt.copies, after(tt.at)); got != over {
					t.Errorf("where the last copy may go: got %+v", got)
				}
			}
		})
	}
}

func TestByHealth(t *testing.T) {
	seconds := int32(60)
	a := &karmada.ApplicationFailoverBehavior{DecisionConditions: karmada.DecisionConditions{TolerationSeconds: &seconds}}
	sick := evict.Seen{Health: karmada.ResourceUnhealthy, Since: noon}
	for _, tt := range []struct {
		name  string
		seen  evict.Seen
		a     *karmada.ApplicationFailoverBehavior
		tasks []evict.Task
		never bool
	}{
		{"it is not healthy", sick, a, nil, false},
		{"it is", evict.Seen{Health: karmada.ResourceHealthy, Since: noon}, a, nil, true},
		{"nothing is known", evict.Seen{}, a, nil, true},
		{"its policy does not say so", sick, nil, nil, true},
		{"it leaves another cluster for a taint", sick, a, []evict.Task{{Producer: evict.TaintManager}}, false},
		{"it leaves another cluster because it failed there", sick, a, []evict.Task{{Producer: evict.ApplicationFailover}}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			due := evict.ByHealth(tt.seen, tt.a, tt.tasks)
			if due.Never() != tt.never || !tt.never && (!due.At.Equal(after(60)) || !due.Fails()) {
				t.Errorf("it is due at %s: %q", due.At, due.Why)
			}
		})
	}
}

func TestTask(t *testing.T) {
	seconds, grace := int32(60), int32(30)
	preserve := &karmada.StatePreservation{Rules: []karmada.StatePreservationRule{{AliasLabelName: "a", JSONPath: "{.a}"}}}
	taints := evict.ByTaints([]corev1.Taint{taint("a", 0)}, nil)
	health := evict.ByHealth(evict.Seen{Health: karmada.ResourceUnhealthy, Since: noon}, &karmada.ApplicationFailoverBehavior{DecisionConditions: karmada.DecisionConditions{TolerationSeconds: &seconds}}, nil)
	before := []karmada.TargetCluster{{Name: "eu", Replicas: 2}, {Name: "us", Replicas: 1}}
	for _, tt := range []struct {
		name      string
		due       evict.Due
		b         *karmada.FailoverBehavior
		mode      karmada.PurgeMode
		producer  string
		preserved string
	}{
		{"an application with a state of which one part is not known", health, &karmada.FailoverBehavior{Application: &karmada.ApplicationFailoverBehavior{StatePreservation: &karmada.StatePreservation{
			Rules: append([]karmada.StatePreservationRule{{AliasLabelName: "c", JSONPath: "{.c}"}}, preserve.Rules...),
		}}}, karmada.PurgeModeGracefully, evict.ApplicationFailover, ""},
		{"by a taint", taints, nil, karmada.PurgeModeGracefully, evict.TaintManager, ""},
		{"by a taint, where its policy is about the application", taints, &karmada.FailoverBehavior{Application: &karmada.ApplicationFailoverBehavior{PurgeMode: karmada.PurgeModeNever, StatePreservation: preserve}}, karmada.PurgeModeGracefully, evict.TaintManager, ""},
		{"by a taint, with another mode", taints, &karmada.FailoverBehavior{Cluster: &karmada.ClusterFailoverBehavior{PurgeMode: karmada.PurgeModeDirectly, StatePreservation: preserve}}, karmada.PurgeModeDirectly, evict.TaintManager, "1"},
		{"an application", health, &karmada.FailoverBehavior{Application: &karmada.ApplicationFailoverBehavior{PurgeMode: karmada.PurgeModeNever, GracePeriodSeconds: &grace}}, karmada.PurgeModeNever, evict.ApplicationFailover, ""},
		{"an application with a state", health, &karmada.FailoverBehavior{Application: &karmada.ApplicationFailoverBehavior{StatePreservation: preserve}}, karmada.PurgeModeGracefully, evict.ApplicationFailover, "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			task := tt.due.Task(evict.From{Cluster: before[0], Before: before, Seen: evict.Seen{Preserved: map[string]string{"a": "1", "b": "2"}}}, tt.b, noon)
			if task.FromCluster != "eu" || *task.Replicas != 2 || len(task.ClustersBeforeFailover) != 2 || task.PurgeMode != tt.mode || task.Producer != tt.producer || task.Message == "" {
				t.Errorf("the task is %+v", task)
			}
			if suppressed := task.SuppressDeletion != nil; suppressed != (tt.mode == karmada.PurgeModeNever) {
				t.Errorf("deletion is suppressed: %v", suppressed)
			}
			if tt.b != nil && tt.b.Application != nil && task.GracePeriodSeconds != tt.b.Application.GracePeriodSeconds {
				t.Errorf("it lasts %v seconds", task.GracePeriodSeconds)
			}
			if none := tt.due.Task(evict.From{Cluster: karmada.TargetCluster{Name: "eu"}}, tt.b, noon); none.Replicas != nil {
				t.Errorf("of what has no replicas %d leave", *none.Replicas)
			}
			if task.PreservedLabelState["a"] != tt.preserved || task.PreservedLabelState["b"] != "" {
				t.Errorf("it preserves %v", task.PreservedLabelState)
			}
		})
	}
}

// A copy that stays for good goes once the policy says so, and stays as long as it does not.
func TestRelease(t *testing.T) {
	rules, elsewhere := evict.Rules{Timeout: time.Minute}, evict.Copies{Placed: true, New: []evict.Copy{{Told: true, Healthy: true}}}
	as := func(mode karmada.PurgeMode) *karmada.FailoverBehavior {
		return &karmada.FailoverBehavior{Application: &karmada.ApplicationFailoverBehavior{PurgeMode: mode}}
	}
	for _, tt := range []struct {
		name string
		says *karmada.FailoverBehavior
		goes bool
	}{
		{"it says so still", as(karmada.PurgeModeNever), false},
		{"it says another mode", as(karmada.PurgeModeDirectly), true},
		{"it says nothing of the application", &karmada.FailoverBehavior{}, true},
		{"it says nothing", nil, true},
	} {
		at, suppressed := metav1.NewTime(noon), true
		task := evict.Task{CreationTimestamp: &at, PurgeMode: karmada.PurgeModeNever, SuppressDeletion: &suppressed}
		evict.Release(&task, tt.says)
		if goes := rules.Ends(&task, elsewhere, noon).Over; goes != tt.goes || (task.PurgeMode == karmada.PurgeModeGracefully) != tt.goes {
			t.Errorf("%s: it goes: %t, %s", tt.name, goes, task.PurgeMode)
		}
	}
}

func TestLabels(t *testing.T) {
	one := []karmada.TargetCluster{{Name: "us"}}
	task := func(mode karmada.PurgeMode, before ...string) []evict.Task {
		return []evict.Task{{}, {PurgeMode: mode, ClustersBeforeFailover: before, PreservedLabelState: map[string]string{"a": "1"}}}
	}
	for _, tt := range []struct {
		name     string
		tasks    []evict.Task
		clusters []karmada.TargetCluster
		want     string
	}{
		{"one new cluster", task(karmada.PurgeModeDirectly, "eu"), one, "1"},
		{"no task", nil, one, ""},
		{"gracefully", task(karmada.PurgeModeGracefully, "eu"), one, ""},
		{"it was there before", task(karmada.PurgeModeDirectly, "eu", "us"), one, ""},
		{"two clusters", task(karmada.PurgeModeDirectly, "eu"), append(one, karmada.TargetCluster{Name: "ap"}), ""},
		{"another cluster", task(karmada.PurgeModeDirectly, "eu"), []karmada.TargetCluster{{Name: "ap"}}, ""},
	} {
		if got := evict.Labels(tt.tasks, tt.clusters, "us")["a"]; got != tt.want {
			t.Errorf("%s: the label is %q, want %q", tt.name, got, tt.want)
		}
	}
}

// FuzzEnds holds the laws of tasks: time alone ends what is ended, a task says when time may
// change it, and the last copy stays.
func FuzzEnds(f *testing.F) {
	f.Add(uint16(0x1234), uint16(600), true, true)
	f.Add(uint16(0), uint16(3), false, true)
	f.Fuzz(func(t *testing.T, copies, second uint16, placed, direct bool) {
		at := metav1.NewTime(noon)
		task := evict.Task{PurgeMode: karmada.PurgeModeGracefully, CreationTimestamp: &at}
		if direct {
			task.PurgeMode = karmada.PurgeModeDirectly
		}
		c, anyGood := evict.Copies{Placed: placed, Old: evict.Copy{Gone: copies&1 > 0}}, false
		for n := copies >> 1; n > 0; n >>= 2 {
			c.New = append(c.New, evict.Copy{Told: n&1 > 0, Healthy: n&3 == 3})
			anyGood = anyGood || n&1 == 0 || n&3 == 3
		}
		rules := evict.Rules{Timeout: 10 * time.Minute, KeepLast: true}
		now := after(float64(second))
		e := rules.Ends(&task, c, now)
		switch {
		case e.Over && !direct && (!placed || !anyGood):
			t.Errorf("the last copy goes: %+v", c)
		case e.Over && rules.Ends(&task, c, now.Add(time.Hour)) != e:
			t.Error("what was over is not over later")
		case !e.Over && e.Next.IsZero() && rules.Ends(&task, c, now.Add(time.Hour)) != e:
			t.Error("time changes what says that it does not")
		case !e.Next.IsZero() && rules.Ends(&task, c, e.Next.Add(-1)) != e:
			t.Error("something changes before the time that it says")
		case e.Gap && c.Old.Gone:
			t.Error("new copies wait for an old one that is gone")
		}
	})
}
