// Package receive takes heartbeats from whoever brings them, several at once, and says whether leases run.
package receive

import (
	"errors"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/sources/signing"
)

// Agent is who may beat for a cluster.
type Agent struct {
	ID  string // of the cluster; may be empty
	Key signing.Public
}

// Answer is what became of a beat that came by HTTP.
type Answer struct {
	Taken bool   `json:"taken"`
	Why   string `json:"why,omitempty"` // it is not
	// Session is what beats have to name, and Last the last sequence number that was heard.
	// Only who signed as the cluster's agent is told them.
	Session string `json:"session,omitempty"`
	Last    uint64 `json:"last,omitempty"`
}

// ErrClosed is that nobody takes beats: another replica leads, or it is not known yet which agents there
// are.
var ErrClosed = errors.New("heartbeats are not taken here now")

// Receiver takes beats, several at once, and keeps the book of them. Until Begin it
// takes none.
type Receiver struct {
	Now func() time.Time
	// Ignored is told which beats by HTTP are not taken, and why; of those of one cluster that are not
	// for one reason only of the first. Nil: nobody is.
	Ignored func(cluster, why string)

	mu      sync.Mutex
	session string // empty: none are taken
	agents  map[string]*receiving
	book    heartbeat.Book
	refused bool // since the last look
	looked  time.Time
}

// receiving is an agent of whose beats one is looked at, at a time.
type receiving struct {
	Agent

	busy sync.Mutex
	said string // why the last beat was not taken
}

// Begin has beats be taken, by HTTP those that name a session which no other receiver ever had. Nothing
// that was known before counts.
func (r *Receiver) Begin(session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.session, r.agents, r.book = session, nil, heartbeat.Book{}
}

// End has no beats be taken any more.
func (r *Receiver) End() { r.Begin("") }

// Agents says who may beat, by cluster, from now on.
func (r *Receiver) Agents(all map[string]Agent, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	agents := make(map[string]*receiving, len(all))
	for cluster, a := range all {
		was := r.agents[cluster]
		switch {
		case was == nil:
		case was.Key.String() != a.Key.String():
			r.book.Rekey(cluster, now)
		case was.ID == a.ID:
			agents[cluster] = was
			continue
		}
		agents[cluster] = &receiving{Agent: a}
	}
	r.agents = agents
	r.book.Forget(func(cluster string) bool { return agents[cluster] != nil })
}

// Clusters is how many clusters have an agent that may beat.
func (r *Receiver) Clusters() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.agents)
}

// Refuse notes that somebody was refused who may have been an agent.
func (r *Receiver) Refuse() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = true
}

// Receive takes a sealed beat of a cluster. It looks at one of a cluster at a time.
func (r *Receiver) Receive(cluster string, sealed []byte) (Answer, error) {
	r.mu.Lock()
	session, agent := r.session, r.agents[cluster]
	known := r.agents != nil
	r.mu.Unlock()
	switch {
	case session == "" || !known:
		return Answer{}, ErrClosed
	case agent == nil:
		return Answer{Why: "no cluster of this name is pulled to by an agent with a key"}, nil
	}
	agent.busy.Lock()
	defer agent.busy.Unlock()
	a := r.take(cluster, agent, sealed)
	if a.Why != agent.said && r.Ignored != nil && a.Why != "" && a.Why != errSession.Error() {
		r.Ignored(cluster, a.Why)
	}
	agent.said = a.Why
	return a, nil
}

// errSession is what an agent is answered that does not know the session yet.
var errSession = errors.New("it does not name this session")

func (r *Receiver) take(cluster string, agent *receiving, sealed []byte) Answer {
	beat, err := heartbeat.Open(sealed, agent.Key)
	if err != nil {
		return Answer{Why: err.Error()}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := Answer{Session: r.session, Last: r.book.Last(cluster).Sequence}
	switch {
	case r.agents[cluster] != agent || beat.Session != r.session:
		err = errSession
	default:
		err = r.book.Hear(cluster, agent.ID, beat, r.Now())
	}
	if err != nil {
		a.Why = err.Error()
		return a
	}
	a.Taken, a.Last = true, beat.Sequence
	return a
}

// Look notes that beats could be seen until now; those by HTTP could not, if any was refused since the
// last look.
func (r *Receiver) Look(t heartbeat.Times, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.book.Looked(t, now)
	if r.refused && !r.looked.IsZero() {
		r.book.Refused(r.looked, now)
	}
	r.refused, r.looked = false, now
}

// Read has the book be read, or be written to, by one at a time.
func (r *Receiver) Read(do func(*heartbeat.Book)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do(&r.book)
}
