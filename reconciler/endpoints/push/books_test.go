package push_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	discovery "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/endpoints"
	"github.com/waybill-dev/waybill/reconciler/endpoints/book"
	"github.com/waybill-dev/waybill/reconciler/endpoints/push"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/apiserver"
)

const exports = `{"exports": [{"namespace": "shop", "service": "api", "book": true}, {"namespace": "shop", "service": "web"}]}`

// slow is how long a change may take by a book.
const slow = 20 * time.Second

// writer keeps books in memory.
type writer struct {
	mu     sync.Mutex
	kept   book.Kept
	writes []book.Book
	lost   int // how often somebody else had written it
	away   error
}

func (s *writer) Last(context.Context, string, book.Kept) (book.Kept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept, s.away
}

func (s *writer) Write(_ context.Context, _ exchange.Bus, b *book.Book, over book.Kept) (book.Kept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away != nil {
		return over, s.away
	}
	if over.Tree != s.kept.Tree {
		s.lost++
		return over, errors.New("somebody else wrote it")
	}
	s.writes = append(s.writes, *b)
	s.kept = book.Kept{At: map[string]files.ID{"r": b.Tree().ID()}, Ref: "r", Tree: b.Tree(), Book: *b}
	return s.kept, nil
}

func (*writer) Times(by exchange.Services, _ func(string) bool) (book.Times, error) {
	return book.TimesOf(by, "", 1)
}

func (s *writer) books() []book.Book {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.writes)
}

// pair is two clusters that do not reach each other: eu-1 has an agent, which writes its book, and us-1 another one, which is told of it.
type pair struct {
	*fleet
	writer *writer
	booked []services.Booked

	mu      sync.Mutex // of what others read while the test goes on
	eu, us  *push.Exchange
	refused []endpoints.Refusal
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{fleet: newFleet(t, "eu-1", "us-1"), writer: &writer{}}
	for _, c := range p.registered {
		c.Spec.SyncMode = karmada.Pull
	}
	p.begins()
	return p
}

// begins has both agents begin anew.
func (p *pair) begins() {
	agent := func(name string) *push.Exchange {
		e := push.New(p.opens, p.now, rand.Float64, slog.New(slog.NewTextHandler(&p.logs, nil)))
		e.Reaches = func(c *karmada.Cluster) bool { return c.Name == name }
		return e
	}
	eu, us := agent("eu-1"), agent("us-1")
	eu.Writer = p.writer
	us.Refused = func(_ string, all []endpoints.Refusal) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.refused = all
	}
	p.mu.Lock()
	p.eu, p.us = eu, us
	p.mu.Unlock()
	p.goBy(exchange.Services{Endpoints: exchange.Apply, MinInterval: metav1.Duration{Duration: time.Second}})
}

func (p *pair) goBy(s exchange.Services) {
	p.eu.Known(p.registered, s, p.booked)
	p.us.Known(p.registered, s, p.booked)
}

func (p *pair) appliedTo(e *push.Exchange, cluster, file string) {
	a := push.Applied{Cluster: cluster, UID: apiserver.UID, Owner: owner}
	if file != "" {
		a.File = []byte(file)
	}
	e.Applied(p.Context(), a)
}

// carries tells us-1 of what is written, every 100 ms, until the test ends.
func (p *pair) carries() {
	go func() {
		for p.Context().Err() == nil {
			p.mu.Lock()
			us := p.us
			p.mu.Unlock()
			if all, _ := us.Books.Sought(); len(all) == 1 {
				if kept, err := p.writer.Last(p.Context(), "eu-1", book.Kept{}); err == nil && kept.Ref != "" {
					us.Books.Read(all[0], &kept.Book, nil)
					us.Books.Looked(10*time.Hour, 0)
				}
			}
			time.Sleep(2 * time.Second)
		}
	}()
}

// says waits until what is refused says something; empty: until nothing is refused.
func (p *pair) says(want string) {
	p.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		var all []string
		p.mu.Lock()
		for _, r := range p.refused {
			all = append(all, r.Provider+" "+r.Named()+" "+r.Slice+": "+r.Why)
		}
		p.mu.Unlock()
		if text := strings.Join(all, "\n"); want == "" && text == "" || want != "" && strings.Contains(text, want) {
			return
		} else if time.Since(began) > 2*fast {
			p.Fatalf("what is refused is %q, want %q", text, want)
		}
	}
}

// TestEndpointsGoByABook changes what a cluster has that nobody reaches who needs it. What nobody needs is in no book.
func TestEndpointsGoByABook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.has("eu-1", "api", "api-1", "10.101.0.5")
		p.has("eu-1", "web", "web-1", "10.101.0.9")
		p.appliedTo(p.us, "us-1", imports)
		p.appliedTo(p.eu, "eu-1", exports)
		p.carries()
		p.soon("us-1", "eu-1-api-1", "http 10.101.0.5", slow)
		p.has("eu-1", "api", "api-1", "10.101.0.6", "10.101.0.5")
		p.soon("us-1", "eu-1-api-1", "http 10.101.0.5 10.101.0.6", slow)
		p.servers["eu-1"].Remove(below + "api-1")
		p.soon("us-1", "eu-1-api-1", "", slow)
		all := p.writer.books()
		for i, b := range all {
			if len(b.Services) != 1 || b.Cluster != "eu-1" || b.UID != apiserver.UID || i > 0 && b.Number <= all[i-1].Number {
				t.Errorf("book %d is %+v", i, b)
			}
		}

		// what is as it was is not written again, nor by an agent that begins anew
		written := len(all)
		p.goBy(exchange.Services{})
		p.begins()
		p.appliedTo(p.eu, "eu-1", exports)
		p.appliedTo(p.us, "us-1", imports)
		time.Sleep(30 * time.Second)
		if now := p.writer.books(); len(now) != written {
			t.Errorf("there are %d more books: %+v", len(now)-written, now[written:])
		}
		p.has("eu-1", "api", "api-2", "10.101.0.7")
		p.soon("us-1", "eu-1-api-2", "http 10.101.0.7", slow)
		p.appliedTo(p.us, "us-1", `{"imports": [{"namespace": "shop", "service": "other", "style": "native", "from": ["eu-1"]}]}`)
		p.soon("us-1", "eu-1-api-2", "", slow)
		if writes := p.servers["eu-1"].Writes(); len(writes) > 0 {
			t.Errorf("the provider is written to: %v", writes)
		}
	})
}

// TestABookThatDoesNotCountChangesNothing puts one there that is older, of another cluster, or has what may not be taken.
func TestABookThatDoesNotCountChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		now := p.now()
		slice := func(name, address string) endpoints.Slice {
			return endpoints.Slice{Name: name, AddressType: "IPv4", Endpoints: []endpoints.Endpoint{{Addresses: []string{address}}}}
		}
		api := service("api")
		of := func(number int, s ...endpoints.Slice) *book.Book {
			return &book.Book{Cluster: "eu-1", UID: apiserver.UID, Time: now, Number: uint64(now.UnixMilli() + int64(number)), Services: endpoints.Services{api: s, service("secret"): {slice("secret-1", "10.101.0.8")}}}
		}
		tells := func(b *book.Book, err error) {
			all, _ := p.us.Books.Sought()
			p.us.Books.Read(all[0], b, err)
		}
		p.appliedTo(p.us, "us-1", strings.Replace(imports, `, "ports": ["http"]`, "", 1))
		p.stays("us-1", "eu-1-api-1", "") // it was not looked for a book yet
		tells(nil, errors.New("there is no book"))
		p.says("eu-1 shop/api : there is no book")
		tells(of(10, slice("api-1", "10.101.0.5")), nil)
		const is = "10.101.0.5"
		p.soon("us-1", "eu-1-api-1", is, fast)
		p.says("")
		for why, b := range map[string]*book.Book{
			"its number is below": of(9), "another cluster": {Cluster: "us-1", Number: of(11).Number}, "spec.id": {Cluster: "eu-1", UID: "other", Number: of(11).Number},
			"from now": of(3600_000),
		} {
			tells(b, nil)
			p.says(why)
			p.stays("us-1", "eu-1-api-1", is)
		}
		tells(nil, errors.New("it is signed by another key"))
		p.says("signed by another key")
		p.stays("us-1", "eu-1-api-1", is)

		// one address of a slice that may not be taken leaves that slice alone, and no other
		tells(of(20, slice("api-1", "127.0.0.1"), slice("api-2", "10.101.0.6")), nil)
		p.soon("us-1", "eu-1-api-2", "10.101.0.6", fast)
		p.says("eu-1 shop/api api-1: 127.0.0.1 is a loopback address")
		p.stays("us-1", "eu-1-api-1", is)
		for _, name := range []string{"eu-1-secret-1", "eu-1-secret"} {
			if got := p.shown("us-1", name); got != "" {
				t.Errorf("what is not imported is there: %s", got)
			}
		}
		tells(of(21), nil)
		p.soon("us-1", "eu-1-api-1", "", fast)

		// what the book has that its cluster does not export is named, once it is known what that does
		p.says("")
		p.booked = []services.Booked{{Clusters: []string{"eu-1", "us-2"}, Services: []string{"shop/api"}}}
		p.goBy(exchange.Services{Endpoints: exchange.Apply})
		p.says("eu-1 shop/secret : its book has it, and by what is published that cluster does not export it")
		p.booked = append(p.booked, services.Booked{Clusters: []string{"eu-1"}, Services: []string{"shop/secret"}})
		p.goBy(exchange.Services{Endpoints: exchange.Apply})
		p.says("")
	})
}

// TestAnAgentThatIsSilent has the API server of a provider stop answering, while its agent runs, and answer again.
func TestAnAgentThatIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		fails := p.failing("eu-1")
		p.has("eu-1", "api", "api-1", "10.101.0.5")
		p.appliedTo(p.us, "us-1", imports)
		p.appliedTo(p.eu, "eu-1", exports)
		p.carries()
		p.soon("us-1", "eu-1-api-1", "http 10.101.0.5", slow)
		p.goBy(exchange.Services{Endpoints: exchange.Apply, MinInterval: metav1.Duration{Duration: time.Second}, StaleAfter: metav1.Duration{Duration: time.Hour}})
		written := len(p.writer.books())

		// time goes by, and the book is renewed as long as the cluster answers
		p.ahead.Store(int64(50 * time.Minute))
		for began := time.Now(); len(p.writer.books()) == written; time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > 30*time.Second {
				t.Fatal("the book is not renewed")
			}
		}
		p.fail("eu-1", fails, true)
		p.ahead.Store(int64(100 * time.Minute))
		p.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
		p.ahead.Store(int64(200 * time.Minute))
		p.soon("us-1", "eu-1-api-1", "http 10.101.0.5!", slow)
		p.fail("eu-1", fails, false)
		p.soon("us-1", "eu-1-api-1", "http 10.101.0.5", 40*time.Second)
	})
}

// TestWhoLooksAwayJudgesNobody has hours go by in which nobody looks.
func TestWhoLooksAwayJudgesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.goBy(exchange.Services{Endpoints: exchange.Apply, StaleAfter: metav1.Duration{Duration: time.Minute}})
		p.appliedTo(p.us, "us-1", imports)
		p.tells(p.bookOf(apiserver.UID, 1, sliceOf("api-1", "10.101.0.5")))
		p.us.Books.Looked(10*time.Second, 0)
		p.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		p.ahead.Store(int64(5 * time.Hour))
		p.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
		p.us.Books.Looked(10*time.Second, 0)
		p.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
		for seconds := 10; seconds <= 120; seconds += 10 {
			p.ahead.Store(int64(5*time.Hour + time.Duration(seconds)*time.Second))
			p.us.Books.Looked(10*time.Second, 0)
		}
		p.soon("us-1", "eu-1-api-1", "http 10.101.0.5!", fast)
	})
}

// TestNobodyIsSilentWhereNothingIsStale has hours go by in which it is looked, and no book comes: without staleAfter that says nothing.
func TestNobodyIsSilentWhereNothingIsStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.appliedTo(p.us, "us-1", imports)
		p.tells(p.bookOf(apiserver.UID, 1, sliceOf("api-1", "10.101.0.5")))
		p.us.Books.Looked(time.Hour, 0)
		p.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		for hours := 1; hours <= 3; hours++ {
			p.ahead.Store(int64(time.Duration(hours) * time.Hour))
			p.us.Books.Looked(time.Hour, 0)
		}
		p.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
	})
}

// sliceOf is one with port http and an address.
func sliceOf(name, address string) endpoints.Slice {
	port, number := "http", int32(8080)
	return endpoints.Slice{
		Name: name, AddressType: "IPv4", Ports: []discovery.EndpointPort{{Name: &port, Port: &number}}, Endpoints: []endpoints.Endpoint{{Addresses: []string{address}}},
	}
}

// bookOf is one of eu-1 with slices of shop/api, and a number so many milliseconds after the fleet began.
func (p *pair) bookOf(uid string, after int, all ...endpoints.Slice) *book.Book {
	return &book.Book{Cluster: "eu-1", UID: uid, Time: p.began, Number: uint64(p.began.UnixMilli() + int64(after)), Services: endpoints.Services{service("api"): all}}
}

// tells lets us-1 know of a book of eu-1.
func (p *pair) tells(b *book.Book) {
	all, _ := p.us.Books.Sought()
	p.us.Books.Read(all[0], b, nil)
}

// is writes spec.id of eu-1.
func (p *pair) is(uid string) {
	eu := *p.registered[0]
	eu.Spec.ID = uid
	p.registered = []*karmada.Cluster{&eu, p.registered[1]}
	p.goBy(exchange.Services{Endpoints: exchange.Apply})
}

// TestARefusedBookIsJudgedAnew when spec.id of its cluster is set right, and when its time has come, though nobody reads it anew.
func TestARefusedBookIsJudgedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.appliedTo(p.us, "us-1", imports)
		p.tells(p.bookOf("another", 10, sliceOf("api-1", "10.101.0.5")))
		p.says("spec.id of the Cluster is " + apiserver.UID)
		p.is("another")
		p.us.Books.Looked(10*time.Second, 0)
		p.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		p.says("")
		const ahead = 10 * time.Minute
		p.tells(p.bookOf("another", int(p.now().Add(ahead).Sub(p.began).Milliseconds()), sliceOf("api-1", "10.101.0.6")))
		p.says("from now")
		p.ahead.Store(int64(ahead))
		p.us.Books.Looked(10*time.Second, 0)
		p.soon("us-1", "eu-1-api-1", "http 10.101.0.6", fast)
		p.says("")

		// a cluster that turns out to be another one is taken no more, and what the right one writes is
		p.is("the right one")
		p.says("spec.id of the Cluster is the right one")
		p.stays("us-1", "eu-1-api-1", "http 10.101.0.6")
		p.tells(p.bookOf("the right one", 20, sliceOf("api-1", "10.101.0.7")))
		p.soon("us-1", "eu-1-api-1", "http 10.101.0.7", fast)
		p.says("")
	})
}

// TestAfterARestart an older book does not count, and a cluster that was silent is.
func TestAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		stale := exchange.Services{Endpoints: exchange.Apply, StaleAfter: metav1.Duration{Duration: time.Hour}}
		restarts := func() {
			p.goBy(exchange.Services{})
			p.begins()
			p.goBy(stale)
			p.appliedTo(p.us, "us-1", imports)
		}
		p.goBy(stale)
		p.appliedTo(p.us, "us-1", imports)
		p.tells(p.bookOf(apiserver.UID, 20, sliceOf("api-1", "10.101.0.5")))
		p.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		restarts()
		p.tells(p.bookOf(apiserver.UID, 10, sliceOf("api-1", "10.101.0.4")))
		p.says("its number is below")
		p.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
		p.tells(p.bookOf(apiserver.UID, 30, sliceOf("api-1", "10.101.0.5")))
		p.says("")
		p.us.Books.Looked(10*time.Hour, 0)
		p.ahead.Store(int64(2 * time.Hour))
		p.us.Books.Looked(10*time.Hour, 0)
		p.soon("us-1", "eu-1-api-1", "http 10.101.0.5!", fast)
		restarts()
		p.tells(p.bookOf(apiserver.UID, 30, sliceOf("api-1", "10.101.0.5")))
		p.us.Books.Looked(10*time.Hour, 0)
		p.stays("us-1", "eu-1-api-1", "http 10.101.0.5!")
		p.tells(p.bookOf(apiserver.UID, 40, sliceOf("api-1", "10.101.0.5")))
		p.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		p.tells(p.bookOf(apiserver.UID, 50)) // it has no slices any more
		p.soon("us-1", "eu-1-api-1", "", fast)
		restarts()
		p.tells(p.bookOf(apiserver.UID, 45, sliceOf("api-1", "10.101.0.4")))
		p.says("its number is below")
		p.stays("us-1", "eu-1-api-1", "")
	})
}

// TestAnImportThatGoesWhileItsBookComes and returns, again and again: what is there in the end is what counted last.
func TestAnImportThatGoesWhileItsBookComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		const times = 30
		p.appliedTo(p.us, "us-1", imports)
		all, _ := p.us.Books.Sought()
		var telling sync.WaitGroup
		telling.Go(func() {
			for n := range times {
				p.us.Books.Read(all[0], p.bookOf(apiserver.UID, n+1, sliceOf(fmt.Sprintf("api-%d", n%3), fmt.Sprintf("10.101.0.%d", n+1))), nil)
				time.Sleep(200 * time.Millisecond)
			}
		})
		for n := range times {
			p.appliedTo(p.us, "us-1", []string{"", imports}[n%2])
			p.us.Books.Sought()
			time.Sleep(300 * time.Millisecond)
		}
		telling.Wait()
		p.tells(p.bookOf(apiserver.UID, 2*times, sliceOf("last", "10.101.0.5")))
		p.soon("us-1", "eu-1-last", "http 10.101.0.5", fast)
		p.appliedTo(p.us, "us-1", "")
		for _, name := range []string{"last", "api", "api-0", "api-1", "api-2"} {
			p.soon("us-1", "eu-1-"+name, "", fast)
		}
		p.appliedTo(p.us, "us-1", imports)
		p.tells(p.bookOf(apiserver.UID, 3*times, sliceOf("last", "10.101.0.6")))
		p.soon("us-1", "eu-1-last", "http 10.101.0.6", fast)
	})
}

// TestAServiceThatIsTooMuch for a book stays in it as it was, and keeps no other from it.
func TestAServiceThatIsTooMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		two := strings.Replace(exports, `"web"}`, `"web", "book": true}`, 1)
		p.has("eu-1", "api", "api-0", "10.101.0.5")
		p.has("eu-1", "web", "web-1", "10.101.0.9")
		p.appliedTo(p.us, "us-1", `{"imports": [
			{"namespace": "shop", "service": "api", "style": "native", "from": ["eu-1"], "ports": ["http"]},
			{"namespace": "shop", "service": "web", "style": "native", "from": ["eu-1"], "ports": ["http"]}
		]}`)
		p.appliedTo(p.eu, "eu-1", two)
		p.carries()
		p.soon("us-1", "eu-1-web-1", "http 10.101.0.9", slow)
		p.soon("us-1", "eu-1-api-0", "http 10.101.0.5", slow)
		for n := range book.MostSlices {
			p.has("eu-1", "api", fmt.Sprintf("api-%d", n+1), "10.101.0.6")
		}
		p.has("eu-1", "web", "web-1", "10.101.0.10")
		p.soon("us-1", "eu-1-web-1", "http 10.101.0.10", slow)
		p.soon("us-1", "eu-1-api-0", "http 10.101.0.5", slow)
		if n := p.logs.count("it has 101 slices; at most 100 are written"); n != 1 {
			t.Errorf("that is said %d times", n)
		}
		written := len(p.writer.books())
		time.Sleep(70 * time.Second)
		if now := p.writer.books(); len(now) != written {
			t.Errorf("nothing is new, and there are %d more books", len(now)-written)
		}
	})
}

// replace puts a book there as somebody else does.
func (s *writer) replace(b *book.Book) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = book.Kept{At: map[string]files.ID{"r": b.Tree().ID()}, Ref: "r", Tree: b.Tree(), Book: *b}
}

// writes waits until so many books were written, and returns them.
func (p *pair) writes(n int) []book.Book {
	p.Helper()
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if all := p.writer.books(); len(all) >= n {
			return all
		} else if time.Since(began) > time.Hour {
			p.Fatalf("%d books were written, want %d", len(all), n)
		}
	}
}

// TestABookThatSomebodyElseWrote is seen a while later, though nothing of the cluster changes; and at once by who fails to write over it.
func TestABookThatSomebodyElseWrote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.has("eu-1", "api", "api-1", "10.101.0.5")
		p.appliedTo(p.eu, "eu-1", exports)
		p.writes(1)
		p.writer.replace(p.bookOf(apiserver.UID, 0, sliceOf("api-1", "10.101.0.99")))
		all := p.writes(2)
		if got := all[1].Services[service("api")]; len(got) != 1 || got[0].Endpoints[0].Addresses[0] != "10.101.0.5" {
			t.Errorf("then it says %+v", got)
		}
		p.writer.replace(p.bookOf(apiserver.UID, 0, sliceOf("api-1", "10.101.0.99")))
		p.has("eu-1", "api", "api-1", "10.101.0.6")
		p.writes(3)
		p.writer.mu.Lock()
		defer p.writer.mu.Unlock()
		if p.writer.lost > 1 {
			t.Errorf("it tried %d times to write over what it did not read", p.writer.lost)
		}
	})
}

// TestABookOfTheClusterOfBefore has a cluster be made anew under its name: nothing of what the one before had is in its book, not even of
// a service that has more than a book may hold.
func TestABookOfTheClusterOfBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.writer.replace(p.bookOf("the one before", 0, sliceOf("api-1", "10.101.0.99")))
		for n := range book.MostSlices + 1 {
			p.has("eu-1", "api", fmt.Sprintf("api-%d", n), "10.101.0.6")
		}
		p.has("eu-1", "web", "web-1", "10.101.0.9")
		p.appliedTo(p.eu, "eu-1", strings.Replace(exports, `"web"}`, `"web", "book": true}`, 1))
		is := p.writes(1)[0]
		if _, carried := is.Services[service("api")]; carried || is.UID != apiserver.UID || len(is.Services[service("web")]) != 1 {
			t.Errorf("the book is %+v", is)
		}
	})
}

// TestABookOfAnotherClusterOfTheName does not count where nobody says which of the two the cluster has to be, until spec.id does.
func TestABookOfAnotherClusterOfTheName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.is("")
		p.appliedTo(p.us, "us-1", `{"imports": [
			{"namespace": "shop", "service": "api", "style": "native", "from": ["eu-1"], "ports": ["http"]},
			{"namespace": "shop", "service": "web", "style": "native", "from": ["eu-1"], "ports": ["http"]}
		]}`)
		p.tells(p.bookOf("the first", 10, sliceOf("api-1", "10.101.0.5")))
		p.soon("us-1", "eu-1-api-1", "http 10.101.0.5", fast)
		second := p.bookOf("the second", 20, sliceOf("api-1", "10.101.0.6"))
		second.Services[service("web")] = []endpoints.Slice{sliceOf("web-1", "10.101.0.9")} // of which nothing is there by which the two are told apart
		p.tells(second)
		p.says("this is not the cluster that it was: its Namespace kube-system had the UID the first, and has the second")
		p.stays("us-1", "eu-1-web-1", "")
		p.stays("us-1", "eu-1-api-1", "http 10.101.0.5")
		p.tells(p.bookOf("the first", 30, sliceOf("api-1", "10.101.0.7")))
		p.soon("us-1", "eu-1-api-1", "http 10.101.0.7", fast)
		p.tells(p.bookOf("the second", 40, sliceOf("api-1", "10.101.0.8")))
		p.is("the second")
		p.us.Books.Looked(10*time.Second, 0)
		p.soon("us-1", "eu-1-api-1", "http 10.101.0.8", fast)
	})
}

// TestAnAgentThatMayNotList knows which cluster it is in, and nothing of what that has: it writes no book over the last one, and no first one.
func TestAnAgentThatMayNotList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, hasOne := range []bool{true, false} {
			p := newPair(t)
			var asked atomic.Int64
			p.servers["eu-1"].Before(func(r *http.Request) int {
				if strings.Contains(r.URL.Path, "endpointslices") {
					asked.Add(1)
					return http.StatusForbidden
				}
				return 0
			})
			if hasOne {
				p.writer.replace(p.bookOf(apiserver.UID, 0, sliceOf("api-1", "10.101.0.5")))
			}
			p.appliedTo(p.eu, "eu-1", strings.Replace(exports, `"web"}`, `"web", "book": true}`, 1))
			for began := time.Now(); asked.Load() < 3; time.Sleep(10 * time.Millisecond) {
				if time.Since(began) > 30*time.Second {
					t.Fatal("it does not ask for slices")
				}
			}
			time.Sleep(70 * time.Second)
			if all := p.writer.books(); len(all) > 0 {
				t.Errorf("where there is one (%t) it writes %+v", hasOne, all)
			}
		}
	})
}

// service is one of the namespace shop.
func service(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: name}
}
