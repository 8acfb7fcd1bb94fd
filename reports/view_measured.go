package reports

import (
	"fmt"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
)

// burstSpread says how far apart the members of a scenario's bursts were let go. It is empty without bursts.
func burstSpread(b *checker.Bursts) string {
	if b == nil {
		return ""
	}
	where := map[checker.Gate]string{
		checker.GateDoorstep: "at the target's doorstep, behind the lane's faults",
		checker.GateLane:     "in front of the lane, whose faults may have pulled them apart again",
		checker.GateWrite:    "in one write for all streams of a connection, which the lane's faults delay alike",
	}[b.Gate]
	text := fmt.Sprintf("%s of up to %d requests, let go within %s (median), %s (90%%), %s (all), %s",
		plural(b.Count, "burst"), b.Members, micros(b.Median), micros(b.P90), micros(b.Most), where)
	if h := b.Hits; h != nil {
		text += fmt.Sprintf("; on this machine they hit a window of %s in half of the bursts and one of %s in 95 of 100 (calibrated with %s)",
			micros(h.Half), micros(h.Most), plural(h.Bursts, "burst"))
	}
	return text
}

// writeQueue says how many writers of a table were held back, and how many waited. It is empty where none was to be held.
func writeQueue(w *checker.Writers) string {
	if w == nil {
		return ""
	}
	text := fmt.Sprintf("the writers of %s were held back in %d of %s", strings.Join(w.Tables, " and "), w.Held, plural(w.Of, "burst"))
	if w.Held == 0 {
		text = fmt.Sprintf("nobody's writes were held back in %s: the table could not be locked", plural(w.Of, "burst"))
	}
	if n := len(w.Waiting); n > 0 {
		text += fmt.Sprintf("; %d to %d of them stood in line (median %d)", w.Waiting[0], w.Waiting[n-1], w.Waiting[n/2])
	}
	return text
}

// mostPhases bounds how many phases of a request are listed.
const mostPhases = 8

// sweep says how the second request was answered, by how long after the first it came. It is empty without a sweep.
func sweep(phases []checker.Phase) string {
	var parts []string
	for i, p := range phases {
		if i == mostPhases {
			parts = append(parts, fmt.Sprintf("and %d more changes", len(phases)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", phase(p), plural(p.Count, "offset")))
	}
	return strings.Join(parts, "; ")
}

func phase(p checker.Phase) string {
	if p.From == p.To {
		return fmt.Sprintf("at %s %s", tenths(p.From), prose(p.Answer))
	}
	return fmt.Sprintf("%s to %s %s", tenths(p.From), tenths(p.To), prose(p.Answer))
}
