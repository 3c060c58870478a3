package registration_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/registration"
)

func TestUnjoin(t *testing.T) {
	const one = "# Europe\n" + head + "spec: {syncMode: Push}\n"
	const other = "# a map\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	const item = "- apiVersion: cluster.karmada.io/v1alpha1\n  kind: Cluster\n  metadata: {name: eu-1}\n"
	tests := []struct{ name, before, after string }{
		{"the first document", one + "---\n" + other, other},
		{"the first document behind a marker", "---\n" + one + "---\n" + other, "---\n" + other},
		{"the last document", other + "---\n" + one, other},
		{"the last document, which ends without a line break", other + "---\n" + strings.TrimSuffix(one, "\n"), strings.TrimSuffix(other, "\n")},
		{"one in between", other + "---\n" + one + "---\n" + strings.ReplaceAll(other, "name: a", "name: b"), other + "---\n" + strings.ReplaceAll(other, "name: a", "name: b")},
		{"one that a marker ends", one + "...\n---\n" + other, "...\n---\n" + other},
		{"an item of a List", "apiVersion: v1\nkind: List\nitems:\n" + item + strings.ReplaceAll(item, "eu-1", "us-1"), "apiVersion: v1\nkind: List\nitems:\n" + strings.ReplaceAll(item, "eu-1", "us-1")},
		{"the only item of a List", "apiVersion: v1\nkind: List\nitems:\n" + item + "---\n" + other, "apiVersion: v1\nkind: List\nitems:\n---\n" + other},
		{"beside what is no manifest", one + "---\na: b\n", "a: b\n"},
		{"beside what cannot be read", one + "---\na: [\n", "a: [\n"},
		{"alone", one, ""},
		{"alone, with comments", "# ours\n---\n" + one + "---\n# that was all\n", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			after, err := registration.Unjoin(at, []byte(test.before), "eu-1")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.after, string(after)); diff != "" || test.after == "" && after != nil {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnjoinLeavesToAPerson(t *testing.T) {
	const text = "apiVersion: v1\nkind: List\nitems: [{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: eu-1}}, {apiVersion: v1, kind: Namespace, metadata: {name: a}}]\n"
	after, err := registration.Unjoin(at, []byte(text), "eu-1")
	if err == nil || err.Error() != "clusters.yaml:1: Cluster eu-1 is written in a way that is not edited here; remove it by hand" {
		t.Errorf("the error is %v; the text became\n%s", err, after)
	}
}
