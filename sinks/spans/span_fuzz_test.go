package spans

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// FuzzSpans reads anything as spans, in both forms. What is understood is a message that fits into a history.
func FuzzSpans(f *testing.F) {
	one := &trace.Span{
		Name: "charge", TraceId: []byte("0123456789abcdef"), Links: []*trace.Span_Link{{TraceId: []byte{1}}},
		Attributes: []*common.KeyValue{{Key: "order", Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: -7}}}, {Key: "x"}},
	}
	packed, err := proto.Marshal(&trace.TracesData{ResourceSpans: []*trace.ResourceSpans{{ScopeSpans: []*trace.ScopeSpans{{Spans: []*trace.Span{one}}}}}})
	require.NoError(f, err)
	f.Add(packed)
	for _, text := range []string{
		`{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"charge","traceId":"A1","links":[{"traceId":"b"}],"attributes":[{"key":"order","value":{"intValue":"7"}},{"key":"x","value":{"stringValue":"dtabcdefgh12345678"}}]}]}]}]}`,
		`{"resourceSpans":[{"scopeSpans":[{"spans":[null,{}]},null]},null]}`, `{"resourceSpans":null}`, `[]`, "\x0a\xff\xff\xff\xff\x0f", "\x0a\x02\x12\x00",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, read := range []func([]byte) ([]span, error){fromProtobuf, fromJSON} {
			all, err := read(body)
			if err != nil {
				continue
			}
			for _, s := range all {
				_, err := json.Marshal(s.message("order"))
				require.NoError(t, err)
			}
		}
	})
}
