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
