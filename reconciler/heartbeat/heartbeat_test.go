package heartbeat_test

import (
	"crypto/rand"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
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
		{"https://github.com:port", 4, heartbeat.Usual, true},
		{"ssh://ssh.dev.azure.com:22", 3, heartbeat.Public, true},
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
		{"one that is as far ahead as it may be", nil, now + 300_000, true},
		{"one that is further ahead", nil, now + 300_001, false},
		{"one of the release before", nil, 3, true},
		{"one of the release before, without another", nil, 0, true},
		{"the same of the release before", []uint64{3}, 3, false},
		{"the last of the release before that an agent counted", nil, 500<<32 + 1<<25 - 1, true},
		{"one more than an agent counted", nil, 500<<32 + 1<<25, false},
		{"the last term of the release before", nil, (1<<20-1)<<32 + 1, true},
		{"one term more", nil, 1<<52 + 1, false},
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
	if b.Highest("eu-1") != 0 {
		t.Errorf("by another key it is at %d", b.Highest("eu-1"))
	}
	if err := b.Hear("eu-1", "", beat(highest-1), start); err != nil {
		t.Errorf("another key: %v", err)
	}
}

// TestWhatIsNoBeat changes what can be read, so that it says odd things of the cluster, or more than a beat does.
func TestWhatIsNoBeat(t *testing.T) {
	whole := beat(7)
	whole.Session = "s"
	long := strings.Repeat("x", 253)
	for name, change := range map[string]func(*heartbeat.Beat){
		"with a session":    func(*heartbeat.Beat) {},
		"without":           func(b *heartbeat.Beat) { b.Session = "" },
		"the highest":       func(b *heartbeat.Beat) { b.Sequence = math.MaxUint64 },
		"as long as can be": func(b *heartbeat.Beat) { b.Cluster, b.UID, b.Agent, b.Session = long, long, long, long },
		"other letters":     func(b *heartbeat.Beat) { b.Cluster, b.UID, b.Agent, b.Session = "Köln", "ä", "ö:ü", "é" },
	} {
		b := whole
		change(&b)
		got, err := heartbeat.Parse(b.Text())
		if err != nil || got != b {
			t.Errorf("%s: it is %+v: %v", name, got, err)
		}
	}
	for _, odd := range []string{"", long + "x", "a b", " ", "a\u00a0b", "a\tb", "\x07", "\u200b", "\xff", "a\nb"} {
		for name, change := range map[string]func(*heartbeat.Beat){
			"cluster": func(b *heartbeat.Beat) { b.Cluster = odd },
			"uid":     func(b *heartbeat.Beat) { b.UID = odd },
			"agent":   func(b *heartbeat.Beat) { b.Agent = odd },
			"session": func(b *heartbeat.Beat) { b.Session = odd },
		} {
			b := whole
			if change(&b); odd == "" && name == "session" {
				continue // none is asked for
			}
			if got, err := heartbeat.Parse(b.Text()); err == nil || got != (heartbeat.Beat{}) {
				t.Errorf("a %s %q is taken: %+v, %v", name, odd, got, err)
			}
		}
	}
	text := whole.Text()
	for name, wrong := range map[string]string{
		"nothing":                 "",
		"another line":            text + "Other: x\n",
		"a line twice":            text + "Heartbeat-Session: s\n",
		"a sequence that is none": strings.Replace(text, ": 7", ": x", 1),
		"a sequence otherwise":    strings.Replace(text, ": 7", ": 07", 1),
		"a negative one":          strings.Replace(text, ": 7", ": -7", 1),
		"too high a one":          strings.Replace(text, ": 7", ": 18446744073709551616", 1),
		"another title":           "x" + text,
		"no end":                  strings.TrimSuffix(text, "\n"),
	} {
		if got, err := heartbeat.Parse(wrong); err == nil || got != (heartbeat.Beat{}) {
			t.Errorf("%s: it is %+v: %v", name, got, err)
		}
	}
	key, _, err := signing.NewKey(rand.Reader, "")
	if err != nil {
		t.Fatal(err)
	}
	for size, says := range map[int]bool{heartbeat.MaxSize: false, heartbeat.MaxSize + 1: true} {
		_, opened := heartbeat.Open(make([]byte, size), key.Public())
		_, parsed := heartbeat.Parse(strings.Repeat("x", size))
		for _, err := range []error{opened, parsed} {
			if err == nil || strings.Contains(err.Error(), "bytes") != says {
				t.Errorf("%d bytes: %v", size, err)
			}
		}
	}
}

// TestKeyOfACluster: a Cluster that is pulled to has its agent's key in an annotation.
func TestKeyOfACluster(t *testing.T) {
	key, _, err := signing.NewKey(rand.Reader, "")
	if err != nil {
		t.Fatal(err)
	}
	public := key.Public()
	for _, c := range []struct {
		name string
		mode karmada.ClusterSyncMode
		text string
		want string // empty: none
		err  string
	}{
		{"pulled to", karmada.Pull, public.String(), public.String(), ""},
		{"pushed to", karmada.Push, public.String(), "", ""},
		{"pushed to, with an odd key", karmada.Push, "odd", "", ""},
		{"without a key", karmada.Pull, "", "", ""},
		{"with an odd key", karmada.Pull, "odd", "", "the annotation waybill.dev/agent-key of the Cluster eu-1: "},
	} {
		cluster := karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu-1", Annotations: map[string]string{heartbeat.AgentKey: c.text}}}
		cluster.Spec.SyncMode = c.mode
		got, err := heartbeat.KeyOf(&cluster)
		if (got != nil) != (c.want != "") || got != nil && got.String() != c.want {
			t.Errorf("%s: it is %v", c.name, got)
		}
		if (err != nil) != (c.err != "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestNextSequence: a number is the time, and above the last one.
func TestNextSequence(t *testing.T) {
	now := uint64(start.UnixMilli())
	for last, want := range map[uint64]uint64{0: now, now - 1: now, now: now + 1, now + 9: now + 10} {
		if got := heartbeat.Next(last, start); got != want {
			t.Errorf("after %d comes %d, want %d", last, got, want)
		}
	}
	for ahead, want := range map[uint64]bool{0: false, 300_000: false, 300_001: true} {
		if got := heartbeat.IsAhead(now+ahead, start); got != want {
			t.Errorf("%d ms ahead: %t", ahead, got)
		}
	}
}

// An agent whose clock is late goes on from what was heard of it; from a number that no agent gave it does not.
func TestAnAgentWhoseClockIsLateGoesOn(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) uint64 { return uint64(now.Add(d).UnixMilli()) }
	for last, want := range map[uint64]bool{0: true, 7 << 32: true, at(-time.Hour): true, at(time.Hour): true, at(24 * time.Hour): true, at(24*time.Hour + 1e6): false, math.MaxUint64: false} {
		if got := heartbeat.GoesOn(last, now); got != want {
			t.Errorf("after %d: %v", last, got)
		}
	}
}
