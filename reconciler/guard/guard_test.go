package guard

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// treeOf makes a tree of "KIND/NAME..."; a name that begins with "kept" is protected by its
// label.
func treeOf(t *testing.T, names string) *files.Folder {
	t.Helper()
	return treeBy(t, "", names)
}

// treeBy is treeOf for a branch that Flux syncs by a form.
func treeBy(t *testing.T, form, names string) *files.Folder {
	t.Helper()
	var ms []tree.Manifest
	for name := range strings.FieldsSeq(names) {
		kind, name, _ := strings.Cut(name, "/")
		namespace, labels := "a", ""
		if kind == "Namespace" {
			namespace = ""
		}
		if strings.HasPrefix(name, "kept") {
			labels = ", labels: {" + ProtectedLabel + ": Always}"
		}
		data := fmt.Sprintf("apiVersion: v1\nkind: %s\nmetadata: {name: %s, namespace: %q%s}\n", kind, name, namespace, labels)
		o := object.Decode("x.yaml", []byte(data)).Objects
		if len(o) != 1 {
			t.Fatalf("%s is no object", data)
		}
		ms = append(ms, tree.Manifest{Ref: o[0].Ref(), Blob: files.NewBlob(o[0].YAML())})
	}
	f, err := tree.NewBuilder().LayOut(ms).Tree(tree.Flux{Sync: syncBy(form)})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func syncBy(form string) (s fluxsync.Sync) {
	s.Form = form
	return s
}

func TestJudge(t *testing.T) {
	many := "ConfigMap/a ConfigMap/b ConfigMap/c ConfigMap/d ConfigMap/e"
	for _, tt := range []struct {
		name, before, after string
		edit                func(*Guard, *tree.Published)
		want                string // part of the reason; empty for no hold
	}{
		{"nothing changes", many, many, nil, ""},
		{"something comes", many, many + " ConfigMap/f", nil, ""},
		{"little goes", many, "ConfigMap/a ConfigMap/b ConfigMap/c", nil, ""},
		{"much goes", many, "ConfigMap/a ConfigMap/b", nil, "3 of 5 objects; the guard allows 2"},
		{"all goes", "ConfigMap/a", "", nil, "all it holds, 1 of 1"},
		{"all is replaced", "ConfigMap/a", "ConfigMap/b", nil, "all it holds, 1 of 1"},
		{"only Namespaces are left", "ConfigMap/a Namespace/a", "Namespace/a", nil, "all it holds"},
		{"a protected kind goes", many + " Namespace/a", many, nil, "Namespace/a, of a protected kind"},
		{"what is labelled goes with its template", "ConfigMap/a ConfigMap/kept", "ConfigMap/a", nil, "has the label"},
		{"what is labelled moves", "ConfigMap/a ConfigMap/kept", "ConfigMap/a", func(g *Guard, _ *tree.Published) {
			g.InSource = func(object.Ref) bool { return true }
		}, ""},
		{"nobody knows what is wanted, and nothing changes", many, many, func(g *Guard, _ *tree.Published) { g.HoldReason = "nobody knows" }, ""},
		{"only Namespaces are left, and the rest is elsewhere", "ConfigMap/a Namespace/a", "Namespace/a", func(g *Guard, _ *tree.Published) {
			g.Nowhere = func(object.Ref) bool { return false }
		}, ""},
		{"the last goes beside one that was approved", "ConfigMap/a ConfigMap/b", "", func(g *Guard, _ *tree.Published) {
			g.Nowhere = func(object.Ref) bool { return false }
			g.Approved = func(r object.Ref, _ string) bool { return r.Name == "a" }
		}, "it would lose all it holds, 1 of 2 objects"},
		{"all is replaced, also what is labelled", "ConfigMap/a ConfigMap/kept", "ConfigMap/b", nil, "it would lose all it holds, 2 of 2"},
		{"nobody knows what is wanted", many, many + " ConfigMap/f", func(g *Guard, _ *tree.Published) { g.HoldReason = "nobody knows" }, "nobody knows"},
		{"what goes may be in a release", many, "ConfigMap/a ConfigMap/b ConfigMap/c ConfigMap/d", func(g *Guard, _ *tree.Published) { g.ContentUnknown = true }, "cannot be rendered"},
		{"something comes, and more may be in a release", many, many + " ConfigMap/f", func(g *Guard, _ *tree.Published) { g.ContentUnknown = true }, ""},
		{"what placed it may be in a release", many, "ConfigMap/a ConfigMap/b ConfigMap/c ConfigMap/d", func(g *Guard, _ *tree.Published) {
			g.ContentUnknown, g.InSource = true, func(object.Ref) bool { return true }
		}, "cannot be rendered"},
		{"somebody edited the branch", many, many, func(_ *Guard, p *tree.Published) { p.Edited = true }, "edited"},
		{"somebody edited the branch, and little goes", many, "ConfigMap/a ConfigMap/b ConfigMap/c ConfigMap/d", func(_ *Guard, p *tree.Published) { p.Edited = true }, "edited files of the branch; publishing would undo that"},
		{"somebody else's branch", "", many, func(_ *Guard, p *tree.Published) {
			p.Built, p.Foreign = nil, map[string]files.Entry{"README": {}}
		}, "not written by Waybill"},
		{"files of others beside ours", many, many + " ConfigMap/f", func(_ *Guard, p *tree.Published) { p.Foreign = map[string]files.Entry{"README": {}} }, ""},
		{"a new cluster", "", many, func(_ *Guard, p *tree.Published) { p.Built = nil }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := Guard{
				Rules:    render.Guard{MaxRemoved: 2, MaxRemovedPercent: 20, Protect: []string{"Namespace"}},
				InSource: func(object.Ref) bool { return false }, Nowhere: func(object.Ref) bool { return true },
				Cause: func(r object.Ref, cluster string) string { return cluster + " loses " + r.Name },
			}
			p := tree.Published{Built: treeOf(t, tt.before)}
			if tt.edit != nil {
				tt.edit(&g, &p)
			}
			hold := g.Judge(Next{Cluster: "eu", Tree: treeOf(t, tt.after), Objects: len(strings.Fields(tt.after)), Flux: tree.Flux{Before: p}})
			switch {
			case hold == nil && tt.want == "":
			case hold == nil || tt.want == "" || !strings.Contains(hold.Reason, tt.want):
				t.Errorf("it is held: %+v, want %q", hold, tt.want)
			case strings.HasSuffix(tt.name, ", and little goes") && (len(hold.Removals) != 1 || hold.Removals[0].Object.Name != "e"):
				t.Errorf("it would lose %v", hold.Removals)
			}
		})
	}
}

// TestAnEditThatIsNoManifest is said like any other, also of what the cluster would lose.
func TestAnEditThatIsNoManifest(t *testing.T) {
	const path = "manifests/a/configmap/b.yaml"
	edited := tree.Overlay(treeOf(t, "ConfigMap/a"), map[string]files.Entry{path: files.FileEntry("b.yaml", files.NewBlob([]byte("hot: [")))})
	p := tree.Published{Built: edited, Edited: true, Edit: ": " + path}
	hold := (&Guard{}).Judge(Next{Cluster: "eu", Tree: treeOf(t, "ConfigMap/a"), Objects: 1, Flux: tree.Flux{Before: p}})
	if hold == nil || !strings.Contains(hold.Reason, "somebody else edited files of the branch: "+path) || len(hold.Removals) > 0 {
		t.Errorf("it is held: %+v", hold)
	}
	p.Edited = false
	hold = (&Guard{}).Judge(Next{Cluster: "eu", Tree: treeOf(t, "ConfigMap/a"), Objects: 1, Flux: tree.Flux{Before: p}})
	if hold == nil || !strings.HasPrefix(hold.Reason, "what the branch holds cannot be read: ") {
		t.Errorf("where nobody edited it, it is held: %+v", hold)
	}
}

// TestAnApprovalIsForClustersAndObjects: for each of its objects in each of its clusters, and for nothing else.
func TestAnApprovalIsForClustersAndObjects(t *testing.T) {
	a, b := object.Ref{Kind: "ConfigMap", Name: "a"}, object.Ref{Kind: "ConfigMap", Name: "b"}
	allowance := Allowance{Approved: []Approval{
		{By: "ann", PullRequest: 7, Removals: Removals{{Clusters: []string{"eu", "us"}, Objects: []object.Ref{a}}}},
		{By: "bob", PullRequest: 8, Removals: Removals{{Clusters: []string{"ap"}, Objects: []object.Ref{b}}}},
	}}
	for _, tt := range []struct {
		cluster string
		of      object.Ref
		want    bool
	}{{"eu", a, true}, {"us", a, true}, {"ap", b, true}, {"ap", a, false}, {"eu", b, false}, {"asia", a, false}} {
		if got := allowance.Approves(tt.of, tt.cluster); got != tt.want {
			t.Errorf("that %s loses %s is allowed: %t", tt.cluster, tt.of, got)
		}
	}
	if by := allowance.Approvers("ap"); len(by) != 1 || !strings.Contains(by[0], "bob") {
		t.Errorf("for ap it was %v", by)
	}
}

// TestWhatMayLeaveIsNotCounted: the label of what was approved, or moves, says nothing of what else leaves, and what else leaves
// is judged as if it left alone.
func TestWhatMayLeaveIsNotCounted(t *testing.T) {
	kept := object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "kept"}
	for of, want := range map[string]string{
		"ConfigMap/kept ConfigMap/b":             "",
		"ConfigMap/kept ConfigMap/b ConfigMap/c": "the guard allows 1",
		"ConfigMap/kept ConfigMap/kept-too":      "ConfigMap/a/kept-too, which has the label",
		"ConfigMap/kept":                         "",
	} {
		for name, g := range map[string]Guard{
			"approved": {Approved: func(r object.Ref, _ string) bool { return r == kept }},
			"moves":    {Moved: func(r object.Ref, _ string) bool { return r == kept }},
		} {
			g.Rules, g.Nowhere, g.Cause = render.Guard{MaxRemoved: 1}, func(object.Ref) bool { return false }, func(object.Ref, string) string { return "" }
			g.InSource = func(object.Ref) bool { return false }
			hold := g.Judge(Next{Cluster: "eu", Tree: treeOf(t, "ConfigMap/stays"), Objects: 1, Flux: tree.Flux{Before: tree.Published{Built: treeOf(t, of+" ConfigMap/stays")}}})
			if (hold == nil) != (want == "") || hold != nil && !strings.Contains(hold.Reason, want) {
				t.Errorf("of %s one is %s: it is held: %+v, want %q", of, name, hold, want)
			}
		}
	}
}

// TestAVirtualClusterIsJudgedByTemplates: what leaves it, and what is protected there, has other names on the API server.
func TestAVirtualClusterIsJudgedByTemplates(t *testing.T) {
	m := virtual.Of(&karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu", Annotations: map[string]string{karmada.VirtualOfAnnotation: "host", karmada.SuffixAnnotation: "-a"}}})
	kept, other := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "kept"}, object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "other"}
	var list []tree.Manifest
	for _, r := range []object.Ref{kept, other} {
		o := object.Decode("x.yaml", fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: shop-a, labels: {%s: Always}}\n", r.Name, ProtectedLabel)).Objects[0]
		list = append(list, tree.Manifest{Ref: o.Ref(), Blob: files.NewBlob(o.YAML())})
	}
	laid := func(list []tree.Manifest) *files.Folder {
		f, err := tree.NewBuilder().LayOut(list).Tree(tree.Flux{})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for name, tt := range map[string]struct {
		moves, approved bool
		want            string
	}{
		"its template is gone":             {want: "ConfigMap/shop/kept, which has the label"},
		"its template moves":               {moves: true},
		"that it leaves has been approved": {approved: true},
	} {
		g := Guard{
			Rules: render.Guard{MaxRemoved: 2}, Nowhere: func(object.Ref) bool { return false }, Cause: func(object.Ref, string) string { return "" },
			InSource: func(r object.Ref) bool { return r == other || tt.moves && r == kept },
			Approved: func(r object.Ref, _ string) bool { return tt.approved && r == kept },
		}
		hold := g.Judge(Next{Cluster: "eu", Tree: laid(list[1:]), Objects: 1, Flux: tree.Flux{Before: tree.Published{Built: laid(list)}}, Virtual: m})
		if (hold == nil) != (tt.want == "") || hold != nil && (!strings.Contains(hold.Reason, tt.want) || len(hold.Removals) != 1 || hold.Removals[0].Object != kept) {
			t.Errorf("%s: it is held: %+v, want %q", name, hold, tt.want)
		}
	}
}

// TestAHoldForTwoReasonsNamesWhatIsLost: that Flux would delete more does not hide it.
func TestAHoldForTwoReasonsNamesWhatIsLost(t *testing.T) {
	g := Guard{Rules: render.Guard{}, InSource: func(object.Ref) bool { return false }, Nowhere: func(object.Ref) bool { return false }, Cause: func(object.Ref, string) string { return "it left" }}
	before := tree.Published{Built: treeBy(t, fluxsync.FormSplit, "ConfigMap/a ConfigMap/b")}
	hold := g.Judge(Next{Cluster: "eu", Tree: treeBy(t, fluxsync.FormSingle, "ConfigMap/a"), Objects: 1, Flux: tree.Flux{Sync: syncBy(fluxsync.FormSingle), Before: before}})
	if hold == nil || !strings.Contains(hold.Reason, "the guard allows 0; and 1 object would go back to the root") {
		t.Fatalf("it is held: %+v", hold)
	}
	if len(hold.Removals) != 1 || hold.Removals[0].Object.Name != "b" {
		t.Errorf("it would lose %+v", hold.Removals)
	}
	hold = g.Judge(Next{Cluster: "eu", Tree: treeBy(t, fluxsync.FormSingle, "ConfigMap/a ConfigMap/b"), Objects: 2, Flux: tree.Flux{Sync: syncBy(fluxsync.FormSingle), Before: before}})
	if hold == nil || !strings.HasPrefix(hold.Reason, "2 objects would go back to the root") || len(hold.Removals) > 0 {
		t.Errorf("where nothing is lost, it is held: %+v", hold)
	}
}

// TestWhatAllowsRemovals: a digest that somebody names, or the trailer of a commit, unless comments are asked for.
func TestWhatAllowsRemovals(t *testing.T) {
	named := sources.Revision{Message: "remove it\n\nWaybill-Allow-Prune: 0123456789abcdef\n"}
	for name, tt := range map[string]struct {
		by     Allowance
		source sources.Revision
		want   bool
	}{
		"nobody":                       {Allowance{}, sources.Revision{}, false},
		"a trailer":                    {Allowance{}, named, true},
		"a trailer beside comments":    {Allowance{ByComment: true}, named, false},
		"by name beside comments":      {Allowance{ByComment: true, Named: "eu 0123456789abcdef"}, named, true},
		"everything by name":           {Allowance{ByComment: true, Named: AllowAll}, sources.Revision{}, true},
		"an approval of another one":   {Allowance{ByComment: true, Approved: []Approval{{Digest: "fedcba9876543210"}}}, named, false},
		"an approval in the old form":  {Allowance{ByComment: true, Approved: []Approval{{Digest: "0123456789abcdef"}}}, sources.Revision{}, true},
		"an approval without a digest": {Allowance{Approved: []Approval{{}}}, sources.Revision{}, false},
	} {
		if got := tt.by.Allows(tt.source, "0123456789abcdef"); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestADigestIsOfAllThatIsHeld: by the one of another tree, as that of another edit, or of other removals, nothing is allowed.
func TestADigestIsOfAllThatIsHeld(t *testing.T) {
	held := func(cluster, tree, lost string) Held {
		return Held{Cluster: cluster, Tree: files.Sum("tree", []byte(tree)), Hold: &Hold{Removals: []Removal{{Object: object.Ref{Kind: "ConfigMap", Name: lost}}}}}
	}
	one := held("eu", "one", "a")
	known := Digest([]Held{one})
	for name, tt := range map[string]struct {
		of   []Held
		same bool
	}{
		"the same":         {[]Held{held("eu", "one", "a")}, true},
		"another cluster":  {[]Held{held("us", "one", "a")}, false},
		"another tree":     {[]Held{held("eu", "two", "a")}, false},
		"another object":   {[]Held{held("eu", "one", "b")}, false},
		"one more cluster": {[]Held{one, held("us", "one", "a")}, false},
		"nothing":          {nil, false},
	} {
		if got := Digest(tt.of); (got == known) != tt.same || (got == "") != (len(tt.of) == 0) {
			t.Errorf("%s: %q, and it was %q", name, got, known)
		}
	}
}

// TestWhatHoldsData: a StatefulSet does where its volumes go with it, or where that cannot be told.
func TestWhatHoldsData(t *testing.T) {
	const set = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: x, namespace: a}\nspec: "
	stateful := object.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "a", Name: "x"}
	for _, tt := range []struct {
		name string
		of   object.Ref
		has  string // its manifest; empty: none
		want bool
	}{
		{"a ConfigMap", object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "x"}, "", false},
		{"a Namespace", object.Ref{Kind: "Namespace", Name: "x"}, "", true},
		{"a Namespace of another group", object.Ref{Group: "example.com", Kind: "Namespace", Name: "x"}, "", false},
		{"a claim", object.Ref{Kind: "PersistentVolumeClaim", Namespace: "a", Name: "x"}, "", true},
		{"a volume", object.Ref{Kind: "PersistentVolume", Name: "x"}, "", true},
		{"a definition", object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "x"}, "", true},
		{"volumes are deleted", stateful, set + "{persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}}\n", true},
		{"volumes are kept", stateful, set + "{persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain}}\n", false},
		{"volumes of replicas that go are deleted", stateful, set + "{persistentVolumeClaimRetentionPolicy: {whenScaled: Delete}}\n", false},
		{"it does not say", stateful, set + "{replicas: 1}\n", false},
		{"it cannot be read", stateful, set + "[", true},
		{"it is not there", stateful, "", false},
		{"a Deployment that says so", object.Ref{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "x"}, set + "{persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}}\n", false},
	} {
		var has *files.Blob
		switch o := object.Decode("x.yaml", []byte(tt.has)).Objects; {
		case len(o) == 1:
			has = files.NewBlob(o[0].YAML())
		case tt.has != "":
			has = files.NewBlob([]byte(tt.has))
		}
		if got := HoldsData(tt.of, has); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}
