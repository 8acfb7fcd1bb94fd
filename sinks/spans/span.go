package spans

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/sinks"
)

// span is what a sink looks at of one.
type span struct {
	name   string
	traces []string // its own, and those of its links
	text   []byte   // all of it, in which markers may be
}

func (s span) message() history.Message {
	var search sinks.Search
	search.In(s.text)
	return history.Message{
		Method: history.Span, Subject: s.name, Traces: s.traces, Names: search.Names(), Status: http.StatusOK, Acted: true, Length: int64(len(s.text)),
	}
}

// fromProtobuf reads an ExportTraceServiceRequest, whose bytes are those of TracesData.
func fromProtobuf(body []byte) ([]span, error) {
	var data trace.TracesData
	if err := proto.Unmarshal(body, &data); err != nil {
		return nil, err
	}
	var all []span
	for _, resource := range data.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, one := range scope.Spans {
				text, err := proto.Marshal(one)
				if err != nil {
					return nil, err
				}
				s := span{name: one.Name, traces: []string{hex.EncodeToString(one.TraceId)}, text: text}
				for _, link := range one.Links {
					s.traces = append(s.traces, hex.EncodeToString(link.TraceId))
				}
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// fromJSON reads the same as JSON, whose ids are hexadecimal, unlike elsewhere in protobuf's JSON.
func fromJSON(body []byte) ([]span, error) {
	var data struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(body, &data); err != nil {
		return nil, err
	}
	var all []span
	for _, resource := range data.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, text := range scope.Spans {
				var one struct {
					Name, TraceID string
					Links         []struct{ TraceID string }
				}
				if err := json.Unmarshal(text, &one); err != nil {
					return nil, err
				}
				s := span{name: one.Name, traces: []string{strings.ToLower(one.TraceID)}, text: bytes.Clone(text)}
				for _, link := range one.Links {
					s.traces = append(s.traces, strings.ToLower(link.TraceID))
				}
				all = append(all, s)
			}
		}
	}
	return all, nil
}
