package targets

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"text/template"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// Sink stands in place of another service that the target sends something to: the harness hosts it for the time of a run. Or it
// reads at a broker, beside its consumers, what the target publishes there.
type Sink struct {
	Listen   string        `yaml:"listen" json:"listen,omitempty"` // host:port; empty: a free port on 127.0.0.1, which only a process can be told
	HTTP     *HTTPSink     `yaml:"http" json:"http,omitempty"`
	SMTP     *SMTPSink     `yaml:"smtp" json:"smtp,omitempty"`
	OTLP     *OTLPSink     `yaml:"otlp" json:"otlp,omitempty"`
	Redis    *RedisSink    `yaml:"redis" json:"redis,omitempty"`
	RabbitMQ *RabbitMQSink `yaml:"rabbitmq" json:"rabbitmq,omitempty"` // exactly one of the five is set
}

// RedisSink is what the target publishes in a Redis server. Exactly one of Stream, List and Channel is set.
type RedisSink struct {
	URL     string       `yaml:"url" json:"-"` // empty in a file: that of the target's store
	Stream  string       `yaml:"stream" json:"stream,omitempty"`
	List    string       `yaml:"list" json:"list,omitempty"`       // a pattern of Redis may stand for several
	Channel string       `yaml:"channel" json:"channel,omitempty"` // likewise
	Message MessageParts `yaml:",inline" json:"message,omitzero"`
}

// RabbitMQSink is what the target publishes to an exchange of RabbitMQ, or straight to a queue. Exactly one of Exchange and Queue is set.
type RabbitMQSink struct {
	URL        string       `yaml:"url" json:"-"`
	Exchange   string       `yaml:"exchange" json:"exchange,omitempty"`
	RoutingKey string       `yaml:"routing_key" json:"routing_key,omitempty"` // by which the sink's queue is bound to the exchange; after Load not empty
	Queue      string       `yaml:"queue" json:"queue,omitempty"`             // to which the default exchange leads
	Message    MessageParts `yaml:",inline" json:"message,omitzero"`
}

// MessageParts says where the parts of a message to a broker stand, each as a JSON pointer into its body or as the name of a field or
// a header; empty: nowhere.
type MessageParts struct {
	Intent     string `yaml:"intent" json:"intent,omitempty"`         // what names the intent
	Key        string `yaml:"key" json:"key,omitempty"`               // by which consumers know it
	Type       string `yaml:"type" json:"type,omitempty"`             // by which effects tell messages apart
	Idempotent bool   `yaml:"idempotent" json:"idempotent,omitempty"` // consumers drop a message with a key that they know
}

// Followed reports that the sink reads at a broker, and hosts nothing.
func (s Sink) Followed() bool { return s.Redis != nil || s.RabbitMQ != nil }

// Answers reports that the sink answers what reaches it, so that an answer can be lost, and that nobody cares for the answers to spans.
func (s Sink) Answers() bool { return s.HTTP != nil || s.SMTP != nil }

// Message says where the parts of the sink's messages stand.
func (s Sink) Message() MessageParts {
	switch {
	case s.Redis != nil:
		return s.Redis.Message
	case s.RabbitMQ != nil:
		return s.RabbitMQ.Message
	default:
		return MessageParts{}
	}
}

// Server is the URL of the broker, as the file has it; empty: the sink is hosted, or reads in the target's store.
func (s Sink) Server() string {
	switch {
	case s.Redis != nil:
		return s.Redis.URL
	case s.RabbitMQ != nil:
		return s.RabbitMQ.URL
	default:
		return ""
	}
}

// OTLPSink is a sink that takes the spans of OpenTelemetry, by gRPC and by HTTP at one port.
type OTLPSink struct {
	Intent string `yaml:"intent" json:"intent,omitempty"` // attribute that names the intent; empty: none
}

// SMTPSink is a sink that takes mails. It takes any credentials, and keeps none.
type SMTPSink struct {
	TLS        MailTLS `yaml:"tls" json:"tls,omitempty"`
	Intent     string  `yaml:"intent" json:"intent,omitempty"`         // header that names the intent; empty: none
	Idempotent bool    `yaml:"idempotent" json:"idempotent,omitempty"` // a mail with a Message-ID that was seen is the same mail
}

// MailTLS says how a sink for mails speaks TLS. Its certificate is made for each run, so that clients must not insist on knowing it.
type MailTLS string

// The ways: not at all, as the client asks for after the greeting (RFC 3207), or from the first byte (RFC 8314).
const (
	NoTLS       MailTLS = ""
	StartTLS    MailTLS = "starttls"
	ImplicitTLS MailTLS = "implicit"
)

// At is where a sink is found that listens at host:port, or whose broker is reached there.
func (s Sink) At(address string) SinkPlace {
	host, port, _ := net.SplitHostPort(address) // which it listens at
	if u, err := url.Parse(s.Server()); err == nil && s.Followed() {
		u.Host = address
		return SinkPlace{URL: u.String(), Host: host, Port: port}
	}
	scheme := "http"
	switch {
	case s.SMTP != nil && s.SMTP.TLS == ImplicitTLS:
		scheme = "smtps"
	case s.SMTP != nil:
		scheme = "smtp"
	}
	return SinkPlace{URL: scheme + "://" + address, Host: host, Port: port}
}

// HTTPSink is a sink that takes requests. After Load its key has a place.
type HTTPSink struct {
	Key        SinkKey      `yaml:"key" json:"key"`
	Intent     SinkKey      `yaml:"intent" json:"intent,omitzero"`          // what names the intent: its marker, reference or key, or the id of its row; the zero value: nothing, and its marker is looked for
	Idempotent bool         `yaml:"idempotent" json:"idempotent,omitempty"` // a request with a key that was seen gets the first answer again, and does nothing
	Provider   string       `yaml:"provider" json:"provider,omitempty"`     // whose answers come after those of the file; empty: nobody's
	Answers    []SinkAnswer `yaml:"answers" json:"answers,omitempty"`       // the first that fits; none: 200 for every request
}

// SinkKey is where the target puts a text that a sink looks for, such as an idempotency key of its own.
type SinkKey struct {
	In   contract.KeyPlace `yaml:"in" json:"in"`     // header, body, query or path
	Name string            `yaml:"name" json:"name"` // of the header or the parameter of the query; in the body a name or a JSON pointer; a path whose first * stands for the text
}

// SinkAnswer is the answer to some requests. An empty Method or Path means all of them.
type SinkAnswer struct {
	Method string            `yaml:"method" json:"method,omitempty"`
	Path   string            `yaml:"path" json:"path,omitempty"` // a * stands for a part between two slashes
	Status int               `yaml:"status" json:"status"`       // after Load 100 to 599
	Header map[string]string `yaml:"headers" json:"headers,omitempty"`
	Body   any               `yaml:"body" json:"body,omitempty"` // sent as JSON; nil: nothing
}

// Acts reports whether a sink that answers so does what was asked: a refusal or a failure does not.
func (a SinkAnswer) Acts() bool { return a.Status < 400 }

// SinkRequest is what the templates of an answer can use.
type SinkRequest struct {
	ID   string // of what was made; the same for a repetition
	Key  string // that the request came with
	Path string
	body any
}

// NewSinkRequest returns a request with a body, which is any JSON value or nil.
func NewSinkRequest(id, key, path string, body any) SinkRequest {
	return SinkRequest{ID: id, Key: key, Path: path, body: body}
}

// Body returns the member of the request's body at a JSON pointer; an empty text: there is none.
func (r SinkRequest) Body(pointer string) any {
	value, found := jsonpointer.Resolve(r.body, pointer)
	if !found || value == nil {
		return ""
	}
	return value
}

// Part returns a part of the path between two slashes, from 1; an empty text: there is none.
func (r SinkRequest) Part(n int) string {
	parts := strings.Split(r.Path, "/")
	if n < 1 || n >= len(parts) {
		return ""
	}
	return parts[n]
}

// Fill returns the headers and the body of an answer to a request.
func (a SinkAnswer) Fill(r SinkRequest) (header map[string]string, body []byte, err error) {
	header = map[string]string{}
	for name, value := range a.Header {
		if header[name], err = fillWith(value, r); err != nil {
			return nil, nil, err
		}
	}
	if a.Body == nil {
		return header, nil, nil
	}
	filled, err := fillAnswer(a.Body, r)
	if err != nil {
		return nil, nil, err
	}
	body, err = json.Marshal(filled)
	return header, body, err
}

// fillAnswer fills in every text inside the body of an answer. A text that ends in the function json becomes a value.
func fillAnswer(value any, r SinkRequest) (any, error) {
	switch value := value.(type) {
	case string:
		filled, nodes, err := run(value, template.FuncMap{toJSON: inJSON}, r)
		if err != nil || !endsInJSON(nodes) {
			return filled, err
		}
		return json.RawMessage(filled), nil
	case []any:
		filled := make([]any, len(value))
		for i, entry := range value {
			var err error
			if filled[i], err = fillAnswer(entry, r); err != nil {
				return nil, err
			}
		}
		return filled, nil
	case map[string]any:
		filled := make(map[string]any, len(value))
		for _, name := range slices.Sorted(maps.Keys(value)) {
			var err error
			if filled[name], err = fillAnswer(value[name], r); err != nil {
				return nil, err
			}
		}
		return filled, nil
	}
	return value, nil
}

// inJSON writes a value as JSON. A text that is a JSON value, such as a number in a form, is that value.
func inJSON(value any) (string, error) {
	if text, is := value.(string); is && json.Valid([]byte(text)) {
		return text, nil
	}
	written, err := json.Marshal(value)
	return string(written), err
}

// complete fills in what the file leaves out.
func (s *HTTPSink) complete() {
	if like, known := provider(s.Provider); known {
		if s.Key.In == contract.KeyNowhere {
			s.Key = like.Key
		}
		s.Idempotent, s.Answers = true, append(s.Answers, like.Answers...)
	}
	if s.Key.In == contract.KeyNowhere {
		s.Key.In = contract.KeyInHeader
	}
	if s.Key.In == contract.KeyInHeader && s.Key.Name == "" {
		s.Key.Name = usualKey
	}
	for i := range s.Answers {
		if s.Answers[i].Status == 0 {
			s.Answers[i].Status = 200
		}
	}
}

// Address returns host:port of the broker; an empty text: the sink is hosted, or reads in the target's store.
func (s Sink) Address() string {
	u, err := url.Parse(s.Server())
	if err != nil || u.Hostname() == "" {
		return ""
	}
	usual := map[string]string{"redis": "6379", "rediss": "6379", "amqp": "5672", "amqps": "5671"}[u.Scheme]
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), usual))
}

// Shown is where a sink is, for people: without user and password, and with what is read there.
func (s Sink) Shown(p SinkPlace) string {
	u, err := url.Parse(p.URL)
	if err != nil {
		return net.JoinHostPort(p.Host, p.Port)
	}
	u.User, u.RawQuery = nil, ""
	switch {
	case s.Redis != nil && s.Redis.Stream != "":
		return u.String() + ", stream " + s.Redis.Stream
	case s.Redis != nil && s.Redis.List != "":
		return u.String() + ", list " + s.Redis.List
	case s.Redis != nil:
		return u.String() + ", channel " + s.Redis.Channel
	case s.RabbitMQ != nil && s.RabbitMQ.Queue != "":
		return u.String() + ", queue " + s.RabbitMQ.Queue
	case s.RabbitMQ != nil:
		return fmt.Sprintf("%s, exchange %s by %s", u, s.RabbitMQ.Exchange, s.RabbitMQ.RoutingKey)
	default:
		return u.String()
	}
}

// SinkPlace is where a process finds a sink, as a whole and in parts.
type SinkPlace struct {
	URL, Host string
	Port      string
}

// InStore returns sinks of which those in the target's store read behind a prefix.
func InStore(sinks map[string]Sink, prefix string) map[string]Sink {
	all := map[string]Sink{}
	for name, s := range sinks {
		if all[name] = s; s.Redis == nil || s.Redis.URL != "" {
			continue
		}
		own := *s.Redis
		for _, place := range []*string{&own.Stream, &own.List, &own.Channel} {
			if *place != "" {
				*place = prefix + *place
			}
		}
		s.Redis = &own
		all[name] = s
	}
	return all
}

// SinkNames returns the names of the sinks, sorted.
func (t Target) SinkNames() []string { return slices.Sorted(maps.Keys(t.Sinks)) }

// SeenWithin is how long after its row an effect may reach its sink.
func (t Target) SeenWithin() contract.Duration {
	var longest contract.Duration
	for _, o := range t.Operations {
		for _, e := range o.Effects {
			longest = max(longest, e.Within)
		}
	}
	return longest
}

// Seen returns the effects that are counted at sinks.
func (o Operation) Seen() []contract.Effect {
	return slices.DeleteFunc(slices.Clone(o.Effects), func(e contract.Effect) bool { return e.Seen == "" })
}
