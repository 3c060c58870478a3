package applying_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/render/applying"
)

// TestWhatAnEntryIsFor: patterns of groups and kinds, and names that are empty for every one.
func TestWhatAnEntryIsFor(t *testing.T) {
	for _, tt := range []struct {
		name  string
		entry applying.IgnoreDifference
		want  bool // of Deployment.apps shop/web
	}{
		{"its kind", applying.IgnoreDifference{Group: "apps", Kind: "Deployment"}, true},
		{"its name", applying.IgnoreDifference{Group: "apps", Kind: "Deployment", Name: "web", Namespace: "shop"}, true},
		{"patterns", applying.IgnoreDifference{Group: "*", Kind: "*"}, true},
		{"a pattern of some", applying.IgnoreDifference{Group: "app?", Kind: "*Set"}, false},
		{"another group", applying.IgnoreDifference{Kind: "Deployment"}, false},
		{"another kind", applying.IgnoreDifference{Group: "apps", Kind: "StatefulSet"}, false},
		{"another name", applying.IgnoreDifference{Group: "apps", Kind: "Deployment", Name: "api"}, false},
		{"another namespace", applying.IgnoreDifference{Group: "apps", Kind: "Deployment", Namespace: "other"}, false},
		{"a name is no pattern", applying.IgnoreDifference{Group: "apps", Kind: "Deployment", Name: "*"}, false},
	} {
		if got := tt.entry.Matches("apps", "Deployment", "shop", "web"); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

// TestPathsOfPointers are those of RFC 6901, whose signs stand for a slash and a tilde.
func TestPathsOfPointers(t *testing.T) {
	d := applying.IgnoreDifference{JSONPointers: []string{"/spec/replicas", "/metadata/annotations/a.b~1c", "/data/~0~01"}}
	want := [][]string{{"spec", "replicas"}, {"metadata", "annotations", "a.b/c"}, {"data", "~~1"}}
	if diff := cmp.Diff(want, d.Paths()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWhatIsNoEntry is said of the field that it is in.
func TestWhatIsNoEntry(t *testing.T) {
	pointers := func(pointers ...string) applying.Apply {
		return applying.Apply{IgnoreDifferences: []applying.IgnoreDifference{{Group: "apps", Kind: "Deployment", JSONPointers: pointers}}}
	}
	window := func(edit func(*applying.SyncWindow)) applying.Apply {
		w := applying.SyncWindow{Kind: "allow", Schedule: "0 8 * * *", Duration: metav1.Duration{Duration: time.Hour}, Clusters: []string{"eu-*"}}
		edit(&w)
		return applying.Apply{SyncWindows: []applying.SyncWindow{w}}
	}
	for _, tt := range []struct {
		name        string
		apply       applying.Apply
		field, want string
	}{
		{"nothing", applying.Apply{}, "", ""},
		{"a pointer", pointers("/spec/replicas"), "", ""},
		{"managers alone", applying.Apply{IgnoreDifferences: []applying.IgnoreDifference{{Kind: "*", ManagedFieldsManagers: []string{"hpa"}}}}, "", ""},
		{"labels", pointers("/metadata/labels/a"), "", ""},
		{"no kind", applying.Apply{IgnoreDifferences: []applying.IgnoreDifference{{JSONPointers: []string{"/spec"}}}}, "ignoreDifferences", "without kind"},
		{"no fields", pointers(), "ignoreDifferences", "without jsonPointers and managedFieldsManagers"},
		{"no pattern of a group", applying.Apply{IgnoreDifferences: []applying.IgnoreDifference{{Group: "[", Kind: "*", JSONPointers: []string{"/spec"}}}}, "ignoreDifferences", `holds "[", which is no pattern`},
		{"no pattern of a kind", applying.Apply{IgnoreDifferences: []applying.IgnoreDifference{{Kind: "[", JSONPointers: []string{"/spec"}}}}, "ignoreDifferences", `holds "[", which is no pattern`},
		{"a pointer without a slash", pointers("/spec/a", "spec/replicas"), "ignoreDifferences", `the pointer "spec/replicas"`},
		{"a pointer to all", pointers("/"), "ignoreDifferences", `the pointer "/"`},
		{"a pointer with nothing between", pointers("/spec//a"), "ignoreDifferences", `the pointer "/spec//a"`},
		{"the kind", pointers("/kind"), "ignoreDifferences", `the pointer "/kind"`},
		{"the version", pointers("/apiVersion"), "ignoreDifferences", `the pointer "/apiVersion"`},
		{"the name", pointers("/metadata/name"), "ignoreDifferences", `the pointer "/metadata/name"`},
		{"the namespace", pointers("/metadata/namespace"), "ignoreDifferences", `the pointer "/metadata/namespace"`},
		{"all metadata", pointers("/metadata"), "ignoreDifferences", `the pointer "/metadata"`},

		{"a window", window(func(*applying.SyncWindow) {}), "", ""},
		{"one that denies", window(func(w *applying.SyncWindow) { w.Kind = "deny" }), "", ""},
		{"of another kind", window(func(w *applying.SyncWindow) { w.Kind = "Deny" }), "syncWindows", "whose kind is not allow or deny"},
		{"without a duration", window(func(w *applying.SyncWindow) { w.Duration.Duration = 0 }), "syncWindows", "without a duration"},
		{"with a negative one", window(func(w *applying.SyncWindow) { w.Duration.Duration = -1 }), "syncWindows", "without a duration"},
		{"without a schedule", window(func(w *applying.SyncWindow) { w.Schedule = "" }), "syncWindows", "without a schedule"},
		{"without clusters", window(func(w *applying.SyncWindow) { w.Clusters = nil }), "syncWindows", "without clusters"},
		{"with no pattern", window(func(w *applying.SyncWindow) { w.Clusters = []string{"*", "["} }), "syncWindows", `with "[", which is no pattern`},
	} {
		field, problem := tt.apply.Check()
		if field != tt.field || !strings.Contains(problem, tt.want) || (problem == "") != (field == "") {
			t.Errorf("%s: %q %s; want %q %s", tt.name, field, problem, tt.field, tt.want)
		}
	}
}
