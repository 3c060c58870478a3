package pull_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/endpoints"
	"github.com/waybill-dev/waybill/reconciler/endpoints/book"
	"github.com/waybill-dev/waybill/reconciler/endpoints/pull"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/refs"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// server is a repository on a server: what is at its refs.
type server struct {
	name    string
	refs    map[string]files.ID
	commits map[files.ID]git.Head
	unfit   map[files.ID]error
	refuses string // refs that begin so
	away    error
	looks   int
	read    []string // refs
	was     *files.Folder
	last    git.Update
}

func newServer(name string) *server {
	return &server{name: name, refs: map[string]files.ID{}, commits: map[files.ID]git.Head{}, unfit: map[files.ID]error{}}
}

// as is the server as somebody sees it who signs.
func (s *server) as(key signing.Key) *client { return &client{s, key} }

type client struct {
	*server
	key signing.Key
}

func (s *server) Name() string { return s.name }

// Refs implements pull.Repository.
func (s *server) Refs(_ context.Context, wanted func(string, files.ID) bool, _ git.Bounds) (git.RemoteRefs, error) {
	s.looks++
	all := git.RemoteRefs{Refs: maps.Clone(s.refs), Read: map[files.ID]git.Head{}, Unfit: map[files.ID]error{}}
	for _, ref := range slices.Sorted(maps.Keys(s.refs)) {
		id := s.refs[ref]
		if !wanted(ref, id) {
			continue
		}
		s.read = append(s.read, ref)
		if is, ok := s.commits[id]; ok {
			all.Read[id] = is
		} else {
			all.Unfit[id] = s.unfit[id]
		}
	}
	return all, s.away
}

// Replace implements pull.Repository.
func (c *client) Replace(_ context.Context, u git.Update, was *files.Folder) (files.ID, error) {
	ref := u.Branch
	c.was, c.last = was, u
	switch {
	case c.away != nil:
		return files.ID{}, c.away
	case c.refuses != "" && strings.HasPrefix(ref, c.refuses):
		return files.ID{}, &git.RefusedError{Ref: ref, Why: "only branches"}
	case c.refs[ref] != u.Old:
		return files.ID{}, &git.RaceError{Branch: ref, Want: u.Old, Got: c.refs[ref]}
	}
	h := git.Head{Tree: u.Tree, Message: u.Message, When: u.When, Signed: []byte(u.Tree.ID().String() + u.Message)}
	if !c.key.IsZero() {
		var err error
		if h.Signature, err = c.key.SignCommit(h.Signed); err != nil {
			return files.ID{}, err
		}
	}
	h.Commit = files.Sum("commit", append(h.Signed, h.Signature...))
	c.commits[h.Commit], c.refs[ref] = h, h.Commit
	return h.Commit, nil
}

func newKey(t *testing.T) signing.Key {
	t.Helper()
	key, _, err := signing.NewKey(rand.Reader, "")
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// writer is that of an agent with a key.
func writer(at *client) *pull.Writer {
	return &pull.Writer{
		Repo: at, Host: refs.Host{What: "endpoints", Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler)},
		Wrote: func(h git.Head) error { return at.key.Public().Verify(signing.Git, h.Signed, h.Signature) },
	}
}

// bookOf is one of a cluster, with a number so many milliseconds after noon.
func bookOf(cluster string, after int) *book.Book {
	api := types.NamespacedName{Namespace: "shop", Name: "api"}
	return &book.Book{Cluster: cluster, UID: "8f3c", Time: noon, Number: uint64(noon.UnixMilli() + int64(after)), Services: endpoints.Services{api: nil}}
}

// TestABookIsWritten by who wrote the one before, at the ref that the bus says, or a branch where the server takes no other.
func TestABookIsWritten(t *testing.T) {
	for _, tt := range []struct {
		bus     exchange.Bus
		refuses string
		want    string
	}{
		{"", "", book.Refs}, {exchange.Refs, "", book.Refs}, {exchange.Branch, "", book.Branches}, {exchange.Refs, "refs/waybill", book.Branches},
	} {
		s := newServer("https://git.example/status")
		s.refuses = tt.refuses
		me := writer(s.as(newKey(t)))
		kept, err := me.Last(t.Context(), "eu-1", book.Kept{})
		if err != nil || kept.Ref != "" || len(kept.At) != 0 {
			t.Fatalf("before the first it is %+v, %v", kept, err)
		}
		for n := range 3 {
			if kept, err = me.Write(t.Context(), tt.bus, bookOf("eu-1", n), kept); err != nil {
				t.Fatal(err)
			}
		}
		if refs := slices.Collect(maps.Keys(s.refs)); !slices.Equal(refs, []string{tt.want + "eu-1"}) {
			t.Errorf("by %q where %q is refused, refs are %v", tt.bus, tt.refuses, refs)
		}
		again, err := me.Last(t.Context(), "eu-1", book.Kept{})
		if err != nil || again.Ref != tt.want+"eu-1" || again.Book.Number != bookOf("", 2).Number || again.At[again.Ref] != kept.At[kept.Ref] {
			t.Errorf("the last is %+v, %v", again, err)
		}
	}
}

// TestTheLastBook is the newest that this writer, or the one before it, signed; what else is there is replaced.
func TestTheLastBook(t *testing.T) {
	key := newKey(t)
	for what, tt := range map[string]struct {
		ref  string
		book *book.Book
		by   signing.Key
		want bool
	}{
		"its own":                  {book.Refs + "eu-1", bookOf("eu-1", 0), key, true},
		"its own, on a branch":     {book.Branches + "eu-1", bookOf("eu-1", 0), key, true},
		"nobody's":                 {book.Refs + "eu-1", bookOf("eu-1", 0), signing.Key{}, false},
		"somebody's":               {book.Refs + "eu-1", bookOf("eu-1", 0), newKey(t), false},
		"of another cluster":       {book.Refs + "eu-1", bookOf("us-1", 0), key, false},
		"of the day after":         {book.Refs + "eu-1", bookOf("eu-1", 48*3600*1000), key, false},
		"an older one at a branch": {book.Branches + "eu-1", bookOf("eu-1", -1), key, false},
	} {
		s := newServer("https://git.example/status")
		if strings.Contains(what, "older") {
			if _, err := writer(s.as(key)).Write(t.Context(), exchange.Refs, bookOf("eu-1", 0), book.Kept{}); err != nil {
				t.Fatal(err)
			}
		}
		id, err := s.as(tt.by).Replace(t.Context(), git.Update{Branch: tt.ref, Tree: tt.book.Tree(), Message: tt.book.Message()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		me := writer(s.as(key))
		kept, err := me.Last(t.Context(), "eu-1", book.Kept{})
		if is := kept.Ref == tt.ref; err != nil || is != tt.want || kept.At[tt.ref] != id {
			t.Errorf("%s: it is %+v, %v", what, kept, err)
		}
		bus := exchange.Refs
		if strings.HasPrefix(tt.ref, book.Branches) {
			bus = exchange.Branch
		}
		if _, err := me.Write(t.Context(), bus, bookOf("eu-1", 1), kept); err != nil {
			t.Errorf("%s is not replaced: %v", what, err)
		}
	}
}

// TestWhatIsKnownIsNotReadAgain of a writer's own book, until somebody puts something else there.
func TestWhatIsKnownIsNotReadAgain(t *testing.T) {
	s, key := newServer("https://git.example/status"), newKey(t)
	me := writer(s.as(key))
	kept, err := me.Write(t.Context(), exchange.Refs, bookOf("eu-1", 1), book.Kept{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := me.Last(t.Context(), "eu-1", kept)
	if err != nil || len(s.read) > 0 || again.Ref != kept.Ref || again.Tree != kept.Tree || again.Book.Number != kept.Book.Number || again.At[again.Ref] != kept.At[kept.Ref] {
		t.Errorf("after %v was read it is %+v, %v", s.read, again, err)
	}
	ref := book.Refs + "eu-1"
	if _, err := s.as(newKey(t)).Replace(t.Context(), git.Update{Branch: ref, Old: s.refs[ref], Tree: bookOf("eu-1", 9).Tree()}, nil); err != nil {
		t.Fatal(err)
	}
	again, err = me.Last(t.Context(), "eu-1", kept)
	if err != nil || len(s.read) != 1 || again.Ref != "" || again.At[ref] != s.refs[ref] {
		t.Errorf("after somebody else wrote there it is %+v, %v", again, err)
	}
}

// TestWhatIsAtBothRefs is kept, by which book and over what the next one is written, and of others' books nothing is read.
func TestWhatIsAtBothRefs(t *testing.T) {
	s, key := newServer("https://git.example/status"), newKey(t)
	me := writer(s.as(key))
	if by, err := me.Times(exchange.Services{}, func(string) bool { return true }); err != nil || by.Apart == 0 {
		t.Errorf("before a look its times are %+v, %v", by, err)
	}
	ref, branch := book.Refs+"eu-1", book.Branches+"eu-1"
	for _, at := range []string{branch, book.Refs + "us-1", book.Branches + "us-1"} {
		if _, err := s.as(newKey(t)).Replace(t.Context(), git.Update{Branch: at, Tree: bookOf("eu-1", 5).Tree()}, nil); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := me.Last(t.Context(), "eu-1", book.Kept{})
	if err != nil || kept.Ref != "" || !maps.Equal(kept.At, map[string]files.ID{branch: s.refs[branch]}) ||
		!slices.Equal(s.read, []string{branch}) {
		t.Fatalf("first it is %+v, %v, after %v was read", kept, err, s.read)
	}
	for n := range 2 {
		before := kept.Tree
		if kept, err = me.Write(t.Context(), exchange.Refs, bookOf("eu-1", n), kept); err != nil || s.was != before {
			t.Fatalf("book %d is written over %v, %v", n, s.was, err)
		}
		if u := s.last; u.When != noon || u.Author.Name == "" || u.Author.Email == "" || u.Message != bookOf("eu-1", n).Message() {
			t.Errorf("book %d is written as %+v", n, u)
		}
	}
	both := map[string]files.ID{ref: s.refs[ref], branch: s.refs[branch]}
	for range 20 { // refs come in any order
		again, err := me.Last(t.Context(), "eu-1", kept)
		if err != nil || again.Ref != ref || again.Book.Number != bookOf("", 1).Number || !maps.Equal(again.At, both) ||
			!maps.Equal(kept.At, both) {
			t.Fatalf("then it is %+v, %v, of %+v", again, err, kept)
		}
	}
	if kept, err = me.Write(t.Context(), exchange.Branch, bookOf("eu-1", 2), kept); err != nil || s.was != nil || kept.Ref != branch {
		t.Errorf("at another ref it is written over %v, %v", s.was, err)
	}
	s.away = errors.New("the server is away")
	if same, err := me.Last(t.Context(), "eu-1", kept); !errors.Is(err, s.away) || same.Ref != kept.Ref || same.Tree != kept.Tree {
		t.Errorf("of a server that is away it is %+v, %v", same, err)
	}
	if same, err := me.Write(t.Context(), exchange.Branch, bookOf("eu-1", 3), kept); !errors.Is(err, s.away) ||
		same.Book.Number != kept.Book.Number {
		t.Errorf("to a server that is away it is %+v, %v", same, err)
	}
}

// TestARefusalLosesNothing has a server refuse refs, and everything for a moment.
func TestARefusalLosesNothing(t *testing.T) {
	s := newServer("https://git.example/status")
	me := writer(s.as(newKey(t)))
	kept, n := book.Kept{}, 0
	writes := func(want string) {
		t.Helper()
		var err error
		n++
		if kept, err = me.Write(t.Context(), exchange.Refs, bookOf("eu-1", n), kept); err != nil || kept.Ref != want+"eu-1" || kept.At[kept.Ref] != s.refs[kept.Ref] {
			t.Errorf("book %d is at %s, %v; want %s", n, kept.Ref, err, want)
		}
	}
	writes(book.Refs)
	s.refuses = "refs/" // there is no room
	left, err := me.Write(t.Context(), exchange.Refs, bookOf("eu-1", 2), kept)
	for _, ref := range []string{book.Refs, book.Branches} {
		if err == nil || !strings.Contains(err.Error(), "refused "+ref+"eu-1") {
			t.Errorf("it does not say that %s is refused: %v", ref, err)
		}
	}
	if left.Ref != kept.Ref || left.Book.Number != kept.Book.Number {
		t.Errorf("after that it is at %s, number %d", left.Ref, left.Book.Number)
	}
	s.refuses = ""
	writes(book.Refs)
	s.refuses = "refs/waybill"
	writes(book.Branches)
	s.refuses = ""
	writes(book.Branches) // for a while
}

// TestWhoseBooksCountAtAPublicHost are those of clusters that take part: seven are too many, until one is gone.
func TestWhoseBooksCountAtAPublicHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		s, key := newServer("https://github.com/example/status"), newKey(t)
		puts := func(cluster string) {
			t.Helper()
			if _, err := s.as(key).Replace(t.Context(), git.Update{Branch: book.Refs + cluster, Tree: bookOf(cluster, 1).Tree()}, nil); err != nil {
				t.Fatal(err)
			}
		}
		a := &asks{settings: exchange.Services{StaleAfter: metav1.Duration{Duration: 30 * time.Second}}}
		for n := range 6 {
			a.sought = append(a.sought, cluster(fmt.Sprintf("eu-%d", n), key))
			puts(fmt.Sprintf("eu-%d", n))
		}
		puts("gone")
		me := writer(s.as(key))
		times := func(ok bool) {
			t.Helper()
			if _, err := me.Last(t.Context(), "eu-0", book.Kept{}); err != nil {
				t.Fatal(err)
			}
			if by, err := me.Times(a.settings, a.TakesPart); (err == nil) != ok || by.Apart != time.Minute {
				t.Errorf("its times are %+v, %v", by, err)
			}
			s.read = nil
		}
		times(true)
		r := &pull.Reader{Books: a, Agents: s.as(signing.Key{}), Log: slog.New(slog.NewTextHandler(&log, nil))}
		go func() { _ = r.Run(t.Context()) }()
		time.Sleep(59 * time.Second)
		if a.looked != 1 || a.silent != 3*time.Minute || len(s.read) != 6 {
			t.Errorf("it looked %d times, read %v, and a cluster is silent after %s", a.looked, s.read, a.silent)
		}
		puts("us-1")
		times(false)
		time.Sleep(2 * time.Minute)
		puts("us-2")
		if a.looked != 2 || len(s.read) > 0 || strings.Count(log.String(), "which bears 6 pushes") != 1 {
			t.Errorf("it looked %d times, read %v, and says\n%s", a.looked, s.read, log.String())
		}
		delete(s.refs, book.Refs+"us-1")
		delete(s.refs, book.Refs+"us-2")
		time.Sleep(2 * time.Minute)
		times(true)
		if a.looked < 3 || !strings.Contains(log.String(), "are read again") {
			t.Errorf("it looked %d times, and says\n%s", a.looked, log.String())
		}
	})
}

// TestWhoMayNotWriteDoesNot write, and who lost a race learns of it.
func TestWhoMayNotWriteDoesNot(t *testing.T) {
	s, standsBy := newServer("https://git.example/status"), errors.New("another agent serves the cluster")
	me := writer(s.as(newKey(t)))
	me.May = func(context.Context) error { return standsBy }
	if _, err := me.Write(t.Context(), exchange.Refs, bookOf("eu-1", 0), book.Kept{}); !errors.Is(err, standsBy) || len(s.refs) > 0 {
		t.Errorf("it writes: %v", err)
	}
	me.May = nil
	if _, err := me.Write(t.Context(), exchange.Refs, bookOf("eu-1", 0), book.Kept{}); err != nil {
		t.Fatal(err)
	}
	_, err := me.Write(t.Context(), exchange.Refs, bookOf("eu-1", 1), book.Kept{})
	if _, raced := errors.AsType[*git.RaceError](err); !raced {
		t.Errorf("it writes over what it has not seen: %v", err)
	}
}

// asks is who seeks books.
type asks struct {
	sought   []*karmada.Cluster
	settings exchange.Services
	said     []string
	looked   int
	silent   time.Duration
}

func (a *asks) Sought() ([]*karmada.Cluster, exchange.Services) { return a.sought, a.settings }
func (a *asks) TakesPart(cluster string) bool                   { return cluster != "gone" }
func (a *asks) Looked(usual, silent time.Duration)              { a.looked, a.silent = a.looked+1, silent }

func (a *asks) Read(c *karmada.Cluster, b *book.Book, err error) {
	text := fmt.Sprint(c.Name, ": ", err)
	if err == nil {
		text = fmt.Sprintf("%s: %s +%d", c.Name, b.Cluster, int64(b.Number)-noon.UnixMilli())
	}
	a.said = append(a.said, text)
}

// says takes what was said until now.
func (a *asks) says() string {
	said := strings.Join(a.said, "\n")
	a.said = nil
	return said
}

// cluster is one with the key of an agent, or, without one, one that is pushed to.
func cluster(name string, key signing.Key) *karmada.Cluster {
	c := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: karmada.ClusterSpec{SyncMode: karmada.Push}}
	if !key.IsZero() {
		c.Spec.SyncMode, c.Annotations = karmada.Pull, map[string]string{heartbeat.AgentKey: key.Public().String()}
	}
	return c
}

// TestBooksAreRead of those that are sought, once each, where each has to be, and by whom.
func TestBooksAreRead(t *testing.T) {
	eu, us, hub := newKey(t), newKey(t), newKey(t)
	status, branches := newServer("https://git.example/status"), newServer("https://git.example/fleet")
	synctest.Test(t, func(t *testing.T) {
		a := &asks{sought: []*karmada.Cluster{cluster("eu-1", eu), cluster("hub", signing.Key{}), cluster("us-1", us)}}
		r := &pull.Reader{
			Books: a, Agents: status.as(signing.Key{}), Published: branches.as(signing.Key{}), Log: slog.New(slog.DiscardHandler),
			Signed: func(h git.Head) error { return hub.Public().Verify(signing.Git, h.Signed, h.Signature) },
		}
		writes := func(to *client, ref string, b *book.Book) {
			t.Helper()
			if _, err := to.Replace(t.Context(), git.Update{Branch: ref, Old: to.refs[ref], Tree: b.Tree(), Message: b.Message()}, nil); err != nil {
				t.Fatal(err)
			}
		}
		writes(status.as(eu), book.Refs+"eu-1", bookOf("eu-1", 1))
		writes(status.as(eu), book.Refs+"asia", bookOf("asia", 1))                // nobody seeks it
		writes(status.as(eu), book.Refs+"hub", bookOf("hub", 7))                  // it is not where that of a cluster is which is pushed to
		writes(branches.as(hub), book.Refs+"hub", bookOf("hub", 1))               // as it should be
		writes(branches.as(signing.Key{}), book.Branches+"hub", bookOf("hub", 2)) // nobody signed it
		go func() { _ = r.Run(t.Context()) }()
		next := func(what, want string) {
			t.Helper()
			time.Sleep(10 * time.Second)
			if got := a.says(); got != want {
				t.Errorf("%s: it says\n%s\nwant\n%s", what, got, want)
			}
		}
		time.Sleep(time.Second)
		first := strings.Split(a.says(), "\n")
		slices.Sort(first)
		want := "eu-1: eu-1 +1\nhub: hub +1\nus-1: there is no book of its endpoints in https://git.example/status yet"
		if got := strings.Join(first, "\n"); got != want {
			t.Errorf("first it says\n%s\nwant\n%s", got, want)
		}
		a.sought = a.sought[:2]
		next("nothing is new", "")
		writes(status.as(eu), book.Branches+"eu-1", bookOf("eu-1", 2))
		next("a newer one, on a branch", "eu-1: eu-1 +2")
		writes(status.as(us), book.Refs+"eu-1", bookOf("eu-1", 3))
		ref := book.Refs + "eu-1"
		next("one that another agent signed", fmt.Sprintf("eu-1: its book at %s is not taken: %s", ref, signing.ErrForeign))
		status.refs[ref] = files.ID{9}
		status.unfit[files.ID{9}] = errors.New("its commit has a parent")
		next("one with a history", fmt.Sprintf("eu-1: its book at %s is not taken: its commit has a parent", ref))
		a.sought[0] = cluster("eu-1", us)
		next("the key changes, and what the old one signed does not count", fmt.Sprintf("eu-1: its book at %s is not taken: %s", book.Branches+"eu-1", signing.ErrForeign))
		delete(a.sought[0].Annotations, heartbeat.AgentKey)
		next("no key", "eu-1: its Cluster has no annotation waybill.dev/agent-key, so that nobody can tell whose its book is")
		a.sought = nil
		next("nobody is sought", "")
		before := status.looks
		next("and nobody is asked", "")
		if status.looks != before {
			t.Errorf("it looks at %s", status.name)
		}
		if slices.Contains(status.read, book.Refs+"asia") || slices.Contains(status.read, book.Refs+"hub") {
			t.Errorf("what nobody seeks is fetched: %v", status.read)
		}
	})
}
