package rollouts_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

var noon = metav1.NewTime(time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC))

func open() rollouts.Rollout {
	return rollouts.Rollout{
		Unit: rollouts.Unit{Namespace: "team", Name: "web"},
		Strategy: rollouts.Strategy{Name: "careful", OnFailure: rollouts.StopOnFailure, Stages: []rollouts.Stage{{
			Name: "canary", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"ring": "canary"}},
			MaxConcurrency: intstr.FromString("50%"), MaxFailures: intstr.FromInt32(1),
			ProgressDeadline: metav1.Duration{Duration: 20 * time.Minute}, Settle: metav1.Duration{Duration: time.Minute},
			AfterStageTasks: []rollouts.StageTask{{Type: rollouts.WaitTask, WaitTime: metav1.Duration{Duration: 30 * time.Minute}}},
		}}},
		Status: rollouts.Status{
			Run: strings.Repeat("8f", 16), Phase: rollouts.Soaking, Base: rollouts.Version{Commit: "a1", Digest: "51c0"}, Target: rollouts.Version{Commit: "b2", Digest: "8f3a"},
			StartTime: noon, Stages: []rollouts.StageStatus{{Name: "canary", Phase: rollouts.Soaking, StartTime: noon, After: []rollouts.Task{{Type: rollouts.WaitTask, Since: noon}}}},
		},
		Clusters: map[string]rollouts.Cluster{
			"c1":   {Stage: "canary", Shows: "b2", State: rollouts.Healthy, Released: noon, Since: noon, Evidence: "waybill/status/c1@77d0"},
			"gone": {Shows: "a1", State: rollouts.Leaving},
		},
		Stays:  []object.Ref{{Kind: "ConfigMap", Namespace: "team", Name: "settings"}},
		Leaves: []object.Ref{{Kind: "ConfigMap", Namespace: "team", Name: "old"}},
		Divided: []rollouts.Division{
			{Commit: "a1", Object: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "team", Name: "api"}, Clusters: map[string]int32{}},
			{Commit: "a1", Object: web, Clusters: map[string]int32{"c1": 4, "gone": 8}},
		},
	}
}

var web = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "team", Name: "web"}

// What is recorded is read again, and a step rewrites the file of its stage alone.
func TestRecordsAreReadAgain(t *testing.T) {
	all := []rollouts.Rollout{open(), {Unit: rollouts.Unit{Name: "ops"}, Status: rollouts.Status{Phase: rollouts.Done}, Clusters: map[string]rollouts.Cluster{}}}
	root, err := rollouts.Encode(all, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, unreadable := rollouts.Decode(root)
	if d := cmp.Diff([]rollouts.Rollout{all[1], all[0]}, got); d != "" || len(unreadable) > 0 {
		t.Errorf("it is read as %s, unreadable are %v", d, unreadable)
	}
	var paths []string
	for path := range root.All() {
		paths = append(paths, path)
	}
	if got, want := strings.Join(paths, " "), "_cluster/ops.yaml team/web.yaml team/web/_leaving.yaml team/web/canary.yaml team/web/divided.json"; got != want {
		t.Errorf("the files are %s, want %s", got, want)
	}
	if _, isThere := root.Lookup("_cluster/ops"); isThere {
		t.Error("there is a folder of a unit that has no clusters")
	}
	next := open()
	c := next.Clusters["c1"]
	c.State = rollouts.Failing
	next.Clusters["c1"] = c
	after, err := rollouts.Encode([]rollouts.Rollout{next, all[1]}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var changed []string
	for is := range files.Diff(root, after) {
		changed = append(changed, is.Path)
	}
	if strings.Join(changed, " ") != "team/web/canary.yaml" {
		t.Errorf("a step of canary changes %v", changed)
	}
	if none, err := rollouts.Encode(nil, nil); none != nil || err != nil {
		t.Errorf("nothing is %v, %v", none, err)
	}
}

// What is the same as before is neither read nor written again, and nothing comes of that but speed.
func TestWhatIsTheSameIsTakenFromBefore(t *testing.T) {
	edits := map[string]func(r *rollouts.Rollout){
		"nothing":               func(*rollouts.Rollout) {},
		"a phase":               func(r *rollouts.Rollout) { r.Status.Phase = rollouts.Approving },
		"an object":             func(r *rollouts.Rollout) { r.Stays = []object.Ref{{Kind: "ConfigMap", Name: "a"}} },
		"an object that leaves": func(r *rollouts.Rollout) { r.Leaves = []object.Ref{{Kind: "ConfigMap", Name: "a"}} },
		"a state": func(r *rollouts.Rollout) {
			r.Clusters["c1"] = rollouts.Cluster{Stage: "canary", Shows: "b2", State: rollouts.Failed}
		},
		"another stage": func(r *rollouts.Rollout) { r.Clusters["c1"] = rollouts.Cluster{Stage: "prod", State: rollouts.Pending} },
		"one more": func(r *rollouts.Rollout) {
			r.Clusters["c2"] = rollouts.Cluster{Stage: "canary", State: rollouts.Pending}
		},
		"another division": func(r *rollouts.Rollout) {
			r.Divided[1].Clusters = map[string]int32{"c1": 6, "gone": 6}
		},
		"no division": func(r *rollouts.Rollout) { r.Divided = nil },
		"one less":    func(r *rollouts.Rollout) { delete(r.Clusters, "gone") },
		"none":        func(r *rollouts.Rollout) { r.Clusters = map[string]rollouts.Cluster{} },
	}
	root, err := rollouts.Encode([]rollouts.Rollout{open()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	earlier := rollouts.Read(root, nil)
	for name, edit := range edits {
		is := open()
		edit(&is)
		alone, err := rollouts.Encode([]rollouts.Rollout{is}, nil)
		if err != nil {
			t.Fatal(err)
		}
		next, _ := rollouts.Decode(root)
		edit(&next[0])
		after, err := rollouts.Encode(next, earlier)
		if err != nil || after.ID() != alone.ID() {
			t.Errorf("%s: it is written otherwise than without an earlier record: %v", name, err)
		}
		kept := map[files.ID]*files.Blob{}
		for _, e := range root.All() {
			kept[e.Blob.ID()] = e.Blob
		}
		if after != nil {
			for path, e := range after.All() {
				if was := kept[e.Blob.ID()]; was != nil && was != e.Blob {
					t.Errorf("%s: %s is as it was, and is written again", name, path)
				}
			}
		}
		again := rollouts.Read(after, earlier)
		if was := earlier.Rollouts[0].Clusters; after.ID() == root.ID() && reflect.ValueOf(again.Rollouts[0].Clusters).Pointer() != reflect.ValueOf(was).Pointer() {
			t.Errorf("%s: it is as it was, and is read again", name)
		}
		if d := cmp.Diff(rollouts.Read(alone, nil).Rollouts, again.Rollouts); d != "" {
			t.Errorf("%s: it is read otherwise than without an earlier record: %s", name, d)
		}
	}
}

// How replicas are divided is found by commit and object, and written in one way.
func TestDivisions(t *testing.T) {
	r := open()
	for _, tt := range []struct {
		commit string
		object object.Ref
		want   int32
	}{{"a1", web, 4}, {"b2", web, 0}, {"a1", object.Ref{Kind: "ConfigMap", Namespace: "team", Name: "settings"}, 0}} {
		if is := r.Division(tt.commit, tt.object); is != nil != (tt.want > 0) || is != nil && is.Clusters["c1"] != tt.want {
			t.Errorf("of %s by %s it is %+v", tt.object, tt.commit, is)
		}
	}
	if is := (*rollouts.Rollout)(nil).Division("a1", web); is != nil {
		t.Errorf("of nothing it is %+v", is)
	}
	root, err := rollouts.Encode([]rollouts.Rollout{r}, nil)
	if err != nil {
		t.Fatal(err)
	}
	by := func(text string) *rollouts.Record {
		unit, _ := root.Lookup("team/web.yaml")
		unit.Name = "web.yaml"
		return rollouts.Read(files.NewFolder([]files.Entry{files.DirEntry("team", files.NewFolder([]files.Entry{unit, files.DirEntry("web", files.NewFolder(
			[]files.Entry{files.FileEntry("divided.json", files.NewBlob([]byte(text)))},
		))}))}), nil)
	}
	is := by(`[{"commit":"b","object":{"kind":"A","name":"a"},"clusters":{"c1":1}},{"commit":"a","object":{"kind":"A","name":"a"},"clusters":{"c1":2}}]`)
	if len(is.Rollouts) != 1 || is.Rollouts[0].Division("b", object.Ref{Kind: "A", Name: "a"}) == nil {
		t.Errorf("in another order it is read as %+v, %v", is.Rollouts, is.Unreadable)
	}
	written, err := rollouts.Encode(is.Rollouts, is)
	if e, ok := written.Lookup("team/web/divided.json"); err != nil || !ok || rollouts.Read(written, nil).Unreadable[r.Unit] != nil {
		t.Errorf("it is written as %v, %v", e, err)
	} else if data, _ := e.Blob.Bytes(); !strings.HasPrefix(string(data), "[\n  {\n    \"commit\": \"a\",") {
		t.Errorf("it is written as %s", data)
	}
	for _, text := range []string{"{}", `[{"commit":"b","replicas":1}]`} {
		if is := by(text); is.Unreadable[r.Unit] == nil {
			t.Errorf("%s is read as %+v", text, is.Rollouts)
		}
	}
}

// What somebody else put among the files of a unit goes with the next record.
func TestWhatWaybillDidNotWriteIsWrittenAgain(t *testing.T) {
	root, err := rollouts.Encode([]rollouts.Rollout{open()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	unit, _ := root.Lookup("team/web.yaml")
	stages, _ := root.Lookup("team/web")
	unit.Name = "web.yaml"
	note := files.FileEntry("README", files.NewBlob([]byte("a note\n")))
	strange := files.NewFolder([]files.Entry{files.DirEntry("team", files.NewFolder([]files.Entry{
		unit, files.DirEntry("web", files.NewFolder(append(slices.Clone(stages.Dir.Entries()), note))),
	}))})
	r := rollouts.Read(strange, nil)
	if again, err := rollouts.Encode(r.Rollouts, r); err != nil || again.ID() != root.ID() {
		t.Errorf("it is not written as ever: %v", err)
	}
	single := open()
	single.Divided, single.Clusters = nil, map[string]rollouts.Cluster{"c1": single.Clusters["c1"]}
	if root, err = rollouts.Encode([]rollouts.Rollout{single}, nil); err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string]func(twin.Tree){
		"a unit in another form":          func(t twin.Tree) { t["team/web.yaml"] = reformed(t["team/web.yaml"]) },
		"a stage in another form":         func(t twin.Tree) { t["team/web/canary.yaml"] = reformed(t["team/web/canary.yaml"]) },
		"a stage without clusters":        func(t twin.Tree) { t["team/web/prod.yaml"] = twin.File([]byte("clusters: {}\n")) },
		"divisions of nothing":            func(t twin.Tree) { t["team/web/divided.json"] = twin.File([]byte("[]\n")) },
		"a folder beside the stages":      func(t twin.Tree) { t["team/web/x.yaml/README"] = twin.File(nil) },
		"a file beside the namespaces":    func(t twin.Tree) { t["README"] = twin.File(nil) },
		"a folder that looks like a unit": func(t twin.Tree) { t["team/api.yaml/README"] = twin.File(nil) },
		"a file that no unit has":         func(t twin.Tree) { t["team/.yaml"] = twin.File([]byte("x: y\n")) },
	} {
		tree := twin.Of(root)
		edit(tree)
		r := rollouts.Read(tree.Folder(), nil)
		if d := cmp.Diff([]rollouts.Rollout{single}, r.Rollouts, cmpopts.EquateEmpty()); d != "" || len(r.Unreadable) > 0 {
			t.Errorf("%s: it is read as %s, %v", name, d, r.Unreadable)
		}
		if again, err := rollouts.Encode(r.Rollouts, r); err != nil || again.ID() != root.ID() {
			t.Errorf("%s: it is not written as ever: %v", name, err)
		}
	}
}

// reformed is a file with the same content in another form.
func reformed(e files.Entry) files.Entry {
	data, _ := e.Blob.Bytes()
	return twin.File(append([]byte("# by hand\n"), data...))
}

// Units are in the order of their names, and not of their files.
func TestTheOrderOfUnits(t *testing.T) {
	var all []rollouts.Rollout
	for _, name := range []string{"a", "a-b", "b"} {
		r := open()
		r.Unit.Name = name
		all = append(all, r)
	}
	root, err := rollouts.Encode([]rollouts.Rollout{all[2], all[0], all[1]}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := rollouts.Decode(root)
	if d := cmp.Diff(all, got); d != "" {
		t.Error(d)
	}
}

// What cannot be read is named, and nothing is made of it.
func TestWhatCannotBeReadIsNotKnown(t *testing.T) {
	root, err := rollouts.Encode([]rollouts.Rollout{open()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := root.Lookup("team/web.yaml")
	stage, _ := root.Lookup("team/web/canary.yaml")
	text := func(b *files.Blob) string { data, _ := b.Bytes(); return string(data) }
	build := func(unit, stage string) *files.Folder {
		return files.NewFolder([]files.Entry{files.DirEntry("team", files.NewFolder([]files.Entry{
			files.FileEntry("web.yaml", files.NewBlob([]byte(unit))),
			files.DirEntry("web", files.NewFolder([]files.Entry{files.FileEntry("canary.yaml", files.NewBlob([]byte(stage)))})),
		}))})
	}
	for name, tt := range map[string]struct{ unit, stage string }{
		"garbage":          {"\x00", text(stage.Blob)},
		"another kind":     {strings.Replace(text(whole.Blob), "kind: Rollout", "kind: Other", 1), text(stage.Blob)},
		"another version":  {strings.Replace(text(whole.Blob), "apiVersion: ", "apiVersion: v9", 1), text(stage.Blob)},
		"no phase":         {strings.Replace(text(whole.Blob), "  phase: Soaking\n  run", "  run", 1), text(stage.Blob)},
		"too much":         {text(whole.Blob) + strings.Repeat("#", 8<<20), text(stage.Blob)},
		"another name":     {strings.Replace(text(whole.Blob), "name: web", "name: api", 1), text(stage.Blob)},
		"an unknown field": {text(whole.Blob) + "extra: 1\n", text(stage.Blob)},
		"no stage":         {text(whole.Blob), "clusters: 3"},
	} {
		all, unreadable := rollouts.Decode(build(tt.unit, tt.stage))
		if len(all) > 0 || unreadable[rollouts.Unit{Namespace: "team", Name: "web"}] == nil {
			t.Errorf("%s: it is read as %+v, unreadable are %v", name, all, unreadable)
		}
		if after, err := rollouts.Encode(nil, rollouts.Read(build(tt.unit, tt.stage), nil)); err != nil || after.ID() != build(tt.unit, tt.stage).ID() {
			t.Errorf("%s: it does not stay as it is: %v", name, err)
		}
	}
	twice := twin.Of(build(text(whole.Blob), text(stage.Blob)))
	twice["team/web/prod.yaml"] = twin.File([]byte(text(stage.Blob)))
	if all, unreadable := rollouts.Decode(twice.Folder()); len(all) > 0 || !strings.Contains(fmt.Sprint(unreadable), "cluster c1 is in two stages") {
		t.Errorf("a cluster in two stages: %+v, %v", all, unreadable)
	}
	large := text(whole.Blob) + strings.Repeat("#", 8<<20-len(text(whole.Blob)))
	if all, unreadable := rollouts.Decode(build(large, text(stage.Blob))); len(all) != 1 || len(unreadable) > 0 {
		t.Errorf("of 8 MiB it is %+v, %v", all, unreadable)
	}
	if all, unreadable := rollouts.Decode(build(text(whole.Blob), text(stage.Blob))); len(all) != 1 || len(unreadable) > 0 {
		t.Errorf("whole, it is %+v, %v", all, unreadable)
	}
	if all, unreadable := rollouts.Decode(nil); all != nil || len(unreadable) > 0 {
		t.Errorf("nothing is %v, %v", all, unreadable)
	}
}
