package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestSmall plants bugs in a package whose test is known.
func TestSmall(t *testing.T) {
	t.Parallel()
	r, err := try(t.Context(), "testdata/small", options{most: 100, time: time.Minute, seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var is bytes.Buffer
	if err := r.print(&is, "small"); err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSpace(`
small/small.go:11: bound: count < 0
small/small.go:11: fails: each < 0
small/small.go:11: bound: each < 0
small/small.go:15: bound: count >= 10
small/small.go:16: holds: !isGift
small/small.go:20: fails: sum > 1000
small/small.go:20: bound: sum > 1000
small/small.go:21: not reached: sum = 1000
small: 8 of 15 bugs are noticed; of 16 in all its tests reach 15
`) + "\n"; is.String() != want {
		t.Errorf("it prints\n%s\nwant\n%s", is.String(), want)
	}
}

// TestNothing holds what a user may name wrongly.
func TestNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, folder, want string }{
		{name: "a folder without code", folder: "testdata", want: "no code in which a bug can be planted"},
		{name: "a package without tests", folder: "testdata/untested", want: "the package has no tests"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := try(t.Context(), tt.folder, options{most: 1, time: time.Minute}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("it says %v, want %q", err, tt.want)
			}
		})
	}
}
