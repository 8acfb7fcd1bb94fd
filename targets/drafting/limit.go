package drafting

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Limit is a rate limit: so many requests in a time. The zero value: none is known.
type Limit struct {
	Requests int
	Per      time.Duration
	Seen     bool // by what got through; if not, the answers say so
}

var (
	// policy matches an item of RateLimit-Policy: 10;w=1, or "default";q=10;w=1.
	policy = regexp.MustCompile(`^\s*(?:"[^"]*"\s*;\s*q=)?(\d+)\s*;(?:.*;)?\s*w=(\d+)`)
	// limitNames are headers that name a limit, and when it begins anew.
	limitNames = []string{"Ratelimit-", "X-Ratelimit-", "X-Rate-Limit-"}
)

// LimitIn reads a rate limit off the headers of an answer, of several the one that lets the fewest through. Its time is 0 where none
// of them tells it.
func LimitIn(header map[string]string, now time.Time) (tightest Limit) {
	keep := func(requests, seconds string) {
		n, err := strconv.Atoi(requests)
		s, wrong := strconv.ParseFloat(seconds, 64)
		if err != nil || wrong != nil || n < 1 || s <= 0 || s > 366*24*3600 {
			return
		}
		l := Limit{Requests: n, Per: time.Duration(s * float64(time.Second))}
		if tightest.Per == 0 || l.every() > tightest.every() {
			tightest = l
		}
	}
	for _, item := range strings.Split(header["Ratelimit-Policy"]+","+header["Ratelimit-Limit"], ",") {
		if found := policy.FindStringSubmatch(item); found != nil {
			keep(found[1], found[2])
		}
	}
	for _, name := range limitNames {
		reset, err := strconv.ParseInt(strings.TrimSpace(header[name+"Reset"]), 10, 64)
		limit := strings.TrimSpace(header[name+"Limit"])
		if n, wrong := strconv.Atoi(limit); tightest.Requests == 0 && wrong == nil && n > 0 && err != nil {
			tightest.Requests = n
		}
		if tightest.Per == 0 && err == nil {
			if reset > now.Unix()/2 { // it is a time
				reset -= now.Unix()
			}
			keep(limit, strconv.FormatFloat(wholeWindow(time.Duration(reset)*time.Second).Seconds(), 'f', -1, 64))
		}
	}
	return tightest
}

// every is the time for one request.
func (l Limit) every() time.Duration { return l.Per / time.Duration(l.Requests) }

// wholeWindow is a usual window that may have so much left.
func wholeWindow(left time.Duration) time.Duration {
	for _, usual := range []time.Duration{time.Second, 10 * time.Second, time.Minute, 15 * time.Minute, time.Hour, 24 * time.Hour} {
		if left <= usual {
			return usual
		}
	}
	return left
}

// wholeRun is about how many requests a run of the whole library sends.
const wholeRun = 1500

// kept is what a run keeps to: half of it, as a window may end at any moment, and the next one begins full.
func (l Limit) kept() Limit { return Limit{Requests: max(1, l.Requests/2), Per: l.Per} }

// matters reports that a run may meet it.
func (l Limit) matters() bool { return l.Requests > 0 && l.Per > 0 && l.Requests < 2*wholeRun }

// doubtLimit says what a limit means to runs.
func doubtLimit(f *File) {
	if !f.Limit.matters() {
		return
	}
	said := "its answers say so"
	if f.Limit.Seen {
		said = "that got through, and more were answered 429"
	}
	took := time.Duration(wholeRun-f.Limit.kept().Requests) * f.Limit.kept().every()
	f.Doubt("Whether the rate limit is %d in %s: %s. A run that keeps to half of that takes about %s for the whole library, and leaves out what sends more at once; if you can, lift the limit for the test and leave out rate_limit.",
		f.Limit.Requests, shortly(f.Limit.Per), said, shortly(took.Round(time.Minute)+time.Minute))
}

// keepToLimit writes what a run keeps to.
func keepToLimit(f *File) {
	if k := f.Limit.kept(); f.Limit.matters() {
		f.line("rate_limit: {requests: %d, per: %s} # half of the limit, as a window of it may end at any moment", k.Requests, shortly(k.Per))
	}
}

// shortly writes a time without what is zero at its end.
func shortly(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-len(zero)+1]
		}
	}
	return text
}
