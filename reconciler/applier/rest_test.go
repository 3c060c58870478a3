package applier

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/drift"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// TestHowLongAClusterIsLeftAlone: after a round that went well until the resync; after failures longer each time, up to a bound; a
// suspended one until its window opens; and a round that went well forgets the failures before.
func TestHowLongAClusterIsLeftAlone(t *testing.T) {
	const resync = 10 * time.Minute
	failed, unready := errors.New("it failed"), Result{Unready: make([]clusters.Unready, 1)}
	held := Result{Report: apply.Report{Plan: apply.Plan{Hold: &apply.Hold{}}}}
	again := func(in time.Duration) Result {
		return Result{Report: apply.Report{Plan: apply.Plan{Again: noon.Add(in)}}}
	}
	for _, tt := range []struct {
		name   string
		before int // failures
		res    Result
		want   time.Duration
		after  int // failures
	}{
		{"all is well", 5, Result{}, resync, 0},
		{"the first failure", 0, Result{Err: failed, observed: observed{reached: true}}, time.Second, 1},
		{"the fourth", 3, Result{Err: failed, observed: observed{reached: true}}, 8 * time.Second, 4},
		{"many", 50, Result{Err: failed, observed: observed{reached: true}}, failedWait, 51},
		{"an object is not ready", 0, unready, time.Second, 1},
		{"it does not answer", 50, Result{Err: failed}, unreachedWait, 51},
		{"there is no credential", 5, Result{Err: fmt.Errorf("x: %w", clusters.ErrNoCredential)}, time.Minute, 5},
		{"a person suspended it", 5, Result{Suspension: suspend.Suspension{Why: "by hand"}}, resync, 5},
		{"until a window opens", 5, Result{Suspension: suspend.Suspension{Why: "by night", Until: noon.Add(3 * time.Minute)}}, 3 * time.Minute, 5},
		{"until a window opens much later", 5, Result{Suspension: suspend.Suspension{Why: "by night", Until: noon.Add(time.Hour)}}, resync, 5},
		{"the guard holds it", 0, held, time.Second, 1},
		{"time alone gives it something to do", 5, again(3 * time.Minute), 3 * time.Minute, 0},
		{"time did so meanwhile", 5, again(-time.Minute), 0, 0},
		{"time does so much later", 5, again(time.Hour), resync, 0},
	} {
		f := &Follower{Applier: Applier{Now: func() time.Time { return noon }}, Resync: resync, Random: func() float64 { return 1 }}
		b := backoff{failures: tt.before, corrections: drift.Counts{}}
		if got := f.rest(&b, &tt.res); got != tt.want || b.failures != tt.after {
			t.Errorf("%s: it is left alone for %s after %d failures, want %s and %d", tt.name, got, b.failures, tt.want, tt.after)
		}
	}
	f := &Follower{Random: func() float64 { return 0 }}
	if got := f.after(3, time.Minute); got != 2*time.Second {
		t.Errorf("at least it is %s", got) // half, so that many clusters do not come back at once
	}
}

// TestWhoIsFollowed: the clusters that are pushed to, unless somebody says otherwise.
func TestWhoIsFollowed(t *testing.T) {
	cluster := func(name string, mode karmada.ClusterSyncMode) *karmada.Cluster {
		return &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: karmada.ClusterSpec{SyncMode: mode}}
	}
	in := &published.Desired{Clusters: []*karmada.Cluster{cluster("eu", karmada.Push), cluster("us", karmada.Pull), cluster("ap", "")}}
	var names []string
	for _, c := range new(Follower).choose(in) {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, []string{"eu"}) || len(in.Clusters) != 3 {
		t.Errorf("followed are %q of %d", names, len(in.Clusters))
	}
}

// TestARoundIsRequestedOnce: hooks that failed run again when somebody asks anew, not when a controller starts and finds what was
// asked before.
func TestARoundIsRequestedOnce(t *testing.T) {
	w := &work{}
	for i, step := range []struct {
		at   string // the annotation
		want bool
	}{{"10:00", false}, {"10:00", false}, {"11:00", true}, {"11:00", false}, {"", false}, {"12:00", true}} {
		c := &karmada.Cluster{}
		if step.at != "" {
			c.Annotations = map[string]string{suspend.RequestedAt: step.at}
		}
		w.request.cluster = c
		if got := w.again(); got != step.want {
			t.Errorf("step %d, %q: again is %v", i+1, step.at, got)
		}
	}
	w = &work{request: request{cluster: &karmada.Cluster{}}}
	w.again()
	w.request.cluster = &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{suspend.RequestedAt: "10:00"}}}
	if !w.again() {
		t.Error("the first request is not taken")
	}
}

// TestForWhatARoundWaits: for what it applied; not for what was refused or failed, nor for hooks, which have an end of their own.
func TestForWhatARoundWaits(t *testing.T) {
	of := func(name string, annotations map[string]any) apply.Object {
		return apply.Object{Ref: object.Ref{Kind: "ConfigMap", Name: name}, Manifest: map[string]any{"metadata": map[string]any{"annotations": annotations}}}
	}
	all := []apply.Object{of("same", nil), of("changed", nil), of("failed", nil), of("refused", nil), of("hook", map[string]any{"argocd.argoproj.io/hook": "PreSync"})}
	r := &apply.Report{
		Plan:     apply.Plan{Refused: []apply.Action{{Ref: all[3].Ref}}},
		Outcomes: []apply.Outcome{{Action: apply.Action{Ref: all[1].Ref}}, {Action: apply.Action{Ref: all[2].Ref}, Err: errors.New("no")}},
	}
	var names []string
	for _, ref := range applied(r, all) {
		names = append(names, ref.Name)
	}
	if !slices.Equal(names, []string{"same", "changed"}) {
		t.Errorf("it waits for %q", names)
	}
}

// TestWhatAStatusSaysOfARound: what went wrong, in the words of statuses; and what was applied last where a branch, or the state, was
// refused because it does not come after that: whoever publishes reads it from there.
func TestWhatAStatusSaysOfARound(t *testing.T) {
	last := files.Sum("commit", []byte("last"))
	refused := func(ofState bool) error {
		return fmt.Errorf("x: %w", &ancestry.RefusedError{State: ofState, Applied: last, Text: "it does not come after"})
	}
	reached := observed{reached: true}
	for _, tt := range []struct {
		name          string
		res           Result
		none          bool
		reason        string
		refused, from files.ID
	}{
		{"nothing was done, and nothing is to be said", Result{}, true, "", files.ID{}, files.ID{}},
		{"all is well", Result{observed: reached}, false, "", files.ID{}, files.ID{}},
		{"a person suspended it", Result{Suspension: suspend.Suspension{Why: "by hand"}}, false, status.Suspended, files.ID{}, files.ID{}},
		{"there is no credential", Result{Err: fmt.Errorf("x: %w", clusters.ErrNoCredential)}, false, status.NoCredential, files.ID{}, files.ID{}},
		{"it does not answer", Result{Err: errors.New("no route")}, false, status.Unreachable, files.ID{}, files.ID{}},
		{"it answers, and the round fails", Result{Err: errors.New("no"), observed: reached}, false, status.Errored, files.ID{}, files.ID{}},
		{"its branch was set back", Result{Err: refused(false), observed: reached}, false, status.Errored, last, files.ID{}},
		{"the state was set back", Result{Err: refused(true), observed: reached}, false, status.Errored, files.ID{}, last},
	} {
		r := tt.res.Round()
		if (r == nil) != tt.none {
			t.Errorf("%s: it is %+v", tt.name, r)
			continue
		}
		if r != nil && (r.Trouble.Reason != tt.reason || r.Refused != tt.refused || r.RefusedState != tt.from) {
			t.Errorf("%s: %+v, of the branch %s, of the state %s", tt.name, r.Trouble, r.Refused, r.RefusedState)
		}
	}
}

// TestWhatABranchReplaces: the commit that its Cluster names, and whatever a cluster of its former name applied.
func TestWhatABranchReplaces(t *testing.T) {
	one, two := files.Sum("commit", []byte("one")), files.Sum("commit", []byte("two"))
	for _, tt := range []struct {
		name     string
		artifact published.Artifact
		had      inventory.Inventory
		want     bool
	}{
		{"nothing", published.Artifact{}, inventory.Inventory{Identity: inventory.Identity{Cluster: "eu"}, Commit: one}, false},
		{"that commit", published.Artifact{Replaces: two.String() + " " + one.String()}, inventory.Inventory{Identity: inventory.Identity{Cluster: "eu"}, Commit: one}, true},
		{"another one", published.Artifact{Replaces: two.String()}, inventory.Inventory{Identity: inventory.Identity{Cluster: "eu"}, Commit: one}, false},
		{"a cluster by its former name", published.Artifact{NameBefore: "old"}, inventory.Inventory{Identity: inventory.Identity{Cluster: "old"}, Commit: one}, true},
		{"a cluster by another name", published.Artifact{NameBefore: "old"}, inventory.Inventory{Identity: inventory.Identity{Cluster: "us"}, Commit: one}, false},
		{"an inventory that names no cluster", published.Artifact{}, inventory.Inventory{Commit: one}, false},
	} {
		if got := replaces(&tt.artifact, tt.had); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// TestWhoAppliesSeesWhatIsPublished: a look wakes where the state moved, or a branch that counts, and nothing else does; one that fails
// is told, and wakes nobody.
func TestWhoAppliesSeesWhatIsPublished(t *testing.T) {
	repo := &failing{Repo: twin.New("branches")}
	root := twin.Tree{"a": twin.File(nil)}.Folder()
	woken, told := 0, []error{}
	p := &BranchPoller{
		Target: repo, Branches: func() []string { return []string{"waybill/cluster/eu"} }, Log: slog.New(slog.DiscardHandler), Interval: time.Hour,
		Wake: func() { woken++ },
	}
	now := make(chan struct{})
	p.Now = now
	ctx, stop := context.WithCancel(t.Context())
	looked := make(chan bool)
	p.Report = func(err error) { told = append(told, err); looked <- true }
	ended := make(chan error)
	go func() { ended <- p.Run(ctx) }()
	<-looked
	for i, step := range []struct {
		branch string // that moves; empty: none
		err    error
		want   int
	}{{"", nil, 0}, {state.Branch, nil, 1}, {"waybill/cluster/us", nil, 0}, {"waybill/cluster/eu", nil, 1}, {state.Branch, errors.New("connection refused"), 0}, {"", nil, 1}, {"", nil, 0}} {
		if repo.err = step.err; step.branch != "" {
			repo.Write(step.branch, fmt.Sprint("step ", i), root)
		}
		before := woken
		now <- struct{}{}
		<-looked
		if woken-before != step.want || (told[len(told)-1] != nil) != (step.err != nil) || !errors.Is(told[len(told)-1], step.err) {
			t.Errorf("step %d: woken %d times, told %v", i+1, woken-before, told[len(told)-1])
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	ctx, stop = context.WithCancel(t.Context())
	repo.err, repo.fails = errors.New("it is over"), stop
	before := len(told)
	go func() { ended <- p.Run(ctx) }()
	if err := <-ended; err != nil || len(told) != before {
		t.Errorf("of a look that ends with all it is told %v; %v", told[before:], err)
	}
	repo.err, repo.fails = nil, nil
	p.Branches = nil // the state alone counts
	ctx, stop = context.WithCancel(t.Context())
	go func() { ended <- p.Run(ctx) }()
	for _, step := range []struct {
		branch string
		want   int
	}{{"", 1}, {"waybill/cluster/eu", 0}, {state.Branch, 1}} {
		before := woken
		if step.branch != "" {
			repo.Write(step.branch, "alone", root)
			now <- struct{}{}
		}
		<-looked
		if woken-before != step.want {
			t.Errorf("where the state alone counts, %q moves: woken %d times", step.branch, woken-before)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("it ends with %v", err)
	}
}

// failing is a repository that cannot be asked for a while.
type failing struct {
	*twin.Repo

	err   error
	fails func() // is told of it
}

// Heads implements published.Repository.
func (f *failing) Heads(ctx context.Context) (map[string]files.ID, error) {
	if f.err != nil {
		if f.fails != nil {
			f.fails()
		}
		return nil, f.err
	}
	return f.Repo.Heads(ctx)
}

// TestWhatACommitSaysOfACluster: what failed over counts by the path in the cluster's own folder, and what is allowed of another cluster
// is not of this one.
func TestWhatACommitSaysOfACluster(t *testing.T) {
	const message = "x\n\nCluster: eu\nCluster: us\nFailed-Over: eu/manifests/a.yaml\nFailed-Over: us/manifests/b.yaml\nFailed-Over: manifests/c.yaml\n"
	for _, tt := range []struct {
		at      render.Address
		message string
		paths   string
		allowed bool
	}{
		{render.Address{Branch: "waybill/clusters", Folder: "eu"}, message, "map[manifests/a.yaml:true]", false},
		{render.Address{Branch: "waybill/clusters", Folder: "ap"}, message, "map[]", false},
		{render.Address{Branch: "waybill/cluster/eu"}, "x\n\nFailed-Over: manifests/c.yaml\n", "map[manifests/c.yaml:true]", false},
		{render.Address{Branch: "waybill/cluster/eu"}, "x\n\nRemovals-Allowed-In: us\n", "map[]", false},
		{render.Address{Branch: "waybill/cluster/eu"}, "x\n\nRemovals-Allowed-In: eu\nFailed-Over: manifests/c.yaml\n", "map[]", true},
	} {
		var a Admission
		if all := a.read(tt.message, "eu", tt.at); all != tt.allowed || a.Allowed != tt.allowed || fmt.Sprint(a.FailedOver) != tt.paths {
			t.Errorf("at %s it says %+v of %q", tt.at, a, tt.message)
		}
	}
}
