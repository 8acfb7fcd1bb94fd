package main

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// listed is a service that lists what it has, narrowed by what is asked.
type listed struct {
	narrows   func(r *http.Request, entry map[string]any) bool
	lists     func(w http.ResponseWriter, entries []map[string]any)
	forgetful atomic.Bool // it makes a new thing for each request

	mu   sync.Mutex
	made []map[string]any
	keys map[string]map[string]any
}

func (l *listed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") != "Bearer secret-token-77":
		w.WriteHeader(http.StatusUnauthorized)
	case r.Method == http.MethodPost && r.URL.Path == "/members":
		l.create(w, r)
	case r.Method == http.MethodGet && r.URL.Path == "/members":
		found := []map[string]any{}
		for _, entry := range l.made {
			if l.narrows(r, entry) {
				found = append(found, entry)
			}
		}
		l.lists(w, found)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (l *listed) create(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	key := r.Header.Get("Idempotency-Key")
	entry := l.keys[key]
	if entry == nil || key == "" || l.forgetful.Load() {
		entry = map[string]any{"id": len(l.made) + 1, "email": body["email"], "plan": map[string]any{"seats": body["seats"]}, "tags": []string{"new"}}
		l.made, l.keys[key] = append(l.made, entry), entry
	} else if entry["plan"].(map[string]any)["seats"] != body["seats"] {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]any{"id": entry["id"]})
}

// is narrows the list to entries with an address, if a parameter says one.
func is(name string) func(*http.Request, map[string]any) bool {
	return func(r *http.Request, entry map[string]any) bool {
		asked := r.URL.Query()
		return !asked.Has(name) || entry["email"] == asked.Get(name)
	}
}

// under writes the list inside objects, the innermost name first.
func under(name string) func(http.ResponseWriter, []map[string]any) {
	return func(w http.ResponseWriter, entries []map[string]any) {
		var answer any = entries
		for _, name := range strings.Split(name, "/") {
			if name != "" {
				answer = map[string]any{name: answer, "total": len(entries)}
			}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}
}

// newListed starts such a service, and returns the arguments by which init learns from what it lists.
func newListed(t *testing.T, l *listed, listing string) []string {
	l.keys = map[string]map[string]any{}
	if l.lists == nil {
		l.lists = under("")
	}
	if l.narrows == nil {
		l.narrows = is("email")
	}
	address := serveBoth(t, l)
	return []string{"--curl", `curl -H 'Authorization: Bearer secret-token-77' -H 'Idempotency-Key: k-1' -d '{"email": "a@example.com", "seats": 3}' ` + address + "/members", "--listing", cmp.Or(listing, "/members")}
}

// TestInitLearnsFromWhatTheTargetLists holds that a service without a database to look into is judged by what it lists: what it makes once
// passes, and what it makes twice does not.
func TestInitLearnsFromWhatTheTargetLists(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		service *listed
		listing string
		learns  []string
	}{
		"by the member's name":                 {&listed{}, "", []string{`path: "/members?email={{.Intent.Marker}}@example.com"`, "identity: id", "content: {plan.seats: /seats}"}},
		"by a filter, in an object":            {&listed{narrows: is("filter[email]"), lists: under("items/data")}, "", []string{"/members?filter[email]=", "items: /data/items"}},
		"by a search, behind another question": {&listed{narrows: is("q")}, "/members?limit=5", []string{"/members?limit=5&q="}},
		"by what the user says":                {&listed{narrows: is("address")}, "/members?address={{.Intent.Marker}}@example.com", []string{"/members?address={{.Intent.Marker}}@example.com"}},
		"with a status for nothing": {&listed{lists: func(w http.ResponseWriter, entries []map[string]any) {
			if len(entries) == 0 {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			under("")(w, entries)
		}}, "/members?email={{.Intent.Marker}}@example.com", []string{"absent: [404]"}},
		"with null for nothing": {&listed{lists: func(w http.ResponseWriter, entries []map[string]any) {
			if len(entries) == 0 {
				entries = nil
			}
			under("all")(w, entries)
		}}, "", []string{"absent: [null]", "items: /all"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, said := initiated(t, nil, exitPass, newListed(t, c.service, c.listing)...)
			text := readFile(t, file)
			for _, line := range append(c.learns, "fingerprint: {on_mismatch: reject, statuses: [422]}", "The rows are what the target itself lists") {
				require.Contains(t, text, line, "%s\n%s", text, said)
			}
			require.NotContains(t, text, "secret-token-77")
			env := map[string]string{"API_TOKEN": "secret-token-77"}
			for _, line := range strings.Split(said.err, "\n") {
				if _, names, found := strings.Cut(line, "the file takes from the environment: "); found {
					env[names] = "secret-token-77"
				}
			}
			for forgets, code := range map[bool]int{false: exitPass, true: exitFinding} {
				c.service.forgetful.Store(forgets)
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "sequential-replay", "burst-same-key", "distinct-twins")
				require.Equal(t, code, got.code, "%s", got)
				require.Equal(t, forgets, strings.Contains(got.out, "duplicate"), "%s", got)
			}
		})
	}
}

// TestInitSaysWhyAListingDoesNotTell holds that a listing that shows others as well, or nothing, is not taken for one that tells the rows.
func TestInitSaysWhyAListingDoesNotTell(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		service *listed
		listing string
		says    string
	}{
		"it shows all":                {&listed{narrows: func(*http.Request, map[string]any) bool { return true }}, "", "none of the usual parameters, such as note, filter[note] and q; give the path with the marker in it, as in --listing '/members?note={{.Intent.Marker}}'"},
		"what is asked is not heeded": {&listed{}, "/members?mail={{.Intent.Marker}}", "did not list it alone"},
		"it is not there":             {&listed{}, "/clients", "GET /clients was answered 404"},
		"it shows one thing alone": {&listed{lists: func(w http.ResponseWriter, e []map[string]any) {
			_ = json.NewEncoder(w).Encode(map[string]any{"of": len(e), "last": append(e, nil)[0]})
		}}, "", "none of the usual parameters"},
		"it is no path":                       {&listed{}, "members", "expected a path of the target that begins with /"},
		"there is a database to look into":    {&listed{}, "/members", "--listing is for where there is no database"},
		"nothing is sent, so nothing is seen": {&listed{}, "/members", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args, code := newListed(t, c.service, c.listing), exitPass
			switch name {
			case "there is a database to look into":
				args, code = append(args, "--db", "sqlite:///nowhere.db"), exitConfig
			case "it is no path":
				code = exitConfig
			case "nothing is sent, so nothing is seen":
				args = append(args, "--dry")
			}
			got := callWith(t.Context(), nil, append([]string{"init"}, args...)...)
			require.Equal(t, code, got.code, "%s", got)
			require.Contains(t, got.err, c.says)
			require.NotContains(t, got.out, "rows: #", "%s", got)
			if name == "nothing is sent, so nothing is seen" {
				require.Empty(t, c.service.made)
			}
		})
	}
}
