package driver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets"
)

// askTimeout bounds the questions that are no attempts: counts, readiness, status
// resources.
const askTimeout = 5 * time.Second

// longestAnswer bounds what is kept of an answer to a question: 1 MiB.
const longestAnswer = 1 << 20

// Received asks the target how many requests it has received, at the path and pointer of
// the target file. A run compares it with its history: a request more was sent by
// something that the history does not have. Targets that cannot count give an error.
func Received(ctx context.Context, t targets.Target) (int64, error) {
	answer, err := get(ctx, t, urlOf(t, t.Received.Path), nil)
	if err != nil {
		return 0, fmt.Errorf("ask the target for its count: %w", err)
	}
	var value any
	if err := json.Unmarshal([]byte(answer.Content), &value); err != nil {
		return 0, fmt.Errorf("ask the target for its count: %w", err)
	}
	for _, member := range strings.Split(t.Received.Pointer, "/")[1:] {
		object, _ := value.(map[string]any)
		value = object[member]
	}
	n, ok := value.(float64)
	if !ok {
		return 0, fmt.Errorf("ask the target for its count: no number at %s in the answer of %s", t.Received.Pointer, t.Received.Path)
	}
	return int64(n), nil
}

// ErrNoAnswer is matched by the error of a question that reached the target and was not answered in time.
var ErrNoAnswer = errors.New("no answer")

// Alive reports whether the target answers anything at all: it sends a GET to its base URL, which
// creates nothing, and any complete HTTP answer will do. Some services close the connection on a GET
// that they did not expect: they are asked for their OPTIONS, too.
func Alive(ctx context.Context, t targets.Target) error {
	answer, err := get(ctx, t, urlOf(t, "/"), nil)
	if answer.ErrorKind != history.Closed && answer.ErrorKind != history.Reset {
		return err
	}
	if _, failed := ask(ctx, t, http.MethodOptions, urlOf(t, "/"), nil); failed == nil {
		return nil
	}
	return err
}

// Ready returns nil if a GET of a path under the base URL is answered with a status below 500.
func Ready(ctx context.Context, t targets.Target, path string) error {
	answer, err := get(ctx, t, urlOf(t, path), nil)
	if err == nil && answer.Status >= http.StatusInternalServerError {
		err = fmt.Errorf("GET %s is answered %d", path, answer.Status)
	}
	return err
}

// get asks with a GET.
func get(ctx context.Context, t targets.Target, where string, header map[string]string) (history.Attempt, error) {
	return ask(ctx, t, http.MethodGet, where, header)
}

// ask sends a question of the harness's own, on no lane, once. The error says why the answer is not whole.
func ask(ctx context.Context, t targets.Target, method, where string, header map[string]string) (history.Attempt, error) {
	request, err := http.NewRequestWithContext(ctx, method, where, nil)
	if err != nil {
		return history.Attempt{}, err
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	request.Header.Set("User-Agent", "doubletap")
	request.Header.Set("Accept-Encoding", "identity")
	began := time.Now()
	x := exchange{
		http: request, timeout: askTimeout, tls: TLS(t), pool: poolFor(t), keep: longestAnswer,
		now: func() history.Offset { return max(1, history.Offset(time.Since(began))) },
	}
	x.direct(ctx, t)
	if x.record.ErrorKind == history.Timeout {
		return x.record, fmt.Errorf("%w: %s", ErrNoAnswer, x.record.Error)
	}
	if x.record.Error != "" {
		return x.record, errors.New(x.record.Error)
	}
	return x.record, nil
}

// direct runs the exchange with the target itself, on no lane.
func (x *exchange) direct(ctx context.Context, t targets.Target) {
	x.run(ctx, func(ctx context.Context) (net.Conn, error) {
		if t.Socket != "" {
			return new(net.Dialer).DialContext(ctx, "unix", t.Socket)
		}
		address := net.JoinHostPort(x.http.URL.Hostname(), cmp.Or(x.http.URL.Port(), x.http.URL.Scheme))
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	})
}
