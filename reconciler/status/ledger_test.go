package status_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

var (
	began = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	web   = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	conf  = object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "conf"}
	token = object.Ref{Kind: "Secret", Namespace: "shop", Name: "token"}
	one   = files.Sum("commit", []byte("one"))
	two   = files.Sum("commit", []byte("two"))
)

// fact is what a round did about an object of the branch.
type fact struct {
	ref    object.Ref
	verb   apply.Verb // empty: it was as it should be
	err    error
	refuse string
}

// round is one of a commit, at which all is healthy.
func round(commit files.ID, facts ...fact) *status.Round {
	r := &status.Round{
		Branch: "waybill/cluster/eu-1", Commit: commit, Source: "source of " + commit.String()[:4], Health: map[object.Ref]health.Health{},
		Resources: map[schema.GroupKind]string{{Group: "apps", Kind: "Deployment"}: "deployments", {Kind: "ConfigMap"}: "configmaps", {Kind: "Secret"}: "secrets"},
	}
	r.Report.Inventory.Entries = map[object.Ref]inventory.Entry{}
	for _, f := range facts {
		o := apply.Object{Ref: f.ref, APIVersion: "v1", Private: f.ref.Kind == "Secret"}
		if f.ref.Group != "" {
			o.APIVersion = f.ref.Group + "/v1"
		}
		r.Objects = append(r.Objects, o)
		r.Report.Inventory.Entries[f.ref] = inventory.Entry{Source: r.Source}
		switch {
		case f.refuse != "":
			r.Report.Plan.Refused = append(r.Report.Plan.Refused, apply.Action{Ref: f.ref, Why: f.refuse})
		case f.verb != "" || f.err != nil:
			r.Report.Outcomes = append(r.Report.Outcomes, apply.Outcome{Action: apply.Action{Ref: f.ref, Verb: f.verb, Object: &o}, Err: f.err})
		}
		if health.Has(f.ref) {
			r.Health[f.ref] = healthy()
		}
	}
	return r
}

func healthy() health.Health {
	return health.Health{State: karmada.ResourceHealthy, Generation: 1, Observed: 1}
}

func inProgress(message string) health.Health {
	return health.Health{State: karmada.ResourceUnhealthy, Reason: health.InProgress, Message: message, Generation: 1, Observed: 1}
}

// settled is a ledger of which all is written at a time.
func settled(at time.Time) *status.Ledger {
	l := status.NewLedger("eu-1")
	l.Ended(round(one, fact{ref: web, verb: apply.Create}, fact{ref: conf, verb: apply.Create}), at)
	l.Layout()
	l.Wrote(at)
	return l
}

// never is when nothing is due but that the word is written anew one day.
func never(t *testing.T, l *status.Ledger, wrote time.Time, why string) {
	t.Helper()
	if due := l.Due(); !due.Equal(wrote.Add(status.Lasting)) {
		t.Errorf("%s: a commit is due %s after the last", why, due.Sub(wrote))
	}
}

func wantDue(t *testing.T, l *status.Ledger, want time.Duration, why string) {
	t.Helper()
	if due := l.Due(); !due.Equal(began.Add(want)) {
		t.Errorf("%s: a commit is due after %s, want %s", why, due.Sub(began), want)
	}
}

func TestAPhaseIsDueAndANumberIsNot(t *testing.T) {
	after := func(d time.Duration) time.Time { return began.Add(d) }
	l := status.NewLedger("eu-1")
	if !l.Due().IsZero() {
		t.Error("of a cluster that nobody knows something is due")
	}
	l = settled(began)
	never(t, l, began, "nothing changed")
	l.Ended(round(one, fact{ref: web}, fact{ref: conf}), after(time.Minute))
	never(t, l, began, "a round that did nothing")
	h := healthy()
	h.Status = []byte(`{"availableReplicas":3}`)
	l.Saw(web, h, after(time.Minute))
	never(t, l, began, "a number moved")

	l.Saw(web, inProgress("1 of 2"), after(2*time.Minute))
	wantDue(t, l, 2*time.Minute+time.Second, "it is not healthy")
	l.Saw(web, inProgress("0 of 2"), after(2*time.Minute+500*time.Millisecond))
	wantDue(t, l, 2*time.Minute+time.Second, "and less so")
	l.Layout()
	l.Wrote(after(2*time.Minute + time.Second))
	l.Saw(web, healthy(), after(2*time.Minute+3*time.Second))
	wantDue(t, l, 2*time.Minute+11*time.Second, "ten seconds lie between two commits")
	l.Saw(web, inProgress("1 of 2"), after(2*time.Minute+4*time.Second))
	never(t, l, after(2*time.Minute+time.Second), "it is as it was written")
}

func TestWhatChangesDuringAWriteIsWrittenNext(t *testing.T) {
	l := settled(began)
	at := began.Add(time.Hour)
	l.Saw(web, inProgress(""), at)
	l.Layout()
	l.Saw(web, healthy(), at.Add(time.Second))
	l.Wrote(at.Add(2 * time.Second))
	wantDue(t, l, time.Hour+12*time.Second, "it was written as unhealthy, and is healthy")
	l.Layout() // and it fails
	wantDue(t, l, time.Hour+12*time.Second, "a write that fails is due again")
}

func TestWhatFlapsIsWrittenOnceAMinute(t *testing.T) {
	l := settled(began)
	wrote := began
	var commits []time.Duration
	at := began.Add(time.Hour)
	first := at
	for n := range 200 { // every three seconds, for ten minutes
		if h := healthy(); n%2 == 0 {
			l.Saw(web, inProgress(""), at)
		} else {
			l.Saw(web, h, at)
		}
		next := at.Add(3 * time.Second)
		if due := l.Due(); due.Before(next) && due.After(wrote) {
			l.Layout()
			l.Wrote(due)
			wrote = due
			commits = append(commits, due.Sub(first))
		}
		at = next
	}
	if len(commits) > 12 || len(commits) < 5 {
		t.Errorf("in ten minutes it was written %d times: %v", len(commits), commits)
	}
	for i := 3; i < len(commits); i++ {
		if commits[i]-commits[i-1] < time.Minute {
			t.Errorf("it was written twice in %s", commits[i]-commits[i-1])
		}
	}
	objects, err := status.Objects(l.Layout(), status.Everything)
	if err != nil || objects[web].Flaps < 190 {
		t.Errorf("%v flaps are counted, %v", objects[web], err)
	}
	l.Ended(round(two, fact{ref: web, verb: apply.Update}, fact{ref: conf}), at)
	if due := l.Due(); due.After(at.Add(10 * time.Second)) {
		t.Errorf("what is applied anew waits for %s", due.Sub(at))
	}
}

// TestWhatFlappedOnceIsTrustedAgain: what has been quiet for a minute is written as soon as before it flapped.
func TestWhatFlappedOnceIsTrustedAgain(t *testing.T) {
	after := func(d time.Duration) time.Time { return began.Add(d) }
	l := settled(began)
	write := func(at time.Duration) {
		l.Layout()
		l.Wrote(after(at))
	}
	for n := range 10 { // it flaps
		at := after(time.Hour + time.Duration(n)*3*time.Second)
		if n%2 == 0 {
			l.Saw(web, inProgress(""), at)
		} else {
			l.Saw(web, healthy(), at)
		}
	}
	write(time.Hour + 2*time.Minute)
	l.Saw(web, inProgress(""), after(2*time.Hour))
	wantDue(t, l, 2*time.Hour+time.Second, "an hour later it is not healthy")
	write(2*time.Hour + time.Second)
	l.Saw(web, healthy(), after(2*time.Hour+20*time.Second))
	wantDue(t, l, 2*time.Hour+21*time.Second, "it is well again")
}

// TestWhatPodsSaidLast: what pods said, or why they could not be asked, stays until they are asked again or the object is something else.
func TestWhatPodsSaidLast(t *testing.T) {
	l := settled(began)
	for n, tt := range []struct {
		pods, unknown, is string
		want, why         string
	}{
		{"", "", health.InProgress, "", ""},
		{"CrashLoopBackOff", "", health.InProgress, "CrashLoopBackOff", ""},
		{"", "", health.InProgress, "CrashLoopBackOff", ""},
		{"", "pods are forbidden", health.InProgress, "", "pods are forbidden"},
		{"", "", health.InProgress, "", "pods are forbidden"},
		{"ImagePullBackOff", "", health.InProgress, "ImagePullBackOff", ""},
		{"", "", health.Failed, "", ""},
	} {
		h := inProgress("0 of 1")
		h.Reason, h.PodsUnknown = tt.is, tt.unknown
		if tt.pods != "" {
			h.Pods = []health.Pods{{Reason: tt.pods, Count: 1}}
		}
		l.Saw(web, h, began.Add(time.Duration(n+1)*time.Minute))
		objects, err := status.Objects(l.Layout(), status.Everything)
		if err != nil {
			t.Fatal(err)
		}
		got, said := objects[web].Health, ""
		if len(got.Pods) > 0 {
			said = got.Pods[0].Reason
		}
		if said != tt.want || got.PodsUnknown != tt.why {
			t.Errorf("look %d: pods say %q, or are not asked because %q; want %q, %q", n+1, said, got.PodsUnknown, tt.want, tt.why)
		}
	}
}

// TestOtherPodsSayOtherReasons: that pods of an object that is not well say something else is written soon, and is no flapping.
func TestOtherPodsSayOtherReasons(t *testing.T) {
	after := func(d time.Duration) time.Time { return began.Add(d) }
	l := settled(began)
	says := func(why string, at time.Time) {
		h := inProgress("1 of 2")
		h.Pods = []health.Pods{{Reason: why, Count: 1}}
		l.Saw(web, h, at)
	}
	says("ContainerCreating", after(2*time.Minute))
	wantDue(t, l, 2*time.Minute+time.Second, "it is not healthy")
	l.Layout()
	l.Wrote(after(2*time.Minute + time.Second))
	says("CrashLoopBackOff", after(2*time.Minute+20*time.Second))
	wantDue(t, l, 2*time.Minute+21*time.Second, "its pods say another reason")
}

// TestAnUpdateIsNoFlapping has a Deployment be updated as an API server was seen to do it: not healthy, then healthy by
// Karmada's rules while old pods serve, then done; and so that the round itself sees nothing of it yet.
func TestAnUpdateIsNoFlapping(t *testing.T) {
	serving := inProgress("1 of 2 are updated")
	serving.Karmada = karmada.ResourceHealthy
	for name, seen := range map[string][]health.Health{
		"in steps":            {inProgress(""), serving, healthy()},
		"after the round":     {healthy(), inProgress(""), healthy()},
		"both":                {healthy(), inProgress(""), serving, healthy()},
		"no pod serves, then": {inProgress(""), serving, inProgress("0 of 2"), serving, healthy()},
	} {
		l := settled(began)
		at := began.Add(time.Hour)
		r := round(two, fact{ref: web, verb: apply.Update}, fact{ref: conf})
		r.Health[web] = seen[0]
		l.Ended(r, at)
		l.Layout()
		l.Wrote(at.Add(time.Second))
		for _, h := range seen[1:] {
			at = at.Add(time.Second)
			l.Saw(web, h, at)
		}
		if seen[0].State == karmada.ResourceHealthy {
			never(t, l, began.Add(time.Hour+time.Second), name+": it was written as healthy")
		} else {
			wantDue(t, l, time.Hour+11*time.Second, name)
		}
		objects, err := status.Objects(l.Layout(), status.Everything)
		if err != nil || objects[web].Flaps != 0 {
			t.Errorf("%s: %d flaps are counted, %v", name, objects[web].Flaps, err)
		}
	}
}

func TestAClusterThatIsLostSaysNothingOfHealth(t *testing.T) {
	l := settled(began)
	r := &status.Round{Trouble: status.Verdict{Reason: status.Unreachable, Message: "dial tcp: timeout"}}
	l.Ended(r, began.Add(time.Hour))
	wantDue(t, l, time.Hour+time.Second, "it is lost")
	s, err := status.Read(l.Layout())
	if err != nil {
		t.Fatal(err)
	}
	if s.Counts.Unknown != 2 || s.Counts.Healthy != 0 || s.Counts.Applied != 2 || s.Commit != one || s.Verdict != r.Trouble {
		t.Errorf("it says %+v", s)
	}
	l.Wrote(began.Add(time.Hour + time.Second))
	r.Trouble.Message = "dial tcp: no route"
	l.Ended(r, began.Add(2*time.Hour))
	never(t, l, began.Add(time.Hour+time.Second), "it is still lost, in other words")
	l.Ended(round(one, fact{ref: web}, fact{ref: conf}), began.Add(3*time.Hour))
	s, err = status.Read(l.Layout())
	if err != nil || s.Counts.Healthy != 2 || s.Verdict.Reason != status.Applied {
		t.Errorf("it is back, and it says %+v, %v", s, err)
	}
}

// TestAClusterThatNobodyLooksAtSaysNothingOfHealth, whatever keeps them from that; what was applied stays applied.
func TestAClusterThatNobodyLooksAtSaysNothingOfHealth(t *testing.T) {
	for _, why := range []string{status.Unreachable, status.NoCredential, status.Suspended} {
		l := settled(began)
		l.Ended(&status.Round{Trouble: status.Verdict{Reason: why}}, began.Add(time.Hour))
		s, err := status.Read(l.Layout())
		if err != nil || s.Verdict.Reason != why || s.Counts.Unknown != 2 || s.Counts.Healthy != 0 || s.Counts.Applied != 2 {
			t.Errorf("%s: it says %+v, %v", why, s, err)
		}
	}
}

func TestWhatARoundDidNotComeToIsPending(t *testing.T) {
	l := settled(began)
	r := round(two, fact{ref: web, verb: apply.Update}, fact{ref: conf})
	r.Objects[1].Content = files.Sum("blob", []byte("two")) // the inventory has none of it
	r.Report.Stopped = "the hook migrate failed"
	l.Ended(r, began.Add(time.Hour))
	root := l.Layout()
	objects, err := status.Objects(root, status.Everything)
	if err != nil {
		t.Fatal(err)
	}
	if o := objects[conf]; o.Applied.Phase != status.PhasePending || o.Applied.Commit != one {
		t.Errorf("it says %+v", o.Applied)
	}
	if s, err := status.Read(root); err != nil || s.Verdict != (status.Verdict{Reason: status.Failing, Message: r.Report.Stopped}) || s.Counts.Pending != 1 {
		t.Errorf("of the cluster it says %+v, %v", s, err)
	}
}

// TestWhatWasPrivateStaysSo has whoever applies start anew: of an object that was decrypted, and
// that a round does not look into, nothing is written that may hold what was.
func TestWhatWasPrivateStaysSo(t *testing.T) {
	const secret = "hunter2"
	r := round(one, fact{ref: web, verb: apply.Create})
	r.Objects[0].Private = true
	l := status.NewLedger("eu-1")
	l.Ended(r, began)
	leaving := round(two)
	leaving.Report.Inventory.Entries[web] = inventory.Entry{Source: r.Source}
	held := round(two)
	held.Report.Plan.Hold = &apply.Hold{Reason: "too much"}
	for name, next := range map[string]*status.Round{"it leaves the branch": leaving, "removals are held": held} {
		again, err := status.Reopen(l.Layout(), began)
		if err != nil {
			t.Fatal(err)
		}
		next.Health[web] = inProgress("the password is " + secret)
		again.Ended(next, began.Add(time.Minute))
		if said := text(t, again.Layout(), "works/shop.yaml"); strings.Contains(said, secret) || !strings.Contains(said, "Unhealthy") {
			t.Errorf("%s: it says\n%s", name, said)
		}
	}
}

// TestVerdictsFlip counts, in the first round by other rules, what is not healthy any more although
// nothing changed, until it is.
func TestVerdictsFlip(t *testing.T) {
	written := func(l *status.Ledger, rules string) *status.Ledger {
		t.Helper()
		var entries []files.Entry
		for _, e := range l.Layout().Entries() {
			if e.Name == "status.yaml" {
				text, err := e.Blob.Bytes()
				if err != nil || !strings.Contains(string(text), "  rules: "+health.Edition+"\n") {
					t.Fatal(err, string(text))
				}
				e = files.FileEntry(e.Name, files.NewBlob([]byte(strings.Replace(string(text), "  rules: "+health.Edition+"\n", rules, 1))))
			}
			entries = append(entries, e)
		}
		again, err := status.Reopen(files.NewFolder(entries), began)
		if err != nil {
			t.Fatal(err)
		}
		return again
	}
	flipped := func(l *status.Ledger) map[string]int {
		t.Helper()
		s, err := status.Read(l.Layout())
		if err != nil {
			t.Fatal(err)
		}
		return s.Flipped
	}
	sick := func(l *status.Ledger, generation int64) {
		r := round(one, fact{ref: web}, fact{ref: conf})
		h := inProgress("0 of 1")
		h.Generation = generation
		r.Health[web] = h
		l.Ended(r, began.Add(time.Minute))
	}
	want := map[string]int{"Deployment.apps": 1}
	for _, tt := range []struct {
		name, rules string
		generation  int64
		want        map[string]int
	}{
		{"a version that did not say its rules", "", 1, want},
		{"other rules", "  rules: argo-cd v1\n", 1, want},
		{"the same rules", "  rules: " + health.Edition + "\n", 1, nil},
		{"an object that somebody changed", "", 2, nil},
	} {
		l := written(settled(began), tt.rules)
		sick(l, tt.generation)
		if got := flipped(l); !maps.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		if l = written(l, "  rules: "+health.Edition+"\n"); tt.want != nil && !maps.Equal(flipped(l), want) {
			t.Errorf("%s: it is not read again: %v", tt.name, flipped(l))
		}
		sick(l, tt.generation)
		if got := flipped(l); !maps.Equal(got, tt.want) {
			t.Errorf("%s, in the next round: %v, want %v", tt.name, got, tt.want)
		}
		l.Ended(round(one, fact{ref: web}, fact{ref: conf}), began.Add(time.Hour))
		if got := flipped(l); len(got) > 0 {
			t.Errorf("%s, and healthy again: %v", tt.name, got)
		}
	}
	l := written(settled(began), "")
	l.Ended(round(one, fact{ref: web}, fact{ref: conf}), began.Add(time.Minute))
	wantDue(t, l, time.Minute+time.Second, "the rules are others, and nothing flipped")
}

// TestRefusedEndpointsAreWritten once for each change, some of them, and are gone when nothing is refused.
func TestRefusedEndpointsAreWritten(t *testing.T) {
	l := settled(began)
	one := status.Refusal{From: "us-1", Service: "shop/api", Slice: "api-1", Message: "127.0.0.1 is a loopback address"}
	all := []status.Refusal{one}
	for len(all) < status.MostRefused+2 {
		all = append(all, status.Refusal{From: "us-1", Message: "there is no book"})
	}
	for i, step := range []struct {
		refused []status.Refusal
		due     bool
		want    int
		more    int
	}{{all[:1], true, 1, 0}, {all[:1], false, 1, 0}, {all, true, status.MostRefused, 2}, {nil, true, 0, 0}} {
		at := began.Add(time.Duration(i+1) * time.Minute)
		l.Refused(step.refused, at)
		if due := l.Due(); due.Before(at.Add(time.Hour)) != step.due {
			t.Errorf("step %d: due at %s", i, due)
		}
		root := l.Layout()
		l.Wrote(at)
		s, err := status.Read(root)
		if err != nil || len(s.Refused) != step.want || s.More != step.more || step.want > 0 && s.Refused[0] != one {
			t.Errorf("step %d: it is %+v and %d more, %v", i, s.Refused, s.More, err)
		}
	}
}
