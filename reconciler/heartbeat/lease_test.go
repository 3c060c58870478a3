package heartbeat_test

import (
	"errors"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/heartbeat"
)

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
		{"another one as late as it may be", []int{100, 115, 200}, map[int]bool{140: false, 141: true, 155: true, 156: false}},
		{"another one that is too late", []int{100, 116, 200}, map[int]bool{141: false, 156: false}},
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

// TestWhoIsWaitedFor has one cluster be late, and another one that is expected only, or that is not late yet.
func TestWhoIsWaitedFor(t *testing.T) {
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	short := heartbeat.Times{Lease: 20 * time.Second, Renew: 10 * time.Second, Monitor: 5 * time.Second, Grace: 60 * time.Second}
	longer := short
	longer.Lease = 21 * time.Second
	for _, c := range []struct {
		name     string
		times    heartbeat.Times
		expected bool
		now      int
		want     bool
	}{
		{"its own lease runs", longer, false, 21, false},
		{"another one is late", longer, false, 22, true},
		{"another one may be in time", short, false, 21, false},
		{"another one never beat", longer, true, 22, false},
	} {
		var b heartbeat.Book
		for n, name := range []string{"eu-1", "us-1"} {
			if n == 1 && c.expected {
				b.Expect(name, 0, at(1))
				continue
			}
			for sequence := range uint64(2) {
				one := beat(sequence)
				one.Cluster = name
				if err := b.Hear(name, "", one, at(n)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := b.Waits("eu-1", c.times, at(c.now)); got != c.want {
			t.Errorf("%s: it waits: %t", c.name, got)
		}
	}
}

// Who cannot look misses beats that are made.
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

// TestHowLongALeaseLasts hears two beats, notes what was in the way, and asks for the last second of the lease.
func TestHowLongALeaseLasts(t *testing.T) {
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	usual, public := heartbeat.Usual, heartbeat.Public
	for _, c := range []struct {
		name    string
		times   heartbeat.Times
		session string
		heard   int
		looks   []int
		refused []int // since, and until
		last    int
	}{
		{"nothing", usual, "", 0, nil, nil, 40},
		{"nothing, on a public host", public, "", 0, nil, nil, 300},
		{"a first look", usual, "", 0, []int{30}, nil, 40},
		{"a look that is late", usual, "", 0, []int{1, 11}, nil, 40},
		{"a look that is too late", usual, "", 0, []int{1, 12}, nil, 51},
		{"a look that is too late, and one in time", usual, "", 0, []int{1, 12, 22}, nil, 51},
		{"a beat after the last look", usual, "", 5, []int{0, 11}, nil, 51},
		{"a look that is late for a public host", public, "", 0, []int{1, 61}, nil, 300},
		{"a look that is too late for a public host", public, "", 0, []int{1, 62}, nil, 361},
		{"a refusal", usual, "s", 0, nil, []int{10, 15}, 45},
		{"a refusal before and after the beat", usual, "s", 3, nil, []int{0, 5}, 45},
		{"a refusal of others", usual, "", 0, nil, []int{10, 15}, 40},
	} {
		var b heartbeat.Book
		if len(c.looks) > 0 && c.looks[0] < c.heard {
			b.Looked(c.times, at(c.looks[0]))
			c.looks = c.looks[1:]
		}
		for n := range uint64(2) {
			one := beat(n + 1)
			one.Session = c.session
			if err := b.Hear("eu-1", "", one, at(c.heard)); err != nil {
				t.Fatal(err)
			}
		}
		for _, look := range c.looks {
			b.Looked(c.times, at(look))
		}
		if c.refused != nil {
			b.Refused(at(c.refused[0]), at(c.refused[1]))
		}
		if b.Judge("eu-1", c.times, at(c.last)) != heartbeat.Running || b.Judge("eu-1", c.times, at(c.last+1)) != heartbeat.Expired {
			t.Errorf("%s: it does not last %d s", c.name, c.last)
		}
	}
	var graced heartbeat.Book
	graced.Expect("eu-1", 0, start)
	if graced.Judge("eu-1", public, at(360)) != heartbeat.Running || graced.Judge("eu-1", public, at(361)) != heartbeat.Expired {
		t.Error("on a public host the grace is not 6 minutes")
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

// TestWhatIsKnownOfACluster asks for the last beat and the highest number, of clusters that beat, are expected, or are unknown.
func TestWhatIsKnownOfACluster(t *testing.T) {
	var b heartbeat.Book
	b.Rekey("eu-1", start)
	if b.Last("eu-1") != (heartbeat.Beat{}) || b.Highest("eu-1") != 0 || b.Judge("eu-1", heartbeat.Usual, start) != heartbeat.Unheard ||
		b.Waits("eu-1", heartbeat.Usual, start) {
		t.Error("something is known of a cluster that nobody heard")
	}
	number := uint64(start.UnixMilli())
	first, counted := beat(number), beat(7)
	counted.Cluster = "us-1"
	if err := errors.Join(b.Hear("eu-1", "5f0c", first, start), b.Hear("us-1", "", counted, start)); err != nil {
		t.Fatal(err)
	}
	b.Expect("ap-1", number+1, start)
	b.Expect("eu-1", number+9, start.Add(time.Hour)) // it is known better
	if b.Last("eu-1") != first || b.Last("us-1") != counted || b.Last("ap-1") != (heartbeat.Beat{}) {
		t.Errorf("the last are %+v, %+v and %+v", b.Last("eu-1"), b.Last("us-1"), b.Last("ap-1"))
	}
	if b.Highest("eu-1") != number || b.Highest("us-1") != 0 || b.Highest("ap-1") != number+1 {
		t.Errorf("the highest are %d, %d and %d", b.Highest("eu-1"), b.Highest("us-1"), b.Highest("ap-1"))
	}
	if got := b.Judge("eu-1", heartbeat.Usual, start.Add(61*time.Second)); got != heartbeat.Expired {
		t.Errorf("it lasts from when it was expected: %v", got)
	}
	b.Rekey("eu-1", start.Add(time.Minute))
	if b.Last("eu-1") != (heartbeat.Beat{}) {
		t.Errorf("what another key signed is the last: %+v", b.Last("eu-1"))
	}
	for after, want := range map[time.Duration]heartbeat.Verdict{120 * time.Second: heartbeat.Running, 121 * time.Second: heartbeat.Expired} {
		if got := b.Judge("eu-1", heartbeat.Usual, start.Add(after)); got != want {
			t.Errorf("with another key, after %s it is %v", after, got)
		}
	}
	low := time.UnixMilli(413 << 32) // in 2026; a number of then is a time, though its lower half is small
	if err := b.Hear("low", "", heartbeat.Beat{Cluster: "low", UID: "u", Agent: "a", Sequence: 413<<32 + 1000}, low); err != nil || b.Highest("low") != 413<<32+1000 {
		t.Errorf("its highest is %d: %v", b.Highest("low"), err)
	}
	b.Forget(func(cluster string) bool { return cluster == "us-1" })
	if b.Last("us-1") != counted || b.Highest("ap-1") != 0 {
		t.Error("others are forgotten, or all")
	}
}
