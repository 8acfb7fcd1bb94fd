package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hasty creates as a shop does that looks its key up and then inserts.
func (s *shop) hasty(w http.ResponseWriter, r *http.Request) {
	var order struct{ Note string }
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	key, id := r.Header.Get("Idempotency-Key"), int64(0)
	if s.db.QueryRow("select id from things where body = ?", key).Scan(&id) != nil {
		time.Sleep(5 * time.Millisecond) // its work: a burst is inside by then, however busy the machine
		result, err := s.db.Exec("insert into things(note, body) values (?, ?)", order.Note, key)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		id, _ = result.LastInsertId()
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]int64{"id": id})
}

// overHTTP2 makes a trial one in HTTP/2.
func (x trial) overHTTP2() trial {
	x.file = strings.Replace(x.file, "database:", "protocol: http/2\ndatabase:", 1)
	return x
}

func TestAnAPIThatSpeaksHTTP2(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		hasty bool
		code  int
		says  string
	}{
		"atomic":                    {false, exitPass, "pass"},
		"looks up and then inserts": {true, exitFinding, "duplicate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			spoken := map[string]int{}
			var s *shop
			s = newShop(t, func(atomic http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					spoken[r.Proto]++
					mu.Unlock()
					if row.hasty {
						s.hasty(w, r)
						return
					}
					atomic.ServeHTTP(w, r)
				})
			})
			x := s.trial(t, "burst-same-key", "plain-create").overHTTP2()
			got := x.run(t)
			require.Equal(t, row.code, got.code, "%s", got)
			require.Contains(t, got.out, row.says)
			x.checked(t, got)
			require.Len(t, spoken, 1)
			require.Positive(t, spoken["HTTP/2.0"])
		})
	}
}

func TestAnAPIThatDoesNotSpeakHTTP2(t *testing.T) {
	t.Parallel()
	old := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(old.Close)
	x := newShop(t, nil).trial(t).overHTTP2()
	x.env["SHOP_URL"] = old.URL
	got := x.run(t)
	require.Equal(t, exitEnvironment, got.code, "%s", got)
	require.Contains(t, got.err, old.URL+" does not answer in HTTP/2: ")
	require.Equal(t, 1, lines(got.err), "one message: %s", got.err)
}

// lossy are scenarios in which requests, or their answers, are lost or left.
var lossy = []string{"withheld-answer", "cut-reset", "hang-up", "lost-request"}

func TestAnswersThatAreLostOverHTTP2(t *testing.T) {
	t.Parallel()
	got := newShop(t, nil).trial(t, lossy...).overHTTP2().run(t)
	require.Equal(t, exitPass, got.code, "%s", got)
}
