package traces

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Options say where spans are sent.
type Options struct {
	// URL is all of it, path included; empty: no spans are made.
	URL string
	// Headers go with every request.
	Headers map[string]string
}

// tracesPath is where a receiver takes spans, below its endpoint.
const tracesPath = "/v1/traces"

// Settings reads the endpoint of a flag, which may be empty, and the environment by the names of
// the OpenTelemetry specification. The flag comes first.
func Settings(endpoint string, getenv func(string) string) (Options, error) {
	const (
		disabled, exporter    = "OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER"
		whole, base           = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"
		protocol, ownProtocol = "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
		headers, ownHeaders   = "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
		spoken                = "http/protobuf"
		flag                  = "--otlp-endpoint"
	)
	var o Options
	from := flag
	switch {
	case endpoint != "":
		o.URL = strings.TrimRight(endpoint, "/") + tracesPath
	case strings.EqualFold(getenv(disabled), "true") || getenv(exporter) == "none":
		return o, nil
	case getenv(whole) != "":
		o.URL, from = getenv(whole), whole
	case getenv(base) != "":
		o.URL, from = strings.TrimRight(getenv(base), "/")+tracesPath, base
	default:
		return o, nil
	}
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return Options{}, fmt.Errorf("%s is no URL of the form http://HOST:4318 or https://HOST", from)
	case u.User != nil:
		return Options{}, fmt.Errorf("%s has a user in it; write a header into %s instead, such as Authorization=Basic%%20DIGITS", from, headers)
	}
	if p := cmp.Or(getenv(ownProtocol), getenv(protocol), spoken); p != spoken {
		return Options{}, fmt.Errorf("%s is %q; only %s is spoken: name the port of the receiver that speaks it, mostly 4318", protocol, p, spoken)
	}
	o.Headers, err = parseHeaders(cmp.Or(getenv(ownHeaders), getenv(headers)))
	if err != nil {
		return Options{}, fmt.Errorf("%s: %w", headers, err)
	}
	return o, nil
}

// parseHeaders reads a list of the form name=value,name=value, whose values are escaped as in a URL.
func parseHeaders(text string) (map[string]string, error) {
	all := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || name == "" || err != nil {
			return nil, errors.New("want name=value, with commas between them") // the value may be a token
		}
		all[name] = value
	}
	return all, nil
}

// Start returns a tracer that sends its spans, in batches and beside everything else, and what ends
// it: that waits until they are sent, or its context ends. What a service is called is what the
// environment says (OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES), or waybill.
func Start(ctx context.Context, o Options, version string) (_ trace.Tracer, end func(context.Context) error, err error) {
	what, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "waybill"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, nil, fmt.Errorf("reading OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	exporter, err := otlptrace.New(ctx, &sender{options: o, http: &http.Client{}})
	if err != nil {
		return nil, nil, fmt.Errorf("tracing: %w", err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(what))
	return provider.Tracer("github.com/waybill-dev/waybill", trace.WithInstrumentationVersion(version)), provider.Shutdown, nil
}

// sender sends spans as OTLP over HTTP. The library's own one brings gRPC with it, 5 MB that
// nothing here speaks.
type sender struct {
	options Options
	http    *http.Client
}

// Start implements otlptrace.Client.
func (*sender) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (s *sender) Stop(context.Context) error {
	s.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. A receiver that is busy is asked again, as the
// specification has it, until the context ends.
func (s *sender) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// of the same form as the request of the collector's service, which is in a package with gRPC
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("encoding spans: %w", err)
	}
	const least, most = time.Second, 30 * time.Second
	for wait := least; ; wait = min(2*wait, most) {
		again, err := s.post(ctx, body)
		if err == nil || again < 0 {
			return err
		}
		timer := time.NewTimer(max(again, wait))
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}

// post sends a request. Where it fails, it returns after which time to try again; negative: not
// at all.
func (s *sender) post(ctx context.Context, body []byte) (again time.Duration, err error) {
	const never = -1
	const patience = 10 * time.Second // as the specification has it
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.options.URL, bytes.NewReader(body))
	if err != nil {
		return never, fmt.Errorf("sending spans: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	for name, value := range s.options.Headers {
		req.Header.Set(name, value)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return 0, fmt.Errorf("sending spans: %w", err)
	}
	defer resp.Body.Close()
	const enough = 64 << 10
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, enough))
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return 0, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return time.Duration(seconds) * time.Second, fmt.Errorf("sending spans: %s answers %s", req.URL.Host, resp.Status)
	}
	return never, fmt.Errorf("sending spans: %s answers %s", req.URL.Host, resp.Status)
}
