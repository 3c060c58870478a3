package registration_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/registration"
)

// TestAnnotate shows the text that an annotation adds to what is written so. Where back is set,
// taking it out does not give the same text again, but that.
func TestAnnotate(t *testing.T) {
	const key, is = "waybill.dev/suspended", `waybill.dev/suspended: "why: \"x\""`
	const top, spec = "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\n", "spec: {syncMode: Push}\n"
	for _, c := range []struct{ name, before, after, back string }{
		{"metadata in flow style", top + "metadata: {name: eu-1} # x\n" + spec, top + "metadata: {name: eu-1, annotations: {" + is + "}} # x\n" + spec, ""},
		{"metadata in block style", top + "metadata:\n  name: eu-1 # ours\n\n# what it is\n" + spec, top + "metadata:\n  name: eu-1 # ours\n  annotations:\n    " + is + "\n\n# what it is\n" + spec, ""},
		{"before others", top + spec + "metadata:\n    name: eu-1", top + spec + "metadata:\n    name: eu-1\n    annotations:\n      " + is, ""},
		{"beside another one", top + "metadata:\n  annotations:\n    a: b # c\n  name: eu-1\n" + spec, top + "metadata:\n  annotations:\n    a: b # c\n    " + is + "\n  name: eu-1\n" + spec, ""},
		{"beside another one in flow style", top + "metadata: {annotations: {a: \"}\"}, name: eu-1}\n" + spec, top + "metadata: {annotations: {a: \"}\", " + is + "}, name: eu-1}\n" + spec, ""},
		{"another value", top + "metadata: {name: eu-1, annotations: {waybill.dev/suspended: old, a: b}}\n" + spec, top + "metadata: {name: eu-1, annotations: {a: b, " + is + "}}\n" + spec, top + "metadata: {name: eu-1, annotations: {a: b}}\n" + spec},
		{"another value of several lines", top + "metadata:\n  annotations:\n    waybill.dev/suspended: >-\n      old\n      and long\n    a: b\n  name: eu-1\n" + spec, top + "metadata:\n  annotations:\n    a: b\n    " + is + "\n  name: eu-1\n" + spec, top + "metadata:\n  annotations:\n    a: b\n  name: eu-1\n" + spec},
	} {
		t.Run(c.name, func(t *testing.T) {
			after, err := registration.Annotate(at, []byte(c.before), "eu-1", key, `why: "x"`)
			if err != nil || string(after) != c.after {
				t.Fatalf("%v\n%s\nwant\n%s", err, after, c.after)
			}
			if again, err := registration.Annotate(at, after, "eu-1", key, `why: "x"`); err != nil || string(again) != c.after {
				t.Errorf("done twice: %v\n%s", err, again)
			}
			want := c.back
			if want == "" {
				want = c.before
			}
			back, err := registration.Unannotate(at, after, "eu-1", key)
			if err != nil || string(back) != want {
				t.Errorf("taken out: %v\n%s\nwant\n%s", err, back, want)
			}
		})
	}
	if _, err := registration.Annotate(at, []byte(top+"metadata: &m {name: eu-1}\n"+spec+"---\n"+top+"metadata: {name: us-1}\n"+spec), "eu-2", key, "x"); err == nil || !strings.Contains(err.Error(), "eu-2") {
		t.Errorf("a Cluster that is not there: %v", err)
	}
}
