package learn

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// TestPatienceFollowsWhatACreateTakes holds that a create which takes longer than clients usually wait is waited for where the first one took as long.
func TestPatienceFollowsWhatACreateTakes(t *testing.T) {
	t.Parallel()
	const slow = 11 * time.Second
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(slow):
			w.WriteHeader(http.StatusCreated)
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	target, err := targets.Load("target.yaml", []byte(`name: things
base_url: `+server.URL+`
operations: {create: {request: {path: /things, body: {note: "{{.Intent.Marker}}"}}, key: {in: header}}}
`), func(string) (string, bool) { return "", false })
	require.NoError(t, err)
	asking := questioner{target: target, operation: "create", throttled: new(time.Duration), login: &login{}, send: driver.Directly, took: 2 * slow}
	answers, _ := asking.askOnce(t.Context(), "slow", 1, "[{send: {}}]")
	require.NoError(t, asking.err)
	require.Len(t, answers, 1)
	require.Equal(t, http.StatusCreated, answers[0].Status)
}

func TestARefusalNamesServicesThatTheTargetMayMiss(t *testing.T) {
	t.Parallel()
	services := drafting.Services([]string{"PAYMENTS_URL=https://payments.example", "SMTP_HOST=mail"}, "http://127.0.0.1:1")
	require.Equal(t, ", or misses a service that it asks (PAYMENTS_URL and SMTP_HOST), for which the sinks in the file can stand in", missed(503, services))
	require.Empty(t, missed(422, services))
	require.Empty(t, missed(503, nil))
}
