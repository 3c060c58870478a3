package heartbeat

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Times are those of leases (Karmada section C.3).
type Times struct {
	// Lease is how long a beat lasts, and Renew the time between two of them.
	Lease, Renew time.Duration
	// Monitor is the time between two looks of whoever judges.
	Monitor time.Duration
	// Grace is how long a cluster counts as there of which no beat was heard since the judge
	// began.
	Grace time.Duration
}

// The times of Karmada, and those that public Git hosts bear.
var (
	Usual  = Times{Lease: 40 * time.Second, Renew: 10 * time.Second, Monitor: 5 * time.Second, Grace: 60 * time.Second}
	Public = Times{Lease: 5 * time.Minute, Renew: time.Minute, Monitor: 30 * time.Second, Grace: 6 * time.Minute}
)

// mostPublic is how many clusters may beat in one repository on a public host.
const mostPublic = 3

// publicHosts are those where many repositories of strangers are.
var publicHosts = []string{"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "dev.azure.com", "ssh.dev.azure.com", "git.sr.ht", "gitee.com"}

// ByGit returns the times of beats by Git in the repository at an origin, as scheme://host, of so
// many clusters. On a public host they are rarer, and few.
func ByGit(origin string, clusters int) (Times, error) {
	u, err := url.Parse(origin)
	if err != nil || !IsPublic(origin) {
		return Usual, nil
	}
	if clusters > mostPublic {
		return Public, fmt.Errorf("%d clusters would beat in one repository on %s, which bears %d; have agents beat by HTTP (--heartbeat http), or keep the status repository on a server of your own", clusters, u.Hostname(), mostPublic)
	}
	return Public, nil
}

// IsPublic reports the origin of a public host. What is no origin is none.
func IsPublic(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && slices.Contains(publicHosts, strings.ToLower(u.Hostname()))
}

// Verdict says whether the lease of a cluster runs.
type Verdict int

// The verdicts.
const (
	Unheard Verdict = iota // no beat was ever heard: nothing is said of the cluster
	Running
	Expired
)

// ErrOther is that a beat is not taken because it is not that of the cluster.
var ErrOther = errors.New("it is that of another cluster")

// Book is what one who judges knows of beats. The zero value knows nothing. It is not safe for
// concurrent use. Times that it is given never go back, and are those of one clock.
type Book struct {
	pulses map[string]*pulse // by cluster
	looked time.Time
}

type pulse struct {
	beat  Beat
	heard bool      // since the judge began
	since time.Time // the beat, or, without one, the judge
	// highest is the highest sequence number that is a time; zero: none was.
	highest uint64
}

// Expect notes that a cluster had beaten before the judge began, with sequence numbers up to the highest
// that is known, which may be zero.
func (b *Book) Expect(cluster string, highest uint64, now time.Time) {
	if b.pulses[cluster] == nil {
		b.put(cluster, &pulse{since: now, highest: highest})
	}
}

// Rekey notes that beats of a cluster are signed by another key from now on: what the one before signed
// does not count any more. A lease that ran lasts as that of a cluster which is expected.
func (b *Book) Rekey(cluster string, now time.Time) {
	if b.pulses[cluster] != nil {
		b.put(cluster, &pulse{since: now})
	}
}

func (b *Book) put(cluster string, p *pulse) {
	if b.pulses == nil {
		b.pulses = map[string]*pulse{}
	}
	b.pulses[cluster] = p
}

// Hear notes a beat of a cluster whose id is known, or empty. The first of all may be old: since
// when it is there nobody knows, so that it lasts as what was expected.
func (b *Book) Hear(cluster, id string, beat Beat, now time.Time) error {
	p := b.pulses[cluster]
	switch {
	case beat.Cluster != cluster:
		return fmt.Errorf("%w: %s", ErrOther, beat.Cluster)
	case id != "" && beat.UID != id:
		return fmt.Errorf("%w: the Cluster has the id %s, and this one has %s", ErrOther, id, beat.UID)
	}
	next := pulse{since: now}
	if p != nil {
		next = *p
	}
	if err := next.follows(beat.Sequence, now); err != nil {
		return err
	}
	if next.beat != (Beat{}) {
		next.heard, next.since = true, now
	}
	next.beat = beat
	if !isCounted(beat.Sequence, now) {
		next.highest = beat.Sequence
	}
	b.put(cluster, &next)
	return nil
}

// Last is the last beat of a cluster.
func (b *Book) Last(cluster string) Beat {
	if p := b.pulses[cluster]; p != nil {
		return p.beat
	}
	return Beat{}
}

// Highest is the highest sequence number of a cluster that is a time; zero for none.
func (b *Book) Highest(cluster string) uint64 {
	if p := b.pulses[cluster]; p != nil {
		return p.highest
	}
	return 0
}

// Forget forgets all clusters but these.
func (b *Book) Forget(but func(cluster string) bool) {
	for c := range b.pulses {
		if !but(c) {
			delete(b.pulses, c)
		}
	}
}

// Looked notes that beats could be seen. If they could not be for a while, because the way to them
// was cut or the judge stood still, that while does not count: who looks away misses beats that
// were made.
func (b *Book) Looked(t Times, now time.Time) {
	if away := now.Sub(b.looked); !b.looked.IsZero() && away > 2*t.Monitor {
		for _, p := range b.pulses {
			p.since = p.since.Add(away)
			if p.since.After(now) {
				p.since = now
			}
		}
	}
	b.looked = now
}

// Refused notes that beats by HTTP were refused since a time for want of places. That while does not count
// for those who beat so.
func (b *Book) Refused(since, now time.Time) {
	for _, p := range b.pulses {
		if p.beat.Session == "" && p.beat != (Beat{}) {
			continue
		}
		if p.since = p.since.Add(now.Sub(since)); p.since.After(now) {
			p.since = now
		}
	}
}

// Judge says whether the lease of a cluster runs.
func (b *Book) Judge(cluster string, t Times, now time.Time) Verdict {
	p := b.pulses[cluster]
	if p == nil {
		return Unheard
	}
	lasts := t.Lease
	if !p.heard {
		lasts = t.Grace
	}
	if now.Sub(p.since) > lasts {
		return Expired
	}
	return Running
}

// Waits reports whether it is to wait that the lease of a cluster ran out, because others are late
// that beat last at about the same time: what cuts off many agents at one time is to be recorded at
// once. It waits no longer than they would take to beat, and to be seen.
func (b *Book) Waits(cluster string, t Times, now time.Time) bool {
	const missed = 2 // beats, one of which may be late
	p := b.pulses[cluster]
	if p == nil || b.Judge(cluster, t, now) != Expired {
		return false
	}
	for name, other := range b.pulses {
		late := now.Sub(other.since) > missed*t.Renew && b.Judge(name, t, now) == Running
		if late && other.heard == p.heard && other.since.Sub(p.since).Abs() <= t.Renew+t.Monitor {
			return true
		}
	}
	return false
}
