package cache

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestAFolderIsBounded(t *testing.T) {
	dir := t.TempDir()
	f, err := OpenFolder(dir, 1000)
	if err != nil {
		t.Fatal(err)
	}
	value := []byte(strings.Repeat("x", 100))
	for i := range 30 {
		f.Put(strconv.Itoa(i), value, time.Unix(int64(i), 0))
	}
	var used int64
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		used += info.Size()
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s can be read by others: %s", e.Name(), info.Mode())
		}
	}
	if used > 1000 || used < 500 {
		t.Errorf("it holds %d bytes", used)
	}
	if got, ok := f.Get("29"); !ok || string(got) != string(value) {
		t.Error("the newest value is gone")
	}
	if _, ok := f.Get("0"); ok {
		t.Error("the oldest value is there")
	}
	f.Put("large", []byte(strings.Repeat("x", 600)), time.Unix(99, 0))
	if _, ok := f.Get("large"); ok {
		t.Error("a value is kept that leaves no room for others")
	}
	if _, ok := f.Get("../escape/\x00"); ok {
		t.Error("a key that nothing has is there")
	}
}

// TestAFolderGivesWayByTheTimeThatItIsTold, to whichever process writes, and to a tenth less than it may hold.
func TestAFolderGivesWayByTheTimeThatItIsTold(t *testing.T) {
	dir := t.TempDir()
	value := []byte(strings.Repeat("x", 100))
	for i := range 10 { // the first is the newest
		f, err := OpenFolder(dir, 1000)
		if err != nil {
			t.Fatal(err)
		}
		f.Put(strconv.Itoa(i), value, time.Unix(int64(100-i), 0))
	}
	f, err := OpenFolder(dir, 1000)
	if err != nil {
		t.Fatal(err)
	}
	has := func(want string) {
		t.Helper()
		var got []string
		for i := range 12 {
			if _, ok := f.Get(strconv.Itoa(i)); ok {
				got = append(got, strconv.Itoa(i))
			}
		}
		if all := strings.Join(got, " "); all != want {
			t.Errorf("there are %s, want %s", all, want)
		}
	}
	has("0 1 2 3 4 5 6 7 8 9")
	f.Put("10", value, time.Unix(200, 0))
	has("0 1 2 3 4 5 6 7 10")
	f.Put("11", value, time.Unix(200, 0)) // for which there is room now
	has("0 1 2 3 4 5 6 7 10 11")
	f.Put("half", []byte(strings.Repeat("x", 500)), time.Unix(300, 0))
	if _, ok := f.Get("half"); !ok {
		t.Error("a value of half the room is not there")
	}
	has("0 1 10 11")
}

// TestAFolderInTheWayOfAValue costs that value, and leaves nothing of it behind.
func TestAFolderInTheWayOfAValue(t *testing.T) {
	f, err := OpenFolder(t.TempDir(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(f.file("a")+"/x", 0o700); err != nil {
		t.Fatal(err)
	}
	f.Put("a", []byte("value"), time.Unix(0, 0))
	if _, ok := f.Get("a"); ok {
		t.Error("a folder is a value")
	}
	if entries, err := os.ReadDir(f.dir); err != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v", entries, err)
	}
	f.Put("b", []byte("value"), time.Unix(0, 0))
	if got, ok := f.Get("b"); !ok || string(got) != "value" {
		t.Error("a folder takes the room of another value")
	}
	if _, err := OpenFolder(f.dir+"/none\x00", 1); err == nil {
		t.Error("a folder that cannot be made opens")
	}
}
