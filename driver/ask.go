package driver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/targets"
)

// askTimeout bounds the questions that are no attempts.
const askTimeout = 5 * time.Second

// Received asks the target how many requests it has received. Targets that cannot count give an
// error.
func Received(ctx context.Context, t targets.Target) (int64, error) {
	body, err := read(get(ctx, at(t, t.Received.Path), nil))
	if err != nil {
		return 0, fmt.Errorf("ask the target for its count: %w", err)
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
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

// Alive reports whether the target answers anything at all: it sends a GET to its base URL, which
// creates nothing, and any complete HTTP answer will do.
func Alive(ctx context.Context, t targets.Target) error {
	_, err := read(get(ctx, at(t, "/"), nil))
	return err
}

// get sends a question of the harness's own, on no lane.
func get(ctx context.Context, where string, header map[string]string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return nil, err
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	request.Header.Set("User-Agent", "doubletap")
	client := &http.Client{
		Timeout: askTimeout, Transport: &http.Transport{DisableKeepAlives: true, Proxy: nil},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return client.Do(request)
}

// at returns the URL of a path under the target's base URL.
func at(t targets.Target, path string) string { return strings.TrimSuffix(t.BaseURL, "/") + path }

// read returns the body of an answer, and whether all of it came.
func read(response *http.Response, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(io.LimitReader(response.Body, longestAnswer))
}

// longestAnswer bounds what is read of an answer to a question: 1 MiB.
const longestAnswer = 1 << 20
