package driver

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// longestRetryAfter bounds how long an answer may make a client wait.
const longestRetryAfter = 5 * time.Second

// asksForRetry reports whether a client with this policy sends again after this attempt.
// It looks at what was on the wire, as a client does, and not at what it means. What the
// end of the run interrupted is not sent again.
func asksForRetry(on []scenarios.RetryOn, a history.Attempt) bool {
	if a.ErrorKind == history.Interrupted {
		return false
	}
	if !a.Complete {
		return slices.Contains(on, scenarios.NoAnswer)
	}
	if a.Status >= 500 && slices.Contains(on, "5xx") {
		return true
	}
	return slices.Contains(on, scenarios.RetryOn(strconv.Itoa(a.Status)))
}

// untilLet is how long an answer to one request too many says that there will be more, by Retry-After or by when the limit begins anew; a
// second where it does not say.
func untilLet(header map[string]string, now time.Time) time.Duration {
	for _, name := range []string{"Retry-After", "Ratelimit-Reset", "X-Ratelimit-Reset", "X-Rate-Limit-Reset"} {
		if when, err := http.ParseTime(header[name]); err == nil {
			return max(time.Second, when.Sub(now))
		}
		seconds, err := strconv.ParseInt(header[name], 10, 32)
		switch {
		case err != nil:
		case seconds > now.Unix()/2: // a time
			return max(time.Second, time.Duration(seconds-now.Unix())*time.Second)
		case seconds > 0:
			return time.Duration(seconds) * time.Second
		}
	}
	return time.Second
}

// RetryAfter returns the pause that an answer asks for (RFC 9110, section 10.2.3), in
// seconds or as a date, at most longestRetryAfter; zero where it asks for none or in words
// that are neither.
func RetryAfter(a history.Attempt) time.Duration {
	text := a.Header["Retry-After"]
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, longestRetryAfter)
	}
	when, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(time.Until(when), 0), longestRetryAfter)
}
