// Package traces says how long the steps of a controller take, as spans of OpenTelemetry. They are
// sent as OTLP over HTTP if somebody asks for it; otherwise a step costs a look into its context.
//
// A span has names, ids and numbers, and the text of an error: never what an object holds.
package traces

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

type key struct{}

// With returns a context below which spans are made.
func With(ctx context.Context, t trace.Tracer) context.Context {
	return context.WithValue(ctx, key{}, t)
}

// End ends a span, with what is known of it then.
type End func(err error, attributes ...attribute.KeyValue)

// Begin begins a span below that of the context.
func Begin(ctx context.Context, name string) (context.Context, End) {
	return BeginAt(ctx, name, time.Time{})
}

// BeginAt begins a span at a time that has passed; zero: now.
func BeginAt(ctx context.Context, name string, at time.Time) (context.Context, End) {
	t, ok := ctx.Value(key{}).(trace.Tracer)
	if !ok {
		return ctx, none
	}
	var options []trace.SpanStartOption
	if !at.IsZero() {
		options = append(options, trace.WithTimestamp(at))
	}
	ctx, span := t.Start(ctx, name, options...) // End ends it
	return ctx, func(err error, attributes ...attribute.KeyValue) {
		span.SetAttributes(attributes...)
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

// Cluster names a cluster.
func Cluster(name string) attribute.KeyValue { return attribute.String("waybill.cluster", name) }

// Commit names a commit, of the source or of a cluster's branch.
func Commit(id string) attribute.KeyValue { return attribute.String("waybill.commit", id) }

// Count is how many of something there are.
func Count(of string, n int) attribute.KeyValue { return attribute.Int("waybill."+of, n) }

func none(error, ...attribute.KeyValue) {}
