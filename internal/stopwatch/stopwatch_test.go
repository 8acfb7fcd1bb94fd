package stopwatch_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/doubletap-harness/doubletap/internal/stopwatch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheGapIsThatOfTheFirstTwoRequestsOfAKey(t *testing.T) {
	s, err := stopwatch.Start()
	require.NoError(t, err)
	target, create := s.Target()
	require.Contains(t, target.BaseURL, "http://127.0.0.1:")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	send := func(key string) {
		r, err := http.NewRequest(create.Request.Method, target.BaseURL+create.Request.Path, strings.NewReader("{}"))
		require.NoError(t, err)
		r.Header.Set(create.Key.Name, key)
		response, err := client.Do(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusCreated, response.StatusCode)
	}
	send("alone")
	require.Empty(t, s.Gaps())
	const pause = 20 * time.Millisecond
	for _, key := range []string{"a", "b"} {
		send(key)
		time.Sleep(pause)
		send(key)
		time.Sleep(2 * pause)
		send(key)
	}
	gaps := s.Gaps()
	require.Len(t, gaps, 2)
	require.GreaterOrEqual(t, gaps[0], pause)
	require.LessOrEqual(t, gaps[0], gaps[1])
	require.NoError(t, s.Close())
}
