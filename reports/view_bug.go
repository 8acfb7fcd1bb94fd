package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// bug says what happened in one sentence, as one engineer tells another.
func bug(f checker.Finding) string { return bugOfOne(f) + endpoints(f) }

// bugOfOne is bug where all requests went to one operation.
func bugOfOne(f checker.Finding) string {
	key, last := keyWord(f), statusOf(f, len(f.Attempts)-1)
	switch f.Kind {
	case checker.Duplicate:
		if column := addedTo(f); column != "" && f.Detail != "altered-body-accepted" {
			return fmt.Sprintf("%s%s added to %s %s%s", many(f, key), together(f), name(column), howOften(rowsShown(f)), beyondRace(f))
		}
		if f.Detail == "altered-body-accepted" {
			return fmt.Sprintf("Two bodies under one %s%s were both acknowledged%s: %s", key, together(f), beyondRace(f), rowCount(f))
		}
		return fmt.Sprintf("%s%s made %s%s", many(f, key), together(f), rowCount(f), beyondRace(f))
	case checker.Diverged:
		if f.Detail == "replicated" {
			return fmt.Sprintf("%s%s at several instances: each made a row, and replication brought them together", many(f, key), together(f))
		}
		return "The databases of the instances do not hold the same rows" + when(f)
	case checker.LostWrite:
		return fmt.Sprintf("The target answered %s, and the row is not there%s", statusOf(f, yes(f)), when(f))
	case checker.AlteredBody:
		if f.Detail == "content" {
			expected, _, _ := strings.Cut(prose(f.Expected), ",")
			return fmt.Sprintf("The row does not hold what was sent%s: it has %s, not %s", when(f), name(prose(f.Observed)), name(expected))
		}
		return fmt.Sprintf("The same %s came with another body, and %s", key, alteredEnd(f))
	case checker.StuckKey:
		if f.Detail == "accepted" {
			return fmt.Sprintf("What was accepted (%s) is never done%s: every retry with this %s gets %s to the end%s%s", statusOf(f, yes(f)), when(f), key, last, howLong(f), noRow(f))
		}
		return fmt.Sprintf("Every retry with this %s gets %s to the end%s%s%s", key, last, howLong(f), when(f), noRow(f))
	case checker.StoredError:
		if f.Detail == history.NoCredential {
			return fmt.Sprintf("A request without the credential was refused with %s, and every retry with it under the same %s gets %s for good%s%s", statusOf(f, 0), key, last, when(f), noRow(f))
		}
		if f.Detail == "refusal" {
			return fmt.Sprintf("A body was refused with %s, and its correction under the same %s gets %s for good%s", statusOf(f, 0), key, last, when(f))
		}
		return fmt.Sprintf("Every retry with this %s gets the same failure, %s, for good%s%s", key, last, when(f), noRow(f))
	case checker.RefusedThoughDone:
		return fmt.Sprintf("The row is there, but every retry gets %s: the client never learns of it", noYes(last))
	case checker.Unavailable:
		return fmt.Sprintf("Retries with backoff never got a final answer%s: the last one was %s", when(f), last)
	case checker.ReplayMismatch, checker.UndeclaredAnswer:
		if f.Promise == checker.ExistingRowPromise && len(f.Differs) > 0 {
			return fmt.Sprintf("An answer names %s, and no row does%s", quoted(f.Differs[0].Then), beyondRace(f))
		}
		return "The same request got " + difference(f) + beyondRace(f)
	case checker.FalseConflict:
		if slices.Contains([]string{"respelled", history.Elsewhere, history.HeaderCase, history.OtherWay}, f.Detail) {
			return fmt.Sprintf("The same request, sent in another way, was rejected (%s)%s", statusOf(f, contradicting(f, 0)), when(f))
		}
		return fmt.Sprintf("A new request was rejected as a duplicate (%s)%s", statusOf(f, contradicting(f, 0)), when(f))
	case checker.Leak:
		if f.Detail == history.NoCredential {
			return fmt.Sprintf("A request without a credential was told of what had been created with one (%s)", statusOf(f, contradicting(f, 0)))
		}
	case checker.MissingKeyAccepted:
		return fmt.Sprintf("A request without the required key was accepted (%s)", statusOf(f, yes(f)))
	case checker.Unanswered:
		return notAnswered(f)
	case checker.TargetDied:
		return "A process of the target ended by itself" + when(f)
	case checker.EffectMismatch:
		return wrongEffect(f)
	case checker.EffectBeforeCommit:
		observed, _, _ := strings.Cut(prose(f.Observed), ":")
		return fmt.Sprintf("The side effect “%s” happened%s (%s), and there is no row", name(prose(f.Detail)), when(f), name(observed))
	case checker.DownstreamKeyChanged:
		observed, _, _ := strings.Cut(prose(f.Observed), ":")
		return fmt.Sprintf("The side effect “%s” was asked for with %s%s: to the other service, that is another request each time", name(prose(f.Detail)), name(observed), when(f))
	case checker.PhantomRow:
		if f.Detail == "rejected-yet-applied" {
			return "A body was refused, and there is a row of it" + when(f)
		}
	}
	return capital(f.Kind.Row().Meaning) + when(f)
}

// keyWord names what joins the requests, as they carry it: "Idempotency-Key", or "key"; and "natural key" if the operation
// takes no key.
func keyWord(f checker.Finding) string {
	if byNaturalKey(f) {
		return "natural key"
	}
	for _, a := range f.Attempts {
		n := requestOf(f, a.ID)
		if a.Key == "" || n < 0 {
			continue
		}
		for header, value := range f.Requests[n].Header {
			if strings.Trim(value, `"`) == a.Key {
				return name(header)
			}
		}
	}
	return "key"
}

// byNaturalKey reports that the requests are one intent, though the operation takes no key that one of them could lack.
func byNaturalKey(f checker.Finding) bool {
	keyed := func(a history.Attempt) bool { return a.Key != "" || a.BlankKey }
	return len(f.Attempts) > 0 && !slices.ContainsFunc(f.Attempts, keyed) && !slices.Contains(f.Circumstances, checker.NoKey)
}

// many counts the requests of the intent before the final retry, and says what they have in common.
func many(f checker.Finding, key string) string {
	keys, n, together := map[string]bool{}, 0, 0
	for _, a := range f.Attempts {
		if !a.Probe && a.Intent == f.Intent {
			n++
			keys[a.Key] = true
		}
		if a.Together && a.Intent == f.Intent {
			together++
		}
	}
	if together > 1 { // those before and after it are not the point
		n = together
	}
	subject := capital(number(max(n, 1), "request"))
	switch {
	case n <= 1 && f.Moment == history.T2Name:
		return "One request and its final retry"
	case n <= 1:
		return "One request"
	case len(keys) > 1:
		return subject + " with more than one key"
	case keys[""] && !byNaturalKey(f):
		return subject + " without a key"
	default:
		return subject + " with one " + key
	}
}

// together says that requests of a finding overlapped, in the middle of a sentence.
func together(f checker.Finding) string {
	switch {
	case !slices.Contains(f.Circumstances, checker.Overlapping):
		return ""
	case apart(f) >= muchLater:
		return ", one sent while another was still worked on,"
	}
	return ", sent at the same time,"
}

// muchLater is a time after which nobody says of two requests that they were sent at the same time.
const muchLater = 500 * time.Millisecond

// apart is the shortest time between two requests that reached the target while the first of them was worked on; 0: that is not known of any.
func apart(f checker.Finding) time.Duration {
	var shortest history.Offset
	for _, one := range f.Attempts {
		for _, other := range f.Attempts {
			if one.Passage == nil || other.Passage == nil || one.Passage.Arrived == 0 || other.Passage.Arrived <= one.Passage.Arrived || other.Passage.Arrived >= one.End {
				continue
			}
			if gap := other.Passage.Arrived - one.Passage.Arrived; shortest == 0 || gap < shortest {
				shortest = gap
			}
		}
	}
	return time.Duration(shortest)
}

// number counts things, with a small number as a word.
func number(n int, what string) string {
	return numeral(n) + strings.TrimPrefix(english.Plural(n, what), fmt.Sprint(n))
}

// numeral writes a small number as a word.
func numeral(n int) string {
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
}

// rowCount counts the rows that a finding shows.
func rowCount(f checker.Finding) string {
	n, what := rowsShown(f), "row"
	if column := addedTo(f); column != "" {
		what = "addition"
	}
	if n < 2 {
		return "more than one " + what
	}
	return number(n, what)
}

// rowsShown counts the rows of a finding, or what was added to one.
func rowsShown(f checker.Finding) int {
	n := 0
	for _, r := range f.Rows {
		n += len(r.Rows)
	}
	return n
}

// addedTo is the column to which requests of a finding add; empty: they make rows.
func addedTo(f checker.Finding) string {
	for _, r := range f.Rows {
		if r.Adds != "" {
			return r.Adds
		}
	}
	return ""
}

// howOften writes how often something was done, where that was more than once.
func howOften(n int) string {
	switch {
	case n < 2:
		return "more than once"
	case n == 2:
		return "twice"
	default:
		return number(n, "time")
	}
}

// rowsUnknown reports that nothing told what the target holds: no sentence may say that there is a row, or none.
func rowsUnknown(f checker.Finding) bool {
	return len(f.Rows) > 0 && !slices.ContainsFunc(f.Rows, func(r checker.RowEvidence) bool { return !r.Unknown })
}

// noRow ends a sentence about a key that gets no answer; empty where nobody knows.
func noRow(f checker.Finding) string {
	if rowsUnknown(f) {
		return ""
	}
	return ", and no row is made"
}

// statusOf is what the client of an attempt got, in a word.
func statusOf(f checker.Finding, i int) string {
	if i < 0 || i >= len(f.Attempts) || !f.Attempts[i].Complete {
		return "no answer"
	}
	return fmt.Sprint(f.Attempts[i].Status)
}

// noYes is what an answer that is no acknowledgement was, and says so where its status sounds like one.
func noYes(status string) string {
	if strings.HasPrefix(status, "2") {
		return fmt.Sprintf("a %s that is no acknowledgement by the contract", status)
	}
	return status
}

// yes is the first attempt that was acknowledged; -1: none was.
func yes(f checker.Finding) int { return firstWhere(f, func(i int) bool { return told(f, i) }) }

// alteredEnd says what came of a request with another body.
func alteredEnd(f checker.Finding) string {
	switch f.Detail {
	case "overwrote":
		return "it overwrote what the first one had made"
	case "refusal-forgotten":
		return "what was refused was done later"
	}
	return fmt.Sprintf("was answered %s, not rejected", statusOf(f, contradicting(f, 0)))
}

// difference says how a later answer differs from the first one.
func difference(f checker.Finding) string {
	if len(f.Differs) == 0 {
		return "another answer than before"
	}
	d := f.Differs[0]
	switch {
	case d.Where == "status":
		return fmt.Sprintf("%s first, and then %s", name(d.First), name(d.Then))
	case d.Then == checker.Nothing:
		return fmt.Sprintf("an answer without %s: it is %s", name(d.Where), quoted(d.First))
	}
	return fmt.Sprintf("another %s: first %s, then %s", name(d.Where), quoted(d.First), quoted(d.Then))
}

// when says under which of its circumstances a finding is hardest to miss, as the end of a clause.
func when(f checker.Finding) string {
	for _, c := range slices.Backward(f.Circumstances) {
		if c == checker.LostAnswer && silent(f.Kind) {
			continue
		}
		if text := circumstanceEnd(c); text != "" {
			return text
		}
	}
	return ""
}

// silent reports that answers which did not come are what a kind of finding is about, and not what led to it.
func silent(k checker.Kind) bool { return k == checker.Unanswered || k == checker.TargetDied }

// beyondRace is when, without that requests overlapped.
func beyondRace(f checker.Finding) string {
	return strings.TrimSuffix(when(f), circumstanceEnd(checker.Overlapping))
}

// circumstanceEnd is a circumstance as the end of a clause; empty: the sentence says it already, or it tells little.
func circumstanceEnd(c checker.Circumstance) string {
	switch c {
	case checker.Overlapping:
		return " after requests at the same time"
	case checker.OtherInstance:
		return " at two instances"
	case checker.LostAnswer:
		return " after an answer was lost"
	case checker.Removed:
		return " after it was removed"
	case checker.Expired:
		return " after its key may be forgotten"
	case checker.StoreFlushed:
		return " after the store was emptied"
	case checker.LinkCut:
		return " after a link broke"
	case checker.Crashed:
		return " after a crash"
	default:
		return ""
	}
}

// circumstanceWords is a circumstance as a part of a list.
func circumstanceWords(c checker.Circumstance) string {
	switch c {
	case checker.OtherBody:
		return "another body"
	case checker.NoCredential:
		return "no credential"
	case checker.NoKey:
		return "no key"
	case checker.Overlapping:
		return "requests at the same time"
	case checker.OtherSpelling:
		return "another spelling of the request"
	case checker.OtherWay:
		return "another way to make the same"
	case checker.OtherKey:
		return "another key"
	case checker.OtherIntent:
		return "another order like it"
	case checker.OtherPrincipal:
		return "another user"
	case checker.OtherOperation:
		return "another operation"
	case checker.OtherInstance:
		return "several instances"
	case checker.LostAnswer:
		return "a lost answer"
	case checker.Removed:
		return "removed in between"
	case checker.Expired:
		return "the key may be forgotten"
	case checker.SlowLink:
		return "a slow link"
	case checker.StoreFlushed:
		return "an emptied store"
	case checker.LinkCut:
		return "a broken link"
	case checker.Crashed:
		return "a crash"
	case checker.Background:
		return "background traffic"
	default:
		return name(string(c))
	}
}

// worthSaying is a time for which retries went on that a reader wants to know: a claim may live longer.
const worthSaying = 5 * time.Second

// howLong says for how long retries went on; empty: for seconds only.
func howLong(f checker.Finding) string {
	if len(f.Attempts) < 2 {
		return ""
	}
	if took := time.Duration(f.Attempts[len(f.Attempts)-1].Start - f.Attempts[0].Start); took >= worthSaying {
		return ", for " + took.Round(time.Second).String()
	}
	return ""
}
