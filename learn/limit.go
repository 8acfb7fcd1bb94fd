package learn

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// How a rate limit is met: how often a question is asked that it turned away, how long at most before the next time, and how many
// creates in a row tell what it lets through.
const (
	throttledTries = 3
	throttledMost  = 10 * time.Second
	limitTries     = 30
	limitRounds    = 3
)

// throttledFor is how long a target that turned a request away for its rate limit wants to be left alone.
func throttledFor(a history.Attempt) time.Duration {
	if a.Status != http.StatusTooManyRequests {
		return 0
	}
	if seconds, err := strconv.ParseUint(a.Header["Retry-After"], 10, 16); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	return max(time.Second, driver.RetryAfter(a)) // a date
}

// throttled is how long at most the target wants to be left alone by its answers; 0: none of them says so.
func throttled(answers []drafting.Answer) (wait time.Duration) {
	for _, a := range answers {
		wait = max(wait, a.Wait)
	}
	return wait
}

// letBe leaves the target alone for as long as it wants, within reason, or until the command is interrupted.
func letBe(ctx context.Context, wait time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(min(wait, throttledMost)):
	}
}

// learnLimit finds out, where a request was answered 429 and no answer says how many are let through in which time: it sends creates, one after
// the other, until one is turned away, three times. The first of them may begin in a window that is half used, another one may reach
// into the next window: the one in the middle counts.
func learnLimit(ctx context.Context, i *inquiry, asking *questioner) {
	told := i.file.Limit
	if i.throttled == 0 || told.Per > 0 {
		return
	}
	per := max(time.Second, i.throttled)
	if told.Requests > 0 {
		i.file.Limit.Per = per
		return
	}
	fmt.Fprintf(i.Said, "requests were answered 429; sending up to %d creates, %d times, to learn the rate limit\n", limitTries, limitRounds)
	var through []int
	for range limitRounds {
		letBe(ctx, per)
		n, begun := 0, time.Now()
		for ; n < limitTries; n++ {
			answers, _ := asking.askOnce(ctx, "limit", 1, "[{send: {}}]")
			if len(answers) == 0 || answers[0].Wait == 0 && n == limitTries-1 {
				return
			}
			if wait := answers[0].Wait; wait > 0 {
				per = max(per, wait, time.Since(begun).Round(time.Second))
				break
			}
		}
		through = append(through, max(n, 1))
	}
	slices.Sort(through)
	i.file.Limit = drafting.Limit{Requests: through[limitRounds/2], Per: per, Seen: true}
}
