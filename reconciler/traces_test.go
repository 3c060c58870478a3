package reconciler_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/traces"
	"github.com/waybill-dev/waybill/test/twin"
)

// A turn that does something is a trace of its steps, and one that does nothing is none. What
// objects hold is in neither.
func TestTheTraceOfATurn(t *testing.T) {
	repo := twin.New("https://git.example/fleet")
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: app, namespace: shop}\nstringData: {password: CANARY}\n"
	repo.Write("main", "first", twin.Tree{"fleet.yaml": twin.File([]byte(fleet)), "secret.yaml": twin.File([]byte(secret))}.Folder())
	kept := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(kept))
	ctx, cancel := context.WithCancel(traces.With(t.Context(), provider.Tracer("test")))
	defer cancel()
	turns := 0
	l := &reconciler.Loop{
		Reconciler: &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: repo, Target: repo, Now: time.Now}, Rev: "main", Interval: time.Millisecond, Now: time.Now,
		Log: slog.New(slog.DiscardHandler),
		Report: func(reconciler.Sync) {
			if turns++; turns == 3 {
				cancel()
			}
		},
	}
	if err := l.Run(ctx); err != nil {
		t.Fatal(err)
	}
	spans := kept.GetSpans()
	names := map[string]string{}
	for _, s := range spans {
		names[s.SpanContext.SpanID().String()] = s.Name
	}
	var got []string
	for _, s := range spans {
		got = append(got, names[s.Parent.SpanID().String()]+"/"+s.Name)
	}
	if d := cmp.Diff([]string{"sync/look", "sync/fetch", "sync/plan", "sync/publish", "/sync"}, got); d != "" {
		t.Error(d)
	}
	if all := fmt.Sprintf("%+v", spans); strings.Contains(all, "CANARY") || !strings.Contains(all, "waybill.branches") {
		t.Errorf("the spans are %s", all)
	}
}
