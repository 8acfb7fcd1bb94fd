package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
)

// daysOfProxies are those of toxiproxy servers that are none. Each would lead to another host.
func daysOfProxies() []day {
	var days []day
	for name, answer := range map[string]http.HandlerFunc{
		"a toxiproxy server that redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1"+r.URL.Path, http.StatusTemporaryRedirect)
		},
		"one that listens on another host": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{"name": "x", "listen": "192.0.2.1:80", "upstream": "192.0.2.1:81", "enabled": true, "toxics": [], "version": "2.9.0"}`))
		},
		"one that answers garbage": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("\x1b]0;" + pwned + "\x07")) },
		"one that answers without an end": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte(strings.Repeat("[", 64<<10))); err != nil {
					return
				}
			}
		},
		"one that answers nothing": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"one that refuses to work": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "::error::"+pwned, http.StatusInternalServerError)
		},
		"one that knows nothing of it":  http.NotFound,
		"one that is too old":           func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"version": "1.0.0"}`)) },
		"one that has the proxies of 9": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusConflict) },
	} {
		days = append(days, day{class: "proxies", name: name, exits: []int{2, 3, 4}, set: func(_ context.Context, b *bench) error {
			s, err := openShop(b, nil)
			if err != nil {
				return err
			}
			server := httptest.NewServer(answer)
			b.wait = append(b.wait, func() {
				server.CloseClientConnections()
				go server.Close()
			})
			err = s.runAt(b)
			b.args = append(b.args, "--toxiproxy", server.URL)
			return err
		}})
	}
	return days
}
