package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/state/sourceerrors"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// TestEachPartIsReadAsItWasWritten: what a plan wants remembered is what the next one goes by, whichever part it is; and where there is
// nothing to remember there is no file.
func TestEachPartIsReadAsItWasWritten(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))
	want := Content{
		LastGood: LastGood{Broken: map[string]Part{"a.yaml": {Digest: "d"}}, Also: map[string][]string{"ConfigMap/shop/a": {"a.yaml"}}},
		Random:   Random{Key: "k1", Source: "c0ffee"},
		Failover: Failover{Taints: fleet.Marks{"eu": {{Key: "k", Effect: corev1.TaintEffectNoExecute, TimeAdded: &at}}}, Moved: at, Frozen: true},
		Leaving:  []Leaving{{Object: webRef, Cluster: "eu", Since: at}},
		Unlisted: []Unlisted{{Object: webRef, Cluster: "eu", File: "web.yaml"}},
		Scripts:  argocd.Scripts{ConfigMap: "argocd/argocd-cm", ByKind: map[string]string{"Thing": "return {}"}},
		Interpreters: []*karmada.ResourceInterpreterCustomization{
			{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}, {ObjectMeta: metav1.ObjectMeta{Name: "yours"}},
		},
		SourceErrors: sourceerrors.Of([]diag.Diagnostic{{Code: "a", Severity: diag.Error, Message: "no"}}, "c1", at.Time, sourceerrors.Record{}),
		Releases:     []Release{{Release: webRef, Objects: []object.Ref{webRef}, Inputs: "i"}},
	}
	root, err := Encode(want, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Decode(root, nil)
	if err != nil || len(s.Unreadable) > 0 {
		t.Fatalf("unreadable are %v; %v", s.Unreadable, err)
	}
	got := Content{
		LastGood: s.LastGood, Random: s.Random, Failover: s.Failover, Leaving: s.Leaving, Unlisted: s.Unlisted, Scripts: s.Scripts,
		SourceErrors: s.SourceErrors, Releases: s.Releases,
	}
	if got.Interpreters, err = Interpreters(root); err != nil {
		t.Error(err)
	}
	isTime := cmp.Comparer(func(a, b metav1.Time) bool { return a.Time.Equal(b.Time) })
	if diff := cmp.Diff(want, got, isTime, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	nothing, err := Encode(Content{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range nothing.Entries() {
		if e.Name != formatFile {
			t.Errorf("where there is nothing to remember there is %s", e.Name)
		}
	}
}

// TestAFailoverIsRememberedByAnyOfItsParts, of which each alone has a file.
func TestAFailoverIsRememberedByAnyOfItsParts(t *testing.T) {
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for name, f := range map[string]Failover{
		"taints":  {Taints: fleet.Marks{"eu": {{Key: "k"}}}},
		"pace":    {Pace: metav1.NewMicroTime(at)},
		"moved":   {Moved: metav1.NewTime(at)},
		"frozen":  {Frozen: true},
		"delayed": {DelayedUntil: metav1.NewTime(at)},
	} {
		root, err := Encode(Content{Failover: f}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Decode(root, nil)
		is, was := s.Failover, f
		isSame := is.Pace.Time.Equal(was.Pace.Time) && is.Moved.Time.Equal(was.Moved.Time) && is.DelayedUntil.Time.Equal(was.DelayedUntil.Time)
		if err != nil || !isSame || is.Frozen != was.Frozen || !cmp.Equal(is.Taints, was.Taints, cmpopts.EquateEmpty()) {
			t.Errorf("of one with %s it is %+v; %v", name, is, err)
		}
	}
}

// TestABindingRecordsAllOfItsPolicy that is decided by it: whoever applies, and a failover, go by the binding.
func TestABindingRecordsAllOfItsPolicy(t *testing.T) {
	yes := true
	spec := karmada.PropagationSpec{
		Placement:     karmada.Placement{ClusterAffinity: &karmada.ClusterAffinity{ClusterNames: []string{"eu"}}},
		PropagateDeps: true, SchedulerName: "mine",
		Failover: &karmada.FailoverBehavior{Application: &karmada.ApplicationFailoverBehavior{}}, PreserveResourcesOnDeletion: &yes,
	}
	b := NewBinding("apps/v1", webRef)
	policy := decoded(t, "apiVersion: x/v1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: shop}\n")
	RecordPolicy(b, &policies.Propagation{Object: policy, Spec: &spec}, "here")
	of := b.Spec
	if diff := cmp.Diff(spec, karmada.PropagationSpec{
		Placement: *of.Placement, PropagateDeps: of.PropagateDeps, SchedulerName: of.SchedulerName, Failover: of.Failover,
		PreserveResourcesOnDeletion: of.PreserveResourcesOnDeletion,
	}); diff != "" {
		t.Error(diff)
	}
}

// TestOneConditionOfManySaysHowATemplateWasPlaced, wherever it stands among them.
func TestOneConditionOfManySaysHowATemplateWasPlaced(t *testing.T) {
	b := NewBinding("apps/v1", webRef)
	RecordWaits(b, nil, WaitsForPlace, metav1.Now())
	if c, ok := Scheduled(b); ok || Placed(b) {
		t.Errorf("one that waits was placed by %+v", c)
	}
	b.Status.Conditions = append(b.Status.Conditions, metav1.Condition{Type: scheduled, Status: metav1.ConditionTrue, Reason: "r"})
	if c, ok := Scheduled(b); !ok || c.Reason != "r" || !Placed(b) {
		t.Errorf("it was placed by %+v", c)
	}
	RecordWaits(b, nil, "", metav1.Now())
	RecordWaits(b, nil, WaitsForPace, metav1.Now())
	if n := len(b.Status.Conditions); n != 2 {
		t.Errorf("what does not wait has %d conditions", n)
	}
}

// TestWhatIsKeptWithoutABindingIsInOrder, so that equal plans write equal files.
func TestWhatIsKeptWithoutABindingIsInOrder(t *testing.T) {
	in, first := Content{Left: map[object.Ref]groups.By[Left]{}}, files.ID{}
	in.Clusters = []policies.Cluster{{Spec: karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}}}
	for n := range 20 {
		var by groups.Builder[Left]
		by.Add(0, Left{Kept: true})
		in.Left[object.Ref{Kind: "Namespace", Name: fmt.Sprintf("n%02d", n)}] = by.By()
	}
	for range 5 {
		root, err := Encode(in, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if e, _ := root.Lookup(keptFile); first == (files.ID{}) {
			first = e.ID
		} else if e.ID != first {
			t.Fatal("what is kept is written in another order")
		}
	}
}

// TestBindingsOfAUnitAreMadeShorterEachByItself: two of the same unit with as many clusters, and as many that are listed, are not taken for
// each other; nor is one that is sent nowhere lost.
func TestBindingsOfAUnitAreMadeShorterEachByItself(t *testing.T) {
	content := goesOut("c1:released:- c2:pending:kept c3:pending:kept c4:pending:kept")
	add := func(name, left string, clusters ...string) {
		r := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name}
		b := binding(r, "apps/v1")
		b.Annotations[policyNamespaceAnnotation], b.Annotations[policyNameAnnotation], b.Spec.Clusters = "shop", "web", nil
		for _, c := range clusters {
			b.Spec.Clusters = append(b.Spec.Clusters, karmada.TargetCluster{Name: c})
		}
		var by groups.Builder[Left]
		for i, is := range left {
			switch is {
			case 'k':
				by.Add(i, Left{Kept: true, Reason: reason.WaitsForStage})
			case 'h':
				by.Add(i, Left{Kept: true, Reason: reason.Held})
			}
		}
		content.Left[r] = by.By()
		content.Bindings = append(content.Bindings, b)
	}
	add("a", "-kk-", "c2", "c3")
	add("b", "-k-k", "c2", "c4")
	add("c", "hk--", "c1", "c2")
	add("d", "-k--")
	add("e", "hkk-", "c2", "c3")
	add("f", "-kkh", "c2", "c3")
	content.Bindings[5].Spec.Clusters = content.Bindings[1].Spec.Clusters // one list in memory, and what is listed differs
	content.Bindings[6].Spec.Clusters = content.Bindings[1].Spec.Clusters
	root, err := Encode(content, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Decode(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"web": "c2:kept c3:kept c4:kept", "a": "c2:kept c3:kept", "b": "c2:kept c4:kept", "c": "c1:held c2:kept", "d": "c2:kept",
		"e": "c1:held c2:kept c3:kept", "f": "c2:kept c3:kept c4:held",
	} {
		e, _ := root.Lookup("bindings/shop/" + name + "-deployment.yaml")
		data, err := e.Blob.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if isShort := strings.Contains(string(data), stagedAnnotation); isShort != (name != "d") {
			t.Errorf("the file of %s is\n%s", name, data)
		}
		b := s.Bindings[object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name}]
		if b == nil {
			t.Errorf("the binding of %s is lost", name)
		} else if got := said(b); got != want {
			t.Errorf("%s waits in %q, want %q", name, got, want)
		}
	}
	unit := rollouts.Unit{Namespace: "shop", Name: "web"}
	if RecordIn(root, unit) == [2]files.ID{} || RecordIn(files.NewFolder(nil), unit) != [2]files.ID{} {
		t.Error("the record of a unit is not where it is looked for")
	}
}

// TestABindingIsMadeUpOfWhatAVirtualClusterHas, where namespaces have other names: the template's is that of the source.
func TestABindingIsMadeUpOfWhatAVirtualClusterHas(t *testing.T) {
	there := decoded(t, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop-tenant}\nspec: {replicas: 2}\n")
	built, err := tree.NewBuilder().LayOut([]tree.Manifest{{Ref: there.Ref(), Blob: files.NewBlob(there.YAML())}}).Tree(tree.Flux{})
	if err != nil {
		t.Fatal(err)
	}
	cluster := decoded(t, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\n"+
		"metadata: {name: tenant, annotations: {"+karmada.VirtualOfAnnotation+": eu}}\n")
	other := decoded(t, "apiVersion: example.com/v1\nkind: Cluster\nmetadata: {name: tenant}\n")
	release := decoded(t, "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: shop}\n"+
		"spec: {chart: {spec: {chart: ./c, sourceRef: {kind: GitRepository, name: s}}}}\n")
	own := decoded(t, strings.Replace(string(release.YAML()), "name: r\n", "name: own\n", 1)) // it stands in the directory of the cluster
	s := State{
		Releases: []Release{
			{Release: release.Ref(), Objects: []object.Ref{webRef}}, {Cluster: "tenant", Release: own.Ref(), Objects: []object.Ref{webRef}},
		},
		Unreadable: []Unreadable{
			{Path: "bindings/shop/web-deployment.yaml", Reason: "it is cut short"},
			{Path: "bindings/shop-tenant/web-deployment.yaml"},
			{Path: "bindings/shop/r-helmrelease.yaml"},
			{Path: "bindings/shop/own-helmrelease.yaml"},
			{Path: "releases/shop/r-helmrelease.json"},
		},
	}
	published := map[string]tree.Published{"tenant": {Built: built}, "us": {Built: files.NewFolder(nil)}}
	got := s.Recover(published, []*object.Object{cluster, other, release, own})
	if len(got.Refs) != 2 || !got.Refs[webRef] || !got.Refs[release.Ref()] {
		t.Errorf("made up are the bindings of %v", got.Refs)
	}
	if b := s.Bindings[webRef]; b == nil || !slices.Equal(b.Spec.Clusters, []karmada.TargetCluster{{Name: "tenant", Replicas: 2}}) {
		t.Errorf("that of web is %+v", b)
	}
	const message = "bindings/shop/web-deployment.yaml on branch waybill/state cannot be read: it is cut short; " +
		"Deployment.apps/shop/web stays as it was last published"
	d := got.Diags[0]
	if d.Severity != diag.Error || d.Message != message || got.Diags[4].Severity != diag.Warning || got.Diags[4].Hint == "" {
		t.Errorf("it says %+v, and %+v", d, got.Diags[4])
	}
}

// TestWhatCannotBeReadOfARollOutStays as it is, whatever is recorded of others: what it said is not known.
func TestWhatCannotBeReadOfARollOutStays(t *testing.T) {
	content := goesOut("c1:released:- c2:pending:kept")
	root, err := Encode(content, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	const path = rolloutsDir + "/shop/other.yaml"
	s, err := Decode(with(root, path, files.NewBlob([]byte("<<<<<<< ours"))), nil)
	if unit := (rollouts.Unit{Namespace: "shop", Name: "other"}); err != nil || len(s.Rollouts) != 1 || s.UnreadableRollouts[unit] == nil {
		t.Fatalf("read are %+v, unreadable %v; %v", s.Rollouts, s.UnreadableRollouts, err)
	}
	next, err := Encode(content, &s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e, _ := next.Lookup(path); e.Blob == nil {
		t.Error("it is gone")
	} else if data, err := e.Blob.Bytes(); err != nil || string(data) != "<<<<<<< ours" {
		t.Errorf("it says %q; %v", data, err)
	}
}
