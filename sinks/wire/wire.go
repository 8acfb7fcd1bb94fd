// Package wire reads what a client says to Redis or to RabbitMQ on its way there: bytes
// into commands and messages. It answers nothing. Where it does not understand a
// connection it lets it be: a target must never notice that someone reads along.
package wire

import "errors"

// mostPending is how long one command or frame may be, and how much is kept of messages that have not come whole. A connection
// with more is not read any more.
const mostPending = 16 << 20

// Said is one thing that a client has said whole. One of its members is set.
type Said struct {
	Command []string // of Redis
	Message *Message // to RabbitMQ
}

// Message is what a client publishes to RabbitMQ.
type Message struct {
	Exchange, RoutingKey string
	Fields               map[string]string // headers, and properties by their names in AMQP, such as message-id
	Body                 []byte            // the first bytes of it
}

// Reader reads one connection. The zero value is ready to use. It is for one goroutine at a time.
type Reader struct {
	pending  []byte // of what has not come whole
	protocol func(r *Reader, b []byte) (int, Said, error)
	opaque   bool
	contents map[uint16]*content // of AMQP, by channel
	held     int                 // bytes that they keep
}

var (
	errOpaque = errors.New("neither Redis nor RabbitMQ is spoken here")
	errLater  = errors.New("more has to come")
)

// Read takes what the client says next. Each is called with what is complete by it, and with how many bytes of said may be passed on
// without that, and returns whether to stop there.
func (r *Reader) Read(said []byte, each func(s Said, before int) (stop bool)) {
	if r.opaque {
		return
	}
	earlier := len(r.pending)
	r.pending = append(r.pending, said...)
	at := 0
	for at < len(r.pending) {
		n, s, err := r.unit(r.pending[at:])
		if errors.Is(err, errLater) && len(r.pending)-at <= mostPending {
			break
		}
		if err != nil {
			r.opaque, r.pending, r.contents = true, nil, nil
			return
		}
		if (s.Command != nil || s.Message != nil) && each(s, max(0, at-earlier)) {
			return
		}
		at += n
	}
	r.pending = r.pending[:copy(r.pending, r.pending[at:])]
}

// unit reads what comes first, and how long it is.
func (r *Reader) unit(b []byte) (int, Said, error) {
	if r.protocol == nil {
		switch {
		case b[0] == '*':
			r.protocol = (*Reader).command
		case len(b) < len(greeting) && string(b) == greeting[:len(b)]:
			return 0, Said{}, errLater
		case len(b) >= len(greeting) && string(b[:len(greeting)]) == greeting:
			r.protocol, r.contents = (*Reader).frame, map[uint16]*content{}
			return len(greeting), Said{}, nil
		default:
			return 0, Said{}, errOpaque
		}
	}
	return r.protocol(r, b)
}
