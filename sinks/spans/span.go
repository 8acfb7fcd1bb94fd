package spans

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/sinks"
)

// span is what a sink looks at of one.
type span struct {
	name   string
	traces []string          // its own, and those of its links
	text   []byte            // all of it, in which markers may be
	said   map[string]string // its attributes that are texts or whole numbers
}

// message is a span as a message. The attribute of that name says of which intent it is; empty: none does.
func (s span) message(intent string) history.Message {
	var search sinks.Search
	search.In(s.text)
	return history.Message{
		Method: history.Span, Subject: s.name, Traces: s.traces, Intent: s.said[intent], Names: search.Names(), Status: http.StatusOK, Acted: true, Length: int64(len(s.text)),
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
				s := span{name: one.Name, traces: []string{hex.EncodeToString(one.TraceId)}, text: text, said: map[string]string{}}
				for _, link := range one.Links {
					s.traces = append(s.traces, hex.EncodeToString(link.TraceId))
				}
				for _, a := range one.Attributes {
					switch value := a.GetValue().GetValue().(type) {
					case *common.AnyValue_StringValue:
						s.said[a.Key] = value.StringValue
					case *common.AnyValue_IntValue:
						s.said[a.Key] = strconv.FormatInt(value.IntValue, 10)
					}
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
					Attributes    []struct {
						Key   string
						Value struct {
							StringValue string
							IntValue    json.RawMessage // a text or a number
						}
					}
				}
				if err := json.Unmarshal(text, &one); err != nil {
					return nil, err
				}
				s := span{name: one.Name, traces: []string{strings.ToLower(one.TraceID)}, text: bytes.Clone(text), said: map[string]string{}}
				for _, link := range one.Links {
					s.traces = append(s.traces, strings.ToLower(link.TraceID))
				}
				for _, a := range one.Attributes {
					s.said[a.Key] = cmp.Or(a.Value.StringValue, strings.Trim(string(a.Value.IntValue), `"`))
				}
				all = append(all, s)
			}
		}
	}
	return all, nil
}
