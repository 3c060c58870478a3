package state

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// folderOf is a folder with texts at paths.
func folderOf(texts map[string]string) *files.Folder {
	f := files.NewFolder(nil)
	for path, text := range texts {
		f = with(f, path, files.NewBlob([]byte(text)))
	}
	return f
}

var webRef = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}

// A state of before there was a number has files of its own for what is held and what was last good, which are no files of a later one; a form
// that is of later stops everything.
func TestTheFormOfBeforeIsRead(t *testing.T) {
	texts := map[string]string{
		"held.json": `{"eu": "it would lose much"}`, "hidden.json": `{"ConfigMap/shop/a": "a.yaml"}`, "last-good.json": `{"a.yaml": "c0ffee"}`,
		"bindings/shop/web-deployment.yaml": "apiVersion: work.karmada.io/v1alpha2\nkind: ResourceBinding\nmetadata: {name: web-deployment, namespace: shop, annotations: {waybill.dev/missing-in: us, a: b}}\n" +
			"spec: {resource: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: web}}\n",
	}
	s, err := Decode(folderOf(texts), nil)
	if err != nil || len(s.Unreadable) > 0 {
		t.Fatalf("%v, %v", err, s.Unreadable)
	}
	if c := s.Held["eu"]; c.Message != "it would lose much" || c.Status != metav1.ConditionTrue || c.Type != HeldCondition {
		t.Errorf("eu is held: %+v", c)
	}
	if want := (LastGood{Broken: map[string]Part{"a.yaml": {Commit: "c0ffee"}}, Also: map[string][]string{"ConfigMap/shop/a": {"a.yaml"}}}); !cmp.Equal(s.LastGood, want) {
		t.Errorf("last good was %+v", s.LastGood)
	}
	if b := s.Bindings[webRef]; b == nil || !maps.Equal(b.Annotations, map[string]string{"a": "b"}) {
		t.Errorf("the binding is %+v", b)
	}
	broken := maps.Clone(texts)
	broken["hidden.json"] = "{"
	if _, err := Decode(folderOf(broken), nil); err == nil || !strings.Contains(err.Error(), "hidden.json cannot be read, and nothing can be done without it") {
		t.Errorf("what is hidden cannot be read: %v", err)
	}
	later := maps.Clone(texts)
	later["format"], later["last-good.json"] = format+"\n", `{"objects": []}`
	if s, err = Decode(folderOf(later), nil); err != nil || len(s.Held) > 0 || len(s.LastGood.Also) > 0 {
		t.Errorf("of a later form it is %+v, %+v, %v", s.Held, s.LastGood, err)
	}
	later["format"] = "9\n"
	if _, err = Decode(folderOf(later), nil); err == nil || !strings.Contains(err.Error(), `it is written in form "9"`) {
		t.Errorf("of a form that is of later: %v", err)
	}
}

// Why a template waits is recorded with since when, as long as it waits for the same; what is over in seconds is not.
func TestWhyATemplateWaitsIsRecorded(t *testing.T) {
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) metav1.Time { return metav1.NewTime(noon.Add(time.Duration(minutes) * time.Minute)) }
	record := func(before *karmada.ResourceBinding, w Waits, now metav1.Time) *karmada.ResourceBinding {
		b := binding(webRef, "apps/v1")
		RecordWaits(b, before, w, now)
		return b
	}
	first := record(nil, WaitsForPlace, at(0))
	for name, tt := range map[string]struct {
		b     *karmada.ResourceBinding
		want  Waits
		since metav1.Time
	}{
		"at first":             {first, WaitsForPlace, at(0)},
		"for the same":         {record(first, WaitsForPlace, at(5)), WaitsForPlace, at(0)},
		"for something else":   {record(first, WaitsForCopy, at(5)), WaitsForCopy, at(5)},
		"for nothing":          {record(first, "", at(5)), "", metav1.Time{}},
		"for seconds":          {record(first, WaitsForPace, at(5)), "", metav1.Time{}},
		"again":                {record(record(first, "", at(5)), WaitsForPlace, at(9)), WaitsForPlace, at(9)},
		"nothing was recorded": {nil, "", metav1.Time{}},
	} {
		if is := WaitsOf(tt.b); is != tt.want {
			t.Errorf("%s: it waits: %q, want %q", name, is, tt.want)
		}
		if tt.b == nil {
			continue
		}
		if c, ok := Scheduled(tt.b); !ok || c.Reason != "Success" {
			t.Errorf("%s: how it was placed is %+v", name, c)
		}
		if n := len(tt.b.Status.Conditions) - 1; tt.want != "" && (!tt.b.Status.Conditions[n].LastTransitionTime.Time.Equal(tt.since.Time) || tt.b.Status.Conditions[n].Message == "") {
			t.Errorf("%s: it waits by %+v, want it since %s", name, tt.b.Status.Conditions[n], tt.since)
		}
	}
	gone := binding(webRef, "apps/v1")
	if WaitsForGone(gone) {
		t.Error("it waits for an old copy to be gone")
	}
	gone.Status.AggregatedStatus = []karmada.AggregatedStatusItem{{ClusterName: "eu", Reason: "OverrideFails"}, {ClusterName: "us", Reason: string(reason.NotGone)}}
	if !WaitsForGone(gone) {
		t.Error("it waits for no old copy to be gone")
	}
}

// What one binding says as another does, and what of it that is.
func TestWhatBindingsSayAlike(t *testing.T) {
	one := binding(webRef, "apps/v1")
	one.Annotations[placementAnnotation] = "{}"
	edited := func(edit func(*karmada.ResourceBinding)) *karmada.ResourceBinding {
		b := binding(webRef, "apps/v1")
		b.Annotations[placementAnnotation] = "{}"
		edit(b)
		return b
	}
	for name, tt := range map[string]struct {
		b                     *karmada.ResourceBinding
		same, decision, alike bool
	}{
		"the same": {one, true, true, true},
		"a copy":   {edited(func(*karmada.ResourceBinding) {}), true, true, true},
		"what clusters say": {edited(func(b *karmada.ResourceBinding) {
			b.Status.AggregatedStatus = []karmada.AggregatedStatusItem{{ClusterName: "eu-1"}}
		}), false, true, true},
		"other replicas of a cluster": {edited(func(b *karmada.ResourceBinding) { b.Spec.Clusters[0].Replicas++ }), false, false, false},
		"other replicas":              {edited(func(b *karmada.ResourceBinding) { b.Spec.Replicas++ }), false, false, false},
		"another placement":           {edited(func(b *karmada.ResourceBinding) { b.Annotations[placementAnnotation] = `{"x": 1}` }), false, false, false},
		"another note":                {edited(func(b *karmada.ResourceBinding) { b.Annotations["n"] = "m" }), false, false, true},
		"it was not placed":           {edited(func(b *karmada.ResourceBinding) { b.Status.Conditions[0].Status = metav1.ConditionFalse }), false, false, false},
	} {
		if Same(one, tt.b) != tt.same || SameDecision(one, tt.b) != tt.decision || PlacedAlike(one, tt.b) != tt.alike || PlacedAlike(tt.b, one) != tt.alike {
			t.Errorf("%s: it says the same: %t, decides it: %t, places it alike: %t and %t", name, Same(one, tt.b), SameDecision(one, tt.b), PlacedAlike(one, tt.b), PlacedAlike(tt.b, one))
		}
	}
	if PlacedAlike(nil, one) || PlacedAlike(one, nil) || PlacedAlike(nil, nil) {
		t.Error("what there is none of is placed alike")
	}
	unplaced := edited(func(b *karmada.ResourceBinding) { b.Status.Conditions = nil })
	placed := AsPlacedBy(*unplaced, "p")
	if !PlacedBy(placed, "p") || DecidedBy(unplaced, "p") || Placed(unplaced) {
		t.Errorf("it is placed by %+v, and was by %+v", placed.Annotations, unplaced.Annotations)
	}
	if c, _ := Scheduled(AsPlacedBy(*one, "p")); c.Message != "ok" {
		t.Errorf("what was placed is placed by %+v", c)
	}
	owned := edited(func(b *karmada.ResourceBinding) {
		b.Annotations[exposureNamespace], b.Annotations[exposureName] = "shop", "web"
	})
	if IsOwned(one) || !IsOwned(owned) || PolicyOf(owned) != "MultiClusterService shop/web" {
		t.Errorf("it is owned: %t, by %q", IsOwned(owned), PolicyOf(owned))
	}
	if _, _, ok := PolicyRef(owned); ok {
		t.Error("a MultiClusterService is a policy")
	}
}

// The files of bindings are found by the name of a template, whatever its group, also where a folder is divided.
func TestFilesOfBindings(t *testing.T) {
	paths := []string{"bindings/shop/web-deployment.yaml", "bindings/shop/web-deployment.example.com.yaml", "bindings/shop/web2-deployment.yaml", "bindings/_cluster/web-deployment.yaml"}
	sharded := "bindings/shop/" + shardOf("api-deployment.yaml") + "/api-deployment.yaml"
	texts := map[string]string{"published.json": "{}", "releases/shop/web-deployment.yaml": "x", sharded: "x"}
	for _, p := range paths {
		texts[p] = "x"
	}
	root := folderOf(texts)
	found := slices.Sorted(maps.Keys(maps.Collect(BindingFiles(root))))
	if want := slices.Sorted(slices.Values(append(slices.Clone(paths), sharded))); !slices.Equal(found, want) {
		t.Errorf("there are %q, want %q", found, want)
	}
	for r, want := range map[object.Ref][]string{
		webRef: {paths[1], paths[0]}, {Kind: "Deployment", Namespace: "shop", Name: "api"}: {sharded}, {Kind: "Deployment", Name: "web"}: {paths[3]},
		{Kind: "Deployment", Namespace: "blog", Name: "web"}: nil,
	} {
		if found := slices.Sorted(maps.Keys(maps.Collect(BindingsNamed(root, r)))); !slices.Equal(found, want) {
			t.Errorf("of %s there are %q, want %q", r, found, want)
		}
	}
	for range BindingsNamed(root, webRef) {
		break // whoever has found enough
	}
	if !IsBindingFile(paths[0]) || IsBindingFile("bindings") || IsBindingFile("releases/shop/web-deployment.yaml") {
		t.Error("what is a file of a binding is another one")
	}
	rendered := Rendered(folderOf(map[string]string{
		"releases/shop/a-helmrelease.json": `{"objects": [{"kind": "ConfigMap", "namespace": "shop", "name": "a"}]}`, "releases/shop/b-helmrelease.json": "{",
	}))
	if want := map[object.Ref]bool{{Kind: "ConfigMap", Namespace: "shop", Name: "a"}: true}; !maps.Equal(rendered, want) || len(Rendered(root)) > 0 {
		t.Errorf("rendered are %v", rendered)
	}
}

// What whoever reads a part of a state is told, and that a part that cannot be read is an error.
func TestPartsOfAState(t *testing.T) {
	root := folderOf(map[string]string{
		"clusters/eu.yaml":       "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nstatus: {conditions: [{type: Ready, status: 'True', message: x}, {type: " + HeldCondition + ", status: 'True', message: it is much}]}\n",
		"clusters/us.yaml":       "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: us}\nstatus: {conditions: [{type: " + HeldCondition + ", status: 'False', message: it was much}]}\n",
		"interpreters/mine.yaml": "apiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\nmetadata: {name: mine}\n",
		scriptsFile:              `{"configMap": "argocd/argocd-cm", "scripts": {"Thing": "return {}"}}`,
	})
	clusters, err := Clusters(root)
	if err != nil || len(clusters) != 2 || HeldBy(clusters[0]) != "it is much" || HeldBy(clusters[1]) != "" {
		t.Errorf("the clusters are %+v, %v", clusters, err)
	}
	custom, err := Interpreters(root)
	if err != nil || len(custom) != 1 || custom[0].Name != "mine" {
		t.Errorf("customizations are %+v, %v", custom, err)
	}
	scripts, err := HealthScripts(root)
	if err != nil || scripts == nil || scripts.ConfigMap != "argocd/argocd-cm" || scripts.ByKind["Thing"] == "" {
		t.Errorf("scripts are %+v, %v", scripts, err)
	}
	if none, err := HealthScripts(files.NewFolder(nil)); none != nil || err != nil {
		t.Errorf("where there are none scripts are %+v, %v", none, err)
	}
	s, err := Decode(root, nil)
	if held := slices.Sorted(maps.Keys(s.Held)); !slices.Equal(held, []string{"eu"}) || s.Held["eu"].Message != "it is much" {
		t.Errorf("held are %+v", s.Held)
	}
	if err != nil || IsNew(&s, "eu") || !IsNew(&s, "ap") || IsNew(&State{}, "ap") {
		t.Errorf("eu is new: %t, ap is: %t, %v", IsNew(&s, "eu"), IsNew(&s, "ap"), err)
	}
	for path, read := range map[string]func(*files.Folder) error{
		"clusters/ap.yaml": func(f *files.Folder) error { _, err := Clusters(f); return err }, "interpreters/x.yaml": func(f *files.Folder) error { _, err := Interpreters(f); return err },
		scriptsFile: func(f *files.Folder) error { _, err := HealthScripts(f); return err }, publishedFile: func(f *files.Folder) error { _, err := Published(f); return err },
		termsFile: func(f *files.Folder) error { _, err := ReadTerms(f); return err },
	} {
		if err := read(with(root, path, files.NewBlob([]byte("{[")))); err == nil || !strings.Contains(err.Error(), path+" of "+Branch) {
			t.Errorf("%s cannot be read: %v", path, err)
		}
	}
	for want, terms := range map[render.Addresses]Terms{{Prefix: "p/"}: {BranchPrefix: "p/"}, {Shared: "all"}: {BranchPrefix: "p/", Branch: "all"}} {
		if is := terms.Addresses(); is != want {
			t.Errorf("clusters are at %+v, want %+v", is, want)
		}
	}
}

// What was published is added to what a state says, of which it is no part.
func TestWhatWasPublished(t *testing.T) {
	content, err := Encode(Content{Bindings: []*karmada.ResourceBinding{binding(webRef, "apps/v1")}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	when := time.Date(2026, 11, 28, 13, 0, 0, 0, time.FixedZone("", 3600))
	root, err := WithPublication(content, Publication{Commit: "c0ffee", When: when})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Published(root)
	if err != nil || p.Commit != "c0ffee" || !p.When.Equal(when) || !p.Listed {
		t.Errorf("published was %+v, %v", p, err)
	}
	if none, err := Published(content); err != nil || none.Commit != "" {
		t.Errorf("of the older form it was %+v, %v", none, err)
	}
	s, err := Decode(root, nil)
	if err != nil || !s.Same(content) || s.Same(root) {
		t.Errorf("it says the same: %t, %v", s.Same(content), err)
	}
	older, err := Decode(content, nil)
	if err != nil || older.Same(content) {
		t.Error("a state that does not say what was passed over says the same")
	}
	for commit, listed := range map[string]bool{"": false, "c0ffee": true} {
		s := State{Commit: commit}
		if s.ReadUnlisted() != listed {
			t.Errorf("of commit %q it read what is not listed: %t", commit, !listed)
		}
		if s.Published.Listed = true; s.ReadUnlisted() {
			t.Errorf("of commit %q it read what is not listed, and said so", commit)
		}
	}
}
