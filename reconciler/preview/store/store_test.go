package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/reconciler/preview/previewtest"
	"github.com/waybill-dev/waybill/reconciler/preview/store"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/forge"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func pull(number int, head string) *forge.PullRequest {
	return &forge.PullRequest{Number: number, Head: head, Title: fmt.Sprint("change ", number)}
}

// shelved is a store that counts how often it told of a change.
type shelved struct {
	*store.Store

	told int
}

func newShelved() *shelved {
	s := &shelved{}
	s.Store = store.New(func() { s.told++ })
	return s
}

func (s *shelved) find(t *testing.T, number int) store.Preview {
	t.Helper()
	p, ok := s.Find(number)
	if !ok {
		t.Fatalf("%d is not there", number)
	}
	return p
}

func TestAPreviewIsOfItsHead(t *testing.T) {
	s, c := newShelved(), previewtest.Everything()
	s.Seen(noon, *pull(1, "a"))
	if p := s.find(t, 1); p.State != "" || p.Report != nil {
		t.Errorf("at first there is %+v", p)
	}
	if err := s.Keep(noon.Add(time.Minute), pull(1, "a"), &c); err != nil {
		t.Fatal(err)
	}
	s.Say(noon.Add(time.Minute), pull(1, "a"), forge.Success, "1 object")
	p := s.find(t, 1)
	html, err := p.Report.HTML()
	if err != nil || p.State != forge.Success || p.Line != "1 object" || p.Report.Head != "a" || !strings.Contains(string(html), "Blast radius") {
		t.Errorf("then there is %+v, %v", p, err)
	}
	s.Seen(noon.Add(2*time.Minute), *pull(1, "b"))
	if p := s.find(t, 1); p.State != "" || p.Line != "" || p.Report == nil || p.Report.Head != "a" {
		t.Errorf("of another head there is %+v", p)
	}
	s.Gone(1)
	if _, ok := s.Find(1); ok {
		t.Error("a pull request that is closed is there")
	}
}

// TestItTellsOnlyWhatIsNew: whoever looks is not woken by what they know.
func TestItTellsOnlyWhatIsNew(t *testing.T) {
	s := newShelved()
	for i, step := range []struct {
		do   func()
		told int
	}{
		{func() { s.Seen(noon, *pull(1, "a"), *pull(2, "b")) }, 1},
		{func() { s.Seen(noon.Add(time.Hour), *pull(1, "a")) }, 1},
		{func() { s.Say(noon, pull(1, "a"), forge.Pending, "it waits") }, 2},
		{func() { s.Say(noon.Add(time.Minute), pull(1, "a"), forge.Pending, "it waits") }, 2},
		{func() { s.Say(noon.Add(time.Minute), pull(1, "c"), forge.Pending, "it waits") }, 3},
		{func() { s.Say(noon.Add(time.Minute), pull(1, "c"), forge.Pending, "it waits for somebody") }, 4},
		{func() { s.Say(noon.Add(time.Minute), pull(1, "c"), forge.Success, "it waits for somebody") }, 5},
		{func() { s.Seen(noon, forge.PullRequest{Number: 1, Head: "c", Title: "another title"}, *pull(2, "b")) }, 6},
		{func() { s.Seen(noon, forge.PullRequest{Number: 1, Head: "c", Title: "another title"}, *pull(2, "b")) }, 6},
		{func() { s.Gone(7) }, 6},
		{func() { s.Gone(2) }, 7},
		{func() { s.Working(true) }, 8},
		{func() { s.Working(true) }, 8},
		{func() { s.Working(false) }, 9},
	} {
		if step.do(); s.told != step.told || s.Version() != step.told {
			t.Errorf("step %d: it told %d times, and is at %d; want %d", i, s.told, s.Version(), step.told)
		}
	}
}

func TestItIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing of it runs at once")
	}
	s := newShelved()
	for i := range 3 * store.Most {
		s.Say(noon.Add(time.Duration(i)*time.Minute), pull(1000-i, "a"), forge.Pending, "it waits")
	}
	all, _ := s.All()
	if len(all) != store.Most || all[0].Pull.Number != 1000-2*store.Most || all[store.Most-1].Pull.Number != 1001-3*store.Most {
		t.Errorf("there are %d, from %d to %d", len(all), all[0].Pull.Number, all[len(all)-1].Pull.Number)
	}
	s = newShelved()
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(n int) string {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte('!' + random.IntN(90))
		}
		return string(text)
	}
	c := preview.Comparison{Changes: []preview.Change{{
		Verb: preview.Changes, Objects: []object.Ref{{Kind: "ConfigMap", Name: "a"}},
		Changed: []preview.Content{{Clusters: []string{"a"}, Fields: []fields.Field{{Path: "data.k", To: noise(900_000)}}}},
	}}}
	for i := range 30 {
		if err := s.Keep(noon.Add(time.Duration(i)*time.Minute), pull(i, "a"), &c); err != nil {
			t.Fatal(err)
		}
	}
	all, _ = s.All()
	with := slices.DeleteFunc(slices.Clone(all), func(p store.Preview) bool { return p.Report == nil })
	if len(all) != 30 || len(with) < 10 || len(with) > 25 || with[0].Pull.Number != 29 || with[len(with)-1].Pull.Number != 30-len(with) {
		t.Errorf("of %d, %d have a report", len(all), len(with))
	}
	c.Supposed = []string{noise(9 << 20)}
	if err := s.Keep(noon, pull(99, "a"), &c); err != nil {
		t.Fatal(err)
	}
	p := s.find(t, 99)
	if html, err := p.Report.HTML(); !p.Report.Long || p.Report.Mistaken || len(html) > 0 || err != nil {
		t.Errorf("a report of 9 MiB is kept: %d bytes, %v", len(html), err)
	}
	c.Diags = []diag.Diagnostic{{Code: diag.BadConfig, Severity: diag.Error, Message: "wrong"}}
	if err := s.Keep(noon, pull(99, "b"), &c); err != nil {
		t.Fatal(err)
	}
	if p := s.find(t, 99); !p.Report.Long || !p.Report.Mistaken {
		t.Errorf("a long report of a change that brings an error is %+v", p.Report)
	}
}

// TestSinceWhenAHeadShowsSomething: since it came to that, and not since somebody said so again.
func TestSinceWhenAHeadShowsSomething(t *testing.T) {
	s := newShelved()
	for i, step := range []struct {
		head  string
		state forge.State
		line  string
		since int // the step that it is so since
	}{
		{"a", forge.Pending, "it waits", 0},
		{"a", forge.Pending, "it waits", 0},
		{"a", forge.Pending, "it waits for somebody", 2},
		{"a", forge.Success, "it waits for somebody", 3},
		{"a", forge.Success, "it waits for somebody", 3},
		{"b", forge.Success, "it waits for somebody", 5},
	} {
		s.Say(noon.Add(time.Duration(i)*time.Minute), pull(1, step.head), step.state, step.line)
		if p := s.find(t, 1); !p.Since.Equal(noon.Add(time.Duration(step.since)*time.Minute)) || p.State != step.state || p.Line != step.line {
			t.Errorf("step %d: it is %+v", i, p)
		}
	}
}

func TestUnsure(t *testing.T) {
	s := newShelved()
	for i := range 5 {
		s.Seen(noon.Add(time.Duration(5-i)*time.Minute), *pull(i, "a"))
	}
	if got := s.Unsure(noon.Add(4*time.Minute), 2); !slices.Equal(got, []int{4, 3}) {
		t.Errorf("it is unsure of %v", got)
	}
	if got := s.Unsure(noon, 2); len(got) > 0 {
		t.Errorf("it is unsure of %v", got)
	}
}
