package inventory

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

func ref(name string) object.Ref {
	return object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name}
}

func blob(s string) files.ID { return files.Sum("blob", []byte(s)) }

func TestRound(t *testing.T) {
	one := Entry{Content: blob("one"), Source: "s1", UID: "u1", Fields: 7}
	had := Inventory{Identity: Identity{"git/fleet", "eu-1", "k"}, Commit: blob("c1"), Settled: true, Entries: map[object.Ref]Entry{
		ref("changed"): one, ref("same"): one, ref("gone"): one, ref("kept"): {UID: "u2", Keeps: true},
	}}
	wants := []Want{{Ref: ref("changed"), Changes: true}, {Ref: ref("same")}, {Ref: ref("new"), Changes: true, Keeps: true}}

	began := had.Begin(blob("c2"), wants, []object.Ref{ref("gone"), ref("nowhere")})
	leaving := one
	leaving.Leaving = true
	if began.Commit != blob("c2") || began.Identity != had.Identity || !began.Settled {
		t.Errorf("the round began as %+v", began)
	}
	want := map[object.Ref]Entry{
		ref("changed"): {Source: "s1", UID: "u1"},
		ref("same"):    one,
		ref("new"):     {Keeps: true},
		ref("gone"):    leaving,
		ref("kept"):    {UID: "u2", Keeps: true},
	}
	if diff := cmp.Diff(want, began.Entries); diff != "" {
		t.Errorf("the union (-want +got):\n%s", diff)
	}
	if had.Entries[ref("changed")] != one || len(had.Entries) != 4 {
		t.Error("the inventory before was changed")
	}
	if diff := cmp.Diff([]object.Ref{ref("gone"), ref("kept")}, had.Absent(wants)); diff != "" {
		t.Errorf("what is absent (-want +got):\n%s", diff)
	}
	if back := began.Begin(blob("c3"), []Want{{Ref: ref("gone")}}, nil).Entries[ref("gone")]; back != one {
		t.Errorf("an object that is back on the branch is still leaving: %+v", back)
	}

	two := Entry{Content: blob("two"), Source: "s2", UID: "u1", Fields: 8}
	ended := began.Applied(map[object.Ref]Entry{ref("changed"): two}).Gone(map[object.Ref]string{
		ref("gone"): "u1",    // it was looked for, and was not there
		ref("kept"): "other", // another object of that name was
		ref("new"):  "u9",    // it has no UID yet
	}).Ended()
	want[ref("changed")] = two
	delete(want, ref("gone"))
	if unsettled := (Inventory{}); !ended.Settled || !unsettled.Ended().Settled {
		t.Error("a round that ended is not settled")
	}
	if diff := cmp.Diff(want, ended.Entries); diff != "" {
		t.Errorf("after the round (-want +got):\n%s", diff)
	}
	if doubted := ended.Unknown([]object.Ref{ref("changed"), ref("nowhere")}); doubted.Entries[ref("changed")] != (Entry{Source: "s2", UID: "u1"}) || len(doubted.Entries) != 4 {
		t.Errorf("an entry in doubt is %+v", doubted.Entries[ref("changed")])
	}
}

func TestEntryWithoutUIDLeavesWhenNothingIsThere(t *testing.T) {
	i := Inventory{}.Begin(blob("c"), []Want{{Ref: ref("a"), Changes: true}}, nil)
	if i = i.Gone(map[object.Ref]string{ref("a"): ""}); len(i.Entries) != 0 {
		t.Errorf("it is still there: %v", i.Entries)
	}
}

func many(n int) Inventory {
	i := Inventory{Identity: Identity{"git/fleet", "eu-1", "k"}, Commit: blob("c"), State: blob("state"), Entries: map[object.Ref]Entry{}}
	for k := range n {
		i.Entries[ref(fmt.Sprintf("object-number-%d", k))] = Entry{
			Content: blob(strconv.Itoa(k)), UID: fmt.Sprintf("%x", blob(fmt.Sprint("u", k)))[:36], Fields: uint64(k) * 0x9e3779b97f4a7c15,
			Source: blob("s").String(), Keeps: k%3 == 0, Leaving: k%5 == 0,
		}
	}
	return i
}

func TestShards(t *testing.T) {
	const secret = 1 << 20
	for _, n := range []int{0, 1, 1000, 1001, 10_000} {
		i := many(n)
		x, err := Encode(i)
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, s := range x.Shards {
			total += len(s)
			if len(s)*4/3 > secret {
				t.Errorf("%d objects: a shard has %d bytes", n, len(s))
			}
		}
		if n >= 1000 && total/n > 90 {
			t.Errorf("%d objects take %d bytes each", n, total/n)
		}
		back, err := Decode(x)
		if diff := cmp.Diff(i, back); diff != "" || err != nil {
			t.Errorf("%d objects: %v\n%.2000s", n, err, diff)
		}
	}
}

// A change of one object is a change of one shard.
func TestOneChangeIsOneShard(t *testing.T) {
	i := many(10_000)
	before, err := Encode(i)
	if err != nil {
		t.Fatal(err)
	}
	after, err := Encode(i.Unknown([]object.Ref{ref("object-number-7")}))
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for k := range before.Shards {
		if !bytes.Equal(before.Shards[k], after.Shards[k]) {
			changed++
		}
	}
	if changed != 1 || len(before.Shards) != len(after.Shards) {
		t.Errorf("%d shards changed", changed)
	}
}

func TestLostShard(t *testing.T) {
	x, err := Encode(many(3000).Ended())
	if err != nil {
		t.Fatal(err)
	}
	if i, err := Decode(x); err != nil || !i.Settled {
		t.Fatalf("settled %v, %v", i.Settled, err)
	}
	if x.Head.Shards != 4 || len(x.Shards) != 4 {
		t.Errorf("3000 entries take %d shards, and the head says %d", len(x.Shards), x.Head.Shards)
	}
	x.Shards[1] = nil
	i, err := Decode(x)
	if err != nil || i.Settled || len(i.Entries) == 0 || len(i.Entries) == 3000 {
		t.Errorf("%d entries are left, settled %v, %v", len(i.Entries), i.Settled, err)
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	good, err := Encode(many(1))
	if err != nil {
		t.Fatal(err)
	}
	id := blob("x").String()
	for name, broken := range map[string]func(*Encoded){
		"a form to come": func(x *Encoded) { x.Head.Format = 2 },
		"no form":        func(x *Encoded) { x.Head.Format = 0 },
		"no commit":      func(x *Encoded) { x.Head.Commit = "main" },
		"no state":       func(x *Encoded) { x.Head.State = "state" },
		"no sync":        func(x *Encoded) { x.Head.SyncCommit = "sync" },
		"no JSON":        func(x *Encoded) { x.Shards[0] = shard(t, `["","a"`) },
		"too few texts":  func(x *Encoded) { x.Shards[0] = shard(t, `["","Pod","shop","a","u","","","s"]`) },
		"too many texts": func(x *Encoded) { x.Shards[0] = shard(t, `["","Pod","shop","a","u","","","s","",""]`) },
		"an odd flag":    func(x *Encoded) { x.Shards[0] = shard(t, `["","Pod","shop","a","u","`+id+`","1","s","kxl"]`) },
		"an odd content": func(x *Encoded) { x.Shards[0] = shard(t, `["","Pod","shop","a","u","blob","1","s","k"]`) },
		"odd fields":     func(x *Encoded) { x.Shards[0] = shard(t, `["","Pod","shop","a","u","`+id+`","fields","s","l"]`) },
		"a line too long": func(x *Encoded) {
			x.Shards[0] = shard(t, `["","Pod","shop","a","u","`+id+`","1","`+strings.Repeat("s", 64<<10)+`",""]`)
		},
		"no gzip":   func(x *Encoded) { x.Shards[0] = []byte("x") },
		"cut short": func(x *Encoded) { x.Shards[0] = x.Shards[0][:len(x.Shards[0])-9] },
	} {
		x := Encoded{Head: good.Head, Shards: slices.Clone(good.Shards)}
		if broken(&x); x.Head == good.Head && bytes.Equal(x.Shards[0], good.Shards[0]) {
			t.Fatal("nothing is broken")
		}
		if i, err := Decode(x); err == nil {
			t.Errorf("%s: it was read as %+v", name, i)
		}
	}
}

// shard packs a line as it is.
func shard(t *testing.T, line string) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	_, err := zip.Write([]byte(line + "\n"))
	if err = errors.Join(err, zip.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestHeadAndEntriesComeBack encodes inventories with and without each field, and compares what is written, and what is read again.
func TestHeadAndEntriesComeBack(t *testing.T) {
	commit, state, synced, content := blob("c"), blob("state"), blob("synced"), blob("content")
	whole := Inventory{
		Identity: Identity{"git/fleet", "eu-1", "k"}, Commit: commit, State: state, Settled: true,
		Sync: Sync{Commit: synced, Phase: "PreSync", Failed: true},
		Entries: map[object.Ref]Entry{
			{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "a<b"}: {Content: content, Source: "s1", UID: "u1", Fields: 0xffffffffffffffff},
			{Kind: "Namespace", Name: "shop"}:                                   {Keeps: true, Leaving: true},
			{Kind: "Secret", Namespace: "shop", Name: "kept"}:                   {Fields: 16, Keeps: true},
			{Kind: "Secret", Namespace: "shop", Name: "leaving"}:                {UID: "u2", Leaving: true},
		},
	}
	head := Head{
		Format: 1, Owner: "git/fleet", Cluster: "eu-1", UID: "k", Commit: commit.String(), State: state.String(), Settled: true, Shards: 1,
		SyncCommit: synced.String(), SyncPhase: "PreSync", SyncFailed: true,
	}
	const lines = `["","Namespace","","shop","","","","","kl"]
["","Secret","shop","kept","","","10","","k"]
["","Secret","shop","leaving","u2","","","","l"]
["apps","Deployment","shop","a<b","u1","%s","ffffffffffffffff","s1",""]
`
	x, err := Encode(whole)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(head, x.Head); diff != "" {
		t.Errorf("the head (-want +got):\n%s", diff)
	}
	zip, err := gzip.NewReader(bytes.NewReader(x.Shards[0]))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if diff := cmp.Diff(fmt.Sprintf(lines, content), string(text)); diff != "" || err != nil {
		t.Errorf("the shard: %v (-want +got):\n%s", err, diff)
	}
	roundTrip(t, whole)
	for name, less := range map[string]func(*Inventory){
		"no state":           func(i *Inventory) { i.State = files.ID{} },
		"no sync":            func(i *Inventory) { i.Sync = Sync{} },
		"no phase yet":       func(i *Inventory) { i.Sync.Phase = "" },
		"a sync in progress": func(i *Inventory) { i.Sync.Failed = false },
		"not settled":        func(i *Inventory) { i.Settled = false },
		"nothing but a name": func(i *Inventory) { *i = Inventory{Identity: i.Identity, Entries: map[object.Ref]Entry{}} },
	} {
		t.Run(name, func(t *testing.T) {
			i := whole
			less(&i)
			roundTrip(t, i)
			x, err := Encode(i)
			if err != nil || (x.Head.SyncCommit == "") != (i.Sync == Sync{}) || (x.Head.State == "") != i.State.IsZero() {
				t.Errorf("the head is %+v: %v", x.Head, err)
			}
		})
	}
}

// FuzzLaws plays a few rounds over four objects, as the bytes say, and holds the laws.
func FuzzLaws(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6})
	f.Add([]byte{0xff, 0x0f, 0xf0, 0x55, 0xaa, 0})
	f.Fuzz(func(t *testing.T, steps []byte) {
		names := []string{"a", "b", "c", "d"}
		var i Inventory
		for n, step := range steps[:min(len(steps), 32)] {
			var wants []Want
			var leaving []object.Ref
			for k, name := range names {
				if step>>k&1 == 1 {
					wants = append(wants, Want{Ref: ref(name), Changes: step>>(4+k)&1 == 1, Keeps: n%2 == 0})
				} else {
					leaving = append(leaving, ref(name))
				}
			}
			before := i
			i = i.Begin(blob(strconv.Itoa(n)), wants, leaving)
			union(t, before, i, wants)
			done, gone := map[object.Ref]Entry{}, map[object.Ref]string{}
			for k, w := range wants {
				if w.Changes && (int(step)+k+n)%3 != 0 {
					done[w.Ref] = Entry{Content: blob(strconv.Itoa(n)), UID: fmt.Sprint("u", n)}
				}
			}
			for _, r := range leaving {
				if e := i.Entries[r]; n%2 == 0 {
					gone[r] = e.UID
				} else {
					gone[r] = "another"
				}
			}
			seen := i
			i = i.Applied(done).Gone(gone)
			for r, e := range seen.Entries {
				_, still := i.Entries[r]
				if uid, looked := gone[r]; still == (looked && uid == e.UID) {
					t.Errorf("%v with UID %q, looked for %q: still there is %v", r, e.UID, uid, still)
				}
			}
			roundTrip(t, i)
		}
	})
}

// TestAMovedSourceIsAsUnsettledAsItWas: what its own inventory has of a round that ended says nothing of the one that it left.
func TestAMovedSourceIsAsUnsettledAsItWas(t *testing.T) {
	for _, own := range []bool{true, false} {
		for _, before := range []bool{true, false} {
			is := Inventory{Identity: Identity{"git/new", "eu-1", "k"}, Settled: own, Entries: map[object.Ref]Entry{ref("a"): {UID: "u1"}}}
			was := Inventory{Identity: Identity{"git/old", "eu-1", "k"}, Settled: before, Entries: map[object.Ref]Entry{ref("b"): {UID: "u2", Content: blob("b"), Fields: 1}}}
			next := is.Moved(was, "git/new")
			if next.Settled != before || next.Owner != "git/new" || next.Entries[ref("b")] != (Entry{UID: "u2"}) || next.Entries[ref("a")].UID != "u1" {
				t.Errorf("settled %t, before %t: %+v", own, before, next)
			}
		}
	}
}

// TestMovedInventory adds the inventory of a former name to none, and to one that knows some of the objects.
func TestMovedInventory(t *testing.T) {
	entry := Entry{Content: blob("b"), Source: "s1", UID: "u1", Fields: 1, Keeps: true, Leaving: true}
	unknown := entry
	unknown.Content, unknown.Fields = files.ID{}, 0
	was := Inventory{
		Identity: Identity{"git/old", "eu-1", "k"}, Commit: blob("c1"), State: blob("old"), Settled: true, Sync: Sync{Commit: blob("c1")},
		Entries: map[object.Ref]Entry{ref("a"): entry, ref("b"): entry},
	}
	own := Entry{Content: blob("own"), UID: "u2", Fields: 2}
	is := Inventory{
		Identity: Identity{"git/new", "eu-9", "k9"}, Commit: blob("c2"), State: blob("new"), Entries: map[object.Ref]Entry{ref("a"): own},
	}
	stateless := is
	stateless.State = files.ID{}
	both := map[object.Ref]Entry{ref("a"): own, ref("b"): unknown}
	for _, c := range []struct {
		name string
		is   Inventory
		want Inventory
	}{
		{"none", Inventory{}, Inventory{
			Identity: Identity{"git/new", "eu-1", "k"}, Commit: blob("c1"), State: blob("old"), Settled: true,
			Entries: map[object.Ref]Entry{ref("a"): unknown, ref("b"): unknown},
		}},
		{"one with a state", is, Inventory{Identity: is.Identity, Commit: blob("c2"), State: blob("new"), Settled: true, Entries: both}},
		{"one without a state", stateless, Inventory{Identity: is.Identity, Commit: blob("c2"), State: blob("old"), Settled: true, Entries: both}},
	} {
		if diff := cmp.Diff(c.want, c.is.Moved(was, "git/new")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if len(is.Entries) != 1 || was.Entries[ref("a")] != entry {
		t.Error("the inventories before were changed")
	}
}

// union holds what Begin promises.
func union(t *testing.T, before, after Inventory, wants []Want) {
	t.Helper()
	for r, e := range before.Entries {
		now, ok := after.Entries[r]
		if !ok || now.UID != e.UID {
			t.Errorf("%v had UID %q, and has %q (%v)", r, e.UID, now.UID, ok)
		}
		if now.Content != e.Content && !now.Content.IsZero() {
			t.Errorf("%v has a content that nobody applied", r)
		}
	}
	for _, w := range wants {
		e, ok := after.Entries[w.Ref]
		if !ok || w.Changes && !e.Content.IsZero() || e.Leaving || !w.Changes && e.Content != before.Entries[w.Ref].Content {
			t.Errorf("%+v is %+v (%v)", w, e, ok)
		}
	}
	again := after.Begin(after.Commit, wants, nil)
	for r, e := range after.Entries {
		if again.Entries[r] != e {
			t.Errorf("beginning twice makes %+v of %+v", again.Entries[r], e)
		}
	}
}

// roundTrip encodes and decodes.
func roundTrip(t *testing.T, i Inventory) {
	t.Helper()
	x, err := Encode(i)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(x)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(i, back); diff != "" {
		t.Errorf("it is not what was encoded:\n%s", diff)
	}
	twice, err := Encode(back)
	if err != nil || !slices.EqualFunc(x.Shards, twice.Shards, bytes.Equal) {
		t.Errorf("the same inventory gives other bytes (%v)", err)
	}
}
