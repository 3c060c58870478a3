package state_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// leavingIn reads a state with a leaving.json.
func leavingIn(text string) (state.State, error) {
	return state.Decode(files.NewFolder([]files.Entry{
		files.FileEntry("format", files.NewBlob([]byte("2\n"))), files.FileEntry("leaving.json", files.NewBlob([]byte(text))),
	}), nil)
}

func TestWhatLeavesIsReadAsItWasWritten(t *testing.T) {
	at := func(second int) metav1.Time { return metav1.NewTime(time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC)) }
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "web"}
	want := []state.Leaving{{Object: web, Cluster: "eu", Since: at(1)}, {Object: web, Cluster: "us", Since: at(2), Allowed: true}}
	root, err := state.Encode(state.Content{Leaving: want}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := state.Decode(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Leaving {
		s.Leaving[i].Since = metav1.NewTime(s.Leaving[i].Since.UTC())
	}
	if !reflect.DeepEqual(s.Leaving, want) {
		t.Errorf("read are %+v, written were %+v", s.Leaving, want)
	}
	if l := state.FindLeaving(s.Leaving, web, "us"); l == nil || !l.Allowed {
		t.Errorf("of us is found %+v", l)
	}
	if l := state.FindLeaving(s.Leaving, web, "ap"); l != nil {
		t.Errorf("of ap is found %+v", l)
	}
	nothing, err := state.Encode(state.Content{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := nothing.Lookup("leaving.json"); ok {
		t.Error("where nothing leaves there is a file that says so")
	}
}

// TestWhatLeavesCannotBeGuessed holds that nothing is done where it cannot be read: the old copy may be the last one.
func TestWhatLeavesCannotBeGuessed(t *testing.T) {
	entry := func(kind, name, cluster, since string) string {
		return `{"object": {"kind": "` + kind + `", "namespace": "a", "name": "` + name + `"}, "cluster": "` + cluster + `", "since": "` + since + `"}`
	}
	const when = "2026-01-01T00:00:00Z"
	for _, tt := range []struct{ name, text, want string }{
		{"no JSON", "[{", "unexpected end of JSON input"},
		{"another form", `{"web": "eu"}`, "cannot unmarshal object"},
		{"no object", "[" + entry("", "x", "eu", when) + "]", "entry 1 lacks object, cluster or since"},
		{"no name", "[" + entry("ConfigMap", "", "eu", when) + "]", "entry 1 lacks object, cluster or since"},
		{"no cluster", "[" + entry("ConfigMap", "x", "", when) + "]", "entry 1 lacks object, cluster or since"},
		{"no time", `[{"object": {"kind": "ConfigMap", "name": "x"}, "cluster": "eu"}]`, "entry 1 lacks object, cluster or since"},
		{"a time that is none", "[" + entry("ConfigMap", "x", "eu", "yesterday") + "]", "yesterday"},
		{"twice", "[" + entry("ConfigMap", "x", "eu", when) + "," + entry("ConfigMap", "x", "eu", when) + "]", "order"},
		{"in another order", "[" + entry("ConfigMap", "x", "eu", when) + "," + entry("ConfigMap", "a", "eu", when) + "]", "order"},
	} {
		_, err := leavingIn(tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "leaving.json cannot be read, and nothing can be done without it") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if s, err := leavingIn("[" + entry("ConfigMap", "x", "eu", when) + "]"); err != nil || len(s.Leaving) != 1 {
		t.Errorf("what is well cannot be read: %v", err)
	}
}
