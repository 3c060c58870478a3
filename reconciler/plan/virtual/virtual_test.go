package virtual_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/virtual"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// fleet makes clusters of words: "host", or "v=host/suffix" for a virtual one.
func fleet(t *testing.T, text string) *index.Policies {
	t.Helper()
	var b strings.Builder
	for word := range strings.FieldsSeq(text) {
		name, of, isVirtual := strings.Cut(word, "=")
		annotations := ""
		if isVirtual {
			host, suffix, _ := strings.Cut(of, "/")
			annotations = fmt.Sprintf(", annotations: {waybill.dev/virtual-of: %s, waybill.dev/namespace-suffix: -%s}", host, suffix)
		}
		fmt.Fprintf(&b, "---\napiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: %s%s}\nspec: {syncMode: Pull}\n", name, annotations)
	}
	set, _, diags := policies.Load(object.Decode("all.yaml", []byte(b.String())).Objects, nil)
	p := index.Of(set, nil, &index.Memo{})
	if p.Virtual == nil {
		t.Fatal("no cluster is virtual", diags)
	}
	return p
}

// rows makes rows of "KIND/NAMESPACE/NAME CLUSTER:BLOB[!]...", in which ! is a suspended cluster.
func rows(lines ...string) (all []manifest.Row) {
	for _, line := range lines {
		f := strings.Fields(line)
		part := strings.Split(f[0], "/")
		row := manifest.Row{Ref: object.Ref{Kind: part[0], Namespace: part[1], Name: part[2]}}
		for _, word := range f[1:] {
			var w manifest.Want
			if _, err := fmt.Sscanf(strings.TrimSuffix(word, "!"), "%d:%d", &w.Cluster, &w.Blob); err != nil {
				panic(err)
			}
			if row.Wants = append(row.Wants, w); strings.HasSuffix(word, "!") {
				row.Block(int(w.Cluster), reason.Suspended)
			}
		}
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b manifest.Row) int { return a.Ref.Compare(b.Ref) })
	return all
}

func summary(rows []manifest.Row) string {
	var all []string
	for _, r := range rows {
		var line strings.Builder
		line.WriteString(r.Ref.Kind + "/" + r.Ref.Name)
		for i := range int32(4) {
			if w, ok := r.Wanted(int(i)); ok {
				fmt.Fprintf(&line, " %d:%d", i, w.Blob)
			}
			if why := r.Blocked(int(i)); why != "" {
				fmt.Fprintf(&line, " %d!%s", i, why)
			}
		}
		all = append(all, line.String())
	}
	return strings.Join(all, "; ")
}

func TestSettle(t *testing.T) {
	const two = "host v=host/one w=host/two" // 0, 1, 2
	for _, tt := range []struct {
		name, fleet string
		rows        []string
		want        string
		said        []diag.Code
	}{
		{"what has a namespace stays as it is", two, []string{"ConfigMap/a/x 1:5 2:6", "Namespace//a 1:1 2:2"}, "Namespace/a 1:1 2:2; ConfigMap/x 1:5 2:6", nil},
		{"what has none goes to the host", two, []string{"ClusterRole//x 1:5 2:5"}, "ClusterRole/x 0:5", nil},
		{"it is wanted in two forms", two, []string{"ClusterRole//x 1:5 2:6"}, "ClusterRole/x 0:-1 0!VirtualClustersDiffer", []diag.Code{diag.NotShared}},
		{"it is suspended in one", two, []string{"ClusterRole//x 1:5 2:-1!"}, "ClusterRole/x 0:-1 0!DispatchingSuspended 2!DispatchingSuspended", nil},
		{"no Namespace is sent along", two, []string{"ConfigMap/a/x 1:5"}, "ConfigMap/x 1:5", []diag.Code{diag.NamespaceMissing}},
		{
			"two have one namespace", "host v=host/one w=host/two",
			[]string{"ConfigMap/a-one/x 0:5", "ConfigMap/a/x 1:6", "Namespace//a 1:1", "Namespace//a-one 0:2"},
			"Namespace/a 1:-1 1!NamespaceClash; Namespace/a-one 0:2; ConfigMap/x 1:-1 1!NamespaceClash; ConfigMap/x 0:5",
			[]diag.Code{diag.NamespaceClash},
		},
		{
			"what is elsewhere than where two clash stays", two,
			[]string{"ConfigMap/a-one/x 0:5", "ConfigMap/a/x 1:6 2:6", "Namespace//a 1:1 2:2", "Namespace//a-one 0:2", "ConfigMap/b/y 1:7", "Namespace//b 1:3"},
			"Namespace/a 1:-1 1!NamespaceClash 2:2; Namespace/a-one 0:2; Namespace/b 1:3; ConfigMap/x 1:-1 1!NamespaceClash 2:6; ConfigMap/x 0:5; ConfigMap/y 1:7",
			[]diag.Code{diag.NamespaceClash},
		},
		{"one cannot be made in the first", two, []string{"ClusterRole//x 1:-1! 2:5"}, "ClusterRole/x 0:-1 0!DispatchingSuspended 1!DispatchingSuspended", nil},
		{"it is not known in the first", two, []string{"ClusterRole//x 1:-1 2:5"}, "ClusterRole/x 0:-1", nil},
		{"it is not known in the last", two, []string{"ClusterRole//x 1:5 2:-1"}, "ClusterRole/x 0:-1", nil},
		{"the host is not asked", "host other v=host/one", []string{"ClusterRole//x 1:5"}, "ClusterRole/x 1:5", nil},
		{"one of two hosts is not known, and the other one wants it", "host v=gone/one w=host/two", []string{"ClusterRole//x 1:5 2:5"}, "ClusterRole/x 0:5", nil},
		{"the cluster's own namespace is there", two, []string{"ConfigMap/kube-system/x 1:5"}, "ConfigMap/x 1:5", nil},
		{"the default one of a virtual cluster is not", two, []string{"ConfigMap/default/x 1:5"}, "ConfigMap/x 1:5", []diag.Code{diag.NamespaceMissing}},
		{"a host is not known", "host v=gone/one", []string{"ClusterRole//x 1:5", "ConfigMap/a/x 1:6"}, "ClusterRole/x 0!VirtualClusterUnknown; ConfigMap/x 1:-1", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			given := rows(tt.rows...)
			before := summary(given)
			settled, diags := virtual.Settle(virtual.Input{Policies: fleet(t, tt.fleet), Rows: given, Namespaces: render.NamespacesUsed})
			if got := summary(settled); got != tt.want {
				t.Errorf("it wants %s\nwant     %s", got, tt.want)
			}
			var said []diag.Code
			for _, d := range diags {
				said = append(said, d.Code)
			}
			if !slices.Equal(said, tt.said) {
				t.Errorf("it says %v, want %v", said, tt.said)
			}
			if after := summary(given); after != before {
				t.Errorf("the rows that it was given were %s, and are %s", before, after)
			}
		})
	}
}

func TestStopped(t *testing.T) {
	if got := virtual.Stopped(fleet(t, "host v=host/one")); got != nil {
		t.Errorf("%v are stopped, and nothing is wrong", got)
	}
	if got := virtual.Stopped(fleet(t, "host v=gone/one w=host/one")); len(got) != 1 || got[1] != reason.NotMapped {
		t.Errorf("%v are stopped", got)
	}
	if got := virtual.Stopped(fleet(t, "host v=gone/one w=gone/one")); len(got) != 2 {
		t.Errorf("%v are stopped, and both have no host", got)
	}
}

// TestWhatIsSaid has what a person reads of virtual clusters, and where it says that it is.
func TestWhatIsSaid(t *testing.T) {
	for _, tt := range []struct {
		name, fleet string
		rows        []string
		want        string
	}{
		{
			"the host has the namespace of a virtual cluster", "host v=host/one",
			[]string{"ConfigMap/a-one/x 0:5", "ConfigMap/a/x 1:6", "Namespace//a 1:1"},
			"all.yaml:9: error: the namespace a of the cluster v and the namespace a-one of the cluster host would both be a-one on the API server of host [namespace-clash]",
		},
		{
			"the host comes last", "v=x/one x",
			[]string{"ConfigMap/a-one/x 1:5", "ConfigMap/a/x 0:6", "Namespace//a 0:1"},
			"all.yaml:4: error: the namespace a of the cluster v and the namespace a-one of the cluster x would both be a-one on the API server of x [namespace-clash]",
		},
		{
			"two virtual clusters have it", "host v=host/one w=host/x-one",
			[]string{"ConfigMap/a-x/x 1:6", "ConfigMap/a/x 2:6", "Namespace//a 2:1", "Namespace//a-x 1:1"},
			"all.yaml:9: error: the namespace a of the cluster w and the namespace a-x of the cluster v would both be a-x-one on the API server of host [namespace-clash]",
		},
		{
			"two lack it, and one does not use it", "host u=host/one v=host/two w=host/three",
			[]string{"ConfigMap/a/x 2:6 3:6"},
			"warning: the namespace a is used in v, w, where no Namespace is sent for it; on the API server it is a-two [namespace-missing]",
		},
		{
			"two want another form", "host v=host/one w=host/two",
			[]string{"ClusterRole//x 1:5 2:6"},
			"role.yaml:1: error: ClusterRole/x has no namespace, so that there is one of it on the API server of host, and v and w want it in two forms; it stays as it was published [not-shared]",
		},
	} {
		role := object.Decode("role.yaml", []byte("apiVersion: v1\nkind: ClusterRole\nmetadata: {name: x}\n")).Objects[0]
		_, diags := virtual.Settle(virtual.Input{
			Policies: fleet(t, tt.fleet), Rows: rows(tt.rows...), Namespaces: render.NamespacesUsed,
			Decisions: []schedule.Decision{{Template: &template.Template{Variant: template.Variant{Object: role}}}},
		})
		var said []string
		for _, d := range diags {
			line, _, _ := strings.Cut(d.String(), "\n")
			said = append(said, line)
		}
		if got := strings.Join(said, "\n"); got != tt.want {
			t.Errorf("%s: it says\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestNothingIsVirtual leaves rows as they are where no cluster is virtual, and asks for no namespace where none is sent along.
func TestNothingIsVirtual(t *testing.T) {
	given := rows("ConfigMap/a/x 0:5")
	if got, diags := virtual.Settle(virtual.Input{Policies: &index.Policies{}, Rows: given}); len(diags) > 0 || summary(got) != summary(given) {
		t.Errorf("it wants %s, and says %v", summary(got), diags)
	}
	in := virtual.Input{Policies: fleet(t, "host v=host/one"), Rows: rows("ConfigMap/a/x 1:5"), Namespaces: render.NamespacesNone}
	if _, diags := virtual.Settle(in); len(diags) > 0 {
		t.Errorf("it says %v, and whoever sends no Namespaces makes them otherwise", diags)
	}
}
