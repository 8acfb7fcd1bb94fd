package drafting

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

func TestAnAnswerTellsTheRateLimit(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_790_000_000, 0)
	later := strconv.FormatInt(now.Unix()+42, 10)
	for name, c := range map[string]struct {
		header map[string]string
		want   Limit
		line   string
	}{
		"a policy":                    {map[string]string{"Ratelimit-Policy": "100;w=60"}, Limit{Requests: 100, Per: time.Minute}, "rate_limit: {requests: 50, per: 1m}"},
		"a policy of the newer draft": {map[string]string{"Ratelimit-Policy": `"default";q=10;w=1`}, Limit{Requests: 10, Per: time.Second}, "rate_limit: {requests: 5, per: 1s}"},
		"the tightest of two":         {map[string]string{"Ratelimit-Policy": `"a";q=100;w=60, "b";q=5000;w=3600`}, Limit{Requests: 5000, Per: time.Hour}, ""},
		"what is left, in seconds":    {map[string]string{"X-Ratelimit-Limit": "20", "X-Ratelimit-Reset": "42"}, Limit{Requests: 20, Per: time.Minute}, "rate_limit: {requests: 10, per: 1m}"},
		"what is left, as a time":     {map[string]string{"X-Rate-Limit-Limit": "20", "X-Rate-Limit-Reset": later}, Limit{Requests: 20, Per: time.Minute}, "rate_limit: {requests: 10, per: 1m}"},
		"no time":                     {map[string]string{"X-Ratelimit-Limit": "20"}, Limit{Requests: 20}, ""},
		"one request":                 {map[string]string{"Ratelimit-Policy": "1;w=10"}, Limit{Requests: 1, Per: 10 * time.Second}, "rate_limit: {requests: 1, per: 10s}"},
		"no limit":                    {map[string]string{"X-Ratelimit-Limit": "0", "X-Ratelimit-Reset": "1"}, Limit{}, ""},
		"words":                       {map[string]string{"X-Ratelimit-Limit": "many", "Ratelimit-Policy": "sliding"}, Limit{}, ""},
		"a time that has been":        {map[string]string{"X-Ratelimit-Limit": "20", "X-Ratelimit-Reset": "1790000000"}, Limit{Requests: 20, Per: time.Second}, "rate_limit: {requests: 10, per: 1s}"},
	} {
		got := LimitIn(c.header, now)
		require.Equal(t, c.want, got, name)
		text, err := File{Limit: got, Dialect: databases.SQLite, Draft: Draft{Name: "create", Method: "POST", Path: "/t", Body: map[string]any{"note": "x"}, Texts: []string{"/note"}}}.Text()
		require.NoError(t, err)
		if c.line == "" {
			require.NotContains(t, text, "rate_limit:", name)
		} else {
			require.Contains(t, text, c.line+" #", name)
			require.Contains(t, text, "Whether the rate limit is "+strconv.Itoa(got.Requests), name)
		}
	}
}

func TestAnAnswerMayHoldTheTime(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, c := range []struct {
		answer Answer
		tells  bool
	}{
		{Answer{Text: "<p>at 12:30:01</p>"}, true},
		{Answer{Body: map[string]any{"meta": []any{map[string]any{"at": "2026-11-24T08:15:00Z"}}}}, true},
		{Answer{Body: map[string]any{"at": number(now.Unix())}}, true},
		{Answer{Body: map[string]any{"at": number(now.UnixMilli())}}, true},
		{Answer{Body: map[string]any{"day": "2026-11-24", "opens": "08:15", "amount": number(1690), "id": number(7_000_000_000_000)}, Text: "at noon"}, false},
		{Answer{}, false},
	} {
		require.Equal(t, c.tells, c.answer.TellsTime(now), c.answer)
	}
}

func number(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }
