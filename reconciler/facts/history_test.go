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

// What releases rendered then is not known of an edit that is older than the last publications: no value of it is shown, as a release may
// have taken it from a Secret that nobody has here. Of a later one, of which it is known that no release rendered it, they are.
func TestOfAnOldEditNoValueIsShown(t *testing.T) {
	repo := twin.New("fleet")
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: repo, Target: repo, Version: "test", Now: func() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) }}
	config := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop, labels: {in: eu}}\ndata: {k: before-all}\n"
	repo.Write("main", "a fleet", twin.Tree{"fleet.yaml": twin.File([]byte(fleet)), "a.yaml": twin.File([]byte(config))}.Folder())
	if _, err := r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	// again writes a branch as it is, with some files as others, by a publication that follows the last one.
	again := func(branch string, change func(twin.Tree)) {
		t.Helper()
		head, _, err := repo.Branch(t.Context(), branch)
		state, _, err2 := repo.Branch(t.Context(), "waybill/state")
		source, _, err3 := repo.Branch(t.Context(), "main")
		if err != nil || err2 != nil || err3 != nil {
			t.Fatal(err, err2, err3)
		}
		all := twin.Of(head.Tree)
		change(all)
		repo.Write(branch, "deadbeef: next\n\nSource-Commit: "+source.Commit.String()+"\nState-Commit: "+state.Commit.String()+"\n", all.Folder())
	}
	// edit writes another value for the cluster.
	edit := func(old, now string) {
		again("waybill/cluster/eu", func(all twin.Tree) {
			for path, e := range all {
				data, err := e.Blob.Bytes()
				if err != nil {
					t.Fatal(err)
				}
				all[path] = twin.File([]byte(strings.ReplaceAll(string(data), old, now)))
			}
		})
	}
	edit("before-all", "CANARY")
	again("waybill/state", func(all twin.Tree) { all["releases/shop/a-helmrelease.json"] = twin.File([]byte(rendering)) })
	edit("CANARY", "after-it")
	again("waybill/state", func(all twin.Tree) { delete(all, "releases/shop/a-helmrelease.json") })
	for range 300 {
		again("waybill/state", func(twin.Tree) {})
	}
	edit("after-it", "at-last")
	again("waybill/state", func(twin.Tree) {})

	reader := &facts.Reader{Reconciler: r, Rev: "main"}
	f, err := reader.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	past, err := facts.History(t.Context(), reader, f, f.Find("ConfigMap", "shop", "a")[0], 100)
	if err != nil || len(past.Edits) != 4 {
		t.Fatalf("the edits are %+v, %v", past.Edits, err)
	}
	for i, want := range []struct{ isOld, isHidden bool }{{false, false}, {true, true}, {true, true}} { // the newest first
		e := &past.Edits[i]
		if isOld := e.Change.Commit.IsZero(); isOld != want.isOld || len(e.Fields) == 0 || e.Fields[0].Path != "data.k" || e.Fields[0].Hidden != want.isHidden {
			t.Errorf("edit %d, old: %t, is %+v", i, isOld, e.Fields)
		}
		if text := fmt.Sprintf("%+v", e.Fields); strings.Contains(text, "CANARY") {
			t.Errorf("edit %d shows %s", i, text)
		}
	}
}
