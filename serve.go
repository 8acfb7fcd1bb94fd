package doubletap

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// patience is how long a handler's last requests may take once no client waits for them.
const patience = 2 * time.Second

// serve serves a handler on a free port of the loopback interface until stop is called. Nil is served by
// somebody else.
func serve(h http.Handler) (base string, stop func(), err error) {
	if h == nil {
		return "", func() {}, nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("serve the handler: %w", err)
	}
	server := &http.Server{Handler: h, Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = server.Serve(listener) // ends with stop
	}()
	return "http://" + listener.Addr().String(), func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
		<-over
	}, nil
}
