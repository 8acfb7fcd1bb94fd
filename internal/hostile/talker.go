package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
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
	var given, asked atomic.Int64
	var ids things
	how, after, hangs := strings.Cut(stage, " after ")
	after, where, _ := strings.Cut(after, " at ")
	before, _ := strconv.ParseInt(after, 10, 64)
	mux := http.NewServeMux()
	mux.HandleFunc("/secret", func(w http.ResponseWriter, r *http.Request) {
		secret := fmt.Sprintf("%sfor-%s-%03d", canary, r.URL.RawQuery, given.Add(1))
		fmt.Println("gave", secret)
		http.SetCookie(w, &http.Cookie{Name: "secret", Value: secret})
	})
	mux.HandleFunc("/prepare", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"id": 7}`) })
	mux.HandleFunc("/cleanup", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/login", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"id": 8}`) })
	mux.HandleFunc("GET /things", func(w http.ResponseWriter, r *http.Request) {
		list := []map[string]int64{}
		if id, made := ids.byNote.Load(r.URL.Query().Get("note")); made {
			list = append(list, map[string]int64{"id": id.(int64)})
		}
		_ = json.NewEncoder(w).Encode(list)
	})
	mux.HandleFunc("POST /things", func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Authorization", "Cookie", "X-Api-Key"} {
			fmt.Println("got", r.Header[name])
		}
		if stage == "silent" {
			<-r.Context().Done()
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"id": %d}`, ids.of(r))
	})
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hangs && r.Method+" "+r.URL.Path == where && asked.Add(1) > before {
			hangUp(how, w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
}

// things are the ids of what was made, by key and by note.
type things struct{ byKey, byNote sync.Map }

// of is the id of what a request makes, or has made.
func (t *things) of(r *http.Request) int64 {
	var body struct{ Note string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	id, _ := t.byKey.LoadOrStore(r.Header.Get("Idempotency-Key"), time.Now().UnixMicro())
	t.byNote.Store(body.Note, id)
	return id.(int64)
}

// hangUp does in the place of an answer what a hang says.
func hangUp(how string, w http.ResponseWriter, r *http.Request) {
	every, text := time.Second, " "
	switch how {
	case stopped:
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case "sends a body without an end":
		every, text = time.Millisecond, strings.Repeat(" ", 32<<10)
	case neverAnswers:
		<-r.Context().Done()
	}
	w.WriteHeader(http.StatusCreated)
	for r.Context().Err() == nil {
		_, _ = w.Write([]byte(text))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(every):
		}
	}
}
