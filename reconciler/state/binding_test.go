package state

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

var web = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}

func decoded(t *testing.T, text string) *object.Object {
	t.Helper()
	objs := object.Decode("x.yaml", []byte(text)).Objects
	if len(objs) != 1 {
		t.Fatalf("%s is no object", text)
	}
	return objs[0]
}

// targets are clusters with a replica each.
func targets(names ...string) (ts []karmada.TargetCluster) {
	for _, n := range names {
		ts = append(ts, karmada.TargetCluster{Name: n, Replicas: 1})
	}
	return ts
}

func TestABindingSaysWhichPolicyClaimedItsTemplate(t *testing.T) {
	for want, text := range map[string]string{
		"PropagationPolicy shop/p":   "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: shop}\nspec: {resourceSelectors: [{apiVersion: v1, kind: Secret}]}\n",
		"ClusterPropagationPolicy p": "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: p}\nspec: {resourceSelectors: [{apiVersion: v1, kind: Secret}]}\n",
	} {
		set, _, diags := policies.Load([]*object.Object{decoded(t, text)}, nil)
		if len(set.Propagation) != 1 {
			t.Fatal(diags)
		}
		b := NewBinding("apps/v1", web)
		if got := PolicyOf(b); got != "" {
			t.Errorf("of a new binding: %q", got)
		}
		RecordPolicy(b, set.Propagation[0], "here")
		RecordScheduled(b, nil, metav1.Condition{Status: metav1.ConditionTrue})
		if got := PolicyOf(b); got != want || !PlacedBy(b, "here") || PlacedBy(b, "there") {
			t.Errorf("of %s: %q", want, got)
		}
	}
}

func TestTheConditionKeepsItsTimeUntilItsStatusChanges(t *testing.T) {
	condition := func(status metav1.ConditionStatus, at int64) metav1.Condition {
		return metav1.Condition{Status: status, Reason: "r", LastTransitionTime: metav1.NewTime(time.Unix(at, 0))}
	}
	first, same, other := NewBinding("apps/v1", web), NewBinding("apps/v1", web), NewBinding("apps/v1", web)
	RecordScheduled(first, nil, condition("True", 1))
	RecordScheduled(same, first, condition("True", 2))
	RecordScheduled(other, same, condition("False", 3))
	for i, b := range []*karmada.ResourceBinding{first, same, other} {
		if c, ok := Scheduled(b); !ok || c.LastTransitionTime.Unix() != []int64{1, 1, 3}[i] || Placed(b) != (i < 2) {
			t.Errorf("condition %d: %+v", i, c)
		}
	}
}

func TestSends(t *testing.T) {
	b := NewBinding("apps/v1", web)
	b.Spec.Clusters = targets("own")
	b.Spec.RequiredBy = []karmada.BindingSnapshot{{Clusters: targets("pulled")}}
	b.Status.AggregatedStatus = []karmada.AggregatedStatusItem{{ClusterName: "kept", Applied: true}, {ClusterName: "missed"}}
	for cluster, want := range map[string]bool{"own": true, "pulled": true, "kept": true, "missed": false, "other": false} {
		if got := Sends(b, cluster); got != want || Sends(nil, cluster) {
			t.Errorf("it sends to %s: %t", cluster, got)
		}
	}
}

// TestWhatIsLeftIsRecorded shows the two ways: what is left is read back as it was given,
// and the clusters that nobody sends to any longer are those that keep the object.
func TestWhatIsLeftIsRecorded(t *testing.T) {
	old := func(clusters ...string) *karmada.ResourceBinding {
		b := NewBinding("apps/v1", web)
		b.Spec.Clusters = targets(clusters...)
		b.Spec.RequiredBy = []karmada.BindingSnapshot{{Name: "x", Clusters: targets(clusters...)}}
		RecordScheduled(b, nil, metav1.Condition{Status: metav1.ConditionTrue, Reason: "Success"})
		return b
	}
	kept, missed := Left{Kept: true, Reason: reason.Held}, Left{Reason: reason.Failed}
	for _, tt := range []struct {
		name       string
		decided    bool
		unrendered bool
		left       []LeftIn
		want       []string // the clusters of the binding; nil for none
		isPlaced   bool
	}{
		{"it is decided and as decided", true, false, nil, []string{"a", "b"}, true},
		{"it is decided and not as decided", true, false, []LeftIn{{kept, "a"}, {missed, "b"}}, []string{"a", "b"}, true},
		{"it is gone", false, false, nil, nil, false},
		{"it is gone and kept", false, false, []LeftIn{{kept, "b"}}, []string{"b"}, true},
		{"it is gone and kept where it never was decided", false, false, []LeftIn{{kept, "c"}}, []string{}, true},
		{"it is gone and missed", false, false, []LeftIn{{missed, "b"}}, nil, false},
		{"its release fails", false, true, nil, []string{}, false},
		{"its release fails, and it is missed", false, true, []LeftIn{{missed, "b"}}, []string{}, false},
		{"its release fails, and it is kept", false, true, []LeftIn{{kept, "b"}}, []string{"b"}, true},
		{"its release fails, and something else sends it", true, true, nil, []string{"a", "b"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			earlier := State{Bindings: map[object.Ref]*karmada.ResourceBinding{web: old("a", "b")}}
			c := Content{Unrendered: map[object.Ref]bool{}}
			leave(&c, web, tt.left...)
			if tt.unrendered {
				c.Unrendered[web] = true
			}
			if tt.decided {
				c.Bindings = []*karmada.ResourceBinding{old("a", "b")}
			}
			folder, err := Encode(c, &earlier, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(folder, nil)
			if err != nil {
				t.Fatal(err)
			}
			b := got.Bindings[web]
			if (b == nil) != (tt.want == nil) {
				t.Fatalf("the binding is %+v", b)
			}
			if b == nil {
				return
			}
			if d := cmp.Diff(targets(tt.want...), b.Spec.Clusters) + cmp.Diff(tt.left, got.Left()[web]); d != "" {
				t.Error(d)
			}
			if Placed(b) != tt.isPlaced {
				t.Errorf("it is placed: %t", Placed(b))
			}
		})
	}
}

// TestEachIsLeftForItsOwnReason: of objects that are not as decided in the same cluster each is recorded with why, and whether it is there.
func TestEachIsLeftForItsOwnReason(t *testing.T) {
	api := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "api"}
	missed := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "missed"}
	why := map[object.Ref]Left{
		web: {Kept: true, Reason: reason.Held}, api: {Kept: true, Reason: reason.Suspended}, missed: {Reason: reason.Held},
	}
	c := Content{Left: map[object.Ref]groups.By[Left]{}}
	for r, is := range why {
		b, one := NewBinding("apps/v1", r), Content{}
		b.Spec.Clusters = targets("a")
		leave(&one, r, LeftIn{is, "a"})
		c.Bindings, c.Clusters, c.Left[r] = append(c.Bindings, b), one.Clusters, one.Left[r]
	}
	folder, err := Encode(c, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	for r, want := range why {
		if left := got.Left()[r]; len(left) != 1 || left[0].Left != want {
			t.Errorf("%s is left as %+v, want %+v", r, left, want)
		}
	}
}

// TestWhatFollowsIsRecorded shows that what is missed because of something elsewhere is read back where no binding can say it: for an
// object that has none any longer, as one of a policy that is gone, and in the state after that, too.
func TestWhatFollowsIsRecorded(t *testing.T) {
	for why, isRecorded := range map[reason.Reason]bool{
		reason.Nowhere: true, reason.Twice: true, reason.Short: true, reason.Together: true,
		reason.Failed: false, reason.Held: false, // which is found again
	} {
		t.Run(string(why), func(t *testing.T) {
			gone := NewBinding("apps/v1", web)
			gone.Spec.Clusters = targets("a", "b")
			earlier := State{Bindings: map[object.Ref]*karmada.ResourceBinding{web: gone}}
			for range 2 {
				c := Content{}
				leave(&c, web, LeftIn{Left{Reason: why}, "b"})
				folder, err := Encode(c, &earlier, nil)
				if err == nil {
					earlier, err = Decode(folder, nil)
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := earlier.Missed[web]; slices.Equal(got, []string{"b"}) != isRecorded || earlier.Bindings[web] != nil {
					t.Errorf("it is missed in %v, and the binding is %+v", got, earlier.Bindings[web])
				}
			}
		})
	}
}

// TestSentencesOfEarlierVersionsGetCodes reads a state that says in sentences alone why objects are left
// as they are: each gets its code, and is written with it once it is written again.
func TestSentencesOfEarlierVersionsGetCodes(t *testing.T) {
	b := NewBinding("apps/v1", web)
	b.Spec.Clusters = targets("a", "b")
	left := LeftIn{Left{Reason: reason.NotGone}, "a"}
	c := Content{Bindings: []*karmada.ResourceBinding{b}}
	leave(&c, web, left)
	was, err := Encode(c, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	path, text := "", ""
	for name, blob := range BindingFiles(was) {
		data, err := blob.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		path, text = name, strings.Replace(string(data), "    reason: OldCopyNotGone\n", "", 1)
	}
	if strings.Contains(text, "OldCopy") || !strings.Contains(text, "the old copy is not gone yet") {
		t.Fatalf("it is not as an earlier version wrote it:\n%s", text)
	}
	older, err := Decode(with(was, path, files.NewBlob([]byte(text))), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]LeftIn{left}, older.Left()[web]); d != "" || !WaitsForGone(older.Bindings[web]) {
		t.Errorf("it waits for the old copy: %t; %s", WaitsForGone(older.Bindings[web]), d)
	}
	c.Bindings[0] = older.Bindings[web]
	again, err := Encode(c, &older, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again.ID() != was.ID() {
		t.Error("it is not written with its code")
	}
}

func TestAHeldClusterHasACondition(t *testing.T) {
	eu := decoded(t, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Push}\n")
	set, _, diags := policies.Load([]*object.Object{eu}, nil)
	if len(set.Clusters) != 1 {
		t.Fatal(diags)
	}
	var m Memo
	encode := func(c Content, earlier *State) State {
		t.Helper()
		c.Clusters = set.Clusters
		folder, err := Encode(c, earlier, &m)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Decode(folder, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	free := encode(Content{}, nil)
	held := encode(Content{Held: map[string]string{"eu": "why"}, When: time.Unix(1, 5)}, &free)
	still := encode(Content{Held: map[string]string{"eu": "why else"}, When: time.Unix(2, 0)}, &held)
	if len(free.Held) != 0 || len(encode(Content{}, &still).Held) != 0 {
		t.Error("a cluster is held without a reason")
	}
	for want, s := range map[string]State{"why": held, "why else": still} {
		if c := s.Held["eu"]; c.Message != want || c.LastTransitionTime.Unix() != 1 {
			t.Errorf("it is held: %+v", c)
		}
	}
}

// TestRemediesAreWrittenWhileTheyAreInForce: a cluster is laid out as it was last only where nothing of that has changed.
func TestRemediesAreWrittenWhileTheyAreInForce(t *testing.T) {
	eu := decoded(t, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Push}\n")
	set, _, _ := policies.Load([]*object.Object{eu}, nil)
	var m Memo
	for i, want := range []string{"", "TrafficControl", "TrafficControl", ""} {
		c := Content{Clusters: set.Clusters}
		if want != "" {
			c.Remedies = map[string][]string{"eu": {want}}
		}
		folder, err := Encode(c, nil, &m)
		if err != nil {
			t.Fatal(err)
		}
		e, ok := folder.Lookup("clusters/eu.yaml")
		if !ok {
			t.Fatal("the cluster is not written")
		}
		data, err := e.Blob.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if isThere := strings.Contains(string(data), "TrafficControl"); isThere != (want != "") {
			t.Errorf("%d: the actions are written: %t, want %q in\n%s", i, isThere, want, data)
		}
	}
}

func TestWhatCannotBeReadIsMadeUpOfWhatIsPublished(t *testing.T) {
	deployment := decoded(t, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 3, template: {spec: {containers: [{name: c, image: i}]}}}\n")
	release := decoded(t, "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: shop}\nspec: {chart: {spec: {chart: ./c, sourceRef: {kind: GitRepository, name: s}}}}\n")
	built, err := tree.NewBuilder().LayOut([]tree.Manifest{{Ref: web, Blob: files.NewBlob(deployment.YAML())}}).Tree(tree.Flux{})
	if err != nil {
		t.Fatal(err)
	}
	s := State{
		Releases: []Release{{Release: release.Ref(), Objects: []object.Ref{web}}},
		Unreadable: []Unreadable{
			{Path: "bindings/shop/web-deployment.yaml"}, {Path: "bindings/shop/r-helmrelease.yaml"}, {Path: "bindings/shop/other-deployment.yaml"},
		},
	}
	got := s.Recover(map[string]tree.Published{"eu": {Built: built}, "us": {}}, []*object.Object{deployment, release})
	if len(got.Refs) != 2 || len(got.Diags) != 3 {
		t.Fatalf("%+v", got)
	}
	for r, replicas := range map[object.Ref]int32{web: 3, release.Ref(): 0} {
		if d := cmp.Diff([]karmada.TargetCluster{{Name: "eu", Replicas: replicas}}, s.Bindings[r].Spec.Clusters); d != "" || !got.Refs[r] {
			t.Errorf("%s: %s", r, d)
		}
	}
}
