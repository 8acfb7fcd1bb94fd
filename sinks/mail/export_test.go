package mail

import (
	"io"
	"net"

	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/targets"
)

// ServeUpTo is Serve with another limit: the race detector takes minutes for 50 MiB.
func ServeUpTo(most int64) sinks.Serve {
	return func(l net.Listener, spec targets.Sink, in *sinks.Inbox) (io.Closer, error) {
		return serve(l, spec, in, most)
	}
}

// Length reads a mail as a sink does, and returns how long it was.
func Length(r io.Reader) (int64, error) {
	l, err := read(r)
	return l.length, err
}
