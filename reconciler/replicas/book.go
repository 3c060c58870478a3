package replicas

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// record is what the Lease of a member says.
type record struct {
	member   string
	renewal  string        // it is another one after each renewal
	lasts    time.Duration // after a renewal
	view     []string      // sorted
	revision string
}

// sighting is a record, and since when it is as it is, by this replica's clock: clocks of
// several machines are never compared.
type sighting struct {
	record

	since time.Time
}

// book is what a member knows of itself and of the others. Its methods take the time.
type book struct {
	me string
	// deadline is how long after a renewal a member serves. It is shorter than what others
	// wait for until they take its clusters.
	deadline time.Duration

	others map[string]sighting
	// looked is when they were last asked for.
	looked time.Time
	// renewed is when the last write that succeeded was sent; zero: never.
	renewed time.Time
	// claim is the view that was written last, or that is being written.
	claim []string
	// unsure says that it is not known whether it was.
	unsure bool
	// current says that the others were seen after the claim was written, and that the Lease
	// was held ever since.
	current bool
	// held are the clusters that are worked at.
	held map[string]bool
}

func newBook(me string, deadline time.Duration) *book {
	return &book{me: me, deadline: deadline, others: map[string]sighting{}, held: map[string]bool{}}
}

// see takes in all records that there are. They were asked for after the last write had ended.
func (b *book) see(asked, now time.Time, all []record) {
	seen := map[string]bool{b.me: true}
	for _, r := range all {
		if r.member == b.me {
			continue
		}
		seen[r.member] = true
		s, known := b.others[r.member]
		if !known || s.renewal != r.renewal {
			s.since = now
		}
		s.record = r
		b.others[r.member] = s
	}
	maps.DeleteFunc(b.others, func(name string, _ sighting) bool { return !seen[name] })
	b.looked = asked
	b.current = b.holds(now) && !b.unsure
}

// lives reports whether a member may still serve clusters. One that was not looked at is not
// dead for that.
func (b *book) lives(s sighting) bool { return s.renewal != "" && b.looked.Sub(s.since) < s.lasts }

// members are those that live, this one among them, in the order of their names.
func (b *book) members() []string {
	all := []string{b.me}
	for name, s := range b.others {
		if b.lives(s) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// next returns the view to write: that of who lives, if no cluster that it takes away is worked
// at, or else the one that was written last.
func (b *book) next() []string {
	view := b.members()
	for c := range b.held {
		if Owner(c, view) != b.me {
			return b.claim
		}
	}
	return view
}

// writing is called before a view is written.
func (b *book) writing(now time.Time, view []string) {
	b.current = b.current && b.holds(now) && slices.Equal(b.claim, view)
	b.claim, b.unsure = view, true
}

// wrote is called when a write has come through, with the time at which it was sent.
func (b *book) wrote(sent, now time.Time) {
	b.current = b.current && b.holds(now) // it may have come too late
	b.renewed, b.unsure = sent, false
}

// lost is called when there is no Lease any more: nobody knows of this member.
func (b *book) lost() { b.claim, b.renewed, b.current = nil, time.Time{}, false }

// holds reports whether this member's own Lease lets it work.
func (b *book) holds(now time.Time) bool {
	return !b.renewed.IsZero() && now.Sub(b.renewed) < b.deadline
}

// keeps reports whether this member may go on to work at a cluster: nobody else takes it.
func (b *book) keeps(now time.Time, cluster string) bool {
	return b.holds(now) && Owner(cluster, b.members()) == b.me && Owner(cluster, b.claim) == b.me
}

// takes reports whether this member may begin to work at a cluster.
func (b *book) takes(now time.Time, cluster string) bool {
	if b.held[cluster] || !b.current || !b.keeps(now, cluster) {
		return false
	}
	for name, s := range b.others {
		if b.lives(s) && Owner(cluster, s.view) == name {
			return false
		}
	}
	return true
}

// leavers are the clusters that this member works at and may not.
func (b *book) leavers(now time.Time) []string {
	var all []string
	for c := range b.held {
		if !b.keeps(now, c) {
			all = append(all, c)
		}
	}
	return all
}

// division is all that takes goes by but the cluster, in words.
func (b *book) division(now time.Time) string {
	views := map[string][]string{}
	for _, name := range b.members() {
		views[name] = b.others[name].view
	}
	return fmt.Sprint(b.holds(now), b.current, b.claim, views) // which sorts maps
}

// abandoned are the records of members that have not lived for long.
func (b *book) abandoned() []record {
	const times = 20 // what a renewal lasts for
	var all []record
	for _, s := range b.others {
		if b.looked.Sub(s.since) > times*s.lasts {
			all = append(all, s.record)
		}
	}
	return all
}
