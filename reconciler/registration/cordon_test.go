package registration_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/registration"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

const head = "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu-1}\n"

const taint = "{key: cluster.karmada.io/unschedulable, effect: NoSchedule}"

var at = diag.Pos{File: "clusters.yaml", Line: 1}

// TestCordon shows the text that a cordon adds to what is written so. Where back is set,
// uncordoning does not give the same text again, but that.
func TestCordon(t *testing.T) {
	const other = "---\n# another one\napiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: us-1}\nspec: {syncMode: Push} # x\n"
	tests := []struct{ name, before, after, back string }{
		{
			name:   "in block style, at the end of spec",
			before: "# ours\n" + head + "spec: # what we say\n  syncMode: Push\n  region: eu # Frankfurt\n\n# that was all\n",
			after:  "# ours\n" + head + "spec: # what we say\n  syncMode: Push\n  region: eu # Frankfurt\n  taints:\n    - key: cluster.karmada.io/unschedulable\n      effect: NoSchedule\n\n# that was all\n",
		},
		{
			name:   "beside a document",
			before: other + "---\n" + head + "spec:\n  syncMode: Push\n" + strings.ReplaceAll(other, "us-1", "us-2"),
			after:  other + "---\n" + head + "spec:\n  syncMode: Push\n  taints:\n    - key: cluster.karmada.io/unschedulable\n      effect: NoSchedule\n" + strings.ReplaceAll(other, "us-1", "us-2"),
		},
		{
			name:   "beside a document that cannot be read",
			before: "a: [\n---\n" + head + "spec: {syncMode: Push}\n",
			after:  "a: [\n---\n" + head + "spec: {syncMode: Push, taints: [" + taint + "]}\n",
		},
		{
			name:   "before another field of the Cluster",
			before: "spec:\n  syncMode: Push\n" + head,
			after:  "spec:\n  syncMode: Push\n  taints:\n    - key: cluster.karmada.io/unschedulable\n      effect: NoSchedule\n" + head,
		},
		{
			name:   "lists as the document has them",
			before: head + "spec:\n    zones:\n    - a\n    syncMode: Push",
			after:  head + "spec:\n    zones:\n    - a\n    syncMode: Push\n    taints:\n    - key: cluster.karmada.io/unschedulable\n      effect: NoSchedule",
		},
		{
			name:   "line ends of Windows",
			before: strings.ReplaceAll(head+"spec:\n  syncMode: Push\n", "\n", "\r\n"),
			after:  strings.ReplaceAll(head+"spec:\n  syncMode: Push\n  taints:\n    - key: cluster.karmada.io/unschedulable\n      effect: NoSchedule\n", "\n", "\r\n"),
		},
		{
			name:   "behind other taints",
			before: head + "spec:\n  taints:\n  # they have few nodes\n  - key: small # few\n    effect: NoSchedule\n  # the rest\n  syncMode: Push\n",
			after:  head + "spec:\n  taints:\n  # they have few nodes\n  - key: small # few\n    effect: NoSchedule\n  - key: cluster.karmada.io/unschedulable\n    effect: NoSchedule\n  # the rest\n  syncMode: Push\n",
		},
		{
			name:   "in flow style, with brackets in strings",
			before: head + `spec: {syncMode: Push, region: "}]", provider: 'a}' } # }` + "\n",
			after:  head + `spec: {syncMode: Push, region: "}]", provider: 'a}', taints: [` + taint + `] } # }` + "\n",
		},
		{
			name:   "in flow style, in several lines",
			before: head + "spec: {\n  syncMode: Push # by hand\n}\n",
			after:  head + "spec: {\n  syncMode: Push # by hand\n, taints: [" + taint + "]}\n",
			back:   head + "spec: {\n  syncMode: Push # by hand\n}\n",
		},
		{
			name:   "in flow style, behind others",
			before: head + "spec: {syncMode: Push, taints: [{key: é, effect: NoExecute}]}\n",
			after:  head + "spec: {syncMode: Push, taints: [{key: é, effect: NoExecute}, " + taint + "]}\n",
		},
		{
			name:   "an empty list",
			before: head + "spec:\n  taints: [] # none\n  syncMode: Push\n",
			after:  head + "spec:\n  taints: [" + taint + "] # none\n  syncMode: Push\n",
			back:   head + "spec:\n  syncMode: Push\n",
		},
		{
			name:   "no list",
			before: head + "spec:\n  taints: # none\n  syncMode: Push\n",
			after:  head + "spec:\n  taints: [" + taint + "] # none\n  syncMode: Push\n",
			back:   head + "spec:\n  syncMode: Push\n",
		},
		{
			name:   "null",
			before: head + "spec:\n  taints: null\n  syncMode: Push\n",
			after:  head + "spec:\n  taints: [" + taint + "]\n  syncMode: Push\n",
			back:   head + "spec:\n  syncMode: Push\n",
		},
		{
			name:   "in a List",
			before: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: cluster.karmada.io/v1alpha1\n  kind: Cluster\n  metadata: {name: eu-1}\n  spec:\n    syncMode: Push\n# the next\n- apiVersion: v1\n  kind: Namespace\n  metadata: {name: a}\n",
			after:  "apiVersion: v1\nkind: List\nitems:\n- apiVersion: cluster.karmada.io/v1alpha1\n  kind: Cluster\n  metadata: {name: eu-1}\n  spec:\n    syncMode: Push\n    taints:\n    - key: cluster.karmada.io/unschedulable\n      effect: NoSchedule\n# the next\n- apiVersion: v1\n  kind: Namespace\n  metadata: {name: a}\n",
		},
		{
			name:   "all in one line",
			before: `{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "eu-1"}, "spec": {"syncMode": "Push"}}`,
			after:  `{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "eu-1"}, "spec": {"syncMode": "Push", taints: [` + taint + `]}}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			after := edited(t, registration.Cordon, test.before)
			if diff := cmp.Diff(test.after, after); diff != "" {
				t.Errorf("cordoned (-want +got):\n%s", diff)
			}
			if again := edited(t, registration.Cordon, after); again != after {
				t.Errorf("cordoned twice:\n%s", again)
			}
			back := test.back
			if back == "" {
				back = test.before
			}
			if diff := cmp.Diff(back, edited(t, registration.Uncordon, after)); diff != "" {
				t.Errorf("uncordoned (-want +got):\n%s", diff)
			}
			if again := edited(t, registration.Uncordon, back); again != back {
				t.Errorf("uncordoned twice:\n%s", again)
			}
		})
	}
}

func TestUncordon(t *testing.T) {
	const k = "key: cluster.karmada.io/unschedulable"
	tests := []struct{ name, before, after string }{
		{
			"the first of some", head + "spec:\n  taints:\n    - " + k + " # Ann, for the upgrade\n      effect: NoSchedule\n      value: x\n    # it is small\n    - key: small\n      effect: NoSchedule\n  syncMode: Push\n",
			head + "spec:\n  taints:\n    # it is small\n    - key: small\n      effect: NoSchedule\n  syncMode: Push\n",
		},
		{
			"comments above it stay", head + "spec:\n  syncMode: Push\n  taints:\n    # why\n    - effect: NoSchedule\n      " + k + "\n",
			head + "spec:\n  syncMode: Push\n    # why\n",
		},
		{
			"the first in flow style", head + "spec: {taints: [{" + k + ", effect: NoSchedule}, {key: a, effect: NoSchedule}], syncMode: Push}\n",
			head + "spec: {taints: [{key: a, effect: NoSchedule}], syncMode: Push}\n",
		},
		{
			"the first field in flow style", head + "spec: {taints: [{" + k + ", effect: NoSchedule}], syncMode: Push}\n",
			head + "spec: {syncMode: Push}\n",
		},
		{
			"it is there twice", head + "spec: {taints: [{" + k + ", effect: NoSchedule}, {" + k + ", effect: NoSchedule}], syncMode: Push}\n",
			head + "spec: {syncMode: Push}\n",
		},
		{
			"the effect NoExecute is another taint", head + "spec: {taints: [{" + k + ", effect: NoExecute}, {" + k + ", effect: NoSchedule}], syncMode: Push}\n",
			head + "spec: {taints: [{" + k + ", effect: NoExecute}], syncMode: Push}\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.after, edited(t, registration.Uncordon, test.before)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsNotEdited(t *testing.T) {
	tests := []struct{ name, file, text, want string }{
		{"JSON", "eu-1.json", `{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "eu-1"}, "spec": {}}`, "eu-1.json:1: Cluster eu-1 is written in JSON"},
		{"built", "kustomization.yaml", "kind: Kustomization\nresources: [eu-1.yaml]\n", "kustomization.yaml:1: Cluster eu-1 is not written there, it is built from other files"},
		{"an alias", "eu-1.yaml", head + "x: &s {syncMode: Push}\nspec: *s\n", "eu-1.yaml:5: spec of Cluster eu-1 is written in a way that is not edited here; add {key: cluster.karmada.io/unschedulable, effect: NoSchedule} to its taints by hand"},
		{"merged taints", "eu-1.yaml", head + "x: &s {taints: [{key: a, effect: NoSchedule}]}\nspec:\n  <<: *s\n  syncMode: Push\n", "eu-1.yaml:5: spec of Cluster eu-1 is written in a way"},
		{"no spec", "eu-1.yaml", head, "spec of Cluster eu-1 is written in a way"},
		{"encrypted", "eu-1.yaml", head + "spec: {syncMode: Push}\nsops: {mac: \"ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]\", lastmodified: \"2026-01-01T00:00:00Z\"}\n", "Cluster eu-1 is encrypted; edit it with sops"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text, err := registration.Cordon(diag.Pos{File: test.file, Line: 1}, []byte(test.text), "eu-1")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q; the text:\n%s", err, test.want, text)
			}
		})
	}
}

// FuzzCordon holds two laws: a file that is cordoned says so, and uncordoning it gives a file
// that says what it said before.
func FuzzCordon(f *testing.F) {
	f.Add(head + "spec:\n  syncMode: Push\n")
	f.Add(head + "spec: {syncMode: Push, taints: [{key: a, effect: NoSchedule}]}\n---\na: b")
	f.Add("# x\n---\r\n" + head + "spec:\n  taints: # n\n  - {key: a, effect: b}\n\n  zones: [a]\n...\n")
	f.Fuzz(func(t *testing.T, text string) {
		before := object.Decode(at.File, []byte(text))
		cordoned, err := registration.Cordon(at, []byte(text), "eu-1")
		if err != nil {
			t.Skip()
		}
		after := object.Decode(at.File, cordoned)
		if len(after.Objects) != len(before.Objects) {
			t.Fatalf("%d objects became %d:\n%s", len(before.Objects), len(after.Objects), cordoned)
		}
		back, err := registration.Uncordon(at, cordoned, "eu-1")
		if err != nil {
			t.Skip()
		}
		for i, o := range object.Decode(at.File, back).Objects {
			if was := before.Objects[i]; o.Ref().Name != "eu-1" && string(o.YAML()) != string(was.YAML()) {
				t.Fatalf("%s became\n%s", was.YAML(), o.YAML())
			} else if o.Ref().Name == "eu-1" && isCordoned(o) {
				t.Fatalf("it is still cordoned:\n%s", back)
			}
		}
	})
}

// isCordoned reports whether a Cluster has the taint of a cordon.
func isCordoned(o *object.Object) bool {
	spec, _ := o.Content()["spec"].(map[string]any)
	taints, _ := spec["taints"].([]any)
	return slices.ContainsFunc(taints, func(taint any) bool {
		t, _ := taint.(map[string]any)
		return t["key"] == registration.Unschedulable && t["effect"] == "NoSchedule"
	})
}

func edited(t *testing.T, how func(diag.Pos, []byte, string) ([]byte, error), text string) string {
	t.Helper()
	after, err := how(at, []byte(text), "eu-1")
	if err != nil {
		t.Fatal(err)
	}
	return string(after)
}
