package push

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/endpoints/book"
	"github.com/waybill-dev/waybill/render/exchange"
)

// nobody writes no book.
type nobody struct{}

func (nobody) Last(_ context.Context, _ string, known book.Kept) (book.Kept, error) {
	return known, nil
}

func (nobody) Write(_ context.Context, _ exchange.Bus, _ *book.Book, over book.Kept) (book.Kept, error) {
	return over, nil
}

func (nobody) Times(by exchange.Services, _ func(string) bool) (book.Times, error) {
	return book.TimesOf(by, "", 1)
}

// unreached says of no cluster how it is reached.
func unreached(context.Context, []*karmada.Cluster, *karmada.Cluster) (Server, error) {
	return Server{}, errors.New("there is no credential for it")
}

// TestWhoseBooksAreWritten is forgotten of clusters that leave.
func TestWhoseBooksAreWritten(t *testing.T) {
	e := New(unreached, time.Now, func() float64 { return 0 }, slog.New(slog.DiscardHandler))
	e.Writer = nobody{}
	count := func() int {
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.collectors) + len(e.providers)
	}
	ctx, leave := context.WithCancel(t.Context())
	e.collect(ctx, "eu-1", []services.Export{{Namespace: "shop", Service: "api", Book: true}})
	if n := count(); n == 0 {
		t.Error("its book is not written")
	}
	leave()
	for began := time.Now(); count() > 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatalf("%d are left", count())
		}
	}
}

// TestWhoLeavesTakesNobodyAlong has a cluster be followed anew before what served it has come to its end: whoever serves it from then on
// is known, and told what changes.
func TestWhoLeavesTakesNobodyAlong(t *testing.T) {
	e := New(unreached, time.Now, func() float64 { return 0 }, slog.New(slog.DiscardHandler))
	e.Writer = nobody{}
	applied := Applied{Cluster: "eu-1", File: []byte(`{"exports": [{"namespace": "shop", "service": "api", "book": true}]}`)}
	served := func() (*consumer, *collector) {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.consumers["eu-1"], e.collectors["eu-1"]
	}
	ctx, leave := context.WithCancel(t.Context())
	e.Applied(ctx, applied)
	consumed, collected := served()
	leave()
	e.Applied(t.Context(), applied)
	consumes, collects := served()
	if consumes == nil || consumes == consumed || collects == nil || collects == collected {
		t.Fatal("nobody serves it")
	}
	e.left(ctx, consumed)
	e.written(ctx, collected)
	if is, writes := served(); is != consumes || writes != collects {
		t.Error("whoever serves it now is forgotten")
	}
}

// TestWhoseBooksAreSought: those of clusters that are registered, are imported from, have an API server of their own and are not reached
// from here, which one's own is. What was read of one that is imported from no more is forgotten.
func TestWhoseBooksAreSought(t *testing.T) {
	e := New(unreached, time.Now, func() float64 { return 0 }, slog.New(slog.DiscardHandler))
	e.Reaches = func(c *karmada.Cluster) bool { return c.Name == "us-1" }
	var registered []*karmada.Cluster
	for _, name := range []string{"eu-2", "eu-1", "us-1"} {
		registered = append(registered, &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	virtual := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "virtual", Annotations: map[string]string{karmada.VirtualOfAnnotation: "eu-1"}}}
	imports := func(from string) {
		e.Applied(t.Context(), Applied{Cluster: "us-1", File: []byte(`{"imports": [{"namespace": "shop", "service": "api", "style": "derived", "derived": "derived-api", "from": [` + from + `]}]}`)})
	}
	sought := func() string {
		all, _ := e.Books.Sought()
		var names []string
		for _, c := range all {
			names = append(names, c.Name)
		}
		return strings.Join(names, " ")
	}
	e.Known(append(registered, virtual), exchange.Services{Endpoints: exchange.Apply}, nil)
	imports(`"us-1", "eu-1", "gone", "virtual", "eu-2"`)
	if got := sought(); got != "eu-1 eu-2" {
		t.Errorf("sought are those of %s", got)
	}
	e.Books.Read(registered[0], &book.Book{Cluster: "eu-2", UID: "u", Number: 1}, nil)
	if has, why := e.Books.of(registered[0]); has == nil || why != "" {
		t.Fatalf("of eu-2 it says %+v, %s", has, why)
	}
	imports(`"us-1", "eu-1"`)
	if got := sought(); got != "eu-1" {
		t.Errorf("then sought are those of %s", got)
	}
	if has, _ := e.Books.of(registered[0]); has != nil {
		t.Errorf("of one that nobody imports from it says %+v", has)
	}
	e.Known(registered, exchange.Services{}, nil)
	if got := sought(); got != "" {
		t.Errorf("where endpoints are not applied sought are those of %s", got)
	}
}
