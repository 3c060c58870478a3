package heartbeat_test

import (
	"crypto/rand"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/sources/signing"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func beat(sequence uint64) heartbeat.Beat {
	return heartbeat.Beat{Cluster: "eu-1", UID: "5f0c", Agent: "agent-0", Sequence: sequence}
}

func TestASealedBeatCountsForOneKey(t *testing.T) {
	mine, _, err := signing.NewKey(rand.Reader, "")
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := signing.NewKey(rand.Reader, "")
	if err != nil {
		t.Fatal(err)
	}
	b := beat(7)
	b.Session = "s1"
	sealed, err := b.Seal(mine)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := heartbeat.Open(sealed, mine.Public()); err != nil || got != b {
		t.Errorf("it is %+v: %v", got, err)
	}
	if _, err := heartbeat.Open(sealed, other.Public()); !errors.Is(err, signing.ErrForeign) {
		t.Errorf("another key: %v", err)
	}
	forged := []byte(strings.Replace(string(sealed), "Sequence: 7", "Sequence: 8", 1))
	if _, err := heartbeat.Open(forged, mine.Public()); !errors.Is(err, signing.ErrForged) {
		t.Errorf("another sequence: %v", err)
	}
	for name, wrong := range map[string][]byte{"nothing": nil, "no signature": []byte(b.Text()), "too much": make([]byte, heartbeat.MaxSize+1)} {
		if _, err := heartbeat.Open(wrong, mine.Public()); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// step is what happens at a second after the start, and what is judged of it then.
type step struct {
	at     int
	beat   uint64 // zero: none comes
	looked bool
	want   heartbeat.Verdict
}

func TestLeases(t *testing.T) {
	for _, c := range []struct {
		name     string
		expected bool
		steps    []step
	}{
		{"a cluster that never beat", false, []step{{0, 0, true, heartbeat.Unheard}, {3600, 0, true, heartbeat.Unheard}}},
		{"one that beats", false, []step{{0, 1, true, heartbeat.Running}, {10, 2, true, heartbeat.Running}, {20, 3, true, heartbeat.Running}}},
		{"one that stops", false, []step{{0, 1, true, heartbeat.Running}, {10, 2, true, heartbeat.Running}, {50, 0, true, heartbeat.Running}, {51, 0, true, heartbeat.Expired}, {60, 3, true, heartbeat.Running}}},
		{"one that was there when the judge began may be old, and has the grace", false, []step{{0, 9, true, heartbeat.Running}, {60, 0, true, heartbeat.Running}, {61, 0, true, heartbeat.Expired}}},
		{"one that beat before the judge began has the grace", true, []step{{0, 0, true, heartbeat.Running}, {60, 0, true, heartbeat.Running}, {61, 0, true, heartbeat.Expired}}},
		{"one that is expected, and beats", true, []step{{5, 4, true, heartbeat.Running}, {15, 5, true, heartbeat.Running}, {55, 0, true, heartbeat.Running}, {56, 0, true, heartbeat.Expired}}},
		{"a beat that is repeated is none", false, []step{{0, 5, true, heartbeat.Running}, {10, 6, true, heartbeat.Running}, {30, 6, true, heartbeat.Running}, {45, 5, true, heartbeat.Running}, {51, 6, true, heartbeat.Expired}}},
		{"flapping every 20 s", false, []step{{0, 1, true, heartbeat.Running}, {20, 2, true, heartbeat.Running}, {40, 3, true, heartbeat.Running}, {60, 4, true, heartbeat.Running}, {80, 5, true, heartbeat.Running}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b heartbeat.Book
			if c.expected {
				b.Expect("eu-1", 0, start)
			}
			for _, s := range c.steps {
				now := start.Add(time.Duration(s.at) * time.Second)
				if s.beat > 0 {
					_ = b.Hear("eu-1", "5f0c", beat(s.beat), now) // one that is repeated is an error
				}
				if got := b.Judge("eu-1", heartbeat.Usual, now); got != s.want {
					t.Errorf("after %d s it is %v, want %v", s.at, got, s.want)
				}
			}
		})
	}
}

// Who cannot look misses beats that are made.
// TestLeasesThatRunOutTogetherWait has three agents be cut off at one time, who beat at different
// ones, and one that is alone.
func TestLeasesThatRunOutTogetherWait(t *testing.T) {
	for _, c := range []struct {
		name  string
		last  []int // when each beats last, in seconds
		waits map[int]bool
	}{
		{"one of three", []int{100, 200, 200}, map[int]bool{141: false}},
		{"all", []int{100, 104, 109}, map[int]bool{140: false, 141: true, 145: true, 149: true, 150: false}},
		{"another one much later", []int{100, 118, 200}, map[int]bool{141: false, 145: false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b heartbeat.Book
			names := []string{"eu-1", "us-1", "ap-1"}
			for at := 1; at <= 200; at++ {
				now := start.Add(time.Duration(at) * time.Second)
				for i, name := range names {
					if at <= c.last[i] && (c.last[i]-at)%10 == 0 {
						one := beat(uint64(at))
						one.Cluster = name
						if err := b.Hear(name, "", one, now); err != nil {
							t.Fatal(err)
						}
					}
				}
				if want, ok := c.waits[at]; ok && b.Waits("eu-1", heartbeat.Usual, now) != want {
					t.Errorf("after %d s it waits: %t", at, !want)
				}
			}
		})
	}
}

func TestWhileNobodyCanLookNoLeaseRunsOut(t *testing.T) {
	var b heartbeat.Book
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	for s := 0; s <= 30; s += 5 {
		b.Looked(heartbeat.Usual, at(s))
		if s%10 == 0 {
			if err := b.Hear("eu-1", "", beat(uint64(s+1)), at(s)); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.Looked(heartbeat.Usual, at(3600)) // the server was away for an hour
	for s := 3600; s <= 3640; s += 5 {
		b.Looked(heartbeat.Usual, at(s))
		if got := b.Judge("eu-1", heartbeat.Usual, at(s)); got != heartbeat.Running {
			t.Errorf("at %d s it is %v", s, got)
		}
	}
	b.Looked(heartbeat.Usual, at(3645))
	if got := b.Judge("eu-1", heartbeat.Usual, at(3645)); got != heartbeat.Expired {
		t.Errorf("it is %v, and beats no more", got)
	}
}

func TestBeatsOfOthersAreRefused(t *testing.T) {
	var b heartbeat.Book
	other := beat(1)
	other.Cluster = "us-1"
	if err := b.Hear("eu-1", "", other, start); !errors.Is(err, heartbeat.ErrOther) {
		t.Errorf("another cluster: %v", err)
	}
	if err := b.Hear("eu-1", "not-5f0c", beat(1), start); !errors.Is(err, heartbeat.ErrOther) {
		t.Errorf("another id: %v", err)
	}
	if got := b.Judge("eu-1", heartbeat.Usual, start); got != heartbeat.Unheard {
		t.Errorf("it is %v", got)
	}
	if err := errors.Join(b.Hear("eu-1", "", beat(3), start), b.Hear("eu-1", "", beat(4), start)); err != nil {
		t.Error(err)
	}
	if err := b.Hear("eu-1", "", beat(4), start); !errors.Is(err, heartbeat.ErrOld) {
		t.Errorf("the same again: %v", err)
	}
	b.Forget(func(string) bool { return false })
	if got := b.Judge("eu-1", heartbeat.Usual, start); got != heartbeat.Unheard {
		t.Errorf("it is not forgotten: %v", got)
	}
}

func TestPublicHostsBearFewBeats(t *testing.T) {
	for _, c := range []struct {
		origin   string
		clusters int
		want     heartbeat.Times
		ok       bool
	}{
		{"https://git.example.com", 1000, heartbeat.Usual, true},
		{"", 1000, heartbeat.Usual, true},
		{"https://github.com", 3, heartbeat.Public, true},
		{"ssh://GitHub.com", 4, heartbeat.Public, false},
		{"https://gitlab.com:443", 4, heartbeat.Public, false},
		{"https://notgithub.com", 4, heartbeat.Usual, true},
	} {
		got, err := heartbeat.ByGit(c.origin, c.clusters)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%s with %d: %v, %v", c.origin, c.clusters, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "which bears 3") {
			t.Errorf("it does not name the limit: %v", err)
		}
	}
}

// What is read is what would have been written.
func FuzzParse(f *testing.F) {
	b := beat(18446744073709551615)
	f.Add(b.Text())
	b.Session = "s"
	f.Add(b.Text())
	f.Add("eu-1: heartbeat\n\nHeartbeat-Cluster: eu-1\n")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := heartbeat.Parse(text)
		if err == nil && b.Text() != text {
			t.Errorf("%q is read as %+v", text, b)
		}
		if err != nil && b != (heartbeat.Beat{}) {
			t.Errorf("%q is no beat, and says %+v", text, b)
		}
	})
}

func TestWhichSequenceNumbersCount(t *testing.T) {
	now := uint64(start.UnixMilli())
	for _, c := range []struct {
		what   string
		before []uint64
		next   uint64
		counts bool
	}{
		{"the first time", nil, now, true},
		{"the same again", []uint64{now}, now, false},
		{"one by a clock that is a little ahead", []uint64{now}, now + 240_000, true},
		{"one that has not come", []uint64{now}, now + 360_000, false},
		{"the highest that there is", nil, 1<<64 - 1, false},
		{"one of the release before", nil, 3, true},
		{"one of the release before, of the 500th agent", nil, 500<<32 + 3, true},
		{"a time after that", []uint64{500<<32 + 3}, now, true},
		{"one of the release before, after a time", []uint64{3, now}, 500<<32 + 4, false},
	} {
		var b heartbeat.Book
		for _, sequence := range c.before {
			if err := b.Hear("eu-1", "", beat(sequence), start); err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
		}
		if err := b.Hear("eu-1", "", beat(c.next), start); (err == nil) != c.counts {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// TestWhatWasHeardCountsAfterARestart repeats a beat of before the lease ran out.
func TestWhatWasHeardCountsAfterARestart(t *testing.T) {
	var b heartbeat.Book
	highest := uint64(start.UnixMilli())
	b.Expect("eu-1", highest, start)
	if err := b.Hear("eu-1", "", beat(highest), start); !errors.Is(err, heartbeat.ErrOld) {
		t.Error(err)
	}
	b.Rekey("eu-1", start)
	if err := b.Hear("eu-1", "", beat(highest-1), start); err != nil {
		t.Errorf("another key: %v", err)
	}
}

// TestWhoIsRefusedIsNotSilent refuses beats by HTTP for an hour.
func TestWhoIsRefusedIsNotSilent(t *testing.T) {
	var b heartbeat.Book
	for n := range uint64(2) {
		byHTTP := beat(n + 1)
		byHTTP.Session = "s"
		if err := b.Hear("eu-1", "5f0c", byHTTP, start); err != nil {
			t.Fatal(err)
		}
	}
	b.Expect("us-1", 0, start) // by which way it beats nobody knows
	for n := range uint64(2) {
		if err := b.Hear("ap-1", "", heartbeat.Beat{Cluster: "ap-1", UID: "u", Agent: "a", Sequence: n + 1}, start); err != nil {
			t.Fatal(err)
		}
	}
	at := start
	for ; at.Before(start.Add(time.Hour)); at = at.Add(5 * time.Second) {
		b.Refused(at, at.Add(5*time.Second))
	}
	if us, ap := b.Judge("us-1", heartbeat.Usual, at), b.Judge("ap-1", heartbeat.Usual, at); us != heartbeat.Running || ap != heartbeat.Expired {
		t.Errorf("who is expected is %v, and who beats by Git is %v", us, ap)
	}
	if got := b.Judge("eu-1", heartbeat.Usual, at); got != heartbeat.Running {
		t.Errorf("it is %v", got)
	}
	if got := b.Judge("eu-1", heartbeat.Usual, at.Add(41*time.Second)); got != heartbeat.Expired {
		t.Errorf("and then it is %v", got)
	}
}

// An agent whose clock is late goes on from what was heard of it; from a number that no agent gave it does not.
func TestAnAgentWhoseClockIsLateGoesOn(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) uint64 { return uint64(now.Add(d).UnixMilli()) }
	for last, want := range map[uint64]bool{0: true, 7 << 32: true, at(-time.Hour): true, at(time.Hour): true, at(25 * time.Hour): false, math.MaxUint64: false} {
		if got := heartbeat.GoesOn(last, now); got != want {
			t.Errorf("after %d: %v", last, got)
		}
	}
}
