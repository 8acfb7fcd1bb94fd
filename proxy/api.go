package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// How long the API of a toxiproxy server may take for one question, and how much it may answer.
const (
	apiTimeout    = 30 * time.Second
	longestAnswer = 8 << 20
)

// api is the HTTP API of a toxiproxy server, as far as lanes need it. It is ours and not
// toxiproxy's client package, which follows redirects and the environment's proxies: the
// run has the user's permission for the host of its URL only. Safe for concurrent use.
type api struct {
	url    *url.URL
	client *http.Client
}

// newAPI sends to the URL's host, by no proxy, and follows no redirect away from it.
func newAPI(u *url.URL) *api {
	return &api{url: u, client: &http.Client{
		Timeout:       apiTimeout,
		Transport:     &http.Transport{Proxy: nil},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// serverToxic is a toxic as the API has it.
type serverToxic struct {
	Name       string  `json:"name"`
	Type       string  `json:"type"`
	Stream     string  `json:"stream"`
	Toxicity   float32 `json:"toxicity"`
	Attributes any     `json:"attributes"`
}

// listed is a proxy as the API has it.
type listed struct {
	Name     string `json:"name"`
	Listen   string `json:"listen"`
	Upstream string `json:"upstream"`
	Enabled  bool   `json:"enabled"`
}

// apiError is an answer of the API that is an error.
type apiError struct {
	status int
	text   string
}

func (e *apiError) Error() string { return fmt.Sprintf("HTTP %d: %s", e.status, e.text) }

// version asks for nothing but an answer: it shows that a server is there.
func (a *api) version() error { return a.do(http.MethodGet, nil, nil, "version") }

// proxies lists all proxies of the server, also those of others, by name.
func (a *api) proxies() (all map[string]listed, err error) {
	return all, a.do(http.MethodGet, nil, &all, "proxies")
}

// create makes a proxy and returns it as the server has it, with its true port.
func (a *api) create(name, listen, upstream string) (made listed, err error) {
	return made, a.do(http.MethodPost, listed{Name: name, Listen: listen, Upstream: upstream, Enabled: true}, &made, "proxies")
}

// remove takes a proxy away, with its connections.
func (a *api) remove(name string) error {
	return a.do(http.MethodDelete, nil, nil, "proxies", name)
}

// addToxic adds a toxic to a proxy, also to the connections that are there.
func (a *api) addToxic(proxy string, t serverToxic) error {
	return a.do(http.MethodPost, t, nil, "proxies", proxy, "toxics")
}

// removeToxic takes a toxic away, also from the connections that are there.
func (a *api) removeToxic(proxy, name string) error {
	return a.do(http.MethodDelete, nil, nil, "proxies", proxy, "toxics", name)
}

// do sends one question and reads its answer into a value, unless that is nil. An answer
// of 400 or above is an apiError.
func (a *api) do(method string, says, into any, path ...string) error {
	var body io.Reader
	if says != nil {
		text, err := json.Marshal(says)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(context.Background(), method, a.url.JoinPath(path...).String(), body)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "doubletap")
	request.Header.Set("Content-Type", "application/json")
	answer, err := a.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, longestAnswer))
	switch {
	case err != nil:
		return err
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		return fmt.Errorf("it redirects (HTTP %d), which is not followed: name the server itself", answer.StatusCode)
	case answer.StatusCode >= 400:
		var said struct {
			Error string `json:"error"`
		}
		_ = json.Unmarshal(text, &said) // the status says enough
		return &apiError{answer.StatusCode, said.Error}
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("its answer is not that of a toxiproxy server: %w", err)
	}
	return nil
}
