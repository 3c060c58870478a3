package clusters_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/apiserver"
)

// holding is an inventory of so many objects.
func holding(n int) inventory.Inventory {
	i := inventory.Inventory{Identity: inventory.Identity{Owner: owner, Cluster: "eu", UID: apiserver.UID}, Commit: files.ID{1}, Settled: true, Entries: map[object.Ref]inventory.Entry{}}
	for at := range n {
		i.Entries[object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: fmt.Sprint("c", at)}] = inventory.Entry{UID: "1"}
	}
	return i
}

// read reads the inventory of a server.
func read(t *testing.T, c *clusters.Client) apply.Stored {
	t.Helper()
	is, err := c.Inventory(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// TestAnInventoryGrowsAndShrinks: it is read as it was written, nothing of an older one is left, and what cannot be taken away now is the
// next time.
func TestAnInventoryGrowsAndShrinks(t *testing.T) {
	t.Parallel()
	s := apiserver.InMemory("waybill-system")
	c := calling(t, s)
	was := read(t, c)
	refuses := 0
	s.Before(func(r *http.Request) int {
		if r.Method == http.MethodDelete {
			return refuses
		}
		return 0
	})
	for _, tt := range []struct {
		entries int
		refuses int
		secrets int // that there are then: a head, and what it names
	}{
		{3, 0, 2},
		{1_001, 0, 3},
		{5, http.StatusForbidden, 4}, // those of before are there still
		{6, 0, 2},
		{1_600, 0, 3},
		{1_700, http.StatusForbidden, 3}, // nothing is to be taken away
		{0, http.StatusNotFound, 4},
	} {
		refuses = tt.refuses
		after, err := c.Store(t.Context(), was, holding(tt.entries))
		if err != nil {
			t.Fatal(err)
		}
		is := read(t, c)
		if len(is.Inventory.Entries) != tt.entries || !is.Inventory.Settled {
			t.Errorf("of %d objects %d are read, settled: %t", tt.entries, len(is.Inventory.Entries), is.Inventory.Settled)
		}
		if there := s.Paths(secrets); len(there) != tt.secrets {
			t.Errorf("of %d objects there are %v", tt.entries, there)
		}
		if tt.refuses != http.StatusNotFound && fmt.Sprint(after.Versions) != fmt.Sprint(is.Versions) {
			t.Errorf("of %d objects there is %v, and whoever wrote it has %v", tt.entries, is.Versions, after.Versions)
		}
		was = after
	}
}

// TestWhatIsTheSameOfAnInventoryIsNotWritten: of many objects of which one changes, only the part that holds it; of none, nothing.
func TestWhatIsTheSameOfAnInventoryIsNotWritten(t *testing.T) {
	t.Parallel()
	s := apiserver.InMemory("waybill-system")
	c := calling(t, s)
	was, err := c.Store(t.Context(), read(t, c), holding(1_001))
	if err != nil {
		t.Fatal(err)
	}
	one := holding(1_001)
	one.Entries[object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "c7"}] = inventory.Entry{UID: "2"}
	settled := holding(1_001)
	settled.Entries, settled.Settled = one.Entries, false
	for _, tt := range []struct {
		name   string
		now    inventory.Inventory
		writes int
	}{{"nothing changes", holding(1_001), 0}, {"one object", one, 1}, {"what the head says", settled, 1}} {
		before := len(s.Writes())
		if was, err = c.Store(t.Context(), was, tt.now); err != nil {
			t.Fatal(err)
		}
		if writes := s.Writes()[before:]; len(writes) != tt.writes {
			t.Errorf("%s: it is written as %v", tt.name, writes)
		}
	}
	head := slices.MinFunc(s.Paths(secrets), func(a, b string) int { return len(a) - len(b) })
	s.Remove(head)
	lost := read(t, c)
	if len(lost.Inventory.Entries) > 0 || len(lost.Versions) != 2 {
		t.Errorf("without its head there is %v, with %d objects", lost.Versions, len(lost.Inventory.Entries))
	}
	if _, err := c.Store(t.Context(), lost, one); err != nil {
		t.Errorf("whoever lost the head cannot write: %v", err)
	}
	if is := read(t, c); len(is.Inventory.Entries) != 1_001 || is.Inventory.Entries[object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "c7"}].UID != "2" {
		t.Errorf("then there are %d objects", len(is.Inventory.Entries))
	}
}

// TestWhatIsLeftOfAnInventoryIsNotLost where one of two shards is, and all fits into one again: the head names it as soon as it is written.
func TestWhatIsLeftOfAnInventoryIsNotLost(t *testing.T) {
	t.Parallel()
	s := apiserver.InMemory("waybill-system")
	c := calling(t, s)
	if _, err := c.Store(t.Context(), read(t, c), holding(1500)); err != nil {
		t.Fatal(err)
	}
	for _, at := range s.Paths(secrets) {
		if strings.HasSuffix(at, "-2-0") {
			s.Remove(at)
		}
	}
	left := read(t, c)
	had := len(left.Inventory.Entries)
	if had < 600 || had > 900 {
		t.Fatalf("%d entries, in %v", had, s.Paths(secrets))
	}
	wants := []inventory.Want{{Ref: ref, Changes: true}}
	if _, err := c.Store(t.Context(), left, left.Inventory.Begin(left.Inventory.Commit, wants, nil)); err != nil {
		t.Fatal(err)
	}
	if is := len(read(t, c).Inventory.Entries); is < had { // as where the round is killed now, or waits for a wave
		t.Errorf("%d of %d entries are left, in %v", is, had, s.Paths(secrets))
	}
}

// TestAnInventoryThatIsBroken is not taken for another one: it is said which Secret it is. One of whose parts somebody deleted is not
// settled, so that nothing is deleted by it.
func TestAnInventoryThatIsBroken(t *testing.T) {
	t.Parallel()
	says := func(key, text string) apiserver.Object {
		return apiserver.Object{key: base64.StdEncoding.EncodeToString([]byte(text))}
	}
	head := func(change func(*inventory.Head)) apiserver.Object {
		x, err := inventory.Encode(holding(1_001))
		if err != nil {
			t.Fatal(err)
		}
		change(&x.Head)
		text, err := json.Marshal(x.Head)
		if err != nil {
			t.Fatal(err)
		}
		return says("head", string(text))
	}
	for name, tt := range map[string]struct {
		part  int              // 0 is the head
		data  apiserver.Object // nil: it is deleted
		wants string           // empty: it is read
	}{
		"as it is":                       {data: head(func(*inventory.Head) {})},
		"a part is deleted":              {part: 2},
		"a part has nothing":             {part: 1, data: apiserver.Object{}, wants: "it has no entries"},
		"a part is no base64":            {part: 1, data: apiserver.Object{"entries": "!"}, wants: "illegal base64"},
		"a part is no gzip":              {part: 1, data: says("entries", "x"), wants: "shard"},
		"the head has nothing":           {data: says("entries", "x"), wants: "it has no head"},
		"the head is no JSON":            {data: says("head", "{"), wants: "JSON"},
		"the head names no part":         {data: head(func(h *inventory.Head) { h.Shards = 0 }), wants: "it says that there are 0 shards"},
		"the head names fewer than none": {data: head(func(h *inventory.Head) { h.Shards = -1 }), wants: "it says that there are -1 shards"},
		"the head names too many":        {data: head(func(h *inventory.Head) { h.Shards = 1<<12 + 1 }), wants: "it says that there are 4097 shards"},
		"another version wrote it":       {data: head(func(h *inventory.Head) { h.Format = 7 }), wants: "is of form 7"},
		"it is another source's":         {data: head(func(h *inventory.Head) { h.Owner = "another" }), wants: "it is that of another"},
		"it is of another cluster":       {data: head(func(h *inventory.Head) { h.UID = "another" }), wants: "this is not eu"},
	} {
		s := apiserver.InMemory("waybill-system")
		c := calling(t, s)
		if _, err := c.Store(t.Context(), read(t, c), holding(1_001)); err != nil {
			t.Fatal(err)
		}
		at := s.Paths(secrets)[tt.part]
		if u := s.Get(at); tt.data == nil {
			s.Remove(at)
		} else {
			u["data"] = tt.data
			s.Put(at, u)
		}
		is, err := c.Inventory(t.Context(), owner)
		broken := at[strings.LastIndex(at, "/")+1:]
		switch {
		case tt.wants == "" && err != nil:
			t.Errorf("%s: it is not read: %v", name, err)
		case tt.wants == "" && is.Inventory.Settled != (tt.data != nil):
			t.Errorf("%s: it is settled: %t", name, is.Inventory.Settled)
		case tt.wants != "" && (err == nil || !strings.Contains(err.Error(), tt.wants) || tt.part > 0 && tt.wants != "shard" && !strings.Contains(err.Error(), broken)):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAnInventoryThatCannotBeWrittenIsSaid: whoever could not write it holds what was there before, and it is told from a race.
func TestAnInventoryThatCannotBeWrittenIsSaid(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		method, at string // of requests that are refused, by the end of their path
		status     int
		isRace     bool
	}{
		"Secrets may not be made":    {http.MethodPost, "/secrets", http.StatusForbidden, false},
		"Namespaces may not be made": {http.MethodPost, "/namespaces", http.StatusForbidden, false},
		"somebody made the Secret":   {http.MethodPost, "/secrets", http.StatusConflict, true},
	} {
		s := apiserver.InMemory()
		c := calling(t, s)
		none := read(t, c)
		s.Before(func(r *http.Request) int {
			if r.Method == tt.method && strings.HasSuffix(r.URL.Path, tt.at) {
				return tt.status
			}
			return 0
		})
		kept, err := c.Store(t.Context(), none, holding(1))
		if err == nil || errors.Is(err, apply.ErrRace) != tt.isRace || len(kept.Inventory.Entries) > 0 || len(kept.Versions) > 0 {
			t.Errorf("%s: %v, and there is %v", name, err, kept)
		}
		s.Before(nil)
		if _, err := c.Store(t.Context(), kept, holding(1)); err != nil {
			t.Errorf("%s: it cannot be written when that is over: %v", name, err)
		}
	}
	s := apiserver.InMemory("waybill-system")
	c := calling(t, s)
	was, err := c.Store(t.Context(), read(t, c), holding(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range s.Paths(secrets) {
		s.Remove(at) // somebody began anew
	}
	if _, err := c.Store(t.Context(), was, holding(2)); !errors.Is(err, apply.ErrRace) {
		t.Errorf("where all of it was deleted: %v", err)
	}
	if there := s.Paths(secrets); len(there) > 0 {
		t.Errorf("where all of it was deleted, there are %v", there)
	}
}

// TestAnInventoryIsDiscardedOrThatIsSaid: one that somebody deletes meanwhile is gone; one that may not be deleted is not.
func TestAnInventoryIsDiscardedOrThatIsSaid(t *testing.T) {
	t.Parallel()
	for status, fails := range map[int]bool{0: false, http.StatusNotFound: false, http.StatusForbidden: true} {
		for _, what := range []string{http.MethodDelete, http.MethodGet} {
			s := apiserver.InMemory("waybill-system")
			c := calling(t, s)
			if _, err := c.Store(t.Context(), read(t, c), holding(1)); err != nil {
				t.Fatal(err)
			}
			s.Before(func(r *http.Request) int {
				if r.Method == what && (what == http.MethodDelete || status == http.StatusForbidden) {
					return status
				}
				return 0
			})
			if err := c.Discard(t.Context(), owner); (err != nil) != fails {
				t.Errorf("where %s comes to %d: %v", what, status, err)
			}
		}
	}
}
