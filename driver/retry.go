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
		wait, said := pauseIn(header[name])
		if wait > time.Duration(now.Unix())*time.Second/2 { // a time
			wait -= time.Duration(now.Unix()) * time.Second
		}
		if said && wait != 0 {
			return max(time.Second, wait)
		}
	}
	return time.Second
}

// RetryAfter returns the pause that an answer asks for (RFC 9110, section 10.2.3), in
// seconds or as a date, at most longestRetryAfter; zero where it asks for none or in words
// that are neither.
func RetryAfter(a history.Attempt) time.Duration {
	pause, _ := pauseIn(a.Header["Retry-After"])
	return min(max(pause, 0), longestRetryAfter)
}

// pauseIn reads seconds, or the time until a date; a header that is neither does not say.
func pauseIn(text string) (pause time.Duration, said bool) {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	when, err := http.ParseTime(text)
	return time.Until(when), err == nil
}
