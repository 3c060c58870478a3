package worker

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// TestWhatADeathSays: of which job, why, and what is known of that.
func TestWhatADeathSays(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]DeathError{
		"the worker died: crashed":                              {Reason: Crashed},
		"the worker died: crashed: panic in main.main":          {Reason: Crashed, Detail: "panic in main.main"},
		"rendering shop/web: the worker died: time limit":       {Name: "shop/web", Reason: TimeLimit},
		"rendering web: the worker died: out of memory: 64 MiB": {Name: "web", Reason: OutOfMemory, Detail: "64 MiB"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

// TestFrames come as they were sent, whatever their size, and are read as far as is allowed for their kind, and no further.
func TestFrames(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, maxSmall - 1, maxSmall, maxSmall + 1, 3 * maxSmall} {
		var wire bytes.Buffer
		sent := bytes.Repeat([]byte("x"), size)
		if err := writeFrame(&wire, kindOutput, sent); err != nil {
			t.Fatal(err)
		}
		if err := writeFrame(&wire, kindError, []byte("no")); err != nil {
			t.Fatal(err)
		}
		whole := wire.Bytes()
		if want := []byte{'O', 0, byte(size >> 16), byte(size >> 8), byte(size)}; !bytes.Equal(whole[:header], want) {
			t.Errorf("of %d bytes it begins with %v, want %v", size, whole[:header], want)
		}
		in := bytes.NewReader(whole)
		k, got, err := readFrame(in, map[kind]int64{kindOutput: int64(size)})
		if err != nil || k != kindOutput || !bytes.Equal(got, sent) {
			t.Errorf("of %d bytes %d of kind %q are read; %v", size, len(got), k, err)
		}
		if k, got, err = readFrame(in, map[kind]int64{kindError: 2}); err != nil || k != kindError || string(got) != "no" {
			t.Errorf("the next one is %q, %q; %v", k, got, err)
		}
		if _, _, err = readFrame(in, map[kind]int64{kindError: 2}); !errors.Is(err, io.EOF) {
			t.Errorf("at the end: %v", err)
		}
		tooLong := fmt.Sprintf("a frame of %d bytes is more than %d", size, size-1)
		for most, what := range map[kind]string{kindReport: "a frame of kind 'O'", kindOutput: tooLong} {
			_, _, err := readFrame(bytes.NewReader(whole), map[kind]int64{most: int64(size) - 1})
			if !errors.Is(err, errProtocol) || !strings.Contains(err.Error(), what) {
				t.Errorf("of %d bytes where %q is allowed: %v", size, most, err)
			}
		}
		_, _, err = readFrame(bytes.NewReader(whole[:header+size/2]), map[kind]int64{kindOutput: int64(size)})
		if isCut := size > 0; isCut != errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("of %d bytes half come: %v", size, err)
		}
	}
}

// TestWhichPathsAreAnswered: one that is valid and not too long, once, and not more than there may be.
func TestWhichPathsAreAnswered(t *testing.T) {
	t.Parallel()
	l := newLookup(fstest.MapFS{"a": {Data: []byte("x")}}, 1<<40)
	for _, tt := range []struct {
		path string
		want string
	}{
		{"a", ""},
		{"a", "twice"},
		{"b", ""},
		{"b", "twice"},
		{"../a", "a path that is none"},
		{"/a", "a path that is none"},
		{"", "a path that is none"},
		{strings.Repeat("x", maxPath), ""},
		{strings.Repeat("y", maxPath+1), "a path that is none"},
	} {
		_, err := l.answer(tt.path)
		if (err != nil) != (tt.want != "") || err != nil && (!errors.Is(err, errProtocol) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%.10s is answered with %v, want %q", tt.path, err, tt.want)
		}
	}
	if len(l.reads) != 3 || l.reads[0] != (Read{"a", File}) || l.reads[1] != (Read{"b", Absent}) || l.err != nil {
		t.Errorf("read are %d, first %+v; %v", len(l.reads), l.reads[0], l.err)
	}
	for n := len(l.seen); n < maxAsks; n++ {
		if _, err := l.look(strconv.Itoa(n)); err != nil {
			t.Fatal(n, err)
		}
	}
	if _, err := l.look("one more"); !errors.Is(err, errProtocol) || !strings.Contains(err.Error(), "200000") {
		t.Errorf("one more is answered with %v", err)
	}
	if f, err := newLookup(nil, 1).look("a"); err != nil || f.Kind != Absent {
		t.Errorf("of no files there is %+v; %v", f, err)
	}
}

// TestTheBeginningOfStandardErrorIsKept, and whoever writes more is not kept from it.
func TestTheBeginningOfStandardErrorIsKept(t *testing.T) {
	t.Parallel()
	var e tail
	for n := range 3 {
		if took, err := fmt.Fprint(&e, strings.Repeat(strconv.Itoa(n), maxStderr-5)); took != maxStderr-5 || err != nil {
			t.Errorf("it takes %d bytes; %v", took, err)
		}
	}
	if text := e.String(); text != strings.Repeat("0", maxStderr-5)+"11111" {
		t.Errorf("it keeps %d bytes, and ends with %q", len(text), text[len(text)-10:])
	}
}

// TestWhatAHandlerAnswers: its output, if that is not too much, or else an error, which is not too long.
func TestWhatAHandlerAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		output string
		err    error
		kind   kind
		want   string
	}{
		{"1234567890", nil, kindOutput, "1234567890"},
		{"", nil, kindOutput, ""},
		{"1234567890x", nil, kindError, "the output has 11 bytes; at most 10 are allowed"},
		{"12345678901", errors.New("no such value"), kindError, "no such value"},
		{"", errors.New(strings.Repeat("x", maxSmall)), kindError, strings.Repeat("x", maxSmall)},
		{"", errors.New(strings.Repeat("x", maxSmall) + "y"), kindError, strings.Repeat("x", maxSmall)},
	} {
		var wire bytes.Buffer
		s := server{out: &wire, settings: settings{MaxOutput: 10}, handler: func(job []byte, _ fs.FS) ([]byte, error) {
			if string(job) != "job" {
				t.Errorf("the job is %q", job)
			}
			return []byte(tt.output), tt.err
		}}
		if err := s.do([]byte("job")); err != nil {
			t.Error(err)
		}
		k, got, err := readFrame(&wire, map[kind]int64{kindOutput: 100, kindError: 2 * maxSmall})
		if err != nil || k != tt.kind || string(got) != tt.want {
			t.Errorf("%.20q, %.20v is answered with %q, %.40q; %v", tt.output, tt.err, k, got, err)
		}
	}
}

// TestAChildThatIsToldNothing ends with an error, before it raises anything.
func TestAChildThatIsToldNothing(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                   "reading settings: EOF",
		"S\x00\x00\x00\x01{": "reading settings: unexpected end of JSON input",
		"J\x00\x00\x00\x00":  "reading settings: broke the protocol",
	} {
		s := server{in: strings.NewReader(in), out: io.Discard}
		if err := s.serve(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("told %q it says %v", in, err)
		}
	}
}

// TestWhatABudgetLeaves: of time no more than a job may have by itself, and what is taken is taken from all that come after.
func TestWhatABudgetLeaves(t *testing.T) {
	t.Parallel()
	var none *Budget
	if limit, why := none.atMost(time.Second); limit != time.Second || !errors.Is(why, errCPULimit) {
		t.Errorf("without a budget a job may have %s; %v", limit, why)
	}
	b := NewBudget(3*time.Second, 300<<20)
	for _, step := range []struct {
		used   time.Duration
		output int
		want   time.Duration // at most
		spent  bool
	}{
		{0, 0, 2 * time.Second, false},
		{time.Second, 100 << 20, 2 * time.Second, false},
		{-time.Minute, 0, 2 * time.Second, false},
		{time.Second, 0, time.Second, true},
	} {
		b.spend(step.used, step.output)
		if limit, why := b.atMost(2 * time.Second); limit != step.want || errors.Is(why, ErrBudget) != step.spent {
			t.Errorf("after %s a job may have %s; %v", step.used, limit, why)
		}
	}
	for child, isRoom := range map[int64]bool{200 << 20: true, 200<<20 + 1: false} {
		err := b.begin(t.Context(), child)
		if (err == nil) != isRoom || err != nil && err.Error() != ErrBudget.Error()+": 3s of a processor and 300 MiB" {
			t.Errorf("a child of %d bytes: %v", child, err)
		} else if err == nil {
			b.end()
		}
	}
}

// TestATextOfAChildOrdersNothing: what a terminal would take for orders is not repeated.
func TestATextOfAChildOrdersNothing(t *testing.T) {
	t.Parallel()
	if got, want := printable([]byte("a\tb\nc\x1b[2Jd\x00\ré\u0085")), "a\tb\nc\uFFFD[2Jd\uFFFD\uFFFDé\uFFFD"; got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
}

// TestWhatIsNotSaidHasItsUsualValue, and no more is taken than a frame may hold.
func TestWhatIsNotSaidHasItsUsualValue(t *testing.T) {
	t.Parallel()
	o := Options{}.withDefaults()
	if o.Memory != 1<<30 || o.CPU != 20*time.Second || o.Wall != o.CPU || o.MaxInput != 256<<20 || o.MaxOutput != 256<<20 || o.Jobs != 1 {
		t.Errorf("it is %+v", o)
	}
	if *o.layers != (layers{true, true, true, true}) {
		t.Errorf("the layers are %+v", o.layers)
	}
	said := Options{Memory: 1, CPU: 2, Wall: 3, MaxInput: 1 << 40, MaxOutput: 1 << 40, Jobs: 4, layers: &layers{}}.withDefaults()
	isSaid := said.Memory == 1 && said.CPU == 2 && said.Wall == 3 && said.Jobs == 4 && *said.layers == layers{}
	if !isSaid || said.MaxInput != maxFrame || said.MaxOutput != maxFrame {
		t.Errorf("what is said comes to %+v", said)
	}
}
