// Package store keeps what a controller knows of open pull requests, and of what they do to the
// clusters, for those who look at that in the web UI. It is memory of one process, and bounded: of
// so many pull requests, with so many bytes of reports. Reports have no values of Secrets.
package store

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/sources/forge"
)

// The most that is kept: pull requests, and bytes of their reports, packed.
const (
	Most      = 50
	mostBytes = 16 << 20
)

// Preview is what is known of an open pull request.
type Preview struct {
	Pull forge.PullRequest // as it was seen last
	// State and Line are what its head shows at the forge; they are empty until somebody looked at it.
	State forge.State
	Line  string
	Since time.Time // when it came to that
	// Report is of its head, or of an earlier one; nil if there is none, or none any longer.
	Report *Report

	seen time.Time // when the forge last said that it is open
}

// A Store keeps previews. Several may use it at once.
type Store struct {
	changed func()

	mu      sync.Mutex
	known   map[int]Preview // by the number of the pull request
	version int
	working bool
}

// New returns an empty store. Changed is called when there is something else in it.
func New(changed func()) *Store { return &Store{changed: changed, known: map[int]Preview{}} }

// Working says whether this process looks at pull requests: where several replicas run, one does.
func (s *Store) Working(is bool) {
	s.change(func() bool {
		was := s.working
		s.working = is
		return was != is
	})
}

// Seen notes that pull requests are open.
func (s *Store) Seen(at time.Time, pulls ...forge.PullRequest) {
	s.change(func() (moved bool) {
		for i := range pulls {
			moved = s.see(at, &pulls[i]) || moved
		}
		return moved
	})
}

// Say notes what the head of a pull request shows at the forge.
func (s *Store) Say(at time.Time, pull *forge.PullRequest, state forge.State, line string) {
	s.change(func() bool {
		moved := s.see(at, pull)
		p := s.known[pull.Number]
		if p.State == state && p.Line == line {
			return moved
		}
		p.State, p.Line, p.Since = state, line, at
		s.known[pull.Number] = p
		return true
	})
}

// Keep keeps a comparison as the report of the head of a pull request.
func (s *Store) Keep(at time.Time, pull *forge.PullRequest, c *preview.Comparison) error {
	r, err := pack(c)
	if err != nil {
		return err
	}
	r.Head, r.At = pull.Head, at
	s.change(func() bool {
		s.see(at, pull)
		p := s.known[pull.Number]
		p.Report = r
		s.known[pull.Number] = p
		s.makeRoom()
		return true
	})
	return nil
}

// Gone forgets a pull request that is not open any longer.
func (s *Store) Gone(number int) {
	s.change(func() bool {
		_, was := s.known[number]
		delete(s.known, number)
		return was
	})
}

// Unsure lists pull requests of which nobody knows whether they are open, since a time: those first
// that were seen longest ago, so many at most.
func (s *Store) Unsure(since time.Time, most int) (numbers []int) {
	all, _ := s.All()
	slices.SortFunc(all, func(a, b Preview) int { return a.seen.Compare(b.seen) })
	for i := range all {
		if len(numbers) < most && all[i].seen.Before(since) {
			numbers = append(numbers, all[i].Pull.Number)
		}
	}
	return numbers
}

// All returns what is known, the newest pull request first, and whether this process looks.
func (s *Store) All() (all []Preview, working bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.known {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Preview) int { return cmp.Compare(b.Pull.Number, a.Pull.Number) })
	return all, s.working
}

// Find returns what is known of a pull request.
func (s *Store) Find(number int) (Preview, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.known[number]
	return p, ok
}

// Version is another one whenever there is something else in the store.
func (s *Store) Version() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// change changes what is in the store, and tells if that made a difference.
func (s *Store) change(what func() bool) {
	s.mu.Lock()
	moved := what()
	if moved {
		s.version++
	}
	s.mu.Unlock()
	if moved {
		s.changed()
	}
}

// see notes that a pull request is open. What was said of another head is not said of this one.
func (s *Store) see(at time.Time, pull *forge.PullRequest) (moved bool) {
	p, known := s.known[pull.Number]
	moved = !known || p.Pull.Head != pull.Head || p.Pull.Title != pull.Title
	if p.Pull.Head != pull.Head {
		p.State, p.Line, p.Since = "", "", at
	}
	p.Pull, p.seen = *pull, at
	s.known[pull.Number] = p
	if !known {
		s.makeRoom()
	}
	return moved
}

// makeRoom forgets the pull requests of which nothing was said for longest, and then the oldest
// reports, until what is left is not too much.
func (s *Store) makeRoom() {
	order := make([]int, 0, len(s.known))
	bytes := 0
	for number, p := range s.known {
		order = append(order, number)
		bytes += p.Report.size()
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(s.known[a].Since.Compare(s.known[b].Since), cmp.Compare(a, b)) })
	for _, number := range order[:max(0, len(order)-Most)] {
		bytes -= s.known[number].Report.size()
		delete(s.known, number)
	}
	for _, number := range order {
		if p, ok := s.known[number]; ok && bytes > mostBytes {
			bytes -= p.Report.size()
			p.Report = nil
			s.known[number] = p
		}
	}
}
