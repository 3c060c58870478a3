package replicas

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"
)

// The model is some members at one API server. Every step is one that can be told apart from
// outside: a list, a write that is sent, its answer, or that the one or the other is lost; a cluster taken
// or left; time that passes. A member may be killed, or stand still for as long as it likes.
const (
	lease    = 15 * time.Second
	deadline = 10 * time.Second
)

type player struct {
	*book

	dead   bool
	sent   time.Time // of a write under way
	view   []string
	begun  bool
	wrongs map[string]time.Time // clusters that it was told to leave, and when
}

type game struct {
	tb      testing.TB
	now     time.Time
	players []*player
	leases  map[string]record
	wrote   int
	cluster []string
}

func newGame(tb testing.TB, members int) *game {
	tb.Helper()
	g := &game{tb: tb, now: time.Unix(1_000_000, 0), leases: map[string]record{}}
	for i := range members {
		g.players = append(g.players, &player{book: newBook(fmt.Sprintf("m%d", i), deadline), wrongs: map[string]time.Time{}})
	}
	for i := range 12 {
		g.cluster = append(g.cluster, fmt.Sprintf("c%d", i))
	}
	return g
}

func (g *game) look(p *player) {
	if !p.begun { // it does one after the other
		p.see(g.now, g.now, slices.Collect(maps.Values(g.leases)))
	}
}

func (g *game) send(p *player) {
	if !p.begun {
		p.begun, p.sent, p.view = true, g.now, p.next()
		p.writing(g.now, p.view)
	}
}

// arrive has a write take effect; its answer may be lost.
func (g *game) arrive(p *player, answered bool) {
	if !p.begun {
		return
	}
	p.begun = false
	g.write(p)
	if answered {
		p.wrote(p.sent, g.now)
	}
}

// write has a write take effect that nobody has answered yet.
func (g *game) write(p *player) {
	g.wrote++
	g.leases[p.me] = record{member: p.me, renewal: strconv.Itoa(g.wrote), lasts: lease, view: p.view}
}

func (g *game) take(p *player, cluster string) {
	if p.takes(g.now, cluster) {
		p.held[cluster] = true
		g.alone(cluster)
	}
}

// leave ends what is to be ended.
func (g *game) leave(p *player) {
	for c := range p.wrongs {
		delete(p.held, c)
	}
	clear(p.wrongs)
}

// pass lets time pass. What has to end is cancelled at once, and has ended some time later,
// but before others take it for dead.
func (g *game) pass(d time.Duration) {
	g.now = g.now.Add(d)
	for _, p := range g.players {
		if p.dead {
			continue
		}
		for _, c := range p.leavers(g.now) {
			if _, told := p.wrongs[c]; !told {
				p.wrongs[c] = g.now
			}
		}
		if !p.renewed.IsZero() && g.now.Sub(p.renewed) >= (lease+deadline)/2 {
			g.leave(p)
		}
	}
}

// alone holds that nobody else works at a cluster.
func (g *game) alone(cluster string) {
	g.tb.Helper()
	var at []string
	for _, p := range g.players {
		if p.held[cluster] {
			at = append(at, p.me)
		}
	}
	if len(at) > 1 {
		for _, p := range g.players {
			g.tb.Logf("%s: claims %v, renewed %s ago, others %v", p.me, p.claim, g.now.Sub(p.renewed), p.others)
		}
		g.tb.Fatalf("%v work at %s at once", at, cluster)
	}
}

// turn is what a member does again and again.
func (g *game) turn(p *player) {
	g.look(p)
	g.send(p)
	g.arrive(p, true)
	g.look(p)
}

// step is what two bytes say.
func (g *game) step(op, arg byte) {
	p := g.players[int(arg)%len(g.players)]
	if op %= 20; op < 3 {
		g.pass(time.Duration(arg) * 10 * time.Millisecond)
		return
	}
	if p.dead {
		return
	}
	switch op {
	case 3, 4:
		g.look(p)
	case 5, 6:
		g.send(p)
	case 7:
		g.arrive(p, true)
	case 8:
		g.arrive(p, false)
	case 9:
		p.begun = false // it never arrives
	case 10, 11:
		g.turn(p)
	case 12, 13, 14, 15, 16, 17:
		g.pass(0)
		for _, c := range g.cluster {
			g.take(p, c)
		}
	case 18:
		g.leave(p)
	case 19:
		if arg%32 == 0 {
			p.dead = true
			clear(p.held)
		}
	}
}

// settle lets those that live go on without trouble, and holds that each cluster is served.
func (g *game) settle() {
	g.tb.Helper()
	g.players[0].dead = false
	for range 40 {
		g.pass(time.Second)
		for _, p := range g.players {
			if p.dead {
				continue
			}
			g.arrive(p, true)
			g.look(p)
			for _, c := range p.leavers(g.now) {
				p.wrongs[c] = g.now
			}
			g.leave(p)
			g.send(p)
			g.arrive(p, true)
			g.look(p)
			for _, c := range g.cluster {
				g.take(p, c)
			}
		}
	}
	for _, c := range g.cluster {
		if !slices.ContainsFunc(g.players, func(p *player) bool { return !p.dead && p.held[c] }) {
			g.tb.Errorf("nobody works at %s", c)
		}
	}
}

// FuzzDivision holds that no two members ever work at one cluster, whatever happens to them
// and in whatever order, and that in the end each cluster is worked at.
func FuzzDivision(f *testing.F) {
	for seed := range 300 {
		script := make([]byte, 1200)
		state := uint64(seed) + 1
		for i := range script {
			state = state*6364136223846793005 + 1442695040888963407
			script[i] = byte(state >> 33)
		}
		f.Add(byte(seed), script)
	}
	f.Fuzz(func(t *testing.T, members byte, script []byte) {
		g := newGame(t, 1+int(members)%4)
		for i := 0; i+1 < len(script); i += 2 {
			g.step(script[i], script[i+1])
		}
		g.settle()
	})
}

// One that is killed is taken over from when its Lease has run out, and no sooner.
func TestTakingOver(t *testing.T) {
	g := newGame(t, 2)
	a, b := g.players[0], g.players[1]
	g.settle()
	if len(a.held) == 0 || len(b.held) == 0 {
		t.Fatalf("one has %d clusters, the other %d", len(a.held), len(b.held))
	}
	var of string
	for c := range a.held {
		of = c
	}
	a.dead = true
	clear(a.held)
	last := g.now
	for range 20 {
		g.pass(time.Second)
		g.look(b)
		g.send(b)
		g.arrive(b, true)
		g.look(b)
		if g.take(b, of); b.held[of] {
			break
		}
	}
	if took := g.now.Sub(last); took < lease || took > lease+2*time.Second {
		t.Errorf("it was taken over after %s", took)
	}
}

// Whoever comes waits until the clusters that it gets have been left.
func TestHandingOver(t *testing.T) {
	g := newGame(t, 2)
	a, b := g.players[0], g.players[1]
	b.dead = true
	g.settle()
	b.dead = false
	takes := func() (n int) {
		for _, c := range g.cluster {
			g.take(b, c)
		}
		return len(b.held)
	}
	g.turn(b)
	if takes() != 0 {
		t.Error("it takes clusters before the other knows of it")
	}
	for range 3 {
		g.turn(a)
		g.pass(time.Second)
		g.turn(b)
		if takes() != 0 {
			t.Error("it takes clusters that the other has not left")
		}
	}
	gets := len(a.wrongs)
	g.leave(a)
	g.turn(a)
	g.turn(b)
	if got := takes(); got != gets || got == 0 || got == len(g.cluster) {
		t.Errorf("it takes %d clusters, and the other left %d of %d", got, gets, len(g.cluster))
	}
}

// A write whose fate is not known counts as done and as not done.
func TestAWriteThatIsLost(t *testing.T) {
	g := newGame(t, 3)
	a, b, c := g.players[0], g.players[1], g.players[2]
	b.dead, c.dead = true, true
	g.settle()
	b.dead = false
	g.turn(b)
	g.pass(time.Second)
	g.leave(a) // nothing: it does not know yet
	g.look(a)
	g.pass(0)
	g.leave(a)
	g.send(a)
	g.arrive(a, false) // b is in the view, and a does not know that it is written
	g.turn(b)
	for _, x := range g.cluster {
		g.take(b, x)
	}
	delete(g.leases, b.me) // b is away, so that a would have all again
	g.look(a)
	g.send(a)
	a.begun = false
	g.look(a)
	for _, x := range g.cluster {
		g.take(a, x)
	}
}

// A renewal whose answer comes when others have long taken over says nothing of who works where: the others are looked at first.
func TestARenewalThatComesTooLate(t *testing.T) {
	g := newGame(t, 2)
	a, b := g.players[0], g.players[1]
	g.settle()
	g.pass(deadline - time.Second)
	g.send(a)
	for range (lease-deadline)/time.Second + 4 {
		g.turn(b)
		g.pass(time.Second)
	}
	for _, x := range g.cluster {
		g.take(b, x)
	}
	if len(a.held) > 0 || len(b.held) != len(g.cluster) {
		t.Fatalf("one is late, and works at %d clusters; the other works at %d of %d", len(a.held), len(b.held), len(g.cluster))
	}
	if g.arrive(a, true); !a.holds(g.now) {
		t.Fatal("it does not hold its Lease")
	}
	for _, x := range g.cluster {
		g.take(a, x)
	}
}

// A renewal whose answer is slow holds from when it was sent, for others count from when they see it.
func TestARenewalWhoseAnswerIsSlow(t *testing.T) {
	g := newGame(t, 2)
	a, b := g.players[0], g.players[1]
	g.settle()
	mine := len(a.held)
	g.send(a)
	g.write(a)
	g.turn(b)
	for at := time.Second; at <= lease+2*time.Second; at += time.Second {
		g.pass(time.Second)
		if at == deadline-time.Second {
			a.begun = false
			a.wrote(a.sent, g.now)
		}
		if at == deadline && len(a.wrongs) != mine {
			t.Errorf("when its time is over it is told to leave %d of its %d clusters", len(a.wrongs), mine)
		}
		g.turn(b)
		for _, x := range g.cluster {
			g.take(b, x)
		}
	}
	if len(b.held) != len(g.cluster) {
		t.Errorf("the other works at %d of %d clusters", len(b.held), len(g.cluster))
	}
}

// One whose Lease was deleted by hand works at nothing until it has one again.
func TestALeaseDeletedByHand(t *testing.T) {
	g := newGame(t, 1)
	a := g.players[0]
	g.settle()
	a.lost()
	if got := len(a.leavers(g.now)); got != len(g.cluster) {
		t.Errorf("it leaves %d of %d clusters", got, len(g.cluster))
	}
	g.settle()
}

func TestTheDeadAreForgotten(t *testing.T) {
	g := newGame(t, 2)
	g.settle()
	g.players[1].dead = true
	a := g.players[0]
	g.look(a)
	g.pass(5 * time.Minute)
	if g.look(a); len(a.abandoned()) != 0 {
		t.Error("after five minutes it is forgotten")
	}
	g.pass(time.Minute)
	if g.look(a); len(a.abandoned()) != 1 {
		t.Error("it is never forgotten")
	}
}
