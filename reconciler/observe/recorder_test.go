package observe

import (
	"errors"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestWhatIsNotRecorded: nothing is written, and nobody is asked what to write, where it is not known what is recorded.
func TestWhatIsNotRecorded(t *testing.T) {
	away := errors.New("connection refused")
	for _, tt := range []struct {
		name   string
		change func(*branches)
		asks   bool
		fails  bool
	}{
		{"nothing is different", func(*branches) {}, true, false},
		{"the branch cannot be fetched", func(b *branches) { b.fails = away }, false, true},
		{"there is no branch", func(b *branches) { b.Delete(state.Branch) }, false, false},
		{"a Cluster cannot be read", func(b *branches) {
			b.Write(state.Branch, "by somebody", twin.Tree{"clusters/eu.yaml": twin.File([]byte("{"))}.Folder())
		}, false, true},
	} {
		b := &branches{Repo: twin.New("published")}
		registers(t, b.Repo, pushed("eu"))
		tt.change(b)
		before, _, err := b.Branch(t.Context(), state.Branch)
		if err != nil {
			t.Fatal(err)
		}
		asked := false
		_, err = Recorder{Target: b, Now: time.Now}.Record(t.Context(), func(map[string]*karmada.ClusterStatus, []*karmada.Cluster) (map[string]*karmada.ClusterStatus, string) {
			asked = true
			return nil, ""
		})
		after, _, headErr := b.Branch(t.Context(), state.Branch)
		if (err != nil) != tt.fails || asked != tt.asks || headErr != nil || after.Commit != before.Commit {
			t.Errorf("%s: asked %t, %v, %v; the head is %s, and was %s", tt.name, asked, err, headErr, after.Commit, before.Commit)
		}
	}
}

// TestWhatIsRecordedComesBack is that what is recorded comes back, beside what was there; what is refused is not.
func TestWhatIsRecordedComesBack(t *testing.T) {
	b := &branches{Repo: twin.New("published")}
	registers(t, b.Repo, pushed("eu"), pushed("us"))
	r := Recorder{Target: b, Now: time.Now}
	records := func(name, version string) (map[string]*karmada.ClusterStatus, error) {
		return r.Record(t.Context(), func(map[string]*karmada.ClusterStatus, []*karmada.Cluster) (map[string]*karmada.ClusterStatus, string) {
			return map[string]*karmada.ClusterStatus{name: {KubernetesVersion: version}}, name
		})
	}
	if _, err := records("eu", "v1.35.0"); err != nil {
		t.Fatal(err)
	}
	b.Refuse(state.Branch)
	if all, err := records("us", "v1.36.0"); err == nil {
		t.Errorf("%v is recorded where nothing can be", all)
	}
	b.Refuse()
	all, err := records("us", "v1.36.0")
	if err != nil || len(all) != 2 || all["eu"].KubernetesVersion != "v1.35.0" || all["us"].KubernetesVersion != "v1.36.0" {
		t.Errorf("recorded is %v, %v", all, err)
	}
}
