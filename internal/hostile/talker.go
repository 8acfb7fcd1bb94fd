package main

import (
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
)

// talker serves a service that prints every secret. Its stage says what it does not do.
func talker(address, stage string) error {
	if err := os.WriteFile("started", nil, 0o644); err != nil {
		return err
	}
	fmt.Println("starting")
	if stage == "never-ready" {
		select {}
	}
	var given, made atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/secret", func(w http.ResponseWriter, r *http.Request) {
		secret := fmt.Sprintf("%sfor-%s-%03d", canary, r.URL.RawQuery, given.Add(1))
		fmt.Println("gave", secret)
		http.SetCookie(w, &http.Cookie{Name: "secret", Value: secret})
	})
	mux.HandleFunc("/things", func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Authorization", "Cookie", "X-Api-Key"} {
			fmt.Println("got", r.Header[name])
		}
		if stage == "silent" {
			<-r.Context().Done()
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"id": %d}`, made.Add(1))
	})
	return http.ListenAndServe(address, mux)
}
