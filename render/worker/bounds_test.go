package worker

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestFilesTogetherAreBounded: of what is too large together nothing more is handed over, and the first one that was too much is named.
func TestFilesTogetherAreBounded(t *testing.T) {
	t.Parallel()
	const tooLarge = ": the files that it reads are too large together"
	text := []byte(strings.Repeat("x", 100))
	files := fstest.MapFS{"a": {Data: text}, "b": {Data: text}, "c": {Data: text[:1]}, "large": {Data: make([]byte, 400)}}
	for _, tt := range []struct {
		name string
		room int64
		ask  []string
		want []string // kinds
		err  string
	}{
		{"there is room", 400, []string{"a", "b", "c"}, []string{"file", "file", "file"}, "<nil>"},
		{
			"there is room for one", 150, []string{"a", "c", "none"}, []string{"file", "file", "refused"}, "reading none" + tooLarge,
		},
		{"one alone is too large", 300, []string{"large", "a"}, []string{"refused", "file"}, "reading large: its 400 bytes are too many"},
		{
			"two are", 230, []string{"a", "b", "c"}, []string{"file", "refused", "refused"}, "reading b" + tooLarge,
		},
	} {
		l := newLookup(files, tt.room)
		var got []string
		for _, name := range tt.ask {
			data, err := l.answer(name)
			if err != nil {
				t.Fatal(err)
			}
			f, err := decodeFound(data)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(f.Kind))
		}
		if diff := cmp.Diff(tt.want, got) + cmp.Diff(tt.err, fmt.Sprint(l.err)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// TestMissingWallsAreToldOnce, and not to nobody.
func TestMissingWallsAreToldOnce(t *testing.T) {
	t.Parallel()
	var told [][]Wall
	down := []Wall{{Name: userNamespace, Detail: "not permitted"}}
	for _, warn := range []func([]Wall){nil, func(missing []Wall) { told = append(told, missing) }} {
		p := New(Options{Warn: warn})
		p.Do(t.Context(), nil)
		p.walls = append([]Wall{{Name: landlockWall, Up: true}}, down...)
		p.Do(t.Context(), nil)
		p.Do(t.Context(), nil)
	}
	if diff := cmp.Diff([][]Wall{down}, told); diff != "" {
		t.Error(diff)
	}
}

// TestDeathsAreNotRememberedForEver: when there are too many keys, all are tried again.
func TestDeathsAreNotRememberedForEver(t *testing.T) {
	t.Parallel()
	p := New(Options{})
	for range maxDeaths {
		p.count("bad", 1)
	}
	for n := range maxKeys - 1 {
		p.count(strconv.Itoa(n), 1)
	}
	if !p.quarantined("bad") || p.quarantined("0") || p.quarantined("") {
		t.Error("the one that died so often is tried, or another one is not")
	}
	if p.count("one more", 1); p.quarantined("bad") || len(p.deaths) != 1 {
		t.Errorf("%d keys are remembered", len(p.deaths))
	}
}
