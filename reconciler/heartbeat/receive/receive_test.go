package receive_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/heartbeat/receive"
	"github.com/waybill-dev/waybill/sources/signing"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func newKey(t *testing.T) signing.Key {
	t.Helper()
	key, _, err := signing.NewKey(rand.Reader, "agent")
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sealed is a beat of eu at noon, with something changed.
func sealed(t *testing.T, key signing.Key, edit func(*heartbeat.Beat)) []byte {
	t.Helper()
	b := heartbeat.Beat{Cluster: "eu", UID: "5f0c", Agent: "agent-0", Sequence: uint64(noon.UnixMilli()), Session: "s1"}
	edit(&b)
	data, err := b.Seal(key)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func asItIs(*heartbeat.Beat) {}

// What is not taken is said to whoever sent it, and told once; only who signed as the cluster's agent is told the session and
// the last number.
func TestWhatIsNotTaken(t *testing.T) {
	mine, other := newKey(t), newKey(t)
	at := uint64(noon.UnixMilli())
	for _, tt := range []struct {
		name    string
		cluster string
		sealed  []byte
		why     string // part of why it is not taken; empty: it is
		signed  bool   // so that the session is told
		told    bool
	}{
		{"as it should be", "eu", sealed(t, mine, asItIs), "", true, false},
		{"nothing", "eu", nil, "no heartbeat", false, true},
		{"more than a heartbeat has", "eu", bytes.Repeat([]byte("x"), heartbeat.MaxSize+1), "may have 4096", false, true},
		{"no signature", "eu", append(bytes.SplitAfter(sealed(t, mine, asItIs), []byte("Session: s1\n"))[0], '\n'), "not signed", false, true},
		{"another key", "eu", sealed(t, other, asItIs), "another key", false, true},
		{"what was signed is another one", "eu", bytes.Replace(sealed(t, mine, asItIs), []byte("agent-0"), []byte("agent-1"), 1), "signature", false, true},
		{"a cluster that nobody knows", "xx", sealed(t, mine, asItIs), "no cluster of this name", false, false},
		{"another cluster by its own key", "eu", sealed(t, mine, func(b *heartbeat.Beat) { b.Cluster = "us" }), "us", true, true},
		{"another id of the cluster", "eu", sealed(t, mine, func(b *heartbeat.Beat) { b.UID = "0000" }), "0000", true, true},
		{"no session, as every agent begins", "eu", sealed(t, mine, func(b *heartbeat.Beat) { b.Session = "" }), "session", true, false},
		{"the session of another receiver", "eu", sealed(t, mine, func(b *heartbeat.Beat) { b.Session = "s0" }), "session", true, false},
		{"a number that was heard", "eu", sealed(t, mine, func(b *heartbeat.Beat) { b.Sequence = at - 1000 }), "repeated", true, true},
		{"a number that is far ahead", "eu", sealed(t, mine, func(b *heartbeat.Beat) { b.Sequence = at + uint64(time.Hour.Milliseconds()) }), "from now", true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var told []string
			r := &receive.Receiver{Now: func() time.Time { return noon }, Ignored: func(cluster, why string) { told = append(told, cluster+": "+why) }}
			r.Begin("s1")
			r.Agents(map[string]receive.Agent{"eu": {ID: "5f0c", Key: mine.Public()}, "us": {Key: other.Public()}}, noon)
			last := at - 500
			if a, err := r.Receive("eu", sealed(t, mine, func(b *heartbeat.Beat) { b.Sequence = last })); err != nil || !a.Taken {
				t.Fatal(a, err)
			}
			taken := tt.why == ""
			a, err := r.Receive(tt.cluster, tt.sealed)
			if err == nil && !taken {
				a, err = r.Receive(tt.cluster, tt.sealed) // it is told once
			}
			if err != nil {
				t.Fatal(err)
			}
			if a.Taken != taken || taken != (a.Why == "") || !strings.Contains(a.Why, tt.why) {
				t.Errorf("the answer is %+v, want %q", a, tt.why)
			}
			if (a.Session == "s1") != tt.signed || !taken && tt.signed != (a.Last == last) || taken && a.Last != at {
				t.Errorf("the answer tells %+v", a)
			}
			if len(told) > 1 || tt.told != (len(told) == 1) {
				t.Errorf("what is told is %q", told)
			}
		})
	}
}

// Nobody takes beats before it is known who may beat, and after the end.
func TestClosed(t *testing.T) {
	key := newKey(t)
	agents := map[string]receive.Agent{"eu": {Key: key.Public()}}
	r := &receive.Receiver{Now: func() time.Time { return noon }}
	for name, step := range map[string]func(){
		"before it begins": func() {}, "before it knows the agents": func() { r.Begin("s1") },
		"once it has ended": func() { r.Begin("s1"); r.Agents(agents, noon); r.End() },
	} {
		step()
		if _, err := r.Receive("eu", sealed(t, key, asItIs)); !errors.Is(err, receive.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
		r.End()
	}
}

// Of one cluster one beat is read at a time, so that who floods it keeps no other waiting.
func TestOneOfAClusterAtATime(t *testing.T) {
	eu, us := newKey(t), newKey(t)
	inside, resume := make(chan bool, 10), make(chan bool)
	r := &receive.Receiver{Now: func() time.Time { return noon }, Ignored: func(string, string) {
		inside <- true
		<-resume
	}}
	r.Begin("s1")
	r.Agents(map[string]receive.Agent{"eu": {Key: eu.Public()}, "us": {Key: us.Public()}}, noon)
	ended := make(chan bool, 10)
	for _, garbage := range []string{"a", strings.Repeat("x", heartbeat.MaxSize+1)} { // each is told
		go func() {
			_, _ = r.Receive("eu", []byte(garbage))
			ended <- true
		}()
	}
	<-inside
	select {
	case <-inside:
		t.Error("two of one cluster are read at once")
	case <-time.After(200 * time.Millisecond):
	}
	if a, err := r.Receive("us", sealed(t, us, func(b *heartbeat.Beat) { b.Cluster = "us" })); err != nil || !a.Taken {
		t.Errorf("another cluster waits for it: %+v, %v", a, err)
	}
	close(resume)
	<-ended
	<-ended
}

// TestWhoCouldNotLookMissedNoBeat: a receiver that stood still for an hour does not take an agent for dead that beat meanwhile.
func TestWhoCouldNotLookMissedNoBeat(t *testing.T) {
	key, _, err := signing.NewKey(rand.Reader, "eu")
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	var r receive.Receiver
	r.Begin("s")
	r.Agents(map[string]receive.Agent{"eu": {Key: key.Public()}}, begun)
	r.Read(func(b *heartbeat.Book) { b.Expect("eu", 0, begun) })
	judge := func(now time.Time) (v heartbeat.Verdict) {
		r.Look(heartbeat.Usual, now)
		r.Read(func(b *heartbeat.Book) { v = b.Judge("eu", heartbeat.Usual, now) })
		return v
	}
	later := begun.Add(time.Hour)
	for _, now := range []time.Time{begun, later, later.Add(5 * time.Second)} {
		if v := judge(now); v != heartbeat.Running {
			t.Errorf("at %s it is %v", now.Format(time.TimeOnly), v)
		}
	}
	for at := 10 * time.Second; at < 65*time.Second; at += 5 * time.Second {
		judge(later.Add(at))
	}
	if v := judge(later.Add(65 * time.Second)); v != heartbeat.Expired {
		t.Errorf("and when it is looked for all the time it is %v", v)
	}
}

// begun is a receiver that takes beats of eu by a key, with what its book says of eu.
func begun(key signing.Key, id string) (*receive.Receiver, func(now time.Time) heartbeat.Verdict) {
	r := &receive.Receiver{Now: func() time.Time { return noon }}
	r.Begin("s1")
	r.Agents(map[string]receive.Agent{"eu": {ID: id, Key: key.Public()}}, noon)
	return r, func(now time.Time) (v heartbeat.Verdict) {
		r.Read(func(b *heartbeat.Book) { v = b.Judge("eu", heartbeat.Usual, now) })
		return v
	}
}

// heard has a beat of eu be received, with a sequence number some time from noon, and reports whether it is taken.
func heard(t *testing.T, r *receive.Receiver, key signing.Key, later time.Duration, edit func(*heartbeat.Beat)) bool {
	t.Helper()
	a, err := r.Receive("eu", sealed(t, key, func(b *heartbeat.Beat) {
		b.Sequence = uint64(noon.Add(later).UnixMilli())
		edit(b)
	}))
	if err != nil {
		t.Fatal(err)
	}
	return a.Taken
}

// Who may beat for a cluster changes while its lease runs: the agent gets another key, the cluster another id, or it is no
// longer pulled to.
func TestAnotherAgentMayBeat(t *testing.T) {
	first, second := newKey(t), newKey(t)
	agents := func(id string, key signing.Key) map[string]receive.Agent {
		return map[string]receive.Agent{"eu": {ID: id, Key: key.Public()}}
	}
	t.Run("with another key", func(t *testing.T) {
		r, judge := begun(first, "5f0c")
		if !heard(t, r, first, time.Minute, asItIs) {
			t.Fatal("the first beat is not taken")
		}
		r.Agents(agents("5f0c", second), noon)
		if heard(t, r, first, 2*time.Minute, asItIs) {
			t.Error("the key of before counts")
		}
		if v := judge(noon.Add(heartbeat.Usual.Lease)); v != heartbeat.Running {
			t.Errorf("and the lease is %v", v)
		}
		if !heard(t, r, second, 0, asItIs) {
			t.Error("what the key of before signed counts, so that a lower number of the new one does not")
		}
	})
	t.Run("with the same key", func(t *testing.T) {
		r, _ := begun(first, "5f0c")
		heard(t, r, first, time.Minute, asItIs)
		r.Agents(agents("5f0c", first), noon)
		if heard(t, r, first, 0, asItIs) {
			t.Error("what was heard is forgotten, so that it may be repeated")
		}
	})
	t.Run("in a cluster with another id", func(t *testing.T) {
		r, _ := begun(first, "5f0c")
		r.Agents(agents("0000", first), noon)
		if heard(t, r, first, 0, asItIs) {
			t.Error("a beat from the cluster of before counts")
		}
		if !heard(t, r, first, time.Second, func(b *heartbeat.Beat) { b.UID = "0000" }) {
			t.Error("a beat from the cluster does not count")
		}
	})
	t.Run("no more", func(t *testing.T) {
		r, judge := begun(first, "5f0c")
		heard(t, r, first, 0, asItIs)
		r.Agents(map[string]receive.Agent{}, noon)
		if v := judge(noon); v != heartbeat.Unheard || heard(t, r, first, time.Second, asItIs) || r.Clusters() != 0 {
			t.Errorf("nobody may, and it is %v of %d", v, r.Clusters())
		}
	})
}

// A beat that was on its way when the key changed does not count: it is judged by who may beat when it is taken.
func TestAKeyThatChangesWhileABeatIsRead(t *testing.T) {
	first, second := newKey(t), newKey(t)
	inside, resume := make(chan bool), make(chan bool)
	r := &receive.Receiver{Now: func() time.Time { return noon }, Ignored: func(string, string) {
		inside <- true
		<-resume
	}}
	r.Begin("s1")
	r.Agents(map[string]receive.Agent{"eu": {Key: first.Public()}}, noon)
	ended := make(chan receive.Answer)
	send := func(beat []byte) {
		a, _ := r.Receive("eu", beat)
		ended <- a
	}
	go send([]byte("garbage"))
	<-inside
	go send(sealed(t, first, asItIs)) // it waits for the one before
	time.Sleep(100 * time.Millisecond)
	r.Agents(map[string]receive.Agent{"eu": {Key: second.Public()}}, noon)
	resume <- true
	if a, b := <-ended, <-ended; a.Taken || b.Taken {
		t.Error("a beat by the key of before is taken")
	}
}

// Another session knows nothing of the one before.
func TestANewSession(t *testing.T) {
	key := newKey(t)
	r, judge := begun(key, "")
	heard(t, r, key, time.Minute, asItIs)
	r.Begin("s2")
	r.Agents(map[string]receive.Agent{"eu": {Key: key.Public()}}, noon)
	if v := judge(noon); v != heartbeat.Unheard {
		t.Errorf("before the first beat it is %v", v)
	}
	if heard(t, r, key, 0, asItIs) {
		t.Error("a beat of the session before counts")
	}
	if !heard(t, r, key, 0, func(b *heartbeat.Beat) { b.Session = "s2" }) {
		t.Error("a number below the last one of the session before does not count")
	}
}

// While somebody was refused for want of places nobody who beats so is late; from the next look on they are.
func TestWhoWasRefusedIsNotLate(t *testing.T) {
	key := newKey(t)
	r, judge := begun(key, "")
	heard(t, r, key, 0, asItIs)
	heard(t, r, key, time.Second, asItIs)
	at := noon
	for ; at.Before(noon.Add(10 * time.Minute)); at = at.Add(5 * time.Second) {
		r.Look(heartbeat.Usual, at)
		r.Refuse()
	}
	r.Look(heartbeat.Usual, at)
	if v := judge(at); v != heartbeat.Running {
		t.Errorf("refused for ten minutes, it is %v", v)
	}
	for end := at.Add(time.Minute); at.Before(end); at = at.Add(5 * time.Second) {
		r.Look(heartbeat.Usual, at)
	}
	if v := judge(at); v != heartbeat.Expired {
		t.Errorf("silent for a minute, it is %v", v)
	}
}
