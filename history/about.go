package history

import "strings"

// lineOf says what a line is about. Only this much is needed to sort the lines of a large
// file into parts, and it stands in the first bytes: reading each line in full would take
// minutes.
type lineOf int

const (
	ofAll lineOf = iota // no intent, or it is not known
	ofSnapshot
	newIntent
	ofIntent
)

// about is what a line is about, as far as it says so itself.
type about struct {
	kind    lineOf
	attempt string // "": the line is of no attempt
	intent  string
	hash    uint64 // of the intent
	derived bool   // the intent is the one that the attempt's id begins with
}

// aboutLine says what a line is about. It looks at the first bytes only, of lines as our
// writer writes them; any other line is read in full (aboutOdd), and so gives the same.
func aboutLine(line string) about {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(line[:min(len(line), 64)], `{"`), `":{"`)
	rest = line[len(line[:min(len(line), 64)])-len(rest):]
	switch kind {
	case "snapshot":
		return about{kind: ofSnapshot}
	case "intent":
		if id, _, ok := member(rest, `id":"`); ok {
			return aboutIntent(newIntent, "", id)
		}
	case "begun", "attempt":
		id, rest, ok := member(rest, `id":"`)
		intent, _, also := member(rest, `,"intent":"`)
		if ok && also {
			return aboutIntent(ofIntent, id, intent)
		}
	case "sighting":
		if intent, _, ok := member(rest, `intent":"`); ok {
			return aboutIntent(ofIntent, "", intent)
		}
	case "passage", "followup":
		if attempt, _, ok := member(rest, `attempt":"`); ok {
			return aboutAttempt(attempt)
		}
	}
	return aboutOdd(line)
}

// aboutOdd says what a line is about that is written in another way.
func aboutOdd(line string) about {
	r, err := recordIn(line)
	switch {
	case err != nil: // whoever takes it in says why
		return about{}
	case r.Snapshot != nil:
		return about{kind: ofSnapshot}
	case r.Intent != nil:
		return aboutIntent(newIntent, "", r.Intent.ID)
	case r.Begun != nil:
		return aboutIntent(ofIntent, r.Begun.ID, r.Begun.Intent)
	case r.Attempt != nil:
		return aboutIntent(ofIntent, r.Attempt.ID, r.Attempt.Intent)
	case r.Passage != nil:
		return aboutAttempt(r.Passage.Attempt)
	case r.Followup != nil:
		return aboutAttempt(r.Followup.Attempt)
	case r.Sighting != nil:
		return aboutIntent(ofIntent, "", r.Sighting.Intent)
	default:
		return about{}
	}
}

// aboutIntent is a line that names its intent.
func aboutIntent(kind lineOf, attempt, intent string) about {
	return about{kind: kind, attempt: attempt, intent: intent, hash: hashOf(intent)}
}

// aboutAttempt is a line that names its attempt only. Its intent is what the attempt's ID
// begins with, up to the last dot; the few attempts of which that is not so are remembered
// (odd).
func aboutAttempt(attempt string) about {
	a := aboutIntent(ofIntent, attempt, attempt[:max(0, strings.LastIndexByte(attempt, '.'))])
	a.derived = true
	return a
}

// odd reports that the id of the attempt does not begin with its intent, so that other lines cannot derive it.
func (a about) odd() bool {
	return !a.derived && a.attempt != "" &&
		(!strings.HasPrefix(a.attempt, a.intent) || strings.LastIndexByte(a.attempt, '.') != len(a.intent))
}

// member cuts a text without escapes from the beginning of a line.
func member(line, before string) (value, rest string, ok bool) {
	line, ok = strings.CutPrefix(line, before)
	value, rest, found := strings.Cut(line, `"`)
	return value, rest, ok && found && !strings.Contains(value, `\`)
}
