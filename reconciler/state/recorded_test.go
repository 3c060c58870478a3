package state_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/sourceerrors"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// ref reads "[GROUP/]KIND NAMESPACE/NAME".
func ref(text string) (r object.Ref) {
	kind, name, _ := strings.Cut(text, " ")
	if group, rest, ok := strings.Cut(kind, "/"); ok {
		r.Group, kind = group, rest
	}
	r.Kind = kind
	r.Namespace, r.Name, _ = strings.Cut(name, "/")
	return r
}

// bindings are those of objects, of which nothing is decided.
func bindings(refs ...string) (all []*karmada.ResourceBinding) {
	for _, text := range refs {
		r := ref(text)
		version := "v1"
		if r.Group != "" {
			version = r.Group + "/v1"
		}
		all = append(all, state.NewBinding(version, r))
	}
	return all
}

// TestWhereBindingsAreWritten: what has no namespace stands in a folder of its own, and names that Karmada makes equal stand apart. Each is
// read again as what it is.
func TestWhereBindingsAreWritten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		refs, want []string
	}{
		{[]string{"Namespace /shop", "rbac.authorization.k8s.io/ClusterRole /web"}, []string{
			"_cluster/shop-namespace.yaml", "_cluster/web-clusterrole.yaml",
		}},
		{[]string{"Service shop/web", "serving.knative.dev/Service shop/web"}, []string{
			"shop/web-service.serving.knative.dev.yaml", "shop/web-service.yaml",
		}},
		{[]string{"a/Role shop/x:y", "a/Role shop/x.y", "a/Role shop/X.y", "a/Role shop/x:Y"}, []string{
			"shop/x.y-role.a-2-2.yaml", "shop/x.y-role.a-2.yaml", "shop/x.y-role.a.yaml", "shop/x.y-role.yaml",
		}},
	} {
		root, err := state.Encode(state.Content{Bindings: bindings(tt.refs...)}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for path := range root.All() {
			if path, ok := strings.CutPrefix(path, "bindings/"); ok {
				paths = append(paths, path)
			}
		}
		slices.Sort(paths)
		if diff := cmp.Diff(tt.want, paths); diff != "" {
			t.Error(diff)
		}
		s, err := state.Decode(root, nil)
		if err != nil || len(s.Unreadable) > 0 {
			t.Fatalf("unreadable are %v; %v", s.Unreadable, err)
		}
		want := map[object.Ref]string{}
		for _, text := range tt.refs {
			want[ref(text)] = map[bool]string{true: "ClusterResourceBinding", false: "ResourceBinding"}[ref(text).Namespace == ""]
		}
		is := map[object.Ref]string{}
		for r, b := range s.Bindings {
			is[r] = b.Kind
		}
		if diff := cmp.Diff(want, is); diff != "" {
			t.Error(diff)
		}
	}
}

// TestWhichPolicyABindingRecords: a policy of either kind, or the MultiClusterService that takes its place; and what it says of suspension
// and of conflicts, where nobody else said it before.
func TestWhichPolicyABindingRecords(t *testing.T) {
	t.Parallel()
	yes, overwrites := true, karmada.PropagationSpec{ConflictResolution: karmada.ConflictOverwrite}
	suspended := karmada.PropagationSpec{Suspension: &karmada.Suspension{Dispatching: &yes}}
	const alone = " true; owned false; suspended false; "
	for _, tt := range []struct {
		kind, namespace string
		spec            karmada.PropagationSpec
		before          karmada.ConflictResolution
		want            string
	}{
		{"PropagationPolicy", "shop", karmada.PropagationSpec{}, "", "PropagationPolicy shop/p; shop/p" + alone},
		{"ClusterPropagationPolicy", "", overwrites, "", "ClusterPropagationPolicy p; /p" + alone + "Overwrite"},
		{"ClusterPropagationPolicy", "", overwrites, karmada.ConflictAbort, "ClusterPropagationPolicy p; /p" + alone + "Abort"},
		{"MultiClusterService", "shop", suspended, "", "MultiClusterService shop/p; / false; owned true; suspended true; "},
	} {
		b := bindings("Service shop/web")[0]
		b.Spec.ConflictResolution = tt.before
		text := fmt.Appendf(nil, "apiVersion: x/v1\nkind: %s\nmetadata: {name: p, namespace: %q}\n", tt.kind, tt.namespace)
		policy := object.Decode("p.yaml", text).Objects[0]
		state.RecordPolicy(b, &policies.Propagation{Object: policy, Spec: &tt.spec}, "{}")
		namespace, name, ok := state.PolicyRef(b)
		isSuspended := b.Spec.Suspension != nil && *b.Spec.Suspension.Dispatching
		got := fmt.Sprintf(
			"%s; %s/%s %t; owned %t; suspended %t; %s", state.PolicyOf(b), namespace, name, ok, state.IsOwned(b), isSuspended, b.Spec.ConflictResolution,
		)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// TestWhatIsLeftIsListedByObject, in the order of clusters: what a binding says, and what is kept, or waits, without one.
func TestWhatIsLeftIsListedByObject(t *testing.T) {
	t.Parallel()
	c := state.Content{Bindings: bindings("ConfigMap shop/a"), Left: map[object.Ref]groups.By[state.Left]{}}
	for _, name := range []string{"ap", "eu", "us"} {
		c.Clusters = append(c.Clusters, policies.Cluster{})
		c.Clusters[len(c.Clusters)-1].Spec.Name = name
	}
	leave := func(r string, all map[int]state.Left) {
		var by groups.Builder[state.Left]
		for _, i := range slices.Sorted(maps.Keys(all)) {
			by.Add(i, all[i])
		}
		c.Left[ref(r)] = by.By()
	}
	held, nowhere := state.Left{Kept: true, Reason: reason.Held}, state.Left{Reason: reason.Nowhere}
	leave("ConfigMap shop/a", map[int]state.Left{0: nowhere, 2: held})
	leave("Namespace /shop", map[int]state.Left{0: nowhere, 1: {Kept: true, Reason: reason.Held}, 2: nowhere})
	root, err := state.Encode(c, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := state.Decode(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[object.Ref][]state.LeftIn{
		ref("ConfigMap shop/a"): {{Left: nowhere, Cluster: "ap"}, {Left: held, Cluster: "us"}},
		ref("Namespace /shop"):  {{Left: nowhere, Cluster: "ap"}, {Left: state.Left{Kept: true}, Cluster: "eu"}, {Left: nowhere, Cluster: "us"}},
	}, s.Left()); diff != "" {
		t.Error(diff)
	}
}

// TestWhatWasObservedOfOneCluster is read alone: a file that is too large, of another cluster, or that cannot be read, is an error.
func TestWhatWasObservedOfOneCluster(t *testing.T) {
	t.Parallel()
	root, err := state.Observe(files.NewFolder(nil), map[string]*karmada.ClusterStatus{"eu": {KubernetesVersion: "v1.35.0"}})
	if err != nil {
		t.Fatal(err)
	}
	e, _ := root.Lookup("observed/eu.yaml")
	data, err := e.Blob.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	tree := twin.Of(root)
	tree["observed/us.yaml"], tree["observed/ap.yaml"], tree["observed/me.yaml/x"] = twin.File(data), twin.File([]byte("{")), twin.File(data)
	for _, tt := range []struct {
		cluster string
		most    int
		want    string
	}{
		{"eu", len(data), "v1.35.0"},
		{"eu", len(data) - 1, fmt.Sprintf("observed/eu.yaml: it has %d bytes; want at most %d", len(data), len(data)-1)},
		{"us", len(data), `observed/us.yaml: it is that of the cluster "eu"`},
		{"none", len(data), "nothing"},
		{"me", len(data), "nothing"},
		{"ap", len(data), "observed/ap.yaml: "},
	} {
		is, err := state.ObservedOf(tree.Folder(), tt.cluster, tt.most)
		got := "nothing"
		switch {
		case err != nil:
			got = err.Error()
		case is != nil:
			got = is.KubernetesVersion
		}
		if got != tt.want && (tt.cluster != "ap" || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("of %s, of at most %d bytes: %s; want %s", tt.cluster, tt.most, got, tt.want)
		}
	}
	if all := state.Observed(tree.Folder()); len(all) != 1 || all["eu"] == nil {
		t.Errorf("of all it is %v", all)
	}
}

// TestErrorsOfTheSourceAreRead as they were written. A file that cannot be read is one, on a line that is not too long.
func TestErrorsOfTheSourceAreRead(t *testing.T) {
	t.Parallel()
	want := sourceerrors.Of([]diag.Diagnostic{{Code: "a", Severity: diag.Error, Message: "no"}}, "c1", time.Unix(0, 0), sourceerrors.Record{})
	root, err := state.Encode(state.Content{SourceErrors: want}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, state.SourceErrors(root)); diff != "" {
		t.Error(diff)
	}
	for _, none := range []*files.Folder{files.NewFolder(nil), twin.Tree{sourceerrors.File + "/x": twin.File(nil)}.Folder()} {
		if is := state.SourceErrors(none); len(is.Errors) > 0 {
			t.Errorf("where there are none there are %+v", is)
		}
	}
	long := twin.Tree{sourceerrors.File: twin.File([]byte(`{"errors": [{"since": "` + strings.Repeat("ä", 300) + `"}]}`))}
	is := state.SourceErrors(long.Folder())
	if len(is.Errors) != 1 || is.Errors[0].Code != diag.StateUnreadable || is.Errors[0].Hint == "" {
		t.Fatalf("one that cannot be read is %+v", is)
	}
	message, isCut := strings.CutSuffix(is.Errors[0].Message, "...")
	if _, text, _ := strings.Cut(message, ": "); !isCut || len(text) < 198 || len(text) > 200 || strings.Contains(text, "\uFFFD") {
		t.Errorf("of that it says %q", is.Errors[0].Message)
	}
}

// TestTermsSayWhatIsExchanged only where endpoints are; and what is read of them anew is what they were.
func TestTermsSayWhatIsExchanged(t *testing.T) {
	t.Parallel()
	config := render.DefaultConfig()
	config.Services.Endpoints = exchange.Apply
	if terms := state.TermsOf(&config); terms.Services != config.Services {
		t.Errorf("where endpoints are the terms are %+v", terms.Services)
	}
	config.Services.Endpoints, config.Health.Prefer = exchange.Off, render.HealthBoth
	if terms := state.TermsOf(&config); terms.Services != (exchange.Services{}) || terms.Health.Prefer != "" {
		t.Errorf("where they are not the terms are %+v, %+v", terms.Services, terms.Health)
	}
	for text, want := range map[string]string{"{": "reading apply.json of ", `{"branch": "fleet"}`: "fleet"} {
		terms, err := state.ReadTerms(twin.Tree{"apply.json": twin.File([]byte(text))}.Folder())
		if got := terms.Addresses().Shared; err == nil && got != want || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s is read as %+v, %v", text, terms, err)
		}
	}
}

// TestReleasesAreInTheirOrder: by cluster, then by what they are, whatever the order of their files.
func TestReleasesAreInTheirOrder(t *testing.T) {
	t.Parallel()
	ids := []state.ReleaseID{
		{Release: ref("a/HelmRelease shop/b")}, {Release: ref("a/HelmRelease shop/c")}, {
			Cluster: "eu", Release: ref("a/HelmRelease shop/a"),
		}, {Cluster: "us", Release: ref("a/HelmRelease shop/a")},
	}
	mixed := slices.Clone(ids)
	slices.Reverse(mixed)
	slices.SortFunc(mixed, state.ReleaseID.Compare)
	if diff := cmp.Diff(ids, mixed); diff != "" {
		t.Error(diff)
	}
	var releases []state.Release
	for _, id := range ids {
		releases = append(releases, state.Release{Cluster: id.Cluster, Release: id.Release, Objects: []object.Ref{ref("ConfigMap shop/x")}})
	}
	releases = append(releases, state.Release{Release: ref("a/ClusterRelease /all"), Objects: []object.Ref{ref("ConfigMap shop/y")}})
	root, err := state.Encode(state.Content{Releases: releases}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := root.Lookup(state.ReleasesFolder + "/_cluster/all-clusterrelease.json"); !ok {
		t.Error("a release without a namespace stands elsewhere")
	}
	s, err := state.Decode(root, nil)
	if err != nil || len(s.Releases) != len(releases) {
		t.Errorf("%d releases are read as %d; %v", len(releases), len(s.Releases), err)
	}
}
