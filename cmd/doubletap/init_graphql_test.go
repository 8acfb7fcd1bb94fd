package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// reviews is a service of GraphQL: one review for each clientMutationId. All its answers are 200.
func reviews(t *testing.T) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table reviews (id integer primary key, mutation text unique, text text, stars integer)")
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Query     string
			Variables struct {
				Input struct {
					ClientMutationID string `json:"clientMutationId"`
					Text             string
					Stars            int
				}
			}
		}
		_ = json.NewDecoder(r.Body).Decode(&request)
		in := request.Variables.Input
		var id, stars int
		var text string
		_, _ = db.Exec("insert into reviews (mutation, text, stars) values (?, ?, ?) on conflict do nothing", in.ClientMutationID, in.Text, in.Stars)
		err := db.QueryRow("select id, text, stars from reviews where mutation = ?", in.ClientMutationID).Scan(&id, &text, &stars)
		switch {
		case request.Query != reviewDocument || err != nil:
			says(w, http.StatusOK, `{"errors":[{"message":"no such document"}]}`)
		case text != in.Text || stars != in.Stars:
			says(w, http.StatusOK, `{"data":{"addReview":null},"errors":[{"message":"used before"}]}`)
		default:
			says(w, http.StatusOK, fmt.Sprintf(`{"data":{"addReview":{"review":{"id":"%d"}}}}`, id))
		}
	})), "sqlite://" + path
}

const reviewDocument = `mutation A($input: AddReviewInput!) { addReview(input: $input) { review { id } } }`

// TestInitOfAMutation holds that the document of a request of GraphQL stays what it is, and that its errors are no acknowledgement.
func TestInitOfAMutation(t *testing.T) {
	t.Parallel()
	address, database := reviews(t)
	env := map[string]string{"DATABASE_URL": database}
	body := `{"query": "` + reviewDocument + `", "variables": {"input": {"clientMutationId": "3f9c2d52-8a12-4a35-9f2e-6b1f2a0e7c11", "text": "fine", "stars": 4}}}`
	file, _ := initiated(t, env, exitPass, "--curl", "curl -d '"+body+"' "+address+"/graphql", "--db", database)
	text := readFile(t, file)
	for _, learnt := range []string{
		"create_addReview:", "natural_key: [/variables/input/clientMutationId]", "ack: {statuses: [200], where: {/errors: null}}",
		"fingerprint: {on_mismatch: reject, statuses: [200], where: {/errors/0/message: used before}}", "identity: /data/addReview/review/id",
	} {
		require.Contains(t, text, learnt)
	}
	got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "altered-after", "tabs-natural-key")
	require.Equal(t, exitPass, got.code, got)
}
