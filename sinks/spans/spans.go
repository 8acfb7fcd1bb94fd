// Package spans hosts sinks that take the spans of OpenTelemetry in place of a collector: by gRPC and by HTTP at one port, as
// OTLP 1 has it, and as messages of the history. The Go library does not link it; a program that has such sinks gives Serve to the
// run, as the doubletap command does.
package spans

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/targets"
)

// mostBody is how many bytes of spans one request may have, packed or not.
const mostBody = 16 << 20

// Where spans are sent to, by HTTP and by gRPC.
const (
	overHTTP = "/v1/traces"
	overGRPC = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
)

// server takes spans until it is closed.
type server struct {
	inbox  *sinks.Inbox
	intent string // attribute that names the intent; empty: none
}

// Serve begins to take the spans that come to a listener.
func Serve(l net.Listener, spec targets.Sink, in *sinks.Inbox) (io.Closer, error) {
	return in.HearHTTP(l, complain, 5*time.Minute, &server{in, spec.OTLP.Intent}), nil
}

// complain says what came on a connection without a request.
func complain(first []byte) string {
	if first[0] == sinks.TLSHandshake {
		return "a connection began with a TLS handshake, and this sink speaks OTLP without TLS: OTEL_EXPORTER_OTLP_INSECURE=true, or an http:// endpoint"
	}
	return "what came on a connection is neither OTLP over HTTP nor over gRPC"
}

// ServeHTTP takes the spans of one export.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	remote := strings.HasPrefix(kind, "application/grpc")
	body, err := received(r, remote)
	var all []span
	switch {
	case err != nil:
	case remote && r.URL.Path == overGRPC, r.URL.Path == overHTTP && kind == "application/x-protobuf":
		all, err = fromProtobuf(body)
	case r.URL.Path == overHTTP && kind == "application/json":
		all, err = fromJSON(body)
	case s.other(r.URL.Path): // logs and metrics have no place here, and their exporters would complain without end
	default:
		err = fmt.Errorf("a request for %s with %q, and spans come to %s as application/x-protobuf or application/json, or by gRPC", r.URL.Path, kind, overHTTP)
	}
	if err != nil {
		s.inbox.Note(history.Message{Error: "spans were not understood: " + err.Error(), Length: int64(len(body))}, nil)
	}
	for _, one := range all {
		s.inbox.Note(one.message(s.intent), nil)
	}
	answer(w, kind, remote, err)
}

// other reports that a path is where logs or metrics are sent to.
func (s *server) other(path string) bool {
	return path == "/v1/logs" || path == "/v1/metrics" || strings.HasPrefix(path, "/opentelemetry.proto.collector.") && path != overGRPC
}

// answer answers an export: all spans were taken, or they were not understood.
func answer(w http.ResponseWriter, kind string, remote bool, err error) {
	w.Header().Set("Content-Type", kind)
	if !remote {
		switch {
		case err != nil:
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintln(w, err)
		case kind == "application/json":
			fmt.Fprint(w, "{}")
		}
		return // an empty message of protobuf has no bytes
	}
	const ok, invalidArgument = "0", "3"
	status := ok
	if err != nil {
		status = invalidArgument
	}
	_, _ = w.Write(make([]byte, prefix)) // a message without bytes
	w.Header().Set(http.TrailerPrefix+"Grpc-Status", status)
}

// prefix is how long the head of a gRPC message is: whether it is packed, and its length.
const prefix = 5

// received reads what was sent, and unpacks it.
func received(r *http.Request, remote bool) ([]byte, error) {
	body, err := upTo(r.Body, mostBody)
	if err != nil {
		// A client that still writes when the connection is closed may see it reset, and not the answer that says why. So some of
		// what is left is read, too.
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, mostBody))
	}
	packing, packed := r.Header.Get("Content-Encoding"), false
	if err == nil && remote {
		if len(body) < prefix || int(binary.BigEndian.Uint32(body[1:prefix])) != len(body)-prefix {
			return body, errors.New("the gRPC message is not whole")
		}
		packing, packed, body = r.Header.Get("Grpc-Encoding"), body[0] == 1, body[prefix:]
		if !packed {
			return body, nil
		}
	}
	switch {
	case err != nil:
		return body, err
	case packing == "gzip":
		in, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return body, err
		}
		return upTo(in, mostBody)
	case packed, packing != "" && packing != "identity":
		return body, fmt.Errorf("they are packed with %q, and this sink knows gzip", packing)
	default:
		return body, nil
	}
}

// upTo reads to the end, which must come in so many bytes.
func upTo(in io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, fmt.Errorf("they have more than %d MiB", most>>20)
	}
	return text, err
}
