package virtual_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
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
}
