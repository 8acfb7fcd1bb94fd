package targets

import (
	"maps"
	"net/url"
)

// AnswerSize is a size of answers that a request can ask for.
type AnswerSize string

// The sizes. The zero value is the usual one.
const (
	LargeAnswer AnswerSize = "large" // 64 KiB or more
	HugeAnswer  AnswerSize = "huge"  // 1 MiB or more
	EmptyAnswer AnswerSize = "empty" // no body
)

// Asking is what a request has besides to be answered in another size.
type Asking struct {
	Header map[string]string `yaml:"headers" json:"headers,omitempty"`
	Query  map[string]string `yaml:"query" json:"query,omitempty"`
	Body   map[string]any    `yaml:"body" json:"body,omitempty"` // members that are merged into the payload
}

// Answering returns the operation with a request that is answered in this size, or as it is where
// the file does not say how to ask for that. It changes copies: operations of one target share
// their maps.
func (o Operation) Answering(size AnswerSize) Operation {
	asking, declared := o.Answers[size]
	if !declared {
		return o
	}
	if len(asking.Header) > 0 {
		o.Request.Header = maps.Clone(o.Request.Header)
		if o.Request.Header == nil {
			o.Request.Header = map[string]string{}
		}
		maps.Copy(o.Request.Header, asking.Header)
	}
	if len(asking.Query) > 0 {
		query := url.Values{}
		for name, value := range asking.Query {
			query.Set(name, value)
		}
		o.Request.Path = withQuery(o.Request.Path, query.Encode())
	}
	o.Request.ChangePayload(func(members map[string]any) map[string]any { return merge(members, asking.Body) })
	return o
}
