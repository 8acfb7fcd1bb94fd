package reports

import (
	"fmt"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// burstSpread says how far apart the members of a scenario's bursts were released. It is empty without bursts.
func burstSpread(b *checker.Bursts) string {
	if b == nil {
		return ""
	}
	where := map[checker.Gate]string{
		checker.GateDoorstep: "in front of the target, after the lane's faults",
		checker.GateLane:     "before the lane, whose faults may have spread them again",
		checker.GateWrite:    "in one write for all streams of a connection, so the lane's faults delay them alike",
	}[b.Gate]
	done := "released"
	if b.Aimed != nil {
		done = fmt.Sprintf("aimed to arrive at %d addresses", b.Aimed.Addresses)
		where = fmt.Sprintf("where the round trips of the pilot varied so much that they may be %s further apart", micros(b.Aimed.Error))
	}
	text := fmt.Sprintf("%s of up to %d requests, %s within %s (median), %s (90%%), %s (all), %s",
		english.Plural(b.Count, "burst"), b.Members, done, micros(b.Median), micros(b.P90), micros(b.Most), where)
	if h := b.Hits; h != nil {
		text += fmt.Sprintf("; on this machine half of the bursts hit a window of %s, and 95 of 100 hit one of %s (calibrated with %s)",
			micros(h.Half), micros(h.Most), english.Plural(h.Bursts, "burst"))
	}
	return text
}

// writeQueue says how often writers of a table were blocked, and how many waited. It is empty where none was to be blocked.
func writeQueue(w *checker.Writers) string {
	if w == nil {
		return ""
	}
	text := fmt.Sprintf("the writers of %s were blocked in %d of %s", strings.Join(w.Tables, " and "), w.Held, english.Plural(w.Of, "burst"))
	if w.Held == 0 {
		text = fmt.Sprintf("no writer was blocked in %s: the table could not be locked", english.Plural(w.Of, "burst"))
	}
	if n := len(w.Waiting); n > 0 {
		text += fmt.Sprintf("; %d to %d of them waited (median %d)", w.Waiting[0], w.Waiting[n-1], w.Waiting[n/2])
	}
	return text
}

// mostPhases bounds how many phases of a request are listed.
const mostPhases = 8

// sweep says how the second request was answered, by its delay after the first. It is empty without a sweep.
func sweep(phases []checker.Phase) string {
	var parts []string
	for i, p := range phases {
		if i == mostPhases {
			parts = append(parts, fmt.Sprintf("and %d more changes", len(phases)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", phase(p), english.Plural(p.Count, "offset")))
	}
	return strings.Join(parts, "; ")
}

// phase describes one phase: its delays, and the answer.
func phase(p checker.Phase) string {
	if p.From == p.To {
		return fmt.Sprintf("at %s %s", tenths(p.From), prose(p.Answer))
	}
	return fmt.Sprintf("%s to %s %s", tenths(p.From), tenths(p.To), prose(p.Answer))
}
