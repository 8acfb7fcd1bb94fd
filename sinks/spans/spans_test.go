package spans_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/servers"
	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/sinks/spans"
	"github.com/doubletap-harness/doubletap/targets"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const marker = "dtabcdefgh12345678"

// collector is a sink for spans that is watched.
type collector struct {
	address string // host:port

	mu  sync.Mutex
	all []history.Message
}

func open(t *testing.T) *collector {
	t.Helper()
	s, err := sinks.Open(t.Context(), map[string]targets.Sink{"spans": {OTLP: &targets.OTLPSink{Intent: "order"}}}, sinks.Protocols{OTLP: spans.Serve})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	place := s.Places()["spans"]
	c := &collector{address: net.JoinHostPort(place.Host, place.Port)}
	require.Equal(t, "http://"+c.address, place.URL)
	require.NoError(t, s.Watch(t.Context(), sinks.Watch{Base: time.Now(), Record: c.add, Fault: sinks.Fault{Kind: sinks.Lost}, Hide: func(text string) string { return text }}))
	return c
}

func (c *collector) add(m history.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, m)
}

func (c *collector) messages() []history.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]history.Message(nil), c.all...)
}

// TestTheOfficialExporters send a span of an attempt's trace, and one of another trace that is linked to it.
func TestTheOfficialExporters(t *testing.T) {
	t.Parallel()
	for name, export := range map[string]func(address string) (sdk.SpanExporter, error){
		"HTTP": func(address string) (sdk.SpanExporter, error) {
			return otlptracehttp.New(context.Background(), otlptracehttp.WithEndpoint(address), otlptracehttp.WithInsecure())
		},
		"HTTP, packed": func(address string) (sdk.SpanExporter, error) {
			return otlptracehttp.New(context.Background(), otlptracehttp.WithEndpoint(address), otlptracehttp.WithInsecure(), otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
		},
		"gRPC": func(address string) (sdk.SpanExporter, error) {
			return otlptracegrpc.New(context.Background(), otlptracegrpc.WithEndpoint(address), otlptracegrpc.WithInsecure())
		},
		"gRPC, packed": func(address string) (sdk.SpanExporter, error) {
			return otlptracegrpc.New(context.Background(), otlptracegrpc.WithEndpoint(address), otlptracegrpc.WithInsecure(), otlptracegrpc.WithCompressor("gzip"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := open(t)
			exporter, err := export(c.address)
			require.NoError(t, err)
			provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter))
			attempt := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1, 2, 0xab}, SpanID: trace.SpanID{3}, TraceFlags: trace.FlagsSampled, Remote: true})
			_, charge := provider.Tracer("shop").Start(trace.ContextWithRemoteSpanContext(t.Context(), attempt), "charge card", trace.WithAttributes(attribute.String("order", marker)))
			charge.End()
			_, job := provider.Tracer("shop").Start(t.Context(), "send receipt", trace.WithAttributes(attribute.Int64("order", 7)), trace.WithLinks(trace.Link{SpanContext: attempt}))
			job.End()
			require.NoError(t, provider.ForceFlush(t.Context()))
			require.NoError(t, provider.Shutdown(t.Context()))
			got := c.messages()
			require.Len(t, got, 2)
			const attemptsTrace = "0102ab00000000000000000000000000"
			require.Equal(t, "charge card", got[0].Subject)
			require.Equal(t, []string{attemptsTrace}, got[0].Traces)
			require.Equal(t, []string{marker}, got[0].Names)
			require.Equal(t, []string{marker, "7"}, []string{got[0].Intent, got[1].Intent})
			require.Equal(t, "send receipt", got[1].Subject)
			require.Equal(t, []string{job.SpanContext().TraceID().String(), attemptsTrace}, got[1].Traces)
			for _, m := range got {
				require.Equal(t, history.Span, m.Method)
				require.True(t, m.Acted)
				require.Empty(t, m.Fault, "it is the target's own word, and no answer of a service")
			}
		})
	}
}

// TestTheExportersOfNode send a span of an attempt's trace by gRPC, and by HTTP as protobuf and as JSON.
func TestTheExportersOfNode(t *testing.T) {
	t.Parallel()
	node, folder, found := servers.Node()
	if !found {
		require.False(t, servers.NodeRequired(), "the exporters of Node are missing: apt-get install nodejs npm, and make servers")
		t.Skip("the exporters of Node are missing: make servers installs them, where there is Node")
	}
	c := open(t)
	const script = `
const [address, marker] = process.argv.slice(1);
const {trace, context, TraceFlags, ROOT_CONTEXT} = require("@opentelemetry/api");
const {BasicTracerProvider, SimpleSpanProcessor} = require("@opentelemetry/sdk-trace-base");
const exporters = {
  grpc: {url: "http://" + address}, http: {url: "http://" + address + "/v1/traces"}, proto: {url: "http://" + address + "/v1/traces", compression: "gzip"},
};
(async () => {
  for (const [kind, options] of Object.entries(exporters)) {
    const {OTLPTraceExporter} = require("@opentelemetry/exporter-trace-otlp-" + kind);
    const provider = new BasicTracerProvider({spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter(options))]});
    const attempt = trace.setSpanContext(ROOT_CONTEXT, {traceId: "0102ab00000000000000000000000000", spanId: "0300000000000000", traceFlags: TraceFlags.SAMPLED, isRemote: true});
    provider.getTracer("shop").startSpan(kind, {attributes: {order: marker}}, attempt).end();
    await provider.forceFlush();
    await provider.shutdown();
  }
})();
`
	command := exec.CommandContext(t.Context(), node, "-e", script, c.address, marker)
	command.Dir = folder
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	got := c.messages()
	require.Len(t, got, 3, "%s", out)
	for i, kind := range []string{"grpc", "http", "proto"} {
		require.Equal(t, kind, got[i].Subject)
		require.Equal(t, []string{"0102ab00000000000000000000000000"}, got[i].Traces)
		require.Equal(t, []string{marker}, got[i].Names)
		require.Equal(t, marker, got[i].Intent)
	}
}

func post(t *testing.T, c *collector, path string, header map[string]string, body []byte) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+c.address+path, bytes.NewReader(body))
	require.NoError(t, err)
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(text)
}

// asJSON is what exporters of JavaScript send.
const asJSON = `{"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"scope":{"name":"shop"},"spans":[
	{"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"EEE19B7EC3C1B174","name":"charge card","kind":2,"startTimeUnixNano":"1544712660000000000",
	"attributes":[{"key":"order","value":{"stringValue":"` + marker + `"}}],"links":[{"traceId":"0102ab00000000000000000000000000","spanId":"EEE19B7EC3C1B174"}]}]}]}]}`

func packed(text string) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write([]byte(text))
	w.Close()
	return out.Bytes()
}

func TestSpansAsJSON(t *testing.T) {
	t.Parallel()
	c := open(t)
	for _, packing := range []string{"", "gzip"} {
		body := []byte(asJSON)
		header := map[string]string{"Content-Type": "application/json; charset=utf-8"}
		if packing != "" {
			body, header["Content-Encoding"] = packed(asJSON), packing
		}
		status, text := post(t, c, "/v1/traces", header, body)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "{}", text)
	}
	require.Len(t, c.messages(), 2)
	for _, m := range c.messages() {
		require.Equal(t, []string{"5b8efff798038103d269b633813fc60c", "0102ab00000000000000000000000000"}, m.Traces)
		require.Equal(t, []string{marker}, m.Names)
	}
}

func TestAFloodOfSpansIsBounded(t *testing.T) {
	t.Parallel()
	s, err := sinks.Open(t.Context(), map[string]targets.Sink{"spans": {OTLP: &targets.OTLPSink{}}}, sinks.Protocols{OTLP: spans.Serve})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	place, on := s.Places()["spans"], 0
	require.NoError(t, s.Watch(t.Context(), sinks.Watch{Base: time.Now(), Record: func(history.Message) { on++ }, Hide: func(text string) string { return text }}))
	flood := []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Repeat(`{"traceId":"f0","name":"a"},`, 20_006) + `{"traceId":"f0","name":"a"}]}]}]}`)
	status, _ := post(t, &collector{address: net.JoinHostPort(place.Host, place.Port)}, "/v1/traces", map[string]string{"Content-Type": "application/json"}, flood)
	require.Equal(t, http.StatusOK, status)
	require.Len(t, s.Messages(), 20_000)
	require.Equal(t, 20_000, on)
	require.Equal(t, map[string]int{"spans": 7}, s.Unwatch())
}

func TestLogsAndMetricsAreTakenAndLeft(t *testing.T) {
	t.Parallel()
	c := open(t)
	for _, path := range []string{"/v1/logs", "/v1/metrics"} {
		status, _ := post(t, c, path, map[string]string{"Content-Type": "application/x-protobuf"}, []byte{1})
		require.Equal(t, http.StatusOK, status)
	}
	require.Empty(t, c.messages())
}

func TestWhatIsNoSpanIsTakenDown(t *testing.T) {
	t.Parallel()
	bomb := packed(strings.Repeat(" ", 17<<20))
	for name, x := range map[string]struct {
		path, kind, packing string
		body                []byte
		says                string
	}{
		"noise":             {"/v1/traces", "application/x-protobuf", "", []byte("\xff\xff"), "not understood"},
		"no JSON":           {"/v1/traces", "application/json", "", []byte("{"), "not understood"},
		"another kind":      {"/v1/traces", "text/plain", "", []byte("x"), "application/x-protobuf"},
		"another path":      {"/charges", "application/json", "", []byte("{}"), "/v1/traces"},
		"no gzip":           {"/v1/traces", "application/json", "gzip", []byte("no gzip at all"), "gzip"},
		"another packing":   {"/v1/traces", "application/json", "br", []byte("{}"), "this sink knows gzip"},
		"too much":          {"/v1/traces", "application/json", "", bytes.Repeat([]byte(" "), 17<<20), "more than 16 MiB"},
		"too much, packed":  {"/v1/traces", "application/json", "gzip", bomb, "more than 16 MiB"},
		"half a gRPC head":  {"/opentelemetry.proto.collector.trace.v1.TraceService/Export", "application/grpc", "", []byte{0, 0}, "not whole"},
		"a gRPC head alone": {"/opentelemetry.proto.collector.trace.v1.TraceService/Export", "application/grpc", "", []byte{0, 0, 0, 0, 9}, "not whole"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := open(t)
			status, _ := post(t, c, x.path, map[string]string{"Content-Type": x.kind, "Content-Encoding": x.packing}, x.body)
			if !strings.Contains(x.kind, "grpc") {
				require.Equal(t, http.StatusBadRequest, status)
			}
			require.Len(t, c.messages(), 1)
			require.Contains(t, c.messages()[0].Error, x.says)
			require.Empty(t, c.messages()[0].Method)
		})
	}
	for first, says := range map[string]string{"EHLO shop\r\n\r\n": "neither", "\x16\x03\x01\x02\x00": "without TLS"} {
		c := open(t)
		conn, err := net.Dial("tcp", c.address)
		require.NoError(t, err)
		_, err = conn.Write([]byte(first))
		require.NoError(t, err)
		require.NoError(t, conn.(*net.TCPConn).CloseWrite())
		_, _ = io.Copy(io.Discard, conn)
		conn.Close()
		require.Eventually(t, func() bool { return len(c.messages()) == 1 }, time.Minute, time.Millisecond)
		require.Contains(t, c.messages()[0].Error, says)
	}
}
