package applier_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/endpoints"
	"github.com/waybill-dev/waybill/reconciler/endpoints/push"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/writer"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestASuspendedClusterIsNotAsked by whoever follows, until it is suspended no more; what somebody deletes then is put back, and what is
// applied again says what it was.
func TestASuspendedClusterIsNotAsked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(suspend.Suspended+": the disks are replaced", "a", "b")
	var asked atomic.Int32
	s.server.Before(func(*http.Request) int { asked.Add(1); return 0 })
	wakes, rounds := make(chan struct{}), make(chan applier.Result, 10)
	f := applier.Follower{
		Applier: s.applier, Resync: time.Hour, Log: slog.New(slog.DiscardHandler), Random: func() float64 { return 0 },
		Report: func(res applier.Result) { rounds <- res },
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx, wakes) }()
	wakes <- struct{}{}
	if res := <-rounds; res.Suspension.Why == "" || res.Err != nil || asked.Load() != 0 {
		t.Errorf("a suspended cluster is asked %d times, and it comes to %+v, %v", asked.Load(), res.Suspension, res.Err)
	}
	s.publish("", "a", "b")
	wakes <- struct{}{}
	if res := <-rounds; res.Err != nil || res.Took <= 0 || len(res.Report.Outcomes) != 2 {
		t.Errorf("when it is not it comes to %+v in %s, %v", res.Report.Outcomes, res.Took, res.Err)
	}
	s.server.Remove(configMap("b"))
	res := <-rounds
	if all := res.Report.Outcomes; res.Err != nil || len(all) != 1 || all[0].Ref != ref("b") || s.server.Get(configMap("b")) == nil {
		t.Errorf("when somebody deleted one it comes to %+v, %v", all, res.Err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestASuspendedClusterThatNobodyAppliedTo remembers no state: nor does one whose inventory cannot be read now, or for which there is no
// credential.
func TestASuspendedClusterThatNobodyAppliedTo(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"it has no inventory": 0, "it cannot be read": http.StatusForbidden} {
		s := newSite(t)
		s.server.Before(func(r *http.Request) int {
			if strings.Contains(r.URL.Path, "/secrets") {
				return status
			}
			return 0
		})
		in, eu := s.publish(suspend.Suspended+": first", "a")
		in.State = in.Head
		if res := s.applier.Apply(t.Context(), in, eu); res.Err != nil || res.Suspension.Why == "" || len(s.server.Writes()) > 0 {
			t.Errorf("%s: it comes to %v, %+v, and writes %q", name, res.Err, res.Suspension, s.server.Writes())
		}
		s.applier.Access.Folder = t.TempDir()
		if res := s.applier.Apply(t.Context(), in, eu); res.Err != nil || res.Suspension.Why == "" {
			t.Errorf("without a credential it comes to %v, %+v", res.Err, res.Suspension)
		}
	}
}

// TestWhatARoundTellsTheStatus: where the branch is, what was read there, and how the objects are; of a cluster that has no branch that
// it has none, and where something leaves that may not nothing is waited for.
func TestWhatARoundTellsTheStatus(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.applier.Looks, s.applier.Wait = true, 10*time.Millisecond
	s.more = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {
	replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}},
}`
	names := strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x y z")
	in, eu := s.publish("", names...)
	res := s.applier.Apply(t.Context(), in, eu)
	round := res.Round()
	if res.Err != nil || round == nil {
		t.Fatal(res.Err)
	}
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	var refs, want []object.Ref
	for i := range round.Objects {
		refs = append(refs, round.Objects[i].Ref)
	}
	for _, name := range names {
		want = append(want, ref(name))
	}
	want = append(want, web)
	head, _, err := s.source.Branch(t.Context(), "main")
	isAt := round.Branch == "waybill/cluster/eu" && round.Commit == res.Commit && !res.Commit.IsZero()
	if err != nil || !isAt || round.Source != head.Commit.String() {
		t.Errorf("it tells of %s from %s, %s; %v", round.Branch, round.Source, round.Commit, err)
	}
	if diff := cmp.Diff(want, refs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(
		map[schema.GroupKind]string{{Kind: "ConfigMap"}: "configmaps", {Group: "apps", Kind: "Deployment"}: "deployments"}, round.Resources,
	); diff != "" {
		t.Error(diff)
	}
	if h := round.Health[web]; h.Reason != health.InProgress || len(round.Health) != 1 { // of a ConfigMap there is nothing to see
		t.Errorf("it tells of %d objects how they are, and of web %+v", len(round.Health), h)
	}

	in, eu = s.publish("", names[1:]...)
	in.Guard = render.Guard{Protect: []string{"ConfigMap"}}
	if held := s.applier.Apply(t.Context(), in, eu); held.Err != nil || held.Report.Plan.Hold == nil || len(held.Unready) > 0 {
		t.Errorf("where one leaves that may not %v are waited for, and held is %+v; %v", held.Unready, held.Report.Plan.Hold, held.Err)
	}

	s.branches.Delete("waybill/cluster/eu")
	written := s.server.Writes()
	in, eu = s.publishedNow()
	if none := s.applier.Apply(t.Context(), in, eu); !errors.Is(
		none.Err, published.ErrUnpublished,
	) || !slices.Equal(s.server.Writes(), written) {
		t.Errorf("without a branch it comes to %v, and writes %q", none.Err, s.server.Writes()[len(written):])
	}
	if _, err := s.applier.Orphans(t.Context(), in, eu); !errors.Is(err, published.ErrUnpublished) {
		t.Errorf("without a branch orphans are an error: %v", err)
	}
}

// TestWhatIsNotTakenOfOthersIsInTheStatus, with a name that another cluster gives only if it is one, and no longer than it may be.
func TestWhatIsNotTakenOfOthersIsInTheStatus(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		statuses := twin.New("statuses")
		f := newFollowing(t, func(f *following) {
			f.Status = writer.New(statuses, time.Now, f.Log)
			f.Exchange = push.New(push.By(clusters.Access{}), time.Now, f.Random, f.Log)
		}, "eu")
		writing, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = f.Status.Run(writing) }() // it ends without an error
		f.wake()
		api := types.NamespacedName{Namespace: "shop", Name: "api"}
		f.Exchange.Refused("eu", []endpoints.Refusal{
			{Provider: "us", Service: api, Slice: "us-api-1", Why: "it has no such port"},
			{Provider: "us", Slice: "<b>", Why: strings.Repeat("ä", 200)},
			{Provider: "us", Service: api, Slice: "us-api-2", Why: strings.Repeat("x", 299) + "ä"},
		})
		time.Sleep(time.Minute)
		synctest.Wait()
		h, _, err := statuses.Branch(t.Context(), status.Prefix+"eu")
		if err != nil {
			t.Fatal(err)
		}
		said, err := status.Read(h.Tree)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]status.Refusal{
			{From: "us", Service: "shop/api", Slice: "us-api-1", Message: "it has no such port"},
			{From: "us", Message: strings.Repeat("ä", 150)},
			{From: "us", Service: "shop/api", Slice: "us-api-2", Message: strings.Repeat("x", 299)},
		}, said.Refused); diff != "" {
			t.Error(diff)
		}
		f.end()
	})
}

// publishedNow is what is published as it is now.
func (s *site) publishedNow() (*published.Desired, *karmada.Cluster) {
	s.Helper()
	in, err := s.applier.Published.Desired(s.Context(), "", files.ID{})
	if err != nil || len(in.Clusters) != 1 {
		s.Fatalf("%d clusters: %v", len(in.Clusters), err)
	}
	return &in, in.Clusters[0]
}
