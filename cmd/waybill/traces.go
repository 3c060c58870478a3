package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel"

	"github.com/waybill-dev/waybill/reconciler/traces"
)

// withTraces returns a command that makes spans, if they are to be sent anywhere, and sends the last of
// them when it ends.
func withTraces(cmd *cobra.Command, verbose *bool) *cobra.Command {
	endpoint := cmd.Flags().String("otlp-endpoint", "", "send traces of OpenTelemetry to this URL, such as http://collector:4318 (default: as OTEL_EXPORTER_OTLP_ENDPOINT says, else none are made)")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, end, err := traced(cmd.Context(), *endpoint, logger(cmd, verbose))
		if err != nil {
			return failure(2, err)
		}
		defer end()
		cmd.SetContext(ctx)
		return run(cmd, args)
	}
	return cmd
}

// traced returns a context below which spans are made, and what sends the last of them.
func traced(ctx context.Context, endpoint string, log *slog.Logger) (_ context.Context, end func(), err error) {
	o, err := traces.Settings(endpoint, os.Getenv)
	if err != nil || o.URL == "" {
		return ctx, func() {}, err
	}
	tracer, stop, err := traces.Start(ctx, o, buildVersion())
	if err != nil {
		return ctx, func() {}, err
	}
	lost := func(err error) { log.WarnContext(ctx, "traces not sent", "err", err) }
	otel.SetErrorHandler(otel.ErrorHandlerFunc(lost))
	return traces.With(ctx, tracer), func() {
		const soon = 5 * time.Second
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), soon)
		defer cancel()
		if err := stop(ctx); err != nil {
			lost(err)
		}
	}, nil
}
