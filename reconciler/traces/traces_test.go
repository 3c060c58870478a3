package traces_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/reconciler/traces"
)

func TestSettings(t *testing.T) {
	type env = map[string]string
	for _, c := range []struct {
		name, flag string
		env        env
		want       traces.Options
		refused    string
	}{
		{name: "nothing is said"},
		{name: "the flag", flag: "http://collector:4318/", want: traces.Options{URL: "http://collector:4318/v1/traces"}},
		{name: "the environment", env: env{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://a/otlp"}, want: traces.Options{URL: "https://a/otlp/v1/traces"}},
		{name: "that of traces is taken as it is", env: env{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://a/in", "OTEL_EXPORTER_OTLP_ENDPOINT": "https://b"}, want: traces.Options{URL: "https://a/in"}},
		{name: "the flag comes first", flag: "http://c", env: env{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://b", "OTEL_SDK_DISABLED": "true"}, want: traces.Options{URL: "http://c/v1/traces"}},
		{name: "disabled", env: env{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://b", "OTEL_SDK_DISABLED": "TRUE"}},
		{name: "another exporter", env: env{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://b", "OTEL_TRACES_EXPORTER": "none"}},
		{
			name: "headers", flag: "http://c", env: env{"OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20x=, X-Who = me"},
			want: traces.Options{URL: "http://c/v1/traces", Headers: map[string]string{"Authorization": "Bearer x=", "X-Who": "me"}},
		},
		{
			name: "headers of traces win", flag: "http://c",
			env:  env{"OTEL_EXPORTER_OTLP_TRACES_HEADERS": "X-Who=traces", "OTEL_EXPORTER_OTLP_HEADERS": "X-Who=all"},
			want: traces.Options{URL: "http://c/v1/traces", Headers: map[string]string{"X-Who": "traces"}},
		},
		{name: "no scheme", flag: "collector:4318", refused: "--otlp-endpoint is no URL"},
		{name: "gRPC's scheme", env: env{"OTEL_EXPORTER_OTLP_ENDPOINT": "grpc://a"}, refused: "OTEL_EXPORTER_OTLP_ENDPOINT is no URL"},
		{name: "gRPC", flag: "http://c", env: env{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, refused: "only http/protobuf is spoken"},
		{
			name: "what traces are sent with wins", flag: "http://c",
			env:  env{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
			want: traces.Options{URL: "http://c/v1/traces"},
		},
		{name: "gRPC for traces", flag: "http://c", env: env{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, refused: "only http/protobuf is spoken"},
		{name: "a password", flag: "http://me:CANARY@c", refused: "OTEL_EXPORTER_OTLP_HEADERS"},
		{name: "no header", flag: "http://c", env: env{"OTEL_EXPORTER_OTLP_HEADERS": "CANARY"}, refused: "name=value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := traces.Settings(c.flag, func(name string) string { return c.env[name] })
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) || strings.Contains(err.Error(), "CANARY") {
					t.Errorf("the error is %v; it should say %q", err, c.refused)
				}
				return
			}
			if c.want.URL != "" && c.want.Headers == nil {
				c.want.Headers = map[string]string{}
			}
			if d := cmp.Diff(c.want, got); err != nil || d != "" {
				t.Error(err, d)
			}
		})
	}
}

// receive is a receiver of OTLP over HTTP that is busy at first. It returns what it got.
func receive(t *testing.T) (url string, got func() []*tracepb.Span) {
	t.Helper()
	spans, asked := make(chan *tracepb.Span, 100), atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("Authorization") != "Bearer x" {
			t.Errorf("%s %s with %v", r.Method, r.URL, r.Header)
		}
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body, err := io.ReadAll(r.Body)
		var data tracepb.TracesData
		if err == nil {
			err = proto.Unmarshal(body, &data)
		}
		if err != nil {
			t.Error(err)
		}
		for _, of := range data.GetResourceSpans() {
			if text := of.GetResource().String(); !strings.Contains(text, "waybill") || !strings.Contains(text, "v9") {
				t.Errorf("the resource is %s", text)
			}
			for _, in := range of.GetScopeSpans() {
				for _, s := range in.GetSpans() {
					spans <- s
				}
			}
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, func() (all []*tracepb.Span) {
		close(spans)
		for s := range spans {
			all = append(all, s)
		}
		return all
	}
}

func TestSpansAreSent(t *testing.T) {
	url, got := receive(t)
	o, err := traces.Settings(url, func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20x"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	tracer, end, err := traces.Start(t.Context(), o, "v9")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now().Add(-time.Minute)
	ctx, endOuter := traces.BeginAt(traces.With(t.Context(), tracer), "sync", began)
	_, endInner := traces.Begin(ctx, "plan")
	endInner(errors.New("it does not work"), traces.Cluster("eu-1"), traces.Count("objects", 3))
	endOuter(nil)
	if err := end(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := map[string]*tracepb.Span{}
	for _, s := range got() {
		spans[s.GetName()] = s
	}
	outer, inner := spans["sync"], spans["plan"]
	if len(spans) != 2 || outer == nil || inner == nil {
		t.Fatalf("there are %v", spans)
	}
	if string(inner.GetParentSpanId()) != string(outer.GetSpanId()) || string(inner.GetTraceId()) != string(outer.GetTraceId()) {
		t.Error("the one is not below the other")
	}
	if outer.GetStartTimeUnixNano() != uint64(began.UnixNano()) || inner.GetStatus().GetMessage() != "it does not work" || len(inner.GetAttributes()) != 2 {
		t.Errorf("they are\n%v\n%v", outer, inner)
	}
}

// A receiver that takes nothing keeps nobody waiting for longer than it is waited for.
func TestAReceiverThatIsAway(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer server.Close()
	for _, url := range []string{server.URL, "http://127.0.0.1:1"} {
		tracer, end, err := traces.Start(t.Context(), traces.Options{URL: url}, "v9")
		if err != nil {
			t.Fatal(err)
		}
		_, done := traces.Begin(traces.With(t.Context(), tracer), "sync")
		done(nil)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		began := time.Now()
		_ = end(ctx) // what came of it is told to the handler of errors
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s kept it for %s", url, took)
		}
		cancel()
	}
}

// BenchmarkOff is what a step costs where no traces are made.
func BenchmarkOff(b *testing.B) {
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		_, end := traces.Begin(ctx, "round")
		end(nil, traces.Cluster("eu-1"), traces.Count("objects", 3))
	}
}
