package push

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/clusters"
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

// TestWhoseBooksAreWritten is forgotten of clusters that leave.
func TestWhoseBooksAreWritten(t *testing.T) {
	e := New(clusters.Access{}, ClockOf(time.Now), func() float64 { return 0 }, slog.New(slog.DiscardHandler))
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
