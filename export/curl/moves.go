package curl

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/internal/inert"
	"github.com/doubletap-harness/doubletap/internal/shell"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// How long a script waits where the driver would watch the database, and for an answer without a deadline.
const (
	committed     = time.Second
	usualDeadline = 10 * time.Second
)

// what says in words what a move does.
func what(m scenarios.Move) string {
	switch {
	case m.Sweep != nil:
		return "two copies of one request, the second later than the first"
	case m.Crash != nil:
		return "a request, and beside it $CRASH, which kills the target and starts it again"
	case m.Together:
		return fmt.Sprintf("%d requests at once", len(m.Batch))
	case len(m.Batch) > 1:
		return fmt.Sprintf("%d requests, each on a connection of its own", len(m.Batch))
	case len(m.Batch) == 1:
		return "a request"
	case m.Flush:
		return "$FLUSH, which deletes what the target's store may lose"
	case m.Remove:
		return "the removal of what was made"
	case m.Look:
		return "a look into the database, which is not needed here"
	case m.Wait.For == scenarios.WaitCommitted:
		return "wait until the row is there"
	case m.Wait.For == scenarios.WaitExpired:
		return "wait until the key is forgotten"
	default:
		return "wait"
	}
}

// move returns the commands of a move.
func (w *writer) move(m scenarios.Move) string {
	switch {
	case m.Look:
		return ":"
	case m.Flush:
		return `sh -c "$FLUSH"`
	case m.Wait != nil:
		pause := w.pause(*m.Wait)
		w.slept += pause
		return "sleep " + w.seconds(pause)
	case m.Sweep != nil:
		return fmt.Sprintf("%s &\nsleep %s\n%s &\nwait", w.alone(m.Batch[0]), w.seconds(m.Sweep.From.Of(w.normal)), w.alone(m.Batch[1]))
	case m.Crash != nil:
		after := m.Crash.From.Of(w.normal) + time.Duration(m.Crash.Part*float64(m.Crash.To.Of(w.normal)-m.Crash.From.Of(w.normal)))
		return fmt.Sprintf("%s &\nsleep %s\nsh -c \"$CRASH\"\nwait", w.alone(m.Batch[0]), w.seconds(after))
	case m.Together:
		return w.atOnce(m.Batch)
	case len(m.Batch) == 1:
		return w.withRetries(m.Batch[0])
	}
	var lines []string
	for _, a := range m.Batch {
		lines = append(lines, fmt.Sprintf("{ sleep %s; %s; } &", w.seconds(a.At.Of(w.normal)+a.Plus.Of(w.normal)), w.withRetries(a)))
	}
	return strings.Join(append(lines, "wait"), "\n")
}

// pause is how long a script waits in place of the driver.
func (w *writer) pause(wait scenarios.Wait) time.Duration {
	switch wait.For {
	case scenarios.WaitPause:
		return wait.Pause.Of(w.normal)
	case scenarios.WaitRemembered:
		return max(0, w.page.Judge.Promise.StillKnown(wait.Pause.Of(w.normal), w.slept))
	case scenarios.WaitExpired:
		return w.page.Judge.Promise.Expiry.Past()
	default: // until the row is there
		return max(committed, 2*w.normal)
	}
}

// seconds writes a time as sleep and curl take it.
func (w *writer) seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Round(100*time.Microsecond).Seconds(), 'f', -1, 64)
}

// atOnce sends requests from one process of curl, which opens a connection for each and then goes round.
func (w *writer) atOnce(burst []scenarios.PlannedAttempt) string {
	same := !slices.ContainsFunc(burst, func(a scenarios.PlannedAttempt) bool {
		return a.Body != burst[0].Body || a.Key != burst[0].Key
	})
	curl := fmt.Sprintf("curl --no-progress-meter --parallel --parallel-immediate --parallel-max %d", len(burst))
	if same {
		w.sent++
		r := w.page.Requests[burst[0].ID]
		for n := range burst {
			w.files[burst[n].ID] = append(w.files[burst[n].ID], fmt.Sprintf("%d-%d", w.sent, n+1))
		}
		copies := fmt.Sprintf("copies=()\nfor n in {1..%d}; do copies+=(--output \"%d-$n\" --url %s); done\n", len(burst), w.sent, w.url(r))
		return copies + curl + w.request(burst[0]) + " \\\n  \"${copies[@]}\" || true"
	}
	var all []string
	for _, a := range burst {
		all = append(all, w.arguments(a))
	}
	return curl + strings.Join(all, " \\\n  --next") + " || true"
}

// alone is one request on a connection of its own.
func (w *writer) alone(a scenarios.PlannedAttempt) string {
	return "curl" + w.arguments(a) + " || true"
}

// withRetries is a request, and what a client does that was not satisfied with its answer.
func (w *writer) withRetries(a scenarios.PlannedAttempt) string {
	if len(a.Pauses) == 0 {
		return w.alone(a)
	}
	var pauses, again []string
	for _, p := range a.Pauses {
		pauses = append(pauses, w.seconds(p.Of(w.normal)))
	}
	for _, on := range a.RetryOn {
		again = append(again, map[scenarios.RetryOn]string{scenarios.NoAnswer: "000*", "5xx": "5*"}[on])
		if again[len(again)-1] == "" {
			again[len(again)-1] = string(on) + "*"
		}
	}
	first, lost := w.alone(a), ""
	if w.lane(a.Lane).losesAnswer {
		lost = "\nstatus=000 # the answer is lost on its way"
	}
	a.Timeout, a.Lane = cmp.Or(a.RetryTime, a.Timeout), cmp.Or(a.RetryLane, a.Lane)
	before, fresh, usual := w.freshKey(a)
	next := w.alone(a)
	w.named, w.taken = usual.named, usual.taken
	return before + fmt.Sprintf("status=$(%s)\necho \"$status\"%s\nfor pause in %s; do\n  case $status in %s) ;; *) break ;; esac\n  sleep \"$pause\"\n  %sstatus=$(%s)\n  echo \"$status\"\ndone",
		first, lost, strings.Join(pauses, " "), strings.Join(again, "|"), fresh, next)
}

// names are those that stand for texts.
type names struct{ named, taken map[string]string }

// freshKey has the retries of an attempt carry a fresh key, if they do: what to do before the first, and before each. Usual are the
// names that all other requests have.
func (w *writer) freshKey(a scenarios.PlannedAttempt) (before, each string, usual names) {
	usual = names{maps.Clone(w.named), maps.Clone(w.taken)}
	r := w.page.Requests[a.ID]
	body := string(r.Body)
	if a.RetryKey != scenarios.FreshKey {
		return "", "", usual
	}
	if len(r.Fresh) > 0 { // the target hands them out
		var keys []string
		for _, key := range r.Fresh {
			keys = append(keys, fmt.Sprintf("\"$%s\"", w.taken[key]))
		}
		w.taken[r.Key] = "fresh"
		delete(w.named, body)
		return fmt.Sprintf("fresh_ones=(%s)\n", strings.Join(keys, " ")), "fresh=${fresh_ones[0]} fresh_ones=(\"${fresh_ones[@]:1}\")\n  ", usual
	}
	if key := w.named[r.Key]; key != "" {
		w.named[r.Key] = "fresh"
		if strings.Contains(body, r.Key) {
			w.named[body] = fmt.Sprintf("%s//$%s/$fresh", usual.named[body], key)
		}
		return "", "fresh=$(uuid)\n  ", usual
	}
	return "", "", usual
}

// arguments are those of curl for one attempt, whose answer goes to a file of its own.
func (w *writer) arguments(a scenarios.PlannedAttempt) string {
	w.sent++
	w.files[a.ID] = append(w.files[a.ID], fmt.Sprint(w.sent))
	return w.request(a) + fmt.Sprintf(" \\\n  --output %d --url %s", w.sent, w.url(w.page.Requests[a.ID]))
}

// request are the arguments of curl for an attempt, but for where it goes, and where its answer does.
func (w *writer) request(a scenarios.PlannedAttempt) string {
	r := w.page.Requests[a.ID]
	return w.options(r, fmt.Sprintf(`--max-time %s --write-out '%%{http_code} %%{filename_effective}\n'`, w.patience(a, r)))
}

// options are those of curl for a request, with some of one's own.
func (w *writer) options(r driver.Rehearsed, own string) string {
	var b strings.Builder
	fmt.Fprintf(&b, " --silent --include --globoff --request %s %s", shell.Quote(cmp.Or(r.Method, http.MethodPost)), own)
	for _, option := range w.page.Options {
		b.WriteString(" " + option)
	}
	if r.Header["Accept-Encoding"] != "" {
		b.WriteString(" --compressed") // the answer is read as text
	}
	for _, f := range w.page.Files {
		fmt.Fprintf(&b, " \\\n  %s \"$%s\"", f.Option, f.Variable)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if headerName.MatchString(name) && r.Header[name] == "" {
			fmt.Fprintf(&b, " \\\n  --header %s", w.word(name+";")) // with a colon, curl would leave it out
		} else if headerName.MatchString(name) {
			fmt.Fprintf(&b, " \\\n  --header %s", w.word(name+": "+r.Header[name]))
		} else {
			w.page.Missing = append(w.page.Missing, "the header "+inert.Comment(name)+", whose name curl does not take")
		}
	}
	b.WriteString(w.signature(r))
	if r.Body != nil {
		fmt.Fprintf(&b, " \\\n  --data-raw %s", w.wordIn(string(r.Body), placeOf(r)))
	}
	return b.String()
}

// headerName is a token (RFC 9110, section 5.6.2). curl reads a file for one that begins with @.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// url is the shell's word for where a request goes. BASE_URL may name another target than the run
// had.
func (w *writer) url(r driver.Rehearsed) string { return `"${BASE_URL}"` + w.word(r.Path) }

// signature are the arguments that sign a request, with openssl.
func (w *writer) signature(r driver.Rehearsed) string {
	s := r.Sign
	if s == nil {
		return ""
	}
	sign, secret := "sign_"+string(s.Encoding), w.word(r.Signer)
	if s.Written != "" { // openssl takes bytes in hex only
		w.page.Keyed = true
		sign, secret = "keyed "+sign, fmt.Sprintf(`"$(bytes_%s %s)"`, s.Written, secret)
	}
	text := fmt.Sprintf(" \\\n  --header %s\"$(%s %s %s %s)\"", w.word(s.Header+": "+s.Prefix), sign, shell.Quote(string(s.HMAC)), secret, w.word(r.Over))
	if s.Time != nil && s.Time.Header != "" {
		text += fmt.Sprintf(" \\\n  --header %s", w.word(s.Time.Header+": "+s.Stamp(driver.Moment)))
	}
	return text
}
