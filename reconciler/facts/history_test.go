package facts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/test/twin"
)

// rendering is the record of a release that rendered the ConfigMap a.
const rendering = `{"release": {"kind": "HelmRelease", "namespace": "shop", "name": "a"}, "objects": [{"kind": "ConfigMap", "namespace": "shop", "name": "a"}]}`

// story is a fleet whose branches are written by publications that follow each other.
type story struct {
	t    *testing.T
	repo *twin.Repo
	r    *reconciler.Reconciler
}

// newStory publishes a ConfigMap.
func newStory(t *testing.T) *story {
	t.Helper()
	repo := twin.New("fleet")
	s := &story{t, repo, &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: repo, Target: repo, Version: "test", Now: func() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) }}}
	config := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop, labels: {in: eu}}\ndata: {k: before-all}\n"
	repo.Write("main", "a fleet", twin.Tree{"fleet.yaml": twin.File([]byte(fleet)), "a.yaml": twin.File([]byte(config))}.Folder())
	if _, err := s.r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	return s
}

// again writes a branch as it is, with some files as others, by a publication that follows the last one.
func (s *story) again(branch string, change func(twin.Tree)) {
	s.t.Helper()
	head, _, err := s.repo.Branch(s.t.Context(), branch)
	state, _, err2 := s.repo.Branch(s.t.Context(), "waybill/state")
	source, _, err3 := s.repo.Branch(s.t.Context(), "main")
	if err != nil || err2 != nil || err3 != nil {
		s.t.Fatal(err, err2, err3)
	}
	all := twin.Of(head.Tree)
	change(all)
	s.repo.Write(branch, "deadbeef: next\n\nSource-Commit: "+source.Commit.String()+"\nState-Commit: "+state.Commit.String()+"\n", all.Folder())
}

// edit writes another value for the cluster.
func (s *story) edit(old, now string) {
	s.again("waybill/cluster/eu", func(all twin.Tree) {
		for path, e := range all {
			data, err := e.Blob.Bytes()
			if err != nil {
				s.t.Fatal(err)
			}
			all[path] = twin.File([]byte(strings.ReplaceAll(string(data), old, now)))
		}
	})
}

// rendered publishes that a release renders the ConfigMap, or that none does.
func (s *story) rendered(is bool) {
	const record = "releases/shop/a-helmrelease.json"
	s.again("waybill/state", func(all twin.Tree) {
		delete(all, record)
		if is {
			all[record] = twin.File([]byte(rendering))
		}
	})
}

// edits are those of the ConfigMap, the newest first.
func (s *story) edits() []facts.Edit {
	s.t.Helper()
	reader := &facts.Reader{Reconciler: s.r, Rev: "main"}
	f, err := reader.Look(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	past, err := facts.History(s.t.Context(), reader, f, f.Find("ConfigMap", "shop", "a")[0], 100)
	if err != nil {
		s.t.Fatal(err)
	}
	return past.Edits
}

// What releases rendered then is not known of an edit that is older than the last publications: no value of it is shown, as a release may
// have taken it from a Secret that nobody has here. Of a later one, of which it is known that no release rendered it, they are.
func TestOfAnOldEditNoValueIsShown(t *testing.T) {
	s := newStory(t)
	s.edit("before-all", "CANARY")
	s.rendered(true)
	s.edit("CANARY", "after-it")
	s.rendered(false)
	for range 300 {
		s.again("waybill/state", func(twin.Tree) {})
	}
	s.edit("after-it", "at-last")
	s.again("waybill/state", func(twin.Tree) {})
	edits := s.edits()
	if len(edits) != 4 {
		t.Fatalf("the edits are %+v", edits)
	}
	for i, want := range []struct{ isOld, isHidden bool }{{false, false}, {true, true}, {true, true}} {
		e := &edits[i]
		if isOld := e.Change.Commit.IsZero(); isOld != want.isOld || len(e.Fields) == 0 || e.Fields[0].Path != "data.k" || e.Fields[0].Hidden != want.isHidden {
			t.Errorf("edit %d, old: %t, is %+v", i, isOld, e.Fields)
		}
		if text := fmt.Sprintf("%+v", e.Fields); strings.Contains(text, "CANARY") {
			t.Errorf("edit %d shows %s", i, text)
		}
	}
}

// What a release rendered at any publication that is looked at is not shown of an edit that came after it: the manifest may have stayed
// in a cluster for longer than the release.
func TestWhatAReleaseRenderedBeforeIsNotShown(t *testing.T) {
	s := newStory(t)
	s.edit("before-all", "CANARY")
	s.rendered(true)
	s.rendered(false)
	s.again("waybill/state", func(twin.Tree) {})
	s.edit("CANARY", "at-last") // planned on a state that knows of no release
	s.again("waybill/state", func(twin.Tree) {})
	for i, e := range s.edits() {
		if text := fmt.Sprintf("%+v", e.Fields); strings.Contains(text, "CANARY") {
			t.Errorf("edit %d shows %s", i, text)
		}
	}
}
